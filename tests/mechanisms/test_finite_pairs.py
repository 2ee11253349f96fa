"""Mechanisms with countably many outcomes against their definitions, summed outcome by outcome."""

import math
from functools import reduce
from typing import Any

import mpmath
import pytest
from mpmath import exp, mpf

import logphi as lp
from exact import contains, dec
from profiles import gaussian_profile
from slowly import slowly

DIGITS = 60
# what the interface promises of delta, and of epsilon in units of max(1, epsilon)
SHARP = 1e-9
# what half an ulp of sigma and of epsilon is felt as near 1e-300
FAR = 1e-8


def convolve(one, other):
    product: dict[Any, tuple[mpf, mpf]] = {}
    for (i, j), (p, q) in one.items():
        for (k, m), (r, s) in other.items():
            if p * r == q * s == 0:
                continue
            old = product.get((i + k, j + m), (mpf(0), mpf(0)))
            product[i + k, j + m] = (old[0] + p * r, old[1] + q * s)
    return product


def profile(cells, n, eps, direction="remove"):
    """The hockey-stick sum over all outcomes of n releases; cells with one key are alike, and keys add."""
    total = reduce(convolve, [cells] * n)
    reflected = direction == "add"
    found = mpmath.fsum(max(mpf(0), (q - exp(eps) * p) if reflected else (p - exp(eps) * q)) for p, q in total.values())
    return min(found, mpf(1))


def reports(k, p, relation):
    """All k reports, none merged; the key counts what the loss depends on."""
    truth, other = 1 - p + p / k, p / k
    if relation == "replace":
        cells = {(1, 0): (truth, other), (-1, 0): (other, truth)}
        return cells | ({(0, 0): ((k - 2) * other, (k - 2) * other)} if k > 2 else {})
    return {(1, 0): (truth, mpf(1) / k), (0, 1): ((k - 1) * other, mpf(k - 1) / k)}


REPORTS = [(2, 0.5), (3, 0.9), (10, 0.25), (100, 0.999), (10**6, 0.01)]


@pytest.mark.few(2)
@pytest.mark.parametrize(("k", "p"), REPORTS)
@pytest.mark.parametrize("relation", ["replace", "replace_special"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_reports_equal_the_sum_over_outcomes(k, p, relation, n):
    release = n * lp.KaryRandomizedResponse(k=k, p=p, adjacency=relation)
    with mpmath.workdps(DIGITS):
        cells = reports(k, dec(p), relation)
        for epsilon in (-20.0, -0.7, 0.0, 0.1, 1.3, 5.0, 20.0):
            exact = {one: profile(cells, n, dec(epsilon), one) for one in ("remove", "add")}
            for one, value in exact.items():
                bound = release.delta(epsilon, direction=one)
                assert contains(bound, value), (epsilon, one)
                if bound.method != "trivial" and value > 1e-3:
                    assert bound.width <= SHARP * value, (epsilon, one, bound.method)
            both = release.delta(epsilon)
            assert contains(both, max(exact.values()))
            if relation == "replace":
                assert both.direction is lp.Direction.BOTH


def test_orders_of_a_special_value_differ():
    release = 5 * lp.KaryRandomizedResponse(k=10, p=0.5, adjacency="replace_special")
    remove, add = (release.delta(1.0, direction=one) for one in ("remove", "add"))
    assert remove.lower > add.upper
    assert release.delta(1.0).direction is lp.Direction.REMOVE


def test_the_largest_loss_of_a_report_is_epsilon_of_zero():
    with mpmath.workdps(DIGITS):
        top = mpmath.log1p(10 * (1 - dec(0.25)) / dec(0.25))
        assert contains(lp.KaryRandomizedResponse(k=10, p=0.25).epsilon(0), top)
        remove = mpmath.log(10 - 9 * dec(0.25))
        add = -mpmath.log(dec(0.25))
        special = lp.KaryRandomizedResponse(k=10, p=0.25, adjacency="replace_special")
        assert contains(special.epsilon(0, direction="remove"), remove)
        assert contains(special.epsilon(0, direction="add"), add)


@pytest.mark.parametrize("p", [math.nextafter(1, 0), 1 - 1e-13, 1e-299])
@pytest.mark.parametrize("relation", ["replace", "replace_special"])
def test_reports_that_tell_next_to_nothing_or_nearly_all(p, relation):
    release = 4 * lp.KaryRandomizedResponse(k=3, p=p, adjacency=relation)
    with mpmath.workdps(400):
        # 1 - p of a double next to one: half an ulp of p is most of it, so the double itself is asked about
        cells = reports(3, mpf(p), relation)
        for epsilon in (0.0, 1.0, 600.0):
            for one in ("remove", "add"):
                assert contains(release.delta(epsilon, direction=one), profile(cells, 4, mpf(epsilon), one)), (epsilon, one)


def noisy(weight, shift, reach, loss):
    """Noise of probabilities proportional to ``weight``, moved by an integer, point by point up to ``reach``."""
    weights = {x: weight(x) for x in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())
    cells: dict[Any, tuple[mpf, mpf]] = {}
    for x in range(-reach, reach + shift + 1):
        p, q = weights.get(x - shift, mpf(0)) / total, weights.get(x, mpf(0)) / total
        key = loss(x) if p and q else (0, math.inf if p else -math.inf)
        old = cells.get(key, (mpf(0), mpf(0)))
        cells[key] = (old[0] + p, old[1] + q)
    return cells


def geometric(scale, s):
    # as far as e^-130
    return noisy(lambda x: exp(-abs(x) / dec(scale)), s, math.ceil(130 * scale) + s, lambda x: (abs(x) - abs(x - s), 0))


def sampled(cells, rate):
    """The pair of a sample; sums of the new keys tell any selection of fewer than a thousand cells."""
    pairs = [(rate * p + (1 - rate) * q, q) for p, q in cells.values()]
    return {(1000**i, 0): pair for i, pair in enumerate(pairs)}


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "s", "n"), [(2.0, 1, 7), (0.3, 1, 3), (2.5, 3, 1), (2.5, 3, 6), (10.0, 7, 2), (0.5, 20, 2)])
def test_geometric_noise_equals_the_sum_over_outcomes(scale, s, n):
    release = n * lp.DiscreteLaplace(scale=scale, sensitivity=s)
    top = n * s / scale
    with mpmath.workdps(DIGITS):
        cells = geometric(scale, s)
        for share in (-1.1, -0.5, -0.01, 0.0, 0.013, 0.3, 0.5, 0.97, 1.01):
            exact = profile(cells, n, dec(share * top))
            for method in (None, "lattice", "discretized"):
                bound = release.delta(share * top, method=method)
                # what was left of the tails
                assert mpf(bound.lower) - mpf("1e-50") <= exact <= mpf(bound.upper) + mpf("1e-50"), (share, method)
                if method is None and exact > 1e-40:
                    assert bound.width <= SHARP * exact, share


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("scale", "s", "n"), [(3.0, 1, 4), (1.5, 4, 2), (4.0, 30, 1)])
def test_sampled_geometric_noise_equals_the_sum_over_outcomes(scale, s, n, direction):
    release = n * lp.DiscreteLaplace(scale=scale, sensitivity=s).poisson(0.25)
    with mpmath.workdps(DIGITS):
        cells = sampled(geometric(scale, s), mpf(1) / 4)
        for epsilon in (-0.4, 0.0, 0.1, 0.6, 1.5):
            exact = profile(cells, n, dec(epsilon), direction)
            bound = release.delta(epsilon, direction=direction)
            assert mpf(bound.lower) - mpf("1e-50") <= exact <= mpf(bound.upper) + mpf("1e-50"), epsilon


def test_steep_geometric_noise_cannot_be_sampled():
    with pytest.raises(ValueError, match=r"above 600 cannot be sampled, got 1000\.0"):
        lp.DiscreteLaplace(scale=0.01, sensitivity=10).poisson(0.1)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_much_weak_geometric_noise_is_nearly_normal(epsilon):
    n, scale = 10**8, 1e4
    bound = (n * lp.DiscreteLaplace(scale=scale, sensitivity=2)).delta(epsilon)
    assert bound.width <= SHARP * bound.value
    # two atoms at 2e-4 and -2e-4 hold nearly all mass, 1e8 of them a variance of 4
    assert bound.value == pytest.approx(lp.Gaussian(sigma=0.5).delta(epsilon).value, rel=1e-3)


def normal(sigma, s, truncation=None):
    # as far as e^-140
    reach = math.ceil(17 * sigma) + s if truncation is None else truncation
    return noisy(lambda x: exp(-x * x / (2 * dec(sigma) ** 2)), s, reach, lambda x: (2 * x - s, 0))


def infinite(cells):
    """Without ends nothing is lost: what the cut of the sum has left is put aside."""
    return {key: pair for key, pair in cells.items() if math.isfinite(key[1])}


NORMAL = [(0.1, 1, 1), (0.3, 1, 3), (0.99, 2, 2), (1.7, 3, 2), (30.0, 4, 1)]
WIDE = slowly((1.0, 1, 6), (6.0, 5, 2))


@pytest.mark.few(2)
@pytest.mark.parametrize(("sigma", "s", "n"), NORMAL + WIDE)
def test_normal_noise_equals_the_sum_over_outcomes(sigma, s, n):
    release = n * lp.DiscreteGaussian(sigma=sigma, sensitivity=s)
    mean, spread = n * s * s / (2 * sigma**2), math.sqrt(n) * s / sigma
    with mpmath.workdps(DIGITS):
        cells = infinite(normal(sigma, s))
        span = s / sigma**2
        for epsilon in (
            mean - 3 * spread,
            -mean,
            -0.1,
            0.0,
            mean / 3,
            mean,
            mean + 2 * spread,
            span * (3 - n * s / 2),
            mean + 9 * spread,
        ):
            exact = profile(cells, n, dec(epsilon))
            for method in (None, "lattice"):
                bound = release.delta(epsilon, method=method)
                assert mpf(bound.lower) - mpf("1e-50") <= exact <= mpf(bound.upper) + mpf("1e-50"), (epsilon, method)
                # on an atom, half an ulp of sigma and of epsilon decides how much of it pays
                on_atom = abs(epsilon / span + n * s / 2 - round(epsilon / span + n * s / 2)) < 1e-6
                if exact > 1e-35 and not on_atom and sigma > 0.2:
                    assert bound.width <= SHARP * exact, (epsilon, bound.method)


@pytest.mark.few(3)
@pytest.mark.parametrize(("sigma", "s"), [(0.5, 1), (3.0, 1), (3.0, 7), (200.0, 30)])
@pytest.mark.parametrize("standard", [5.1, 20.3, 36.1])
def test_normal_noise_far_out(sigma, s, standard):
    """One release, to the edge of the doubles and beyond: the sum from the first outcome that pays."""
    epsilon = s * s / (2 * sigma**2) + standard * s / sigma
    bound = lp.DiscreteGaussian(sigma=sigma, sensitivity=s).log_delta(epsilon)
    with mpmath.workdps(DIGITS):
        twice = 2 * dec(sigma) ** 2
        whole = mpmath.fsum(exp(-x * x / twice) for x in range(-math.ceil(17 * sigma), math.ceil(17 * sigma) + 1))
        first = math.ceil(dec(epsilon) * twice / (2 * s) + mpf(s) / 2)
        x = range(first, first + math.ceil(12 * sigma) + 9)
        exact = mpmath.fsum(exp(-((y - s) ** 2) / twice) - exp(dec(epsilon) - y * y / twice) for y in x) / whole
        assert contains(bound, mpmath.log(exact))
        # atoms several nats apart leave the contour little to converge with
        if sigma > 0.7:
            assert bound.width <= (SHARP if standard < 30 else FAR)


@pytest.mark.parametrize(
    ("sigma", "s", "truncation", "n"),
    [(2.0, 1, 10, 3), (2.0, 3, 2, 4), (5.0, 4, 2, 3), *slowly((0.5, 1, 30, 2)), (8.0, 2, 60, 1), (1.0, 2, 1, 2)],
)
def test_truncated_normal_noise_equals_the_sum_over_outcomes(sigma, s, truncation, n):
    release = n * lp.DiscreteGaussian(sigma=sigma, sensitivity=s, truncation=truncation)
    with mpmath.workdps(DIGITS):
        cells = normal(sigma, s, truncation)
        top = n * (2 * truncation - s) * s / (2 * sigma**2)
        for epsilon in (-1.01 * top, -0.5, 0.0, 0.03 * top, 0.2 * top, 0.7 * top, 0.99 * top, 1.01 * top + 0.1):
            exact = profile(cells, n, dec(epsilon))
            bound = release.delta(epsilon)
            assert contains(bound, exact), epsilon
            if exact > 1e-250:
                assert bound.width <= SHARP * exact, (epsilon, bound.method)


@pytest.mark.few(1)
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("sigma", "s", "truncation", "n"),
    [(1.0, 1, None, 2), (0.4, 2, None, 1), (5.0, 3, None, 1), (2.0, 1, 6, 1), (1.0, 1, 200, 1), (2.0, 3, 2, 3)],
)
def test_sampled_normal_noise_equals_the_sum_over_outcomes(sigma, s, truncation, n, direction):
    release = n * lp.DiscreteGaussian(sigma=sigma, sensitivity=s, truncation=truncation).poisson(0.25)
    with mpmath.workdps(DIGITS):
        short = None if truncation == 200 else truncation
        cells = sampled(normal(sigma, s, short) if short else infinite(normal(sigma, s)), mpf(1) / 4)
        for epsilon in (-0.2, 0.0, 0.1, 0.6, 1.5, 4.0):
            exact = profile(cells, n, dec(epsilon), direction)
            bound = release.delta(epsilon, direction=direction)
            assert mpf(bound.lower) - mpf("1e-50") <= exact <= mpf(bound.upper) + mpf("1e-50"), epsilon
            if n == 1:
                assert bound.width <= SHARP * exact + 1e-50, (epsilon, bound.method)


def test_what_normal_noise_without_ends_may_lose():
    assert lp.DiscreteGaussian(sigma=2).epsilon(0).lower == math.inf
    assert lp.DiscreteGaussian(sigma=2, truncation=50).epsilon(0).lower == math.inf
    assert (3 * lp.DiscreteGaussian(sigma=2)).epsilon(1e-300).width < 1e-8
    far = lp.DiscreteGaussian(sigma=2).poisson(0.5).delta(60.0, direction="remove")
    assert 0 <= far.lower < far.upper < 1e-250


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_wide_normal_noise_is_nearly_that_of_the_line(epsilon):
    bound = (10**8 * lp.DiscreteGaussian(sigma=1e4)).delta(epsilon)
    assert bound.width <= SHARP * bound.value
    assert bound.value == pytest.approx(lp.Gaussian(sigma=1).delta(epsilon).value, rel=1e-6)


@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_normal_noise_composes_with_that_of_the_line(sigma):
    release = lp.DiscreteGaussian(sigma=sigma, sensitivity=3) + lp.Gaussian(sigma=2)
    with mpmath.workdps(30):
        line = gaussian_profile(mpf(1) / 2)
        cells = infinite(normal(sigma, 3))
        for epsilon in (0.0, 1.3, 6.0):
            exact = mpmath.fsum(p * line(dec(epsilon) - mpmath.log(p / q)) for p, q in cells.values())
            assert contains(release.delta(epsilon), exact)


def test_refusals_of_normal_noise():
    for sigma in (0.05, 1e7):
        with pytest.raises(ValueError, match=r"sigma must be 0 or lie between 0\.1 and 1e\+06"):
            lp.DiscreteGaussian(sigma=sigma)
    with pytest.raises(ValueError, match=r"truncation must leave outcomes of probability 1e-06 in common, got 1 with"):
        lp.DiscreteGaussian(sigma=0.1, sensitivity=2, truncation=1)
    for base in (lp.DiscreteGaussian(sigma=300), lp.DiscreteGaussian(sigma=1, sensitivity=11)):
        with pytest.raises(ValueError, match="is sampled with sigma up to 250 and sensitivity up to 10 sigma"):
            base.poisson(0.1)


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [0.01, 0.4, 1.0])
def test_lattices_that_do_not_fit_keep_the_truth(epsilon):
    """Wide or not: discrete noises of different widths, with ends, and one beside a binary response."""
    one, two = (lp.DiscreteGaussian(sigma=sigma, truncation=most) for sigma, most in ((5, 20), (7, 30)))
    with mpmath.workdps(30):
        cells = {(k, 0): pair for (k, _), pair in infinite(normal(5, 1, 20)).items()}
        other = {(0, k): pair for (k, _), pair in infinite(normal(7, 1, 30)).items()}
        both = convolve(convolve(cells, cells), other)
        lost = 1 - mpmath.fsum(p for p, _ in both.values())
        exact = lost + mpmath.fsum(max(mpf(0), p - exp(dec(epsilon)) * q) for p, q in both.values())
        assert contains((2 * one + two).delta(epsilon), exact)
        response = {(0, 1): (dec(0.6), 1 - dec(0.6)), (0, -1): (1 - dec(0.6), dec(0.6))}
        exact = profile(convolve(infinite(normal(5, 1)), response), 1, dec(epsilon))
        assert contains((lp.DiscreteGaussian(sigma=5) + lp.RandomizedResponse(p=0.6)).delta(epsilon), exact)


@pytest.mark.parametrize(("sigma", "s", "cut"), [(2.0, 1, 6), (7.0, 3, 40), (0.8, 2, 5)])
@pytest.mark.parametrize("share", [-0.9, -0.3, 0.0, 0.41, 0.97])
def test_one_release_of_a_truncated_discrete_gaussian_is_summed_exactly(sigma, s, cut, share):
    release = lp.DiscreteGaussian(sigma, s, cut)
    epsilon = share * release.loss_law().support.upper
    bound = release.delta(epsilon)
    with mpmath.workdps(40):
        weight = [
            mpmath.exp(-(mpf(x) ** 2) / (2 * dec(sigma) ** 2)) if abs(x) <= cut else mpf(0) for x in range(-cut, cut + s + 1)
        ]
        moved = [mpf(0)] * s + weight[: len(weight) - s]
        exact = mpmath.fsum(max(p - mpmath.exp(dec(epsilon)) * q, 0) for p, q in zip(moved, weight, strict=True))
        assert contains(bound, exact / mpmath.fsum(weight))
    assert bound.width <= 1e-12 * bound.value


@pytest.mark.slow
def test_many_atoms_off_any_lattice_are_answered_in_large_compositions():
    """Too many to enumerate: the threshold is smoothed; the routes that discretize agree."""
    release = 1000 * lp.DiscreteGaussian(sigma=5, sensitivity=2).poisson(0.1)
    smoothed, lattices = release.delta(1.0), (30 * lp.Discrete([0.1, 0.2, 0.3, 0.15, 0.25], [0.2, 0.15, 0.25, 0.3, 0.1]))
    assert smoothed.method == "smoothed"
    assert smoothed.width <= 1e-6 * smoothed.value
    one, other = lattices.delta(2.0, method="smoothed"), lattices.delta(2.0, method="discretized")
    assert max(one.lower, other.lower) <= min(one.upper, other.upper)


@pytest.mark.parametrize("rare", ["1e-10", "1e-13", "3e-12"])
@pytest.mark.parametrize("below", [0.5, 0.01, 1e-4])
def test_nearly_all_of_one_law_is_out_of_reach_of_the_other(rare, below):
    # 1 - 0.9999999999 is a difference of doubles with few digits; the cell itself has all of them
    with mpmath.workdps(DIGITS):
        q = mpf(rare)
        release = lp.Discrete(p=[1.0, 0.0], q=[float(rare), float(1 - q)])
        epsilon = float(-mpmath.log(q) - below)
        found = release.delta(epsilon, direction="remove")
        exact = 1 - exp(dec(epsilon)) * q
        assert contains(found, exact)
        assert found.upper - found.lower <= 2e-13


def test_a_profile_that_ends_where_q_has_nothing_left():
    # the Q-mass on the only vertex is below every double's last digit of one
    with mpmath.workdps(DIGITS):
        release = lp.FromProfile(epsilons=[85.0], deltas=[5e-38], adjacency="remove")
        slope = (1 - mpf("5e-38")) / exp(mpf(85))
        assert contains(release.delta(84.0), 1 - slope * exp(mpf(84)))
        assert contains(release.delta(177.0), mpf("5e-38"))
