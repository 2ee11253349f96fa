"""Zero-concentrated differential privacy: budgets that add, and their conversions.

(xi, rho)-zCDP says that D_a <= xi + rho a for all orders a > 1, for both orders of the pair (Bun & Steinke 2016,
Definition 1.1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi import check
from logphi.arith.floats import FLOATS
from logphi.bound import Bound, Direction, Side
from logphi.classical import renyi
from logphi.classical.claim import Claim, at_most
from logphi.classical.outward import decimal, exact, intervals, up
from logphi.classical.renyi import Conversion
from logphi.classical.renyi_curve import DivergenceCurve, LossCurve
from logphi.core.logphi import LogPhi
from logphi.core.pair import UnsupportedError
from logphi.numerics.law import Law, Reflected
from logphi.numerics.laws.integers import NormalOnIntegers
from logphi.numerics.laws.normal import Normal
from logphi.questions import Questions
from logphi.views.directions import Loss

# derived: two products and a sum in doubles, and the half ulps of what goes in, twice over
_SLIP = 1e-15
# measured: the relative width to which the supremum over orders is found, and how often cells are halved for it
_WIDTH, _HALVINGS = 1e-4, 40
# measured: the first cells
_CELLS = 32

_FIELDS = ("rho", "xi", "infinite_mass", "tilt")
_TAIL = "Bun & Steinke 2016, Proposition 1.3; Steinke 2022, Remark 15"


@dataclass(frozen=True)
class Concentrated:
    """A budget: D_a <= xi + rho a for all a > 1, beside infinite losses of probability ``infinite_mass``.

    Infinite losses of the reversed pair, of probability v, leave the finite part with eps + log(1 - v), and ``tilt`` is
    -log(1 - v). Without ``both`` the budget is that of one order of the pair, D_a(P||Q) alone.

    Budgets add under composition, adaptive too (Bun & Steinke 2016, Lemma 2.3); ``n * budget`` is n-fold.

    Raises
    ------
    ValueError, TypeError
        If rho or xi is negative, or one of them is no proved bound.

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
        pairs = [(getattr(self, name), getattr(other, name)) for name in _FIELDS]
        return Concentrated(*(_up(a + b) for a, b in pairs), both=self.both and other.both)

    def __mul__(self, count: int) -> Concentrated:
        times = check.count("the number of repetitions", count)
        return Concentrated(*(_up(times * float(getattr(self, name))) for name in _FIELDS), both=self.both)

    __rmul__ = __mul__

    @property
    def curve(self) -> DivergenceCurve:
        """The divergences, for the conversions of :mod:`logphi.classical.renyi`."""
        xi, rho = float(self.xi), float(self.rho)
        return DivergenceCurve(lambda order: (xi + rho * order) * (1 + _SLIP), both=self.both)

    @staticmethod
    def of(mechanism: Questions, direction: Direction | str | None = None) -> Concentrated:
        """The smallest rho that is known of a mechanism, with xi = 0; infinite losses are set aside.

        Of one direction, and of a relation of one, it is the budget of that order alone.

        Raises
        ------
        UnsupportedError
            If a loss is known by samples only, or is unbounded and not that of a normal law, sampled or not.
        """
        laws = [law for _, law in Loss(mechanism.loss_law(), mechanism.adjacency).orders(direction)]
        if any(law.estimated for law in laws):
            raise UnsupportedError("a loss is known by samples of its densities only: no rho could be proved from them")
        known = [LossCurve(law) for law in laws]
        # eps' = eps + shift is what the finite part sees
        return Concentrated(
            max(_rho(law) for law in laws),
            infinite_mass=max(curve.infinite_mass[1] for curve in known),
            tilt=max(0.0, *(-curve.shift[0] for curve in known)),
            both=len(laws) > 1 or laws[0].symmetric,
        )


def delta(budget: Concentrated, epsilon: float, *, conversion: Conversion | str = Conversion.CANONNE) -> Claim:
    """The profile by the best order ([S22] Proposition 14, which is ``CANONNE``), or by another conversion.

    Examples
    --------
    >>> round(float(delta(Concentrated(0.1), 2.141939)), 9)
    1e-06
    """
    found = renyi.delta(budget.curve, _ahead(epsilon, budget), conversion=conversion)
    return _named(min(1.0, _sum(found.value, budget)), found)


def epsilon(budget: Concentrated, delta: float, *, conversion: Conversion | str = Conversion.CANONNE) -> Claim:
    """The smallest eps >= 0, by the best order ([S22] Proposition 14, which is ``CANONNE``) or another conversion."""
    left = _left(delta, budget)
    found = renyi.epsilon(budget.curve, max(left, 0.0), conversion=conversion)
    return _named(_tilted(found.value, budget), found)


def tail_delta(budget: Concentrated, epsilon: float) -> Claim:
    """exp(-(eps - xi - rho)^2 / (4 rho)) from xi + rho on, one before."""
    ahead = decimal(_ahead(epsilon, budget)) - exact(float(budget.xi)) - exact(float(budget.rho))
    if not ahead.a > 0:
        value = 1.0 if ahead.b < 0 or float(budget.rho) > 0 or epsilon < 0 else 0.0
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
        room = -rho * intervals().log(exact(min(left, 1.0)))
        value = up(xi + rho + 2 * intervals().sqrt(intervals().mpf([max(room.a, 0), max(room.b, 0)])))
    return Claim(_tilted(value, budget), Side.UPPER, "zCDP, tail", _TAIL, _note(budget))


def _ahead(epsilon: float, budget: Concentrated) -> float:
    """Epsilon less the tilt, rounded down."""
    given = check.real("epsilon", epsilon)
    return given if budget.tilt == 0 else math.nextafter(given - budget.tilt, -math.inf)


def _tilted(value: float, budget: Concentrated) -> float:
    return value if budget.tilt == 0 else up(exact(value) + exact(budget.tilt))


def _sum(value: float, budget: Concentrated) -> float:
    return value if budget.infinite_mass == 0 else up(exact(value) + exact(budget.infinite_mass))


def _left(delta: float, budget: Concentrated) -> float:
    """What the infinite losses leave of delta, rounded down."""
    given = check.unit("delta", delta)
    return given if budget.infinite_mass == 0 else math.nextafter(given - budget.infinite_mass, -math.inf)


def _named(value: float, found: Claim) -> Claim:
    return Claim(value, Side.UPPER, f"zCDP, {found.name.split(', ')[1]}", found.source, found.note)


def _note(budget: Concentrated) -> str:
    return f"rho {float(budget.rho):.6g}"


def _up(number: float) -> float:
    return number if number == 0 else math.nextafter(number * (1 + 2**-52), math.inf)


def _rho(law: LogPhi) -> float:
    """The sum of what is known of the terms: rho adds, and the supremum of a sum is at most the sum of the suprema."""
    shifts = [(_shift(term), term, count) for term, count in law.terms]
    rest = LogPhi(tuple((term, count) for shift, term, count in shifts if shift is None))
    total = _bounded_rho(rest) if rest.terms else 0.0
    for shift, _, count in shifts:
        total = total if shift is None else _up(total + _up(count * shift * shift / 2))
    return total


def _shift(term: Law) -> float | None:
    """The shift m of a normal law, of which rho is m^2/2; a sample of it has no larger divergence, and no smaller rho.

    On the whole numbers rho is no larger (Canonne, Kamath & Steinke 2020, Theorem 4).
    """
    plain = term.law if isinstance(term, Reflected) else term
    base = plain.unmixed[0] if plain.unmixed is not None else plain
    if isinstance(base, Normal):
        m = base.shift.under(FLOATS)
        return float(m.mid + m.rad) * (1 + _SLIP)
    if isinstance(base, NormalOnIntegers):
        return base.shift / base.sigma * (1 + _SLIP)
    if math.isfinite(term.supremum):
        return None
    raise UnsupportedError(
        f"no rho is known of {type(plain).__name__}: its losses are unbounded and not those of a normal law; "
        "use the Renyi divergences themselves, lp.classical.renyi"
    )


def _bounded_rho(law: LogPhi) -> float:
    """The supremum over z > 0 of K'(z) / (z (z + 1)) for a loss with a top.

    K'(z)/z, a divergence, grows with z, to the top of the loss at most: on a cell [a, b] the quotient is at most
    K'(b) / (b (a + 1)). Cells that may hold the supremum are halved until it is known.
    """
    curve = LossCurve(law)
    top = (law.supremum + curve.shift[1]) * (1 + _SLIP) + 1e-300
    if top <= 0:
        return 0.0
    ends = np.expm1(np.linspace(0, 1, _CELLS + 1) * math.log1p(_farthest(curve, top)))
    a, b = ends[:-1], ends[1:]
    known = least = top / (1 + float(ends[-1]))
    for _ in range(_HALVINGS):
        divergence = np.minimum(curve.limit(b) / b, top) * (1 + _SLIP)
        above = divergence / (1 + a) * (1 + _SLIP)
        least = max(least, float((divergence / (1 + b)).max()))
        wide = above > least * (1 + _WIDTH)
        known = max(known, float(above[~wide].max(initial=0.0)))
        a, b = a[wide], b[wide]
        if not a.size:
            return known * (1 + _SLIP)
        middle = (a + b) / 2
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    # what is still wide is bounded by its top
    return max(known, float((np.minimum(curve.limit(b) / b, top) / (1 + a)).max()) * (1 + 4 * _SLIP)) * (1 + _SLIP)


def _farthest(curve: LossCurve, top: float) -> float:
    """Where top / (1 + z) is below the quotient at a place before."""
    z = 2.0 ** np.arange(-20.0, 20.0)
    quotient = float((np.minimum(curve.limit(z) / z, top) / (1 + z)).max())
    return max(1.0, top / quotient) if quotient > 0 else 1.0
