"""A public coin: its profile is the weighted sum of those of the mechanisms, and compositions expand binomially."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

import logphi as lp
from logphi.answers.status import Status
from profiles import gaussian_profile

WEIGHTS = [0.25, 0.75]
SAMPLED = [lp.Gaussian(sigma=1).poisson(0.1), lp.Gaussian(sigma=3)]


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 1.0, 20.0])
def test_one_release_has_the_weighted_profile(epsilon):
    coin = lp.RandomChoice([lp.Gaussian(sigma=1), lp.Gaussian(sigma=4)], WEIGHTS)
    with mpmath.workdps(40):
        exact = (
            gaussian_profile(mpmath.mpf(1))(mpmath.mpf(epsilon)) / 4
            + 3 * gaussian_profile(mpmath.mpf(1) / 4)(mpmath.mpf(epsilon)) / 4
        )
        found = coin.delta(epsilon)
        assert found.lower <= exact <= found.upper
    assert found.width <= 1e-9 * found.value


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 12.0])
def test_a_composition_is_the_binomial_mixture_of_gaussians(epsilon):
    """Of n coins, j show the first Gaussian: then the n releases are one Gaussian."""
    n = 20
    found = (n * lp.RandomChoice([lp.Gaussian(sigma=2), lp.Gaussian(sigma=5)], WEIGHTS)).delta(epsilon)
    with mpmath.workdps(40):
        exact = mpmath.fsum(
            math.comb(n, j)
            * mpmath.mpf(1)
            / 4**j
            * (mpmath.mpf(3) / 4) ** (n - j)
            * gaussian_profile(mpmath.sqrt(mpmath.mpf(j) / 4 + mpmath.mpf(n - j) / 25))(mpmath.mpf(epsilon))
            for j in range(n + 1)
        )
        assert found.lower <= exact <= found.upper
    assert found.width <= 1e-9 * found.value


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_orders_are_mixed_each_by_itself(direction):
    coin = lp.RandomChoice(SAMPLED, WEIGHTS)
    parts = [one.delta(1.0, direction=direction) for one in SAMPLED]
    ends = [sum(w * getattr(part, end) for w, part in zip(WEIGHTS, parts, strict=True)) for end in ("lower", "upper")]
    found = coin.delta(1.0, direction=direction)
    assert found.lower <= ends[1] * (1 + 1e-12)
    assert ends[0] * (1 - 1e-12) <= found.upper


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_coins_are_a_quarter_of_each_pair_of_outcomes(direction):
    """(A + B)/2 twice is (2A + 2 (A + B) + 2B)/4, where the library composes what it knows apart from coins."""
    a, b = SAMPLED
    apart = [(2 * a, 0.0625), (a + b, 0.375), (2 * b, 0.5625)]
    exact = sum(w * one.delta(0.8, direction=direction).value for one, w in apart)
    assert (2 * lp.RandomChoice(SAMPLED, WEIGHTS)).delta(0.8, direction=direction).value == pytest.approx(exact, rel=1e-8)


def test_an_enumeration_of_finite_choices():
    """Outcomes of the coin and the response together, by hand."""
    coin = lp.RandomChoice([lp.RandomizedResponse(0.6), lp.RandomizedResponse(0.7)], [0.5, 0.5])
    cells = [(0.3, 0.2), (0.2, 0.3), (0.35, 0.15), (0.15, 0.35)]
    for epsilon in (0.1, 0.5, 1.2):
        exact = sum(max(p * s - math.exp(epsilon) * q * t, 0) for p, q in cells for s, t in cells)
        found = (2 * coin).delta(epsilon)
        assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
        assert found.width < 1e-9


def test_leaking_everything_sometimes_is_infinite_mass():
    coin = lp.RandomChoice([lp.Gaussian(sigma=0), lp.Gaussian(sigma=2)], [0.125, 0.875])
    assert coin.loss.infinite_mass.value == pytest.approx(0.125)
    assert (3 * coin).loss.infinite_mass.value == pytest.approx(1 - 0.875**3, rel=1e-14)
    assert coin.epsilon(0.1).value == math.inf


def test_a_mechanism_of_probability_zero_or_one():
    one, other = lp.Gaussian(sigma=1), lp.Gaussian(sigma=2)
    assert lp.RandomChoice([one, other], [1, 0]).loss_law() == one.loss_law()
    assert lp.RandomChoice([one, one], [0.5, 0.5]).loss_law() == one.loss_law()


def test_a_sample_of_a_choice_is_a_choice_of_samples():
    coin = lp.RandomChoice([lp.Gaussian(sigma=1), lp.Gaussian(sigma=3)], WEIGHTS)
    for direction in ("remove", "add"):
        exact = sum(
            w * lp.Gaussian(s).poisson(0.2).delta(0.5, direction=direction).value for w, s in zip(WEIGHTS, (1, 3), strict=True)
        )
        assert coin.poisson(0.2).delta(0.5, direction=direction).value == pytest.approx(exact, rel=1e-9)


def test_a_rare_part_with_large_losses_costs_no_digits():
    """By simulation nothing could be seen; the rare part adds its own share."""
    often, rarely = lp.Gaussian(sigma=3), lp.Gaussian(sigma=0.5)
    coin = lp.RandomChoice([often, rarely], [1 - Fraction(1, 10**12), Fraction(1, 10**12)])
    found, alone = (10 * coin).delta(2.0), (10 * often).delta(2.0)
    assert found.width <= 1e-8 * found.value
    assert abs(found.value - alone.value) <= 1e-10


def test_a_coin_by_simulation():
    rng = np.random.default_rng(7)
    n, size = 6, 200_000
    first = rng.random((size, n)) < 0.3
    mu = np.where(first, 1.0, 0.25)
    loss = (mu * rng.standard_normal((size, n)) + mu**2 / 2).sum(axis=1)
    seen = np.maximum(-np.expm1(1.0 - loss), 0.0)
    found = (n * lp.RandomChoice([lp.Gaussian(sigma=1), lp.Gaussian(sigma=4)], [0.3, 0.7])).delta(1.0)
    assert abs(found.value - seen.mean()) < 5 * seen.std() / math.sqrt(size)


def test_renyi_divergences_are_means_of_moments():
    coin = lp.RandomChoice([lp.Gaussian(sigma=1), lp.Gaussian(sigma=4)], WEIGHTS)
    exact = math.log(0.25 * math.exp(3.0) + 0.75 * math.exp(3 / 16)) / 2
    assert coin.renyi(3).value == pytest.approx(exact, rel=1e-12)


def test_the_symbolic_log_phi_has_the_probability():
    p, sigma = sympy.symbols("p sigma", positive=True)
    symbolic = lp.RandomChoice([lp.Gaussian(sigma=sigma), lp.Gaussian(sigma=2)], [p, 1 - p])
    alpha = sympy.Symbol("alpha", real=True)
    z = sympy.I * alpha
    exact = sympy.log(p * sympy.exp(z * (z + 1) / (2 * sigma**2)) + (1 - p) * sympy.exp(z * (z + 1) / 8))
    gap = (symbolic.log_phi(alpha) - exact).subs({p: 0.3, sigma: 1.5, alpha: 0.7})
    assert abs(complex(gap)) < 1e-14


def test_text_and_json_keep_every_number():
    coin = lp.RandomChoice([3 * lp.Laplace(scale=3) + lp.Gaussian(sigma=2), SAMPLED[0]], [Fraction(1, 3), Fraction(2, 3)])
    assert str(lp.parse(str(coin))) == str(coin)
    assert lp.from_json((2 * coin).to_json()) == 2 * coin


KNOWN_BY_BOUNDS = [lp.ExponentialMechanism(2), lp.ZCDP(0.05), lp.RenyiDP([2], [0.1])]
ATTACKED = lp.StabilityThreshold(8, scale=1)


@pytest.mark.parametrize("one", [*KNOWN_BY_BOUNDS, ATTACKED], ids=str)
def test_a_choice_of_what_is_known_by_bounds_need_not_attain_them(one: lp.Mechanism) -> None:
    """The lower end is that of a pair, which may be larger than what the mechanism itself leaks at most, or of an attack."""
    statuses = {Status.BRACKET} if one is ATTACKED else {Status.DOMINATED, Status.WIDE}
    choice = lp.RandomChoice([one, lp.Laplace(2)], [0.5, 0.5])
    for release in (choice, choice.poisson(0.5), 2 * choice):
        for found in (release.delta(0.3), release.epsilon(0.1)):
            assert found.status in statuses
        for question in (release.pdp_delta, release.pdp_epsilon):
            with pytest.raises(ValueError, match="larger tail"):
                question(0.3)


def test_a_choice_of_exact_mechanisms_is_exact() -> None:
    assert lp.RandomChoice([lp.Laplace(1), lp.Laplace(2)], [0.5, 0.5]).delta(0.3).status is Status.MET
