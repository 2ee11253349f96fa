"""Complex moments E S^w of the mean S of t independent lognormal variables Y = e^{mX - m^2/2}.

For a whole n > Re w and s = n - w, at any angle |theta| < pi/2,

    Gamma(s) E S^w = e^{i theta s} * integral of e^{sv} G(e^{v + i theta}) dv,    G(u) = E[S^n e^{-uS}]
                   = n! t^{-n} [x^n] (sum_j phi_j(u/t) x^j)^t,    phi_j(u) = E[Y^j e^{-uY}] / j!,

as Gamma(s) S^{-s} is the integral of u^{s-1} e^{-uS} along any ray. A trapezoidal sum of step h in v errs by the same quantity
at s + 2 pi i k/h, k not 0, and these are known to be small: |E S^{a+iy}| <= E S^a e^{-m^2 y^2/(2t)}, because the mean of the
normal variables is independent of their differences, so that S is e^{m times that mean} times an independent factor.

Every error is of one of three kinds. The sum over v has an aliasing error, and omits both ends, where |G(u)| is at most E S^n
and at most E S^{n-b} (b / (e Re u))^b. The sums for phi_j err by a share of phi_j(kappa |u|), which is known beforehand
(:mod:`logphi.quadrature.lognormal.laplace`). Rounding errors are carried through the power of the series.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.quadrature.log_gamma import log_gamma
from logphi.quadrature.lognormal.laplace import Table, approximate_table, laplace_table
from logphi.quadrature.lognormal.moments import LognormalMoments, log_cut, range_of_sum
from logphi.quadrature.sums.rotated_sums import rotated_error, rotated_sums
from logphi.quadrature.values import Values, exact_step

# chosen: the logarithm of the target for aliasing and truncation: below rounding, also in the longest sums
_TARGET = -42.0
# chosen: the largest ratio of the distances of successive angles from the imaginary axis; measured: a sum at an angle in
# between loses less than a digit
_APART = 3.0
# chosen: the smallest distance of an angle from the imaginary axis
_LEAST_TURN = 1e-6
# chosen: the frequencies of the sums over v are rounded so that nearby lines share their tables
_FREQUENCIES = 8.0 * 1.25 ** np.arange(60)
# measured: the number of terms that are summed to bound the aliasing
_ORDERS = np.array([-3, -2, -1, 1, 2, 3])
# chosen: few orders n, so that nearby lines share their tables
_ORDERS_OF_SUMS = (*range(12), 13, 14, 16, 18, 21, 24, 28, 32, 37, 43, 50, 57, 66, 76, 88, 101, 116, 134, 154)
# chosen: how far above the smallest possible order n may be
_HIGHER = 40
# chosen: the orders n of approximate moments
_APPROXIMATE_ORDERS = (0, 4, 12, 28)
# chosen: the logarithm of the share that approximate sums omit
_OMITTED = -20.0
# derived: with a step of so few bits, all nodes are exact
_STEP_BITS = 30
# measured: a table of more elements takes seconds
_MOST_WORK = 1.2e7
# measured: sums for powers lower than this take seconds
_LOWEST = -4000.0
# measured against 40 digits: SciPy's real log-gamma errs by less than two ulp of its size plus one
_GAMMA = 4 * ULP


@dataclass(frozen=True)
class LognormalMean(LognormalMoments):
    """The mean of ``count`` lognormal variables of shift m; ``relative_error`` is that of m."""

    def on_axis(self, power: float) -> tuple[float, float]:
        """The logarithm log E S^a for real a, with a bound of its error; infinite if out of range."""
        return _on_axis(self, power)

    def approximate(self, powers: Array) -> Array:
        """The logarithm log E S^a for real a, to some digits; infinite if out of range."""
        values = np.full(powers.size, np.inf)
        orders = [n for n in _APPROXIMATE_ORDERS if n < self.order] + [self.order]
        floor = _LOWEST
        for n in orders:
            top = n - 1.0 if n else -0.5
            those = np.flatnonzero((powers >= floor) & (powers <= top))
            floor = top
            if not those.size:
                continue
            own = powers[those]
            far = 2.0 ** math.ceil(math.log2(max(n - float(own.min()), 4.0)))
            log_u, log_values = _approximate_integrand(self, n, far)
            rho = n - own[:, None]
            exponent = rho * log_u + log_values
            peak = exponent.max(axis=1, keepdims=True)
            sums = np.exp(exponent - peak).sum(axis=1) * (log_u[1] - log_u[0])
            values[those] = np.log(sums) + peak[:, 0] - gammaln(rho[:, 0])
        return values

    def at_heights(self, power: float, heights: Array) -> Values:
        """The logarithm log E S^{a + iy} for heights y >= 0."""
        middle, radius = self.on_axis(power)
        if not math.isfinite(middle + radius):
            return Values.unknown(heights.size)
        top = middle + radius
        n = _best_order(self, power, middle)
        rho = n - power
        logs, slips = log_gamma(rho + 1j * heights)
        turns = _turns(rho)
        loss = -(np.pi / 2 - turns[:, None]) * heights - rho * np.log(np.sin(turns))[:, None]
        chosen = np.argmin(loss, axis=0)
        mid, rounding, inner = np.empty(heights.size, complex), np.empty(heights.size), np.zeros(heights.size)
        for one in np.unique(chosen):
            those = np.flatnonzero(chosen == one)
            found = self._along(n, power, float(turns[one]), heights[those], logs[those], middle, top)
            mid[those], rounding[those], inner[those] = found.mid, found.rounding + slips[those], found.inner
        return Values(mid, rounding, inner)

    def _along(
        self, n: int, power: float, turn: float, heights: Array, logs: NDArray[np.complex128], middle: float, top: float
    ) -> Values:
        """The sum along the ray of one angle."""
        rho, alpha = n - power, math.pi / 2 - turn
        scale = logs.real + alpha * heights
        # all terms are in units of e^base, which is about the size of their sum
        base = middle + float(scale.max())
        frequency, wrong = self._frequency(rho, alpha, heights, scale)
        ends = range_of_sum(self, n, power, alpha, float(scale.min()) + middle + _TARGET)
        if frequency is None or ends is None or _work(n, ends, frequency) > _MOST_WORK:
            return Values.unknown(heights.size)
        step = exact_step(2 * np.pi / frequency, _STEP_BITS)
        table = _table(self, n, turn, rho, step, ends)
        v, exponent = table.log_u, rho * table.log_u + table.log_size - base
        weight = np.exp(exponent)
        sums = rotated_sums(weight * table.values, v, step, -heights) * step
        size = weight * np.abs(table.values)
        # derived: roundings of the exponent's parts
        unit = ULP * (8 + 2 * (rho * np.abs(v) + np.abs(table.log_size) + abs(base)))
        rounded = float((weight * table.radius + size * unit).sum()) + rotated_error(size, v, step, heights)
        cut = math.exp(log_cut(self, n, power, alpha, v[0], v[-1]) - base)
        # e^{rho v} G(kappa e^v) has one mode: its sum over v, times h, is at most its integral plus h times its maximum
        several = 1 + step * math.sqrt(rho / (2 * math.pi))
        quadrature = table.share * several * np.exp(gammaln(rho) - rho * math.log(table.kappa) + top - base)
        moved = self._shift_error(power, heights) * np.exp(scale + top - base)
        wrong = rounded * step + np.exp(wrong + top - base) + cut + quadrature + moved
        values = Values.logarithm(sums, wrong, -logs.conj() - alpha * heights - 1j * (alpha * rho) + base)
        extra = 2 * ULP * (alpha * (heights + rho) + abs(base) + np.abs(logs))
        return Values(values.mid, values.rounding + extra, values.inner)

    def _shift_error(self, power: float, heights: Array) -> Array:
        """The effect of the error of m, relative to E S^a: |dM/dm| <= |w (w - 1)| m E S^a.

        By parts, dM/dm = w (w - 1) (m/t) E[S^{w-2} mean of Y^2], and the sum of Y^2 is at most the square of that of Y.
        """
        w = power + 1j * heights
        return np.abs(w * (w - 1)) * self.shift**2 * self.relative_error * 1.01

    def _frequency(self, rho: float, alpha: float, heights: Array, scale: Array) -> tuple[float | None, Array]:
        """2 pi / h, and the logarithm of the aliasing relative to E S^a for each height."""
        ends = np.array([int(np.argmin(heights)), int(np.argmax(heights))])
        for frequency in _FREQUENCIES.tolist():
            if (self._log_alias(rho, alpha, heights[ends], frequency) <= scale[ends] + _TARGET).all():
                # a margin for the step, which is rounded down
                return frequency, self._log_alias(rho, alpha, heights, frequency)
        return None, scale

    def _log_alias(self, rho: float, alpha: float, heights: Array, frequency: float) -> Array:
        """The logarithm of the sum over k of |Gamma(rho + iY)| e^{alpha Y} e^{-m^2 Y^2/(2t)}, Y = y - 2 pi k/h.

        Its logarithm is concave in Y for rho >= 1/2, so that what follows the last term falls at least as fast as it did there.
        """
        far = heights[:, None] + frequency * _ORDERS
        size = self.shift * (1 - 1e-12)
        terms = log_gamma(rho + 1j * far)[0].real + alpha * far - size * size * far * far / (2 * self.count)
        with np.errstate(divide="ignore"):  # a ratio above one gives no bound
            rest = [
                terms[:, a] - np.log(np.maximum(-np.expm1(np.minimum(terms[:, a] - terms[:, b], 0.0)), 0.0))
                for a, b in ((0, 1), (-1, -2))
            ]
        return np.asarray(np.logaddexp.reduce(np.column_stack([terms[:, 1:-1], *rest]), axis=1) + 1e-3)


@lru_cache(maxsize=64)
def _turns_up_to(power: float) -> Array:
    apart = 1 + (_APART - 1) / math.sqrt(power)
    return np.asarray(np.pi / 2 * apart ** -np.arange(math.ceil(math.log(math.pi / 2 / _LEAST_TURN) / math.log(apart))))


def _turns(rho: float) -> Array:
    """The angles to the imaginary axis that are tried; near pi/2 they are rho^(-1/2) apart, the range of an accurate sum."""
    return _turns_up_to(_rounded_up(rho))


def _rounded_up(rho: float) -> float:
    """The value rho rounded up to a power of two, so that nearby lines share their tables."""
    return float(2.0 ** math.ceil(math.log2(max(rho, 1.0))))


@lru_cache(maxsize=64)
def _approximate_integrand(mean: LognormalMean, n: int, far: float) -> tuple[Array, Array]:
    """Points v and log G(e^v), for powers whose distances to n are at most ``far``."""
    step = 2.0 ** math.floor(math.log2(2 * math.pi / (7 * math.sqrt(far) + 7)))
    power, least = (n - 1.0, float(mean.log_moments[n - 1])) if n else (-0.5, 0.0)
    below = range_of_sum(mean, n, power, 0.0, _OMITTED + least)
    above = range_of_sum(mean, n, n - far, 0.0, float(gammaln(far)) + min(mean.log_moment_bound(n - far), 0.0) + _OMITTED)
    low = below[0] if below else -60.0
    high = above[1] if above else 60.0
    return approximate_table(mean.shift, mean.count, n, step, math.floor(low / step), math.ceil(high / step))


@lru_cache(maxsize=4096)
def _on_axis(mean: LognormalMean, power: float) -> tuple[float, float]:
    if not _LOWEST <= power <= mean.highest:
        return math.inf, math.inf
    if power in (0.0, 1.0):
        return 0.0, 0.0
    n = _best_order(mean, power, 0.0)
    rho, zero = n - power, np.zeros(1)
    scale = gammaln(rho) + zero
    frequency, alias = mean._frequency(rho, 0.0, zero, scale)
    # E S^a >= e^{-m^2 |a| / 2} by Jensen's inequality, and at least 1 outside of [0, 1]
    least = 0.0 if not 0 < power < 1 else -(mean.shift**2) * power / 2
    ends = range_of_sum(mean, n, power, 0.0, float(scale[0]) + least + _TARGET)
    if frequency is None or ends is None or _work(n, ends, frequency) > _MOST_WORK:
        return math.inf, math.inf
    step = exact_step(2 * np.pi / frequency, _STEP_BITS)
    table = _table(mean, n, math.pi / 2, rho, step, ends)
    v = table.log_u
    exponent = rho * v + table.log_size
    shift = float((exponent + np.log(np.maximum(np.abs(table.values), 1e-300))).max())
    weight = np.exp(exponent - shift)
    total = float((weight * table.values.real).sum()) * step
    size = weight * np.abs(table.values)
    unit = ULP * (40 + 2 * (rho * np.abs(v) + np.abs(table.log_size) + abs(shift)))
    rounded = float((weight * table.radius + size * unit).sum()) * step
    cut = math.exp(log_cut(mean, n, power, 0.0, v[0], v[-1]) - shift)
    # the error is relative to the true value
    relative = math.exp(float(alias[0] - scale[0])) + table.share * (1 + step * math.sqrt(rho)) * table.kappa**-rho
    if not relative < 0.5:
        return math.inf, math.inf
    wrong = (rounded + cut + relative * total) / (1 - relative)
    if not wrong < total / 2:
        return math.inf, math.inf
    middle = math.log(total) + shift - float(scale[0])
    radius = -math.log1p(-wrong / total) + _GAMMA * (1 + abs(float(scale[0]))) + 4 * ULP * (1 + abs(shift) + abs(middle))
    slope = abs(power * (power - 1)) * mean.shift**2 * mean.relative_error * 1.02
    return middle, radius + slope


def _work(n: int, ends: tuple[float, float], frequency: float) -> float:
    """The work of a table, in elements: about 150 nodes x for each order of a few, and a recurrence over all orders."""
    return (ends[1] - ends[0]) * frequency / (2 * math.pi) * (150 + 2 * n + n * n / 8)


def _best_order(mean: LognormalMean, power: float, middle: float) -> int:
    """The n for which a sum over v takes the least work."""
    least = max(0, math.ceil(power + 0.5))
    best, found = math.inf, least
    for n in sorted({min(n, mean.order) for n in _ORDERS_OF_SUMS if n >= least}):
        if n < power + 0.5 or n > least + _HIGHER:
            continue
        rho = n - power
        ends = range_of_sum(mean, n, power, 0.0, float(gammaln(rho)) + middle + _TARGET)
        if ends is not None:
            cost = (ends[1] - ends[0] + 4) * (1 + n / 40 + (n / 20) ** 2) * (1 + math.sqrt(rho) / 12)
            if cost < best:
                best, found = cost, n
    return found


@lru_cache(maxsize=48)
def _tabulated(shift: float, count: int, n: int, turn: float, power: float, step: float, first: int, last: int) -> Table:
    return laplace_table(shift, count, n, turn, power, step, first, last)


def _table(mean: LognormalMean, n: int, turn: float, rho: float, step: float, ends: tuple[float, float]) -> Table:
    """The table of an angle, for rho and somewhat more, so that nearby lines share it."""
    power = _rounded_up(rho)
    return _tabulated(mean.shift, mean.count, n, turn, power, step, math.floor(ends[0] / step), math.ceil(ends[1] / step))
