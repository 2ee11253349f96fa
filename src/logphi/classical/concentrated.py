"""Zero-concentrated differential privacy: budgets that add under composition, and their conversions.

(xi, rho)-zCDP says that D_a(P||Q) and D_a(Q||P) are at most xi + rho a for all a > 1 (Bun & Steinke 2016, Definition 1.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.algebra.asking import Questions
from logphi.algebra.families import terms_of
from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical import renyi
from logphi.classical.claim import Claim, at_most
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.interval_arithmetic import decimal, down, exact, intervals, up
from logphi.classical.renyi import Conversion
from logphi.classical.renyi_curve import LossCurve
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike
from logphi.laws.combined.conditioned import Conditioned
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError
from logphi.questions.zcdp import smallest_rho

# derived: two products and a sum in doubles, and the half ulps of what goes in, twice over
_ROUNDING = 1e-15
# measured: the relative width of the supremum over orders
_WIDTH = 1e-4

_FIELDS = ("rho", "xi", "infinite_mass", "tilt")
_TAIL = "Bun & Steinke 2016, Proposition 1.3; Steinke 2022, Remark 15"


@dataclass(frozen=True)
class Concentrated:
    """A budget: D_a <= xi + rho a for all a > 1, for the losses that are finite; ``infinite_mass`` bounds P(L = inf).

    If the reversed pair has infinite losses of probability v, the profile at eps is that of the finite losses at
    eps + log(1 - v); ``tilt`` is -log(1 - v). Without ``both`` only D_a(P||Q) is bounded, not D_a(Q||P).

    Budgets add under composition, adaptive composition included (Bun & Steinke 2016, Lemma 2.3); ``n * budget`` is n-fold.

    Raises
    ------
    ValueError, TypeError
        If rho or xi is negative, or one of them is not a proved bound.

    Examples
    --------
    >>> round((2 * Concentrated(0.25) + Concentrated(1.0)).rho, 9)
    1.5
    """

    rho: float | Bound | Claim
    xi: float | Bound | Claim = 0.0
    infinite_mass: float = 0.0
    tilt: float = 0.0
    both: bool = True

    def __post_init__(self) -> None:
        for name in _FIELDS:
            number = at_most(name, getattr(self, name))
            if number < 0:
                raise ValueError(f"{name} must not be negative, got {number!r}")
            object.__setattr__(self, name, number)

    def __add__(self, other: Concentrated) -> Concentrated:
        if not isinstance(other, Concentrated):
            return NotImplemented
        rho, xi, mass, tilt = (_up(getattr(self, name) + getattr(other, name)) for name in _FIELDS)
        return Concentrated(rho, xi, mass, tilt, self.both and other.both)

    def __mul__(self, count: int) -> Concentrated:
        times = check.count("the number of repetitions", count)
        rho, xi, mass, tilt = (_up(times * float(getattr(self, name))) for name in _FIELDS)
        return Concentrated(rho, xi, mass, tilt, self.both)

    __rmul__ = __mul__

    @property
    def curve(self) -> DivergenceCurve:
        """The bound xi + rho a as a curve, for the conversions of :mod:`logphi.classical.renyi`."""
        xi, rho = float(self.xi), float(self.rho)
        return DivergenceCurve(lambda order: (xi + rho * order) * (1 + _ROUNDING), both=self.both)

    @staticmethod
    def of_pure(epsilon: float | Bound | Claim, reverse: float | Bound | Claim | None = None) -> Concentrated:
        """(eps + eps')^2 / 8 if the loss is at most eps in one direction of the pair and eps' in the other (eps by default).

        [S22] Lemma 33.5; Proposition 16 where they are equal: eps^2 / 2. The loss lies in an interval of length eps + eps', and
        Hoeffding's lemma bounds its moments.

        Examples
        --------
        >>> Concentrated.of_pure(0.5).rho, round(Concentrated.of_pure(0.5, 0.25).rho, 9)
        (0.125, 0.0703125)
        """
        sizes = (epsilon, epsilon if reverse is None else reverse)
        one, other = (check.nonnegative("epsilon", at_most("epsilon", size)) for size in sizes)
        return Concentrated(up((decimal(one) + decimal(other)) ** 2 / 8))

    @staticmethod
    def of(mechanism: Questions, direction: DirectionLike | None = None) -> Concentrated:
        """The smallest rho that is known for a mechanism, with xi = 0; infinite losses are counted separately.

        Given a direction, or a relation that has only one, it is the budget of that order alone.

        Raises
        ------
        UnsupportedError
            If a loss is known by samples only, or no bound of the growth of its divergences is known.
        """
        if not isinstance(mechanism, Questions):
            raise TypeError(f"a mechanism is needed, got {mechanism!r} of type {type(mechanism).__name__}")
        laws = [law for _, law in mechanism._loss().orders(direction)]
        if any(law.traits.estimated for law in laws):
            raise UnsupportedError("a loss is known by samples of its densities only: no rho could be proved from them")
        known = [LossCurve(law) for law in laws]
        # for the finite part, eps becomes eps' = eps + shift
        rho = max(_rho(law) for law in laws)
        families = [family for _, family, _ in terms_of(mechanism)] if isinstance(mechanism, Mechanism) else []
        if any(families):
            # families have no infinite losses; beside sampled noise a sharper rho takes minutes
            rtol = 1e-6 if all(families) else 1e-3
            rho = min(rho, mechanism.zcdp(direction=direction, rtol=rtol).upper)
        return Concentrated(
            rho,
            infinite_mass=max(curve.infinite_mass[1] for curve in known),
            tilt=max(0.0, *(-curve.shift[0] for curve in known)),
            both=len(laws) > 1 or laws[0].traits.symmetric,
        )


def delta(budget: Concentrated, epsilon: float, *, conversion: Conversion | str = Conversion.CANONNE) -> Claim:
    """The profile by a conversion at the best order; by default [S22] Proposition 14, which is ``CANONNE``.

    Examples
    --------
    >>> round(float(delta(Concentrated(0.1), 2.141939)), 9)
    1e-06
    """
    found = renyi.delta(budget.curve, _ahead(epsilon, budget), conversion=conversion)
    return _named(min(1.0, _sum(found.value, budget)), found)


def epsilon(budget: Concentrated, delta: float, *, conversion: Conversion | str = Conversion.CANONNE) -> Claim:
    """The smallest eps >= 0 by a conversion at the best order; by default [S22] Proposition 14, which is ``CANONNE``."""
    left = _left(delta, budget)
    found = renyi.epsilon(budget.curve, max(left, 0.0), conversion=conversion)
    return _named(_tilted(found.value, budget), found)


def tail_delta(budget: Concentrated, epsilon: float) -> Claim:
    """exp(-(eps - xi - rho)^2 / (4 rho)) for eps >= xi + rho, and one for smaller eps.

    It bounds P(L > eps) by e^{(a-1)(xi + rho a - eps)} at the best a. This needs D_a(P||Q) only, and xi only shifts eps.
    """
    ahead = decimal(_ahead(epsilon, budget)) - exact(float(budget.xi)) - exact(float(budget.rho))
    if not ahead.a > 0:
        # for rho = 0 the loss is at most xi
        value = 0.0 if ahead.a == 0 and budget.rho == 0 else 1.0
    elif budget.rho == 0:
        value = 0.0
    else:
        value = up(intervals().exp(-(ahead**2) / (4 * exact(float(budget.rho)))))
    return Claim(min(1.0, _sum(min(1.0, value), budget)), Side.UPPER, "zCDP, tail", _TAIL, _note(budget))


def tail_epsilon(budget: Concentrated, delta: float) -> Claim:
    """The sum of xi, rho and 2 sqrt(rho log(1/delta)).

    Examples
    --------
    >>> round(float(tail_epsilon(Concentrated(0.1), 1e-6)), 6)
    2.450788
    """
    left = _left(delta, budget)
    rho, xi = exact(float(budget.rho)), exact(float(budget.xi))
    if not left > 0:
        value = math.inf if budget.rho or left < 0 else float(budget.xi)
    else:
        room = -rho * intervals().log(decimal(min(left, 1.0)))
        value = up(xi + rho + 2 * intervals().sqrt(intervals().mpf([max(room.a, 0), max(room.b, 0)])))
    return Claim(_tilted(value, budget), Side.UPPER, "zCDP, tail", _TAIL, _note(budget))


def tail_budget(epsilon: float, delta: float) -> Concentrated:
    """The largest rho whose :func:`tail_epsilon` at delta is at most eps: (sqrt(log(1/delta) + eps) - sqrt(log(1/delta)))^2.

    Between eps^2 / (4 log(1/delta) + 4 eps) and eps^2 / (4 log(1/delta)); rounded down.

    References
    ----------
    [S22] Remark 15.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not positive, or delta not strictly between 0 and 1.

    Examples
    --------
    >>> round(tail_budget(1.0, 1e-6).rho, 9)
    0.017468905
    """
    iv, eps = intervals(), decimal(check.positive("epsilon", epsilon))
    rest = -iv.log(decimal(check.open_unit("delta", delta)))
    return Concentrated(max(0.0, down((eps / (iv.sqrt(rest + eps) + iv.sqrt(rest))) ** 2)))


def _ahead(epsilon: float, budget: Concentrated) -> float:
    """Epsilon minus the tilt, rounded down."""
    given = check.real("epsilon", epsilon)
    return given if budget.tilt == 0 else down(decimal(given) - exact(budget.tilt))


def _tilted(value: float, budget: Concentrated) -> float:
    return value if budget.tilt == 0 else up(exact(value) + exact(budget.tilt))


def _sum(value: float, budget: Concentrated) -> float:
    return value if budget.infinite_mass == 0 else up(exact(value) + exact(budget.infinite_mass))


def _left(delta: float, budget: Concentrated) -> float:
    """Delta minus the probability of infinite losses, rounded down."""
    given = check.unit("delta", delta)
    return given if budget.infinite_mass == 0 else down(decimal(given) - exact(budget.infinite_mass))


def _named(value: float, found: Claim) -> Claim:
    return Claim(value, Side.UPPER, f"zCDP, {found.name.split(', ')[1]}", found.source, found.note)


def _note(budget: Concentrated) -> str:
    return f"rho {float(budget.rho):.6g}"


def _up(number: float) -> float:
    return number if number == 0 else math.nextafter(number * (1 + 2**-52), math.inf)


def _rho(law: LogPhi) -> float:
    """An upper bound of the supremum of D_a / a over all a > 1, for the finite part of the loss."""
    finite = LogPhi.of((term if term.support.masses.certain else Conditioned(term), count) for term, count in law.terms)
    found = smallest_rho(finite, 0.0, _WIDTH).upper
    if math.isinf(found):
        raise UnsupportedError(
            "no rho is known: some loss is unbounded, and not that of a normal law; use the Renyi divergences "
            "themselves, lp.classical.renyi"
        )
    return found
