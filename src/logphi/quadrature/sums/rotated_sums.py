"""Sums of complex terms at equally spaced places, rotated at any heights, as a matrix product."""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array, Complex

# measured: runs of this many places, between which exponentials are formed
_RUN = 16
# derived: two exponentials, the products, and the sums of a run and over all runs, which NumPy forms by pairs
_ROUNDED = (_RUN + 48) * ULP


def rotated_sums(terms: Complex, places: Array, step: float, heights: Array) -> Complex:
    """The sum over k of term_k e^{i t place_k} for all t; ``places`` are ``step`` apart, and multiples of it are exact."""
    missing = -terms.size % _RUN
    runs = np.append(terms, np.zeros(missing)).reshape(-1, _RUN)
    within = np.exp(1j * (heights[:, None] * (step * np.arange(_RUN)))) @ runs.T
    return np.asarray((within * np.exp(1j * (heights[:, None] * places[::_RUN]))).sum(axis=1))


def rotated_error(sizes: Array, places: Array, step: float, heights: Array) -> Array:
    """A bound of its rounding, for ``sizes`` of the terms: angles are rounded too, those of a run and those between runs."""
    turned = float((sizes * (np.abs(places) + 2 * _RUN * step)).sum())
    return np.asarray(_ROUNDED * float(sizes.sum()) + np.abs(heights) * (ULP * turned))
