"""Algorithm 2 of Zhu, Dong & Wang (2022): losses rounded down and up on a grid enclose the profile, to the letter."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import logphi as lp
from directions import OneDirection
from logphi.arith.protocol import Plain
from logphi.classical import analytical_fourier
from logphi.comparators.levy_sums import prepare
from logphi.comparators.output_cells import cells_of
from logphi.laws.flat.uniform import Uniform
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import LossTransform
from refusals import untyped

# their Experiment 3
RATE, SIGMA, STEPS, POINTS, REACH = 0.01, 2.0, 1500, 100_000, 100.0


def by_definition(epsilon: float, steps: int) -> tuple[float, float]:
    """Definition 39 in NumPy: the rounded losses on a lattice of their own, and a plain convolution power."""
    edges = np.linspace(-REACH, REACH, POINTS + 1)
    mass = (1 - RATE) * np.diff(ndtr(edges / SIGMA)) + RATE * np.diff(ndtr((edges - 1) / SIGMA))
    loss = np.log(1 - RATE + RATE * np.exp((2 * edges - 1) / (2 * SIGMA**2)))
    nodes, step = 1 << 19, 1.2e-5
    places = step * (np.arange(nodes) - nodes // 4)
    found = []
    for ends in (loss[:-1], loss[1:]):
        place = np.clip(ends, places[0], places[-2]) / step + nodes // 4
        below = np.floor(place).astype(int)
        share = place - below
        line = np.bincount(below, mass * (1 - share), nodes) + np.bincount(below + 1, mass * share, nodes)
        power = np.fft.irfft(np.fft.rfft(np.roll(line, -(nodes // 4))) ** steps, nodes)
        total = np.roll(power, nodes // 4)
        above = places > epsilon
        found.append(float((total[above] * -np.expm1(epsilon - places[above])).sum()))
    return found[0], found[1]


def test_experiment_3_by_the_letter() -> None:
    release = STEPS * lp.Gaussian(sigma=SIGMA).poisson(RATE)
    found: Any = analytical_fourier.delta(release, 0.5, cells=POINTS, reach=REACH, direction="remove")
    assert (found.lower, found.upper) == pytest.approx(by_definition(0.5, STEPS), rel=3e-3)
    assert found.lower <= release.delta(0.5).lower
    assert release.delta(0.5).upper <= found.upper
    # what was asked for: at least as sharp as the bounds of the source's own grid
    assert found.lower > 7.15e-4
    assert found.upper < 8.11e-4
    assert found.ledger.proved


@pytest.mark.few(1)
@pytest.mark.parametrize("direction", ["add", "remove"])
@pytest.mark.parametrize("steps", [1, 30])
def test_the_gap_falls_with_the_cells_and_grows_with_the_reach(steps: int, direction: OneDirection) -> None:
    release = steps * lp.Gaussian(sigma=1.0).poisson(0.1)
    known = release.delta(0.3, direction=direction)
    widths = []
    for cells, reach in ((2_000, 20.0), (1_000, 20.0), (1_000, 40.0)):
        found: Any = analytical_fourier.delta(release, 0.3, cells=cells, reach=reach, direction=direction)
        assert found.lower <= known.lower <= known.upper <= found.upper
        widths.append(found.upper - found.lower)
    assert widths[1] == pytest.approx(2 * widths[0], rel=0.2)
    assert widths[2] == pytest.approx(2 * widths[1], rel=0.2)


def test_the_mass_beyond_the_reach_is_in_the_upper_bound() -> None:
    # beyond S = 2 is a mass of Phi(-1) with the record; it counts as an infinite loss
    release = lp.Gaussian(sigma=1.0)
    found: Any = analytical_fourier.delta(release, 0.5, cells=100_000, reach=2.0)
    inside = ndtr(1.0) - ndtr(0.0) - np.exp(0.5) * (ndtr(2.0) - ndtr(1.0))
    assert found.upper == pytest.approx(inside + ndtr(-1.0), rel=1e-3)
    # and as the loss at S, 3/2, in the lower one
    assert found.lower == pytest.approx(inside + ndtr(-1.0) * -np.expm1(0.5 - 1.5), rel=1e-3)
    assert found.lower <= release.delta(0.5).value <= found.upper


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.floats(-0.4, 1.3),
    st.floats(-3.5, -0.05),
    st.integers(1, 2000),
    st.floats(-10, -0.5),
    st.integers(10, 20_000),
    st.sampled_from([None, 0.5, 10.0, 300.0]),
    st.sampled_from(["add", "remove"]),
)
def test_the_default_route_lies_between(
    log_sigma: float, log_rate: float, count: int, log_delta: float, cells: int, reach: float | None, direction: OneDirection
) -> None:
    release = count * lp.Gaussian(sigma=10**log_sigma).poisson(10**log_rate) + lp.Laplace(scale=3.0)
    epsilon = release.epsilon(10**log_delta, direction=direction).upper
    found: Any = analytical_fourier.delta(release, epsilon, cells=cells, reach=reach, direction=direction)
    known = release.delta(epsilon, direction=direction)
    assert found.lower <= known.upper
    assert known.lower <= found.upper


RANDOM = np.random.default_rng(39)


@pytest.mark.few(2)
@pytest.mark.parametrize("cells", RANDOM.integers(20, 20_000, 6).tolist())
def test_random_settings_enclose_the_default_route(cells: int) -> None:
    sigma, rate, count = 10 ** RANDOM.uniform(-0.3, 1.3), 10 ** RANDOM.uniform(-3, 0), int(10 ** RANDOM.uniform(0, 3))
    release = count * lp.Gaussian(sigma=sigma).poisson(rate)
    epsilon = release.epsilon(1e-4, rtol=1e-4).upper
    found, known = analytical_fourier.delta(release, epsilon, cells=cells, reach=None), release.delta(epsilon)
    assert found.lower <= known.upper
    assert known.lower <= found.upper


@pytest.mark.slow
def test_epsilon_encloses() -> None:
    release = 200 * lp.Gaussian(sigma=SIGMA).poisson(RATE) + 5 * lp.RandomizedResponse(0.52)
    known = release.epsilon(1e-5)
    found: Any = analytical_fourier.epsilon(release, 1e-5, cells=20_000, reach=50.0)
    assert found.lower <= known.lower <= known.upper <= found.upper <= 1.05 * found.lower
    sharper: Any = release.epsilon(1e-5, method="levy-sums")
    assert sharper.width < found.width


def test_arrays_have_their_shape() -> None:
    release = 10 * lp.Gaussian(sigma=3.0)
    found: Any = analytical_fourier.delta(release, [[0.2], [1.0]], cells=1000, reach=30)
    assert found.upper.shape == (2, 1)
    assert (found.lower <= release.delta([[0.2], [1.0]]).value).all()


@pytest.mark.parametrize(
    "law",
    [Normal(Plain(0.7)), MixedNormal(Plain(2.0), Plain(0.1)), MixedNormal(Plain(2.0), Plain(0.1)).reflected()],
    ids=["normal", "mixed", "reflected"],
)
@pytest.mark.parametrize("reach", [None, 12.0])
def test_cells_hold_both_probabilities(law: LossTransform, reach: float | None) -> None:
    cells = cells_of(law, 300, reach)
    assert cells is not None
    assert cells.mass.size == cells.tilted.size == 300
    assert cells.mass.sum() == pytest.approx(1, abs=1e-14)
    assert cells.tilted.sum() == pytest.approx(1, abs=1e-14)
    assert (np.diff(cells.edges) >= 0).all()
    # in every cell the ratio of the two masses is e^loss for a loss between the edges
    inner = np.minimum(cells.mass, cells.tilted) > 1e-12
    loss = np.log(cells.mass[inner] / cells.tilted[inner])
    assert (loss >= cells.edges[:-1][inner] - 1e-3).all()
    assert (loss <= cells.edges[1:][inner] + 1e-3).all()


def test_a_law_without_cells_is_nothing_to_round() -> None:
    with pytest.raises(ValueError, match="no loss to round"):
        prepare(LogPhi.of([(Uniform(Plain(1.0)), 30)]), 0.1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cells": 0}, "cells must be an integer from 2"),
        ({"cells": 10**9}, "cells must be an integer from 2"),
        ({"reach": -1.0}, "reach"),
        ({"reach": float("inf")}, "reach"),
        ({"direction": "both ways"}, "direction"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    for ask in (analytical_fourier.delta, analytical_fourier.epsilon):
        with pytest.raises(ValueError, match=message):
            ask(lp.Gaussian(1.0), 0.1, **arguments)


def test_a_release_is_asked_for() -> None:
    with pytest.raises(TypeError, match="release must be"):
        untyped(analytical_fourier.delta)(0.3, 1.0)


@pytest.mark.parametrize("reach", [1e-90, 1e9, 1e90])
def test_a_reach_beyond_sense_tells_nothing_wrong(reach: float) -> None:
    release = 3 * lp.Gaussian(sigma=2.0).poisson(0.1)
    found, known = analytical_fourier.delta(release, 0.1, cells=100, reach=reach), release.delta(0.1)
    assert found.lower <= known.lower <= known.upper <= found.upper
