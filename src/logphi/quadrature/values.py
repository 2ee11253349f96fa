"""Values of K along a vertical line, with error bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, Discs, complex_log1p
from logphi.arrays import Array

# derived: e^K differs from e^mid by at most twice |e^mid|, so that only a bound of its size is known
SIZE_ONLY = math.log(3) * (1 + 1e-12)
# derived: exceeds the rounding of the logarithm of a bound
LOG_ROUNDING = 1e-9
# derived: exceeds the relative rounding of a mass
MASS_ROUNDING = 1e-8


@dataclass(frozen=True)
class Line:
    """Equally spaced points ``abscissa + i step j`` for ``j = 0 .. size - 1`` on a vertical line."""

    abscissa: float
    step: float
    size: int

    @property
    def heights(self) -> Array:
        """Imaginary parts of the points."""
        return np.asarray(self.step * np.arange(self.size, dtype=float))

    @cached_property
    def points(self) -> NDArray[np.complex128]:
        """The points."""
        return np.asarray(self.abscissa + 1j * self.heights, dtype=np.complex128)

    @property
    def runs(self) -> tuple[NDArray[np.int64], int]:
        """The line as runs of consecutive points: the first j of each, and their length, about the root of the size."""
        length = 1 << (max(self.size - 1, 1).bit_length() + 1) // 2
        return length * np.arange(-(-self.size // length), dtype=np.int64), length


@dataclass(frozen=True, eq=False)
class SparseLine:
    """Runs of consecutive points ``abscissa + i step j`` of a line: ``length`` points from each j of ``firsts`` on."""

    abscissa: float
    step: float
    firsts: NDArray[np.int64]
    length: int

    @property
    def size(self) -> int:
        """The number of points."""
        return self.firsts.size * self.length

    @property
    def heights(self) -> Array:
        """Imaginary parts of the points."""
        return np.asarray(self.step * (self.firsts[:, None] + np.arange(self.length)).ravel().astype(float))

    @cached_property
    def points(self) -> NDArray[np.complex128]:
        """The points."""
        return np.asarray(self.abscissa + 1j * self.heights, dtype=np.complex128)

    @property
    def runs(self) -> tuple[NDArray[np.int64], int]:
        """The first j of each run, and their length."""
        return self.firsts, self.length


def exact_step(step: float, bits: int = 26) -> float:
    """The step rounded down to a few bits, so that its multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(math.ldexp(mantissa, bits)), exponent - bits)


@dataclass(frozen=True)
class Values:
    """Values of K at some points, up to multiples of 2 pi i, with two proved absolute errors that add up.

    ``rounding`` has the errors of arithmetic and of half an ulp of every parameter, ``inner`` those of quadrature and cut-off
    where K is itself an integral. Either may be infinite: nothing is known there. e^K, and any of its
    powers, differs from e^mid by at most e^radius - 1 times its size, and is no larger than e^(Re mid + radius): a radius of
    log 3 still bounds the size of a sum that is smaller than its own error.
    """

    mid: NDArray[Any]
    rounding: Array
    inner: Array

    @staticmethod
    def of(discs: Discs) -> Values:
        """Values without an inner integral."""
        rad = np.broadcast_to(discs.rad, discs.mid.shape)
        return Values(discs.mid, rad, np.zeros(discs.mid.shape))

    @staticmethod
    def logarithm(sums: NDArray[Any], wrong: Array, scale: float | NDArray[Any]) -> Values:
        """Values for e^scale times sums that are known to within an absolute error."""
        size = np.abs(sums)
        unresolved = wrong >= size / 2
        with np.errstate(divide="ignore"):  # a sum of 0 with an error of 0 has no logarithm
            mid = np.log(np.where(unresolved, size + wrong, sums)) + scale
        relative = wrong / np.where(unresolved, 1.0, size)
        rounding = np.where(unresolved, SIZE_ONLY, -np.log1p(-np.where(unresolved, 0.0, relative)))
        known = np.isfinite(mid)
        rounding = rounding + ELEMENTARY * (1 + np.abs(scale)) + 2 * ULP * np.abs(np.where(known, mid, 0.0))
        return Values(np.where(known, mid, np.inf), np.where(known, rounding, np.inf), np.zeros(size.shape))

    @staticmethod
    def unknown(size: int) -> Values:
        """Unknown values."""
        return Values(*np.full((3, size), np.inf))

    @staticmethod
    def concatenated(parts: Sequence[Values]) -> Values:
        """The values of all parts, one after another."""
        return Values(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(Values)))

    def on_both_sides(self, heights: Array) -> Values:
        """The values at heights, from those at their sizes: below the real axis they are conjugate to those above."""
        return Values(np.where(heights < 0, self.mid.conj(), self.mid), self.rounding, self.inner)

    @property
    def radius(self) -> Array:
        """The sum of both errors."""
        return self.rounding + self.inner

    def __add__(self, other: Values) -> Values:
        known = np.isfinite(self.mid) & np.isfinite(other.mid)
        mid = np.where(known, np.where(known, self.mid, 0) + np.where(known, other.mid, 0), np.inf)
        sum_rounding = 2.0**-51 * np.abs(mid)
        return Values(mid, self.rounding + other.rounding + sum_rounding, self.inner + other.inner)

    def times(self, count: int) -> Values:
        """Values of ``count * K``, unknown where K is."""
        if count == 1:
            return self
        known = np.isfinite(self.mid)
        mid = np.where(known, count * np.where(known, self.mid, 0), np.inf)
        return Values(mid, count * self.rounding + 2.0**-51 * np.abs(mid), count * self.inner)


def log_one_plus(total: NDArray[Any], rounded: Array, inner: Array, scale: float | Array, known: NDArray[np.bool_]) -> Values:
    """Values for e^scale (1 + total), where total is known to within two absolute errors."""
    size, wrong = np.abs(1 + total), (rounded + inner) * (1 + 8 * ULP)
    unresolved = wrong >= size / 2
    resolved = complex_log1p(np.where(unresolved, 0.0, total))
    mid = np.where(unresolved, np.log(np.where(unresolved, size + wrong, 1.0)), resolved) + scale
    relative = np.where(unresolved, 0.0, wrong / np.where(unresolved, 1.0, size))
    error = np.where(unresolved, SIZE_ONLY, -np.log1p(-relative) * (1 + 4 * ULP))
    share = np.where(wrong > 0, inner / np.where(wrong > 0, wrong, 1.0), 0.0)
    own = ELEMENTARY * np.abs(mid) + np.where(scale == 0, 0.0, 4 * ULP * (1 + np.abs(scale)))
    return Values(
        np.where(known, mid, np.inf),
        np.where(known, error * (1 - share) + own, np.inf),
        np.where(known, error * share, 0.0),
    )


def log_of_deviation(
    log_mass: Array, deviation: NDArray[Any], rounding: Array, inner: Array
) -> tuple[NDArray[Any], Array, Array]:
    """K(c + it) = K(c) + log(1 + d) with both errors of :class:`Values`, from the errors of M(c) and of 1 + d, over M(c).

    The size of a value is known even if it is smaller than its error e: with s the computed |1 + d|, it is at most
    M(c) (s + e) (1 + e), and that is less than M(c) (s + 3 e) for e < 1/2, as s <= 1 + e. One more e exceeds all roundings.
    """
    size, wrong = np.abs(1 + deviation), rounding + inner
    resolved = wrong * (1 + size) < size / 2
    bounded = ~resolved & (wrong < 0.5)
    relative = np.where(resolved, wrong * (1 + size), 0.0) / np.where(resolved, size, 1.0)
    share = np.where(resolved, inner, 0.0) / np.where(resolved & (wrong > 0), wrong, 1.0)
    error = -np.log1p(-relative)
    log = complex_log1p(np.where(resolved, deviation, 0.0)) + np.log(np.where(bounded, size + 4 * wrong, 1.0))
    own = np.where(resolved, error * (1 - share), np.where(bounded, SIZE_ONLY, np.inf))
    return log_mass + log, own, error * share


# the logarithm of a mass of exactly one
CERTAIN = Values(np.zeros(1), np.zeros(1), np.zeros(1))
