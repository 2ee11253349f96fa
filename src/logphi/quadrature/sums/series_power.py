"""A coefficient of the power of a power series, for many series at once, with error bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array

Numbers = NDArray[Any]


def power_coefficient(series: Numbers, error: Array | None, exponent: int, n: int) -> tuple[Numbers, Array]:
    """The n-th coefficient of (sum_j p_j x^j)^t where p_0 = 1, for each row p_0, .., p_n of series with their errors.

    By Miller's recurrence k a_k = sum_i (i (t + 1) - k) p_i a_{k-i} if all its factors are positive, so that positive series
    have positive terms only; by repeated squaring otherwise.
    """
    value, wrong = power(series.T, None if error is None else error.T, exponent)
    return value[n], wrong[n]


def power(series: Numbers, error: Array | None, exponent: int) -> tuple[Numbers, Array]:
    """All coefficients up to the order of the series, whose coefficients run along the first axis."""
    p, e = series.copy(), None if error is None else error.copy()
    p[0] = 1
    if e is not None:
        e[0] = 0
    return _by_recurrence(p, e, exponent) if exponent >= p.shape[0] - 1 else _by_squaring(p, e, exponent)


def _by_recurrence(p: Numbers, p_error: Array | None, t: int) -> tuple[Numbers, Array]:
    n = p.shape[0] - 1
    a, e = np.zeros(p.shape, p.dtype), np.zeros(p.shape)
    a[0] = 1
    size = np.abs(p)
    # derived: the roundings of a factor, of its products and of the sum
    known = p_error is not None
    one_error, most = (p_error + size * (ULP * (8 + n)), size + p_error) if known else (size, size)
    with np.errstate(over="ignore", invalid="ignore"):  # not finite: the value is unknown
        for k in range(1, n + 1):
            factor = ((np.arange(1, k + 1) * (t + 1.0) - k) / k)[:, None]
            back, back_error = a[k - 1 :: -1], e[k - 1 :: -1]
            a[k] = (factor * p[1 : k + 1] * back).sum(axis=0)
            if known:
                e[k] = (factor * (most[1 : k + 1] * back_error + one_error[1 : k + 1] * np.abs(back))).sum(axis=0)
    return a, e * (1 + 1e-9)


def _by_squaring(p: Numbers, p_error: Array | None, t: int) -> tuple[Numbers, Array]:
    power, total = (p, p_error), None
    while True:
        if t & 1:
            total = power if total is None else _product(*total, *power)
        t >>= 1
        if not t:
            assert total is not None, "the exponent is positive"
            value, error = total
            return value, np.zeros(value.shape) if error is None else error
        power = _product(*power, *power)


def _product(a: Numbers, a_error: Array | None, b: Numbers, b_error: Array | None) -> tuple[Numbers, Array | None]:
    """The product, to the order of both."""
    n = a.shape[0] - 1
    with np.errstate(over="ignore", invalid="ignore"):  # not finite: the value is unknown
        value = _convolved(a, b)
        if a_error is None or b_error is None:
            return value, None
        # derived: the roundings of a product and of its sum
        own = b_error + np.abs(b) * (ULP * (8 + n))
        error = _convolved(np.abs(a), own) + _convolved(a_error, np.abs(b) + b_error)
    return value, error * (1 + 1e-9)


def _convolved(a: Numbers, b: Numbers) -> Numbers:
    found = np.zeros_like(a)
    for k in range(a.shape[0]):
        found[k:] += a[k] * b[: a.shape[0] - k]
    return found
