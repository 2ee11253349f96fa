"""Sums of atomic laws: the excess as a sum over two sets of atoms.

notation: X = A + B, each the sum of some of the laws; D_B(t) = E[(1 - e^{t-B})_+] is a sum over the atoms of B above t, and

    D(x) = sum over the atoms a_i of A of P(A = a_i) D_B(x - a_i).

Equal laws on a lattice, and laws on lattices of the same span, have a sum with few atoms of noticeable weight once it is tilted
by e^{cx}, c near the saddle of the threshold. A and B are sums of such sums. Weights have lower and upper bounds, and locations
have errors; as D grows with both, they give bounds of D.
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
from logphi.inversion.atoms.atomic import atomic
from logphi.inversion.atoms.atomic_laws import Laws, number_of, ways
from logphi.inversion.atoms.piecewise_excess import FARTHEST, PiecewiseExcess
from logphi.inversion.atoms.tilted import MOST, NOTHING, LatticeSum, Tilted
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import Terms

# measured: this number of atoms is tabulated in a few milliseconds
LISTED = 1 << 16
# measured: so many atoms of a single sum take half a second
_OF_ONE_SUM = 1 << 21


@dataclass(frozen=True, eq=False)
class Plan:
    """The sums of atoms to be formed for a threshold, with the tilt; nothing is computed yet.

    ``dropped`` bounds the mass of atoms that are left out.
    """

    near: float
    tilt: float
    sums: tuple[LatticeSum | Tilted, ...]
    dropped: float = 0.0

    @property
    def few(self) -> bool:
        """Whether the atoms are few enough to be summed."""
        most = MOST if self.sums[1:] else _OF_ONE_SUM
        return all(math.prod(len(run) for run in side) <= most for side in _balanced(self.sums))

    def composed(self) -> Prepared | None:
        """The two sets of atoms; None if their masses overflow."""
        first, second = (_sum(_composed(side)) for side in _balanced(self.sums))
        if self.tilt * max(float(np.ptp(one.location)) for one in (first, second)) / 2 > FARTHEST:
            return None
        return Prepared.of(self, first, second)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Two sets of atoms, tilted for one threshold; the bounds hold at every threshold."""

    plan: Plan
    first: Tilted
    steps: tuple[PiecewiseExcess, PiecewiseExcess]
    location_error: float
    log_scale: float
    middle: float
    log_omitted: float

    @staticmethod
    def of(plan: Plan, first: Tilted, second: Tilted) -> Prepared:
        """The excess of the second set as a function of the threshold, from lower and upper bounds of its weights."""
        middle = float(second.location[[0, -1]].mean())
        below, above = (PiecewiseExcess.of(second.location, weight, plan.tilt, middle) for weight in second.between)
        log_scale = first.log_scale + second.log_scale
        one, other = float(first.weight.sum()), float(second.weight.sum())
        omitted = 1.01 * (first.omitted * other + second.omitted * one + first.omitted * second.omitted)
        log_omitted = math.log(omitted + 1e-300) + float(log_kappa(np.array([plan.tilt]))[0])
        location_error = first.location_error + second.location_error
        return Prepared(plan, first, (below, above), location_error, log_scale, middle, log_omitted)

    def serves(self, x: float) -> bool:
        """Whether this tilt is about as good at x as the best one."""
        return self.plan.tilt * abs(x - self.plan.near) <= 1

    def at(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+]."""
        tilt, location_error = self.plan.tilt, self.location_error + 4 * ULP * self._size(x)
        # the threshold less each atom of the first set
        rest = x - self.first.location
        below, above = (
            steps.at(rest + moved) * (1 + sign * steps.relative_error)
            for steps, moved, sign in zip(self.steps, (location_error, -location_error), (-1, 1), strict=True)
        )
        lower, upper = self.first.between
        # logarithms in units of e^{log_scale - c x}
        exponent = tilt * (rest - self.middle)
        log_low, own_error = _log_sum(lower, below, exponent)
        log_high, rounding_error = _log_sum(upper, above, exponent)
        # the tilt of the weights counts the errors of the locations
        rounding_error = (
            max(rounding_error, own_error)
            + tilt * self.location_error
            + ULP * (4 * abs(self.log_scale) + 2 * tilt * self._size(x))
        )
        log_low, log_high = log_low - rounding_error, log_high + rounding_error
        top = float(np.logaddexp(log_high, self.log_omitted))
        low, high = (math.exp(min(one - top, 0.0)) for one in (log_low, log_high))
        found = Scaled(
            self.log_scale - tilt * x + top,
            (low + high) / 2,
            truncation=1.01 * (1 - high),
            rounding=(high - low) / 2 + 4e-16,
        )
        # the payoff is at most one
        return found + Scaled(0.0, 0.0, truncation=self.plan.dropped) if self.plan.dropped else found

    def _size(self, x: float) -> float:
        """The size of the sums of locations and of the threshold, to which rounding is relative."""
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
    # each term has the rounding of its logarithms
    lost = ULP * (4 * np.abs(logs).sum(axis=0) + 2 * abs(peak) + 16) + 4 * ELEMENTARY
    return peak + math.log(float(terms.sum())), float((terms * lost).sum() / terms.sum()) * (1 + 1e-9) + ULP * (16 + abs(peak))


def plan(law: LogPhi, x: float) -> Plan | None:
    """The atoms of a sum of laws, tilted for a threshold; None if there are other parts or too many atoms."""
    found = Laws.of(law.terms)
    if found is None:
        return None
    laws, tilt, dropped = found.for_threshold(x)
    sums, others = laws.sums(tilt)
    # laws with few atoms first
    for atoms, count in sorted(others, key=lambda one: ways(*one)):
        if math.prod(len(run) for run in sums) * ways(atoms, count) > LISTED:
            return None
        sums.append(atoms.drawn(count))
    result = Plan(x, tilt, tuple(sums), dropped)
    return result if result.few else None


def prepare(law: LogPhi, x: float) -> Prepared | None:
    """The atoms of a sum of laws near a threshold; None as for :func:`plan`, and if their masses overflow."""
    found = plan(law, x)
    return None if found is None else found.composed()


def served(terms: Terms) -> bool:
    """Whether every law is made of atoms."""
    return all(atomic(law) is not None for law, _ in terms)


def listed(terms: Terms, tilt: float, most: float) -> Tilted | None:
    """All atoms of a sum of laws, tilted; None if there are other parts, or more than ``most`` atoms."""
    laws = Laws.of(terms)
    if laws is None:
        return None
    found = laws.sums(tilt)
    if number_of(found) > most:
        return None
    sums, others = found
    return _sum([*_composed(sums), *(atoms.drawn(count) for atoms, count in others)])


def count_of(terms: Terms) -> float:
    """An estimate of the number of atoms of a sum of laws that are not negligible; infinite if it has other parts."""
    laws = Laws.of(terms)
    return math.inf if laws is None else number_of(laws.sums(0.0))


def _composed(sums: Sequence[LatticeSum | Tilted]) -> list[Tilted]:
    return [run.composed() if isinstance(run, LatticeSum) else run for run in sums]


def _balanced(sums: Sequence[LatticeSum | Tilted]) -> tuple[list[LatticeSum | Tilted], list[LatticeSum | Tilted]]:
    """The sums in two sets with about equally many atoms."""
    sides: tuple[list[LatticeSum | Tilted], list[LatticeSum | Tilted]] = [], []
    for run in sorted(sums, key=len, reverse=True):
        min(reversed(sides), key=lambda side: math.prod(len(one) for one in side)).append(run)
    return sides


def _sum(parts: Sequence[Tilted]) -> Tilted:
    """The atoms of the sum of all parts."""
    return reduce(Tilted.convolve, parts, NOTHING)
