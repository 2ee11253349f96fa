"""Sums of two kinds on a smoothed line: against the profile of the one, summed over the atoms of the other."""

from __future__ import annotations

import itertools

import mpmath as mp
import pytest

import logphi as lp
from logphi.grid.node_sums import values_on
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Part
from logphi.inversion.smoothing.smoothed import prepare

SCALE, RATE = 2.0, 0.2
P, Q = (0.1, 0.25, 0.4, 0.25), (0.3, 0.3, 0.15, 0.25)
COUNT = 3
RTOL = 1e-6


def laplace_profile(x: mp.mpf) -> mp.mpf:
    """E[(1 - e^{x - L})_+] of a Laplace mechanism of sensitivity one."""
    b = mp.mpf(SCALE)
    return mp.mpf(0) if x >= 1 / b else 1 - mp.exp(x) if x <= -1 / b else 1 - mp.exp((x - 1 / b) / 2)


def sampled_profile(x: mp.mpf, reflected: bool) -> mp.mpf:
    """[LT] Theorem 5.1; in the other order D~(x) = 1 - e^x + e^x D(-x)."""
    if reflected:
        return 1 - mp.exp(x) + mp.exp(x) * sampled_profile(-x, False)
    q = mp.mpf(RATE)
    inside = 1 + mp.expm1(x) / q
    return 1 - mp.exp(x) if inside <= 0 else q * laplace_profile(mp.log(inside))


def truth(x: float, reflected: bool) -> mp.mpf:
    cells = [(mp.mpf(q), mp.mpf(p)) if reflected else (mp.mpf(p), mp.mpf(q)) for p, q in zip(P, Q, strict=True)]
    total = mp.mpf(0)
    for chosen in itertools.combinations_with_replacement(cells, COUNT):
        ways = mp.factorial(COUNT) / mp.fprod(mp.factorial(chosen.count(cell)) for cell in set(chosen))
        mass, other = mp.fprod(p for p, _ in chosen), mp.fprod(q for _, q in chosen)
        total += ways * mass * sampled_profile(mp.mpf(x) - mp.log(mass / other), reflected)
    return total


@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("x", [0.0, 0.377, 1.9, 2.6, -0.8])
def test_the_profile_is_enclosed(x: float, reflected: bool) -> None:
    release = lp.Laplace(scale=SCALE).poisson(RATE) + COUNT * lp.Discrete(p=P, q=Q)
    law = release.loss_law()
    found = prepare(law.reflected() if reflected else law, x, Demand(RTOL), values_on)
    assert found is not None
    for at in (x, x + 1e-3):
        inversion = found.at(at)
        assert inversion.nodes > 1 << 10
        with mp.workdps(40):
            exact = truth(at, reflected)
            if inversion.part is Part.REVERSED:
                exact += mp.expm1(mp.mpf(at))
            scale = mp.exp(mp.mpf(inversion.amount.log_scale))
            assert mp.mpf(inversion.amount.low) * scale <= exact <= mp.mpf(inversion.amount.high) * scale
    assert found.at(x).amount.relative_width < 20 * RTOL
