"""Chernoff's bounds of normal and of flat laws, by their closed forms and by exact tails."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import expm1, log, mpf, ncdf, workdps

from logphi.arith.protocol import Plain
from logphi.inversion.chernoff import log_moments, log_tails, tail_end
from logphi.laws.flat.uniform import UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal import Normal


@pytest.mark.parametrize("shift", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("deviations", [-9.0, -0.5, 0.0, 0.5, 9.0])
def test_tails_of_a_normal_law(shift, deviations):
    # the loss is N(m^2/2, m^2)
    x = shift * shift / 2 + deviations * shift
    above, below = log_tails(Normal(Plain(shift)), x)
    with workdps(40):
        z = (mpf(x) - mpf(shift) ** 2 / 2) / mpf(shift)
        for bound, tail, away in ((above, ncdf(-z), z), (below, ncdf(z), -z)):
            assert log(tail) <= bound
            # the abscissa is that of an integral, whose pole moves it away from zero
            assert bound <= 1 - max(away, 0) ** 2 / 2


@pytest.mark.parametrize("log_mass", [-0.7, -30.0, -700.0])
def test_ends_of_a_normal_law(log_mass):
    # the least (c m^2 (c + 1)/2 - log_mass)/c
    law, m = Normal(Plain(0.5)), 0.5
    reach = m * math.sqrt(-2 * log_mass)
    for sign in (1, -1):
        found = tail_end(law, log_mass, sign)
        exact = sign * m * m / 2 + reach
        assert exact * (1 - 1e-15) <= found <= exact + 1e-6 * reach


def test_moments_are_above_the_exact_ones():
    law, c = UniformWithAtoms(Plain(1.0)), np.array([-30.0, -2.5, 0.0, 1.0, 300.0])
    bounds = log_moments(LogPhi(((law, 3),)), c)
    with workdps(40):
        for at, bound in zip(c.tolist(), bounds.tolist(), strict=True):
            # Laplace noise of scale one: atoms of 1/2 and of e^-1/2, and a density of e^{(x-1)/2}/4
            t = mpf(at) + mpf(1) / 2
            body = (expm1(t) - expm1(-t)) / t / 4 * mpf(math.e) ** (-mpf(1) / 2)
            exact = 3 * log(mpf(math.e) ** at / 2 + mpf(math.e) ** (-1 - at) / 2 + body)
            assert exact - 1e-14 * (1 + abs(exact)) <= bound <= exact + 1e-12 * (1 + abs(exact))


def test_without_moments_nothing_is_known():
    class Heavy(Normal):
        @property
        def strip(self) -> tuple[float, float]:
            return (-1.0, 0.0)

    law = Heavy(Plain(1.0))
    assert tail_end(law, -5.0, 1) == math.inf
    assert log_tails(law, 3.0)[0] == math.inf
    assert np.array_equal(np.isfinite(log_moments(law, np.array([-2.0, -1.0, -0.5, 0.0, 1.0]))), [0, 0, 1, 0, 0])
