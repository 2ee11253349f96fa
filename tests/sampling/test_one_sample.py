"""Several releases on one Poisson sample, against enumeration and quadrature of the mixed laws."""

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, mpf, ncdf

import logphi as lp
from directions import DIRECTIONS
from exact import contains, dec
from logphi.algebra.one_sample import is_resolved, variance_of
from logphi.answers.status import Status
from refusals import refused

PROBABILITIES = st.floats(0.05, 0.95)
EPSILONS = st.integers(-1500, 2500).map(lambda thousandths: thousandths / 1000)


def sampled_profile(p, q, rate, epsilon, direction):
    """Of (1 - rate) Q + rate P and Q, from the cells of P and Q."""
    factor, rate = exp(dec(epsilon)), dec(rate)
    total = mpf(0)
    for a, b in zip(p, q, strict=True):
        mixed = (1 - rate) * b + rate * a
        first, second = (mixed, b) if direction == "remove" else (b, mixed)
        total += max(first - factor * second, 0)
    return total


def product(*pairs):
    """All cells of independent draws from pairs of vectors."""
    drawn = list(itertools.product(*(list(zip(p, q, strict=True)) for p, q in pairs)))
    return [mpmath.fprod(a for a, _ in cells) for cells in drawn], [mpmath.fprod(b for _, b in cells) for cells in drawn]


def response(p):
    return [dec(p), 1 - dec(p)], [1 - dec(p), dec(p)]


def test_thirty_gaussians_on_one_sample_are_not_thirty_samples():
    one, thirty = (30 * lp.Gaussian(5)).poisson(0.01), 30 * lp.Gaussian(5).poisson(0.01)
    assert float(one.epsilon(1e-8)) == pytest.approx(1.180, abs=1e-3)
    assert float(thirty.epsilon(1e-8)) == pytest.approx(0.0537, abs=1e-4)


def test_gradients_and_the_clipped_count_on_one_batch():
    step = (lp.Gaussian(1.1) + lp.Gaussian(1.1)).poisson(0.05)
    assert float((1000 * step).epsilon(1e-5)) == pytest.approx(18.76, abs=1e-2)


@given(st.lists(st.tuples(st.floats(0.3, 20), st.floats(0.1, 3), st.integers(1, 40)), min_size=1, max_size=4), EPSILONS)
@settings(max_examples=40)
def test_shifts_on_one_sample_add_in_squares(gaussians, epsilon):
    base = lp.compose([count * lp.Gaussian(sigma, sensitivity) for sigma, sensitivity, count in gaussians])
    sampled = base.poisson(0.2)
    with mpmath.workdps(40):
        shift = mpmath.sqrt(sum(count * (dec(size) / dec(sigma)) ** 2 for sigma, size, count in gaussians))
        threshold = mpf(1) if epsilon <= mpmath.log(mpf(4) / 5) else None
        if threshold is None:
            # where the mixed density is e^epsilon times the other: e^{shift x - shift^2/2} = 1 + (e^epsilon - 1)/rate
            x = mpmath.log(1 + (exp(dec(epsilon)) - 1) * 5) / shift + shift / 2
            above, moved = ncdf(-x), ncdf(shift - x)
            exact = (mpf(4) * above + moved) / 5 - exp(dec(epsilon)) * above
        else:
            exact = 1 - exp(dec(epsilon))
        assert contains(sampled.delta(epsilon, direction="remove"), exact)


@given(st.lists(PROBABILITIES, min_size=1, max_size=5), st.floats(0.01, 0.99), EPSILONS)
@settings(max_examples=40)
def test_responses_on_one_sample_are_a_product(probabilities, rate, epsilon):
    sampled = lp.compose([lp.RandomizedResponse(p) for p in probabilities]).poisson(rate)
    with mpmath.workdps(40):
        cells = product(*map(response, probabilities))
        for direction in DIRECTIONS:
            assert contains(
                sampled.delta(epsilon, direction=direction), sampled_profile(cells[0], cells[1], rate, epsilon, direction)
            )


@pytest.mark.parametrize("epsilon", [-0.4, 0.0, 0.3, 1.1])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_products_compose(epsilon, direction):
    """Two samples, each of three equal responses and a mechanism with infinite losses in both orders."""
    p, q = [0.5, 0.25, 0.25, 0.0], [0.25, 0.5, 0.0, 0.25]
    sampled = (3 * lp.RandomizedResponse(0.625) + lp.Discrete(p, q)).poisson(0.25)
    with mpmath.workdps(40):
        one_p, one_q = product(*3 * [response(0.625)], ([dec(a) for a in p], [dec(b) for b in q]))
        mixed = [(3 * b + a) / 4 for a, b in zip(one_p, one_q, strict=True)]
        first, second = product((mixed, one_q), (mixed, one_q))
        first, second = (first, second) if direction == "remove" else (second, first)
        exact = mpmath.fsum(max(a - exp(dec(epsilon)) * b, 0) for a, b in zip(first, second, strict=True))
    answer = (2 * sampled).delta(epsilon, direction=direction)
    assert contains(answer, exact)
    assert answer.width <= 1e-9


def test_many_equal_responses_are_counted():
    sampled = (200 * lp.RandomizedResponse(0.52)).poisson(0.1)
    with mpmath.workdps(60):
        p = [mpmath.binomial(200, k) * dec(0.52) ** k * (1 - dec(0.52)) ** (200 - k) for k in range(201)]
        exact = sampled_profile(p, p[::-1], 0.1, 0.05, "remove")
        assert contains(sampled.delta(0.05, direction="remove"), exact)
    assert sampled.delta(0.05).width <= 1e-12


def test_a_lattice_with_omitted_mass_keeps_it():
    pair: Any = (2 * lp.DiscreteLaplace(scale=1)).pair()
    single: Any = lp.DiscreteLaplace(scale=1).pair()
    assert len(pair.p) > len(single.p)
    assert pair.omitted_mass == 2 * single.omitted_mass


def turns(b, rate, factor, ratio, direction):
    """Where (1 - rate) Q + rate P and Q change order between 0 and 1, P and Q Laplace and ``ratio`` that of the response."""
    # p/q is ratio e^{(2x - 1)/b} there
    threshold = 1 + (factor ** (1 if direction == "remove" else -1) - 1) / rate
    x = (1 + b * mpmath.log(threshold / ratio)) / 2 if threshold > 0 else mpf(-1)
    return [x] if 0 < x < 1 else []


@pytest.mark.parametrize("epsilon", [-0.2, 0.05, 0.4, 0.9])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_kinds_on_one_sample_are_answered_once(epsilon, direction):
    rate, b, p = 0.3, mpf(2), dec(0.7)
    sampled = (lp.Laplace(2) + lp.RandomizedResponse(0.7)).poisson(rate)
    with mpmath.workdps(25):

        def part(x, a):
            """Of the cell that P has with probability a."""
            moved, still = (exp(-abs(x - at) / b) / (2 * b) for at in (1, 0))
            return sampled_profile([a * moved], [(1 - a) * still], rate, epsilon, direction)

        exact = mpf(0)
        for a in (p, 1 - p):
            edges = [0, *turns(b, dec(rate), exp(dec(epsilon)), a / (1 - a), direction), 1]
            inside = mpmath.quad(lambda x, a=a: part(x, a), edges)
            # outside, the ratio is that of the edge
            exact += inside + b * (part(mpf(0), a) + part(mpf(1), a))
        answer = sampled.delta(epsilon, direction=direction)
        assert contains(answer, exact)
        assert answer.width <= 1e-9


@pytest.mark.slow
@given(st.floats(1e-6, 0.2), st.sampled_from(["remove", "add"]))
@settings(max_examples=8)
def test_epsilon_of_a_single_release_inverts_its_delta(delta, direction):
    sampled = (3 * lp.Laplace(2) + lp.Gaussian(2) + lp.ApproximateDP(0.5, 1e-7)).poisson(0.2)
    found = sampled.epsilon(delta, direction=direction)
    assert sampled.delta(found.upper, direction=direction).lower <= delta
    if found.lower > 0:
        assert sampled.delta(found.lower, direction=direction).upper >= delta


def test_a_sample_of_a_sample_has_the_product_of_the_rates():
    assert lp.Gaussian(1).poisson(0.1).poisson(0.1) == lp.Gaussian(1).poisson(Fraction(1, 100))
    assert lp.Laplace(1).poisson(0.5).poisson(0.5).poisson(1) == lp.Laplace(1).poisson(0.25)
    assert lp.Gaussian(1).poisson(0.1).poisson(0.1).certify(delta=1e-3, digits=6).parameters != "mixed"


def test_only_a_formula_is_refused():
    once = (lp.Laplace(2) + lp.Gaussian(2)).poisson(0.2)
    refused(ValueError, (2 * once).log_phi, "no formula")


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rate"), [(1000, 0.01), (40, 0.1)])
def test_samples_of_a_composition_compose(count, rate):
    """Gradients, and a count that hardly tells anything: above the gradients alone, and below them with a little less noise."""
    step = (lp.Gaussian(2) + lp.Laplace(500)).poisson(rate)
    for direction in DIRECTIONS:
        found = (count * step).epsilon(1e-6, direction=direction)
        least, most = ((count * lp.Gaussian(s).poisson(rate)).epsilon(1e-6, direction=direction) for s in (2, 1.99))
        assert least.lower <= found.upper
        assert found.lower <= most.upper
        assert found.width <= 1e-6


@pytest.mark.slow
def test_many_samples_of_a_composition_have_a_profile():
    step = (lp.Gaussian(2) + lp.Laplace(500)).poisson(0.01)
    found = (1000 * step).delta(0.5, direction="remove")
    least, most = ((1000 * lp.Gaussian(s).poisson(0.01)).delta(0.5, direction="remove") for s in (2, 1.99))
    assert least.lower <= found.lower
    assert found.upper <= most.upper
    assert found.width <= 1e-9 * found.value


def test_a_sample_of_one_kind_is_the_same_whichever_way_it_is_known():
    """The Renyi divergence of order 3 of a response beside a Gaussian, which is a sum of moments."""
    once = (lp.RandomizedResponse(0.75) + lp.Gaussian(2)).poisson(0.25)
    with mpmath.workdps(30):
        q = mpf("0.25")
        response = {
            k: sum(a**k * b ** (1 - k) for a, b in ((mpf("0.75"), mpf("0.25")), (mpf("0.25"), mpf("0.75")))) for k in range(4)
        }
        terms = [mpmath.binomial(3, k) * (1 - q) ** (3 - k) * q**k * response[k] * exp(mpf(k * (k - 1)) / 8) for k in range(4)]
        exact = mpmath.log(mpmath.fsum(terms)) / 2
        assert contains(once.renyi(3, direction="remove"), exact)


def test_one_sample_leaks_more_than_one_for_each():
    assert lp.dominates((2 * lp.Gaussian(1)).poisson(0.1), lp.Gaussian(1).poisson(0.1)).proved


def test_groups_are_not_sampled_twice():
    group = lp.Gaussian(1).poisson(0.1, group_size=3)
    refused(ValueError, lambda: group.poisson(0.5), "group of 3 records", "outer sample")
    refused(ValueError, lambda: (group + lp.Gaussian(2)).poisson(0.5), "group of 3 records")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_a_group_on_one_sample_sees_all_releases(epsilon):
    group = (3 * lp.Gaussian(2) + lp.Gaussian(2)).poisson(0.1, group_size=2)
    with mpmath.workdps(30):
        # none, one or both of the records are drawn: shifts 0, 1 and 2
        weights = [dec(0.9) ** 2, 2 * dec(0.1) * dec(0.9), dec(0.1) ** 2]

        def ratio(x):
            return mpmath.fsum(w * exp(k * x - mpf(k * k) / 2) for k, w in enumerate(weights))

        x = mpmath.findroot(lambda x: ratio(x) - exp(dec(epsilon)), epsilon + 1)
        exact = mpmath.fsum(w * ncdf(k - x) for k, w in enumerate(weights)) - exp(dec(epsilon)) * ncdf(-x)
        assert contains(group.delta(epsilon, direction="remove"), exact)


def test_text_of_a_sampled_composition_is_read_back():
    from logphi.expression import parse

    sampled = (2 * lp.Gaussian(sigma=3) + lp.Laplace(scale=2)).poisson(0.1)
    assert repr(sampled) == "(2 * Gaussian(sigma=3.0) + Laplace(scale=2.0)).poisson(0.1)"
    assert parse(repr(sampled)) == sampled


def listed(sizes: tuple[int, int], seed: int) -> tuple[lp.Mechanism, np.ndarray, np.ndarray]:
    """Two finite mechanisms whose joint outcomes are many, and the probabilities of these."""
    rng = np.random.default_rng(seed)
    drawn = [tuple(rng.dirichlet(np.full(size, 3.0)) for _ in range(2)) for size in sizes]
    (p, q), (r, s) = drawn
    release = lp.Discrete(p.tolist(), q.tolist()) + lp.Discrete(r.tolist(), s.tolist())
    return release, np.outer(p, r).ravel(), np.outer(q, s).ravel()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_two_samples_of_many_outcomes_are_enumerated(direction):
    release, p, q = listed((65, 67), 2)
    rate = 0.25
    mixed = (1 - rate) * q + rate * p
    bound = (2 * release.poisson(rate)).delta(0.3, direction=direction)
    one, other = (mixed, q) if direction == "remove" else (q, mixed)
    exact = math.fsum(float(np.maximum(one * a - math.exp(0.3) * other * b, 0).sum()) for a, b in zip(one, other, strict=True))
    assert bound.lower - 1e-12 <= exact <= bound.upper + 1e-12
    assert bound.status is Status.BRACKET
    assert bound.width <= 2e-3 * exact


@mpmath.workdps(40)
def test_what_only_data_without_the_record_show_is_a_loss_of_the_sample():
    rate, delta = 0.0074, 0.1
    once = (lp.ApproximateDP(epsilon=0.1, delta=delta) + lp.Laplace(scale=5)).poisson(rate)
    largest = -mpmath.log1p(-dec(rate))
    assert contains(once.max_divergence(direction="add"), largest)
    # above the other losses, log(1 - q + q e^-0.3) at most, there is nothing else
    for share in (0.5, 0.9):
        epsilon = float(share * largest)
        bound = once.delta(epsilon, direction="add")
        assert contains(bound, dec(delta) * (1 - exp(mpf(epsilon)) * (1 - dec(rate))))
        assert bound.width <= 1e-9 * bound.value
    assert once.epsilon(1e-9, direction="add").lower > 0.0074
    assert contains((2 * once).max_divergence(direction="add"), 2 * largest)


@mpmath.workdps(40)
@pytest.mark.parametrize("epsilon", [0.0074, 0.007, 0.001, 0.0, -0.3])
def test_many_guarantees_on_one_sample_are_those_of_an_enumeration(epsilon):
    rate, count, guarantee = 0.00744, 30, lp.ApproximateDP(epsilon=0.445, delta=0.6)
    likely, kept = 1 / (1 + exp(-dec(0.445))), (1 - dec(0.6)) ** count
    chances = [kept * mpmath.binomial(count, k) * likely**k * (1 - likely) ** (count - k) for k in range(count + 1)]
    # what only P, and what only Q, can give
    p, q = [*chances, 1 - kept, mpf(0)], [*reversed(chances), mpf(0), 1 - kept]
    for direction in DIRECTIONS:
        bound = (count * guarantee).poisson(rate).delta(epsilon, direction=direction)
        exact = sampled_profile(p, q, rate, epsilon, direction)
        assert contains(bound, exact)
        assert bound.width <= 1e-8 * exact


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_samples_without_much_noise_agree_with_a_simulation(direction):
    random, rate, count = np.random.default_rng(11), 0.1, 20
    # under Q the noise is around 0
    x, y = random.laplace(size=(200_000, count)), random.standard_normal((200_000, count))
    ratio = (1 - rate + rate * np.exp(np.abs(x) - np.abs(x - 1) + y - 0.5)).prod(axis=1)
    sample = np.maximum(ratio - math.exp(0.5), 0) if direction == "remove" else np.maximum(1 - math.exp(0.5) * ratio, 0)
    bound = (count * (lp.Laplace(scale=1) + lp.Gaussian(sigma=1)).poisson(rate)).delta(0.5, direction=direction)
    assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)
    assert bound.width <= 2e-4 * bound.value


@pytest.mark.slow
def test_symmetric_bases_have_the_same_subsets_as_samples():
    parts = [(lp.Laplace(scale=1, adjacency=one) + lp.Laplace(scale=2, adjacency=one)) for one in ("replace", "add_remove")]
    subset = (30 * parts[0].subset(0.05, adjacency="add_remove")).epsilon(1e-5, direction="remove")
    sample = (30 * parts[1].poisson(0.05)).epsilon(1e-5, direction="remove")
    assert subset.upper == pytest.approx(sample.upper, rel=1e-9)
    assert subset.lower == pytest.approx(sample.lower, rel=1e-9)
    assert subset.width <= 1e-4


@pytest.mark.slow
def test_brackets_compose_with_other_releases():
    step = (lp.Laplace(scale=1) + lp.RandomizedResponse(p=0.7)).poisson(0.05)
    alone, more = 50 * step, 50 * step + lp.Gaussian(sigma=5)
    assert alone.epsilon(1e-5).upper < more.epsilon(1e-5).lower
    found = more.epsilon(1e-5)
    assert more.delta(found.upper).lower <= 1e-5 <= more.delta(found.lower).upper


@pytest.mark.parametrize(("sigma", "count", "sharp"), [(4, 1000, False), (2, 1000, True), (4, 10_000, True), (3, 1000, False)])
def test_samples_whose_transform_doubles_do_not_resolve_are_answered_by_a_bracket_at_once(sigma, count, sharp):
    once = (lp.Gaussian(sigma=sigma) + lp.Laplace(scale=5)).poisson(0.01)
    assert is_resolved(once.loss_law(), count, count * variance_of(once.loss_law())) is sharp
    # the variance of q (e^L - 1), up to its higher powers: E_Q e^{2L} of both releases
    square = math.exp(sigma**-2) * (2 * math.exp(0.2) + math.exp(-0.4)) / 3 - 1
    assert variance_of(once.loss_law()) == pytest.approx(1e-4 * square, rel=0.02)


@pytest.mark.parametrize(("sigma", "count", "known"), [(1.7, 50, False), (1.7, 3000, False), (3, 50, True)])
def test_samples_whose_transform_has_no_known_decay_are_answered_by_a_bracket_at_once(sigma, count, known):
    once = (lp.Gaussian(sigma=sigma) + lp.Laplace(scale=1)).poisson(5 / count)
    assert is_resolved(once.loss_law(), count, count * variance_of(once.loss_law())) is known
