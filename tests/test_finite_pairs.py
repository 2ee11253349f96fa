"""Mechanisms with countably many outcomes against their definitions, summed outcome by outcome."""

import math
from collections import Counter
from functools import reduce

import mpmath
import pytest
from mpmath import exp, mpf

import logphi as lp

DIGITS = 60
# what the interface promises of delta, and of epsilon in units of max(1, epsilon)
SHARP = 1e-9


def dec(number):
    return mpf(repr(float(number)))


def contains(bound, exact):
    return mpf(bound.lower) <= exact <= mpf(bound.upper)


def convolve(one, other):
    product = Counter()
    for (i, j), (p, q) in one.items():
        for (k, m), (r, s) in other.items():
            old = product.get((i + k, j + m), (mpf(0), mpf(0)))
            product[i + k, j + m] = (old[0] + p * r, old[1] + q * s)
    return product


def profile(cells, n, eps, direction="remove"):
    """The hockey-stick sum over all outcomes of n releases; cells with one key are alike, and keys add."""
    total = reduce(convolve, [cells] * n)
    turned = direction == "add"
    found = mpmath.fsum(max(mpf(0), (q - exp(eps) * p) if turned else (p - exp(eps) * q)) for p, q in total.values())
    return min(found, mpf(1))


def reports(k, p, relation):
    """All k reports, none merged; the key counts what the loss depends on."""
    truth, other = 1 - p + p / k, p / k
    if relation == "replace":
        cells = {(1, 0): (truth, other), (-1, 0): (other, truth)}
        return cells | ({(0, 0): ((k - 2) * other, (k - 2) * other)} if k > 2 else {})
    return {(1, 0): (truth, mpf(1) / k), (0, 1): ((k - 1) * other, mpf(k - 1) / k)}


REPORTS = [(2, 0.5), (3, 0.9), (10, 0.25), (100, 0.999), (10**6, 0.01)]


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
    """Noise of probabilities proportional to ``weight``, moved by a whole number, point by point up to ``reach``."""
    weights = {x: weight(x) for x in range(-reach, reach + 1)}
    total, cells = mpmath.fsum(weights.values()), {}
    for x in range(-reach, reach + shift + 1):
        p, q = weights.get(x - shift, mpf(0)) / total, weights.get(x, mpf(0)) / total
        key = loss(x) if p and q else (0, math.inf)
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
