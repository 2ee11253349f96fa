"""Sampled normal pairs with hardly any noise, beside other losses.

notation: as in :mod:`logphi.engine.large_losses.separated`, R the sum of the other losses, D_j the profile of R and of a normal
loss N_j of the variance jm^2, which is that of j records who surely take part. Then

    T(x) <= D(x) <= T(x - nd) + unclear,    T(x) = sum over j of P(J = j) D_j(x - j log q - (n - j) log(1 - q)),

where D_0 is the profile of R alone. A number j with a tiny share needs no line, as

    D_{N_j}(y) <= D_j(y) <= D_{N_j}(y - r) + P(R > r),    P(R > r) <= P(R = inf) + D_R(r - 1) / (1 - 1/e).

The others, mostly one or two, have D_j by any route; beside so large a normal loss all lines are short.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from logphi.answers.enclosure import Ends
from logphi.arith.safe import safe_log
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.engine.large_losses.separated import ROUNDINGS, Numbers, Separated, log_profile, rounded, sum_of_logs
from logphi.engine.log_probability import masses
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform

# measured: the largest number of lines; each takes some milliseconds
_LINES = 32
# chosen: what is left out may add this share of the tolerance, as a logarithm
_SHARE = -4.0
# derived: powers of two up to the largest threshold in question
_POWERS = 100
# derived: the logarithm of 1 - 1/e, rounded down
_LOG_STEP = -0.4587

# derived: a logarithm below all in question
_LOWEST = -1e300

Local = Callable[[float], Ends]


@dataclass
class Beside:
    """The pairs, the other losses, the law of the normal loss of one record of each kind, and the profiles of any loss.

    What one threshold prepared serves those near it.
    """

    own: Separated
    rest: LogPhi
    normals: tuple[LossTransform, ...]
    profiles: Callable[[LogPhi, float, Demand], Local]
    demand: Demand
    _known: dict[tuple[int, ...], Local] = field(default_factory=dict)
    _ceilings: dict[float, float] = field(default_factory=dict)

    @property
    def _none(self) -> tuple[int, ...]:
        """No participant of any kind."""
        return (0,) * len(self.normals)

    def at(self, x: float) -> Scaled | None:
        """Delta of all at x >= 0; None if there are too many numbers of participants."""
        if self.own.reflected:
            return self.own.reversed_beside(x, lambda y: _ends(self._local(self._none, y, self.demand)(y)))
        inner, outer = self.own.numbers
        return None if inner is None or outer is None else self._sum(inner, outer, x)

    def _sum(self, inner: Numbers, outer: Numbers, x: float) -> Scaled:
        near, log_narrow = self.own.near, math.log(self.demand.rtol) + _SHARE
        low_place, low_wrong = inner.places(x)
        high_place, high_wrong = outer.places(x)
        low_place, high_place = low_place + low_wrong, high_place - high_wrong - near
        lows = log_profile(inner.variance, low_place)[0]
        log_least = float(log_sum(inner.logs + lows)) + log_narrow
        reach, log_tail = self._reach(x, log_least)
        highs = np.minimum(np.logaddexp(_shifted(outer.variance, high_place - reach), log_tail), 0.0)
        for number in self._dear(outer, highs, high_place + reach, log_least):
            local = self._local(tuple(outer.counts[:, number].astype(int).tolist()), float(high_place[number]), self.demand)
            highs[number] = min(highs[number], local(float(high_place[number])).upper)
            for same in np.flatnonzero((inner.counts == outer.counts[:, [number]]).all(axis=0)):
                lows[same] = max(lows[same], local(float(low_place[same])).lower)
        low, high = self._nobody(x, log_least)
        size = outer.logs.size
        low = rounded(sum_of_logs([low, float(log_sum(inner.logs - inner.errors + lows))]), size, -1)
        parts = [high, float(log_sum(outer.logs + outer.errors + highs)), outer.log_left_out, self.own.log_unclear]
        unsampled = rounded(sum_of_logs([self.own.log_unsampled(x - reach), log_tail]), size, 1) if x > reach else 0.0
        return Scaled.between(low, min(rounded(sum_of_logs(parts), size, 1), unsampled, 0.0))

    def _nobody(self, x: float, log_least: float) -> tuple[float, float]:
        """Logarithms of bounds of the share in which nobody takes part."""
        inner, outer = self.own.nobody
        doubt = ROUNDINGS * (abs(x) + abs(inner) + abs(outer))
        place = x - outer - self.own.near - doubt
        high = self._log_excess(place) if place > 0 else 0.0
        if high + outer + doubt <= log_least:
            return -math.inf, high + outer + doubt
        local = self._local(self._none, place, Demand(self.demand.rtol, least=log_least - outer, enough=self.demand.enough))
        return local(x - inner + doubt).lower + inner - doubt, min(local(place).upper, high) + outer + doubt

    def _dear(self, outer: Numbers, highs: Array, y: Array, log_least: float) -> Iterator[int]:
        """The numbers of participants that need a line: those of which bounds leave most open."""
        lows = log_profile(outer.variance, y)[0]
        with np.errstate(divide="ignore"):  # no gap
            gaps = outer.logs + highs + np.log(-np.expm1(np.minimum(lows - np.maximum(highs, _LOWEST), 0.0)))
        order = np.argsort(-gaps, kind="stable")[:_LINES]
        return (int(number) for number in order if gaps[number] > log_least - math.log(gaps.size))

    def _reach(self, x: float, log_least: float) -> tuple[float, float]:
        """A distance r, and the logarithm of a bound of P(R > r) that is mostly below a level."""
        reach, log_tail = 1.0, 0.0
        for power in range(_POWERS):
            reach = 2.0**power
            if reach >= self.rest.support.upper:
                return reach, safe_log(self._infinite)
            log_tail = min(self._log_excess(reach - 1) - _LOG_STEP, 0.0)
            if log_tail <= log_least or reach > x:
                break
        return reach, log_tail

    def _log_excess(self, x: float) -> float:
        """The logarithm of an upper bound of the profile of the other losses."""
        infinite = safe_log(self._infinite)
        if x >= self.rest.support.upper:
            return infinite
        if x not in self._ceilings:
            self._ceilings[x] = contour.ceiling(self.rest, x).at(x)
        return sum_of_logs([self._ceilings[x], infinite]) + ROUNDINGS

    @cached_property
    def _infinite(self) -> float:
        return masses(self.rest)[0][1]

    def _local(self, counts: tuple[int, ...], x: float, demand: Demand) -> Local:
        """The profile of the other losses with so many records of each kind that surely take part."""
        if counts not in self._known:
            surely = [(law, count) for law, count in zip(self.normals, counts, strict=True) if count]
            loss = LogPhi.of([*self.rest.terms, *surely])
            self._known[counts] = self.profiles(loss, x, demand)
        return self._known[counts]


def _shifted(variance: Array, x: Array) -> Array:
    """Logarithms of upper bounds of normal profiles; the trivial one where x is far below zero."""
    inside = x > -variance / 4
    return np.where(inside, log_profile(variance, np.where(inside, x, 0.0))[1], 0.0)


def _ends(found: Ends) -> tuple[float, float]:
    return found.lower, found.upper
