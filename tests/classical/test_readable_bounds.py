"""The Gaussian and zCDP in formulas one can read, and their inverses: against forty digits, and on their side of the truth."""

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from exact import dec
from logphi.classical import Concentrated, concentrated, gaussian

SIGMAS = st.floats(0.05, 50)
EPSILONS = st.floats(0.01, 50)
DELTAS = st.floats(1e-30, 0.99)


@settings(max_examples=60)
@given(sigma=SIGMAS, epsilon=EPSILONS, count=st.integers(1, 9))
def test_the_readable_bound_is_above_the_tail(sigma, epsilon, count):
    with mpmath.workdps(40):
        rho, eps = count / (2 * dec(sigma) ** 2), dec(epsilon)
        found = gaussian.gaussian_readable(sigma, epsilon, count=count).value
        assert mpf(found) >= mpmath.ncdf((rho - eps) / mpmath.sqrt(2 * rho))
        if eps >= rho * (1 + mpf("1e-12")):
            formula = mpmath.exp(-((eps - rho) ** 2) / 4 / rho) / max(2, mpmath.sqrt(mpmath.pi / rho) * (eps - rho))
            assert formula <= mpf(found) <= formula * (1 + mpf("1e-10")) + mpf("1e-320")


def test_no_readable_claim_before_rho():
    assert gaussian.gaussian_readable(0.5, 1.9).value == 1
    with pytest.raises(ValueError, match="sigma"):
        gaussian.gaussian_readable(0.0, 1.0)


@settings(max_examples=60)
@given(epsilon=EPSILONS, delta=DELTAS)
def test_the_budget_of_a_target(epsilon, delta):
    """Its tail meets the target from below, it lies between the two bounds of Remark 15, and the noise suffices."""
    with mpmath.workdps(40):
        eps, rest = dec(epsilon), -mpmath.log(dec(delta))
        rho = mpf(concentrated.tail_budget(epsilon, delta).rho)
        assert eps * (1 - mpf("1e-14")) <= rho + 2 * mpmath.sqrt(rho * rest) <= eps
        assert eps**2 / (4 * rest + 4 * eps) <= rho * (1 + mpf("1e-14"))
        assert rho <= eps**2 / (4 * rest)
        sigma = mpf(gaussian.gaussian_concentrated_sigma(epsilon, delta).value)
        assert 1 <= sigma / (mpmath.sqrt(2 * (rest + eps)) / eps) <= 1 + mpf("1e-14")
        own = 1 / (2 * sigma**2)
        ahead, behind = (mpmath.ncdf((-eps + side * own) / mpmath.sqrt(2 * own)) for side in (1, -1))
        assert ahead - mpmath.exp(eps) * behind <= dec(delta)


def test_bad_targets():
    for epsilon, delta in ((0.0, 0.1), (-1.0, 0.1), (1.0, 0.0), (1.0, 1.0), (math.inf, 0.1)):
        with pytest.raises(ValueError, match=r"epsilon|delta"):
            concentrated.tail_budget(epsilon, delta)
        with pytest.raises(ValueError, match=r"epsilon|delta"):
            gaussian.gaussian_concentrated_sigma(epsilon, delta)


@pytest.mark.parametrize(("one", "other"), [(0.5, 0.5), (1.0, 0.2), (3.0, 2.0), (1e-9, 1e-9)])
def test_a_pure_guarantee_is_concentrated(one, other):
    """The pair of two outcomes with the losses eps and -eps' has no larger divergence at any order."""
    rho = Concentrated.of_pure(one, other).rho
    with mpmath.workdps(40):
        assert mpf(rho) >= (mpf(one) + mpf(other)) ** 2 / 8
        up, down = mpmath.exp(mpf(one)), mpmath.exp(-mpf(other))
        # q (e^eps - e^-eps') = 1 - e^-eps'
        q = (1 - down) / (up - down)
        for order in (1.001, 2, 5, 100):
            mean = q * up**order + (1 - q) * down**order
            assert mpmath.log(mean) / (order - 1) <= mpf(rho) * mpf(order) * (1 + mpf("1e-12"))


def test_pure_corners():
    assert Concentrated.of_pure(0.0).rho == 0
    assert Concentrated.of_pure(1.0, 0.0).rho == 0.125
    with pytest.raises(ValueError, match="epsilon"):
        Concentrated.of_pure(-1.0)


def test_a_budget_without_rho_bounds_the_loss():
    none = Concentrated(0.0, xi=0.1)
    assert concentrated.tail_delta(none, 0.2).value == 0
    # 0.1 may be any decimal that reads back as the double
    assert concentrated.tail_delta(none, 0.1).value == 1
    assert concentrated.tail_delta(Concentrated(0.0, xi=1.0), 1.0).value == 0
