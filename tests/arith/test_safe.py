"""Exponentials and logarithms beyond the range of doubles."""

import math

import mpmath
import pytest

from logphi.arith.safe import log1mexp, safe_exp, safe_expm1, safe_log


def test_they_end_at_infinity():
    assert safe_exp(1e4) == safe_expm1(1e4) == safe_exp(math.inf) == math.inf
    assert (safe_exp(-1e4), safe_expm1(-1e4)) == (0.0, -1.0)
    assert safe_log(0.0) == safe_log(-1.0) == -math.inf


def test_elsewhere_they_are_those_of_the_math_module():
    assert (safe_exp(2.0), safe_expm1(1e-9), safe_log(3.0)) == (math.exp(2.0), math.expm1(1e-9), math.log(3.0))


@pytest.mark.parametrize("log_share", [-1e-300, -5e-17, -1e-9, -0.3, -math.log(2), -1.0, -40.0, -700.0])
def test_the_rest_of_a_share_keeps_its_digits(log_share):
    with mpmath.workdps(400):
        truth = float(mpmath.log(-mpmath.expm1(log_share)))
    assert math.isclose(log1mexp(log_share), truth, rel_tol=4e-16)
