"""Positive laws on a lattice, and sums of independent draws, cut off where the rest is negligible."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# derived: smaller numbers lose digits
LEAST = 1e-290


class Cut(NamedTuple):
    """The first and the last place that are kept of the law of a sum of so many draws, which is used so many times."""

    number: int
    uses: int
    first: int
    last: int


@dataclass(frozen=True)
class Row:
    """Positive numbers and their errors, in units of e^log_scale."""

    value: Array
    error: Array
    log_scale: float

    def together(self, other: Row) -> Row:
        """The law of the sum of two."""
        value = np.convolve(self.value, other.value)
        error = np.convolve(self.value + self.error, other.error) + np.convolve(self.error, other.value)
        size = min(self.value.size, other.value.size)
        error += ULP * (size + 8) * (value + error) + size * LEAST
        peak = max(float(value.max()), LEAST)
        return Row(value / peak, error * ((1 + 1e-9) / peak), self.log_scale + other.log_scale + math.log(peak))

    def between(self, first: int, last: int) -> Row:
        """The part between two places of the row."""
        return Row(self.value[first : last + 1], self.error[first : last + 1], self.log_scale)


# the ends of what must be kept of the law of a number of draws that is used so many times, in steps
Ends = Callable[[int, int], tuple[float, float]]


def power(row: Row, first: int, count: int, ends: Ends, uses: int = 1) -> tuple[Row, int, tuple[Cut, ...]]:
    """The law of the sum of ``count`` draws by repeated squaring, its first place, and what was cut off."""
    if count == 1:
        return row, first, ()
    half, start, cuts = power(row, first, count // 2, ends, 2 * uses)
    whole, start = half.together(half), 2 * start
    if count % 2:
        whole, start = whole.together(row), start + first
    low, high = ends(count, uses)
    low, high = max(start, math.floor(low)), min(start + whole.value.size - 1, math.ceil(high))
    return whole.between(low - start, high - start), low, (*cuts, Cut(count, uses, low, high))
