"""Roots of sums of squares as doubles, rounded outward: as values and as the decimals that they print as."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from logphi.arrays import Array
from logphi.text.written import meant

# derived: twice the relative error of one operation
EPS = 2.0**-52
# derived: for a largest entry of at most one, more than the underflow of products in one sum
TINY = 2.0**-1000
# derived: up to this, sums of integers are exact
_WHOLE = 2.0**53


def scaled(entries: Array) -> tuple[Array, int]:
    """Entries divided by a power of two, so that the largest is between 1/2 and 1, and the exponent of that power."""
    exponent = int(np.frexp(np.max(np.abs(entries)))[1])
    return np.ldexp(entries, -exponent), exponent


def unrounded(given: Any) -> bool:
    """Whether numbers became doubles without rounding, except for too large integers; fractions and decimals may be rounded."""
    kind = np.asarray(given).dtype
    return kind.kind in "iuf" and kind.itemsize <= 8


def exact_squares(entries: Array, copies: int = 1) -> bool:
    """Whether inner products of columns with so many copies of the entries, and sums of these, are exact in doubles."""
    return bool(np.all(entries == np.rint(entries)) and copies * float(np.sum(np.abs(entries))) ** 2 < _WHOLE)


def root_above(square: float, exponent: int) -> float:
    """The least double that is at least sqrt(square) * 2^exponent, by its value and as the decimal that it prints as."""
    target, root = _target(square, exponent)
    while min(meant(root), Fraction(root)) ** 2 < target:
        root = math.nextafter(root, math.inf)
    return root


def root_below(square: float, exponent: int) -> float:
    """The greatest double that is at most sqrt(square) * 2^exponent, by its value and as the decimal that it prints as."""
    target, root = _target(square, exponent)
    root = math.nextafter(math.nextafter(root, math.inf), math.inf)
    while max(meant(root), Fraction(root)) ** 2 > target:
        root = math.nextafter(root, 0.0)
    return root


def _target(square: float, exponent: int) -> tuple[Fraction, float]:
    """The exact square, and a double just below its root."""
    root = math.ldexp(math.sqrt(square), exponent)
    return Fraction(square) * Fraction(4) ** exponent, math.nextafter(root, 0.0)
