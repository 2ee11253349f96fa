"""Hulls of known points: against the hull by brute force over chords, native mechanisms, and what is impossible."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import exp, mpf

import logphi as lp
from exact import contains, dec
from logphi.convex.hull import exponential

DIGITS = 40
# a handful of roundings of the atoms
SHARP = 1e-11


def lowest_chord(points, a):
    """The hull at a, as the lowest of all chords and of all points to the left: no ordering, no stack."""
    points = [(mpf(0), mpf(1)), *points]
    found = [h for place, h in points if place <= a]
    for x, h in points:
        found += [h + (k - h) * (a - x) / (y - x) for y, k in points if x < a < y]
    return min(found)


def known(epsilons, deltas, symmetric):
    points = [(exp(dec(e)), dec(d)) for e, d in zip(epsilons, deltas, strict=True)]
    return points + [(1 / a, 1 - 1 / a + h / a) for a, h in points] if symmetric else points


@pytest.mark.few(2)
@pytest.mark.parametrize("adjacency", ["remove", "add", "add_remove", "replace"])
def test_the_profile_is_the_hull(adjacency):
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 30):
        epsilons = np.round(rng.normal(0, 1.5, size), 6)
        deltas = np.round(np.maximum(1 - np.exp(epsilons), 0) * (1 - 1e-3) + rng.uniform(0.002, 0.3, size), 9).clip(0, 1)
        if deltas.min() == 1:
            continue
        mechanism = lp.FromProfile(epsilons, deltas, adjacency=adjacency)
        points = None
        for e in (-2.0, -0.3, 0.0, 0.4, 1.1, 3.0, float(epsilons[0])):
            with mpmath.workdps(DIGITS):
                points = known(epsilons, deltas, adjacency in ("add_remove", "replace"))
                exact = min(lowest_chord(points, exp(dec(e))), mpf(1))
            found = mechanism.delta(e)
            assert contains(found, exact)
            assert found.width <= SHARP * found.upper
            assert found.ledger.proved


def test_one_point_is_an_approximate_guarantee():
    for one, other in (
        (lp.FromProfile([1.2], [1e-3]), lp.ApproximateDP(1.2, 1e-3)),
        (lp.FromProfile([0.7], [0.0]), lp.PureDP(0.7)),
        (lp.FromProfile([0.7], [0.0]).poisson(0.2), lp.PureDP(0.7).poisson(0.2)),
    ):
        for count in (1, 7):
            for e in (0.0, 0.3, 0.9):
                assert (count * one).delta(e).value == pytest.approx((count * other).delta(e).value, rel=1e-10)


@pytest.mark.parametrize("adjacency", ["remove", "add", "add_remove", "replace"])
def test_points_that_rounding_puts_below_every_profile_are_on_it(adjacency):
    """A response's profile in doubles: beyond its largest loss it is 1 - e^eps, or half an ulp beside."""
    epsilons = sorted([*np.linspace(-3, 3, 61).tolist(), -math.log(3), math.log(3)])
    deltas = [max(0.75 - 0.25 * math.exp(e), 1 - math.exp(e), 0.0) for e in epsilons]
    below = [e for e, d in zip(epsilons, deltas, strict=True) if Fraction(repr(d)) < 1 - exponential(Fraction(repr(e)))]
    assert len(below) > 5
    mechanism = lp.FromProfile(epsilons, deltas, adjacency=adjacency)
    for count in (1, 5):
        for direction in (None, "remove", "add") if adjacency == "add_remove" else (None,):
            found = (count * mechanism).delta(0.7, direction=direction)
            native = (count * lp.RandomizedResponse(0.75)).delta(0.7)
            assert found.upper >= native.lower
            assert found.upper == pytest.approx(native.value, rel=1e-12)
    # no output tells everything because of a rounding
    assert mechanism.renyi(3.0).upper == pytest.approx(lp.RandomizedResponse(0.75).renyi(3.0).value, rel=1e-12)


def test_what_rounding_does_not_explain_is_refused():
    boundary = -math.expm1(-1.0)
    lp.FromProfile([-1.0], [boundary - 1e-16])
    with pytest.raises(ValueError, match=r"at least 1 - e\^epsilon"):
        lp.FromProfile([-1.0], [boundary - 1e-15])


def test_response_comes_back_whole_and_others_from_above():
    """All vertices of a profile give it back; points between vertices give a hull above it."""
    odds = math.log(1.5)
    whole, native = lp.FromProfile([-odds, odds], [1 - 1 / 1.5, 0.0]), lp.RandomizedResponse(0.6)
    assert (5 * whole).delta(0.6).value == pytest.approx((5 * native).delta(0.6).value, rel=1e-9)
    epsilons = np.linspace(-3, 6, 40)
    for smooth in (lp.Gaussian(1.0), lp.Laplace(1.5)):
        hull = lp.FromProfile(epsilons, smooth.delta(epsilons).upper)
        for count in (1, 6):
            for e in (0.0, 0.25, 1.0, 2.0):
                found, exact = (count * hull).delta(e), (count * smooth).delta(e)
                assert found.upper >= exact.lower
                assert found.value <= 1.2 * exact.value + 0.01


def test_more_points_never_loosen():
    few, more = lp.FromProfile([0.5, 2], [0.1, 1e-4]), lp.FromProfile([0.5, 1, 2], [0.1, 0.01, 1e-4])
    for e in (0.0, 0.7, 1.5):
        assert more.delta(e).lower <= few.delta(e).upper


@pytest.mark.parametrize(
    ("epsilons", "deltas", "kind", "needles"),
    [
        ([], [], ValueError, ["at least one", "(0,)"]),
        ([1, 2], [0.1], ValueError, ["equal length", "(2,)", "(1,)"]),
        ([1], [1.5], ValueError, ["deltas", "[0, 1]", "1.5"]),
        ([1], [-0.1], ValueError, ["deltas", "-0.1"]),
        ([math.nan], [0.1], ValueError, ["epsilons", "nan"]),
        ([1], [math.nan], ValueError, ["deltas", "nan"]),
        ([0.5, -1.0], [0.3, 0.1], ValueError, ["1 - e^epsilon", "index 1", "-1.0"]),
        ([1, 2, 1], [0.1, 0.05, 0.2], ValueError, ["index 2", "0.1", "smaller"]),
        ([1.0], [1.0], ValueError, ["below 1"]),
        ([1e3], [0.1], ValueError, ["300", "1000.0"]),
        ([1], [1e-300], ValueError, ["1e-290", "1e-300"]),
        ("1", [0.1], TypeError, ["epsilons", "'1'"]),
    ],
)
def test_impossible_profiles_are_refused(epsilons, deltas, kind, needles):
    with pytest.raises(kind) as caught:
        lp.FromProfile(epsilons, deltas)
    assert "\n" not in str(caught.value)
    for needle in needles:
        assert needle in str(caught.value)


def test_a_transform_that_drowns_in_its_rounding_keeps_its_size():
    """Powers of a hull with many atoms vanish between the real axis and the next period, far below every rounding."""
    points = [round(0.1 * i, 1) for i in range(31)]
    one = lp.FromProfile(points, [lp.Gaussian(3).delta(at).upper for at in points])
    spent = (20 * one).epsilon(1e-5, method="lattice")
    assert spent.width <= 1e-8
    assert spent.upper > (20 * lp.Gaussian(3)).epsilon(1e-5).lower


def test_exponentials_are_as_sharp_while_other_threads_compute():
    exponents = [Fraction(k, 7) for k in range(1, 400)]
    alone = [exponential(x) for x in exponents]
    before, patience = mpmath.mp.prec, sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with mpmath.workdps(5), ThreadPoolExecutor(4) as threads:
            assert list(threads.map(exponential, exponents)) == alone
    finally:
        sys.setswitchinterval(patience)
    assert mpmath.mp.prec == before
    with mpmath.workdps(80):
        for x, found in zip(exponents, alone, strict=True):
            truth = mpmath.exp(mpmath.mpf(x.numerator) / x.denominator)
            assert 0 <= mpmath.mpf(found.numerator) / found.denominator - truth <= truth * mpmath.mpf(10) ** -59
