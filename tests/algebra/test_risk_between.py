"""Risks of releases that are known between two others agree with their trade-off functions and profiles."""

from __future__ import annotations

from typing import Any

import pytest

import logphi as lp

RELEASES = [
    lp.Gaussian(sigma=2).shuffled(10),
    lp.ZCDP(rho=0.1) + lp.Laplace(scale=3),
    lp.VectorDiscreteGaussian(4, 30, parties=100),
    10 * lp.ExponentialMechanism(0.3),
]


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_the_largest_power_is_one_minus_the_trade_off_function(release: Any) -> None:
    for rate in (0.01, 0.2):
        power, error = release.risk.tpr(rate), release.tradeoff(rate)
        assert power.lower == pytest.approx(1 - error.upper, rel=1e-6)
        assert power.upper == pytest.approx(1 - error.lower, rel=1e-6)
        assert float(power) == power.upper


@pytest.mark.parametrize("release", RELEASES, ids=repr)
def test_the_advantage_is_the_profile_at_zero_and_decides_the_success_at_even_odds(release: Any) -> None:
    advantage, success = release.risk.advantage(), release.risk.success(0.5)
    assert advantage.same_as(release.delta(0.0))
    assert success.upper == pytest.approx((1 + advantage.upper) / 2, rel=1e-6)
    assert success.lower == pytest.approx((1 + advantage.lower) / 2, rel=1e-6)


def test_risks_of_shuffled_batches_lie_between_those_of_the_attack_and_of_the_cover() -> None:
    shuffled: Any = lp.Gaussian(sigma=2).shuffled(10)
    for figure, arguments in (("ppv", (0.01, 0.3)), ("reconstruction", (0.01,))):
        low, found, high = (getattr(one.risk, figure)(*arguments) for one in (shuffled.attack, shuffled, shuffled.cover))
        assert (found.lower, found.upper) == (low.lower, high.upper)
    # the cover is one Gaussian, whose curve is its own
    assert shuffled.risk.gaussian_mu().upper == pytest.approx(0.5, rel=1e-9)
    assert dir(shuffled.risk) == dir(shuffled.cover.risk)
