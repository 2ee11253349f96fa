"""The operations that make a mechanism of another kind: what they are called, what they take, and what they give.

The file is longer than others because the docstrings that users read stand here. What an operation makes is itself a mechanism,
so that its file is above that of :class:`Mechanism`, which has the operations: it says by :func:`done_by` which function does
the work, and ``algebra/__init__.py`` loads it.
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
    """Let a function do the operation of its name; its first argument is the mechanism, the others follow in their order."""
    _DONE_BY[function.__name__] = function
    return function


class Operations(Generic[M]):
    """What can be made of a mechanism, of type M, beside its compositions."""

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
        """The mechanism on a fresh Poisson sample: every record takes part with probability ``rate``.

        Rate 0 leaks nothing, rate 1 is the identity ([AFA] Theorem 11.1, [PLD] section 4). Under ``"replace_special"`` a
        record outside the sample counts as one of the value "nothing". Fixed-size, shuffled or fixed-order batches are not
        Poisson samples and get no such amplification; those that are cut off at ``truncated_batch_size`` leak more.

        All releases of a composition see *one* sample: ``(a + b).poisson(q)`` leaks more than ``a.poisson(q) + b.poisson(q)``,
        which draws two. Gaussians on one sample are one Gaussian, and finite mechanisms one finite mechanism as long as that is
        small; all others are sampled by the transform of their loss. A sample of a sample is one with the product of the rates.

        Parameters
        ----------
        rate
            Sampling rate in [0, 1].
        group_size
            How many records differ, each of which takes part by itself: 1 or more; above 1 for the Gaussian.
        adjacency
            The relation of the result; that of the base by default. ``"replace"`` for the Gaussian.
        one_pair
            Whether one pair is to dominate both orders of add/remove ([AFA] Corollary 32). Without it each order has its own
            pair, which is never worse and better under composition.
        truncated_batch_size
            Of a sample with more records, so many are kept, drawn uniformly; all of it by default. For the Gaussian, an upper
            bound (:mod:`logphi.sampling.truncated_poisson`).
        dataset_size
            How many records there are, of which the cut depends: a public number. Where neighbours differ in size, that of the
            larger one.

        cyclic
            Whether the sample is of the part of the records whose turn it is, as in :func:`logphi.banded_dp_sgd`. One record
            sees no difference; a group, whose records may be of several parts, gets an upper bound.

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
        """The mechanism on a fresh uniformly random subset of fixed size, drawn without replacement.

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

        The practical stand-in for shuffling whose answer is known: batches differ in size, as those of a Poisson sample do.

        ``E * m.allocation(t)`` allocates afresh in each of E epochs. ``m.allocation(t, epochs=E)`` allocates once and keeps
        the batches for all of them: it is ``(E * m).allocation(t)``. The two differ by orders of magnitude.

        All releases of a composition see one allocation. For a record in k of the t batches, drawn uniformly, an upper bound
        is returned: the composition of k epochs, in each of which the record is in one of t/k batches (rounded to whole
        numbers that add up to t).

        The Gaussian and mechanisms with few outcomes are answered as any release is, one release of Laplace noise and few
        outcomes in very many batches with a bracket: between two pairs, of which one dominates it and the other is dominated.

        Parameters
        ----------
        batches
            How many there are in an epoch, 1 or more.
        epochs
            How often all batches are gone through, each with the same records every time.
        participations
            Of how many batches a record takes part in each epoch, at most as many as there are.

        Returns
        -------
        Mechanism
            Under the relation of this one.

        Raises
        ------
        ValueError, TypeError
            If a number is none, the base is stated under replace, or the mechanism has no known law of this kind.

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
        """The mechanism on every batch of a data set that is shuffled afresh in each epoch: a bracket and not a number.

        A record is in one batch of an epoch. How much its secret place amplifies is not known; it is much less than for
        Poisson samples. The upper end is one release an epoch without amplification, as in batches of a fixed order. The lower
        end is the attack by the largest output, which holds for some records and some data set: the noisy sums are T outputs,
        one of which has the mean 2s under P and s under Q, as all other records hold the opposite value. For other noise than
        Gaussian it is the attack by the output on one batch: a Poisson sample at rate 1/T.

        Neighbours differ by a record whose place in its batch stays empty, or under ``"replace"`` takes another value. Answered
        are ``delta``, ``epsilon``, trade-off functions, divergences and zCDP, also of compositions with it.

        Parameters
        ----------
        batches
            Their number in one epoch, 1 or more.
        epochs
            How many times all batches are gone through: ``epochs * m.shuffled(batches)``.

        Returns
        -------
        Mechanism
            Its answers have the status ``BRACKET``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a number is none, or the mechanism has no one pair.

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

        An adversary may know which batch holds the record, and the others tell nothing of it, so that one release is left,
        without amplification. ``epochs * m.fixed_order(batches)`` goes through all batches again.

        Parameters
        ----------
        batches
            Their number in one epoch, 1 or more, which the answer does not depend on.

        Returns
        -------
        Mechanism
            The mechanism itself.

        Raises
        ------
        ValueError, TypeError
            If the number is none.

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
        Every run may be another mechanism of a family, chosen at random, if choosing and running it, taken as one mechanism,
        has this pair.

        The upper end holds for every score: the mean number of runs times the delta of one run at a smaller epsilon
        (:mod:`logphi.algebra.selection` has the proof, and how much smaller). The lower end is an attack: runs whose score is
        their own likelihood ratio. Answered are ``delta``, ``epsilon``, trade-off functions, divergences and zCDP, also of
        compositions with it.

        Parameters
        ----------
        mean
            The mean number of runs: 1 or more, at most 10^9; with an infinite shape any positive number.
        shape
            Above -1, at most 10^6, or infinite: 1 for the geometric law, 0 for the logarithmic one, infinite for the Poisson
            law, which may give no run at all. A smaller shape gives a smaller epsilon and a more uneven number of runs.

        Returns
        -------
        Mechanism
            Its answers have the status ``BRACKET``; ``float`` gives the upper end.

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
