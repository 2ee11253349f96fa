"""Common spans of several lattices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, lcm

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# measured: ratios with larger terms make lattices too fine to be useful
_LARGEST_RATIO = 20000


def common_span(spans: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The largest span that divides all given ones, with a bound of the error of their multiples of it.

    ``spans`` are positive numbers with their absolute errors; None if their ratios are no fractions of small integers.
    """
    if not spans:
        return inf, 0.0
    base, base_error = min(spans)
    own, errors = np.array(spans).T
    widest, parts = float(own.max()) / base, 1
    ratios = np.rint(own / base)
    # the spans that are not multiples of the smallest, one by one
    others = np.flatnonzero(np.abs(own - ratios * base) > _rounding(own, errors + ratios * base_error))
    for index in others.tolist():
        ratio = Fraction(float(own[index]) / base).limit_denominator(1000)
        ratios[index], parts = float(ratio), lcm(parts, ratio.denominator)
        # the ratio of the widest span to the common one, up to the rounding of its ratio to the smallest
        if parts * (widest - 1) > _LARGEST_RATIO:
            return None
    if parts * ratios.max() > _LARGEST_RATIO:
        return None
    error, miss = errors + ratios * base_error, np.abs(own - ratios * base)
    if not (miss <= _rounding(own, error)).all():
        return None
    common = int(np.gcd.reduce(np.rint(ratios * parts).astype(np.int64)))
    return base * common / parts, float((miss + error).max())


def _rounding(own: Array, error: Array) -> Array:
    """A bound of the distance between a span and its ratio times another: both errors, and the rounding of the quotient."""
    return 2 * error + 4 * ULP * own
