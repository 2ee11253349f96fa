"""The operations that make another mechanism of a mechanism: their names, arguments and docstrings.

The file is longer than others because the docstrings that users read stand here. What an operation makes is itself a mechanism,
so that it is made in a file above that of :class:`Mechanism`. That file marks the function that does the work with
:func:`done_by`, and ``algebra/__init__.py`` loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from logphi.inputs.adjacency import AdjacencyLike
from logphi.inputs.arguments import RealLike, Scalar
from logphi.inputs.guesses import guided

M = TypeVar("M")
_Function = TypeVar("_Function", bound=Callable[..., Any])

# complete once `logphi.algebra` is imported, and never changed afterwards
_DONE_BY: dict[str, Callable[..., Any]] = {}


def done_by(function: _Function) -> _Function:
    """Let a function do the operation of its name; its first argument is the mechanism, then come those of the operation."""
    _DONE_BY[function.__name__] = function
    return function


class Operations(Generic[M]):
    """What can be made of a mechanism, of type M, besides compositions."""

    @guided()
    def poisson(
        self,
        rate: RealLike,
        *,
        group_size: Scalar = 1,
        adjacency: AdjacencyLike | None = None,
        one_pair: bool = False,
        truncated_batch_size: Scalar | None = None,
        dataset_size: Scalar | None = None,
        cyclic: bool = False,
    ) -> M:
        """The mechanism on a new Poisson sample: each record takes part independently, with probability ``rate``.

        Rate 0 leaks nothing, rate 1 is the identity ([AFA] Theorem 11.1, [PLD] section 4). Under ``"replace_special"`` a
        record outside the sample counts as one of the value "nothing". Fixed-size, shuffled or fixed-order batches are not
        Poisson samples and get no such amplification; samples truncated at ``truncated_batch_size`` leak more.

        All releases of a composition see *one* sample: ``(a + b).poisson(q)`` leaks more than ``a.poisson(q) + b.poisson(q)``,
        which draws two. Gaussians on one sample are merged into one, and finite mechanisms, too, as long as the product is
        small; all others are sampled by the transform of their loss. A sample of a sample is one at the product of the rates.

        Parameters
        ----------
        rate
            Sampling rate in [0, 1].
        group_size
            How many records differ, each of which is drawn independently: 1 or more; above 1 for the Gaussian only.
        adjacency
            The relation of the result; by default that of the base. ``"replace"`` is known for the Gaussian only.
        one_pair
            Whether one pair is to dominate both directions of add/remove ([AFA] Corollary 32). Without it each direction has
            its own pair, which is never worse, and better under composition.
        truncated_batch_size
            The number of records, drawn uniformly, that are kept of a larger sample; by default all are kept. Known for the
            Gaussian, as an upper bound (:mod:`logphi.sampling.truncated_poisson`).
        dataset_size
            The number of all records, a public number, on which truncation depends. Where neighbours differ in size, that of
            the larger one.
        cyclic
            Whether records are in fixed parts that are sampled in turn, as in :func:`logphi.banded_dp_sgd`. For one record this
            makes no difference; a group, whose records may be in several parts, gets an upper bound.

        Returns
        -------
        Mechanism
            One release of a sample.

        Raises
        ------
        ValueError, TypeError
            If a parameter is outside its range, the base is stated under replace, or no pair is known.

        Examples
        --------
        >>> import logphi as lp
        >>> round((1000 * lp.Gaussian(sigma=1).poisson(0.01)).epsilon(1e-5).value, 9)
        1.828236667
        """
        made: M = _DONE_BY["poisson"](self, rate, group_size, adjacency, one_pair, truncated_batch_size, dataset_size, cyclic)
        return made

    @guided("m.subset(size / dataset_size, adjacency=...), whose rate is the size of the subset over that of the data set")
    def subset(self, rate: Scalar, *, adjacency: AdjacencyLike) -> M:
        """The mechanism on a new uniformly random subset of fixed size, drawn without replacement.

        Rate 0 leaks nothing. The base must be stated under replace ([AFA] Theorem 11.2, Corollary 32).

        Parameters
        ----------
        rate
            Size of the subset over that of the data set, in [0, 1].
        adjacency
            The relation of the result: ``"add_remove"``, ``"add"``, ``"remove"`` or ``"replace"``.

        Returns
        -------
        Mechanism
            One release of a subset.

        Raises
        ------
        ValueError, TypeError
            If the rate is outside [0, 1], the base is not stated under replace, or no pair is known.

        Examples
        --------
        >>> import logphi as lp
        >>> base = lp.Gaussian(sigma=1, sensitivity=2, adjacency="replace")
        >>> round((100 * base.subset(0.01, adjacency="add_remove")).epsilon(1e-5).value, 9)
        6.476210004
        """
        made: M = _DONE_BY["subset"](self, rate, adjacency)
        return made

    @guided()
    def allocation(self, batches: Scalar, *, epochs: Scalar = 1, participations: Scalar = 1) -> M:
        """One epoch of random allocation (balls in bins): each record is in one of the batches, uniformly and independently.

        A practical alternative to shuffling whose privacy is known. Batches differ in size, as Poisson samples do.

        ``E * m.allocation(t)`` makes a new allocation in each of E epochs. ``m.allocation(t, epochs=E)`` makes one, and keeps
        the batches for all of them: it is ``(E * m).allocation(t)``. The two differ by orders of magnitude.

        All releases of a composition see one allocation. For a record in k of the t batches, drawn uniformly, only an upper
        bound is known: the composition of k epochs, in each of which the record is in one of t/k batches (rounded to integers
        that add up to t). Its answers have the status ``DOMINATED``.

        Answers are sharp for the Gaussian and for mechanisms with few outcomes. For one release of Laplace noise, and for few
        outcomes in very many batches, they are brackets, between a pair that dominates the epoch and one that the epoch
        dominates.

        Parameters
        ----------
        batches
            The number of batches in an epoch, 1 or more.
        epochs
            How many times all batches are used, with the same records in each batch.
        participations
            In how many batches of an epoch each record takes part, at most ``batches``.

        Returns
        -------
        Mechanism
            The epochs, under the same relation.

        Raises
        ------
        ValueError, TypeError
            If a number is out of range, the base is stated under replace, or no law or bracket is known for the mechanism.

        References
        ----------
        Chua et al. 2024, *Balls-and-Bins Sampling for DP-SGD*; Feldman & Shenfeld 2025, *Privacy Amplification by Random
        Allocation*.

        Examples
        --------
        >>> import logphi as lp
        >>> epoch = lp.Gaussian(sigma=1).allocation(100)
        >>> round(epoch.epsilon(1e-5).value, 9), round((5 * epoch).epsilon(1e-5).value, 9)
        (0.620939672, 1.205805255)
        """
        made: M = _DONE_BY["allocation"](self, batches, epochs, participations)
        return made

    @guided()
    def shuffled(self, batches: Scalar, epochs: Scalar = 1) -> M:
        """The mechanism on every batch of a data set that is reshuffled in each epoch: a bracket.

        A record is in one batch of each epoch. How much the secrecy of that batch amplifies is not known; it is much less than
        for Poisson samples. The upper end is one release an epoch without amplification, as in batches of a fixed order. The
        lower end is an attack by the largest of the T noisy sums, for a data set where all other records hold the opposite
        value: one sum has the mean 2s under P and s under Q. For other noise than
        Gaussian it is an attack by one of the sums: a Poisson sample at rate 1/T.

        Neighbours differ by a record whose place in its batch stays empty, or which takes another value under ``"replace"``.
        Answers are known for ``delta``, ``epsilon``, trade-off functions, divergences and zCDP, also of compositions.

        Parameters
        ----------
        batches
            The number of batches in an epoch, 1 or more.
        epochs
            The number of epochs: ``epochs * m.shuffled(batches)``.

        Returns
        -------
        Mechanism
            Its answers have the status ``BRACKET``, and ``proofs`` of both ends; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a number is out of range, or the mechanism has no one pair.

        References
        ----------
        Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang 2024, *How Private are DP-SGD Implementations?*

        Examples
        --------
        >>> import logphi as lp
        >>> spent = lp.Gaussian(sigma=0.4).shuffled(10_000).delta(4)
        >>> round(spent.lower, 6), round(spent.upper, 6)
        (0.226056, 0.24382)
        """
        made: M = _DONE_BY["shuffled"](self, batches, epochs)
        return made

    @guided()
    def fixed_order(self, batches: Scalar) -> M:
        """One epoch of the mechanism on every batch of a data set in a fixed order: the release on the batch with the record.

        An adversary may know which batch holds the record, and the other batches do not depend on it. So what remains is one
        release, without amplification. ``epochs * m.fixed_order(batches)`` uses all batches several times.

        Parameters
        ----------
        batches
            The number of batches in an epoch, 1 or more; the answer does not depend on it.

        Returns
        -------
        Mechanism
            The mechanism itself.

        Raises
        ------
        ValueError, TypeError
            If the number is out of range.

        Examples
        --------
        >>> import logphi as lp
        >>> 60 * lp.Gaussian(sigma=1.1).fixed_order(234)
        60 * Gaussian(sigma=1.1)
        """
        made: M = _DONE_BY["fixed_order"](self, batches)
        return made

    @guided()
    def repeat_and_select(self, mean: Scalar, shape: Scalar = 1.0) -> M:
        """The best of a random number of runs of the mechanism, as in tuning hyperparameters: a bracket.

        The number of runs is drawn from a truncated negative binomial law, which does not depend on the data, and is not
        released. Each output has a score, which is a function of it alone; only the output with the best score is released.
        Each run may draw a mechanism at random and run it, if these two steps, taken as one mechanism, have the pair of this
        mechanism.

        The upper end holds for every score: the mean number of runs times the delta of one run at a smaller epsilon
        (:mod:`logphi.algebra.selection` has the proof, and how much smaller). The lower end is an attack: runs whose score is
        their own likelihood ratio. Answers are known for ``delta``, ``epsilon``, trade-off functions, divergences and zCDP,
        also of compositions.

        Parameters
        ----------
        mean
            The mean number of runs: 1 or more, at most 10^9; with an infinite shape any positive number.
        shape
            Above -1, at most 10^6, or infinite: 1 for the geometric law, 0 for the logarithmic one, infinite for the Poisson
            law, which may give no run at all. The smaller the shape, the smaller epsilon, and the more variable the number of
            runs.

        Returns
        -------
        Mechanism
            Its answers have the status ``BRACKET``, and ``proofs`` of both ends; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a number is outside its range, or the profile of the mechanism is estimated only.

        References
        ----------
        Papernot & Steinke 2022, *Hyperparameter Tuning with Renyi Differential Privacy* (the law of the number of runs).

        Examples
        --------
        >>> import logphi as lp
        >>> print(f"{float(lp.Gaussian(sigma=2).repeat_and_select(mean=10).epsilon(1e-6)):.4f}")
        3.3825
        """
        made: M = _DONE_BY["repeat_and_select"](self, mean, shape)
        return made
