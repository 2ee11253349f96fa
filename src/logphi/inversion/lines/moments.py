"""Derivatives of K at zero, the cumulants of a law, from values of K on a circle: Cauchy's formula with proved errors.

notation: X is the variable under the law normalised by M(0), a = X - m for some real m, and E is over it. Three values of K on
the real axis give M+- = E e^{+-Ra}. Since e^{|x|} - 1 - |x| <= e^x + e^{-x} - 2 and R E a lies between 1 - M- and M+ - 1,

    |E e^{za} - 1| <= s + d for |z| <= R,   s = M+ + M- - 2,   d = max(|M+ - 1|, |M- - 1|).

Where s + d < 1, M has no zero in the disc, and g(z) = K(z) - K(0) - z m is analytic there with |g| <= B = -log(1 - s - d). Its
Taylor coefficients are at most B / R^n, so that the mean of g(z) z^{-n} over N equally spaced points of the circle |z| = r
misses the n-th by at most B R^{-n} (r/R)^N / (1 - (r/R)^N). For narrow laws s + d is of the order of the variance, so that a
small K keeps its digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# derived: the logarithm of (r/R)^N, the factor of aliased Taylor coefficients: e^-36 is an ulp
_LOG_ALIAS = -36.0
# derived: where s + d is below one, M has no zero and the imaginary part of g is below pi; the rest is a margin for errors
_LARGEST = 0.9
# derived: a radius is tried if K(R)/2 + K(-R)/2 - K(0) is below this; s + d is about three times as large, and below _LARGEST
_TRIED = 0.2
# chosen: the powers of two around one that are evaluated at once
_STRIDE = np.arange(-3, 4)
# derived: the smallest power of two, with which the third derivative is the last whose factor n!/r^n does not overflow
_SMALLEST = -300
# chosen: the largest power of two
_WIDEST = 40
# chosen: how often a radius is halved if the values there are not sharp enough
_HALVINGS = 6
# derived: with this error of K, e^K is known to within e^0.5 - 1 < 1 of its size, so that it is not zero
_UNCERTAIN = 0.5
# derived: on wider circles real parts x are rounded so that 1 + x is exact, and a reflection adds no rounding
_COARSE = 2.0**-10
# chosen: the last series, as many orders next to one are asked for together
_REMEMBERED = 32


@dataclass(frozen=True)
class Amount:
    """A number with a proved bound of the error of each kind."""

    value: float
    rounding: float
    inner: float = 0.0
    aliasing: float = 0.0

    @property
    def error(self) -> float:
        """The sum of the errors, rounded up; it covers the rounding of value - error and value + error, too."""
        return (self.rounding + self.inner + self.aliasing) * (1 + 1e-12) + ULP * abs(self.value)

    def plus(self, other: Amount) -> Amount:
        """The sum."""
        value = self.value + other.value
        rounding = self.rounding + other.rounding + ULP * abs(value)
        return Amount(value, rounding, self.inner + other.inner, self.aliasing + other.aliasing)

    def times(self, factor: float) -> Amount:
        """The product with a positive double, or with an integer that is rounded to a double."""
        value = self.value * factor
        return Amount(value, self.rounding * factor + ULP * abs(value), self.inner * factor, self.aliasing * factor)


@dataclass(frozen=True)
class Taylor:
    """The series K(z) - K(0) = z m + sum of b_n (z/r)^n, n = 1 .. N - 1, near zero.

    Each b_n errs by at most ``rounding + inner``, plus the aliasing error B (r/R)^n (r/R)^N / (1 - (r/R)^N).
    """

    mean: float
    scaled: Array
    circle: float
    disc: float
    bound: float
    rounding: float
    inner: float

    def cumulant(self, order: int) -> Amount:
        """The derivative of K of an order from 1 to N - 1; its error is infinite where n!/r^n overflows."""
        share = self.circle / self.disc
        size = float(self.scaled[order - 1])
        aliasing = self.bound * share**order * self._unseen
        try:
            factor = math.factorial(order) / self.circle**order
        except (OverflowError, ZeroDivisionError):
            factor = math.inf
        if not 1e-290 < factor < 1e290:
            return Amount(0.0, math.inf)
        own = Amount(size, self.rounding + (order + 8) * ULP * abs(size), self.inner, aliasing).times(factor)
        return own.plus(Amount(self.mean, 0.0)) if order == 1 else own

    def slope(self, z: Any) -> tuple[Any, Amount]:
        """(K(z) - K(0)) / z for |z| up to half of the circle's radius, a number or an array, and its errors."""
        ratio, far = abs(z) / self.circle, abs(z) / self.disc
        rest = np.polynomial.polynomial.polyval(z / self.circle, self.scaled) / self.circle
        value = self.mean + rest
        spread = 1 / (self.circle * (1 - ratio)) * (1 + 1e-9)
        cut = self.bound / self.disc / (1 - far) * (self._unseen + far**self.scaled.size) * (1 + 1e-9)
        rounding = self.rounding * spread + 16 * ULP * (abs(value) + float(np.abs(self.scaled).max()) * spread)
        return value, Amount(0.0, rounding, self.inner * spread, cut)

    @property
    def _unseen(self) -> float:
        left = (self.circle / self.disc) ** (self.scaled.size + 1)
        return left / (1 - left) * (1 + 1e-9)


@lru_cache(maxsize=_REMEMBERED)
def taylor(law: LossTransform, order: int, widest: float = math.inf) -> Taylor | None:
    """The series of K at zero, for derivatives up to ``order``; None if K is unknown on one side of zero.

    ``widest`` bounds the radius of the disc: where K is small, a disc much wider than one costs relative accuracy of the first
    two derivatives, and a narrow disc that of higher ones.
    """
    at_zero = centre(law)
    size = points_for(order)
    cap = 0.999 * min(law.strip[1], -law.strip[0], widest / 0.999)
    disc = radius(law, 0.0, cap, float(at_zero.mid[0].real))
    for _ in range(_HALVINGS if disc else 0):
        found = _series(law, at_zero, disc, size)
        if found is not None:
            return found
        disc /= 2
    return None


def points_for(order: int) -> int:
    """The number of points N with which rounding is magnified by (R/r)^n = e^{36 n/N}, at most e^6."""
    return max(16, 6 * order)


def centre(law: LossTransform) -> Values:
    """K(0), an array of one element."""
    return law.support.masses.own


def proved(values: Values) -> tuple[Array, Array]:
    """Rounding and inner errors of K itself: some branch of K is within their sum of the midpoint."""
    radius = values.radius
    known = np.isfinite(values.mid) & (radius < _UNCERTAIN)
    small = np.where(known, radius, 0.0)
    # e^K is within e^radius - 1 of e^mid, relatively
    stretch = np.where(small > 0, -np.log1p(-np.expm1(small)) / np.where(small > 0, small, 1.0), 1.0) * (1 + 1e-12)
    return np.where(known, values.rounding * stretch, np.inf), np.where(known, values.inner * stretch, 0.0)


def proved_radius(values: Values) -> Array:
    """The sum of both errors of :func:`proved`."""
    rounding, inner = proved(values)
    return rounding + inner


def radius(law: LossTransform, point: float, cap: float, level: float) -> float:
    """About the largest power of two R up to the cap with (K(c + R) + K(c - R))/2 - K(c) small; zero if there is none.

    ``point`` is c, and ``level`` about K(c).
    """
    if not cap > 0:
        return 0.0
    top = min(math.floor(math.log2(cap)), _WIDEST) if math.isfinite(cap) else _WIDEST
    middle, best = min(top, 0), -math.inf
    while middle > _SMALLEST:
        powers = middle + _STRIDE[middle + _STRIDE <= top]
        radii = 2.0**powers
        values = law.approximate(point + np.concatenate([radii, -radii]))
        half_sum = np.where(np.isfinite(values), values, np.inf).reshape(2, -1).mean(axis=0) - level
        good = powers[half_sum < _TRIED]
        best = max(best, float(good.max(initial=-1000)))
        if good.size == powers.size and powers[-1] < top:
            middle += _STRIDE.size
        elif best > -1000:
            return float(2.0**best)
        else:
            middle -= _STRIDE.size
    return 0.0


def _series(law: LossTransform, at_zero: Values, disc: float, size: int) -> Taylor | None:
    """The coefficients from a disc of this radius, if K is known well enough there."""
    ends, count = _on_axis(law, at_zero, disc)
    (low, high), (low_error, high_error) = ends.mid.real, proved_radius(ends)
    base, base_error = float(at_zero.mid[0].real), float(proved_radius(at_zero)[0])
    mean = (high - low) / (2 * disc)
    if not math.isfinite(mean + low_error + high_error + base_error):
        return None
    # the logarithms of M+ and M-
    logs = np.array([high - base - disc * mean, low - base + disc * mean])
    slips = np.array([high_error, low_error]) + base_error + 2 * ULP * (abs(high) + abs(low) + abs(base) + disc * abs(mean))
    if (logs + slips).max() > 1:
        return None
    above, below = np.expm1(logs + slips), np.expm1(logs - slips)
    total = (max(above.sum(), 0.0) + np.maximum(np.abs(above), np.abs(below)).max()) * (1 + 1e-12)
    if not total < _LARGEST:
        return None
    bound = -math.log1p(-total) * (1 + 1e-12)

    circle = disc * math.exp(_LOG_ALIAS / size)
    angle = np.pi * (2 * np.arange(size // 2) + 1) / size
    x, y = circle * np.cos(angle), circle * np.sin(angle)
    doubt = 8 * ULP * circle
    if circle > _COARSE:
        x, doubt = (1 + x) - 1, doubt + ULP * (1 + circle)
    z = x + 1j * y
    values = law.log_transform(z, count)
    rounding, inner = proved(values)
    if not np.isfinite(rounding + inner).all():
        return None
    g = values.mid - base - z * mean
    turns = np.round(g.imag / (2 * np.pi))
    g = g - 2j * np.pi * turns
    # the rounding of a point changes g by at most B / (R - r) times it
    moved = bound / (disc - circle - doubt) * doubt
    noise = 4 * ULP * (np.abs(values.mid) + np.abs(z * mean) + abs(base)) + (size + 8) * ULP * np.abs(g)
    order = np.arange(1, size)
    scaled = 2 / size * (np.exp(-1j * order[:, None] * angle) @ g).real
    # the angles carry up to n roundings
    noise_in_angles = 8 * ULP * size * float(np.abs(g).max())
    return Taylor(
        mean,
        scaled,
        circle,
        disc,
        bound,
        float((rounding + noise).mean()) * (1 + 1e-12) + moved + noise_in_angles + base_error,
        float(inner.mean()) * (1 + 1e-12),
    )


def _on_axis(law: LossTransform, at_zero: Values, disc: float) -> tuple[Values, int]:
    """K at both real ends of the disc, and a number of repetitions for which its errors are small against the rise of K."""
    both_ends = np.array([-disc, disc])
    rough = law.log_transform(both_ends)
    rise = float(rough.mid.real.mean() - at_zero.mid[0].real)
    if not rough.inner.any() or not 0 < rise < 1:
        return rough, 1
    count = int(1 / max(rise, 1e-280)) + 1
    return law.log_transform(both_ends, count), count
