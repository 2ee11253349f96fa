"""Transforms on a long line, by sums over nodes: against the formulas in many digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from logphi.arith.protocol import Plain, Ratio
from logphi.grid.node_sums import values_on
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.transform import LossTransform, Reflected
from logphi.mechanisms import Laplace
from logphi.quadrature.values import Line

SAMPLED_LAPLACE = Laplace(scale=2.0).poisson(0.2).loss_law().terms[0][0]
HALF_ULP = 1e-15


def sampled_laplace(z: mp.mpc) -> mp.mpc:
    """E_Q[(1 - q + q e^l)^{z + 1}], Q = Laplace(0, 2) and l its loss to Laplace(1, 2)."""
    q, b = mp.mpf(0.2), mp.mpf(2)

    def term(loss: mp.mpf) -> mp.mpc:
        return (1 - q + q * mp.exp(loss)) ** (z + 1)

    inside = mp.quad(lambda y: mp.exp(-y / b) / (2 * b) * term((2 * y - 1) / b), mp.linspace(0, 1, 5))
    return term(-1 / b) / 2 + inside + term(1 / b) * mp.exp(-1 / b) / 2


def mixed_normal(z: mp.mpc) -> mp.mpc:
    m, q = mp.mpf(1) / mp.mpf("0.8"), mp.mpf(0.05)
    return mp.quad(lambda y: mp.npdf(y) * (1 - q + q * mp.exp(m * y - m * m / 2)) ** (z + 1), mp.linspace(-11, 15, 27))


P, Q = (0.1, 0.25, 0.4, 0.25), (0.3, 0.3, 0.15, 0.25)


def finite(z: mp.mpc) -> mp.mpc:
    return mp.fsum(mp.mpf(p) * (mp.mpf(p) / mp.mpf(q)) ** z for p, q in zip(P, Q, strict=True))


LAWS = {
    "curve": (SAMPLED_LAPLACE, sampled_laplace),
    "mixture": (MixedNormal(Ratio(1.0, 0.8), Plain(0.05)), mixed_normal),
    "atoms": (Finite(P, Q), finite),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("name", LAWS)
def test_values_are_within_their_errors(name: str, reflected: bool) -> None:
    law, transform = LAWS[name]
    line = Line(2.5, 0.1, 2048)
    own: LossTransform = Reflected(law) if reflected else law
    values = values_on(own, line)
    with mp.workdps(18):
        for j in (0, 1, 60, 500):
            z = mp.mpc(line.abscissa, line.step * j)
            exact = transform(-1 - z if reflected else z)
            apart = abs(mp.exp(mp.mpc(values.mid[j])) - exact) / abs(exact)
            # parameters stand for decimals within half an ulp
            assert apart <= math.expm1(values.radius[j]) + HALF_ULP * abs(z)
            assert values.radius[j] < 1e-9


def test_sums_add_with_their_counts() -> None:
    line = Line(1.0, 0.05, 3000)
    parts = [(SAMPLED_LAPLACE, 3), (LAWS["atoms"][0], 2), (LAWS["mixture"][0], 1)]
    whole = values_on(LogPhi.of(parts), line)
    alone = [law.on_line(line) for law, _ in parts]
    gap = sum((count * own.mid for own, (_, count) in zip(alone, parts, strict=True)), np.zeros(line.size)) - whole.mid
    wrapped = gap.imag - 2 * np.pi * np.rint(gap.imag / (2 * np.pi))
    allowed = whole.radius + sum(count * own.radius for own, (_, count) in zip(alone, parts, strict=True))
    assert (np.abs(gap.real + 1j * wrapped) <= allowed * 2 + 1e-13).all()


@pytest.mark.parametrize("abscissa", [1e300, 1e307, 1.7e308])
def test_an_abscissa_out_of_reach_leaves_everything_unknown(abscissa: float) -> None:
    """The exponents have no digit behind the point, or are infinite."""
    values = values_on(Finite(P, Q), Line(abscissa, 1e-3, 1 << 11))
    assert (values.radius == np.inf).all()


def test_more_nodes_than_memory_allows_are_unknown() -> None:
    assert np.isinf(values_on(MixedNormal(Ratio(1.0, 0.1), Plain(0.3)), Line(3.0, 1e3, 1 << 12)).radius).all()
