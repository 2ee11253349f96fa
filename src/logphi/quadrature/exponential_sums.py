"""Exponential sums on a vertical line, as one matrix product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.quadrature.values import Line


def exponential_sums(weights: Array, locations: Array, line: Line) -> NDArray[np.complex128]:
    """The sum over j of weight_j e^{i t location_j} at every height t of a line.

    Heights are r + s with few r and few s, so that only about 2 sqrt(size) exponentials are formed for each location. A term
    errs by ten ulps and by the rounding of its angles, twice |t location_j|; the sum adds its own rounding.
    """
    columns = 1 << (max(line.size - 1, 1).bit_length() + 1) // 2
    rows = -(-line.size // columns)
    fine = np.exp(1j * (line.step * np.arange(columns)) * locations[:, None])
    coarse = weights * np.exp(1j * (line.step * columns * np.arange(rows))[:, None] * locations)
    sums: NDArray[np.complex128] = (coarse @ fine).ravel()[: line.size]
    return sums
