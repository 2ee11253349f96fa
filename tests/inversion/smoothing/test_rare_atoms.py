"""Laws without rare atoms: what is left out, and answers against enumeration."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import logphi as lp
from logphi.inversion.demand import Demand
from logphi.inversion.smoothing.rare_atoms import without_rare_atoms
from logphi.inversion.smoothing.smoothed import prepare
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi

RARE = 2.0**-60
P, Q = (RARE, 0.25, 0.375, 0.375 - RARE), (RARE**3, 0.125, 0.5, 0.375 - RARE**3)
COUNT = 6


def excess(x: float) -> mp.mpf:
    total = mp.mpf(0)
    cells = [(mp.mpf(p), mp.mpf(q)) for p, q in zip(P, Q, strict=True)]
    for i in range(COUNT + 1):
        for j in range(COUNT + 1 - i):
            for k in range(COUNT + 1 - i - j):
                own = (i, j, k, COUNT - i - j - k)
                ways = mp.factorial(COUNT) / mp.fprod(map(mp.factorial, own))
                mass, other = (mp.fprod(cell[side] ** n for cell, n in zip(cells, own, strict=True)) for side in (0, 1))
                total += ways * max(mass - mp.exp(mp.mpf(x)) * other, 0)
    return total


def test_what_is_left_out_is_rare_beside_the_value() -> None:
    law = LogPhi.of([(Finite(P, Q), COUNT)])
    small, omitted, _ = without_rare_atoms(law, 0.5, 1e-6)
    assert RARE * COUNT <= omitted <= RARE * COUNT * (1 + 1e-8)
    assert small.support.upper < law.support.upper / 2


def test_atoms_that_decide_are_kept() -> None:
    law = LogPhi.of([(Finite(P, Q), COUNT)])
    assert without_rare_atoms(law, 30.0, 1e-6)[:2] == (law, 0.0)
    assert without_rare_atoms(law, 0.5, 1e-14)[:2] == (law, 0.0)


@pytest.mark.parametrize("x", [0.1, 0.5, 1.3, 3.9])
def test_bounds_hold_with_what_is_left_out(x: float) -> None:
    found = prepare(LogPhi.of([(Finite(P, Q), COUNT)]), x, Demand(1e-6))
    assert found is not None
    for at in (x, 10.0):
        amount = found.at(at).amount
        with mp.workdps(60):
            scale = mp.exp(mp.mpf(amount.log_scale))
            assert mp.mpf(amount.low) * scale <= excess(at) <= mp.mpf(amount.high) * scale


def by_convolution(sigma: float, rate: float, count: int, x: float, tilt: float, side: int) -> float:
    """The logarithm of the excess of sampled discrete Gaussians, losses moved to a grid below (-1) or above (1).

    By one FFT of the law of a single loss, tilted by e^{cl}; losses above one are left out.
    """
    step, size = 2e-7, 1 << 23
    outcome = np.arange(-40 * sigma, 40 * sigma) // 1
    log_q = -(outcome**2) / (2 * sigma**2)
    log_q -= np.log(np.exp(log_q).sum())
    loss = np.log1p(rate * np.expm1((outcome - 0.5) / sigma**2))
    kept = loss < 1.0
    loss, log_q = loss[kept], log_q[kept]
    place = (np.floor if side < 0 else np.ceil)((loss - loss.min()) / step).astype(int)
    log_weight = log_q + loss + tilt * loss
    peak = log_weight.max()
    mass = np.bincount(place, np.exp(log_weight - peak), size)
    total = np.fft.irfft(np.fft.rfft(mass) ** count, size)
    at = count * loss.min() + step * np.arange(size)
    # far from its mean the tilted law is noise
    ahead = (at > x) & (at < x + 0.1)
    gain = np.exp(-tilt * (at[ahead] - x)) * -np.expm1(x - at[ahead])
    return float(np.log((np.maximum(total[ahead], 0.0) * gain).sum()) + count * peak - tilt * x)


@pytest.mark.slow
def test_what_is_rare_beside_too_large_a_value_is_not_rare_beside_the_value() -> None:
    sigma, rate, count, x = 5.25, 0.004, 125, 0.9375
    found = (count * lp.DiscreteGaussian(sigma=sigma).poisson(rate)).delta(x)
    assert found.lower > 0
    assert found.upper < found.lower * 1.1
    low, high = (by_convolution(sigma, rate, count, x, 500.0, side) for side in (-1, 1))
    # of either, the noise of the transform is a hundredth
    assert abs(high - low) < 0.05
    assert np.log(found.lower) - 0.02 <= low <= np.log(found.upper) + 0.02
