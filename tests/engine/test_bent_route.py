"""Routes of sampled Gaussians: lines that would be too long, ends that are known, routes that meet."""

import math

import pytest

import logphi as lp
from effort import answers
from logphi.engine.routes.choices import choices
from logphi.inversion.bent import layout as bent_layout
from logphi.inversion.bent.contour import lay
from logphi.inversion.demand import Demand


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


def test_a_saddle_at_the_end_of_what_is_tried_is_no_error():
    """No bent line is laid there."""
    bound = (36250748 * lp.Gaussian(3180.6561024505527).poisson(8.106602323036374e-06)).epsilon(1.343602121572155e-11)
    assert bound.width < 1e-6


# shift, rate and repetitions: the integrand rises on a neighbour of the contour that was cheapest by the forecast
MANY = [(1 / 1.157917421124196, 0.00010555310123713658, 6317), (1 / 2.72, 4.83e-7, 126176), (1 / 1.123, 3.37e-4, 2884)]


@pytest.mark.parametrize(("shift", "rate", "count"), MANY)
@pytest.mark.parametrize("spreads", [0.0, 0.5, 1.0])
def test_bent_lines_of_many_repetitions_are_short(shift, rate, count, spreads):
    """They took fifty thousand nodes where a hundred were promised. Straight lines, which share no node, are as high."""
    spread = rate * math.sqrt(count * math.expm1(shift**2))
    x = spreads * spread
    bent = bent_layout.prepare(((shift, rate, 2e-16, 2e-16, count),), x, Demand(1e-3))
    assert bent is not None
    assert bent.points.size < 2000
    found = bent.at(x).amount
    straight = (count * lp.Gaussian(sigma=1 / shift).poisson(rate)).delta(x, direction="remove", method="contour")
    low, high = (math.exp(end) for end in found.log_ends)
    assert max(low, straight.lower) <= min(high, straight.upper)
    assert high - low < 1e-3 * high
    assert straight.width < 1e-3 * straight.value


def test_an_epsilon_is_found_from_a_guess_of_the_profile():
    """Chernoff's bound, from which the search began, is twice as large; few lines are laid on the way."""
    release = 6317 * lp.Gaussian(sigma=1.157917421124196).poisson(0.00010555310123713658)
    with choices() as taken:
        bound = release.epsilon(3.2494463546639984e-06)
    assert len(taken) <= 4
    below, above = (release.delta(end, method="contour") for end in (bound.lower, bound.upper))
    assert below.upper >= 3.2494463546639984e-06 >= above.lower
    assert bound.width < 1e-9


@pytest.mark.parametrize("release", [2 * lp.Gaussian(0.146236).poisson(1.19364e-6), 3 * lp.Gaussian(0.7).poisson(1e-5)])
def test_left_of_zero_one_contour_serves(release):
    """Most of delta is 1 - e^epsilon: what the contour adds need not be known to as many digits."""
    laid = answers(lambda: release.delta(-0.0176, direction="add", method="bent"), lay)
    assert len(laid) == 1
    bound = release.delta(-0.0176, direction="add")
    assert -math.expm1(-0.0176) <= bound.upper
    assert bound.status is lp.Status.MET
