"""Integrals and sums over arrays of doubles, for functions that SymPy compiles; no error is bounded.

The trapezoidal rule, its step halved until two sums agree, converges geometrically for analytic functions that fall fast at
both ends; a substitution makes them do so on an interval (Takahasi & Mori 1974, *Double exponential formulas*).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array

# chosen: ranges |x| <= R, tried in turn until the integrand is negligible at both ends
_RANGES = (10.0, 16.0, 24.0, 31.0, 38.0)
# derived: the range of the substituted variable, outside of which less than 1e-16 of the weights is left
_STRETCHED = 3.2
# chosen: the number of steps of the first sum
_FIRST = 64
# chosen: the largest number of times that the step is halved
_HALVINGS = 10
# chosen: the entries of an array that is computed at a time
_ENTRIES = 1 << 18
# derived: if two successive sums differ by less, relatively, the next sum is accurate to the last digit of doubles
_CLOSE = 1e-11
# measured: an integrand below this share of its largest value is negligible
_NEGLIGIBLE = 1e-17
# derived: a shift of the points, in steps: one minus the golden ratio's inverse, far from fractions of small denominators
SHIFT = 0.381966
# derived: an integral of the modulus below this is only rounding, of numbers near one that cancel
_NOISE = 1e-14
# the refusal of an integral or a sum that doubles cannot give
_REFUSED = "the {} is beyond what doubles hold: ask for numbers with bounds, m.log_phi(t), or compile with modules='mpmath'"


def quadrature_of_arrays(function: Callable[[Any], Any], low: float | None, high: float | None) -> Any:
    """The integral of a function of a real variable whose values are arrays; None stands for an infinite end.

    Raises
    ------
    ArithmeticError
        If ten digits are not reached.
    """
    if low is None or high is None:
        start = -1.0 if low is None else 0.0
        for half_range in _RANGES:
            ends = np.array([half_range, *([-half_range] if low is None else [])]) + (low or 0.0)
            size = np.abs(_sampled(function, (low or 0.0) + np.linspace(start, 1.0, _FIRST + 1) * half_range)).max(axis=0)
            # the mass of an integrand that vanishes at all points is farther out
            if (np.abs(_sampled(function, ends)) <= _NEGLIGIBLE * size).all() and (low is not None or (size > 0).all()):
                break
        else:
            raise ArithmeticError(_REFUSED.format("integrand"))
        if low is None:
            return _trapezoid(function, lambda s: (half_range * s, np.full(s.shape, half_range)))
        high = low + half_range
    middle, half = (high + low) / 2, (high - low) / 2

    def stretched(s: Array) -> tuple[Array, Array]:
        t = _STRETCHED * s
        inner = np.pi / 2 * np.sinh(t)
        return middle + half * np.tanh(inner), half * _STRETCHED * np.pi / 2 * np.cosh(t) / np.cosh(inner) ** 2

    return _trapezoid(function, stretched)


def normal_sum_of_arrays(variance: float, at: Any) -> Any:
    """The sum of exp(-(x - at)^2 / (2 variance)) over all integers x, by the dual series around its largest term.

    Raises
    ------
    ArithmeticError
        If the sum is beyond the range of doubles.
    """
    substitution = np.asarray(at, complex)
    largest = np.round(-substitution.imag / (2 * np.pi * variance))
    half_range = int(np.ceil(np.sqrt(40 / (2 * np.pi**2 * variance)))) + 1
    k = largest + np.arange(-half_range, half_range + 1).reshape(-1, *(1,) * substitution.ndim)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        total = np.sqrt(2 * np.pi * variance) * np.exp(-2 * np.pi**2 * variance * k**2 + 2j * np.pi * k * substitution).sum(
            axis=0
        )
    if not np.isfinite(total).all():
        raise ArithmeticError(_REFUSED.format("sum"))
    return total


def _trapezoid(
    function: Callable[[Any], Any],
    substitution: Callable[[Array], tuple[Array, Array]],
) -> Any:
    """The integral of a function over the range of a substitution, which gives points and weights for s in [-1, 1]."""

    def total(s: Array) -> NDArray[Any]:
        """The sum, and that of the moduli."""
        x, weight = substitution(s)
        parts = np.array_split(np.arange(s.size), 1 + s.size * np.size(function(x[0])) // _ENTRIES)
        sums = np.zeros(2)
        for part in parts:
            values = _sampled(function, x[part])
            sums = sums + np.tensordot(weight[part], np.stack([values, np.abs(values)], axis=-1), axes=1)
        return np.asarray(sums) * 2

    steps = _FIRST
    known = total(np.linspace(-1, 1, steps + 1)) / steps
    for _ in range(_HALVINGS):
        finer = (known + total((np.arange(steps) + 0.5) / steps * 2 - 1) / steps) / 2
        steps *= 2
        # two sums of an integrand that oscillates between the points agree, but not with one over shifted points
        if _agree(finer, known) and _agree(finer, total((np.arange(steps) + SHIFT) / steps * 2 - 1) / steps):
            return finer[..., 0][()]
        known = finer
    raise ArithmeticError(_REFUSED.format("integral"))


def _agree(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether the integrals agree to the accuracy of doubles, or consist of rounding only."""
    value, size = one[..., 0], one[..., 1].real
    return bool(((np.abs(value - other[..., 0]) <= _CLOSE * np.abs(value)) | (size <= _NOISE)).all())


def _sampled(function: Callable[[Any], Any], x: Array) -> NDArray[Any]:
    """The values at points, along a first axis."""
    with np.errstate(all="ignore"):  # values that are not finite never agree with others
        shape = np.shape(function(x[0]))
        return np.broadcast_to(np.asarray(function(x.reshape(-1, *(1,) * len(shape)))), (x.size, *shape))
