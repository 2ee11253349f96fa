"""The discrete Gaussian mechanism, with and without truncation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

import numpy as np

from logphi.algebra.release import Primitive
from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, Whole, WholeOrNone, default, frozen
from logphi.laws.atomic.cells import Cells
from logphi.laws.atomic.integers import NormalOnIntegers, TruncatedNormalOnIntegers
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.integer_noise.listed_shift import DEEPEST
from logphi.mechanisms.truncated_noise import LEAST_SHARED
from logphi.pairs.extremes import noisy
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair, UnsupportedError

# measured: from here on the transform agrees with sixty digits to within 6% of its declared error
SMALLEST_SIGMA = 0.1
# measured: up to this sigma the transform agrees with sixty digits to within 6% of its declared error
LARGEST_SIGMA = 1e6
# measured: up to this shift, too
LARGEST_SENSITIVITY = 10**6
# measured: each step is an atom; with more, an answer takes minutes
LARGEST_TRUNCATION = 100_000
# measured: the largest sigma of a sample, whose outcomes are atoms without a lattice
LARGEST_SAMPLED_SIGMA = 250.0
# measured: the largest sensitivity of a sample, in sigmas
LARGEST_SAMPLED_SHIFT = 10.0


@frozen
class DiscreteGaussian(Primitive):
    """Adds noise on the integers, with probabilities proportional to e^{-x^2 / (2 sigma^2)}, to an integer-valued query.

    Pair: the noise shifted by s against the noise. The loss is (x - s/2) s / sigma^2, on a lattice. log-phi, with
    Theta(a) the sum of e^{-(x-a)^2 / (2 sigma^2)} over all x: M(z) = e^{z (z+1) s^2 / (2 sigma^2)} Theta((1+z) s) / Theta(0),
    entire and symmetric; for integer z it is that of the Gaussian mechanism. Truncated to -T .. T, the loss is bounded and
    outcomes above T - s have an infinite loss.

    Parameters
    ----------
    sigma
        Width of the noise, in the units of the query, from 0.1 to 1e6; its standard deviation is slightly less. At 0, without
        noise, everything leaks.
    sensitivity
        Sensitivity s of the query, one number; an integer from 0, where nothing leaks, to 1e6.
    truncation
        The largest |x| of the noise, an integer up to 100000; None for no truncation. Below s/2 everything leaks.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range.

    References
    ----------
    Canonne, Kamath & Steinke 2020, Definition 1 (the mechanism).

    Examples
    --------
    >>> round(DiscreteGaussian(sigma=1).delta(1.0).value, 9)
    0.141351339
    """

    sigma: Real
    sensitivity: Whole = default(1)
    truncation: WholeOrNone = default(None)
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity",)

    def __post_init__(self) -> None:
        sigma = check.nonnegative("sigma", self.sigma)
        if sigma and not SMALLEST_SIGMA <= sigma <= LARGEST_SIGMA:
            raise ValueError(
                f"sigma must be 0 or lie between {SMALLEST_SIGMA:g} and {LARGEST_SIGMA:g}, got {sigma!r}: is it in the units "
                "of the query, whose values are integers?"
            )
        sensitivity = check.whole("sensitivity", self.sensitivity, 0, LARGEST_SENSITIVITY)
        truncation = self.truncation
        if truncation is not None:
            truncation = check.whole("truncation", truncation, 0, LARGEST_TRUNCATION)
        self._settle(sigma=sigma, sensitivity=sensitivity, truncation=truncation)
        if truncation is not None and not self._extreme:
            infinite_mass = TruncatedNormalOnIntegers(sigma, sensitivity, truncation).infinite_mass
            if infinite_mass > 1 - LEAST_SHARED:
                raise ValueError(
                    f"truncation must leave outcomes of probability {LEAST_SHARED:g} in common, got {truncation} with "
                    f"sigma={sigma!r} and sensitivity={sensitivity}: nearly every output reveals everything"
                )

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise or with too little noise, or of a query with sensitivity zero."""
        narrow = self.truncation is not None and 2 * self.truncation < self.sensitivity
        return noisy(self.sensitivity, 0.0 if narrow else self.sigma)

    def pair(self) -> Pair:
        """The outcomes whose probabilities are doubles under both laws; the omitted mass is negligible."""
        if extreme := self._extreme:
            return extreme
        sigma, s = self.sigma, self.sensitivity
        if sigma > LARGEST_SAMPLED_SIGMA or s > LARGEST_SAMPLED_SHIFT * sigma:
            raise UnsupportedError(
                f"a discrete Gaussian is sampled with sigma up to {LARGEST_SAMPLED_SIGMA:g} and sensitivity up to "
                f"{LARGEST_SAMPLED_SHIFT:g} sigma, got sigma={sigma!r} and sensitivity={s}; leave the sampling out, which is "
                "an upper bound"
            )
        # the largest weight is above 1 / (sqrt(2 pi) sigma + 1)
        deep = math.floor(sigma * math.sqrt(2 * (DEEPEST - math.log(math.sqrt(2 * math.pi) * sigma + 1))))
        cut = self.truncation is None or self.truncation > deep
        reach = deep if cut or self.truncation is None else self.truncation
        x = np.arange(-reach, reach + s + 1.0)
        exponents, rest = _exponents(np.arange(-reach, reach + 1.0), sigma)
        weights = np.exp(-exponents) * (1 - rest)
        weights /= weights.sum()
        # half an ulp of sigma changes an exponent by one; in the sum of all weights, exponents are below one on average
        errors = ULP * (exponents + 2) + 4 * ELEMENTARY
        empty = np.zeros(s)
        (p, of_p, at_p), (q, of_q, at_q) = (
            (np.concatenate([empty, one]) for one in (weights, errors, exponents)),
            (np.concatenate([one, empty]) for one in (weights, errors, exponents)),
        )
        # the ratio has the difference of the exponents
        of_ratio = ULP * (np.abs(at_p - at_q) + 2) + 4 * ELEMENTARY
        relative_error = float(errors.max())
        omitted_mass, growth = 0.0, math.inf
        if cut:
            # the noise outside of the ends, or within a shift of them, is below a geometric series
            first = reach - s + 1
            omitted_mass = 4 * float(weights[reach + first]) / -math.expm1(-first / sigma**2)
            both = (x >= s - reach) & (x <= reach)
            p, q, of_p, of_q, of_ratio = (one[both] for one in (p, q, of_p, of_q, of_ratio))
            if self.truncation is None:
                growth = (s / sigma) ** 2 * (1 + 8 * ULP)
        exact = _Outcomes(sigma, s, self.truncation, (s - reach, reach) if cut else (-reach, reach + s))
        cell_errors = tuple(tuple(one.tolist()) for one in (of_p, of_q, of_ratio))
        return FinitePair(tuple(p.tolist()), tuple(q.tolist()), relative_error, exact, omitted_mass, growth, cell_errors)

    def loss_law(self) -> LogPhi:
        """Equally spaced atoms, finitely many if the noise is truncated."""
        if extreme := self._extreme:
            return extreme.loss()
        if self.truncation is None:
            return LogPhi.of([(NormalOnIntegers(self.sigma, self.sensitivity), 1)])
        return LogPhi.of([(TruncatedNormalOnIntegers(self.sigma, self.sensitivity, self.truncation), 1)])


def _exponents(x: Array, sigma: float) -> tuple[Array, Array]:
    """The double nearest to x^2 / (2 sigma^2), or next to it, and the rest, both for integers x below 2^26."""
    square, beside = _exact_product(np.array(sigma), np.array(sigma))
    exponent = x * x / (2 * square)
    whole, under = _exact_product(exponent, 2 * square)
    return exponent, ((x * x - whole) - under - exponent * (2 * beside)) / (2 * square)


def _exact_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The product of doubles as a rounded one and its error (Dekker 1971)."""
    parts = []
    for one in (a, b):
        # derived: 2^27 + 1 splits 53 bits in halves
        spread = 134217729.0 * one
        high = spread - (spread - one)
        parts.append((high, one - high))
    (a_high, a_low), (b_high, b_low) = parts
    rounded = a * b
    return rounded, a_low * b_low - (((rounded - a_high * b_high) - a_low * b_high) - a_high * b_low)


@dataclass(frozen=True)
class _Outcomes(Cells):
    sigma: float
    shift: int
    truncation: int | None
    ends: tuple[int, int]

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The integers between two ends, inclusive."""
        first, last = self.ends
        variance = arith.constant(self.sigma) * arith.constant(self.sigma)
        most = self.truncation
        reach = last if most is None else max(last, most)
        weights = [arith.exp(-(x * x) / (2 * variance)) for x in range(reach + 1)]
        if most is None:
            total = arith.exp(arith.log_normal_sum(variance, arith.constant(0.0)))
        else:
            total = weights[0] + 2 * reduce(add, weights[1 : most + 1])
        none = arith.constant(0.0)
        noise = [weight / total if most is None or x <= most else none for x, weight in enumerate(weights)]
        places = range(first, last + 1)
        return [noise[abs(x - self.shift)] for x in places], [noise[abs(x)] for x in places]
