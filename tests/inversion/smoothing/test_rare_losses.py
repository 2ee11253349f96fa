"""Large losses that are left out, and what they add: against enumerations of all atoms at 40 digits."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import mpmath
import pytest
from mpmath import exp, mpf

import logphi as lp
from exact import dec
from logphi.inversion.demand import Demand
from logphi.inversion.smoothing.rare_losses import without_large_losses
from logphi.inversion.smoothing.smoothed import prepare
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi

DIGITS = 40
Cells = list[tuple[mpf, mpf]]


def sums(cells: Cells, count: int) -> Cells:
    """The pairs of probabilities of each multiset of cells."""
    found = []
    for kinds in itertools.combinations_with_replacement(range(len(cells)), count):
        drawn = Counter(kinds)
        ways = mpmath.factorial(count) / mpmath.fprod(map(mpmath.factorial, drawn.values()))
        p, q = (mpmath.fprod(cells[kind][side] ** many for kind, many in drawn.items()) for side in (0, 1))
        found.append((ways * p, ways * q))
    return found


def excess(pairs: Cells, x: mpf) -> mpf:
    return mpmath.fsum(p - exp(x) * q for p, q in pairs if p > exp(x) * q)


def products(one: Cells, other: Cells) -> Cells:
    return [(a * c, b * d) for (a, b), (c, d) in itertools.product(one, other)]


# most probable losses first; the last two are large and rare
P, Q = (0.5, 0.4999, 9e-5, 1e-5), (0.51, 0.48998, 2e-5 - 1e-9, 1e-9)
SMALL = ((0.3, 0.7), (0.35, 0.65))


@pytest.mark.parametrize("x", [4.0, 5.0])
@pytest.mark.parametrize("beside", [0, 2])
def test_both_parts_enclose_the_sum(x: float, beside: int) -> None:
    law = LogPhi.of([(Finite(P, Q), 4), *([(Finite(*SMALL), beside)] if beside else [])])
    small, jumps = without_large_losses(law, x, 1e-3)
    prepared = prepare(law, x, Demand(1e-3))
    assert jumps is not None
    assert small.support.upper < law.support.upper
    assert prepared is not None
    assert prepared.large_losses == without_large_losses(law, x, 1e-3)[1]
    with mpmath.workdps(DIGITS):
        pairs = sums(list(zip(map(dec, P), map(dec, Q), strict=True)), 4)
        if beside:
            pairs = products(pairs, sums(list(zip(*(map(dec, side) for side in SMALL), strict=True)), beside))
        for at in (x, x * (1 + 1e-4), x * 0.99, 0.3, 30.0):
            amount = prepared.at(at).amount
            scale = exp(mpf(amount.log_scale))
            assert mpf(amount.low) * scale <= excess(pairs, dec(at)) <= mpf(amount.high) * scale
    assert prepared.at(x).amount.relative_width < 1e-2


def test_two_sampled_discrete_gaussians_far_in_the_tail() -> None:
    sigma, rate, x = 1.7, 0.002, 0.6
    law = (2 * lp.DiscreteGaussian(sigma=sigma).poisson(rate)).loss_law()
    prepared = prepare(law, x, Demand(1e-6))
    assert prepared is not None
    with mpmath.workdps(DIGITS):
        reach = 30
        weights = {k: exp(-(mpf(k) ** 2) / (2 * dec(sigma) ** 2)) for k in range(-reach - 1, reach + 2)}
        total = mpmath.fsum(weights.values())
        cells = [
            (((1 - dec(rate)) * weights[k] + dec(rate) * weights[k - 1]) / total, weights[k] / total)
            for k in range(-reach, reach + 2)
            if abs(k) <= reach
        ]
        truth = excess(sums(cells, 2), dec(x))
        amount = prepared.at(x).amount
        scale = exp(mpf(amount.log_scale))
        assert mpf(amount.low) * scale <= truth * (1 + mpf(10) ** -30)
        assert truth <= mpf(amount.high) * scale
    assert amount.relative_width < 1e-4


def test_losses_that_are_not_rare_are_kept() -> None:
    law = LogPhi.of([(Finite((0.6, 0.4), (0.4, 0.6)), 20)])
    assert without_large_losses(law, 1.0, 1e-6) == (law, None)
    assert without_large_losses(law, math.nan, 1e-6) == (law, None)
