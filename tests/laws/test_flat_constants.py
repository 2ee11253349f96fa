"""The constants of flat laws in each arithmetic, against their masses."""

import math

import mpmath
import pytest
import sympy
from mpmath import mpf

from logphi.arith.doubles import DOUBLES
from logphi.arith.mp import MULTIPRECISION, precision
from logphi.arith.symbolic import SYMBOLIC
from logphi.laws import flat_constants

WIDTHS = ["1e-40", "3e-5", "0.4", "1", "2.5", "40", "1500"]
KINDS = [flat_constants.uniform, flat_constants.with_atoms, flat_constants.two_point]
# The logarithms are as large as the width, and as that of a small width.
ULPS = 2.0**-50


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("constants", KINDS)
def test_the_masses_sum_to_one(constants, width):
    with precision(400):
        w = mpf(width)
        c, a = (mpmath.exp(log) for log in constants(MULTIPRECISION, w))
        # the integral of e^{x/2} over [-w, w]
        flat = c * -2 * mpmath.exp(w / 2) * mpmath.expm1(-w)
        assert abs(flat + a * (mpmath.exp(w / 2) + mpmath.exp(-w / 2)) - 1) < mpf(10) ** -40


@pytest.mark.parametrize("width", WIDTHS)
def test_half_of_shifted_double_exponential_noise_is_at_the_upper_end(width):
    with precision(400):
        w = mpf(width)
        _, log_atom = flat_constants.with_atoms(MULTIPRECISION, w)
        assert abs(mpmath.exp(log_atom + w / 2) - mpf(1) / 2) < mpf(10) ** -40


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("constants", KINDS)
def test_doubles_agree(constants, width):
    with precision(400):
        for found, exact in zip(constants(DOUBLES, float(width)), constants(MULTIPRECISION, mpf(float(width))), strict=True):
            assert found == exact or abs(mpf(found) - exact) <= ULPS * (1 + abs(exact) + float(width))


def test_no_part_that_is_absent_has_a_mass():
    assert flat_constants.uniform(DOUBLES, 1.0)[1] == flat_constants.two_point(DOUBLES, 1.0)[0] == -math.inf


def test_a_formula_shows_the_constant():
    w = sympy.Symbol("w", positive=True)
    assert sympy.exp(flat_constants.uniform(SYMBOLIC, w)[0]) == 1 / (4 * sympy.sinh(w / 2))
