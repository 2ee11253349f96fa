"""Lines without their negligible nodes: against enumerated sums, and against the atoms at the nodes that are left out."""

import math

import numpy as np
import pytest

from logphi.grid.node_sums import values_on
from logphi.inversion.demand import Demand
from logphi.inversion.smoothing.smoothed import prepare
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.negligible_nodes import relevant_blocks
from logphi.quadrature.sums.exponential_sums import exponential_sums
from logphi.quadrature.values import SparseLine
from slowly import slowly

# the relative error of the sums below, in doubles
ROUNDING = 1e-11


def vectors(seed, size, spread):
    """Two probability vectors and the log-ratios."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 1.05, size)
    q = p * np.exp(rng.normal(0, spread, size))
    p, q = p / p.sum(), q / q.sum()
    return p, q, np.log(p / q)


def draws(count, kinds):
    """All vectors of counts of the kinds."""
    found = np.zeros((1, 0), dtype=int)
    for _ in range(kinds - 1):
        left = count - found.sum(axis=1)
        more = np.concatenate([np.arange(one + 1) for one in left])
        found = np.column_stack([np.repeat(found, left + 1, axis=0), more])
    return np.column_stack([found, count - found.sum(axis=1)])


def enumerated(p, loss, count, x, log_scale):
    """E[(1 - e^{x - X})_+] of the sum of ``count`` losses, over e^log_scale."""
    picks = draws(count, p.size)
    log_factorial = np.array([math.lgamma(k + 1) for k in range(count + 1)])
    log_mass = log_factorial[count] - log_factorial[picks].sum(axis=1) + picks @ np.log(p)
    above = picks @ loss - x
    paid = np.exp(log_mass - log_scale) * -np.expm1(-np.maximum(above, 0.0))
    return math.fsum(paid.tolist())


@pytest.mark.parametrize("tabulated", [values_on, None])
@pytest.mark.parametrize(("seed", "deviations"), [(1, 3.0), *slowly((3, 3.0), (7, 5.0))])
def test_the_sum_on_a_sparse_line_is_that_of_the_atoms(seed, deviations, tabulated):
    count = 300
    p, q, loss = vectors(seed, 3, 0.3)
    mean, deviation = count * (p @ loss), math.sqrt(count * (p @ (loss - p @ loss) ** 2))
    x = mean + deviations * deviation
    found = prepare(LogPhi.of([(Finite(tuple(p.tolist()), tuple(q.tolist())), count)]), x, Demand(1e-6), tabulated)
    assert found is not None
    line = found.payoff.contour.line
    assert isinstance(line, SparseLine)
    assert line.size < 0.25 * line.heights[-1] / line.step
    assert found.at(x).amount.relative_width < 1e-6
    for threshold in (x, x + 0.03 * deviation):
        amount = found.at(threshold).amount
        exact = enumerated(p, loss, count, threshold, amount.log_scale)
        assert amount.low - ROUNDING * exact <= exact <= amount.high + ROUNDING * exact


@pytest.mark.parametrize("count", [60, 300])
def test_the_transform_is_small_at_the_nodes_that_are_left_out(count):
    p, q, loss = vectors(4, 30, 0.5)
    law, c, step, size, log_floor = LogPhi.of([(Finite(tuple(p.tolist()), tuple(q.tolist())), count)]), 2.3, 0.02, 40_000, -25.0
    found = relevant_blocks(law, c, step, size, log_floor)
    assert found is not None
    firsts, nodes = found
    kept = np.zeros(size + nodes, dtype=bool)
    kept[(firsts[:, None] + np.arange(nodes)).ravel()] = True
    assert kept[0]
    assert kept.mean() < 0.2
    weight = p * np.exp(c * loss)
    sizes = np.abs(np.exp(1j * step * np.arange(size)[:, None] * loss) @ weight) / weight.sum()
    assert (count * np.log(sizes[~kept[:size]])).max() <= log_floor
    # the nodes that count are kept
    assert kept[:size][count * np.log(sizes) > log_floor].all()


def test_a_line_on_which_everything_counts_is_not_made_sparse():
    law = LogPhi.of([(Finite((0.6, 0.4), (0.4, 0.6)), 3)])
    assert relevant_blocks(law, 1.0, 0.1, 10_000, -20.0) is None


def test_sums_on_a_sparse_line_are_those_at_its_points():
    _, _, loss = vectors(5, 12, 1.0)
    line = SparseLine(0.5, 0.125, np.array([0, 64, 4096]), 8)
    sums = exponential_sums(np.ones(loss.size), loss, line)
    assert line.size == sums.size == 24
    assert np.allclose(sums, np.exp(1j * line.heights[:, None] * loss).sum(axis=1), atol=1e-11)
    assert (line.points == 0.5 + 1j * line.heights).all()
