"""The largest success of an attacker who knows all records but one, from the profile of a release.

The file is longer than others because ``help()`` explains each figure of a risk in full.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, overload

from logphi.answers.bound import Bound, Bounds, single
from logphi.answers.enclosure import with_ends
from logphi.answers.status import Direction
from logphi.arith.floats import ULP
from logphi.engine.answer import relatively
from logphi.engine.directions import Loss
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.route_names import MethodName
from logphi.inputs.tolerance import Tolerance
from logphi.listed import Listed
from logphi.pairs.pair import UnsupportedError
from logphi.questions.exponential import exponential
from logphi.questions.gaussian_mu import gaussian_mu as smallest_mu
from logphi.questions.hockey_stick import hockey_stick
from logphi.questions.pointwise import each
from logphi.questions.power import hull_power, power
from logphi.questions.renyi import max_divergence
from logphi.text.written import exact

# derived: the rounding of a handful of products and quotients
_ROUNDING = 8 * ULP
# the order in which a record is distinguished from its absence; both for a record against another one
_PRESENT = {
    Adjacency.ADD_REMOVE: Direction.REMOVE,
    Adjacency.REMOVE: Direction.REMOVE,
    Adjacency.REPLACE_SPECIAL: Direction.REMOVE,
    Adjacency.REPLACE: None,
}


@dataclass(frozen=True, repr=False)
class AttackRisk(Listed):
    """The success of attacks on one record, by an attacker who sees all outputs and knows all other records.

    No attack does better than these numbers, of which ``float`` gives the upper end. Some attack does as well, if neighbouring
    data sets attain the pair of the release. In direction ``"remove"`` an attack claims that the record is there, so that a
    false positive is a claim about data without it; in direction ``"add"`` it claims that the record is not there. The worse of
    both by default. Under ``replace`` it claims one of two values of the record.

    Parameters
    ----------
    loss
        The loss of the release.
    profile
        Its privacy profile, by any method.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> risk = (100 * Gaussian(sigma=10)).risk
    >>> round(risk.advantage().value, 9), round(risk.tpr(0.01).value, 9), round(risk.gaussian_mu().value, 9)
    (0.382924923, 0.092362248, 1.0)
    """

    loss: Loss
    profile: Callable[..., Bound | Bounds] = field(compare=False)

    def __repr__(self) -> str:
        questions = [name for name in dir(self) if name not in ("loss", "profile")]
        return f"AttackRisk with the questions {', '.join(f'{name}()' for name in questions)}"

    def advantage(self, *, method: MethodName | None = None, rtol: float | None = None) -> Bound:
        """The largest excess of the true over the false positive rate of any membership attack: delta(0).

        It is the total variation distance, the same in both directions, and also the largest difference that the release makes
        to the success of any guess about the record: TPR - FPR is largest where the trade-off function has slope -1.

        Parameters
        ----------
        method
            As in ``delta``: a route by name, or ``"certified"``.
        rtol
            Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

        Returns
        -------
        Bound
            A probability; ``float`` gives the upper end.

        Raises
        ------
        ValueError
            If the method does not apply.

        Examples
        --------
        >>> import logphi as lp
        >>> risk = (100 * lp.Gaussian(sigma=10)).risk
        >>> round(risk.advantage().value, 9)
        0.382924923
        """
        return single(self.profile(0.0, method=method, rtol=rtol))

    @overload
    def tpr(self, fpr: Number, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bound: ...
    @overload
    def tpr(self, fpr: Numbers, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bounds: ...
    def tpr(self, fpr: Any, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bound | Bounds:
        """The largest true positive rate of an attack at a false positive rate: 1 - f(FPR).

        Parameters
        ----------
        fpr
            One rate or an array, in [0, 1].
        direction
            ``"remove"`` or ``"add"``, what is claimed: see the class; the worse of both by default.
        rtol
            Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``fpr``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a rate is outside [0, 1] or NaN, or the direction does not apply.

        Examples
        --------
        >>> import logphi as lp
        >>> risk = (100 * lp.Gaussian(sigma=10)).risk
        >>> round(risk.tpr(0.01).value, 9)
        0.092362248
        """
        self._checked("fpr", fpr, direction, rtol)
        return each("fpr", fpr, lambda at: power(self.loss, at, direction, rtol))

    @overload
    def ppv(self, fpr: Number, prior: float, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bound: ...
    @overload
    def ppv(
        self, fpr: Numbers, prior: float, *, direction: DirectionLike | None = None, rtol: float | None = None
    ) -> Bounds: ...
    def ppv(
        self, fpr: Any, prior: float, *, direction: DirectionLike | None = None, rtol: float | None = None
    ) -> Bound | Bounds:
        """The largest share of correct claims among the claims of an attack, at a false positive rate and a prior of the claim.

        It is prior TPR / (prior TPR + (1 - prior) FPR). As TPR / FPR falls along the trade-off function, no attack with a
        larger rate of false positives does better; at rate 0 it is the supremum over all attacks, from the largest loss.

        Parameters
        ----------
        fpr
            One rate or an array, in [0, 1].
        prior
            The probability of the claim before the release, strictly between 0 and 1.
        direction
            What is claimed: see the class.
        rtol
            Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``fpr``.

        Raises
        ------
        ValueError, TypeError
            If a rate or the prior is outside its range or NaN, or the direction does not apply.

        Examples
        --------
        >>> from logphi.mechanisms.pure_dp import PureDP
        >>> round(PureDP(epsilon=1).risk.ppv(0, prior=0.01).value, 9)
        0.026723631
        """
        tolerance = self._checked("fpr", fpr, direction, rtol)
        prior = check.open_unit("prior", prior)

        def one(at: float) -> Bound:
            if at == 0:
                # the factor by which the largest loss raises the odds of a claim
                return _share(exponential(max_divergence(self.loss, direction=direction)), 1.0, prior, tolerance.enough)
            return _share(power(self.loss, at, direction, rtol), at, prior, tolerance.enough)

        return each("fpr", fpr, one)

    @overload
    def success(self, prior: Number, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bound: ...
    @overload
    def success(self, prior: Numbers, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bounds: ...
    def success(self, prior: Any, *, direction: DirectionLike | None = None, rtol: float | None = None) -> Bound | Bounds:
        """The largest probability of a correct guess between the claim, which has a prior probability, and its opposite.

        It is 1 - prior + prior H_a with the hockey-stick divergence of order a = (1 - prior) / prior; (1 + advantage) / 2 at
        prior 1/2. Guessing without the release succeeds with probability max(prior, 1 - prior).

        Parameters
        ----------
        prior
            One probability or an array, in [0, 1].
        direction
            ``"remove"`` or ``"add"``, what is claimed: see the class; the worse of both by default.
        rtol
            Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``prior``; ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If a prior is outside [0, 1] or NaN, or the direction does not apply.

        Examples
        --------
        >>> import logphi as lp
        >>> risk = (100 * lp.Gaussian(sigma=10)).risk
        >>> round(risk.success(0.5).value, 9)
        0.691462461
        """
        self._checked("prior", prior, direction, rtol)
        return each("prior", prior, lambda at: self._success(at, direction, rtol))

    @overload
    def reconstruction(self, baseline: Number, *, rtol: float | None = None) -> Bound: ...
    @overload
    def reconstruction(self, baseline: Numbers, *, rtol: float | None = None) -> Bounds: ...
    def reconstruction(self, baseline: Any, *, rtol: float | None = None) -> Bound | Bounds:
        """The largest probability of reconstructing a record, one attribute of it, or whose it is, given a baseline.

        The baseline is the success of the best attack that sees nothing computed from the record: the largest probability, over
        all fixed guesses, that the guess is right for a record drawn from the attacker's prior; 1/k for one of k equally likely
        values. For every record P(success) is at most 1 - f(Q(success)), Q without the record, and averages over records obey
        the same bound since 1 - f is concave. The test is of the record against its absence, direction ``"remove"``. Under
        ``replace`` it is of one value against another, in either direction, and the concave hull of both curves counts.

        Parameters
        ----------
        baseline
            One probability or an array, in [0, 1].
        rtol
            Requested ``upper - lower`` relative to the value; by default as in :func:`logphi.questions.delta.delta`.

        Returns
        -------
        Bound or Bounds
            Of the shape of ``baseline``.

        Raises
        ------
        UnsupportedError
            If the release is stated for an added record only.
        ValueError, TypeError
            If a baseline is outside [0, 1] or NaN.

        References
        ----------
        Hayes, Mahloujifar & Balle 2023, *Bounding Training Data Reconstruction in DP-SGD* (the blow-up function); Kaissis,
        Hayes, Ziller & Rueckert 2023 (it is 1 - f); Kulynych et al. 2025, *Unifying Re-Identification, Attribute Inference,
        and Data Reconstruction Risks in Differential Privacy*.

        Examples
        --------
        >>> from logphi.mechanisms.pure_dp import PureDP
        >>> round(PureDP(epsilon=1).risk.reconstruction(0.01).value, 9)
        0.027182818
        """
        if self.loss.adjacency not in _PRESENT:
            raise UnsupportedError(
                "a bound on reconstruction needs outputs with the record against outputs without it, but the release is stated "
                "under adjacency 'add', the other direction only; state it under add_remove or remove"
            )
        direction = _PRESENT[self.loss.adjacency]
        self._checked("baseline", baseline, direction, rtol)
        return each("baseline", baseline, lambda at: hull_power(self.loss, at, direction, rtol))

    gaussian_mu = smallest_mu

    def _loss(self) -> Loss:
        return self.loss

    def _checked(self, name: str, value: Any, direction: DirectionLike | None, rtol: float | None) -> Tolerance:
        check.unit_array(name, value)
        self.loss.orders(direction)
        return Tolerance.of(rtol)

    def _success(self, prior: float, direction: DirectionLike | None, rtol: float | None) -> Bound:
        if prior in (0, 1):
            return Bound(1.0, 1.0, 1.0)
        found = single(hockey_stick(self.loss, (1 - prior) / prior, direction=direction, rtol=rtol))
        # the relative rounding of the order changes the answer by at most as much of 1 - prior
        lower, value, upper = (1 - prior + prior * end for end in (found.lower, found.value, found.upper))
        floor = max(prior, 1 - prior)
        lower, upper = max(lower - _ROUNDING, floor - ULP, 0.0), min(max(upper + _ROUNDING, floor), 1.0)
        sized = with_ends(found, lower, value, upper, ledger=found.ledger.scaled(prior))
        return relatively(sized, Tolerance.of(rtol).enough)


def _share(found: Bound, fpr: float, prior: float, rtol: float) -> Bound:
    """The share of correct claims, from both rates or their quotient and one; exact, because a quotient may overflow."""
    claim = exact(prior)

    def share(tpr: float) -> float:
        if tpr == math.inf:
            return 1.0
        right = claim * Fraction(tpr)
        return float(right / (right + (1 - claim) * Fraction(fpr)))

    lower, upper = math.nextafter(share(found.lower), 0.0), min(math.nextafter(share(found.upper), 2.0), 1.0)
    ledger = replace(found.ledger.scaled(0.0), discretization=replace(found.ledger.discretization, amount=upper - lower))
    if not found.ledger.proved:
        ledger = ledger.estimating("discretization")
    return relatively(with_ends(found, lower, share(found.value), upper, ledger=ledger), rtol)
