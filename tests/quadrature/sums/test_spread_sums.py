"""Exponential sums by one Fourier transform: against the sums themselves at many digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from logphi.quadrature.sums.spread_sums import spread_sums


def summed(places: np.ndarray, weights: np.ndarray, height: float) -> mp.mpc:
    with mp.workdps(30):
        return mp.fsum(mp.mpf(w) * mp.expj(mp.mpf(height) * mp.mpf(x)) for x, w in zip(places, weights, strict=True))


@pytest.mark.parametrize("size", [1, 2, 9, 1000, 4096, 5000])
@pytest.mark.parametrize("far", [0.0, 1e3])
def test_sums_are_within_their_errors(size: int, far: float) -> None:
    rng = np.random.default_rng(size)
    places, weights = far + rng.normal(size=40), 10 ** rng.uniform(-12, 0, 40)
    step = 0.37
    sums, errors = spread_sums(places, weights, step, size)
    moved = 2 * 2.0**-52 * np.abs(places)
    for j in np.unique(np.geomspace(1, size, 12).astype(int)) - 1:
        height = float(step * j)
        allowed = errors[j] * weights.sum() + height * float(weights @ moved)
        assert abs(mp.mpc(sums[j]) - summed(places, weights, height)) <= allowed


def test_errors_are_negligible_but_near_the_end_of_the_line() -> None:
    _, errors = spread_sums(np.linspace(-3.0, 3.0, 100), np.ones(100), 0.1, 4096)
    assert errors[:1024].max() < 3e-13
    assert errors[:2048].max() < 1e-9
    assert errors.max() < 1e-5


def test_more_room_leaves_the_error_of_rounding() -> None:
    places, weights = np.linspace(-3.0, 3.0, 100), np.linspace(0.1, 1.0, 100)
    sums, errors = spread_sums(places, weights, 0.1, 3000, room=16)
    assert errors.max() < 1e-12
    for j in (1, 1500, 2999):
        height = 0.1 * j
        assert abs(mp.mpc(sums[j]) - summed(places, weights, height)) <= (errors[j] + 1e-15 * height * 6) * weights.sum()


def test_one_place_is_a_rotation() -> None:
    sums, _ = spread_sums(np.array([1.25]), np.array([2.0]), 0.5, 200)
    assert np.allclose(sums[:50], 2 * np.exp(0.625j * np.arange(50)), atol=1e-12)
