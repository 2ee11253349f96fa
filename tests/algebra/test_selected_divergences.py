"""Divergences of the best of many runs: by enumeration of scores, and norms by quadrature at many digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.algebra.selected_divergences import ORDERS, SelectedDivergences
from logphi.algebra.selection import Selected
from logphi.answers.status import Direction
from logphi.sampling.repetitions import Repetitions
from selected_outcomes import best, chances

LAWS = [(3.0, 1.0), (5.0, 0.0), (2.0, -0.5), (0.7, math.inf)]


def renyi(p, q, order):
    if order == 1:
        return float((p * np.log(p / q)).sum())
    if math.isinf(order):
        return float(np.log(p / q).max())
    return math.log((p * (p / q) ** (order - 1)).sum()) / (order - 1)


@pytest.mark.parametrize(("mean", "shape"), LAWS)
def test_no_score_has_a_larger_divergence(mean, shape):
    p, q = np.array([0.5, 0.2, 0.25, 0.05]), np.array([0.35, 0.3, 0.25, 0.1])
    selected = lp.Discrete(p.tolist(), q.tolist()).repeat_and_select(mean, shape)
    assert isinstance(selected, Selected)
    law = chances(mean, shape, 400)
    # there may be no run
    kept = slice(None) if law[0] > 0 else slice(-1)
    outcomes = [(best(p, order, law)[kept], best(q, order, law)[kept]) for order in itertools.permutations(range(4))]
    for direction in (Direction.REMOVE, Direction.ADD):
        pairs = outcomes if direction is Direction.REMOVE else [pair[::-1] for pair in outcomes]
        largest = {order: max(renyi(*pair, order) for pair in pairs) for order in (0.5, 1, 1.001, 1.3, 2, 7, 40, math.inf)}
        for order, truth in largest.items():
            assert truth <= selected._moment_above("renyi", order, direction) + 1e-9
        for xi in (0.0, 0.1):
            truth = max((largest[order] - xi) / order for order in (1, 1.001, 1.3, 2, 7, 40))
            assert truth <= selected._moment_above("zcdp", xi, direction) + 1e-9


@pytest.mark.parametrize(("mean", "shape"), LAWS)
def test_norms_by_quadrature(mean, shape):
    known = SelectedDivergences(Repetitions.of(mean, shape), 0.0, np.zeros(0), 0.0)
    with mpmath.workdps(25):
        if math.isinf(shape):

            def density(y):
                return mean * mpmath.exp(-mean * y)
        else:
            t = mpmath.findroot(lambda t: mean_of(t, shape) - mean, 2.0)

            def density(y):
                return mean * (1 + mpmath.expm1(t) * y) ** -(shape + 1)

        for z, far in ((0.001, 0.5), (0.5, 1.0), (3.0, 3.5)):
            s = mpmath.mpf(far) / (mpmath.mpf(far) - z)
            truth = mpmath.log(mpmath.quad(lambda y, s=s: density(y) ** s, [0, 0.02, 0.2, 1])) / s
            (found,) = known._log_norms(z, np.array([far]))
            assert truth <= found <= truth + 1e-11


def mean_of(t, shape):
    return mpmath.expm1(t) / (t if shape == 0 else -mpmath.expm1(-shape * t) / shape)


def test_the_least_sum_is_the_bound():
    runs = Repetitions.of(5.0, 1.0)
    known = SelectedDivergences(runs, 0.3, ORDERS / 8, 1 / 8)
    sums = [math.log(5) / 0.5 + 1.5 / 8]
    sums += [float(known._log_norms(0.5, np.array([b - 1]))[0]) / 0.5 + b / 8 for b in ORDERS[ORDERS > 1.51].tolist()]
    assert known.at(1.5, 1.5 / 8) == pytest.approx(0.3 + min(sums), rel=1e-12)
    assert known.at(1.0) == known.at(1.00005) >= known.at(1.0001)
    assert known.at(math.inf, 2.0) == pytest.approx(2.3)
    for xi in (0.0, 0.3, 1.0):
        rho = known.smallest_rho(xi)
        assert all(known.at(a, a / 8) <= (xi + rho * a) * (1 + 1e-9) for a in (1.0, 1.1, 1.77, 3.0, 9.1, 800.0, 1e5))


def test_of_a_gaussian_mechanism_divergences_are_finite_also_in_compositions():
    one = lp.Gaussian(sigma=2.0)
    selected = one.repeat_and_select(10)
    both = selected + lp.Gaussian(sigma=3.0)
    for order in (1.0, 2.0, 30.0):
        alone = selected.renyi(order)
        assert alone.status is lp.Status.BRACKET
        assert one.renyi(order).lower < alone.upper < 5
        assert both.renyi(order).upper == pytest.approx(alone.upper + order / 18, rel=1e-9)
    assert selected.renyi([1.0, 2.0]).upper.tolist() == [selected.renyi(order).upper for order in (1.0, 2.0)]
    assert selected.kl_divergence().upper == selected.renyi(1.0).upper
    assert selected.max_divergence().upper == math.inf
    rho = selected.zcdp(1.0).upper
    assert all(selected.renyi(order).upper <= 1.0 + rho * order for order in (1.0, 1.7, 6.0, 300.0))
    assert both.zcdp(1.0).upper <= rho + 1 / 18 * 1.001 + 0.5
