"""Sums of w^a - 1, and of w^a - 1 - a (w - 1), over given nodes against mpmath, term by term."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from logphi.arith.floats import ULP, complex_log1p
from logphi.quadrature.half_lines.half_line_sums import HalfLineSums

# rounding of the sums, relative to the sizes of their terms
ROUNDING = 1e-12
SIZES = [1e-3, 0.9, 40.0, 150.0]


def sums_over(rate: float, turn: float, linear: bool = True) -> tuple[HalfLineSums, np.ndarray, np.ndarray]:
    x = np.linspace(6.0, -9.0, 90)
    less_one = rate * np.expm1(x - 0.5 + 1j * turn)
    weight = np.exp(-x * x / 2 - 1j * turn * x) * (x[0] - x[1])
    size = np.abs(weight)
    loss = np.asarray(complex_log1p(less_one))
    unit, of_w = np.full(x.size, 30 * ULP), 8 * ULP * np.abs(less_one)
    return HalfLineSums(loss, less_one, weight, size, unit, of_w, linear), less_one, weight


@pytest.mark.parametrize("turn", [0.0, 1.2])
@pytest.mark.parametrize("rate", [1e-4, 0.2])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("linear", [True, False])
def test_sums_are_within_their_bounds(rate: float, turn: float, size: float, linear: bool) -> None:
    sums, less_one, weight = sums_over(rate, turn, linear)
    a = size * np.exp(1j * np.linspace(0.0, 1.5, 5))
    found = sums.at(a)
    for k, power in enumerate(a):
        with mpmath.workdps(40):
            exact, value, slope, terms = mpmath.mpc(complex(power)), mpmath.mpc(0), mpmath.mpc(0), mpmath.mpf(0)
            for node, mass in zip(less_one, weight, strict=True):
                ratio, w = mpmath.mpc(complex(node)), mpmath.mpc(complex(mass))
                loss, u = mpmath.log1p(ratio), ratio if linear else 0
                tilted = mpmath.expm1(exact * loss)
                value, slope = value + w * (tilted - exact * u), slope + w * (loss * tilted + loss - u)
                terms += abs(w) * (abs(tilted) + abs(exact * ratio)) * (1 + abs(exact * loss))
        assert abs(complex(value) - found.value[k]) <= found.rounding[k]
        assert abs(complex(slope) - found.slope[k]) <= found.slope_error[k]
        assert found.rounding[k] <= ROUNDING * float(terms)


def test_powers_of_many_sizes_are_those_alone() -> None:
    sums, *_ = sums_over(0.01, 0.7)
    a = np.array([1e2j, 1e-6, 30.0 + 2j, 0.5, 90.0, 2e-6j])
    together = sums.at(a)
    for k, power in enumerate(a):
        alone = sums.at(np.array([power]))
        assert abs(together.value[k] - alone.value[0]) <= together.rounding[k] + alone.rounding[0]
        assert together.rounding[k] <= 3 * alone.rounding[0]
