"""Random allocation between two pairs: by quadrature of few batches, listed outcomes, simulation, and its own rules."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import logphi as lp
from directions import DIRECTIONS
from logphi.answers.status import Status
from logphi.grid.mean_power import Draws
from logphi.grid.ratio_cells import RatioCells
from logphi.pairs.allocated import allocated_between


def call(strike, width, batches):
    """E(Y_1 + .. + Y_t - k)_+ of Laplace ratios, one after another by Gauss-Legendre panels over the noise."""
    if batches == 1:
        inside = np.clip(strike, math.exp(-width), math.exp(width))
        # the profile of one release, and the line mean - k below all ratios
        return 1 - np.sqrt(inside) * math.exp(-width / 2) + np.maximum(inside - strike, 0)
    ends = np.linspace(0, width, 129)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    noise = ((ends[1:] + ends[:-1])[:, None] + np.diff(ends)[:, None] * nodes).ravel() / 2
    mass = (np.diff(ends)[:, None] * weights / 2).ravel() * np.exp(-noise) / 2
    ratio = np.exp(2 * noise - width)
    total = 0.5 * call(strike - math.exp(-width), width, batches - 1)
    total = total + math.exp(-width) / 2 * call(strike - math.exp(width), width, batches - 1)
    return total + (mass * call(np.asarray(strike)[..., None] - ratio, width, batches - 1)).sum(axis=-1)


def call_of_two(strike, width):
    """E(Y_1 + Y_2 - k)_+ by one integral between its kinks, to fifteen digits."""
    low, high = mpmath.exp(-width), mpmath.exp(width)

    def one(k):
        return 1 - k if k <= low else mpmath.mpf(0) if k >= high else 1 - mpmath.sqrt(k) * mpmath.exp(-mpmath.mpf(width) / 2)

    kinks = [(mpmath.log(strike - end) + width) / 2 for end in (low, high) if strike > end]
    ends = [0, *sorted(x for x in kinks if 0 < x < width), width]
    rest = mpmath.quad(lambda x: mpmath.exp(-x) / 2 * one(strike - mpmath.exp(2 * x - width)), ends)
    return one(strike - low) / 2 + low / 2 * one(strike - high) + rest


@pytest.mark.few(1)
@pytest.mark.parametrize("width", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("batches", [2, 3])
def test_few_batches_are_an_integral(width, batches):
    release = lp.Laplace(scale=1, sensitivity=width).allocation(batches)
    # panels that hold a kink are known to six digits
    by, error = (call_of_two, 1e-13) if batches == 2 else (lambda k, w: call(np.array(k), w, 3), 3e-6)
    for share in (0.15, 0.5, 0.85):
        epsilon = share * width
        removed, below = (float(by(batches * math.exp(one), width)) / batches for one in (epsilon, -epsilon))
        added = math.exp(epsilon) * (below + math.exp(-epsilon) - 1)
        for direction, value in zip(DIRECTIONS, (removed, added), strict=True):
            bound = release.delta(epsilon, direction=direction)
            assert bound.lower - error * value <= value <= bound.upper + error * value
            assert bound.width <= (1e-5 if width <= 1 else 2e-4) * value


@pytest.mark.few(1)
@pytest.mark.parametrize(("width", "batches", "epsilon"), [(1.0, 40, 0.2), (2.0, 150, 0.3), (0.2, 25, 0.05)])
def test_many_batches_agree_with_a_simulation(width, batches, epsilon):
    random = np.random.default_rng(11)
    noise = random.laplace(size=(20_000, batches))
    mean = np.exp(np.abs(noise) - np.abs(noise - width)).mean(axis=1)
    release = lp.Laplace(scale=1, sensitivity=width).allocation(batches)
    removed, added = np.maximum(mean - math.exp(epsilon), 0), np.maximum(1 - math.exp(epsilon) * mean, 0)
    for direction, sample in zip(DIRECTIONS, (removed, added), strict=True):
        bound = release.delta(epsilon, direction=direction)
        assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)


@pytest.mark.slow
def test_ten_thousand_batches_are_nearly_normal_and_agree_with_a_simulation():
    release, random = lp.Laplace(scale=1).allocation(10_000), np.random.default_rng(5)
    noise = random.laplace(size=(4000, 10_000))
    mean = np.exp(np.abs(noise) - np.abs(noise - 1)).mean(axis=1)
    sample = np.maximum(mean - math.exp(0.01), 0)
    bound = release.delta(0.01, direction="remove")
    assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)
    assert bound.width <= 1e-4 * bound.value


def binomial(probability, batches, epsilon, direction):
    """By the number of batches that tell the rarer answer, all weights in logarithms."""
    total, ratio = 0.0, probability / (1 - probability)
    for k in range(batches + 1):
        ways = math.lgamma(batches + 1) - math.lgamma(k + 1) - math.lgamma(batches - k + 1)
        alone = math.exp(ways + k * math.log(1 - probability) + (batches - k) * math.log(probability))
        mean = (k * ratio + (batches - k) / ratio) / batches
        total += alone * max(0.0, mean - math.exp(epsilon) if direction == "remove" else 1 - math.exp(epsilon) * mean)
    return total


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_outcomes_in_thousands_of_batches_are_a_binomial_sum(direction):
    release = lp.Discrete([0.75, 0.25], [0.25, 0.75]).allocation(5000)
    for epsilon in (0.01, 0.06):
        bound, value = release.delta(epsilon, direction=direction), binomial(0.75, 5000, epsilon, direction)
        assert bound.lower - 1e-10 * value <= value <= bound.upper + 1e-10 * value
        assert bound.width <= 1e-6 * value


def test_a_bracket_holds_what_is_known_exactly():
    pair = lp.Discrete([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])
    known = pair.allocation(20)
    below, above = (lp.Discrete(one.p, one.q) for one in allocated_between(pair.pair(), 20))
    for epsilon in (0.0, 0.1, 0.3):
        for direction in ("remove", "add"):
            middle = known.delta(epsilon, direction=direction)
            assert below.delta(epsilon, direction=direction).lower <= middle.upper
            assert middle.lower <= above.delta(epsilon, direction=direction).upper


@pytest.mark.parametrize(("outcomes", "cells"), [(3, 60), (7, 900), (500, 40), (5000, 200)])
def test_lattice_laws_are_above_and_below(outcomes, cells):
    random = np.random.default_rng(outcomes)
    places, masses = np.sort(random.exponential(size=outcomes)), random.dirichlet(np.ones(outcomes))
    law = RatioCells.of_atoms(places, masses, cells)
    strikes = np.linspace(0, places[-1], 400)[:, None]
    above, own, below = (
        (weights * np.maximum(at - strikes, 0)).sum(axis=1)
        for at, weights in ((law.nodes, law.above()), (places, masses), (law.nodes, law.below()))
    )
    assert (below <= own + 1e-14).all()
    assert (own <= above + 1e-14).all()
    for weights in (law.above(), law.below()):
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1, rel=1e-13)
        assert (weights * law.nodes).sum() == pytest.approx((masses * places).sum(), rel=1e-13)


def test_a_sum_of_draws_is_sharp_far_from_its_mean():
    draws = Draws(np.array([0.75, 0.25]))
    total = draws.sum_of(400, 1 << 12)
    sums = total.first + np.arange(total.weights.size)
    for k in (60, 100, 150, 190):
        exact = math.comb(400, k) * 0.25**k * 0.75 ** (400 - k)
        assert total.weights[sums == k][0] == pytest.approx(exact, rel=total.error)


@pytest.mark.slow
def test_it_composes_and_stays_a_bracket():
    epoch = lp.Laplace(scale=1).allocation(12)
    three = 3 * epoch + lp.Gaussian(sigma=5)
    bound = three.epsilon(1e-6)
    assert bound.status is Status.BRACKET
    assert epoch.epsilon(1e-6).upper < bound.lower <= bound.upper <= bound.lower * 1.0001
    assert (3 * lp.Laplace(scale=1)).epsilon(1e-6).lower > (3 * epoch).epsilon(1e-6).upper


@pytest.mark.slow
def test_more_batches_cost_less():
    deltas = [lp.Laplace(scale=1).allocation(t).delta(0.3) for t in (1, 2, 5, 20)]
    assert all(one.lower > other.upper for one, other in pairwise(deltas))


@pytest.mark.slow
def test_no_more_than_one_release_is_promised():
    release = lp.Laplace(scale=1).allocation(12)
    assert release.max_divergence().upper <= 1 + 1e-6
    assert release.renyi(2.0).upper < lp.Laplace(scale=1).renyi(2.0).lower
    assert release.zcdp().upper <= 0.5 * (1 + 1e-6)


def test_text_and_json_read_back():
    release = 2 * lp.Laplace(scale=2.0).allocation(300)
    assert lp.parse(str(release)) == release
    assert lp.from_json(release.to_json()) == release


@pytest.mark.parametrize(
    ("make", "needles"),
    [
        (lambda: lp.Laplace(scale=1).allocation(100).group(2), ("group of 2", "randomly allocated batches")),
        (lambda: lp.Laplace(scale=1).allocation(100).loss_law(), ("between two bounds",)),
    ],
)
def test_what_is_not_known_is_refused_in_words(make, needles):
    with pytest.raises((ValueError, TypeError)) as refusal:
        make()
    assert all(needle in str(refusal.value) for needle in needles)


def test_a_law_below_stays_below_next_to_a_tiny_mass():
    """Masses of 1e-15 beside ones of a half, whose roundings are as large: exactly, at every node."""
    places = np.array([0.5, 1.0003, 1.0005, 1.0007, 2.0])
    masses = np.array([0.3, 0.4, 1e-15, 0.2, 0.1])
    cells = RatioCells.of_atoms(places, masses, 4096)
    below = [(Fraction(x), Fraction(w)) for x, w in zip(cells.nodes.tolist(), cells.below().tolist(), strict=True) if w]
    atoms = [(Fraction(x), Fraction(w)) for x, w in zip(places.tolist(), masses.tolist(), strict=True)]
    for node in cells.nodes[1:-1:7].tolist() + cells.nodes[1600:1700].tolist():
        a = Fraction(node)
        low, truth = (sum(w * max(x - a, Fraction(0)) for x, w in law) for law in (below, atoms))
        assert low <= truth * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(("rare", "batches"), [(1e-20, 20), (1e-12, 30)])
def test_the_largest_loss_is_held_where_its_probability_is_below_every_double(rare, batches):
    release = lp.Discrete([1 - rare, rare], [1 - 3 * rare, 3 * rare]).allocation(batches)
    bound = release.epsilon(0, direction="add")
    # all batches tell the rare answer with probability (3 rare)^t under Q
    assert bound.lower <= math.log(3) <= bound.upper
    assert bound.upper <= math.log(3) * (1 + 1e-9)


def test_the_largest_loss_of_many_ratios_is_held_too():
    p, q = [3e-29, 0.5, 0.4, 0.1], [1e-29, 0.2, 0.2, 0.6]
    bound = lp.Discrete(p, q).allocation(20).epsilon(0, direction="remove")
    assert bound.lower <= math.log(3) <= bound.upper


@pytest.mark.parametrize("rare", [1e-10, 1e-13, 7e-17])
def test_an_end_that_is_rarer_than_the_digits_of_what_lies_next_to_it_is_not_overestimated(rare):
    # the ratios one half, of probability ``rare``, and another in the same cell
    q = [rare, 0.3, 0.3, 0.4 - rare]
    p = [0.5 * rare, 0.50002 * 0.3, 0.27]
    p.append(1 - sum(p))
    exact_p, exact_q = ([Fraction(x) / sum(map(Fraction, one)) for x in one] for one in (p, q))
    epsilon = math.log(2) - 3e-6
    a = Fraction(math.exp(epsilon))
    ratios = [x / y for x, y in zip(exact_p, exact_q, strict=True)]
    law = list(zip(ratios, exact_q, strict=True))
    truth = sum(v * w * max(Fraction(0), 1 - a * (x + y) / 2) for x, v in law for y, w in law)
    below, _ = allocated_between(lp.Discrete(p, q).pair(), 2)
    assert lp.Discrete(p, q).pair().ratios(1 << 13).cells.held[0] == pytest.approx(rare)
    attack = sum(max(Fraction(w) - a * Fraction(v), Fraction(0)) for v, w in zip(below.p, below.q, strict=True))
    assert attack <= truth * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_several_releases_with_many_outcomes_are_enumerated(direction):
    rng = np.random.default_rng(4)
    (p, q), (r, s) = (tuple(rng.dirichlet(np.full(size, 20.0)) for _ in range(2)) for size in (65, 67))
    release = (lp.Discrete(p.tolist(), q.tolist()) + lp.Discrete(r.tolist(), s.tolist())).allocation(2)
    with_it, without = np.outer(p, r).ravel(), np.outer(q, s).ravel()
    bound, exact = release.delta(0.2, direction=direction), 0.0
    for a, b in zip(with_it, without, strict=True):
        mixed, alone = (a * without + b * with_it) / 2, b * without
        one, other = (mixed, alone) if direction == "remove" else (alone, mixed)
        exact += float(np.maximum(one - math.exp(0.2) * other, 0).sum())
    assert bound.lower - 1e-12 <= exact <= bound.upper + 1e-12
    assert bound.width <= 5e-3 * exact


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_laplace_releases_in_the_same_batch_agree_with_a_simulation(direction):
    random, batches = np.random.default_rng(6), 20
    noise = random.laplace(size=(100_000, batches, 2)) * np.array([1.0, 2.0])
    ratio = np.exp(((np.abs(noise) - np.abs(noise - 1)) / np.array([1.0, 2.0])).sum(axis=2)).mean(axis=1)
    sample = np.maximum(ratio - math.exp(0.2), 0) if direction == "remove" else np.maximum(1 - math.exp(0.2) * ratio, 0)
    bound = (lp.Laplace(scale=1) + lp.Laplace(scale=2)).allocation(batches).delta(0.2, direction=direction)
    assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size)
    assert bound.width <= 1e-4 * bound.value


@pytest.mark.slow
def test_kept_batches_of_laplace_noise_are_one_allocation():
    kept = lp.Laplace(scale=2).allocation(30, epochs=2)
    assert kept == (2 * lp.Laplace(scale=2)).allocation(30)
    assert (2 * lp.Laplace(scale=2).allocation(30)).delta(0.3).upper < kept.delta(0.3).lower


def two_normal(shift, strike):
    """E(Y_1 + Y_2 - k)_+ for two lognormal ratios of mean one, by one integral over the first."""
    m, k = mpmath.mpf(shift), mpmath.mpf(strike)

    def one(k):
        if k <= 0:
            return 1 - k
        d = m / 2 - mpmath.log(k) / m
        return mpmath.ncdf(d) - k * mpmath.ncdf(d - m)

    # under the law that Y_1 biases, its logarithm has mean m^2/2: both halves of Y_1 + Y_2 count alike
    kink = (mpmath.log(k) + m * m / 2) / m
    ends = [-9, *sorted(x for x in (kink - 6 / m, kink, 0, m) if -9 < x < m + 9), m + 9]
    return mpmath.quad(lambda x: mpmath.npdf(x) * one(k - mpmath.exp(m * x - m * m / 2)), ends)


@pytest.mark.parametrize("epsilon", [40, 70])
def test_two_batches_with_hardly_any_noise_are_an_integral(epsilon):
    release = lp.Gaussian(Fraction(1, 10)).allocation(2)
    value = float(two_normal(10, 2 * mpmath.exp(epsilon))) / 2
    bound = release.delta(epsilon, direction="remove")
    assert bound.status is Status.BRACKET
    assert bound.lower <= value * (1 + 1e-12)
    assert value <= bound.upper * (1 + 1e-12)
    assert bound.width <= 2e-2 * value


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_two_batches_with_large_losses_are_an_integral(share):
    width = 10
    bound = lp.Laplace(Fraction(1, width)).allocation(2).delta(share * width, direction="remove")
    value = float(call_of_two(2 * mpmath.exp(share * width), width) / 2)
    assert bound.lower <= value * (1 + 1e-12)
    assert value <= bound.upper * (1 + 1e-12)
    assert bound.width <= 1e-2 * value


def normal_ratio(x):
    return np.exp(10 * x - 50)


def laplace_ratio(x):
    return np.exp(np.abs(x) - np.abs(x - 10))


@pytest.mark.parametrize(
    ("base", "noise", "ratio", "epsilon"),
    [(lp.Gaussian(0.1), "normal", normal_ratio, 45.0), (lp.Laplace(0.1), "laplace", laplace_ratio, 3.5)],
    ids=["normal", "Laplace"],
)
def test_many_batches_with_hardly_any_noise_agree_with_a_simulation(base, noise, ratio, epsilon):
    random, batches = np.random.default_rng(8), 100
    draw = getattr(random, noise)
    total = ratio(draw(size=(10_000, batches - 1))).sum(axis=1) + ratio(10 + draw(size=10_000))
    sample = np.maximum(1 - math.exp(epsilon) * batches / total, 0)
    bound = base.allocation(batches).delta(epsilon, direction="remove")
    assert abs(sample.mean() - bound.value) <= 5 * sample.std() / math.sqrt(sample.size) + bound.width
    assert bound.width <= 2e-2 * bound.value


def test_what_has_no_ratio_on_nodes_lies_between_one_batch_and_no_amplification():
    base = lp.GaussianPair(0, 1, 0.5, 1.2) + lp.Laplace(1)
    release = base.allocation(9)
    bound = release.delta(0.1)
    assert bound.status is Status.BRACKET
    assert bound.lower == base.poisson(Fraction(1, 9)).delta(0.1).lower
    assert bound.upper == base.delta(0.1).upper
    assert bound.proofs is not None
    assert "without amplification" in bound.proofs[1]


def test_ratios_next_to_zero_keep_their_size():
    """Two batches, outcome by outcome: of two rare outcomes one is so much rarer that thresholds lie between them."""
    p, q = (1e-41, 1e-21, 1.0), (0.1, 0.1, 0.8)
    bounds = lp.Discrete(p=p, q=q).allocation(2)
    for epsilon in (10.0, 30.0, 45.0, 60.0, 90.0):
        with mpmath.workdps(80):
            law_p, law_q = ([mpmath.mpf(x) / sum(map(mpmath.mpf, side)) for x in side] for side in (p, q))
            outcomes = [(a, b) for a in range(3) for b in range(3)]
            mean = [(law_p[a] * law_q[b] + law_q[a] * law_p[b]) / 2 for a, b in outcomes]
            exact = sum(
                max(law_q[a] * law_q[b] - mpmath.exp(epsilon) * one, 0) for (a, b), one in zip(outcomes, mean, strict=True)
            )
            found = bounds.delta(epsilon, direction="add")
            assert found.lower <= exact * (1 + mpmath.mpf(2) ** -50), epsilon
            assert exact * (1 - mpmath.mpf(2) ** -50) <= found.upper <= exact * (1 + 1e-6), epsilon
    cells = RatioCells.of_atoms(np.array([1e-40, 1e-20, 1.0]), np.array([0.1, 0.1, 0.8]), 1024)
    assert cells.held[0] == 0.1


def test_an_outcome_that_hardly_ever_happens_is_answered():
    """A smallest loss next to zero calls for steep tilts, under which others are more steps away than doubles count."""
    never = 6.085309678864888e-25
    bound = lp.Discrete(p=(0.0, 1.0), q=(never, 1.0)).allocation(2).delta(0.0, direction="remove")
    assert bound.lower <= never <= bound.upper <= 1e-12
