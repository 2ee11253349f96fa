"""The pair above mechanisms of bounded ranges by their moments: against the best picks, and moments at forty digits."""

import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from adaptive_range import in_any_order
from logphi.comparison import UPPER
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.ranges.by_moments import by_moments, largest_moments


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 2.0, 40.0])
def test_moments_are_those_of_the_best_pick_rounded_up(epsilon):
    z = np.array([1e-5, 0.01, 0.7, 5.0, 300.0, 1e6])
    found = largest_moments(epsilon, z)
    with mpmath.workdps(40):
        e = mpmath.mpf(epsilon)
        for at, bound in zip(z.tolist(), found.tolist(), strict=True):
            order = mpmath.mpf(at)
            # E e^{zL} is e^{zt} A - e^{(z+1)t} B, with its maximum at e^t = z A / ((z + 1) B)
            a = (1 - mpmath.exp(-e * (order + 1))) / (1 - mpmath.exp(-e))
            b = mpmath.exp(-e) * (1 - mpmath.exp(-e * order)) / (1 - mpmath.exp(-e))
            t = mpmath.log(order * a / ((order + 1) * b))
            exact = mpmath.log(mpmath.exp(order * t) * a - mpmath.exp((order + 1) * t) * b)
            assert exact <= bound
            assert bound <= float(exact) * (1 + 1e-7)


@pytest.mark.parametrize(("parts", "counts", "step"), [((10, 30), (3, 2), 0.05), ((8, 12, 15), (2, 1, 3), 0.2)])
def test_the_recursion_from_its_definition_is_below(parts, counts, step):
    x, attained = in_any_order(parts, counts, step)
    above = by_moments([(n * step, own) for n, own in zip(parts, counts, strict=True)], Adjacency.ADD_REMOVE)
    assert above is not None
    kept = slice(x.size // 10, None, 7)
    assert (attained[kept] <= np.asarray(above.delta(x[kept]).upper) * (1 + 1e-9)).all()
    total = float(x[-1])
    assert total <= above.epsilon(0).upper <= total * (1 + 1e-9)
    # Chernoff's bound: by a factor of the root of the variance too large, about
    at = 0.8 * total
    assert above.delta(at).upper < 40 * float(np.interp(at, x, attained))


@pytest.mark.few(1)
def test_it_answers_where_it_is_the_sharpest_bound():
    rng = np.random.default_rng(5)
    steps = lp.compose(lp.ExponentialMechanism(one) for one in rng.uniform(1, 3, 60).round(3).tolist())
    for delta, near in ((1e-6, 0.03), (1e-12, 0.012)):
        found = steps.epsilon(delta)
        assert 0 < found.lower < found.upper < (1 + near) * found.lower
        # no conversion of the Renyi divergences is below the answer
        best = lp.compare(steps, delta=delta, methods=["zCDP, best order"]).rows[1].value
        assert best is not None
        assert found.upper <= best
    some = steps + lp.Gaussian(2)
    assert steps.epsilon(1e-6).lower < some.epsilon(1e-6).upper < math.inf


def test_losses_beyond_doubles_have_no_such_pair():
    assert by_moments([(20.0, 100)], Adjacency.ADD_REMOVE) is None


def test_no_conversion_of_divergences_is_below_the_epsilon_of_few_steps():
    """Next to the largest loss, where the profile falls steeply, large orders are sharper than chords."""
    release = 2 * lp.ExponentialMechanism(2.07)
    table = lp.compare(release, delta=7.9e-12)
    bounds = [row.value for row in table.rows[1:] if row.side == UPPER and row.value is not None]
    assert table.exact.upper <= min(bounds) * (1 + 1e-9)
