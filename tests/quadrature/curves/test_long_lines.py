"""Transforms far up a line: expansions at the ends against panels, and against integrals of many digits."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.laws.curves.curved import Curved
from logphi.quadrature.curves import long_lines
from logphi.quadrature.curves.gauss_legendre import GaussLegendre
from logphi.quadrature.values import Line

DIGITS = 20
RELEASES = {
    "Laplace": lambda scale: lp.Laplace(scale=scale),
    "exponential": lambda scale: lp.ExponentialMechanism(1 / scale),
    "truncated Laplace": lambda scale: lp.TruncatedLaplace(scale, 3 * scale + 1),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("one_pair", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_expansions_and_panels_overlap(name, one_pair, seed):
    rng = np.random.default_rng(seed)
    release = RELEASES[name](float(10 ** rng.uniform(-0.5, 1.5))).poisson(float(10 ** rng.uniform(-3, -0.1)), one_pair=one_pair)
    law = release.loss_law().terms[0][0]
    assert isinstance(law, Curved)
    width = law.support.width
    line = Line(float(rng.uniform(-0.9, 10) / width), 1.0 / width, 2000)
    panels, ends = GaussLegendre(law.curve).on_line(line, 1), long_lines.on_line(law.curve, line)
    apart = np.abs(np.exp(panels.mid - ends.mid) - 1)
    assert (apart <= np.expm1(panels.radius) + np.expm1(ends.radius)).all()
    assert (ends.radius <= 2 * panels.radius + 1e-10).all()


@pytest.mark.parametrize(("scale", "rate", "c"), [(2.0, 0.1, 3.0), (0.7, 0.03, -0.4), (20.0, 0.4, 40.0)])
def test_far_up_it_is_the_integral(scale, rate, c):
    law = lp.Laplace(scale=scale).poisson(rate).loss_law().terms[0][0]
    height = 500.0 / law.support.width
    values = law.on_line(Line(c, height, 2))
    assert values.radius[1] < 1e-10
    with mpmath.workdps(DIGITS):
        # the parameters as the doubles that they are, which the radius covers
        w, q, z = 1 / mpmath.mpf(scale), mpmath.mpf(rate), mpmath.mpc(c, height)

        def term(loss):
            return (1 - q + q * mpmath.exp(loss)) ** (z + 1)

        edges = mpmath.linspace(-w, w, 60)
        flat = (
            mpmath.quad(lambda x: term(x) * mpmath.exp(-x / 2), edges, method="gauss-legendre", maxdegree=4)
            * mpmath.exp(-w / 2)
            / 4
        )
        truth = flat + (term(-w) + mpmath.exp(-w) * term(w)) / 2
        apart = abs(mpmath.exp(mpmath.mpc(values.mid[1])) / truth - 1)
    assert apart <= np.expm1(values.radius[1])


def test_what_no_expansion_serves_is_left_to_panels():
    law = lp.Gaussian(sigma=1.0).poisson(0.1, one_pair=True).loss_law().terms[0][0]
    assert isinstance(law, Curved)
    line = Line(0.5, 0.5, 40)
    assert (law.on_line(line).mid == GaussLegendre(law.curve).on_line(line, 1).mid).all()
