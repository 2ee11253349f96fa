"""Sums of laws that are atoms only: the excess as a sum over two sets of atoms.

notation: X = A + B, each the sum of some of the laws; D_B(t) = E[(1 - e^{t-B})_+] is a sum over the atoms of B above t, and

    D(x) = sum over the atoms a_i of A of P(A = a_i) D_B(x - a_i).

Equal laws on a lattice, and laws on lattices of the same span, have few atoms between two ends outside of which next to nothing
of their sum lies once it is tilted by e^{cx}, c near the saddle of the threshold. A and B are the sets of all sums of one place
of each of these. Weights are between two ends, places within an error of theirs; as D grows with both, so is D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.atomic import atomic
from logphi.inversion.atomic_laws import Laws, number_of, ways
from logphi.inversion.convolution import Terms
from logphi.inversion.demand import Demand
from logphi.inversion.kernels import log_kappa
from logphi.inversion.split import Composed, Split, about_how_many
from logphi.inversion.staircase import FARTHEST, Staircase
from logphi.inversion.tilted import MOST, NOTHING, Run, Tilted
from logphi.laws.log_phi import LogPhi

# measured: sorting and looking up a place takes about as long as forty operations on a node
_PLACE = 40.0
# measured: operations on a node of a transform, and on a place of a staircase
_NODE = 60.0
# measured: a share of the answer that takes a few hundredths of a second to reach
_GOAL = 2e-7
_REFINEMENTS = 2
# measured: so many atoms are listed in a few milliseconds
_LISTED = 1 << 16
# measured: transforms of so many nodes take about ten milliseconds, no more than a smoothed line
FEW_NODES = 1 << 15
# measured: blocks of so many atoms are split over nodes in a few milliseconds
_IN_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class Plan:
    """Which atoms are summed, and what that costs; nothing is composed yet.

    ``dropped`` bounds the mass of atoms that are left out.
    """

    near: float
    tilt: float
    runs: tuple[Run | Tilted, ...]
    split: Split | None = None
    dropped: float = 0.0

    @property
    def cost(self) -> float:
        """About how many operations the composition takes."""
        places = sum(math.prod(len(run) for run in side) for side in self._sides)
        return _PLACE * places + _NODE * sum(len(run) for run in (*self.runs, *((self.split,) if self.split else ())))

    @property
    def few(self) -> bool:
        """Whether the atoms are few enough to be summed."""
        return all(math.prod(len(run) for run in side) <= MOST for side in self._sides)

    @property
    def _sides(self) -> tuple[Sequence[Run | Tilted], Sequence[Run | Tilted]]:
        return (self.runs, ()) if self.split else _balanced(self.runs)

    def composed(self) -> Prepared | None:
        """The two sets of atoms; None where their masses exceed the range of doubles."""
        first, second = (_sum(_composed(side)) for side in self._sides)
        nodes = None if self.split is None else self.split.composed()
        second = second if nodes is None else nodes.sum
        if self.tilt * max(float(np.ptp(one.location)) for one in (first, second)) / 2 > FARTHEST:
            return None
        return Prepared.of(self, first, second, nodes)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Two sets of atoms, tilted for one threshold; the bounds hold at every threshold."""

    plan: Plan
    first: Tilted
    nodes: Composed | None
    steps: tuple[Staircase, Staircase]
    location_error: float
    log_scale: float
    middle: float
    log_omitted: float

    @staticmethod
    def of(plan: Plan, first: Tilted, second: Tilted, nodes: Composed | None) -> Prepared:
        """Staircases of the second set, from the lower and the upper ends of its weights."""
        middle = float(second.location[[0, -1]].mean())
        below, above = (Staircase.of(second.location, weight, plan.tilt, middle) for weight in second.between)
        log_scale = first.log_scale + second.log_scale
        one, other = float(first.weight.sum()), float(second.weight.sum())
        omitted = 1.01 * (first.omitted * other + second.omitted * one + first.omitted * second.omitted)
        log_omitted = math.log(omitted + 1e-300) + float(log_kappa(np.array([plan.tilt]))[0])
        location_error = first.location_error + second.location_error
        return Prepared(plan, first, nodes, (below, above), location_error, log_scale, middle, log_omitted)

    def serves(self, x: float) -> bool:
        """Whether another tilt would hardly be better."""
        return self.plan.tilt * abs(x - self.plan.near) <= 1

    def at(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+]; ``discretization`` is what atoms that are split over nodes leave open."""
        tilt, place = self.plan.tilt, self.location_error + 4 * ULP * self._size(x)
        # what an atom of the first set leaves of the threshold
        rest = x - self.first.location
        gap = self.nodes.gap(rest + place, self.middle) if self.nodes else np.zeros(rest.size)
        below, above = (
            steps.at(rest + moved) * (1 + sign * steps.relative_error)
            for steps, moved, sign in zip(self.steps, (place, -place), (-1, 1), strict=True)
        )
        lower, upper = self.first.between
        # over e^{log_scale - c x}
        exponent = tilt * (rest - self.middle)
        log_low, own_slip = _log_sum(lower, np.maximum(below - gap, 0.0), exponent)
        log_high, slip = _log_sum(upper, above, exponent)
        # weights were tilted at places that the errors of these may have moved since
        slip = max(slip, own_slip) + tilt * self.location_error + ULP * (4 * abs(self.log_scale) + 2 * tilt * self._size(x))
        log_low, log_high = log_low - slip, log_high + slip
        log_omitted = float(np.logaddexp(self.log_omitted, self.nodes.log_beyond if self.nodes else -math.inf))
        top = float(np.logaddexp(log_high, log_omitted))
        low, high, apart = (math.exp(min(one - top, 0.0)) for one in (log_low, log_high, _log_sum(upper, gap, exponent)[0]))
        apart = min(apart, high - low)
        found = Scaled(
            self.log_scale - tilt * x + top,
            (low + high) / 2,
            truncation=1.01 * (1 - high),
            rounding=(high - low - apart) / 2 + 4e-16,
            discretization=apart / 2,
        )
        # nothing pays more than one
        return found + Scaled(0.0, 0.0, truncation=self.plan.dropped) if self.plan.dropped else found

    def _size(self, x: float) -> float:
        """Of what is added up to a threshold."""
        return abs(x) + 2 * float(np.abs(self.first.location).max()) + abs(self.middle)


def _log_sum(weight: Array, value: Array, exponent: Array) -> tuple[float, float]:
    """log(sum(weight * value * e^exponent)), and a bound of its rounding."""
    held = (weight > 0) & (value > 0)
    if not held.any():
        return -math.inf, 0.0
    logs = np.array([np.log(weight[held]), np.log(value[held]), exponent[held]])
    total = logs.sum(axis=0)
    peak = float(total.max())
    terms = np.exp(total - peak)
    # each term errs by what its logarithms have lost
    lost = ULP * (4 * np.abs(logs).sum(axis=0) + 2 * abs(peak) + 16) + 4 * ELEMENTARY
    return peak + math.log(float(terms.sum())), float((terms * lost).sum() / terms.sum()) * (1 + 1e-9) + ULP * (16 + abs(peak))


def plan(law: LogPhi, x: float, share: float = _GOAL, most: int = MOST) -> Plan | None:
    """The atoms of a sum of laws, tilted for a threshold; None where there are other parts or too many atoms.

    What atoms split over nodes leave open is about a ``share`` of the excess; they are split over ``most`` nodes at most.
    """
    found = Laws.of(law.terms)
    if found is None:
        return None
    laws, tilt, dropped = found.for_threshold(x)
    runs, others = laws.runs(tilt)
    scattered: list[tuple[Tilted, int]] = []
    # the fewest first: all sums of one place of each, as long as these are few
    for atoms, count in sorted(others, key=lambda one: ways(*one)):
        if math.prod(len(run) for run in runs) * ways(atoms, count) <= _LISTED:
            runs.append(atoms.drawn(count))
        else:
            scattered += atoms.in_blocks(count, _IN_BLOCK)
    if not scattered:
        result = Plan(x, tilt, tuple(runs), None, dropped)
        return result if result.few else None
    density = laws.density(tilt, x)
    if most < MOST and about_how_many(scattered, density, share) > most:
        return None
    split = Split.of(scattered, tilt, density, share)
    result = Plan(x, tilt, tuple(runs), split, dropped)
    return result if split and result.few and len(split) <= most else None


def prepare(law: LogPhi, x: float, demand: Demand) -> Prepared | None:
    """The atoms of a sum of laws near a threshold, split more finely where that leaves too much open."""
    share = max(demand.rtol / 2, _GOAL)
    found = plan(law, x, share)
    prepared = None if found is None else found.composed()
    for _ in range(_REFINEMENTS):
        if found is None or prepared is None or found.split is None or found.split.finest:
            break
        width = prepared.at(x).relative_width
        if width <= 2 * share:
            break
        finer = plan(law, x, share * max(share / width, 1e-6))
        closer = None if finer is None else finer.composed()
        if closer is None:
            break
        found, prepared = finer, closer
    return prepared


def served(terms: Terms) -> bool:
    """Whether every law has atoms only."""
    return all(atomic(law) is not None for law, _ in terms)


def listed(terms: Terms, tilt: float, most: float) -> Tilted | None:
    """All atoms of a sum of laws, tilted; None where there are other parts, or more than ``most``."""
    laws = Laws.of(terms)
    if laws is None:
        return None
    found = laws.runs(tilt)
    if number_of(found) > most:
        return None
    runs, others = found
    return _sum([*_composed(runs), *(atoms.drawn(count) for atoms, count in others)])


def count_of(terms: Terms) -> float:
    """About how many atoms a sum of laws has, but for negligible ones; infinite where it has other parts."""
    laws = Laws.of(terms)
    return math.inf if laws is None else number_of(laws.runs(0.0))


def _composed(runs: Sequence[Run | Tilted]) -> list[Tilted]:
    return [run.composed() if isinstance(run, Run) else run for run in runs]


def _balanced(runs: Sequence[Run | Tilted]) -> tuple[list[Run | Tilted], list[Run | Tilted]]:
    """Two sets with about equally many sums."""
    sides: tuple[list[Run | Tilted], list[Run | Tilted]] = [], []
    for run in sorted(runs, key=len, reverse=True):
        min(reversed(sides), key=lambda side: math.prod(len(one) for one in side)).append(run)
    return sides


def _sum(parts: Sequence[Tilted]) -> Tilted:
    """All sums of one place of each."""
    return reduce(Tilted.convolve, parts, NOTHING)
