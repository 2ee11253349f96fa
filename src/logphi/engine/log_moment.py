"""Logarithms of moments of the likelihood ratio: K at one point, with errors relative to its own size.

Near zero, where K is zero, its Taylor series replaces values that cancel. Where K is unknown, far out, values nearer to zero
bound it from below by convexity, and its growth bounds it from above.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Status
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.engine.cumulants import estimated, parts
from logphi.engine.log_probability import masses
from logphi.inversion.lines.moments import Amount, centre, proved, proved_radius, taylor
from logphi.inversion.lines.phase import along
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# measured: points, as shares of a point with unknown K, from which a lower bound is computed
_LOWER_ORDERS = np.array([0.999, 0.9, 0.7, 0.5, 0.25, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
# measured: up to this distance from zero a series is tried even if the value is accurate already
_NEAR = 0.05
# measured: a series with this relative error is not computed again on another disc
_SHARP = 1e-10
# chosen: so many orders at once, for each of which every atom of a law has a summand
_AT_ONCE = 32
# chosen: the farthest point at which K is evaluated to bound the largest loss of a law with unknown support
_FARTHEST = 1e6


def below_the_end(law: LogPhi) -> float:
    """A proved lower bound of the largest loss, K(z)/z; minus infinity if none is known."""
    orders = _FARTHEST * _LOWER_ORDERS
    return float(np.max(_known(law, orders)[0] / orders)) * (1 - 2 * ULP)


def log_moment(law: LogPhi, z: float, rtol: float) -> Bound:
    """Log E[e^{zL}], infinite losses included, for z > -1; its errors are relative to its own size."""
    if law.empty and z <= 0:
        return Bound(-math.inf, -math.inf, -math.inf, Status.DIVERGENT)
    infinite = masses(law)[0]
    if z > 0 and infinite[0] > 0:
        return Bound(math.inf, math.inf, math.inf, Status.DIVERGENT)
    found = finite_log_moment(law, z, rtol)
    # within rounding a loss may or may not be infinite
    return replace(found, upper=math.inf) if z > 0 and infinite[1] > 0 else found


def log_moments_above(law: LogPhi, z: Array, rtol: float) -> Array:
    """Upper bounds of log E[e^{zL}] at several z > 0: all at once where that is accurate, the others one by one."""
    if law.empty or masses(law)[0][1] > 0:
        return np.array([log_moment(law, float(one), rtol).upper for one in z])
    known = parts(law)
    value, error = np.zeros(z.size), np.zeros(z.size)
    for begin in range(0, z.size, _AT_ONCE):
        some = slice(begin, begin + _AT_ONCE)
        for term, count in known:
            values = term.log_transform(z[some])
            rounding, inner = (values.rounding, values.inner) if law.traits.continuous else proved(values)
            value[some] += count * values.mid.real
            error[some] += count * (rounding + inner)
    error += 4 * ULP * (1 + len(known)) * np.abs(value)
    rough = ~(np.isfinite(value) & (error <= rtol * np.abs(value)))
    above = value + error
    above[rough] = [log_moment(law, float(one), rtol).upper for one in z[rough]]
    return np.asarray(np.where(rough, above, above * (1 + 2 * ULP)))


def finite_log_moment(law: LogPhi, z: float, rtol: float) -> Bound:
    """K(z) = log E[e^{zL}; |L| < inf] for z > -1; its errors are relative to its own size."""
    if z > 0 and z > law.growth.right.end:
        return Bound(math.inf, math.inf, math.inf, Status.DIVERGENT)
    method, found = "log-phi", Amount(0.0, 0.0)
    for term, count in parts(law):
        own = _direct(term, z, rtol)
        if own.error > rtol / 4 * abs(own.value) and (near := _series(term, z)).error < own.error:
            method, own = "circle", near
        found = found.plus(own.times(float(count)))
    lower, upper = found.value - found.error, found.value + found.error
    if not math.isfinite(found.error):
        lower, upper = _around(law, z)
    value = min(max(found.value if math.isfinite(found.error) else (upper if math.isfinite(upper) else lower), lower), upper)
    ledger = Ledger(
        inner=Entry(found.inner),
        aliasing=Entry(found.aliasing),
        rounding=Entry(found.error if math.isfinite(found.error) else 0.0),
        truncation=Entry(0.0 if math.isfinite(found.error) else upper - lower),
    )
    if law.traits.estimated:
        ledger = estimated(ledger)
    return Bound(lower, value, upper, method=method, ledger=ledger)


def _direct(law: LossTransform, z: float, rtol: float) -> Amount:
    """K(z), with quadratures as accurate as its size requires."""
    found = _amount(law, law.log_transform(np.array([z])))
    if found.inner > rtol / 8 * abs(found.value) and 0 < abs(found.value) < 1:
        sharper = _amount(law, law.log_transform(np.array([z]), int(1 / max(abs(found.value), 1e-280)) + 1))
        return sharper if sharper.error < found.error else found
    return found


def _amount(law: LossTransform, values: Values) -> Amount:
    # the disc of a continuous formula contains K itself, however wide it is
    known = (values.rounding, values.inner) if law.traits.continuous else proved(values)
    rounding, inner = (float(part[0]) for part in known)
    if not math.isfinite(rounding + inner):
        return Amount(0.0, math.inf)
    return Amount(float(values.mid[0].real), rounding, inner)


def _series(law: LossTransform, z: float) -> Amount:
    """K(z) = K(0) + z (m + ...) for z near zero."""
    best = Amount(0.0, math.inf)
    for widest in (1.0, math.inf):
        series = taylor(law, 2, widest)
        if series is None or abs(z) > series.circle / 2:
            continue
        slope, error = series.slope(z)
        own = Amount(z * slope.real, error.rounding * abs(z), error.inner * abs(z), error.aliasing * abs(z))
        best = min(best, own.plus(_amount(law, centre(law))), key=lambda one: one.error)
        if best.error <= _SHARP * abs(best.value):
            break
    return best


def _around(law: LogPhi, z: float) -> tuple[float, float]:
    """Bounds of an unknown K(z): K(z)/z increases for z > 0, and K is bounded by its growth."""
    if z <= 0:
        return -math.inf, 0.0
    below, _ = _known(law, z * _LOWER_ORDERS)
    growth = law.growth.right
    upper = z * (growth.offset + (z + 1) * growth.most / 2) * (1 + 1e-15) if math.isfinite(growth.most) else math.inf
    if masses(law)[0][1] > 0:
        upper = math.inf
    lower = float(np.max(below / _LOWER_ORDERS)) * (1 - 1e-15)
    return min(lower, upper), upper


def _known(law: LossTransform, z: Array) -> tuple[Array, Array]:
    """Lower and upper bounds of K at real points; infinite if unknown."""
    # one by one, as a point that is too large would make all values unknown
    found = [law.log_transform(z[k : k + 1]) for k in range(z.size)]
    mid = np.array([one.mid[0].real for one in found])
    wrong = np.array([float(proved_radius(one)[0]) for one in found])
    known = np.isfinite(wrong)
    mid, wrong = np.where(known, mid, 0.0), np.where(known, wrong, np.inf)
    return mid - wrong, mid + wrong


def complex_log_moment(law: LogPhi, z: complex) -> tuple[complex, Amount] | None:
    """K(z) on its continuous branch; None if unknown."""
    found = on_vertical(law, z.real, np.array([z.imag]))
    if not np.isfinite(found.radius[0]):
        return None
    return complex(found.mid[0]), Amount(0.0, float(found.rounding[0]), float(found.inner[0]))


def on_vertical(law: LogPhi, abscissa: float, heights: Array) -> Values:
    """K(c + it) on its continuous branch, the sum over terms times counts, with proved radii; infinite if unknown."""
    zero = np.zeros(heights.shape)
    terms = (_term_on_vertical(term, abscissa, heights, count).times(count) for term, count in law.terms)
    return reduce(add, terms, Values(zero + 0j, zero, zero))


def _term_on_vertical(law: LossTransform, abscissa: float, heights: Array, count: int) -> Values:
    """K of one law on its continuous branch, with errors fit to be multiplied by a count."""
    z = abscissa + 1j * heights
    values = along(law, abscissa, heights)
    sharper = law.log_transform(z, count)
    coarse, sharp = proved_radius(values), proved_radius(sharper)
    # the coarser value determines the branch of the sharper one
    better = (sharp < coarse) & (coarse < 1)
    with np.errstate(invalid="ignore"):  # unknown values
        turns = 2j * np.pi * np.where(better, np.round((values.mid - sharper.mid).imag / (2 * np.pi)), 0.0)
    mid = np.where(better, sharper.mid + turns, values.mid)
    doubt = 4 * ULP * np.abs(turns)
    known = Values(
        mid, np.where(better, sharper.rounding + doubt, values.rounding), np.where(better, sharper.inner, values.inner)
    )
    rounding, inner = (part.copy() for part in proved(known))
    near = np.abs(z) < _NEAR
    series = taylor(law, 2) if near.any() else None
    if series is not None:
        near &= np.abs(z) <= series.circle / 2
        slope, error = series.slope(z[near])
        at_zero, size = _amount(law, centre(law)), np.abs(z[near])
        mid[near] = at_zero.value + z[near] * slope
        rounding[near] = error.rounding * size + at_zero.error + 8 * ULP * size * np.abs(slope)
        inner[near] = (error.inner + error.aliasing) * size
    return Values(mid, rounding, inner)
