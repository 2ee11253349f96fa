"""Laws without rare atoms: what is left out, and answers against enumeration."""

from __future__ import annotations

import mpmath as mp
import pytest

from logphi.inversion.demand import Demand
from logphi.inversion.rare_atoms import without_rare_atoms
from logphi.inversion.smoothed import prepare
from logphi.laws.finite import Finite
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
