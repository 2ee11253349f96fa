"""The law of a privacy loss as curves with bounds: its atoms and density, or a histogram where these are not known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np

from logphi.answers.bound import Bound, Bounds, single
from logphi.answers.display import printed
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.plot.curve import Curve, traced
from logphi.questions.loss import LossDistribution

# chosen: a law with more atoms is drawn as a histogram
MOST_ATOMS = 512
# chosen: the range of the plot, in standard deviations on both sides of the mean
_DEVIATIONS = 4.5
# chosen: the margin, as a share of that range
_MARGIN = 0.04
# chosen: the distance from an atom at which the distribution function is computed on both sides, as a share of the range
_BESIDE = 1e-9
# chosen: points at which it is tried whether a density is known
_PROBES = 9
# chosen: points of a distribution function with atoms
_POINTS = 97
# chosen: bins of a histogram
_BINS = 48

_NAMES = {
    Direction.REMOVE: r"$\log\,p/q$ under $P$ (remove)",
    Direction.ADD: r"$\log\,q/p$ under $Q$ (add)",
    Direction.BOTH: "either direction",
}


def ends(laws: Iterable[LossDistribution]) -> tuple[float, float]:
    """The range of the plot: some standard deviations around the means, within the supports, and a margin."""
    lows, highs = [], []
    for law in laws:
        mean, deviation = law.mean.value, math.sqrt(law.variance.value)
        if not math.isfinite(mean + deviation):
            mean, deviation = single(law.quantile(0.5, rtol=1e-2)).value, 1.0
        lows.append(max(mean - _DEVIATIONS * deviation, law.law.support.lower))
        highs.append(min(mean + _DEVIATIONS * deviation, law.law.support.upper))
    low, high = min(lows), max(highs)
    margin = _MARGIN * (high - low) or 1.0
    return low - margin, high + margin


def name(law: LossDistribution) -> str:
    """The direction, and the probability of an infinite loss, which no axis shows."""
    infinite = law.infinite_mass.value
    return _NAMES[law.direction] + (f"; infinite with probability {printed(infinite, None, 4)}" if infinite else "")


def parts(
    law: LossDistribution, ends: tuple[float, float], points: Array | None, rtol: float
) -> tuple[Curve | None, Curve | None]:
    """The density and the atoms, None where there is no such part; a histogram in place of both where one is not known."""
    stems = atoms(law, ends, rtol)

    def density(at: Array) -> Iterable[Bound]:
        return answers(law.pdf, at, rtol)

    few = np.linspace(*ends, _PROBES) if points is None else points
    if stems is None or not all(math.isfinite(one.upper) for one in density(few)):
        return bins(law, np.linspace(ends[0], ends[1], _BINS + 1) if points is None else points, rtol), None
    curve = traced(name(law), density, ends if points is None else points)
    return curve if np.any(curve.upper > 0) else None, stems if stems.bounds else None


def atoms(law: LossDistribution, reach: tuple[float, float], rtol: float) -> Curve | None:
    """Locations and probabilities of the atoms within the range; None if they are too many, or not known."""
    lattice = law.law.support.lattice
    if lattice is not None and math.isfinite(lattice.span):
        first, last = (math.floor((end - lattice.offset) / lattice.span) for end in reach)
        if last - first > MOST_ATOMS:
            return None
        steps = np.arange(first, last + 1, dtype=float)
        jumps = _differences(law, lattice.offset + (steps + 0.5) * lattice.span, rtol)
        return Curve(name(law), lattice.offset + steps[1:] * lattice.span, tuple(jumps))
    try:
        known = law.atoms
    except ValueError:
        return None
    kept = (known.locations >= reach[0]) & (known.locations <= reach[1])
    if np.count_nonzero(kept) > MOST_ATOMS:
        return None
    ends = zip(known.lower[kept].tolist(), known.upper[kept].tolist(), strict=True)
    masses = [Bound(low, (low + high) / 2, high, direction=law.direction) for low, high in ends]
    return Curve(name(law), known.locations[kept], tuple(masses))


def bins(law: LossDistribution, edges: Array, rtol: float) -> Curve:
    """The mean density of each bin, as steps."""
    widths = np.diff(edges).tolist()
    means = [
        Bound(
            math.nextafter(one.lower / width, 0.0),
            one.value / width,
            math.nextafter(one.upper / width, math.inf),
            one.status,
            one.method,
            one.direction,
            one.ledger.scaled(1 / width),
        )
        for one, width in zip(_differences(law, edges, rtol), widths, strict=True)
    ]
    return Curve(name(law), np.repeat(edges, 2)[1:-1], tuple(one for one in means for _ in range(2)))


def cumulative(law: LossDistribution, ends: tuple[float, float], points: Array | None, rtol: float) -> Curve:
    """The distribution function, on both sides of the atoms where these are known."""

    def below(at: Array) -> Iterable[Bound]:
        return answers(law.cdf, at, rtol)

    stems = atoms(law, ends, rtol)
    if points is None and stems is not None and stems.bounds:
        gap = _BESIDE * (ends[1] - ends[0])
        near = np.column_stack([stems.x - gap, stems.x + gap]).ravel()
        # between the atoms of a lattice the function is constant
        rest = np.array(ends) if law.law.support.lattice is not None else np.linspace(*ends, _POINTS)
        points = np.union1d(near, rest)
    return traced(name(law), below, ends if points is None else points)


def _differences(law: LossDistribution, edges: Array, rtol: float) -> list[Bound]:
    below = list(answers(law.cdf, edges, rtol))
    found = []
    for left, right in pairwise(below):
        lower = max(math.nextafter(right.lower - left.upper, -math.inf), 0.0)
        upper = math.nextafter(right.upper - left.lower, math.inf)
        value = min(max(right.value - left.value, lower), upper)
        found.append(Bound(lower, value, upper, right.status, right.method, law.direction, right.ledger))
    return found


def answers(question: Callable[..., Bound | Bounds], at: Array, rtol: float) -> Iterable[Bound]:
    """One bound for each point."""
    found = question(at, rtol=rtol)
    return [found] if isinstance(found, Bound) else found
