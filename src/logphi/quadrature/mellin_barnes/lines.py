"""Both lines of a Mellin-Barnes integral, with the base's moments.

Notation of :mod:`logphi.quadrature.mellin_barnes.transform`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array, Complex
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Line, Values

# chosen: the values of r in the bound (u + v)^p <= (1 - r)^{1-p} u^p + r^{1-p} v^p
SHARES = np.array([0.5, 0.2, 0.05, 1e-2, 1e-3, 1e-4, 1e-6])
# derived: products of such numbers do not overflow
_LARGE = 600.0
# derived: exceeds the rounding of a bound
ROOM = 1 + 1e-9


class WithMasses(Protocol):
    """What is known of the support of a law, by the member that this integral uses."""

    @property
    def masses(self) -> tuple[Values, Values]:
        """K(0) and K(-1)."""


class Base(Protocol):
    """The base law by the members that this integral uses: K(z) = log M(z + 1)."""

    @property
    def strip(self) -> tuple[float, float]:
        """The strip in which K is finite."""

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at given points."""

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a line."""

    @property
    def approximate(self) -> Approximation:
        """K at real points, to some digits."""

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """A bound of the decay of K along a line."""

    @property
    def support(self) -> WithMasses:
        """The support, of which the masses are used."""


@dataclass(frozen=True)
class MixedRatio:
    """A base law and the rate B at which its likelihood ratio is mixed with one, within ``rate_error`` of the true rate."""

    base: Base
    rate: float
    rate_error: float


@dataclass(frozen=True, eq=False)
class Lines:
    """The line Re w = a + 1, the line Re s = c of the integral, and the number of repetitions of the result."""

    mixing: MixedRatio
    a: float
    c: float
    count: int

    @property
    def last(self) -> int:
        """J."""
        return max(math.floor(self.c), -1)

    @cached_property
    def large(self) -> NDArray[np.int64]:
        """The k of the second sum, from zero to K."""
        return np.arange(max(math.ceil(self.power - self.c), 0), dtype=np.int64)

    @property
    def power(self) -> float:
        """Re w."""
        return self.a + 1

    @cached_property
    def logs(self) -> tuple[float, float]:
        """Log A and log B."""
        return math.log1p(-self.mixing.rate), math.log(self.mixing.rate)

    @cached_property
    def masses(self) -> tuple[float, float, float, float]:
        """M(0) and M(1), and their errors."""
        known = self.mixing.base.support.masses
        if all(float(abs(x.mid[0])) + float(x.radius[0]) == 0 for x in known):
            return 1.0, 1.0, 0.0, 0.0
        one, zero = (math.exp(min(float(x.mid[0]), 0.0)) for x in known)
        error, other = (float(x.radius[0]) + 2 * ULP for x in known)
        return zero, one, other, error

    @property
    def whole(self) -> bool:
        """Whether L is finite on all of Q."""
        zero, _, error, _ = self.masses
        return zero == 1 and error == 0

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Log M(j) for j = 0 .. J + 1, and bounds of its error."""
        zero, one, zero_error, one_error = self.masses
        later = self.mixing.base.log_transform(np.arange(2.0, max(self.last + 1, 2) + 1) - 1)
        mid = np.concatenate([[log(zero), log(one)], later.mid.real])
        return mid, np.concatenate([[zero_error, one_error], later.radius])

    def moments_at(self, points: NDArray[Any]) -> Array:
        """Upper bounds of log M(z + 1) at real z."""
        values = self.mixing.base.log_transform(points)
        found = values.mid.real + values.radius
        return np.asarray(np.where(np.isnan(found), np.inf, found) + 1e-9)

    def log_power(self, p: float) -> float:
        """A bound of the logarithm of E[b^p]."""
        log_a, log_b = self.logs
        if p < 0:
            by_large = p * log_b + float(self.moments_at(np.array([p - 1]))[0]) if self.whole else math.inf
            return min(p * log_a, by_large)
        large = p * log_b + float(self.moments_at(np.array([p - 1]))[0])
        if p <= 1:
            return float(np.logaddexp(p * log_a, large))
        # by convexity
        small = p * log_a - (p - 1) * np.log1p(-SHARES)
        return float(np.logaddexp(small, large - (p - 1) * np.log(SHARES)).min()) + 1e-9


def binomials(w: Complex, last: int) -> tuple[Complex, Array]:
    """The logarithms of binom(w, j) for j = 0 .. last, a row for each w, and bounds of their errors.

    A factor within rounding of zero is taken for its error.
    """
    j = np.arange(max(last, 0))
    factors = w[:, None] - j
    slips = 2 * ULP * (1 + np.abs(w)[:, None] + j)
    factors = np.where(np.abs(factors) < slips, slips, factors)
    nothing = np.zeros((w.size, 1))
    logs = np.concatenate([nothing, np.log(factors / (j + 1)).cumsum(axis=1)], axis=1)
    log_error = np.concatenate([nothing, (slips / np.abs(factors)).cumsum(axis=1) * 2], axis=1)
    return logs, log_error


def exp(x: Any) -> Any:
    """e^x as a bound: infinite near the end of the range of doubles, where the value is unknown."""
    return np.where(np.asarray(x) < _LARGE, np.exp(np.minimum(x, _LARGE)), np.inf)


def expm1(x: Any) -> Any:
    """e^x - 1 as a bound: infinite near the end of the range of doubles."""
    return np.where(np.asarray(x) < _LARGE, np.expm1(np.minimum(x, _LARGE)), np.inf)


def log(x: float) -> float:
    """The logarithm log x; minus infinity at zero."""
    return math.log(x) if x > 0 else -math.inf
