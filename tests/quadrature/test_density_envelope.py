"""Envelopes of characteristic functions against explicit ones, here and beyond each height."""

import math

import numpy as np
import pytest

from logphi.quadrature.density_envelope import log_density_envelope

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
    bound = log_density_envelope(variation, HEIGHTS, weight)
    assert np.all(np.log(np.maximum(worst, 1e-300)) <= bound + FUZZ)
    assert np.all(bound <= 0)
    assert np.all(np.diff(bound) <= FUZZ)


def test_smooth_envelope_decays_and_bends():
    far = log_density_envelope(2.0, np.array([1e6]))
    assert far[0] == pytest.approx(math.log(2e-6), rel=1e-6)
    near = log_density_envelope(2.0, np.array([1e-7]))
    assert -near[0] == pytest.approx(0.08 * (1e-7 / 2) ** 2, rel=1e-3)


@pytest.mark.parametrize("name", ["uniform", "normal", "exponential"])
def test_smooth_envelope_scales(name):
    _, variation = DENSITIES[name]
    np.testing.assert_allclose(
        log_density_envelope(variation, HEIGHTS), log_density_envelope(10 * variation, 10 * HEIGHTS), rtol=1e-9
    )


def test_variations_broadcast():
    both = log_density_envelope(np.array([[1.0], [2.0]]), HEIGHTS)
    np.testing.assert_array_equal(both[1], log_density_envelope(2.0, HEIGHTS))
