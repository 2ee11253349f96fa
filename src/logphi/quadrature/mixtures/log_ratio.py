"""Log-ratios of mixtures of shifted normal densities to the standard one: value, slope, error, continuation, inverse.

notation: w(x) = sum of p_i e^{c_i x - c_i^2/2}, l = log w, X standard normal, so that E[w - 1] = 0; C = max c_i, p_0 the weight
of the shift zero, and s_i = p_i e^{c_i x - c_i^2/2} / w the shares. l is convex, with slopes sum s_i c_i between 0 and C. At
x + i b/C, 0 < b < pi, the terms of w are rotated by angles theta_i = b c_i/C between 0 and b; rotated back by b/2 they have
real parts of at least cos(b/2) times their size, so that cos(b/2) w <= |w(x + i b/C)| <= w, and 0 <= arg w(x + i b/C) <= b.

"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from logphi.arith.floats import ELEMENTARY
from logphi.arrays import Array

# derived: below this exponent e^Y does not overflow
LARGE = 600.0
# measured: arrays of this many numbers stay in the cache, and the cost of a call is small compared with the work on them
CHUNK = 1 << 18


@dataclass(frozen=True)
class ExponentialMixture:
    """w = 1 - q + q e^Y, Y = kappa s + o; one function, or many if q, kappa and o are arrays that broadcast with s.

    The rate q is in (0, 1]; at rate 1, which holds for all or none, log w is Y itself.
    """

    rate: Any
    slope: Any
    offset: Any = 0.0

    def exponent(self, s: Any) -> Array:
        """Y."""
        y: Array = self.slope * s + self.offset
        return y

    @cached_property
    def certain(self) -> bool:
        """Whether the rate is 1."""
        return bool((np.asarray(self.rate) == 1).all())

    def value(self, s: Any) -> Array:
        """Log w, relatively accurate where it is small."""
        y: Array = np.asarray(self.exponent(s), dtype=float)
        if self.certain:
            return y
        if y.max(initial=0.0) < LARGE:
            small: Array = np.log1p(self.rate * np.expm1(y))
            return small
        near = np.log1p(self.rate * np.expm1(np.minimum(y, LARGE)))
        return np.asarray(np.where(y < LARGE, near, np.log(self.rate) + y))

    def share(self, s: Any, value: Array) -> Array:
        """The share q e^Y of w, between 0 and 1: the slope of log w over kappa."""
        return np.asarray(np.exp(np.minimum(np.log(self.rate) + self.exponent(s) - value, 0.0)))

    def relative_error(self, s: Any, value: Array, of_exponent: Array) -> Array:
        """The relative error of w, if Y has the error ``of_exponent``; with the roundings of its elementary functions."""
        # w - 1 over w, by the logarithm of w
        growth = np.abs(np.expm1(-value))
        return np.asarray(ELEMENTARY * growth + self.share(s, value) * of_exponent)

    def inverse(self, value: Array | float) -> Array:
        """The s at which log w has a value, to some ulps; far to the left if there is none."""
        q = self.rate
        near = np.log1p(np.maximum(np.expm1(np.minimum(value, 1.0)) / q, -1.0 + 2.0**-53))
        far = value + np.log1p(-(1 - q) * np.exp(-np.maximum(value, 1.0))) - np.log(q)
        return np.asarray((np.where(value < 1, near, far) - self.offset) / self.slope)


def rotated(share: Array, angle: Array) -> tuple[Array, Array]:
    """The argument arg w and log |w| - l where e^Y, whose share of w is given, is rotated by an angle."""
    sine = np.sin(angle / 2)
    argument: Array = np.arctan2(share * np.sin(angle), 1 - 2 * share * sine * sine)
    return argument, 0.5 * np.log1p(-4 * share * (1 - share) * sine * sine)


def turn_rate(slope: Array, rest: Array, angle: Array) -> Array:
    """A bound of arg w divided by the angle, for angles up to one below pi/2 and all smaller x; at most one.

    The slope is l' / C, and ``rest`` the share of p_0. The imaginary part of w is at most the angle times w l'/C, the real part
    at least p_0 + (w - p_0) cos; their quotient grows with x.
    """
    return np.asarray(np.minimum(slope / (rest + (1 - rest) * np.cos(angle)), 1.0))


class LogRatio(ABC):
    """Functions l = log w of a standard normal variable x, each to be repeated ``count`` times.

    ``shift`` is the largest shift C of each, ``rate`` the weight of its positive shifts. Abscissas are a number, nodes (n,)
    that all share, or (mixture, n); what depends on them is (mixture, n). Angles b are (mixture, height).
    """

    shift: Array
    rate: Array
    count: Array

    @cached_property
    def widest(self) -> float:
        """The largest shift of all."""
        return float(self.shift.max())

    @cached_property
    def steepest(self) -> float:
        """The largest slope of all at zero."""
        return float(self.slope(0.0).max())

    @cached_property
    def least_loss(self) -> float:
        """The order of the smallest l at x of order one."""
        return float((self.rate * np.minimum(self.shift, 1.0)).min())

    @property
    @abstractmethod
    def largest_log(self) -> float:
        """The number of ulps by which the parts of l may exceed those of its arguments."""

    @property
    @abstractmethod
    def floor(self) -> Array:
        """-log p_0, a column: minus the infimum of l."""

    @abstractmethod
    def chunks(self, size: int) -> Iterator[LogRatio]:
        """Batches of mixtures of similar shift, whose arrays of ``size`` numbers each stay in the cache."""

    @abstractmethod
    def value(self, x: Array | float) -> Array:
        """The log-ratio l, relatively accurate where it is small."""

    @abstractmethod
    def slope(self, x: Array | float) -> Array:
        """The slope l', to a few ulps or rounded up."""

    @abstractmethod
    def relative_error(self, x: Array, value: Array, angle: float = 0.0) -> Array:
        """The relative error of w at nodes, rotated or not, in units of ``ELEMENTARY``, without the error of l itself."""

    @abstractmethod
    def curvature(self, x: Array, value: Array) -> tuple[Array, Array]:
        """The derivatives l' / C and l'' / C^2 at nodes, to some digits."""

    @abstractmethod
    def continued(self, x: Array, value: Array, b: Array) -> tuple[Array, Array]:
        """The argument arg w(x + ib/C) and log |w(x + ib/C)| - l(x), (mixture, height, node)."""

    @abstractmethod
    def turn_rate(self, x: float, b: Array) -> Array:
        """A bound of arg w(x' + i b'/C) / b' for all x' <= x and b' <= b, at most one; b below pi/2, for each mixture."""

    def error(self, x: Array, value: Array) -> Array:
        """A bound of the error of l at nodes."""
        return np.asarray(ELEMENTARY * (np.abs(value) + self.relative_error(x, value)))


@dataclass(frozen=True)
class TwoComponents(LogRatio):
    """Many mixtures w = 1 - q + q e^{m x - m^2/2} at once, one entry each."""

    shift: Array
    rate: Array
    count: Array

    largest_log = 0.0

    @cached_property
    def terms(self) -> ExponentialMixture:
        """The mixtures as a column."""
        m = self.shift[:, None]
        return ExponentialMixture(self.rate[:, None], m, -(m * m / 2))

    @property
    def floor(self) -> Array:
        """-log(1 - q)."""
        return -np.log1p(-self.rate)[:, None]

    def chunks(self, size: int) -> Iterator[TwoComponents]:
        """Slices of the mixtures, sorted by shift."""
        many = max(1, CHUNK // max(size, 1))
        if self.shift.size <= many:
            yield self
            return
        order = np.argsort(self.shift)
        for start in range(0, order.size, many):
            part = order[start : start + many]
            yield TwoComponents(self.shift[part], self.rate[part], self.count[part])

    def value(self, x: Array | float) -> Array:
        """The log-ratio l from w - 1."""
        return self.terms.value(x)

    def slope(self, x: Array | float) -> Array:
        """The shift m times the share, which is a logistic function of Y."""
        log_odds = np.log(self.rate) - np.log1p(-self.rate)
        return np.asarray(self.terms.slope * np.exp(-np.logaddexp(0.0, -self.terms.exponent(x) - log_odds[:, None])))

    def relative_error(self, x: Array, value: Array, angle: float = 0.0) -> Array:
        """From the roundings of m x and of m^2 in Y, and half an ulp of m."""
        m = self.terms.slope
        return self.terms.relative_error(x, value, ELEMENTARY * (np.abs(m * x) + m * m + angle)) / ELEMENTARY

    def curvature(self, x: Array, value: Array) -> tuple[Array, Array]:
        """From the share of e^Y."""
        share = self.terms.share(x, value)
        return share, share * (1 - share)

    def continued(self, x: Array, value: Array, b: Array) -> tuple[Array, Array]:
        """From the share of e^Y."""
        return rotated(self.terms.share(x, value)[:, None, :], b[:, :, None])

    def turn_rate(self, x: float, b: Array) -> Array:
        """From the share of e^Y."""
        share = self.terms.share(x, self.value(x))[:, 0]
        return turn_rate(share, 1 - share, b)
