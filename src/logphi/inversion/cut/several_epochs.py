"""The profile of several lognormal means together, by sums of their densities over a lattice.

notation: L = log S the loss of one epoch, p its density under P, M its transform, a = m^2/t; D the profile of the last of n
epochs; h the step. The profile of all is E D(x - L_1 - ... - L_(n-1)). Its sum over a lattice,

    h^(n-1) sum over whole j of p_1(j_1 h) ... p_(n-1)(j_(n-1) h) D(x - (j_1 + ... + j_(n-1)) h),

has positive terms only, so that no digits cancel, and densities and D keep theirs along the branch cut
(:mod:`logphi.inversion.cut.branch_cut`).

Poisson's formula: h sum p(jh) e^{zjh} is the sum of M(z + 2 pi i k/h) over whole k. As D is not on the lattice, the sum over
all j is the profile's integral over Re z = c with such sums for all M but one. As |M(c + iy)| <= M(c) e^{-ay^2/2}, with the
least a, a product of terms at the heights y + 2 pi k_i/h is at most all M(c) times the exponential of -2a (pi/h)^2 times the
sum of (k_i - mean)^2. Let u_i be k_i less the whole number next to the mean: the sum is at least half the sum of u_i^2. So all
products but that of k = 0 are together at most (1 + 2 sum over j > 0 of e^{-a (pi j/h)^2})^n - 1 times all M(c); and the
integral of |1/(z(z+1))| / 2 pi is at most 1/2c.

Omitted terms: p(y) <= M(b) e^{-by} / sqrt(2 pi a) for every b, so that a sum of h p(jh) e^{cjh} over jh beyond y, upward for
b > c and downward for b < c, is at most M(b) e^{(c-b)y} / (|b - c| sqrt(2 pi a)); and D(x) <= M(c) e^{-cx} for c >= 0.
The law of j epochs, by repeated squaring, is cut off, too: the same with M(b)^j, and e^{(c-b)y} alone, by Markov's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import NamedTuple

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.cut.branch_cut import LEAST_SHIFT, shifted
from logphi.inversion.cut.epochs_guess import excess_of_small, of_small
from logphi.inversion.cut.lattice_powers import LEAST, Cut, Row, power
from logphi.inversion.cut.one_epoch import Epoch, Kind, Values, negative_orders, positive_orders
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.allocated_normal import AllocatedNormal

# chosen: the logarithm of the share of the answer that aliasing and omitted terms may have
_TARGET = math.log(1e-12)
# chosen: the share of the answer that errors of the densities may have
_ENOUGH = math.log(3e-11)
# chosen: the logarithm of the relative error of a guess
_ROUGH = -1.0
# measured: of more epochs the contour is narrower; more places take seconds
_MOST_EPOCHS, _MOST_NODES = 200, 1500
# measured: of a larger shift, so few moments are known that the bounds are wide
_LARGEST_SHIFT = 4.0
# derived: the ratio above which sums over k are hardly more than their largest terms
_LEAST_RATIO = 10.0


def kinds_of(loss: LogPhi) -> tuple[Kind, ...] | None:
    """The epochs, if the loss is a sum of the logarithms of several lognormal means; None otherwise, or for too many."""
    found = []
    for law, count in loss.terms:
        if not (isinstance(law, AllocatedNormal) and LEAST_SHIFT <= law.mean.shift <= _LARGEST_SHIFT and count <= _MOST_EPOCHS):
            return None
        found.append(Kind(Epoch(law.mean), int(count)))
    return tuple(found) if 2 <= sum(one.number for one in found) <= _MOST_EPOCHS else None


class Sampled(NamedTuple):
    """An epoch whose density is summed, how often, and the first and the last place of a sum."""

    epoch: Epoch
    number: int
    first: int
    last: int


class _Known:
    """What is known of all epochs at a threshold beforehand: M(c) e^{-cx} for some c."""

    def __init__(self, kinds: Sequence[Kind], x: float) -> None:
        epochs = [one for one, _ in kinds]
        self.number = sum(count for _, count in kinds)
        self.decay = min(one.decay for one in epochs)
        self._positive, self._negative = positive_orders(epochs), negative_orders(epochs)
        self._transforms = {one: (one.log_transform(self._positive), one.log_transform(self._negative)) for one in epochs}
        chernoff = sum(count * self._transforms[one][0] for one, count in kinds) - self._positive * x
        # at c = 0 all M are one
        self._c, self._chernoff = np.append(self._positive, 0.0), np.append(chernoff, 0.0)
        self.log_alias = float((chernoff - np.log(2 * self._positive)).min())
        self.tilt = float(self._positive[int(chernoff.argmin())])

    def log_folded(self, ratio: float) -> float:
        """The logarithm of a bound of 2n times a product of n sums over k relative to the M(c); ``ratio`` is a (pi/h)^2."""
        if not ratio > _LEAST_RATIO:
            return math.inf
        return math.log(2 * self.number) + self.number * math.log1p(4 * math.exp(-ratio / 2)) + 1e-3

    def log_omitted(self, one: Epoch, number: int, first: float, last: float) -> float:
        """The logarithm of what the sum of so many epochs omits below the first and above the last place.

        The factor of the lattice is not counted.
        """
        (above, gap), (below, gap_below) = self._beyond(one, number)
        return float(np.logaddexp((above - gap * last).min(), (below + gap_below * first).min()))

    def ends(self, one: Epoch, number: int, goal: float) -> tuple[float, float]:
        """The places beyond which the omitted terms are below a goal."""
        (above, gap), (below, gap_below) = self._beyond(one, number)
        return -float(((below - goal) / gap_below).min()), float(((above - goal) / gap).min())

    def _beyond(self, one: Epoch, number: int) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Above and below zero: the logarithm of a bound of what is omitted, and how fast it falls, for pairs of c and b."""
        positive, negative = self._transforms[one]
        others = self._chernoff - number * np.append(positive, 0.0)
        # by Markov's inequality, and for one epoch by its density
        density = 0.5 * math.log(2 * math.pi * one.decay)

        def side(sign: float, b: Array, log_transform: Array) -> tuple[Array, Array]:
            gap = sign * (b - self._c[:, None])
            right = gap > 0
            gap = np.where(right, gap, 1.0)
            found = others[:, None] + number * log_transform - (density + np.log(gap) if number == 1 else 0.0)
            return np.where(right, found, np.inf), gap

        return side(1.0, self._positive, positive), side(-1.0, self._negative, negative)


@dataclass(frozen=True)
class Profile:
    """The profile of all epochs: the law of all but one on a lattice from ``first`` on, and the last one."""

    step: float
    sampled: tuple[Sampled, ...]
    cuts: tuple[tuple[Cut, ...], ...]
    last: Epoch
    first: int
    law: Values

    @cached_property
    def _kinds(self) -> tuple[Kind, ...]:
        return (*(Kind(one, count) for one, count, *_ in self.sampled), Kind(self.last, 1))

    def at(self, x: float) -> Scaled:
        """The value at a threshold."""
        places = np.asarray(self.step * (self.first + np.arange(self.law.log.size)))
        needed = _guess(self._kinds, x) + _ENOUGH - math.log(places.size) - np.logaddexp(self.law.log, self.law.log_error)
        last = self.last.log_profile((x - places)[::-1], needed[::-1])
        log, log_error = last.log[::-1], last.log_error[::-1]
        exponent = self.law.log + log
        of_law, of_last = self.law.log_error + np.logaddexp(log, log_error), self.law.log + log_error
        truncation = self._log_truncation(x)
        if not truncation < 0:
            # nothing is known
            return Scaled(0.0, 0.5, rounding=0.5)
        scale = max(float(exponent.max()), float(of_law.max()), float(of_last.max()), truncation)
        terms = np.exp(exponent - scale)
        parts = np.abs(np.maximum(self.law.log, -1e4)) + np.abs(np.maximum(log, -1e4)) + abs(scale)
        found = Scaled(
            scale,
            float(terms.sum()),
            truncation=math.exp(truncation - scale) * (1 + 1e-9),
            inner=float(np.exp(of_law - scale).sum() + np.exp(of_last - scale).sum()) * (1 + 1e-9),
            rounding=float((terms * (ULP * (16 + terms.size + 4 * parts))).sum()) + LEAST,
        )
        relative_error = max(one.relative_error for one, _ in self._kinds)
        if relative_error == 0:
            return found
        batches = sum(count * one.mean.count for one, count in self._kinds)
        shift = max(one.mean.shift for one, _ in self._kinds)
        return shifted(found, shift, relative_error, batches, sum(count for _, count in self._kinds))

    def _log_truncation(self, x: float) -> float:
        """The logarithm of a bound of aliasing and of all omitted terms."""
        known = _Known(self._kinds, x)
        ratio = known.decay * (math.pi / self.step) ** 2
        errors = [known.log_alias - ratio]
        for (one, count, first, last), cuts in zip(self.sampled, self.cuts, strict=True):
            for number, uses, start, end in ((1, count, first, last), *cuts):
                errors.append(known.log_omitted(one, number, start * self.step, end * self.step) + math.log(uses))
        return float(np.logaddexp.reduce(errors)) + known.log_folded(ratio) + 1e-6


def prepare(kinds: Sequence[Kind], x: float) -> Profile | None:
    """The profile near a threshold; None where it would be long."""
    known, last = _Known(kinds, x), kinds[-1].epoch
    guess = _guess(kinds, x)
    goal = guess + _TARGET - math.log(2 * known.number) - 4
    step = _few_bits(math.pi * math.sqrt(known.decay / max(known.log_alias - goal, 2 * _LEAST_RATIO)))
    sampled = []
    for one, count in kinds:
        low, high = known.ends(one, 1, goal)
        if not 0 < (high - low) / step < _MOST_NODES:
            return None
        sampled.append(Sampled(one, count - (one is last), math.floor(low / step), math.ceil(high / step)))
    sampled = [part for part in sampled if part.number]
    rows, cuts, first = [], list[tuple[Cut, ...]](), 0
    for part in sampled:
        places = np.asarray(step * np.arange(part.first, part.last + 1))
        enough = guess + _ENOUGH - math.log((places[-1] - places[0] + 1) * part.number)
        density = part.epoch.log_density(places, enough - _rest(kinds, x, places, enough))
        law, start, cut = power(
            _masses(density, known.tilt * places, step),
            part.first,
            part.number,
            partial(_ends, known, part.epoch, step, goal),
        )
        rows.append(law)
        cuts.append(cut)
        first += start
    law = reduce(Row.together, rows)
    return Profile(step, tuple(sampled), tuple(cuts), last, first, _untilted(law, first, step, known.tilt))


def _masses(found: Values, tilt: Array, step: float) -> Row:
    """The masses h p(jh) times e^tilt."""
    log, error = (one + tilt + math.log(step) for one in (found.log, found.log_error))
    scale = float(np.maximum(log, error).max())
    value = np.exp(log - scale)
    parts = np.abs(np.maximum(log, -1e4)) + np.abs(tilt) + abs(math.log(step)) + abs(scale)
    return Row(value, np.exp(error - scale) * (1 + 1e-9) + 4 * ULP * (4 + parts) * value + LEAST, scale)


def _untilted(law: Row, first: int, step: float, tilt: float) -> Values:
    tilted = tilt * step * (first + np.arange(law.value.size))
    rounding = 4 * ULP * (4 + np.abs(tilted) + abs(law.log_scale))
    with np.errstate(divide="ignore"):  # minus infinity stands for zero
        return Values(
            np.log(law.value) + law.log_scale - tilted,
            np.log(law.error + rounding * law.value + LEAST) + law.log_scale - tilted,
        )


def _ends(known: _Known, one: Epoch, step: float, goal: float, number: int, uses: int) -> tuple[float, float]:
    low, high = known.ends(one, number, goal - math.log(uses))
    return low / step, high / step


def _guess(kinds: Sequence[Kind], x: float) -> float:
    """About the logarithm of the answer: the last epoch alone leaks no more than all, nor do small losses."""
    alone = float(kinds[-1].epoch.log_profile(np.array([x]), np.array([-np.inf]), _ROUGH).log[0])
    return max(alone, excess_of_small(kinds, x))


def _rest(kinds: Sequence[Kind], x: float, places: Array, enough: float) -> Array:
    """About the logarithm of the profile of all other epochs, less each place."""
    last, number = kinds[-1].epoch, sum(count for _, count in kinds)
    c = positive_orders([one for one, _ in kinds])
    of_one = (kinds[0].epoch.log_transform(c) - places[:, None] * c).min(axis=1)
    one = last.log_profile((x - places)[::-1], (enough - of_one - math.log(number))[::-1])
    one_large = np.logaddexp(one.log, one.log_error)[::-1] + math.log(number)
    return np.minimum(np.maximum(one_large, of_small(kinds, x - places)), 0.0)


def _few_bits(step: float) -> float:
    """A step of few bits, so that places are exact."""
    size = math.frexp(step)[1]
    return math.ldexp(math.floor(math.ldexp(step, 30 - size)), size - 30)
