"""Third moments of losses, and the theorem that bounds all losses with given moments."""

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

import logphi as lp
from cauchy import cauchy
from finite import random_pairs
from logphi.answers.approximation import Approximation
from logphi.answers.status import Side
from logphi.classical import claim, loss_class, markov
from logphi.classical.loss_class import LossClass
from refusals import untyped

GUESS = Approximation(0.5, "a guess")


@pytest.mark.parametrize(
    ("n", "epsilon", "exact", "normal", "error"),
    [(256, 1.0, 0.3591, 0.3596, 2.98e-2), (64, 2.0, 3.650e-3, 4.041e-3, 5.96e-2), (16, 1.0, 7.667e-4, 1.287e-3, 0.119)],
)
def test_published_figures_of_the_class_of_randomized_response(n, epsilon, exact, normal, error):
    known = LossClass.of((n * lp.PureDP(0.1)).loss_law())
    assert (n * lp.PureDP(0.1)).delta(epsilon).value == pytest.approx(exact, rel=1e-3)
    about = loss_class.normal_delta(known, epsilon)
    assert isinstance(about, Approximation)
    assert about.value == pytest.approx(normal, rel=1e-3)
    above = loss_class.berry_esseen_delta(known, epsilon).value
    assert above - about.value == pytest.approx(error, rel=5e-3)


def third_of(release):
    return loss_class.third(release.loss_law().terms[0][0])


def is_just_above(bound, truth):
    assert truth * (1 - 1e-12) <= bound <= truth * (1 + 1e-4)


@pytest.mark.parametrize("scale", [1e-20, 1e-6, 1e-3, 1.0, 30.0])
def test_third_moments_of_normal_losses(scale):
    is_just_above(third_of(lp.Gaussian(1 / scale)), math.sqrt(8 / math.pi) * scale**3)


def test_third_moments_of_atoms():
    for one, other in random_pairs(30, seed=8):
        p, q = one / one.sum(), other / other.sum()
        x = np.log(p / q)
        is_just_above(third_of(lp.Discrete(list(p), list(q))), p @ np.abs(x - p @ x) ** 3)


def test_third_moments_are_those_of_the_finite_part():
    t = 0.7
    up = 1 / (1 + math.exp(-t))
    truth = 4 * t**3 * 2 * (up * (1 - up) ** 3 + (1 - up) * up**3)
    is_just_above(third_of(lp.ApproximateDP(t, 0.2)), truth)


@pytest.mark.parametrize("t", [0.01, 0.5, 5.0])
def test_third_moments_of_laplace_losses(t):
    """Two atoms and the density e^{(x - t)/2} / 4 between them."""
    with mpmath.workdps(30):
        mean = t - 1 + mpmath.exp(-t)
        inside = mpmath.quad(lambda x: abs(x - mean) ** 3 * mpmath.exp((x - t) / 2) / 4, [-t, mean, t])
        truth = inside + abs(t - mean) ** 3 / 2 + abs(t + mean) ** 3 * mpmath.exp(-t) / 2
    is_just_above(third_of(lp.Laplace(1 / t)), float(truth))


@pytest.mark.parametrize(("rate", "sigma"), [(0.01, 4.0), (0.3, 0.7)])
@pytest.mark.parametrize("reflected", [False, True])
def test_third_moments_of_sampled_losses(rate, sigma, reflected):
    law = lp.Gaussian(sigma).poisson(rate).loss_law().terms[0][0]
    x = np.linspace(-14, 14 + 1 / sigma, 400_001) * sigma
    p, q = (1 - rate) * norm.pdf(x, 0, sigma) + rate * norm.pdf(x, 1, sigma), norm.pdf(x, 0, sigma)
    under, loss = (q, np.log(q / p)) if reflected else (p, np.log(p / q))
    mean = np.trapezoid(under * loss, x)
    is_just_above(
        loss_class.third(law.reflected() if reflected else law), float(np.trapezoid(under * np.abs(loss - mean) ** 3, x))
    )


def test_third_moments_that_do_not_exist():
    assert third_of(cauchy()) >= 0


def test_third_moments_of_losses_that_are_all_but_nothing():
    """Nearly normal, of deviation rate / sigma; the quick bound is sqrt(3) times its cube."""
    tiny = 1e-4 / 40
    assert tiny**3 * math.sqrt(8 / math.pi) <= third_of(lp.Gaussian(40.0).poisson(1e-4)) <= 1.74 * tiny**3


def test_many_losses_are_bounded_quickly():
    many = lp.compose([lp.Laplace(1 + k / 10) for k in range(20)])
    exact = math.fsum(loss_class.third(law) for law, _ in many.loss_law().terms)
    assert exact <= LossClass.of(many.loss_law()).third <= 1.1 * exact


def test_the_theorem_by_its_formula():
    """[PLC] Theorem 6, its terms by scipy."""
    release, n, epsilon = 400 * lp.ApproximateDP(0.1, 1e-5), 400, 8.0
    (known,) = loss_class.classes(release)
    up = 1 / (1 + math.exp(-0.1))
    mu, s = 0.1 * (2 * up - 1), 0.2 * math.sqrt(up * (1 - up))
    gamma = up * (0.1 - mu) ** 3 + (1 - up) * (0.1 + mu) ** 3
    mass = 1 - (1 - 1e-5) ** n
    z = (epsilon - n * mu) / (math.sqrt(n) * s)
    lifted = math.exp(epsilon - n * mu + n * s * s / 2) * norm.sf(z + math.sqrt(n) * s)
    middle = mass + (1 - mass) * (norm.sf(z) - lifted)
    errors = [(1 - mass) * c * gamma / (s**3 * math.sqrt(n)) for c in (0.4748, 25.80 / (1 + z**3))]
    for of, error in zip((loss_class.berry_esseen_delta, loss_class.nagaev_delta), errors, strict=True):
        assert of(known, epsilon).value == pytest.approx(middle + error, rel=1e-4)
    assert loss_class.class_delta(known, epsilon).value == pytest.approx(middle + min(errors), rel=1e-4)
    assert loss_class.class_delta(known, epsilon, Side.LOWER).value == max(mass * (1 - 1e-9), known.infinite_mass.lower)


def test_markov_bounds_far_away():
    release = lp.Gaussian(1.0)
    assert markov.delta(release, 1.7e308).value == pytest.approx(0, abs=1e-200)
    assert markov.delta(release, -1.7e308).value == 1
    assert markov.delta(release, 1.0, points=[1.7e308, -1.7e308]).value >= release.delta(1.0).lower


def test_published_figures_of_sampled_gradients():
    """[PLC] Figure 7, left, at epsilon 2."""
    known = loss_class.classes(65536 * lp.Gaussian(4.0).poisson(0.01))
    assert max(float(loss_class.nagaev_delta(one, 2.0)) for one in known) == pytest.approx(0.00861, abs=5e-6)
    assert max(float(loss_class.berry_esseen_delta(one, 2.0)) for one in known) == pytest.approx(0.00375, abs=5e-6)


def test_a_bound_of_the_inner_distribution_becomes_one_of_the_whole():
    release = 30 * lp.ApproximateDP(0.2, 1e-3)
    inner = (30 * lp.PureDP(0.2)).delta(1.0)
    whole = loss_class.whole_delta(inner, release.loss.infinite_mass)
    assert whole.side is Side.UPPER
    assert whole.value == pytest.approx(release.delta(1.0).value, rel=1e-8)
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="inner"):
            loss_class.whole_delta(wrong, release.loss.infinite_mass)
    with pytest.raises(TypeError, match="approximation"):
        untyped(loss_class.whole_delta)(GUESS, release.loss.infinite_mass)
    with pytest.raises(ValueError, match="infinite_mass"):
        loss_class.whole_delta(0.5, -0.1)
    # an upper end may be rounded beyond one
    assert loss_class.whole_delta(0.5, 1.000000000000001).value == 1
    assert loss_class.whole_delta(0.5, lp.Bound(0.1, 0.2, 0.3)).value == pytest.approx(0.65)


def test_a_class_needs_both_ends():
    ones = lp.Bound(1, 1, 1)
    for wrong in (GUESS, 1.0, claim.Claim(0.5, Side.UPPER, "x", "y")):
        with pytest.raises(TypeError, match="variance must be a Bound"):
            untyped(LossClass)(ones, wrong, lp.Bound(0, 0, 0), 1.0)


def test_the_third_moment_of_tiny_losses_is_above_zero():
    """Where doubles hold the variance and not its power 3/2."""
    for law in [law for law, _ in lp.PureDP(1e-100).poisson(1e-9).loss_law().terms]:
        assert loss_class.third(law) >= 1e-300
    assert loss_class.third(lp.ApproximateDP(0.0, 0.5).loss_law().terms[0][0]) == 0


def test_the_class_without_variance():
    nothing = LossClass.of((0 * lp.Gaussian(1.0)).loss_law())
    assert loss_class.berry_esseen_delta(nothing, 0.5).value == 1
    assert loss_class.normal_delta(nothing, 0.5).value == 0
    assert loss_class.berry_esseen_epsilon(nothing, 0.5).value == math.inf
