"""Bounds for every sum of laws with known cell masses: two lattice laws, each composed by one Fourier sum.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+]. Each X_i is replaced by a lattice law above it
and by one below it (:mod:`logphi.grid.discretization`). The sums of these are above and below X, so that D lies between theirs
at every threshold. They are computed by :mod:`logphi.grid.fft_composition`, with a tilt near the saddle of one threshold,
around which they are sharp. Halving the step h divides the distance of the bounds by four for continuous laws; atoms are exact
when h divides the distances between them, and of first order otherwise.

The file is longer than others because one bound combines the choice of a lattice, the two laws on it and their omissions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.safe import safe_exp, safe_log
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.grid.discretization import Discretizers, discretizer_of, discretizers, without_constants
from logphi.grid.discretizer import DoubleInterval
from logphi.grid.fft_composition import Composition, compose
from logphi.grid.lattice_law import Grid
from logphi.grid.rounded import MOST_BUCKETS, RoundedLaw
from logphi.inversion.demand import Demand
from logphi.inversion.lines.kernels import log_kappa
from logphi.inversion.lines.saddle import RIGHT, minimise
from logphi.laws.log_phi import terms_of
from logphi.laws.transform import LossTransform

# measured: the first number of nodes, as shorter transforms take hardly less time
_FIRST = 1 << 11
# measured: in three of four cases the distance of the bounds is below this multiple of the predicted one
_ROOM = 1.4
# measured: the wrap-around, as a share of the requested tolerance
_SHARE = 1e-3
# measured: the number of candidates for a step that divides the distances between atoms
_STEPS = 1 << 14
# derived: quotients up to this are exact doubles; no atoms that are farther apart are on nodes
_EXACT = 2.0**52
# measured: steps over which e^{cx} grows by more than e^30 are useless
_COARSE = 30.0
# derived: for larger c x, e^{-cx} has no correct digit
_FARTHEST = 1e14
# derived: a share of the mass is one half, give or take one half
_UNKNOWN = Scaled(0.0, 0.5, truncation=0.5)
# measured: the largest number of nodes of a single law, in periods of the transform
_PERIODS = 16
# measured: with this share for cut tails and wrap-around, both are far below the distance of the bounds
_SHARP = 1e-10
# measured: deeper cuts change no answer
_DEEPEST = -1e9
# measured: this many bisections of the exponent find a cut to within some percent
_BISECTIONS = 9
# measured: the shifts of the abscissa downwards, in units of the tilt, that are tried for the wrap-around
_BELOW = np.geomspace(1 / 256, 1, 17)
# measured: the shifts upwards that are tried for it
_ABOVE = np.geomspace(1 / 256, 4, 21)


@dataclass(frozen=True)
class Prepared:
    """Two compositions, prepared for one threshold; their bounds hold at every threshold."""

    factor: DoubleInterval
    top: float
    sides: tuple[Composition, Composition] | None

    def at(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+] between two proved ends.

        ``discretization`` and ``truncation`` add up to half the distance of the two lattice laws; ``truncation`` is the part
        from mass outside of the nodes. ``excess`` is the wrap-around of the lower law.
        """
        if x >= self.top:
            return Scaled(self.factor.high, 0.0)
        if self.sides is None or (self.sides[0].grid.tilt + 1) * abs(x) > _FARTHEST:
            return _UNKNOWN
        above, below = (side.at(x) for side in self.sides)
        # amounts in units of the upper side
        unit = safe_exp(below.log_scale - above.log_scale)
        low, low_noise = below.value * unit, below.noise * unit
        log_scale = above.log_scale + self.factor.low
        doubt = 8 * ULP * (abs(above.log_scale) + abs(below.log_scale) + abs(self.factor.low) + 4)
        noise = max(above.noise, low_noise)
        doubt = math.expm1(min(doubt + self.factor.high - self.factor.low, 700.0)) * (max(above.value, low, 0.0) + noise)
        # only the upper law omits mass outside its nodes
        omitted_above = safe_exp(above.log_omitted - above.log_scale) * (1 + 1e-9)
        half = abs(above.value + omitted_above - low) / 2
        found = Scaled(
            log_scale,
            (above.value + omitted_above + low) / 2,
            excess=safe_exp(below.log_wrap - above.log_scale) * (1 + 1e-9),
            truncation=min(omitted_above / 2, half),
            rounding=noise + doubt,
            discretization=half - min(omitted_above / 2, half),
        )
        # no excess is above one
        idle = found.low == 0 and found.log_scale + safe_log(found.high) > 0
        return found if math.isfinite(found.high) and not idle else _UNKNOWN


def prepare(law: LossTransform, x: float, demand: Demand, budget: int = 1 << 20) -> Prepared:
    """Lattice laws above and below a law, as close together at x as ``demand.rtol`` asks or as ``budget`` allows.

    Parameters
    ----------
    law
        A normal, mixed normal (also reflected), uniform (also with atoms), two-point, finite or constant law, or a
        sum of such with ``terms``: pairs of a law and its count.
    x
        The threshold, any real number, near which the bounds are tightest.
    demand
        The requested width, relative to the value.
    budget
        The largest number of lattice points.

    Raises
    ------
    ValueError
        If the sum contains another law.

    References
    ----------
    Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022 (the upper lattice law).

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.laws.normal.normal import Normal
    >>> near = prepare(Normal(Plain(1.0)), 0.5, Demand(1e-6))
    >>> near.at(0.5).relative_width < 1e-6
    True
    >>> near.at(0.51).relative_width < 1e-6
    True
    """
    rtol = demand.rtol
    parts, factor = discretizers(terms_of(law))
    top = sum(count * part.top for part, count in parts)
    top += 16 * ULP * sum(count * abs(part.top) for part, count in parts if part.top < np.inf)
    best, width = Prepared(factor, top, None), math.inf
    plan = plan_for(parts, x, rtol) if x < top else None
    if plan is None:
        return best
    # the transform has a power of two of nodes
    budget = 1 << (budget.bit_length() - 1)
    size = min(_FIRST, budget)
    while True:
        step, gap = step_for(parts, plan, size)
        found = Prepared(factor, top, sides_of(parts, parts, plan, step, size))
        reached = found.at(x).relative_width
        if reached < width or best.sides is None:
            best, width = found, reached
        if width <= rtol or 2 * size > budget:
            return best
        # the distance of the bounds is about proportional to the predicted one; the size grows by at most a factor of eight
        share = reached / gap if reached < math.inf else 1.0
        largest = min(8 * size, budget)
        size *= 2
        while size < largest and _ROOM * share * step_for(parts, plan, size)[1] > rtol:
            size *= 2


def at_width(law: LossTransform, x: float, width: float, connect_dots: bool) -> Prepared:
    """The losses of every term on the multiples of one width: rounded, or above by Connect-the-Dots.

    Parameters
    ----------
    law
        As of :func:`prepare`, except laws that are known by samples.
    x
        The threshold, any real number, near which the sums are most accurate.
    width
        The distance of the nodes, in nats.
    connect_dots
        Whether the law above is that of Connect-the-Dots; the law below is always rounded down.

    Raises
    ------
    ValueError
        If the sum contains another law, or the width is so fine that too many nodes would be needed.

    References
    ----------
    [PLD] sections 2.1 and 2.2.
    """
    terms, factor = without_constants(terms_of(law))
    parts = tuple((RoundedLaw(term, discretizer_of(term), connect_dots), count) for term, count in terms)
    # each rounding moves the sum by at most a width
    moved = width * sum(count for _, count in parts)
    # the upper end of the sum before rounding
    low = sum(count * term.support.lower for term, count in terms)
    high = sum(count * term.support.upper for term, count in terms)
    top = high + moved + 16 * ULP * (len(parts) + 1) * (abs(high) + moved) if high < np.inf else np.inf
    if x >= top:
        return Prepared(factor, top, None)
    # above the support of the law any tilt will do
    plan = plan_for(parts, min(x, high - moved if high - moved > low else low - moved), _SHARP)
    if plan is None:
        return Prepared(factor, top, None)
    length = plan.length + 2 * moved
    needed = 2 * length / width
    if needed > MOST_BUCKETS:
        raise ValueError(
            f"about {needed:.3g} buckets of width {width!r} would be needed, and at most {MOST_BUCKETS} are kept: take a width "
            f"of {needed / MOST_BUCKETS * width:.2g} or more"
        )
    size = 1 << max(math.ceil(math.log2(needed)), 4)
    return Prepared(factor, np.inf, sides_of(parts, parts, plan, width, size))


@dataclass(frozen=True)
class Plan:
    """The tilt, the period in nats, the rates of the Chernoff bounds of the wrap-around, and the depth of tails and cuts."""

    tilt: float
    length: float
    points: Array
    depth: float
    cut: float


def plan_for(parts: Discretizers, x: float, rtol: float) -> Plan | None:
    """A tilt near the saddle point, or a larger one if that shortens the period a lot and costs few digits.

    The bounds hold for any plan. Unbounded tails are cut where their mass is a small share of the answer: the cut law has all
    moments, and a period no longer than needed.
    """
    total = sum(count for _, count in parts)
    log_share = math.log(_SHARE * rtol) - math.log(1 + total)

    def bound(u: Array, cut: float) -> Array:
        height: Array = sum((count * part.approximate(u, cut) for part, count in parts), np.zeros_like(u)) - u * x
        return height

    def settle(cut: float) -> tuple[float, float]:
        found = minimise(lambda u: bound(u, cut) - np.log(u) - np.log1p(u), RIGHT)
        # the value is about the bound over the slope; e^-4 is a margin
        return found.abscissa, found.value + math.log(found.abscissa) - 4

    cut = _DEEPEST
    c, log_value = settle(cut)
    if any(part.endless for part, _ in parts):
        # the highest cut that omits at most the given share of the resulting value
        deep, high = _DEEPEST, -1.0
        for _ in range(_BISECTIONS):
            middle = -math.sqrt(deep * high)
            at, value = settle(middle)
            if value + log_share >= middle:
                deep, cut, c, log_value = middle, middle, at, value
            else:
                high = middle
    if not np.isfinite(log_value):
        return None
    best: tuple[float, float, Array] | None = None
    base = 0.0
    for tilt in c * np.array([1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0]):
        u = np.concatenate([[tilt], tilt * (1 - _BELOW), tilt * (1 + _ABOVE)])
        heights = bound(u, cut) + log_kappa(u)
        base = float(heights[0]) if best is None else base
        # measured: a factor of twenty in the bound costs little more than a digit
        if heights[0] > base + 3:
            break
        # measured: the value is rarely less than e^-4 of its Chernoff bound
        needed = np.logaddexp(0.0, heights[1:] - base + 4 - math.log(_SHARE * rtol))
        lengths = needed / (tilt * np.concatenate([_BELOW, _ABOVE]))
        one, two = int(np.argmin(lengths[: _BELOW.size])), _BELOW.size + int(np.argmin(lengths[_BELOW.size :]))
        length = float(max(lengths[one], lengths[two]))
        if best is None or length < 0.8 * best[1]:
            best = float(tilt), length, u[[one + 1, two + 1]]
    if best is None or not 0 < best[1] < np.inf or (best[0] + 1) * abs(x) > _FARTHEST:
        return None
    # as deep as the wrap-around, divided among the single laws
    return Plan(*best, 12 - log_share, cut)


def step_for(parts: Discretizers, plan: Plan, size: int) -> tuple[float, float]:
    """A step that covers the period and nearly divides the distances of atoms, and the predicted distance of the bounds."""
    least = plan.length / size
    spans = [span for part, _ in parts for span in part.spans.tolist() if least <= span < _EXACT * least]
    candidates = [np.array([least])]
    share = max(_STEPS // max(len(spans), 1), 64)
    for span in spans:
        most = math.floor(span / least)
        candidates.append(span / np.arange(most, max(0, most - share, most // 3), -1))
    steps = np.unique(np.concatenate(candidates))
    c = plan.tilt
    with np.errstate(over="ignore"):  # steps that are far too long
        second = sum(count for part, count in parts) * c * (c + 1) * steps**2 / 8
    first = c * sum(count * part.misfit(steps, c) for part, count in parts)
    best = int(np.argmin(first + second))
    return float(steps[best]), float((first + second)[best])


def sides_of(
    above: Discretizers, below: Discretizers, plan: Plan, step: float, size: int
) -> tuple[Composition, Composition] | None:
    """The compositions above and below, with one period; None if the steps are too long."""
    if (plan.tilt + 1) * step > _COARSE:
        return None

    def side(upper: bool) -> Composition:
        grid = Grid(step, plan.tilt, upper, plan.depth, plan.cut, _PERIODS * size)
        return compose(((part.on(grid), count) for part, count in (above if upper else below)), grid, size, plan.points)

    return side(True), side(False)
