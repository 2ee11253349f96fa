"""Routes of sampled Gaussians: lines that would be too long, ends that are known, routes that meet."""

import math

import pytest

import logphi as lp


def test_a_line_too_long_is_left_to_other_routes():
    """Where a forecast was wrong, a bent line would take 6e8 nodes; another route answers."""
    few = 13 * lp.Gaussian(sigma=1.00000000001).poisson(6.390730711113021e-05)
    bound = (few + 62737543 * lp.Gaussian(sigma=1).poisson(3.262850539365551e-07)).delta(-5.960464477539063e-08)
    assert bound.width < 1e-6 * bound.value


@pytest.mark.parametrize("release", [18655 * lp.Gaussian(3580).poisson(4.9e-7), 3159261 * lp.Gaussian(1020).poisson(1.9e-7)])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_left_of_zero_next_to_nothing_is_added(release, direction):
    """Delta is 1 - e^epsilon where losses that matter are proved to be rarer than the last digit."""
    bound = release.delta(-0.25, direction=direction)
    assert bound.lower <= -math.expm1(-0.25) <= bound.upper
    assert bound.status is lp.Status.MET


@pytest.mark.parametrize("release", [8018 * lp.Gaussian(0.848).poisson(5.74e-6), 25 * lp.Gaussian(0.548).poisson(1.8e-4)])
def test_at_zero_both_orders_are_one_number(release):
    """The total variation distance: from the order whose losses are bounded, and from the other by a route of its own."""
    both = release.delta(0)
    other = release.delta(0, direction="remove", method="bent")
    assert max(both.lower, other.lower) <= min(both.upper, other.upper)
    assert both.width < 1e-10 * both.value
    one = release.delta(0, direction="remove")
    assert (both.lower, both.upper) == (one.lower, one.upper)


@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (546 * lp.Gaussian(0.7107).poisson(1.623e-4), 1.7337),
        (51 * lp.Gaussian(0.6417).poisson(0.0012861), 3.325),
        (11 * lp.Gaussian(0.8948).poisson(2.665e-4), 0.1854),
    ],
)
def test_clipped_and_bent_lines_agree(release, epsilon):
    """Two integrals that share no node; the clipped one is sharp."""
    clipped, bent = (release.delta(epsilon, direction="remove", method=method) for method in ("clipped", "bent"))
    assert max(clipped.lower, bent.lower) <= min(clipped.upper, bent.upper)
    assert clipped.width < 1e-9 * clipped.value
