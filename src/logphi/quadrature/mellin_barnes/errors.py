"""Error bounds for the moments of a mixture of likelihood ratios.

Notation of :mod:`logphi.quadrature.mellin_barnes.transform`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import LOG_ROOT_TWO_PI
from logphi.arrays import Array, Complex
from logphi.quadrature.mellin_barnes.lines import ROOM, SHARES, Lines, binomials, exp, log


class LineErrors(Lines):
    """The errors of aliasing, of truncation, and of the rate."""

    def aliased(self, w: Complex, h: float) -> Array:
        """The logarithm of the aliasing error."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        terms, p = mid + radius, self.power
        many = int(self.large.size)
        binomial = binomials(w, max(self.last + 1, many))[0].real
        # right: the terms of the first series, and what the second leaves
        j = np.arange(self.last + 1)
        logs = [
            binomial[:, : self.last + 1]
            + (p - j) * log_a
            + j * log_b
            + terms[: self.last + 1]
            - _log_expm1(2 * math.pi * (self.c - j) / h)
        ]
        height, distance = self._right(p - many, many == 0)
        logs.append(binomial[:, [many]] + many * log_a + height - _log_expm1(np.array(2 * math.pi * distance / h)))
        # left: what the first series leaves, and the terms of the second
        after = self.last + 1
        left = binomial[:, [after]] + self._left(after) - _log_expm1(np.array(2 * math.pi * (after - self.c) / h))
        logs.append(left)
        if many:
            k = self.large
            moments = self.moments_at(self.a - k)
            logs.append(
                binomial[:, :many] + k * log_a + (p - k) * log_b + moments - _log_expm1(2 * math.pi * (p - k - self.c) / h)
            )
        return np.asarray(np.logaddexp.reduce(np.concatenate(logs, axis=1), axis=1) + 1e-9)

    def _left(self, after: int) -> float:
        """A bound of the mean of (B e^L)^j (A + v)^{p-j}, 0 <= v <= B e^L, as a logarithm."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        excess_power = self.power - after
        first = after * log_b + float(mid[after] + radius[after]) + excess_power * log_a
        if excess_power <= 0:
            return first
        second = self.power * log_b + float(self.moments_at(np.array([self.a]))[0])
        return float(np.logaddexp(first, second)) + max(excess_power - 1, 0.0) * math.log(2.0)

    def _right(self, e: float, alone: bool) -> tuple[float, float]:
        """The logarithm of a bound of the mean of (v + B e^L)^e, 0 <= v <= A, far right, and c less the power of e^L in it.

        ``alone``: v is A itself.
        """
        log_a, log_b = self.logs
        if e >= 0:
            return self.log_power(e), self.c - e
        if alone and self.c > 0:
            return e * log_a, self.c
        # b is at least A^{1-r} (B e^x)^r for 0 <= r <= 1
        own = max(e, self.c - 0.5) if alone else e
        return (e - own) * log_a + own * log_b + float(self.moments_at(np.array([own - 1]))[0]), self.c - own

    def truncated(self, h: float, below: int, above: int, full: int, top: float) -> float:
        """The logarithm of a bound of the sum outside of the nodes, without the factors outside of the integral."""
        log_a, log_b = self.logs
        at = self.mixing.base.log_transform(np.array([self.c - 1]))
        height = float((at.mid.real + at.radius)[0]) + self.c * (log_b - log_a) + math.log(h / (2 * math.pi))
        fall = self.mixing.base.log_envelope(self.c - 1, h * np.array([below, above], dtype=float))
        gap = self.c - self.power
        end, lowest = h * full, h * below
        # below, both factors fall
        rates = math.atan(lowest / max(-self.c, 1.0)) + math.atan(lowest / max(gap, 1.0))
        truncated = [
            height + float(fall[0]) + _log_gamma_bound(-self.c, lowest) - math.pi * lowest
            + max(_log_gamma_bound(gap, lowest), _log_gamma_bound(gap, lowest + top)) - _log_expm1_of(h * rates)
        ]  # fmt: skip
        # above the largest height
        rates = math.atan(end / max(-self.c, 1.0)) + math.atan((end - top) / max(gap, 1.0))
        log_outside = _log_gamma_bound(-self.c, end) + _log_gamma_bound(gap, end - top) - math.pi * (end - top)
        truncated.append(height + float(fall[1]) + log_outside - _log_expm1_of(h * rates))
        if above < full:
            one = max(_log_gamma_bound(-self.c, h * above), _log_gamma_bound(-self.c, end))
            other = max(_log_gamma_bound(gap, 0.0), _log_gamma_bound(gap, top))
            truncated.append(height + float(fall[1]) + one + other + math.log(full - above))
        return float(np.logaddexp.reduce(truncated)) + 1e-9

    def by_rate(self, w: Complex, scale: float) -> Array:
        """The effect of the error of the rate.

        The derivative is w E[b^{w-1} (e^L - 1)] = w E[(b^{w-1} - 1)(e^L - 1)] - w (1 - M(1)), and |b^{w-1} - 1| is at most
        |w - 1| B |e^L - 1| max(1, b^{a-1}). It also is at most |w| E[b^{a+1}] (1/A + 1/B).
        """
        rate, error = self.mixing.rate, self.mixing.rate_error
        if not error:
            return np.zeros(w.shape)
        log_a, log_b = self.logs
        size = np.abs(w)
        _, one, _, one_error = self.masses
        x = self.power - 2
        second = float(exp(self.moments_at(np.array([1.0]))[0])) - 2 * (one - one_error) + 1
        square = log(second + 1e-9)
        if x <= 0:
            # b is at least A, and B e^L where that is not zero
            both = float(np.logaddexp.reduce(self.moments_at(np.array([x - 1, x + 1])))) + x * log_b
            by_large = float(np.logaddexp(square, both)) if self.whole else math.inf
            square = min(square + x * log_a, by_large)
        else:
            both = float(np.logaddexp.reduce(self.moments_at(np.array([x - 1, x + 1])))) + x * log_b
            turns = max(x - 1, 0.0)
            square = float(np.logaddexp(square + np.log1p((1 - SHARES) ** -turns), both - turns * np.log(SHARES)).min())
        near = rate * size * np.abs(w - 1) * exp(square - scale)
        near = near + size * (1 - one + one_error) * math.exp(self.a * log_a - scale)
        far = size * exp(self.log_power(self.power) - scale) * (1 / rate + 1 / (1 - rate))
        return np.asarray(error * np.minimum(near if math.isfinite(square) else np.inf, far) * ROOM)


def _log_gamma_bound(x: float, y: float) -> float:
    """The logarithm of a bound of |Gamma(x + iy)| e^{pi y / 2}, y >= 0, x no pole; it holds between the points y too."""
    steps = max(math.ceil(-x), 0)
    at, size = x + steps, 0.0
    if steps:
        size = sum(math.log(max(math.hypot(x + k, y), 1e-300)) for k in range(steps))
    whole = math.hypot(at, y)
    # y atan(x / y) - x <= 0, and with it the bound still grows with y for x >= 1
    size += at - y * math.atan2(at, y) if at >= 1 else 0.0
    return (at - 0.5) * math.log(whole) + LOG_ROOT_TWO_PI + 1 / (6 * whole) - size


def _log_expm1(x: NDArray[Any]) -> Array:
    """log(e^x - 1)."""
    return np.asarray(x + np.log(-np.expm1(-x)))


def _log_expm1_of(x: float) -> float:
    return x + math.log(-math.expm1(-x))
