"""Chernoff's bounds of a profile from both sides, where no route applies."""

from __future__ import annotations

import math

import mpmath
import pytest

import logphi as lp
from logphi.answers.status import Status
from logphi.engine.routes.chernoff import by_chernoff


def more_than(count: int, rate: float, least: int) -> mpmath.mpf:
    """The probability that more than ``least`` of some records are sampled."""
    q = mpmath.mpf(str(rate))
    below = (mpmath.binomial(count, k) * q**k * (1 - q) ** (count - k) for k in range(least + 1))
    return 1 - mpmath.fsum(below)


@pytest.mark.parametrize(("count", "rate", "sigma", "least"), [(200, 0.2, 0.02, 10), (1000, 0.1, 0.01, 30)])
def test_a_profile_that_is_nearly_one_has_a_lower_bound(count, rate, sigma, least):
    """With so little noise a sampled record costs about 1 / (2 sigma^2), and the others hardly anything."""
    epsilon = (least + 0.5) / (2 * sigma**2)
    loss = (count * lp.Gaussian(sigma=sigma).poisson(rate)).loss_law()
    found = by_chernoff(loss, epsilon)
    with mpmath.workdps(30):
        truth = more_than(count, rate, least)
        # losses of records that are sampled are within 8 of their standard deviations
        assert found.lower <= mpmath.log(truth) + 1e-12
    assert found.lower > math.log1p(-1e-4)
    assert found.upper == 0.0


def test_a_profile_that_is_nearly_one_is_answered_at_once():
    found = (1000 * lp.Gaussian(sigma=0.01).poisson(0.1)).delta(1e5)
    assert found.status is Status.MET
    assert found.lower > 1 - 1e-14
    assert found.method == "chernoff"


def test_no_lower_bound_where_the_profile_is_small():
    loss = (100 * lp.Gaussian(sigma=5).poisson(0.1)).loss_law()
    assert by_chernoff(loss, 3.0).lower == -math.inf
