"""The Renyi accountant: delta and epsilon from the divergences of a release, by each known conversion.

The divergence of any one order, which adds under composition (Mironov 2017), bounds the privacy profile; only the evaluation at
the order that was found best has to be proved. The conversions, from the first to the sharpest:

* ``MIRONOV``: delta = e^{(a-1)(D_a - eps)}, Mironov 2017, Proposition 3;
* ``CANONNE``: that times (1 - 1/a)^{a-1} / a, Canonne, Kamath & Steinke 2020, Proposition 12, which is Balle et al. 2020,
  Theorem 21; never above the Markov-ADP bound of :mod:`logphi.classical.markov`;
* ``ASOODEH``: the best that follows from one order, Asoodeh et al. 2020;
* ``TRADEOFF``: the best that follows from the trade-off function of all orders together, those below 1 and those of the
  reversed pair included, [AFA] Appendix F.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable

import numpy as np

from logphi.algebra.asking import Questions
from logphi.answers.status import Side
from logphi.arrays import Array
from logphi.classical.best_order import best_order
from logphi.classical.claim import Claim
from logphi.classical.divergence_curve import Divergence, curves
from logphi.classical.interval_arithmetic import Interval, between, decimal, down, exact, intervals, up
from logphi.classical.joint_conversion import Implied, sharpened
from logphi.classical.joint_tradeoff import implied_error
from logphi.classical.renyi_curve import RenyiCurve
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike

# derived: for smaller values masses may underflow, and the sharper conversions are skipped
_LEAST = 1e-280
# derived: exponentials of larger numbers overflow
_HUGE = 600.0
# chosen: where the search for epsilon starts if no order above 1 gives a finite one
_FARTHEST = 100.0


class Conversion(enum.Enum):
    """How a bound of divergences becomes one of the privacy profile."""

    MIRONOV = "mironov"
    CANONNE = "canonne"
    ASOODEH = "asoodeh"
    TRADEOFF = "tradeoff"

    @classmethod
    def of(cls, value: Conversion | str) -> Conversion:
        """``value`` as a conversion; accepts the lower-case name."""
        try:
            return cls(value)
        except ValueError:
            names = ", ".join(repr(member.value) for member in cls)
            raise ValueError(f"conversion must be one of {names}, got {value!r}") from None

    @property
    def source(self) -> str:
        """The theorem."""
        return _SOURCES[self]


_SOURCES = {
    Conversion.MIRONOV: "Mironov 2017, Proposition 3",
    Conversion.CANONNE: "Canonne, Kamath & Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21",
    Conversion.ASOODEH: "Asoodeh, Liao, Calmon, Kosut & Sankar 2020",
    Conversion.TRADEOFF: "Zhu, Dong & Wang 2022, Appendix F",
}

Source = Questions | RenyiCurve | Divergence


def delta(
    source: Source,
    epsilon: float,
    *,
    conversion: Conversion | str = Conversion.TRADEOFF,
    direction: DirectionLike | None = None,
) -> Claim:
    """An upper bound of delta(epsilon) from Renyi divergences.

    Parameters
    ----------
    source
        A mechanism, whose divergences of every order are computed; or a :class:`~logphi.classical.RenyiCurve`; or a function
        from an order to a bound of the divergence of that order, in nats (a number, a Bound or a Claim), for both directions of
        the pair.
    epsilon
        Any real, in nats.
    conversion
        One of :class:`Conversion`, or its lower-case name.
    direction
        Of a mechanism: ``"remove"`` or ``"add"`` for one direction only; the larger of both by default.

    Returns
    -------
    Claim
        An upper bound. The probability of infinite losses, whose divergences are infinite, is added separately.

    Raises
    ------
    ValueError, TypeError
        If epsilon is not finite, the conversion is unknown, or the function returns something that is not a bound.

    Examples
    --------
    >>> round(float(delta(lambda order: order / 2, 1.0, conversion="mironov")), 9)
    0.882496903
    """
    at, how = check.real("epsilon", epsilon), Conversion.of(conversion)
    found = [_delta(curve, at, how) for curve in curves(source, direction)]
    return max(found, key=float)


def epsilon(
    source: Source,
    delta: float,
    *,
    conversion: Conversion | str = Conversion.TRADEOFF,
    direction: DirectionLike | None = None,
) -> Claim:
    """An upper bound of the smallest eps >= 0 with delta(eps) <= delta, from Renyi divergences.

    The arguments are those of :func:`delta`, with ``delta`` in [0, 1]; infinite where no order gives a bound.

    Examples
    --------
    >>> round(float(epsilon(lambda order: order / 2, 1e-5, conversion="canonne")), 6)
    4.728387
    """
    at, how = check.unit("delta", delta), Conversion.of(conversion)
    found = [_epsilon(curve, at, how) for curve in curves(source, direction)]
    return max(found, key=float)


def tradeoff(source: Source, type_one_error: float, *, direction: DirectionLike | None = None) -> Claim:
    """A lower bound of the type II error of every test at a type I error, from Renyi divergences: the trade-off function.

    The null hypothesis is Q, without the record, as in ``mechanism.tradeoff``. A function of the order bounds both directions
    of the pair, so that its curve is symmetric. Every order excludes some tests, and the largest bound is taken. Orders below
    one exclude some tests that no order above one does: those of your own function are used if you give
    ``DivergenceCurve(function, interval=(0, math.inf))``. A bound at one order alone is ``DivergenceCurve.at([2], [0.5])``.

    Parameters
    ----------
    source
        As of :func:`delta`: a mechanism, a curve or a function of the order.
    type_one_error
        In [0, 1].
    direction
        Of a mechanism: ``"remove"`` or ``"add"`` for one direction only; the smaller of both curves by default.

    Returns
    -------
    Claim
        A lower bound; 0 where no order gives a bound.

    Raises
    ------
    ValueError, TypeError
        If the type I error is outside [0, 1], or the function returns something that is not a bound.

    References
    ----------
    [AFA] Appendix F.1; Balle, Barthe, Gaboardi, Hsu & Sato 2020 (one order above 1).

    Examples
    --------
    >>> str(tradeoff(lambda order: order / 2, 0.1))
    'at least 0.5162717 (Renyi, tradeoff)'
    """
    alpha = check.unit("type_one_error", type_one_error)
    found = [_tradeoff(curve, alpha) for curve in curves(source, direction)]
    return min(found, key=float)


def _delta(curve: RenyiCurve, epsilon: float, how: Conversion) -> Claim:
    eps = decimal(epsilon) + between(*curve.shift)
    below = down(eps)

    def exponent(z: Array) -> Array:
        return curve.limit(z) - z * below + _factor(z, how)

    z = best_order(exponent, curve)
    value = 1.0
    if z is not None:
        k = exact(float(curve.limit(np.array([z]))[0]))
        value = min(1.0, up(intervals().exp(k - exact(z) * eps + _exact_factor(z, how))))
    note = "" if z is None else f"order {1 + z:.6g}"
    if how in _JOINT and value > _LEAST and abs(below) < _HUGE:
        sharper = _sharpened(curve, lambda t: (math.exp(t), below), math.log(value), z, how)
        value, note = (sharper.delta, sharper.note) if sharper is not None and sharper.delta < value else (value, note)
    return Claim(_with_infinite(curve, value), Side.UPPER, _name(how), how.source, note, curve.proved)


def _epsilon(curve: RenyiCurve, delta: float, how: Conversion) -> Claim:
    rest = (decimal(delta) - between(*curve.infinite_mass)) / (1 - between(*curve.infinite_mass))
    allowed = down(rest)
    if delta == 1:
        return Claim(0.0, Side.UPPER, _name(how), how.source)
    if not allowed > 0:
        return Claim(math.inf, Side.UPPER, _name(how), how.source, "delta is not above the probability of an infinite loss")
    log_allowed = math.log(allowed)

    def claimed(z: Array) -> Array:
        return (curve.limit(z) + _factor(z, how) - log_allowed) / z

    z = best_order(claimed, curve)
    value, note = math.inf, ""
    if z is not None:
        k = exact(float(curve.limit(np.array([z]))[0]))
        value = up((k + _exact_factor(z, how) - intervals().log(exact(allowed))) / exact(z))
        note = f"order {1 + z:.6g}"
    if how in _JOINT and allowed > _LEAST and (value < _HUGE or z is None):
        start = value if math.isfinite(value) else _FARTHEST
        sharper = _sharpened(curve, lambda t: (allowed, t), start, z, how)
        value, note = (sharper.epsilon, sharper.note) if sharper is not None and sharper.epsilon < value else (value, note)
    value = max(0.0, up(exact(value) - between(*curve.shift))) if math.isfinite(value) else value
    return Claim(value, Side.UPPER, _name(how), how.source, note, curve.proved)


def _tradeoff(curve: RenyiCurve, alpha: float) -> Claim:
    # given finite losses: a test rejects where only P has mass, at no type I error, and never where only Q has mass
    kept = 1 - between(*curve.infinite_mass)
    shared = kept * intervals().exp(between(*curve.shift))
    own = up(decimal(alpha) / shared) if alpha else 0.0
    implied = implied_error(curve, own) if own < 1 else None
    value = max(down(kept * exact(implied.type_two_error)), 0.0) if implied else 0.0
    note = f"order {implied.order:.6g}" if implied else ""
    how = Conversion.TRADEOFF
    return Claim(value, Side.LOWER, _name(how), how.source, note, curve.proved)


def _sharpened(
    curve: RenyiCurve, point: Callable[[float], tuple[float, float]], known: float, z: float | None, how: Conversion
) -> Implied | None:
    """The bound of all orders together; that of the best order alone if it is asked for, or if the first proof fails."""
    together = sharpened(curve, point, known, z, alone=False) if how is Conversion.TRADEOFF else None
    return together or sharpened(curve, point, known, z, alone=True)


_JOINT = (Conversion.ASOODEH, Conversion.TRADEOFF)


def _name(how: Conversion) -> str:
    return f"Renyi, {how.value}"


def _factor(z: Array, how: Conversion) -> Array:
    """The logarithm of the conversion's factor of e^{(a-1)(D_a - eps)}, z = a - 1."""
    if how is Conversion.MIRONOV:
        return np.zeros_like(z)
    return -z * np.log1p(1 / z) - np.log1p(z)


def _exact_factor(z: float, how: Conversion) -> Interval:
    if how is Conversion.MIRONOV:
        return exact(0.0)
    iv, a = intervals(), exact(z)
    return a * iv.log(a) - (1 + a) * iv.log(1 + a)


def _with_infinite(curve: RenyiCurve, value: float) -> float:
    """W + (1 - w) times the value, w the probability of an infinite loss."""
    mass = between(*curve.infinite_mass)
    return min(1.0, up(mass + (1 - mass) * exact(value))) if curve.infinite_mass[1] > 0 else value
