"""Bent lines that would be too long."""

import logphi as lp


def test_a_line_too_long_is_left_to_other_routes():
    """Where a forecast was wrong, a bent line would take 6e8 nodes; another route answers."""
    few = 13 * lp.Gaussian(sigma=1.00000000001).poisson(6.390730711113021e-05)
    bound = (few + 62737543 * lp.Gaussian(sigma=1).poisson(3.262850539365551e-07)).delta(-5.960464477539063e-08)
    assert bound.width < 1e-6 * bound.value
