"""Shuffled batches: the bracket, its published figures, and the attack by quadrature and simulation."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import logphi as lp


def above(threshold, mean, sigma, batches):
    """P(the largest of the outputs is above the threshold), one of them with the mean."""
    inside = mpmath.ncdf((threshold - mean) / sigma) * mpmath.ncdf(threshold / sigma) ** (batches - 1)
    return 1 - inside


def attained(epsilon, sigma, batches):
    """The best threshold on a fine grid, in 40 digits: a lower bound of the attack by the largest output."""
    with mpmath.workdps(40):
        factor = mpmath.exp(epsilon)
        grid = [mpmath.mpf(k) / 200 for k in range(200, 1400)]
        return max(above(c, 2, sigma, batches) - factor * above(c, 1, sigma, batches) for c in grid)


@pytest.mark.slow
def test_the_published_figures():
    release = lp.Gaussian(sigma=0.4).shuffled(10_000)
    delta, epsilon = release.delta(4), release.epsilon(1e-6)
    assert delta.lower >= 0.22605549
    assert delta.upper == pytest.approx(0.24381990, abs=1e-8)
    assert epsilon.lower >= 14.4507685
    assert epsilon.upper == pytest.approx(14.4507770, abs=1e-7)
    assert delta.status is epsilon.status is lp.Status.BRACKET
    assert float(delta) == delta.upper
    other = lp.Gaussian(sigma=1.1).shuffled(234).epsilon(1e-5)
    assert other.lower >= 2.9807835 - 1e-6
    assert other.upper == pytest.approx(3.9212503, abs=1e-6)


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "batches", "epsilon"), [(0.4, 10_000, 4.0), (1.1, 234, 1.0), (0.7, 20, 2.0)])
def test_the_lower_end_is_that_of_the_best_threshold(sigma, batches, epsilon):
    best = attained(epsilon, mpmath.mpf(str(sigma)), batches)
    lower = lp.Gaussian(sigma=sigma).shuffled(batches).delta(epsilon).lower
    assert lower == pytest.approx(float(best), rel=1e-4)
    # a threshold of the grid attains it; cells may know a better one, by less than the grid is coarse
    assert lower >= float(best) * (1 - 1e-5)


def test_the_attack_by_simulation():
    rng = np.random.default_rng(11)
    sigma, batches, size = 0.7, 20, 200_000
    largest = []
    for shift in (2, 1):
        outputs = sigma * rng.standard_normal((size, batches))
        outputs[:, 0] += shift
        largest.append(outputs.max(axis=1))
    threshold = 2.6
    seen = (largest[0] > threshold).mean() - math.e * (largest[1] > threshold).mean()
    error = 5 * (1 + math.e) / math.sqrt(size)
    assert seen <= lp.Gaussian(sigma=sigma).shuffled(batches).delta(1.0).lower + error


def test_epochs_compose_the_attack():
    """Two epochs leak at least as one, at most two releases; the attack on both is no smaller than on one."""
    one, two = (lp.Gaussian(sigma=0.7).shuffled(20, epochs=n) for n in (1, 2))
    assert two == 2 * one
    lower = two.delta(2.0).lower
    assert one.delta(2.0).lower <= lower <= (2 * lp.Gaussian(sigma=0.7)).delta(2.0).upper == two.delta(2.0).upper
    # likelier of both thresholds is passed twice: a product of two events, by hand
    with mpmath.workdps(30):
        p, q = (above(mpmath.mpf("2.4"), mean, mpmath.mpf("0.7"), 20) for mean in (2, 1))
        assert lower >= float(p * p - mpmath.exp(2) * q * q)


def test_responses_are_attacked_on_one_batch():
    """A batch without the record gives the second vector; all in exact fractions but for the exponential."""
    epsilon, batches = 0.01, 5
    p = Fraction(3, 4)
    mixed = [p / batches + (1 - p) * (batches - 1) / batches, (1 - p) / batches + p * (batches - 1) / batches]
    removed = sum(max(float(a) - math.exp(epsilon) * float(b), 0.0) for a, b in zip(mixed, [1 - p, p], strict=True))
    added = sum(max(float(b) - math.exp(epsilon) * float(a), 0.0) for a, b in zip(mixed, [1 - p, p], strict=True))
    for adjacency in ("add_remove", "replace"):
        found = lp.RandomizedResponse(p=0.75, adjacency=adjacency).shuffled(batches).delta(epsilon)
        assert found.lower == pytest.approx(max(removed, added), rel=1e-12)
        assert found.upper == pytest.approx(0.75 - 0.25 * math.exp(epsilon), rel=1e-12)
        assert found.status is lp.Status.BRACKET


def test_laplace_noise_is_attacked_on_one_batch():
    """The excess of the mixture over its own pair by quadrature."""
    scale, batches, epsilon = 2.0, 4, 0.05
    release = 3 * lp.Laplace(scale=scale).shuffled(batches)
    with mpmath.workdps(30):

        def density(x, mean):
            return mpmath.exp(-abs(x - mean) / scale) / (2 * scale)

        def excess(x):
            mixed = density(x, 1) / batches + density(x, 0) * (batches - 1) / batches
            return max(mixed - mpmath.exp(epsilon) * density(x, 0), 0)

        crossing = 0.5 + scale * mpmath.log(1 + batches * mpmath.expm1(epsilon)) / 2
        alone = mpmath.quad(excess, [0, crossing, 1, 20, 80])
    assert lp.Laplace(scale=scale).shuffled(batches).delta(epsilon).lower == pytest.approx(float(alone), rel=1e-9)
    found = release.delta(epsilon)
    assert float(alone) < found.lower < found.upper == (3 * lp.Laplace(scale=scale)).delta(epsilon).upper
    assert lp.parse(str(release)) == release == lp.from_json(release.to_json())


def test_other_releases_compose_with_it():
    release = lp.Gaussian(sigma=1.1).shuffled(234, epochs=2) + lp.Laplace(scale=3)
    found = release.delta(1.0)
    assert found.status is lp.Status.BRACKET
    assert lp.Laplace(scale=3).delta(1.0).lower <= found.lower <= found.upper
    assert found.upper == (2 * lp.Gaussian(sigma=1.1) + lp.Laplace(scale=3)).delta(1.0).upper
    assert lp.parse(str(release)) == release == lp.from_json(release.to_json())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "question",
    ["hockey_stick(2.0)", "renyi(2)", "kl_divergence()", pytest.param("zcdp()", marks=pytest.mark.slow), "log_delta(1)"],
)
def test_what_grows_with_the_pair_is_bracketed(question):
    release: Any = lp.Gaussian(sigma=1.1).shuffled(50)
    ends = [eval(f"one.{question}", {"one": one}) for one in (release.attack, release, release.cover)]
    assert ends[0].lower == ends[1].lower <= ends[1].upper == ends[2].upper


@pytest.mark.slow
def test_a_trade_off_function_has_its_private_side_below():
    found = lp.Gaussian(sigma=1.1).shuffled(50).tradeoff([0.1, 0.2])
    assert (found.lower == lp.Gaussian(sigma=1.1).tradeoff([0.1, 0.2]).lower).all()
    assert (found.upper > found.lower).all()


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: m.loss.mean,
        lambda m: m.pdp_delta(1),
        lambda m: m.poisson(0.1),
        lambda m: m.certify(epsilon=1),
        lambda m: m.delta(1, method="contour"),
    ],
)
def test_what_is_not_known_is_refused_in_words(ask):
    with pytest.raises(ValueError, match=r"shuffled batches|bracket"):
        ask(lp.Gaussian(sigma=1.1).shuffled(50))


@pytest.mark.parametrize("epochs", [0, -1])
def test_an_epoch_at_least_is_shuffled(epochs):
    with pytest.raises(ValueError, match=f"epochs must .*{epochs}"):
        lp.Gaussian(sigma=1).shuffled(3, epochs=epochs)


def test_nothing_is_left_to_shuffle():
    one = lp.Gaussian(sigma=1)
    assert one.shuffled(1, epochs=3) == 3 * one
    assert one.fixed_order(50) == one
    assert lp.Gaussian(sigma=0).shuffled(7) == lp.Gaussian(sigma=0)


def test_an_answer_says_what_proves_each_end():
    release = lp.Gaussian(sigma=1).shuffled(20)
    bound = release.delta(1)
    attack, cover = bound.proofs or ("", "")
    assert "largest output" in attack
    assert "without amplification" in cover
    assert bound.to_dict()["proofs"] == {"lower": attack, "upper": cover}
    assert (1 - bound).proofs == release.tradeoff(0.1).proofs == (cover, attack)
    assert (2 * release + lp.Gaussian(sigma=3)).delta(1).proofs == release.risk.tpr(fpr=0.01).proofs == (attack, cover)
    assert "one batch" in lp.Laplace(scale=2).shuffled(5).delta([0.1])[0].proofs[0]
    text = str(release.explain(epsilon=1))
    assert f"lower    {attack}" in text
    assert f"upper    {cover}" in text
    assert lp.Gaussian(sigma=1).delta(1).proofs is None


def test_the_parts_of_a_composition_say_what_proves_their_ends():
    release = lp.Gaussian(sigma=1).shuffled(20) + lp.Laplace(scale=4).shuffled(20)
    below, above = release.delta(1).proofs or ("", "")
    assert "largest output" in below
    assert "one batch" in below
    assert above.count("without amplification") == 1
