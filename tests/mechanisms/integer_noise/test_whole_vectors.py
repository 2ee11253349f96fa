"""Noise on vectors of integers: against enumerations of all outcomes, and of all differences of queries."""

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import logphi as lp
from logphi.mechanisms.integer_noise.discrete_gaussian_shift import probabilities as sums_of_draws
from logphi.mechanisms.integer_noise.discrete_gaussian_sums import rounding_variance, shares_above, spread_of_sum
from logphi.mechanisms.integer_noise.shifts_of_sums import _log_theta, _shifted, rho_of_shifts
from logphi.mechanisms.integer_noise.skellam_shift import probabilities
from logphi.mechanisms.integer_noise.whole_vectors import WholeVectors
from refusals import refused, untyped
from some import some

# chosen: rounding of the enumerations in doubles
ROUNDING = 1e-10


def gaussian(sigma, parties=1):
    """Probabilities of the sum of draws from a discrete Gaussian, about the middle of the array."""
    reach = math.ceil(26 * sigma)
    one = np.exp(-((np.arange(-reach, reach + 1) / sigma) ** 2) / 2)
    found = one = one / one.sum()
    for _ in range(parties - 1):
        found = np.convolve(found, one)
    return found


def skellam(variance):
    reach = math.ceil(26 * math.sqrt(variance)) + 20
    return stats.skellam.pmf(np.arange(-reach, reach + 1), variance / 2, variance / 2)


def moved(noise: Any, shift: Any) -> tuple[Any, Any]:
    """The noise moved, and the noise, where both have digits."""
    whole = np.pad(noise, abs(shift))
    p, q = np.roll(whole, shift), whole
    kept = (p > 1e-200) & (q > 1e-200)
    return p[kept], q[kept]


def divergence(noise, difference, order):
    """Of independent coordinates: the sum."""
    total = 0.0
    for shift in difference:
        p, q = moved(noise, shift)
        total += math.log(math.fsum(np.exp(order * np.log(p) - (order - 1) * np.log(q)))) / (order - 1)
    return total


def joint(noise: Any, difference: Any) -> tuple[Any, Any]:
    p, q = np.ones(1), np.ones(1)
    for shift in difference:
        one, other = moved(noise, shift)
        use = (one > 1e-20) | (other > 1e-20)
        p, q = np.outer(p, one[use]).ravel(), np.outer(q, other[use]).ravel()
    return p, q


def profile(p, q, epsilon):
    return math.fsum(np.maximum(p - math.exp(epsilon) * q, 0))


def differences(square, dimension):
    """All differences of a norm, up to signs and the order of coordinates."""
    side = range(math.isqrt(square) + 1)
    for one in itertools.combinations_with_replacement(side, dimension):
        if 0 < sum(x * x for x in one) <= square:
            yield tuple(x for x in one if x)


@pytest.mark.parametrize(
    ("square", "total", "dimension"), [(1, None, 3), (5, None, 2), (6, 3, 3), (9, None, None), (30, 4, 3), (8, 1, 2)]
)
def test_bounds_of_differences(square, total, dimension):
    found = WholeVectors.of(math.sqrt(square), total, dimension)
    known = [one for one in differences(square, dimension or square) if total is None or sum(one) <= total]
    assert found.square >= max(sum(x * x for x in one) for one in known)
    assert found.sum >= max(map(sum, known))
    assert found.coordinates >= max(map(len, known))
    one = tuple(sorted(found.one_difference()))
    assert one in known
    assert sum(one) <= found.sum
    assert len(one) <= found.coordinates


def test_norms_are_whole_but_for_rounding():
    for square in range(1, 200):
        assert WholeVectors.of(math.sqrt(square), None, None).square == square
    assert WholeVectors.of(1.7, None, None).square == 2
    assert WholeVectors.of(3.0, 2.5, None) == WholeVectors(4, 2, 2)


@pytest.mark.parametrize("sigma", ["0.4", "0.5", "0.7", "1", "1.5"])
@pytest.mark.parametrize("parties", [2, 3, 5])
def test_sums_stay_within_their_spread(sigma, parties):
    """By convolution in sixty digits."""
    with mpmath.workdps(60):
        width = mpmath.mpf(sigma)
        reach = math.ceil(17 * float(width))

        def weights(variance, most):
            return [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * variance)) for x in range(-most, most + 1)]

        one = weights(width**2, reach)
        one = [x / mpmath.fsum(one) for x in one]
        summed = one
        for _ in range(parties - 1):
            longer = [mpmath.mpf(0)] * (len(summed) + 2 * reach)
            for (i, x), (j, y) in itertools.product(enumerate(summed), enumerate(one)):
                longer[i + j] += x * y
            summed = longer
        whole = weights(parties * width**2, len(summed) // 2)
        norm, middle = mpmath.fsum(whole), len(summed) // 2
        looked = range(middle - reach // 2, middle + reach // 2 + 1)
        logs = [mpmath.log(summed[x] * norm / whole[x]) for x in looked]
        spread = spread_of_sum(float(width), parties)
        assert max(logs) - min(logs) <= spread
        assert spread <= 3 * (max(logs) - min(logs))
    theirs = 10 * sum(math.exp(-2 * (math.pi * float(sigma)) ** 2 * k / (k + 1)) for k in range(1, parties))
    assert spread < theirs / 2


def test_little_is_known_of_many_narrow_draws():
    assert spread_of_sum(0.4, 1000) > 100
    # the noise of fewer parties is used
    few = lp.VectorDiscreteGaussian(0.5, parties=30)
    many = lp.VectorDiscreteGaussian(0.5, parties=1000)
    assert many.zcdp().upper <= few.zcdp().upper
    assert many.zcdp().upper <= lp.VectorDiscreteGaussian(0.5).zcdp().upper / 2
    assert spread_of_sum(1.0, 10**6) < 0.02


@pytest.mark.parametrize(("sigma", "parties"), [(0.5, 2), (0.5, 5), (0.7, 3), (1.0, 2), (1.0, 6), (0.4, 3)])
@pytest.mark.parametrize("difference", [(1,), (3,), (1, 1), (2, 1), (1, 1, 1)])
def test_divergences_of_sums(sigma, parties, difference):
    square, total = sum(x * x for x in difference), sum(difference)
    release = lp.VectorDiscreteGaussian(sigma, math.sqrt(square), total, parties, len(difference))
    t = 10 * sum(math.exp(-2 * (math.pi * sigma) ** 2 * k / (k + 1)) for k in range(1, parties))
    noise, variance, count = gaussian(sigma, parties), parties * sigma**2, len(difference)
    for order in (1.1, 2.0, 3.5, 8.0):
        found = release.renyi(order)
        assert divergence(noise, difference, order) <= found.upper * (1 + ROUNDING)
        # Kairouz, Liu & Steinke 2021, Proposition 14
        first = order / 2 * square / variance + t * count
        second = order / 2 * (square / variance + 2 * total * t / math.sqrt(variance) + t**2 * count)
        third = order / 2 * (math.sqrt(square / variance) + math.sqrt(count) * t) ** 2
        assert found.upper <= min(first, second, third) * (1 + ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "parties", "square"), [(2.5, 1, 2), (2.5, 1, 9), (3.0, 4, 5), (0.7, 4, 2), (0.7, 4, 9), (1.5, 2, 5)]
)
def test_profiles_contain_every_difference(sigma, parties, square):
    release = lp.VectorDiscreteGaussian(sigma, math.sqrt(square), parties=parties, dimension=2)
    noise = gaussian(sigma, parties)
    pairs = [joint(noise, one) for one in differences(square, 2)]
    for epsilon in (-0.5, 0.3, 1.5):
        truth = max(profile(p, q, epsilon) for p, q in pairs)
        found = release.delta(epsilon)
        assert found.lower * (1 - ROUNDING) - 1e-15 <= truth <= found.upper * (1 + ROUNDING)
    # not only by its rho
    assert release.delta(0.3).upper < lp.ZCDP(release.zcdp().upper).delta(0.3).upper * (1 + 1e-4)
    sampled = release.poisson(0.25).delta(0.3, direction="remove")
    truth = max(profile(0.75 * q + 0.25 * p, q, 0.3) for p, q in pairs)
    assert sampled.lower * (1 - ROUNDING) - 1e-15 <= truth <= sampled.upper * (1 + ROUNDING)


@pytest.mark.slow
def test_compositions_contain_several_differences():
    release = 2 * lp.VectorDiscreteGaussian(2.5, math.sqrt(2), dimension=2) + lp.RandomizedResponse(p=0.6)
    noise = gaussian(2.5)
    truths, found = [], release.delta(1.0)
    for one, other in itertools.product(((1,), (1, 1)), repeat=2):
        p, q = joint(noise, one + other)
        truths.append(profile(np.outer(p, [0.6, 0.4]).ravel(), np.outer(q, [0.4, 0.6]).ravel(), 1.0))
    assert max(truths) <= found.upper * (1 + ROUNDING)
    assert max(truths) == truths[-1] == pytest.approx(found.lower, rel=1e-9)


@pytest.mark.parametrize(("sigma", "parties", "shift"), [(1.0, 2, 1), (0.7, 3, 2), (1.5, 4, 5), (3.0, 9, 1), (2.0, 2, 40)])
def test_shares_above_half_of_a_shift(sigma, parties, shift):
    noise = gaussian(sigma, parties)
    x = np.arange(noise.size) - noise.size // 2
    high, low = some(shares_above(sigma, parties, shift))
    moved_share, share = noise[x + shift > shift / 2].sum(), noise[x > shift / 2].sum()
    assert 0.9 * moved_share <= high <= moved_share
    assert share <= low <= share + 0.1


def summed(sigma, parties):
    """Probabilities from 0 on, by convolution in forty digits."""
    with mpmath.workdps(40):
        reach = math.ceil(14 * float(sigma)) + 1
        one = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for x in range(-reach, reach + 1)]
        one = found = [x / mpmath.fsum(one) for x in one]
        for _ in range(parties - 1):
            padded = [mpmath.mpf(0)] * (2 * reach)
            padded = [*padded, *found, *padded]
            found = [mpmath.fdot(padded[i : i + 2 * reach + 1], one) for i in range(len(found) + 2 * reach)]
        return found[len(found) // 2 :]


@pytest.mark.parametrize(("sigma", "parties"), [("0.2", 4), ("0.3", 5), ("0.5", 7), ("1", 4), ("2.3", 3)])
def test_probabilities_of_sums(sigma, parties):
    found, error = some(sums_of_draws(Fraction(sigma), parties))
    truth = summed(sigma, parties)
    # farther out, the convolution lacks draws beyond its reach
    for x in range(min(len(found), math.ceil(10 * float(sigma) * parties**0.5))):
        assert abs(found[x] / truth[x] - 1) <= error
    assert error < 1e-11
    assert math.fsum([*found, *found[1:]]) == pytest.approx(1, rel=1e-12)


def test_sums_that_are_too_far_from_a_law_are_not_listed():
    assert sums_of_draws(Fraction("0.1"), 60) is None
    release = lp.VectorDiscreteGaussian(0.1, 1, parties=10**6)
    assert release.zcdp().upper == pytest.approx(50, rel=1e-6)


@pytest.mark.parametrize(("sigma", "parties", "most"), [(0.4, 3, 1), (0.7, 6, 2), (1.0, 6, 3), (3.0, 40, 10)])
def test_sums_in_one_coordinate_are_exact(sigma, parties, most):
    release, noise = lp.VectorDiscreteGaussian(sigma, most, parties=parties, dimension=1), gaussian(sigma, parties)
    for epsilon in (0.0, 0.4, 2.0):
        truths = [profile(*moved(noise, shift), epsilon) for shift in range(1, most + 1)]
        found = release.delta(epsilon)
        assert truths[-1] == max(truths)
        assert found.value == pytest.approx(truths[-1], rel=1e-8, abs=1e-14)
        assert found.width <= 1e-8 * found.value + 1e-300
    p, q = moved(noise, most)
    drawn = release.poisson(0.25)
    assert drawn.delta(0.2, direction="remove").value == pytest.approx(profile(0.75 * q + 0.25 * p, q, 0.2), rel=1e-8)
    twice = profile(np.outer(p, p).ravel(), np.outer(q, q).ravel(), 0.5)
    found = (2 * release).delta(0.5)
    assert found.lower <= twice * (1 + ROUNDING)
    assert found.upper >= twice * (1 - ROUNDING)
    assert found.width < 1e-5 * twice


@pytest.mark.parametrize(("sigma", "parties", "square"), [(0.5, 4, 2), (1.0, 3, 5), (2.0, 10, 9)])
def test_lower_ends_are_those_of_one_difference(sigma, parties, square):
    noise = gaussian(sigma, parties)
    release = lp.VectorDiscreteGaussian(sigma, math.sqrt(square), parties=parties, dimension=2)
    difference = (math.isqrt(square), math.isqrt(square - math.isqrt(square) ** 2))
    truth = profile(*joint(noise, [x for x in difference if x]), 0.3)
    assert release.delta(0.3).lower == pytest.approx(truth, rel=1e-8)


def test_little_noise_has_no_shares():
    assert shares_above(0.4, 2, 1) is None


@pytest.mark.parametrize(("variance", "probability"), [(4.0, 1e-8), (2.0, 1e-8), (4.0, 1e-9), (9.0, 3e-9)])
def test_a_gaussian_is_rounded_at_random(variance, probability):
    """By quadrature, whose errors are far below: the probability covers what the discrete Gaussian lacks."""
    less = rounding_variance(variance, probability)
    y, x = np.arange(-40 * 64, 40 * 64 + 1) / 64, np.arange(-60, 61)
    density = np.exp(-(y**2) / (2 * (variance - less)))
    kernel = np.exp(-((x[:, None] - y) ** 2) / (2 * less))
    rounded = (kernel / np.exp(-((x[:, None] - y % 1) ** 2) / (2 * less)).sum(axis=0)) @ (density / density.sum())
    whole = np.exp(-(x**2) / (2 * variance))
    middle = slice(60 - math.ceil(4 * variance), 61 + math.ceil(4 * variance))
    ratio = whole[middle] / whole.sum() / rounded[middle]
    assert 1 - probability <= ratio.min() < 1 - probability / 20
    # they agree on average
    assert 1 < ratio.max() < 1 + probability


def test_narrow_noise_is_no_rounded_gaussian():
    assert math.isinf(rounding_variance(1.0, 1e-20))
    assert rounding_variance(100.0, 1e-20) < 1.25


@pytest.mark.parametrize("variance", [4.0, 1e6, 1e12, 1e16, 1e18])
def test_what_rounds_at_random_keeps_its_digits(variance):
    less = mpmath.mpf(rounding_variance(variance, 1e-20))
    with mpmath.workdps(60):
        both = less + (variance - less) * less / variance
        missed = 9 * mpmath.exp(-2 * mpmath.pi**2 * both)
    assert 0.9999e-20 < missed <= 1e-20


@pytest.mark.slow
def test_wide_noise_is_nearly_gaussian():
    release = 100 * lp.VectorDiscreteGaussian(sigma=20, l2_sensitivity=100, parties=400, dimension=10**6)
    gaussian_one = 100 * lp.Gaussian(sigma=400, sensitivity=100)
    found = release.epsilon(1e-6).upper
    assert gaussian_one.epsilon(1e-6).lower <= found <= gaussian_one.epsilon(1e-6).upper * (1 + 1e-4)
    assert found < (100 * lp.ZCDP(100**2 / (2 * 400**2))).epsilon(1e-6).upper * 0.97
    drawn, all_drawn = (1000 * one.poisson(0.01) for one in (release.counted()[0][0], gaussian_one.counted()[0][0]))
    assert drawn.epsilon(1e-6).upper == pytest.approx(all_drawn.epsilon(1e-6).upper, rel=1e-4)
    # in one release the lower end is that of a difference
    one = lp.VectorDiscreteGaussian(sigma=400, l2_sensitivity=100).epsilon(1e-6)
    assert 0 < one.width < 2e-5 * one.upper
    # too wide for samples of the discrete Gaussian: no lower end
    assert lp.VectorDiscreteGaussian(sigma=400, l2_sensitivity=100).poisson(0.1).epsilon(1e-6).lower == 0


def test_one_coordinate_of_one_party_is_the_discrete_gaussian():
    for sigma, most in ((2.0, 3), (0.5, 1)):
        release, known = lp.VectorDiscreteGaussian(sigma, most + 0.5, dimension=1), lp.DiscreteGaussian(sigma, most)
        for asked in (lambda m: m.delta(0.7), lambda m: (5 * m).epsilon(1e-6), lambda m: m.poisson(0.1).delta(0.1)):
            assert asked(release).same_as(asked(known))
        truth = max(profile(*joint(gaussian(sigma), (shift,)), 0.7) for shift in range(1, most + 1))
        assert truth == pytest.approx(release.delta(0.7).value, rel=ROUNDING)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("base", "sampled"),
    [
        ("add_remove", lambda one: one.poisson(0.1, adjacency="add")),
        ("add_remove", lambda one: one.poisson(0.1, adjacency="remove")),
        ("replace", lambda one: one.subset(0.1, adjacency="add_remove")),
        ("replace", lambda one: one.subset(0.1, adjacency="remove")),
    ],
)
def test_samples_may_be_stated_under_another_relation(base, sampled):
    release = lp.VectorDiscreteGaussian(20, 5, parties=3, dimension=4, adjacency=base)
    gaussian_one = lp.Gaussian(sigma=20 * math.sqrt(3), sensitivity=5, adjacency=base)
    found, near = (sampled(one).epsilon(1e-6) for one in (release, gaussian_one))
    assert near.lower <= found.upper <= near.upper * (1 + 2e-3)
    # discrete noise leaks slightly more than a Gaussian
    assert near.lower * (1 - 1e-3) <= found.lower <= near.upper * (1 + 1e-3)


@pytest.mark.few(10)
@pytest.mark.parametrize("variance", [0.3, 2.0, 25.0, 400.0])
@pytest.mark.parametrize("difference", [(1,), (2,), (4,), (1, 1), (3, 1), (2, 1, 1)])
def test_divergences_of_skellam_noise(variance, difference):
    square, noise = sum(x * x for x in difference), skellam(variance)
    bounds = lp.Skellam(variance, math.sqrt(square), sum(difference), dimension=4)
    for order in (1.01, 1.5, 2.0, 2.5, 3.0, 4.0, 9.0):
        truth = divergence(noise, difference, order)
        if len(difference) == 1:
            ours = probabilities(Fraction(variance))
            assert truth == pytest.approx(divergence(np.array([*ours[:0:-1], *ours]), difference, order), rel=1e-8)
        found = bounds.renyi(order)
        assert found.lower * (1 - ROUNDING) <= truth <= found.upper * (1 + ROUNDING)
    # Agarwal, Kairouz & Liu 2021, at a whole order, where the release stands for many
    if len(difference) > 1:
        more = min((5 * square + 6 * sum(difference)) / (4 * variance**2), 3 * sum(difference) / (2 * variance))
        assert bounds.renyi(3).upper == pytest.approx(3 * square / (2 * variance) + more, rel=1e-12)


@pytest.mark.parametrize(("variance", "most"), [(0.01, 1), (0.5, 2), (9.0, 4), (900.0, 30)])
def test_skellam_noise_of_one_coordinate(variance, most):
    release, noise = lp.Skellam(variance, most, dimension=1), skellam(variance)
    for epsilon in (0.0, 0.4, 2.0):
        truths = [profile(*moved(noise, shift), epsilon) for shift in range(1, most + 1)]
        found = release.delta(epsilon)
        assert truths[-1] == max(truths)
        assert found.value == pytest.approx(truths[-1], rel=1e-8, abs=1e-14)
        assert found.width <= 1e-9 * found.value + 1e-300
    p, q = moved(noise, most)
    drawn = release.poisson(0.25)
    assert drawn.delta(0.2, direction="remove").value == pytest.approx(profile(0.75 * q + 0.25 * p, q, 0.2), rel=1e-8)
    assert drawn.delta(0.2, direction="add").value == pytest.approx(profile(q, 0.75 * q + 0.25 * p, 0.2), rel=1e-8)
    twice = profile(np.outer(p, p).ravel(), np.outer(q, q).ravel(), 0.5)
    found = (2 * release).delta(0.5)
    assert found.lower <= twice * (1 + ROUNDING)
    assert found.upper >= twice * (1 - ROUNDING)
    assert found.width < 1e-5 * twice


@pytest.mark.parametrize("variance", [0.01, 0.7, 40.0, 900.0])
def test_skellam_probabilities(variance):
    found = probabilities(Fraction(variance))
    with mpmath.workdps(50):
        for x in (0, 1, 2, len(found) // 2, len(found) - 1):
            truth = mpmath.exp(-mpmath.mpf(variance)) * mpmath.besseli(x, mpmath.mpf(variance))
            assert abs(found[x] / truth - 1) <= 2.0**-53 * (1 + 1e-9)
    assert math.fsum([*found, *found[1:]]) == pytest.approx(1, rel=1e-15)


@pytest.mark.few(1)
@pytest.mark.parametrize(("variance", "square"), [(2.0, 5), (30.0, 9)])
def test_skellam_profiles_contain_every_difference(variance, square):
    release = lp.Skellam(variance, math.sqrt(square), dimension=2)
    pairs = [joint(skellam(variance), one) for one in differences(square, 2)]
    for epsilon in (0.3, 1.5):
        found, truth = release.delta(epsilon), max(profile(p, q, epsilon) for p, q in pairs)
        assert 0 < found.lower * (1 - ROUNDING) <= truth <= found.upper * (1 + ROUNDING)


@pytest.mark.slow
def test_less_noise_and_larger_differences_leak_more():
    assert lp.Skellam(1e6, 300).epsilon(1e-6).upper < lp.Skellam(9e5, 300).epsilon(1e-6).upper
    assert lp.Skellam(1e6, 300, dimension=4).epsilon(1e-6).upper < lp.Skellam(1e6, 300).epsilon(1e-6).upper
    one = lp.VectorDiscreteGaussian(1, 20, parties=500)
    # bounds by single shifts do not know the sum of absolute values, and are converted to 1e-7
    assert lp.VectorDiscreteGaussian(1, 20, 40, 500).epsilon(1e-6).upper <= one.epsilon(1e-6).upper * (1 + 1e-7)
    assert lp.VectorDiscreteGaussian(1, 20, parties=600).epsilon(1e-6).upper < one.epsilon(1e-6).upper


def test_groups_have_multiples_of_the_sensitivities():
    assert lp.Skellam(100, 3, 5, 8).group(2) == lp.Skellam(100, 6, 10, 8)
    assert lp.VectorDiscreteGaussian(9, 3, parties=4).group(3) == lp.VectorDiscreteGaussian(9, 9, parties=4)


def test_ends_of_the_parameters():
    for none in (lp.Skellam(2, 0), lp.Skellam(2, 0.9), lp.VectorDiscreteGaussian(2, 3, l1_sensitivity=0)):
        assert none.delta(0).upper == 0
    for everything in (lp.Skellam(0), lp.VectorDiscreteGaussian(0)):
        assert everything.delta(5).lower == 1


def test_what_is_refused():
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(0.05), "sigma", "0.1")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(0.3, 100), "rho", "units")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, -1), "l2_sensitivity", "negative")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, 1e7), "l2_sensitivity", "1e+06")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, 3, -2), "l1_sensitivity", "negative")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, 3, 1e13), "l1_sensitivity", "leave it out")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, parties=0), "parties", "from 1")
    refused(TypeError, lambda: lp.VectorDiscreteGaussian(2, parties=2.5), "parties", "integer")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(2, dimension=0), "dimension", "from 1")
    refused(ValueError, lambda: lp.Skellam(0.001), "variance", "0.01")
    refused(ValueError, lambda: lp.Skellam(1, 100), "units", "variance=1.0")
    refused(TypeError, lambda: untyped(lp.Skellam)(sigma=2), "variance=")
    refused(TypeError, lambda: untyped(lp.VectorDiscreteGaussian)(2, num_clients=9), "parties=")
    unknown = "DistributedDiscreteGaussian"
    refused(AttributeError, lambda: getattr(lp, unknown), "lp.VectorDiscreteGaussian")
    refused(ValueError, lambda: lp.VectorDiscreteGaussian(4, 30).pdp_delta(1), "pdp_delta")


@pytest.mark.parametrize(("sigma", "parties"), [("0.5", 5), ("0.3", 4), ("1", 2), ("0.4", 7)])
@pytest.mark.parametrize("shift", [1, 3])
def test_divergences_of_shifted_sums(sigma, parties, shift):
    """Against a convolution of all outcomes at 40 digits."""
    with mpmath.workdps(40):
        one = {x: mpmath.exp(-mpmath.mpf(x * x) / (2 * mpmath.mpf(sigma) ** 2)) for x in range(-16, 17)}
        noise = {0: mpmath.mpf(1)}
        for _ in range(parties):
            pairs = itertools.product(noise.items(), one.items())
            wider: dict[int, Any] = {}
            for (x, p), (y, q) in pairs:
                wider[x + y] = wider.get(x + y, 0) + p * q
            noise = wider
        total = sum(noise.values())
        z = np.array([1e-4, 0.3, 1, 2.5])
        exact = [
            mpmath.log(
                sum(noise[x - shift] ** (1 + mpmath.mpf(at)) * noise[x] ** -mpmath.mpf(at) for x in noise if x - shift in noise)
                / total
            )
            for at in z.tolist()
        ]
        found = _shifted(z, float(sigma), parties, shift, some(_log_theta(float(sigma), parties)))
        assert all(0 <= bound - truth <= 1e-11 * (1 + truth) for bound, truth in zip(found.tolist(), exact, strict=True))
    rho = shift**2 * rho_of_shifts(float(sigma), parties, shift)
    at = np.geomspace(0.01, 100, 30)
    assert np.all(_shifted(at, float(sigma), parties, shift, some(_log_theta(float(sigma), parties))) <= rho * at * (1 + at))


@pytest.mark.parametrize(("sigma", "parties", "square"), [(0.5, 200, 9), (0.5, 40, 6), (0.4, 30, 4)])
def test_many_narrow_draws_leak_as_their_sum(sigma, parties, square):
    """The divergences of every difference are below, and epsilon is near that of the noise in one coordinate."""
    release = lp.VectorDiscreteGaussian(sigma, math.sqrt(square), parties=parties, dimension=4)
    noise = gaussian(sigma, parties)
    for one in differences(square, 4):
        for order in (1.5, 4):
            assert divergence(noise, one, order) <= release.renyi(order).upper * (1 + ROUNDING)
    alone = lp.VectorDiscreteGaussian(sigma, math.isqrt(square), parties=parties, dimension=1)
    assert release.epsilon(1e-6).upper <= 1.35 * math.sqrt(square) / math.isqrt(square) * alone.epsilon(1e-6).upper
