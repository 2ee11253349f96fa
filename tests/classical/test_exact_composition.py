"""Closed forms of compositions against the engine, with which they share no code, and both against brute force."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import diff, exp, mpf, quad

import logphi as lp
from exact import contains, dec
from logphi.classical.exact_composition import compose_guarantees, compose_profiles, log_ways
from profiles import gaussian_profile, laplace_profile

DIGITS = 40
SHARP = 1e-12
# what the engine promises
ENGINE = 1e-9


def by_subsets(guarantees, epsilon):
    """[LT] Theorem 4.6 as it is printed: a sum over which responses are true."""
    single = [(dec(e), dec(d)) for e, d, count in guarantees for _ in range(count)]
    kept = mpmath.fprod(1 - d for _, d in single)
    norm = mpmath.fprod(1 + exp(e) for e, _ in single)
    total = mpf(0)
    for chosen in itertools.product((True, False), repeat=len(single)):
        true = sum((e for (e, _), one in zip(single, chosen, strict=True) if one), mpf(0))
        other = sum((e for (e, _), one in zip(single, chosen, strict=True) if not one), mpf(0))
        total += max(exp(true) - exp(dec(epsilon) + other), mpf(0))
    return 1 - kept * (1 - total / norm)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "guarantees",
    [
        [(0.3, 0.01, 1), (0.5, 0.0, 1), (0.1, 0.02, 1)],
        [(0.2, 1e-9, 8)],
        [(1.0, 0.0, 3), (0.05, 1e-3, 5), (1.0, 0.1, 1)],
        [(0.0, 0.2, 2), (0.4, 0.0, 1)],
        [(0.7, 0.9999999, 1), (0.2, 0.0, 2)],
        [(0.3, 0.5, 0), (0.1, 0.0, 2)],
    ],
)
def test_guarantees(guarantees):
    release = lp.compose([count * lp.ApproximateDP(e, d) for e, d, count in guarantees])
    for epsilon in (-0.7, 0.0, 0.13, 0.4, 0.85, 2.9, 5.0):
        with mpmath.workdps(DIGITS):
            exact = by_subsets(guarantees, epsilon)
        found = compose_guarantees(guarantees, epsilon)
        assert contains(found, exact)
        assert found.width <= SHARP * found.upper + (1e-8 if guarantees[0][1] > 0.99 else 0)
        engine = release.delta(epsilon)
        assert engine.lower <= found.upper
        assert found.lower <= engine.upper


def test_many_guarantees():
    """Far beyond subsets: the engine's lattices, and sums that have none."""
    for guarantees in (
        [(0.1, 1e-8, 2000)],
        [(0.1, 1e-6, 500), (0.03, 0.0, 800)],
        [(0.1, 0, 60), (0.0377, 0, 50), (0.21, 1e-7, 9)],
    ):
        release = lp.compose([count * lp.ApproximateDP(e, d) for e, d, count in guarantees])
        for epsilon in (0.5, 2.0, 9.0):
            found, engine = compose_guarantees(guarantees, epsilon), release.delta(epsilon)
            assert found.width <= 1e-11 * found.upper
            assert engine.lower <= found.upper
            assert found.lower <= engine.upper
            assert engine.width <= 1e-6 * engine.upper


def hull(rng: Any, size: Any) -> tuple[Any, Any]:
    """Vertices (epsilons, deltas) of a random convex profile, to nine digits."""
    epsilons = np.sort(np.round(rng.normal(0, 1, size), 3))
    a = np.exp(epsilons)
    tangents = np.sort(rng.uniform(0.05, 0.9, size))
    deltas = np.round(np.max([1 - a, *(t * (1 - a * t / (1 + t)) for t in tangents)], axis=0), 9).clip(0.001, 1) + 1e-9
    known = lp.FromProfile(epsilons, deltas, adjacency="remove")
    # of these, those that are vertices
    kept = [i for i, e in enumerate(epsilons) if abs(known.delta(e).value - deltas[i]) < 1e-13]
    return epsilons[kept], deltas[kept]


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(8))
def test_profiles(seed):
    rng = np.random.default_rng(seed)
    one, other = hull(rng, int(rng.integers(2, 9))), hull(rng, int(rng.integers(2, 9)))
    release = lp.FromProfile(*one, adjacency="remove") + lp.FromProfile(*other, adjacency="remove")
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 2.5):
        found, swapped, engine = (
            compose_profiles(one, other, epsilon),
            compose_profiles(other, one, epsilon),
            release.delta(epsilon),
        )
        assert found.width <= 1e-15
        # composition is symmetric, which the sum does not show
        assert found.lower <= swapped.upper
        assert swapped.lower <= found.upper
        assert engine.lower <= found.upper
        assert found.lower <= engine.upper
        assert engine.width <= ENGINE * engine.upper


def test_profiles_as_an_integral_over_outcomes():
    """The sum of (p p' - e^eps q q')_+ over pairs of cells, with the cells from the definition of the hull."""
    one, other = ([-0.4, 0.5, 1.2], [0.5, 0.2, 0.05]), ([0.1, 0.9], [0.3, 0.01])
    with mpmath.workdps(DIGITS):

        def cells(given):
            points = [(mpf(0), mpf(1)), *((exp(dec(e)), dec(d)) for e, d in zip(*given, strict=True))]
            slopes = [*((h - k) / (c - b) for (b, h), (c, k) in itertools.pairwise(points)), mpf(0)]
            falls = [s - t for s, t in itertools.pairwise(slopes)]
            inside = [(b * fall, fall) for (b, _), fall in zip(points[1:], falls, strict=True)]
            return [*inside, (points[-1][1], mpf(0))]

        for epsilon in (-0.5, 0.0, 0.7, 2.0):
            exact = sum(
                max(p * r - exp(dec(epsilon)) * q * s, mpf(0)) for (p, q), (r, s) in itertools.product(cells(one), cells(other))
            )
            assert contains(compose_profiles(one, other, epsilon), exact)


# ------------------------------------------------------- the convolution of smooth profiles, [LT] Theorem 4.2


@pytest.mark.slow
def test_two_gaussians_are_a_convolution():
    with mpmath.workdps(20):
        one, other = gaussian_profile(mpf(1)), gaussian_profile(1 / mpf("1.5"))

        def density(t):
            return diff(other, t, 2) - diff(other, t)

        for epsilon in (-0.3, 0.4, 1.5):
            exact = quad(lambda t, at=epsilon: one(at - t) * density(t), [-5, -2, 0, 1, 3, 6])
            found = (lp.Gaussian(1) + lp.Gaussian(1.5)).delta(epsilon)
            assert found.value == pytest.approx(float(exact), abs=1e-11)


def test_a_gaussian_and_a_laplace_mechanism_are_a_convolution_with_atoms():
    """Where the slope of delta_2 falls in e^t there is an atom of mass delta_2'(t+) - delta_2'(t-), at both ends."""
    scale = mpf(2)
    end = 1 / scale
    with mpmath.workdps(20):
        one, other = gaussian_profile(1 / mpf("1.2")), laplace_profile(1 / scale)

        def density(t):
            # delta'' - delta' of 1 - e^{(t - 1/b)/2}
            return exp((t - end) / 2) / 4

        # at the lower end the slope is -e^t before and -e^{(t - 1/b)/2}/2 behind; at the upper one 1/2 before and 0 behind
        low, high = exp(-end) - exp(-end) / 2, mpf(1) / 2
        for epsilon in (-0.3, 0.4, 1.5):
            at = mpf(epsilon)
            inner = quad(lambda t, at=at: one(at - t) * density(t), [-end, 0, end])
            exact = inner + low * one(at + end) + high * one(at - end)
            found = (lp.Gaussian(1.2) + lp.Laplace(2)).delta(epsilon)
            assert found.value == pytest.approx(float(exact), rel=1e-12)
            assert other(mpf(0)) == pytest.approx(lp.Laplace(2).delta(0.0).value, rel=1e-14)


# ---------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("guarantees", "epsilon", "needles"),
    [
        ([(-0.1, 0.0, 1)], 0.1, ["epsilon", "-0.1"]),
        ([(0.1, 1.5, 1)], 0.1, ["delta", "1.5"]),
        ([(0.1, 0.0, -1)], 0.1, ["count", "-1"]),
        ([(0.1, 0.0, 1)], math.nan, ["epsilon", "nan"]),
        ([(0.01 * i, 0.0, 3) for i in range(1, 20)], 0.1, ["terms", "ApproximateDP", "57 guarantees"]),
    ],
)
def test_impossible_guarantees_are_refused(guarantees, epsilon, needles):
    with pytest.raises(ValueError, match=r"\w") as caught:
        compose_guarantees(guarantees, epsilon)
    for needle in needles:
        assert needle in str(caught.value)


def test_ends_of_guarantees():
    assert compose_guarantees([], 0.0).upper == 0
    assert compose_guarantees([], -1.0).value == pytest.approx(1 - math.exp(-1), rel=1e-14)
    assert compose_guarantees([(0.1, 1.0, 1)], 3.0).lower == 1


@pytest.mark.parametrize(
    ("one", "kind", "needles"),
    [
        (([], []), ValueError, ["at least one"]),
        (([0.1, 0.2], [0.1]), ValueError, ["equal length"]),
        (([0.1, 0.1], [0.2, 0.1]), ValueError, ["distinct"]),
        (([0.0, 1.0], [0.1, 0.2]), ValueError, ["convex", "FromProfile"]),
        (([0.0, 0.1, 1.0], [0.3, 0.29, 0.0]), ValueError, ["convex"]),
        (([-1.0], [0.1]), ValueError, ["convex", "slopes"]),
        (([301.0], [0.1]), ValueError, ["300"]),
        (("1", [0.1]), TypeError, ["epsilons"]),
    ],
)
def test_impossible_profiles_are_refused(one, kind, needles):
    with pytest.raises(kind) as caught:
        compose_profiles(one, ([0.0], [0.1]), 0.3)
    for needle in needles:
        assert needle in str(caught.value)
    with pytest.raises(ValueError, match="epsilon"):
        compose_profiles(([0.0], [0.1]), ([0.0], [0.1]), 1e3)


@pytest.mark.slow
def test_many_guarantees_take_no_time():
    count, level = 10**6, 0.001
    found = compose_guarantees([(level, 0.0, count)], 0.5)
    # the same sum with logarithms of factorials
    with mpmath.workdps(40):
        rate = 1 / (1 + exp(-dec(level)))
        total = mpf(0)
        for true in range(500_250 - 4000, 500_250 + 4000):
            loss = dec(level) * (2 * true - count)
            if loss > 0.5:
                ways = mpmath.loggamma(count + 1) - mpmath.loggamma(true + 1) - mpmath.loggamma(count - true + 1)
                total += exp(ways + true * mpmath.log(rate) + (count - true) * mpmath.log1p(-rate)) * (1 - exp(0.5 - loss))
    # eight deviations out, 1e-14 of it is left
    assert found.lower * (1 - 1e-12) <= total <= found.upper
    assert found.width <= 2e-8 * found.value


@pytest.mark.parametrize("count", [1, 63, 126, 127, 128, 129, 1000, 100_001])
def test_binomial_coefficients(count):
    found = log_ways(count)
    assert found.size == count + 1
    for few in {
        0,
        1,
        count // 3,
        count // 2,
        (count + 1) // 2,
        min(63, count),
        min(64, count),
        min(65, count),
        count - 1,
        count,
    }:
        exact = mpmath.log(mpmath.binomial(count, few))
        assert abs(found[few] - exact) <= 3e-16 * max(count, 1)


def test_a_delta_below_every_double_is_not_zero():
    assert compose_guarantees([(0.1, 0.0, 2000)], 199.0).upper > 0
    assert compose_guarantees([(0.1, 0.0, 2000)], 201.0).upper == 0
