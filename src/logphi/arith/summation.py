"""Sums of doubles with few roundings: matrix products in parts, logarithms of sums of exponentials, errors of logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array

# measured: parts of this length take hardly more time than none; one of 10,000 summands passes through at most 221 additions
_PART = 64


def product(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """``left @ right`` as the sum of the sums of parts, so that each summand passes through few additions."""
    size = left.shape[-1]
    total: NDArray[Any] = left[..., :_PART] @ right[..., :_PART, :]
    for start in range(_PART, size, _PART):
        part = slice(start, start + _PART)
        total += left[..., part] @ right[..., part, :]
    return total


def roundings(size: int) -> int:
    """The largest number of additions through which a summand of :func:`product` passes; pairwise sums have fewer."""
    return min(size, _PART + -(-size // _PART))


def log_sum(exponent: Array, axis: int = -1) -> Array:
    """log(sum(exp)) along an axis; infinite where a term is infinite, and about -1e300 where all terms vanish."""
    peak = np.maximum(exponent.max(axis=axis, keepdims=True), -1e300)
    finite = np.where(peak < np.inf, peak, 0.0)
    with np.errstate(over="ignore"):  # infinite if a term is
        total: Array = np.log(np.exp(exponent - finite).sum(axis=axis) + 1e-300) + finite.squeeze(axis)
    return total


def error_of_log(relative: Array) -> Array:
    """A bound of the error of the logarithm of a number with this relative error; infinite from one half on."""
    return np.where(relative < 0.5, -np.log1p(-np.minimum(relative, 0.5)), np.inf)
