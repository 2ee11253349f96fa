"""Sampled Gaussians with little noise, tiny rates or far tails, where few losses decide, against a quadrature over outputs."""

from __future__ import annotations

import math
import random

import mpmath
import pytest

import logphi as lp
from logphi.engine.large_losses import large_guesses
from logphi.engine.large_losses.excess import _log_moment
from logphi.laws.log_phi import LogPhi
from two_samples import two_deltas

# what is promised; what doubles leave of the quadrature over outputs, and far out
PROMISED, ORACLE, FAR_ORACLE = 1e-6, 1e-10, 1e-8
# how near a guess is, as a logarithm; how much a bound of a logarithm may exceed it
GUESSED, LOOSE = 1.0, 1e-9


def both(sigma: float, rate: float) -> lp.Mechanism:
    return 2 * lp.Gaussian(sigma=sigma).poisson(rate)


# little noise; several large losses; tiny losses; far tails, down to 1e-250
QUESTIONS = [
    (0.126, 8e-7, 16.8),
    (0.11, 4.5e-7, 0.0),
    (0.2, 5e-3, 1.2),
    (0.113, 1.2e-3, 110.0),
    (0.79, 3.6e-6, 0.02),
    (2.0, 2.2e-7, 8.6e-7),
    (4.28, 1.1e-5, 0.03),
    (6.2, 0.0124, 0.2),
]


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), QUESTIONS)
def test_deltas_hold_the_truth_and_are_narrow(sigma: float, rate: float, epsilon: float) -> None:
    bound = both(sigma, rate).delta(epsilon, direction="remove")
    truth = two_deltas((sigma, rate), (sigma, rate), epsilon, 42.0)
    slack = (ORACLE if truth > 1e-30 else FAR_ORACLE) * truth
    assert bound.lower - slack <= truth <= bound.upper + slack
    assert bound.width <= PROMISED * bound.upper


@pytest.mark.parametrize(("sigma", "rate", "delta"), [(0.126, 8e-7, 7.9e-7), (0.34, 1.5e-7, 5e-9), (0.79, 3.6e-6, 1e-9)])
def test_epsilons_hold_the_truth_and_are_narrow(sigma: float, rate: float, delta: float) -> None:
    bound = both(sigma, rate).epsilon(delta, direction="remove")
    at_lower, at_upper = (two_deltas((sigma, rate), (sigma, rate), end) for end in (bound.lower, bound.upper))
    assert at_lower * (1 + ORACLE) >= delta >= at_upper * (1 - ORACLE)
    assert bound.width <= PROMISED


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), [(0.126, 8e-7, 16.8), (0.34, 1.5e-7, 0.003), (6.2, 0.0124, 0.2)])
def test_a_single_large_loss_is_a_good_guess(sigma: float, rate: float, epsilon: float) -> None:
    found = large_guesses.alone(both(sigma, rate).loss_law(), epsilon)
    assert found == pytest.approx(math.log(two_deltas((sigma, rate), (sigma, rate), epsilon, 42.0)), abs=GUESSED)


def test_where_several_losses_decide_no_single_one_is_guessed() -> None:
    assert large_guesses.alone((341800 * lp.Gaussian(sigma=0.195).poisson(5.6e-7)).loss_law(), 63.9) is None


@pytest.mark.parametrize(("sigma", "rate", "exponent"), [(2.016, 2.2e-7, 1.8e8), (0.79, 3.6e-6, 2.4e6), (2.016, 2.2e-7, 1e5)])
def test_moments_far_to_the_left_are_bounded(sigma: float, rate: float, exponent: float) -> None:
    with mpmath.workdps(25):
        m, q = 1 / mpmath.mpf(sigma), mpmath.mpf(rate)

        def tilted(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x) * (1 - q + q * mpmath.exp(m * x - m * m / 2)) ** -exponent

        truth = 3 * mpmath.log(mpmath.quad(tilted, [*range(-12, 13, 2), 20]))
    found = _log_moment(LogPhi.of((3 * lp.Gaussian(sigma=sigma).poisson(rate)).loss_law().terms), -1 - exponent)
    assert float(truth) <= found <= float(truth) * (1 + LOOSE) + LOOSE


def test_noise_that_hides_all_from_a_shifted_line_is_no_warning() -> None:
    release = 2570 * lp.Gaussian(sigma=20.400170186740176).poisson(1.5480314331414901e-06)
    release.delta(-0.053231377069136165)
    assert release.epsilon(2.7817400986840865e-14).width <= PROMISED


def test_random_little_noise_is_answered() -> None:
    draw = random.Random(18)
    for _ in range(4):
        sigma, rate = 10 ** draw.uniform(-1, -0.4), 10 ** draw.uniform(-7, -2)
        bound = both(sigma, rate).delta(0.0)
        truth = two_deltas((sigma, rate), (sigma, rate), 0.0)
        assert bound.lower <= truth * (1 + ORACLE)
        assert bound.upper >= truth * (1 - ORACLE)
        assert bound.width <= PROMISED * bound.upper


def test_a_search_may_end_where_it_begins() -> None:
    """A guess of the crossing at the first place, which has no slope."""
    kinds = [(30, 0.41816070362933444, 7.29e-4), (50, 8.116, 6.6745e-3), (4680, 17.742, 1.131e-5)]
    release = lp.compose([count * lp.Gaussian(sigma=sigma).poisson(rate) for count, sigma, rate in kinds])
    for delta in (0.009377651037471523, 0.0095, 0.012):
        assert release.epsilon(delta).upper == 0
        assert release.delta(0.0).upper < delta
