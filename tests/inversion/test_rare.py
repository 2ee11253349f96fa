"""Rare atoms that are left out: the bounds hold what enumeration gives, and the line is short."""

import itertools
import math

import numpy as np
import pytest

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.arith.scaled import Scaled
from logphi.inversion import rare, smoothed
from logphi.inversion.demand import Demand
from logphi.laws.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal import Normal

RTOL = 1e-6


def losses(rate, gap, count):
    """Atoms of a mixture at a small rate, the last of them far away and of little mass."""
    k = np.arange(-count, count + 1.0)
    q = np.exp(-(k**2) / 2)
    q /= q.sum()
    p = (1 - rate) * q + rate * q * np.exp(gap * k) / (q @ np.exp(gap * k))
    return p, q


def law_of(rate, gap, count):
    p, q = losses(rate, gap, count)
    return Finite(tuple(p.tolist()), tuple((q / 1.0).tolist()), relative_error=1e-12)


def excess(law, n, x):
    """By enumeration of all outcomes."""
    p = np.array(law.p)
    loss = np.log(p) - np.log(np.array(law.q))
    terms = []
    for cells in itertools.combinations_with_replacement(range(p.size), n):
        total = sum(loss[i] for i in cells)
        if total > x:
            ways = math.factorial(n) // math.prod(math.factorial(cells.count(i)) for i in set(cells))
            terms.append(ways * math.prod(p[i] for i in cells) * -math.expm1(x - total))
    return math.fsum(terms)


@pytest.mark.parametrize("x", [0.01, 0.03, 0.2])
def test_the_excess_is_enclosed_with_what_is_left_out(x):
    law, n = law_of(0.01, 1.3, 6), 3
    whole = LogPhi(((law, n),))
    kept = rare.without_rare_atoms(whole, x, RTOL)
    assert kept.log_mass == -math.inf or math.exp(kept.log_mass) < RTOL * excess(law, n, x)
    prepared = smoothed.prepare(kept.law, x, Demand(RTOL))
    amount = kept.with_rest(prepared.at(x)).amount
    unit = math.exp(amount.log_scale)
    assert amount.low * unit <= excess(law, n, x) <= amount.high * unit


def test_atoms_that_hold_the_line_back_are_left_out():
    law = (74 * lp.DiscreteGaussian(sigma=4.55).poisson(0.0034)).loss_law()
    x = 0.0775
    kept = rare.without_rare_atoms(law, x, RTOL)
    assert kept.law.support.upper < law.support.upper
    whole, part = (smoothed.prepare(one, x, Demand(RTOL)).at(x).amount for one in (law, kept.law))
    part = part + Scaled(kept.log_mass, 0.5, truncation=0.5)
    assert part.relative_width < RTOL < 1 < whole.relative_width
    # by a convolution on a grid, tilted, whose error is of second order in its step
    assert part.low <= 1.3382476e-28 * math.exp(-part.log_scale) <= part.high


def test_laws_without_atoms_are_left_as_they_are():
    law = LogPhi(((Normal(Plain(1.0)), 3),))
    assert rare.without_rare_atoms(law, 1.0, RTOL).law is law
