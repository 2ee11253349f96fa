"""The Fourier sum against convolution node by node, wrap-around included."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from logphi.grid.fft_composition import compose
from logphi.grid.lattice_law import Grid, LatticeLaw
from slowly import slowly

NODES = 1 << 11


def wrapped_excess(laws: list[tuple[LatticeLaw, int]], grid: Grid, x: float) -> tuple[float, float]:
    """e^{cx} D(x) from the tilted masses of the sum: alone, and with all that goes round added."""
    masses, location, lowest = np.ones(1), 0.0, 0
    for law, count in laws:
        first = int(law.index.min())
        line = np.zeros(int(law.index.max()) - first + 1)
        np.add.at(line, law.index - first, law.weights)
        for _ in range(count):
            masses = np.convolve(masses, line)
            location, lowest = location + law.origin, lowest + first
    over = location + grid.step * (lowest + np.arange(masses.size)) - x

    def paid(turn: int) -> float:
        rest = over - turn * NODES * grid.step
        held = rest > 0
        return float((masses[held] * np.exp(-grid.tilt * rest[held]) * -np.expm1(-rest[held])).sum())

    # e^{c m N h} D(x + m N h) e^{cx} has the tilt of its own threshold
    return paid(0), sum(paid(turn) for turn in range(-60, 61))


@pytest.mark.parametrize(("nodes", "count"), [(3, 3), *slowly((3, 10), (8, 10), (9, 10), (700, 4))])
@pytest.mark.parametrize("upper", [True, False])
def test_the_sum_is_that_of_all_turns(nodes: int, count: int, upper: bool) -> None:
    rng = np.random.default_rng(nodes)
    for _ in range(count):
        grid = Grid(float(rng.uniform(1e-3, 1e-2)), float(rng.uniform(0.5, 20)), upper, 60.0, -700.0, 1 << 20)
        laws = []
        for _ in range(int(rng.integers(1, 4))):
            places = np.unique(rng.integers(-900, 900, nodes)) if nodes < 100 else np.arange(-350, 350)
            weights = rng.dirichlet(np.ones(places.size)) if nodes < 100 else np.exp(-((places / rng.uniform(5, 80)) ** 2))
            laws.append((LatticeLaw(places, weights, 0.0, float(rng.uniform(-0.1, 0.1)), 1e-15), int(rng.integers(1, 6))))
        composed = compose(laws, grid, NODES, grid.tilt * np.array([0.5, 1.5]))
        for x in rng.uniform(-3, 3, 12) * 400 * grid.step:
            found = composed.at(float(x))
            once, all_turns = wrapped_excess(laws, grid, float(x))
            unit = math.exp(found.log_scale + grid.tilt * x)
            # the slack of the nodes is all that the threshold may be moved by
            room = 1e-11 * all_turns
            assert abs(found.value * unit - all_turns) <= found.noise * unit + room
            assert found.noise * unit <= 1e-9 * (all_turns + composed.size * math.exp(composed.log_scale))
            if not upper:
                assert all_turns - once <= mp.exp(found.log_wrap + grid.tilt * x) * (1 + 1e-9) + room


def test_a_lower_law_with_nothing_left_is_zero() -> None:
    grid = Grid(0.01, 2.0, False, 60.0, -700.0, 1 << 20)
    law = LatticeLaw(np.arange(20), np.zeros(20), 0.0, 0.0, 1e-15)
    found = compose([(law, 3)], grid, NODES, np.array([1.0, 3.0])).at(0.05)
    assert abs(found.value) <= 1e-200
    assert found.log_wrap == -math.inf
