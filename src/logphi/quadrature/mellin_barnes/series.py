"""The terms of both sums of a Mellin-Barnes integral; notation of :mod:`logphi.quadrature.mellin_barnes.transform`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs, complex_expm1
from logphi.arrays import Array, Complex
from logphi.quadrature.mellin_barnes.errors import LineErrors
from logphi.quadrature.mellin_barnes.lines import ROOM, binomials, exp, expm1
from logphi.quadrature.values import Line


@dataclass(frozen=True)
class SeriesTerms:
    """The logarithms of terms, one row for each point, with the errors of rounding and of the inner integral."""

    logs: NDArray[Any]
    rounding: Array
    inner: Array

    @property
    def top(self) -> float:
        """The logarithm of the largest term."""
        return float(self.logs.real.max(initial=-math.inf))

    def at(self, scale: float) -> tuple[Complex, Array, Array]:
        """The sum of the terms of each point in units of e^scale, with the absolute errors of both kinds."""
        terms = np.exp(self.logs - scale)
        sizes = np.abs(terms)
        rounding = (sizes * expm1(self.rounding)).sum(axis=1)
        inner = (sizes * expm1(self.inner) * exp(self.rounding)).sum(axis=1)
        rounding = rounding + 2 * ULP * (self.logs.shape[1] + 4) * sizes.sum(axis=1)
        return terms.sum(axis=1), rounding * ROOM, inner * ROOM


class Series(LineErrors):
    """The terms of both sums; those with M(0) and M(1) are summed separately."""

    def constant(self, z: Complex, least: float) -> tuple[NDArray[Any], Array]:
        """The sum of the terms with M(0) and M(1), less one, times ``least``, and its error."""
        rate, (zero, one, zero_error, one_error) = self.mixing.rate, self.masses
        log_a, _ = self.logs
        size = (np.abs(z) + 2) * (1 + abs(log_a))
        if self.last < 1:
            # the mass at L = -inf keeps its power of A
            kept = 1.0 if self.last == 0 else 1 - zero
            power = kept * np.exp((z + 1) * log_a)
            error = np.abs(power) * (4 * ULP * size + zero_error) + (0.0 if self.last == 0 else zero_error)
            return (power - 1) * least, (error + 4 * ULP) * least
        gap = FLOATS.log1p_gap(Discs.exact(np.array(-rate)))
        exponent = -(Discs.exact(z) * gap) - FLOATS.log1p_gap(Discs.exact(z) * Discs.exact(rate))
        start = complex_expm1(exponent.mid)
        error = np.abs(start + 1) * expm1(exponent.rad) + ELEMENTARY * 4 * np.abs(start)
        missing = (z + 1) * (rate * (1 - one)) * np.exp(z * log_a)
        error = error + np.abs(missing) * (4 * ULP * size + one_error) + size * rate * one_error * np.exp(self.a * log_a)
        return (start - missing) * least, error * ROOM * least

    def residues(self, z: Complex) -> SeriesTerms:
        """The terms from j = 2 to J."""
        log_a, log_b = self.logs
        mid, radius = self.moments
        j = np.arange(2, self.last + 1)
        binomial, binomial_error = binomials(z + 1, self.last)
        w = (z + 1)[:, None]
        logs = binomial[:, 2:] + (w - j) * log_a + j * log_b + mid[j]
        sizes = (np.abs(w) + j) * (1 + abs(log_a)) + np.abs(j * log_b) + np.abs(mid[j]) + 8 * j
        return SeriesTerms(logs, binomial_error[:, 2:] + radius[j] + 8 * ULP * (1 + sizes), np.zeros(logs.shape))

    def large_losses(self, z: Complex, heights: Array, step: float | None) -> SeriesTerms:
        """The terms from k = 0 to K, where M is needed on the line and to its left."""
        log_a, log_b = self.logs
        k = self.large
        base, shape = self.mixing.base, (z.size, k.size)
        mid, rounding, inner = np.zeros(shape, complex), np.zeros(shape), np.zeros(shape)
        for one in k.tolist():
            if step is None:
                values = base.log_transform(self.a - one + 1j * heights, self.count)
            else:
                values = base.on_line(Line(self.a - one, step, heights.size), self.count)
            mid[:, one], rounding[:, one], inner[:, one] = values.mid, values.rounding, values.inner
        if k.size and exact_steps(self.a, k.size) < k.size - 1:
            # the rounding of real points: |M'(s)| is at most M(s + 1) + M(s - 1)
            beside = np.logaddexp(self.moments_at(self.a - k + 1), self.moments_at(self.a - k - 1)) - mid.real[:1]
            rounding = rounding + ULP * (1 + abs(self.a) + k) * exp(beside + rounding[:1] + inner[:1])
        binomial, binomial_error = binomials(z + 1, int(k.size) - 1)
        w = (z + 1)[:, None]
        logs = binomial[:, : k.size] + k * log_a + (w - k) * log_b + mid
        sizes = (np.abs(w) + k) * (1 + abs(log_b)) + np.abs(k * log_a) + np.abs(mid) + 8 * (k + 1)
        return SeriesTerms(logs, binomial_error[:, : k.size] + rounding + 8 * ULP * (1 + sizes), inner)


def exact_steps(a: float, most: int) -> int:
    """The largest k up to which a - 1, a - 2, ..., a - k are all exact."""
    return next((k - 1 for k in range(1, most + 1) if math.fsum([a, -k, -(a - k)]) != 0.0), most)
