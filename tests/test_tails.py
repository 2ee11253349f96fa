"""Envelopes of characteristic functions against explicit ones, here and beyond each height."""

import math

import numpy as np
import pytest

from logphi.numerics.tails import log_layered_envelope, log_smooth_envelope

HEIGHTS = np.concatenate([np.geomspace(1e-8, 1e4, 150), np.linspace(0.1, 60, 150)])
HEIGHTS.sort()
# what doubles lose in a logarithm near zero
FUZZ = 2e-16


def sinc(x):
    return np.sinc(x / np.pi)


# modulus of the characteristic function, total variation of the density
DENSITIES = {
    "uniform": (lambda t: np.abs(sinc(t)), 1.0),  # 1/2 on [-1, 1]
    "narrow": (lambda t: np.abs(sinc(1e-3 * t)), 1e3),
    "normal": (lambda t: np.exp(-t * t / 2), 2 / math.sqrt(2 * math.pi)),
    "wide-normal": (lambda t: np.exp(-50 * t * t), 0.2 / math.sqrt(2 * math.pi)),
    "exponential": (lambda t: 1 / np.hypot(1, t), 2.0),
    "gamma-2": (lambda t: (1 + t * t) ** -1.0, 2 * math.exp(-1)),
    "gamma-7": (lambda t: (1 + t * t) ** -3.5, 2 * 6**6 * math.exp(-6) / math.factorial(6)),
    "triangular": (lambda t: sinc(t / 2) ** 2, 2.0),
    "double-exponential": (lambda t: 1 / (1 + t * t), 1.0),
    "two-humps": (lambda t: np.abs(np.cos(4 * t) * sinc(t)), 2.0),  # blocks of width 2 around -4 and 4
    "comb": (lambda t: np.abs(np.cos(8 * t) * np.cos(4 * t) * sinc(t)), 4.0),
    "cauchy": (lambda t: np.exp(-np.abs(t)), 2 / math.pi),
}


def beyond(modulus, heights):
    """The largest modulus seen at or beyond each height."""
    fine = np.concatenate([heights, np.linspace(0, 200, 60001)])
    values = modulus(fine)
    order = np.argsort(fine)
    running = np.maximum.accumulate(values[order][::-1])[::-1]
    return running[np.searchsorted(fine[order], heights)]


@pytest.mark.parametrize("name", DENSITIES)
@pytest.mark.parametrize("weight", [1.0, 0.6, 1e-3])
def test_smooth_envelope_is_above(name, weight):
    modulus, variation = DENSITIES[name]
    # a density of the given weight beside an atom at zero, the worst that the rest can be
    worst = beyond(lambda t: 1 - weight + weight * modulus(t), HEIGHTS)
    bound = log_smooth_envelope(variation, HEIGHTS, weight)
    assert np.all(np.log(np.maximum(worst, 1e-300)) <= bound + FUZZ)
    assert np.all(bound <= 0)
    assert np.all(np.diff(bound) <= FUZZ)


def test_smooth_envelope_decays_and_bends():
    far = log_smooth_envelope(2.0, np.array([1e6]))
    assert far[0] == pytest.approx(math.log(2e-6), rel=1e-6)
    near = log_smooth_envelope(2.0, np.array([1e-7]))
    assert -near[0] == pytest.approx(0.08 * (1e-7 / 2) ** 2, rel=1e-3)


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential"])
def test_smooth_envelope_scales(name):
    _, variation = DENSITIES[name]
    np.testing.assert_allclose(
        log_smooth_envelope(variation, HEIGHTS), log_smooth_envelope(10 * variation, 10 * HEIGHTS), rtol=1e-9
    )


def test_variations_broadcast():
    both = log_smooth_envelope(np.array([[1.0], [2.0]]), HEIGHTS)
    np.testing.assert_array_equal(both[1], log_smooth_envelope(2.0, HEIGHTS))


def level_sets(density, mode_left, mode_right, levels):
    """Blocks below a unimodal density: its level sets, and the mass between one level and the next."""
    widths, masses = [], []
    below = 0.0
    for level in levels:
        left, right = _root(density, mode_left, level), _root(density, mode_right, level)
        widths.append(right - left)
        masses.append((level - below) * (right - left))
        below = level
    return np.array(widths), np.array(masses)


def _root(density, bracket, level):
    inside, outside = bracket
    for _ in range(200):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if density(middle) >= level else (inside, middle)
    return inside


def _blocks(name):
    if name == "normal":
        top = 1 / math.sqrt(2 * math.pi)
        return level_sets(lambda x: top * math.exp(-x * x / 2), (0, -10), (0, 10), top * np.linspace(0.02, 0.98, 25))
    if name == "exponential":
        return level_sets(lambda x: math.exp(-x) if x >= 0 else 0.0, (0, -1), (0, 40), np.linspace(0.02, 0.98, 25))
    if name == "gamma-7":
        return level_sets(
            lambda x: x**6 * math.exp(-x) / 720 if x > 0 else 0.0, (6, 0), (6, 60), 0.16 * np.linspace(0.02, 0.98, 20)
        )
    if name == "gamma-2":
        return level_sets(lambda x: x * math.exp(-x) if x > 0 else 0.0, (1, 0), (1, 60), 0.367 * np.geomspace(0.001, 0.99, 20))
    if name == "triangular":
        return level_sets(lambda x: max(0.0, 1 - abs(x)), (0, -1), (0, 1), np.linspace(0.05, 0.95, 12))
    if name == "double-exponential":
        return level_sets(lambda x: math.exp(-abs(x)) / 2, (0, -40), (0, 40), 0.5 * np.linspace(0.05, 0.95, 12))
    if name == "two-humps":
        return np.array([2.0, 2.0]), np.array([0.5, 0.5])
    return np.array([2.0]), np.array([1.0])


@pytest.mark.parametrize(
    "name", ["uniform", "normal", "exponential", "gamma-2", "gamma-7", "triangular", "double-exponential", "two-humps"]
)
def test_layered_envelope_is_above(name):
    widths, masses = _blocks(name)
    assert masses.sum() <= 1 + 1e-12
    bound = log_layered_envelope(widths, masses, HEIGHTS)
    assert np.all(np.log(np.maximum(beyond(DENSITIES[name][0], HEIGHTS), 1e-300)) <= bound + 1e-9)
    assert np.all(np.diff(bound) <= FUZZ)


def test_layered_envelope_leaves_the_rest_alone():
    widths, masses = np.array([[2.0, 1.0], [2.0, 1.0]]), np.array([[0.5, 0.2], [0.0, 0.0]])
    bound = log_layered_envelope(widths, masses, HEIGHTS)
    assert bound.shape == (2, HEIGHTS.size)
    assert np.all(bound[1] == 0)
    worst = beyond(lambda t: 0.3 + 0.5 * np.abs(sinc(t)) + 0.2 * np.abs(sinc(t / 2)), HEIGHTS)
    assert np.all(np.log(worst) <= bound[0] + 1e-12)
    # the side lobes of a block count: at its second maximum the modulus is 0.217
    peak = 4.493409457909064
    assert math.log(abs(math.sin(peak) / peak)) <= log_layered_envelope(np.array([2.0]), np.ones(1), np.array([peak]))[0]


def test_small_heights_keep_their_curvature():
    bound = log_layered_envelope(np.array([2.0]), np.ones(1), np.array([1e-4]))
    assert -bound[0] == pytest.approx(1e-8 / 6, rel=1e-6)
