"""Sums of sampled normal pairs with so little noise that each output shows whether the record takes part.

notation: Y = mX - m^2/2 with X normal, so that one loss is l = log(1 - q + q e^Y); under P the record takes part with
probability q, and then X has the mean m. J of n records take part: J is binomial.

    l >= log(1 - q)  and  l >= log q + Y    everywhere, and
    l <= log(1 - q) + d  where Y <= y_0 = log((1-q)/q) + log d,    l <= log q + Y + d  where Y >= y_1 = log((1-q)/q) - log d.

Those who take part are unclear, Y < y_1, with probability Phi(y_1/m - m/2), the others, Y > y_0, with probability
Phi(-y_0/m - m/2). So with G_v the profile of a normal loss of variance v, and the sum of these probabilities over all n,

    S(x) <= D(x) <= S(x - nd) + unclear,    S(x) = sum over j of P(J = j) G_{j m^2}(x - j log q - (n - j) log(1 - q)).

With q < d those who do not take part may have positive losses where 0 < Y < y_0, of a mean of at most q times the probability
of Y < y_0 for those who do, which is counted as unclear. Laws of several kinds have a J each. In the other order, where nobody
takes part, L <= -n log(1 - q), and within nd of it unless somebody is unclear. With a rate of one the profile is larger. Other
losses beside them are added in :mod:`logphi.engine.large_losses.beside`.

Small shifts and rates leak less (a sample of a sample is a sample), so that both ends take the parameters from the inner and
from the outer ends of their errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
from scipy.special import erfcx, log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arith.safe import log1mexp
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.engine.log_probability import outward
from logphi.laws.atomic.binomial import log_binomial, log_chernoff
from logphi.normal.tails import log_masses

# chosen: the logarithm of d
_LOG_NEAR = -44.0
# chosen: numbers of participants with probabilities below about e^-_DEPTH are left out
_DEPTH = 150.0
# measured: so many numbers of participants take a hundredth of a second
_MOST = 20_000
# derived: from here on tails are as Mills' bounds say, to twelve digits
_FAR = 1e6
# derived: exponentials of larger numbers overflow
_LARGE = 600.0
# derived: a change of the end of a tail within which its share hardly changes
_LITTLE = 0.1
# derived: the roundings of a logarithm, an exponential and a few products
ROUNDINGS = 16 * ULP


@dataclass(frozen=True)
class Kind:
    """Equal sampled normal pairs: exact parameters, and how many."""

    shift: float
    rate: float
    count: int

    @property
    def log_odds(self) -> float:
        """log((1 - q) / q)."""
        return math.log1p(-self.rate) - math.log(self.rate)

    @property
    def log_unclear(self) -> float:
        """The logarithm of a bound of the probability that anybody is unclear who does not take part, with margins."""
        y = self.log_odds + _LOG_NEAR
        return self._log_tail(-y / self.shift - self.shift / 2)

    @property
    def log_unclear_participant(self) -> float:
        """The same of those who take part."""
        y = self.log_odds - _LOG_NEAR
        return math.log(self.rate) + self._log_tail(y / self.shift - self.shift / 2)

    def _log_tail(self, end: float) -> float:
        # more than what all roundings may change
        return math.log(self.count) + float(log_ndtr(end + 1e-12 * (1 + abs(end)))) + 1e-9

    def participants(self) -> tuple[Array, Array, Array, float] | None:
        """Numbers of participants, logarithms of their probabilities, the errors of these, and the log of what is left out.

        None if there are too many numbers.
        """
        mean = Fraction(self.rate) * self.count
        centre = round(mean)
        spread = math.sqrt(2 * _DEPTH * (centre + 1)) + 2 * _DEPTH
        first, last = max(centre - math.ceil(spread), 0), min(centre + math.ceil(spread), self.count)
        if last - first > _MOST:
            return None
        j = np.arange(first, last + 1, dtype=np.float64)
        excess, size = (j - centre) - float(mean - centre), np.array([float(self.count)])
        logs, errors = log_binomial(size, j, excess, self.rate)
        beyond = [
            float(-log_chernoff(size, excess[[end]] + step, self.rate)[0][0]) + 1e-9
            for end, step, left in ((0, -1.0, first > 0), (-1, 1.0, last < self.count))
            if left
        ]
        return j, logs, errors, float(np.logaddexp.reduce(beyond)) if beyond else -math.inf


@dataclass(frozen=True)
class Separated:
    """Counted pairs, with parameters ``inner`` below and ``outer`` above the true ones; all reflected, or none."""

    inner: tuple[Kind, ...]
    outer: tuple[Kind, ...]
    reflected: bool

    @cached_property
    def numbers(self) -> tuple[Numbers | None, Numbers | None]:
        """The numbers of participants, with parameters below and above; None if there are too many."""
        return Numbers.of(self.inner), Numbers.of(self.outer)

    @property
    def nobody(self) -> tuple[float, float]:
        """The logarithms of the probability that nobody takes part, which is the loss then as well."""
        inner, outer = (sum(one.count * math.log1p(-one.rate) for one in kinds) for kinds in (self.inner, self.outer))
        return inner, outer

    @property
    def near(self) -> float:
        """The distance nd."""
        return sum(one.count for one in self.outer) * math.exp(_LOG_NEAR)

    @property
    def log_unclear(self) -> float:
        """The logarithm of a bound of the probability that anybody is unclear."""
        return sum_of_logs([end for one in self.outer for end in (one.log_unclear, one.log_unclear_participant)])

    @property
    def _log_clear(self) -> float:
        unclear = min(sum_of_logs([one.log_unclear for one in self.inner]), 0.0)
        return log1mexp(unclear) * (1 + ROUNDINGS)

    def excess(self, x: float) -> Scaled | None:
        """The excess at x >= 0; None if there are too many numbers of participants."""
        if self.reflected:
            return self.reversed_beside(x, _of_zero)
        inner, outer = self.numbers
        if inner is None or outer is None:
            return None
        low, high = inner.sum_near(x)[0], outer.sum_near(x, self.near)[1]
        return Scaled.between(low, min(sum_of_logs([high, self.log_unclear]), self.log_unsampled(x)))

    def log_unsampled(self, x: float) -> float:
        """The logarithm of an upper bound of the excess if everybody takes part."""
        variance = math.fsum(one.count * one.shift**2 for one in self.outer) * (1 + ROUNDINGS)
        return min(float(log_profile(np.array([variance]), np.array([x * (1 - ROUNDINGS)]))[1][0]), 0.0)

    def reversed_beside(self, x: float, profile: Callable[[float], tuple[float, float]]) -> Scaled:
        """Delta of all in the other order, from that of all other losses: a function to the logarithms of two bounds."""
        inner, outer = self.nobody
        doubt = ROUNDINGS * (abs(x) + abs(inner) + abs(outer))
        low = profile(x + inner + self.near + doubt)[0] + self._log_clear
        return Scaled.between(low - doubt, profile(x + outer - doubt)[1] + doubt)


def _of_zero(x: float) -> tuple[float, float]:
    """The profile of a loss that is zero: 1 - e^x below zero."""
    log = log1mexp(min(x, 0.0))
    return outward(log, -1), outward(log, 1)


def sum_of_logs(logs: list[float]) -> float:
    """The logarithm of the sum of exponentials, rounded to nearest."""
    return float(np.logaddexp.reduce(logs))


def rounded(log: float, size: int, sign: int) -> float:
    """The logarithm of a sum of so many terms, moved by more than all roundings."""
    return log + sign * ROUNDINGS * (2 + size + abs(log)) if log > -math.inf else log


@dataclass(frozen=True)
class Numbers:
    """Numbers of participants, at least one: their probabilities and losses, with errors, and the variance of Y.

    ``counts`` has the participants of each kind. ``log_left_out`` is the logarithm of the probability of numbers that are left
    out.
    """

    counts: Array
    logs: Array
    errors: Array
    losses: Array
    wrong: Array
    variance: Array
    log_left_out: float

    @staticmethod
    def of(kinds: tuple[Kind, ...]) -> Numbers | None:
        """The numbers of all kinds; None if there are too many."""
        parts, left_out, participants = [], [], []
        for kind in kinds:
            found = kind.participants()
            if found is None:
                return None
            j, logs, errors, beyond = found
            log_rate, log_rest = math.log(kind.rate), math.log1p(-kind.rate)
            losses = j * log_rate + (kind.count - j) * log_rest
            wrong = ROUNDINGS * (j * abs(log_rate) + kind.count * abs(log_rest))
            parts.append((logs, errors, losses, wrong, j * kind.shift**2))
            left_out.append(beyond)
            participants.append(j)
        if math.prod(part[0].size for part in parts) > _MOST:
            return None
        columns = [reduce(_outer, column) for column in zip(*parts, strict=True)]
        counts = np.stack([one.ravel() for one in np.meshgrid(*participants, indexing="ij")])
        # where nobody takes part, all losses are below zero
        some = columns[-1] > 0
        logs, errors, losses, wrong, variance = (one[some] for one in columns)
        return Numbers(counts[:, some], logs, errors, losses, wrong, variance, sum_of_logs(left_out))

    def places(self, x: float) -> tuple[Array, Array]:
        """The thresholds of the normal losses if that of the sum is x, and their errors."""
        return x - self.losses, self.wrong + ROUNDINGS * (abs(x) + np.abs(self.losses))

    def sum_near(self, x: float, nearer: float = 0.0) -> tuple[float, float]:
        """The logarithms of a lower bound of S(x + nearer), and of an upper one of S(x - nearer)."""
        if not self.logs.size:
            return -math.inf, self.log_left_out
        place, wrong = self.places(x)
        wrong = wrong + nearer
        low = log_sum(self.logs - self.errors + log_profile(self.variance, place + wrong)[0])
        high = log_sum(self.logs + self.errors + log_profile(self.variance, place - wrong)[1])
        total = sum_of_logs([float(high), self.log_left_out])
        return rounded(float(low), self.logs.size, -1), rounded(total, self.logs.size, 1)


def _outer(one: Array, other: Array) -> Array:
    return np.asarray(np.add.outer(one, other).ravel())


def log_profile(variance: Array, x: Array) -> tuple[Array, Array]:
    """Logarithms of bounds of G_v(x) = Phi(t) - e^x Phi(-b), where m^2 = v, t = m/2 - x/m and b = m/2 + x/m >= 0.

    As e^x phi(b) = phi(t), the share of the second part is the quotient of the Mills ratios of b and -t.
    """
    m = np.sqrt(variance)
    t, b = m / 2 - x / m, m / 2 + x / m
    moved = 8 * ULP * (m + np.abs(x) / m)
    far = t < -_FAR
    log_first, wrong = log_masses(np.where(far, 0.0, -t), np.full(t.shape, np.inf))
    # Mills' bounds of a tail differ by the factor 1 + 1/t^2
    log_far = -t * t / 2 - np.log(np.where(far, -t, 1.0)) - LOG_ROOT_TWO_PI
    log_first, wrong = np.where(far, log_far, log_first), np.where(far, 1 / _FAR**2, 2 * wrong)
    # phi/Phi at s is at most 1 + |s| below zero, 0.8 above, and e^{-t^2/4} at most 0.1 below t > 0
    slope = np.where((t > 0) & (moved < _LITTLE), np.exp(-t * t / 4), 1 + np.maximum(moved - t, 0.0))
    log_doubt = wrong + slope * moved + ROUNDINGS * (1 + np.abs(log_first))
    share = erfcx(b / math.sqrt(2)) / erfcx(-t / math.sqrt(2))
    # the logarithm of a Mills ratio changes by at most 1 above zero, and 1 + |s| at s below
    ahead = np.maximum(t, 0.0)
    log_change = (2 + ahead + 2 * moved) * moved + ROUNDINGS * (1 + ahead * ahead)
    doubt = share * np.expm1(np.minimum(log_change, _LARGE))
    with np.errstate(divide="ignore"):  # a lower end of zero
        return (
            log_first + np.log(np.maximum(1 - share - doubt, 0.0)) - log_doubt,
            log_first + np.log(np.clip(1 - share + doubt, 0.0, 1.0)) + log_doubt,
        )
