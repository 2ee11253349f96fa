"""The proved decay of the inner integral against its modulus, summed finely and without a shift."""

import numpy as np
import pytest

from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope

HEIGHTS = np.geomspace(1e-2, 300.0, 30)


def one(shift, rate, count=1.0):
    return TwoComponents(np.array([shift]), np.array([rate]), np.array([float(count)]))


def log_modulus(m, q, c, heights):
    """log |M(c + it)| - K(c) and an error, by a fine sum over the real line; real arithmetic up to the phase."""
    low, high = min(0.0, m * (c + 1)) - 12, max(0.0, m * (c + 1)) + 12
    x, step = np.linspace(low, high, 60001, retstep=True)
    loss = np.log1p(q * np.expm1(m * x - m * m / 2))
    weight = (c + 1) * loss - x * x / 2
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    assert heights[-1] * m * step < 3
    sums = np.array([abs((weight * np.exp(1j * t * loss)).sum()) for t in heights])
    return np.log(np.maximum(sums - 1e-13, 1e-300))


def draw(rng):
    c = rng.choice([rng.uniform(-1, 0), 10 ** rng.uniform(-2, 1.3), -1 - 10 ** rng.uniform(-2, 2)])
    return 10 ** rng.uniform(-2, 0.7), 10 ** rng.uniform(-6, -0.02), c


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(60))
def test_it_is_above_here_and_beyond(seed):
    rng = np.random.default_rng(seed)
    m, q, c = draw(rng)
    bound = log_mixture_envelope(one(m, q, 10 ** rng.uniform(0, 9)), c, HEIGHTS)[0]
    modulus = log_modulus(m, q, c, HEIGHTS)
    beyond = np.maximum.accumulate(modulus[::-1])[::-1]
    assert np.all(beyond <= bound + 1e-13)
    assert np.all(bound <= 0)
    assert np.all(np.diff(bound) <= 0)


@pytest.mark.parametrize(("m", "q", "c", "least"), [(0.05, 0.01, 3.0, 0.97), (0.3, 0.1, -4.0, 0.9), (0.9, 0.005, 6.0, 0.6)])
def test_a_nearly_normal_law_keeps_its_decay(m, q, c, least):
    heights = np.geomspace(0.2, 2.0, 8) / (m * q)
    ratio = log_mixture_envelope(one(m, q), c, heights)[0] / log_modulus(m, q, c, heights)
    assert np.all(ratio > least)


def test_far_up_it_falls_faster_than_any_power():
    bound = log_mixture_envelope(one(1.0, 0.1), 1.0, 10.0 ** np.arange(2.0, 6.0))[0]
    slopes = np.diff(bound) / np.log(10)
    assert np.all(np.diff(slopes) < 0)
    assert bound[-1] < -15


def test_many_counts_cost_no_accuracy():
    few, many = (log_mixture_envelope(one(0.9, 0.005, count), 6.0, np.array([1e-3]))[0, 0] for count in (1e12, 1e15))
    assert many < 0
    assert few == pytest.approx(many, rel=1e-2)


def test_many_mixtures_are_bounded_one_by_one():
    rng = np.random.default_rng(5)
    many = TwoComponents(rng.uniform(0.2, 2, 20), 10 ** rng.uniform(-4, -0.1, 20), np.ones(20))
    together = log_mixture_envelope(many, 2.0, HEIGHTS)
    assert together.shape == (20, HEIGHTS.size)
    for row, (m, q) in enumerate(zip(many.shift, many.rate, strict=True)):
        alone = log_mixture_envelope(one(m, q), 2.0, HEIGHTS)[0]
        near = alone > -20
        np.testing.assert_allclose(together[row][near], alone[near], rtol=1e-3, atol=1e-11)


def test_mixtures_far_apart_are_bounded_together():
    """Where one has all its mass the other has none, not even in the floats."""
    shifts, rates = np.array([0.28, 0.09]), np.array([5e-5, 6e-5])
    both = TwoComponents(shifts, rates, np.array([1.0, 4875.0]))
    bound = log_mixture_envelope(both, 417.0, HEIGHTS, 1e-12)
    for row, m, q in zip(bound, shifts, rates, strict=True):
        assert (row + 1e-9 >= log_modulus(m, q, 417.0, HEIGHTS)).all()


def test_out_of_reach_nothing_is_claimed():
    assert np.all(log_mixture_envelope(one(50.0, 0.5), 100.0, HEIGHTS) == 0)
