"""One Gaussian mechanism above many bounded ranges: the theorem by 30 digits, and the recursion from its definition."""

import math
from itertools import pairwise, permutations

import mpmath
import numpy as np
import pytest

import logphi as lp
from adaptive_range import in_any_order
from logphi.mechanisms.ranges.gaussian_of_ranges import variance_above
from profiles import gaussian_profile

E = lp.ExponentialMechanism


def after(root, s):
    """The standard deviation that belongs to one more range of 2s, from the theorem."""
    a = s / root
    return root * (mpmath.npdf(a) + a * (mpmath.ncdf(a) - 0.5)) / mpmath.npdf(0)


@pytest.mark.parametrize("seed", range(30))
def test_chords_of_one_range_lie_below_the_wider_normal_loss(seed):
    draw = np.random.default_rng(seed)
    with mpmath.workdps(40):
        variance, width = mpmath.mpf(10 ** draw.uniform(-5, 1)), mpmath.mpf(10 ** draw.uniform(-2.5, 0.7))
        root = after(mpmath.sqrt(variance), width / 2)
        narrow, wide = gaussian_profile(mpmath.sqrt(variance)), gaussian_profile(root)
        for _ in range(10):
            x = mpmath.mpf(draw.normal() * 2) * root
            pick = mpmath.mpf(draw.uniform()) * width
            p = mpmath.expm1(pick - width) / mpmath.expm1(-width)
            chord = p * narrow(x - pick) + (1 - p) * narrow(x - pick + width)
            assert chord <= wide(x)


def test_no_smaller_normal_loss_is_above_narrow_ranges():
    with mpmath.workdps(40):
        variance, width = mpmath.mpf("1e-6"), mpmath.mpf("1e-3")
        root = after(mpmath.sqrt(variance), width / 2)
        narrow, too_narrow = gaussian_profile(mpmath.sqrt(variance)), gaussian_profile(root * (1 - mpmath.mpf("1e-6")))
        p = mpmath.expm1(-width / 2) / mpmath.expm1(-width)
        chord = p * narrow(-width / 2) + (1 - p) * narrow(width / 2)
        assert chord > too_narrow(mpmath.mpf(0))


@pytest.mark.parametrize("half", [0.05, 0.7, 2.0, 6.0])
def test_a_normal_law_on_an_interval_varies_most_about_zero(half):
    def variance(centre):
        total, first, second = (
            mpmath.quad(lambda y, k=k: y**k * mpmath.exp(-((centre + y) ** 2) / 2), [-half, half]) for k in (0, 1, 2)
        )
        return second / total - (first / total) ** 2

    found = [variance(centre) for centre in (0, 0.1, 0.5, 1, 3, 8)]
    assert all(further < nearer for nearer, further in pairwise(found))


@pytest.mark.parametrize("widths", [(0.1, 0.1, 0.1, 0.1), (0.4, 0.05, 0.02, 0.01), (1.0, 0.9, 0.5, 0.2), (0.3, 0.2, 0.2, 0.01)])
def test_no_order_has_a_larger_variance(widths):
    found = variance_above([(width, 1) for width in widths])
    for order in permutations(widths):
        root = order[0] / 2 * mpmath.sqrt(mpmath.pi / 2)
        for width in order[1:]:
            root = after(root, width / 2)
        assert root**2 <= found
    assert found < sum(width**2 for width in widths) / 4 + max(widths) ** 2 * 0.3


def test_equal_ranges_are_summed_at_once():
    one_by_one = variance_above([(0.1, 1)] * 300)
    assert one_by_one <= variance_above([(0.1, 300)]) < one_by_one * (1 + 2e-4)


@pytest.mark.parametrize(
    ("parts", "counts", "step"), [((10, 30), (3, 2), 0.01), ((12, 18, 27), (2, 1, 2), 0.04), ((9,), (6,), 0.05)]
)
def test_the_recursion_from_its_definition_is_below(parts, counts, step):
    x, attained = in_any_order(parts, counts, step)
    root = math.sqrt(variance_above([(n * step, count) for n, count in zip(parts, counts, strict=True)]))
    covered = gaussian_profile(root)
    for place in range(0, x.size, 7):
        assert attained[place] <= covered(mpmath.mpf(x[place])) + 1e-15


def test_thousands_of_steps():
    steps = 6000 * E(0.01)
    found = steps.epsilon(1e-6)
    assert found.width < 6e-4 * found.upper
    assert found.status is lp.Status.BRACKET
    together = (steps + lp.Gaussian(3) + lp.Laplace(4)).epsilon(1e-6)
    assert found.upper < together.lower < together.upper < 1.0002 * together.lower


def test_a_few_exact_ranges_with_a_normal_loss_for_the_others():
    epsilons = np.linspace(0.01, 0.1, 20).tolist()
    release = lp.compose([E(one) for one in epsilons])
    found, normal = release.epsilon(1e-6), lp.Gaussian(1 / math.sqrt(variance_above([(one, 1) for one in epsilons])))
    assert found.upper < normal.epsilon(1e-6).lower
    assert found.width < 0.05 * found.upper
    noise = lp.Gaussian(4)
    with_noise = (release + noise).epsilon(1e-6)
    assert noise.epsilon(1e-6).upper < with_noise.lower < with_noise.upper < (normal + noise).epsilon(1e-6).lower
