"""Exponential sums on a vertical line, as a matrix product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.quadrature.values import Line, SparseLine

# chosen: entries of the intermediate arrays
_BLOCK = 1 << 20


def exponential_sums(weights: Array, locations: Array, line: Line | SparseLine) -> NDArray[np.complex128]:
    """The sum over j of weight_j e^{i t location_j} at every height t of a line.

    Heights are r + s with few r and few s, so that only about 2 sqrt(size) exponentials are formed for each location. A term
    errs by ten ulps and by the rounding of its angles, twice |t location_j|; the sum adds its own rounding.
    """
    firsts, length = line.runs
    fine = np.exp(1j * (line.step * np.arange(length)) * locations[:, None])
    rows = max(_BLOCK // max(locations.size, 1), 1)
    parts = [firsts[i : i + rows] for i in range(0, firsts.size, rows)]
    sums = [(weights * np.exp(1j * (line.step * part)[:, None] * locations)) @ fine for part in parts]
    return np.asarray(np.concatenate(sums).ravel()[: line.size], dtype=np.complex128)
