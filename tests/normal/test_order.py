"""The order of the tails of two normal losses, against their profiles by quadrature."""

import math

import mpmath
import pytest

from logphi.normal.order import NormalTail, stays_above


def log_normal_profile(m, x):
    """log of Phi(-v) - e^x Phi(-u), by quadrature of the payoff, which does not cancel."""
    v = x / m - m / 2
    return mpmath.log(
        mpmath.quad(
            lambda t: -mpmath.expm1(-m * t) * mpmath.npdf(v + t), [0, 1 / (1 + v), 4 / (1 + v), 20 / (1 + v), mpmath.inf]
        )
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("m", [0.3, 1, 4])
@pytest.mark.parametrize("other", [0.29, 0.05])
@pytest.mark.parametrize("moves", [(0.0, 0.0), (3.0, 0.0), (2.0, 1.5), (0.0, 5.0)])
def test_tails_are_ordered_from_the_place_on(m, other, moves):
    x = stays_above(NormalTail(m * m, moves[0]), NormalTail(other**2, moves[1]))
    assert math.isfinite(x)
    with mpmath.workdps(40):
        for at in (x, 1.3 * x, 4 * x):
            assert -moves[0] + log_normal_profile(m, at + moves[0]) >= log_normal_profile(other, at - moves[1])


def test_equal_tails_are_not_ordered():
    assert stays_above(NormalTail(1.0, 0.0), NormalTail(1.0, 0.0)) == math.inf
