"""Normal noise alone: its profile and its inverse in closed form, against the formula at 40 digits."""

import math

import mpmath
import pytest
from mpmath import mpf, sqrt

import logphi as lp
from effort import calls
from exact import contains, dec
from profiles import gaussian_profile

DIGITS = 40
SHARP = 1e-9
# measured: 962 calls; a search on contours makes three times as many
FEW = 1_500

COMPOSITIONS = [
    [(1, 1.0)],
    [(10, 3.0)],
    [(1_000_000, 2500.0)],
    [(10, 3.0), (5, 2.0)],
    [(400, 0.5)],
    [(3, 1000.0), (1, 17.0), (2, 300.0)],
]


def release(parts):
    return lp.compose([count * lp.Gaussian(sigma=sigma) for count, sigma in parts])


def profile(parts, x):
    """Of the root of the sum of squares."""
    m = sqrt(sum((count / dec(sigma) ** 2 for count, sigma in parts), mpf(0)))
    return gaussian_profile(m)(x)


@pytest.mark.parametrize("parts", COMPOSITIONS, ids=str)
@pytest.mark.parametrize("share", [-3.0, 0.0, 2.0, 9.0])
def test_delta_holds_the_exact_number(parts, share):
    m = math.sqrt(sum(count / sigma**2 for count, sigma in parts))
    epsilon = m * m / 2 + share * m
    found = release(parts).delta(epsilon)
    with mpmath.workdps(DIGITS):
        assert contains(found, profile(parts, dec(epsilon)))
    # an exponential overflows farther out
    assert found.method == "exact" or epsilon > 600
    assert found.width <= SHARP * found.value


@pytest.mark.parametrize("parts", COMPOSITIONS, ids=str)
@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-60, 1e-200])
def test_epsilon_is_proved_on_both_sides(parts, delta):
    found = release(parts).epsilon(delta)
    with mpmath.workdps(DIGITS):
        assert profile(parts, mpf(found.upper)) <= dec(delta)
        assert found.lower == 0 or profile(parts, mpf(found.lower)) >= dec(delta)
    assert found.width <= SHARP * max(1.0, found.upper)


def test_a_delta_above_the_profile_needs_no_epsilon():
    assert release([(1, 100.0)]).epsilon(0.01).upper == 0
    assert release([(1, 100.0)]).epsilon(1.0).upper == 0


@pytest.mark.parametrize(("scale", "delta"), [(0.7, 1e-6), (3.0, 0.1), (50.0, 1e-9)])
def test_another_closed_form_is_inverted(scale, delta):
    """Of Laplace noise 1 - e^{(x - 1/b)/2} is the profile."""
    found = lp.Laplace(scale).epsilon(delta)
    with mpmath.workdps(DIGITS):
        exact = 1 / dec(scale) + 2 * mpmath.log1p(-dec(delta))
        assert contains(found, max(exact, mpf(0)))
    assert found.width <= SHARP * max(1.0, found.upper)


def test_a_search_takes_few_steps():
    release([(2, 4.0)]).epsilon(1e-4)
    assert calls(lambda: release([(10, 3.0)]).epsilon(1e-5)) < FEW
