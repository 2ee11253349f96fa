"""Mechanisms from trade-off functions: against the curve itself, the conjugate by brute force, and back through profiles."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import exp

import logphi as lp
from exact import contains, dec

DIGITS = 40
# what a handful of roundings of the atoms leave, relative to the larger part
SHARP = 1e-12


def curve(rng, size, start=1.0):
    """A random convex, decreasing, piecewise linear curve, as its vertices rounded to six digits."""
    widths = rng.dirichlet(np.ones(size))
    slopes = np.sort(rng.exponential(1, size))[::-1]
    falls = widths * slopes
    alpha = np.concatenate([[0], np.cumsum(widths)])
    beta = start * (1 - np.concatenate([[0], np.cumsum(falls)]) / falls.sum())
    alpha, beta = np.round(alpha, 6).clip(0, 1), np.round(beta, 6).clip(0, 1)
    beta[-1], alpha[-1] = 0, 1
    return alpha, beta


def lowest(alpha, beta, at):
    """The largest convex curve below the points at a place: the lowest of all chords across it."""
    points = [(Fraction(repr(float(a))), Fraction(repr(float(b)))) for a, b in zip(alpha, beta, strict=True)]
    points.append((Fraction(1), Fraction(0)))
    at = Fraction(repr(float(at)))
    heights = [b for a, b in points if a == at]
    heights += [h + (k - h) * (at - x) / (y - x) for x, h in points for y, k in points if x < at < y]
    # it never rises again
    return min([*heights, *(b for a, b in points if a <= at)])


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(6))
def test_the_curve_comes_back(seed):
    rng = np.random.default_rng(seed)
    alpha, beta = curve(rng, int(rng.integers(1, 7)), start=float(rng.choice([1.0, 0.9])))
    if seed > 3:
        beta = np.minimum(beta + np.round(rng.uniform(0, 0.05, beta.size), 6), 1 - alpha).round(6).clip(0, 1 - alpha)
    mechanism = lp.FromTradeoff(alpha, beta)
    for at in [*alpha, *np.round(rng.uniform(0, 1, 8), 5), 1e-5]:
        found = mechanism.tradeoff(at, direction="remove")
        exact = lowest(alpha, beta, at)
        assert Fraction(found.lower) <= exact <= Fraction(found.upper)
        assert found.width <= 1e-9 * found.upper


def test_errors_that_rounding_puts_above_one_together_are_lowered():
    rng = np.random.default_rng(0)
    places = [a for a in rng.random(400).tolist() if Fraction(repr(a)) + Fraction(repr(1 - a)) > 1]
    assert len(places) > 50
    for a in places[:20]:
        mechanism = lp.FromTradeoff([0, a], [1, 1 - a])
        assert mechanism.delta(0.0).upper < 1e-14
        assert mechanism.tradeoff(a, direction="remove").upper <= 1 - a + 1e-14
    with pytest.raises(ValueError, match="at most 1"):
        lp.FromTradeoff([0, 0.25], [1, 0.75 + 1e-15])


@pytest.mark.parametrize("seed", range(4))
def test_the_profile_is_the_conjugate(seed):
    """delta(eps) = sup of 1 - f(alpha) - e^eps alpha, attained at a vertex."""
    rng = np.random.default_rng(10 + seed)
    alpha, beta = curve(rng, 5, start=float(rng.choice([1.0, 0.8])))
    for direction in ("remove", "add"):
        mechanism = lp.FromTradeoff(alpha, beta, adjacency=direction)
        for e in (-2.0, -0.1, 0.0, 0.3, 1.4, 4.0):
            with mpmath.workdps(DIGITS):
                exact = max(1 - dec(b) - exp(dec(e)) * dec(a) for a, b in zip(alpha, beta, strict=True))
            found = mechanism.delta(e)
            assert contains(found, exact)
            assert found.width <= SHARP * found.upper


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
def test_round_trip_through_the_profile(seed):
    """FromProfile at the slopes of the curve, where its profile has vertices, has the curve as its trade-off function."""
    rng = np.random.default_rng(20 + seed)
    alpha, beta = curve(rng, 4)
    first = lp.FromTradeoff(alpha, beta, adjacency="remove")
    kinks = np.log(-np.diff(beta) / np.diff(alpha))
    # doubles do not hold the places of the vertices: points beside each leave a hull that is a little higher
    epsilons = np.concatenate([kinks * (1 - 1e-13) - 1e-13, kinks * (1 + 1e-13) + 1e-13])
    second = lp.FromProfile(epsilons, first.delta(epsilons).upper, adjacency="remove")
    for at in (1e-4, 0.03, 0.2, 0.5, 0.8, 0.97):
        one, other = first.tradeoff(at, rtol=1e-12), second.tradeoff(at, rtol=1e-12)
        assert other.lower <= one.upper
        assert abs(one.value - other.value) <= 1e-11


def test_round_trip_of_a_profile():
    epsilons, deltas = [-0.5, 0.2, 0.7, 1.5], [0.5, 0.2, 0.05, 0.01]
    known = lp.FromProfile(epsilons, deltas, adjacency="remove")
    # the vertices of f are the places of the slopes of the profile: its Q-tails
    p, q = known.pair().p, known.pair().q
    order = sorted(range(len(p)), key=lambda i: p[i] / q[i] if q[i] else math.inf, reverse=True)
    alpha = np.minimum(np.cumsum([q[i] for i in order]), 1)
    beta = np.maximum(1 - np.cumsum([p[i] for i in order]), 0)
    back = lp.FromTradeoff([0, *alpha], [1 - known.delta(5.0).value, *beta * (1 - 1e-15)], adjacency="remove")
    for e in (-1.0, 0.0, 0.2, 0.5, 1.0, 3.0):
        assert back.delta(e).value == pytest.approx(known.delta(e).value, abs=1e-13)


def test_under_the_other_orders():
    """The add direction has the inverse; both at once have the smaller, and the larger profile."""
    alpha, beta = [0, 0.1, 0.5], [0.9, 0.5, 0.1]
    both, alone = lp.FromTradeoff(alpha, beta), lp.FromTradeoff(alpha, beta, adjacency="add")
    assert both.tradeoff(0.3, direction="add").value == pytest.approx(0.3, rel=1e-12)
    assert both.tradeoff(0.05, direction="add").value == pytest.approx(0.75, rel=1e-12)
    assert alone.tradeoff(0.05).value == pytest.approx(0.7, rel=1e-12)
    assert both.tradeoff(0.05).value == pytest.approx(0.7, rel=1e-12)
    assert both.loss_law() == lp.FromTradeoff([0, 0.1, 0.5, 1], [0.9, 0.5, 0.1, 0]).loss_law()


def test_known_curves():
    """A guarantee (eps, delta) is the curve of two lines (Dong, Roth & Su 2022, Proposition 2.5)."""
    a = math.e
    corner = (1 - 0.01) / (1 + a)
    known = lp.FromTradeoff([0, corner, 0.99], [0.99, corner, 0])
    for e in (0.0, 0.5, 1.0, 2.0):
        assert (3 * known).delta(e).value == pytest.approx((3 * lp.ApproximateDP(1, 0.01)).delta(e).value, rel=1e-10)


@pytest.mark.parametrize(
    ("first", "second", "kind", "needles"),
    [
        ([], [], ValueError, ["at least one", "(0,)"]),
        ([0, 1], [1], ValueError, ["equal length", "(2,)", "(1,)"]),
        ([0, 0.5], [1, 0.6], ValueError, ["index 1", "0.6", "at most 1"]),
        ([0.1], [0.5], ValueError, ["must be 0", "f(0)"]),
        ([0], [0], ValueError, ["f(0)", "nothing"]),
        ([0, 0.2], [0, 0.1], ValueError, ["f(0)", "nothing"]),
        ([-0.1], [0.5], ValueError, ["type_one_errors", "[0, 1]"]),
        ([0], [math.nan], ValueError, ["type_two_errors", "nan"]),
        ([0, 1e-300], [1, 0.5], ValueError, ["1e-290"]),
        ("0", [1], TypeError, ["type_one_errors"]),
    ],
)
def test_impossible_curves_are_refused(first, second, kind, needles):
    with pytest.raises(kind) as caught:
        lp.FromTradeoff(first, second)
    assert "\n" not in str(caught.value)
    for needle in needles:
        assert needle in str(caught.value)
