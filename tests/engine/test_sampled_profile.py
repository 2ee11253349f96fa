"""One sampled release, far below the least ratio of its pair."""

import mpmath
import pytest

import logphi as lp

RATE = 0.1


@pytest.mark.parametrize("epsilon", [-60.0, -10.0, -1.0, -0.106])
def test_everything_is_likelier_below_log_one_minus_rate(epsilon):
    """The pair is (1 - q) Q + q P' against Q, so that delta(eps) = 1 - e^eps for eps <= log(1 - q)."""
    mechanism = lp.GaussianMixturePair(sigma=1, values=[0, 2], p=[0.3, 0.7], q=[0.6, 0.4]).poisson(RATE)
    truth = -mpmath.expm1(mpmath.mpf(epsilon))
    bound = mechanism.delta(epsilon, direction="remove")
    assert bound.lower <= truth <= bound.upper
    assert bound.width <= 1e-13
