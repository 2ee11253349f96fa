"""Group privacy: each conversion against exact chains of pairs, and the Gaussian, whose divergences are known."""

import itertools
import math
from functools import partial
from operator import mul

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from finite import divergence, hockey_stick
from logphi.classical import Concentrated, DivergenceCurve, Guarantee, group
from logphi.classical.divergence_curve import between_orders
from refusals import untyped


def chain(number, seed, cells=6):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(cells, 0.7), size=number + 1) * 0.95 + 0.05 / cells


# ------------------------------------------------------------------------------------------------------- guarantees


def test_a_replacement_is_a_group_of_two():
    found = group.group_guarantee(Guarantee(0.5, 1e-6, 3))
    assert 1 <= found.epsilon < 1 + 1e-15
    assert found.count == 3
    assert 0 <= mpf(found.delta) / ((1 + mpmath.exp(0.5)) * mpf("1e-6")) - 1 < 1e-14
    assert group.group_guarantee(Guarantee(0.3, 0.1), 1) == Guarantee(0.3, 0.1)
    assert group.group_guarantee(Guarantee(0.0, 0.01), 7).delta == pytest.approx(0.07, rel=1e-14)
    assert group.group_guarantee(Guarantee(5.0, 0.01), 7).delta == 1.0
    assert group.group_guarantee(Guarantee(400.0, 1e-9), 9) == Guarantee(3600.0, 1.0)
    assert group.group_guarantee(Guarantee(1.0, 0.0), 10**9).delta == 0


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("size", [2, 3, 5])
def test_a_guarantee_of_groups_holds_of_chains(seed, size):
    pairs = list(itertools.pairwise(chain(size, seed)))
    for epsilon in (0.0, 0.2, 1.0):
        delta = max(hockey_stick(*pair, epsilon) for one in pairs for pair in (one, one[::-1]))
        found = group.group_guarantee(Guarantee(epsilon, delta), size)
        assert hockey_stick(pairs[0][0], pairs[-1][1], float(found.epsilon)) <= found.delta


def test_a_guarantee_of_groups_is_attained():
    """P, Q, R on three points, each (eps, delta)-DP of the next with equality, and P of R with the bound."""
    epsilon, delta = 0.4, 0.01
    r = np.array([0.1, 0.9])
    q = np.array([math.exp(epsilon) * 0.1 + delta, 0.0])
    p = np.array([math.exp(epsilon) * q[0] + delta, 0.0])
    found = group.group_guarantee(Guarantee(epsilon, delta), 2)
    assert p[0] - math.exp(found.epsilon) * r[0] == pytest.approx(found.delta, rel=1e-12)


# ------------------------------------------------------------------------------------------------------------ curves


@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 7.0, 300.0, 1e6])
@pytest.mark.parametrize("size", [2, 3, 8])
def test_a_group_of_gaussians_is_a_gaussian(order, size):
    """Shifts add, so that the divergence of the group is size^2 rho a exactly, and Lemma 33.7 attains it."""
    found = group.group_curve(lambda a: 0.5 * a, size).divergence(order)
    assert 1 <= found / (size**2 * 0.5 * order) < 1 + 1e-3


def test_budgets_of_groups():
    assert group.group_concentrated(Concentrated(0.1), 4).rho == pytest.approx(1.6, rel=1e-15)
    assert mpf(group.group_concentrated(Concentrated(0.1), 3).rho) >= 9 * mpf(0.1)
    curve = group.triangle(DivergenceCurve(lambda a: 0.1 * a), DivergenceCurve(lambda a: 0.3 * a))
    assert curve.divergence(4.0) == pytest.approx((math.sqrt(0.1) + math.sqrt(0.3)) ** 2 * 4, rel=1e-4)
    with pytest.raises(ValueError, match="both directions"):
        group.group_concentrated(Concentrated(0.1, both=False))
    with pytest.raises(ValueError, match="xi = 0"):
        group.group_concentrated(Concentrated(0.1, xi=0.1))


@pytest.mark.slow
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 4), order=st.floats(1.05, 40))
def test_the_triangle_holds_of_chains_in_both_orders(seed, size, order):
    laws = chain(size, seed)

    def step(p, q):
        return DivergenceCurve(lambda a: max(divergence(p, q, a), divergence(q, p, a)) * (1 + 1e-12))

    steps = [step(p, q) for p, q in itertools.pairwise(laws)]
    found = group.triangle(*steps).divergence(order)
    assert found >= divergence(laws[0], laws[-1], order) - 1e-12
    assert found >= divergence(laws[-1], laws[0], order) - 1e-12


def test_the_free_parameter_is_as_good_as_a_fine_search():
    """Against Lemma 33.7 as it is printed, minimised over a grid of a'."""

    def base(order):
        return min(0.8 * order, 1.7)

    for order in (1.2, 2.0, 5.0, 30.0):
        others = order * np.exp(np.geomspace(1e-6, 12, 4000))
        printed = min(b / (b - 1) * base(order * (b - 1) / (b - order)) + base(b) for b in others)
        assert group.group_curve(base).divergence(order) == pytest.approx(printed, rel=5e-3)


def test_whole_orders_are_enough():
    whole = DivergenceCurve.at([float(a) for a in range(2, 65)], [0.5 * a for a in range(2, 65)])
    found = group.group_curve(whole)
    assert found.divergence(2.0) == pytest.approx(4.0, rel=2e-3)
    assert found.interval[1] == pytest.approx(1 / (1 - (64 / 63) ** -2))
    assert found.divergence(60.0) == math.inf


def test_one_order_of_the_pairs_is_followed_in_that_order():
    near, far = (DivergenceCurve(partial(mul, s), both=False) for s in (0.1, 0.2))
    assert not group.triangle(near, far).both
    with pytest.raises(ValueError, match="both directions"):
        group.group_curve(near)


def test_divergences_at_the_ends_of_the_doubles():
    assert group.group_curve(lambda order: 1.7e308).divergence(3.0) == math.inf
    for wrong in (lambda order: -1.0, lambda order: -math.inf):
        with pytest.raises(ValueError, match="never negative"):
            group.group_curve(wrong).divergence(3.0)


def test_bad_input_of_groups():
    for size in (0, 61, -3):
        with pytest.raises(ValueError, match="size"):
            group.group_curve(lambda a: a, size)
    with pytest.raises((TypeError, ValueError), match="size"):
        untyped(group.group_guarantee)(Guarantee(1.0), 1.5)
    with pytest.raises(ValueError, match="number of steps"):
        group.triangle()
    steep = DivergenceCurve(lambda a: a, (1.0, 1 + 1e-15))
    with pytest.raises(ValueError, match="beyond 1"):
        group.triangle(*[steep] * 60)
    curve = group.group_curve(lambda a: a)
    assert curve.divergence(1.0) == curve.divergence(math.inf) == math.inf
    assert curve.divergence(math.nextafter(1, 2)) > 0
    assert group.group_curve(lambda a: math.inf).divergence(2.0) == math.inf


# ------------------------------------------------------------------------------------------- between a few orders


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), order=st.floats(1.0001, 12))
def test_chords_are_above_the_divergences(seed, order):
    p, q = chain(1, seed)
    known = [2.0, 3.0, 5.5, 12.0]
    curve = between_orders(DivergenceCurve.at(known, [divergence(p, q, a) * (1 + 1e-12) for a in known]))
    assert divergence(p, q, order) - 1e-12 <= curve.divergence(order)
    above = min(a for a in known if a >= order)
    assert curve.divergence(order) <= divergence(p, q, above) * (1 + 1e-9) + 1e-12


def test_between_no_orders():
    with pytest.raises(ValueError, match="finitely many orders"):
        between_orders(DivergenceCurve(lambda a: a))
    with pytest.raises(ValueError, match="finitely many orders"):
        between_orders(DivergenceCurve.at([0.5], [0.1]))
    curve = between_orders(DivergenceCurve.at([2.0, 3.0], [0.1, math.inf]))
    assert [curve.divergence(order) for order in (1.5, 2.5, 4.0)] == pytest.approx([0.1, math.inf, math.inf])
