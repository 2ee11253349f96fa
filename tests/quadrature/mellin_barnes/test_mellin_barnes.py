"""Moments of mixed likelihood ratios and the gamma function, against mpmath's quadrature and its own gamma function."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.laws.combined.sampled_loss import SampledLoss
from logphi.quadrature.log_gamma import log_gamma, reciprocal_gamma
from logphi.quadrature.mellin_barnes import lines as mellin_barnes_lines
from logphi.quadrature.mellin_barnes.series import exact_steps
from logphi.quadrature.values import Line


@pytest.mark.parametrize("x", [-200.5, -30.5, -1.5, 0.25, 7.3, 150.2])
def test_the_gamma_function_is_within_its_bound(x):
    y = np.array([0.0, 0.03, -0.7, 4.0, 55.0, -1e3, 2e4])
    values, errors = log_gamma(x + 1j * y)
    exponents, phases, slips = reciprocal_gamma(x + 1j * y)
    with mpmath.workdps(40):
        for k, height in enumerate(y):
            exact = mpmath.loggamma(mpmath.mpc(x, height))
            assert abs(mpmath.exp(mpmath.mpc(values[k]) - exact) - 1) <= mpmath.expm1(errors[k])
            assert abs(mpmath.exp(mpmath.mpc(exponents[k]) + exact) * mpmath.mpc(phases[k]) - 1) <= slips[k]


def test_the_reciprocal_of_a_pole_is_zero_within_its_bound():
    exponents, phases, slips = reciprocal_gamma(np.array([-3.0 + 0j]))
    assert abs(phases[0]) <= slips[0]
    assert exponents[0].real < 0


def moment(shift, rate, odds, w):
    """E_Q[b^w] of a Gaussian shift beside a response with the odds, on one sample."""
    m, q = mpf(shift), mpf(rate)
    truth = mpf(odds) / (1 + mpf(odds))

    def density(x):
        ratio = mpmath.exp(m * x - m * m / 2)
        parts = ((1 - truth) * (1 - q + q * ratio * odds) ** w, truth * (1 - q + q * ratio / odds) ** w)
        return mpmath.npdf(x) * (parts[0] + parts[1])

    return mpmath.quad(density, mpmath.linspace(-16, 16, 40))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shift", "odds", "rate", "z"),
    [
        (0.5, 3, 0.25, -0.5 + 3j),
        (0.5, 1, 0.0009765625, 2.25 + 7j),
        (0.25, 3, 0.125, 6.5),
        (0.5, 3, 0.5, -7.25 + 12j),
        (1.0, 1, 0.03125, 4.5 + 30j),
        (1.0, 3, 0.0078125, -2.0),
    ],
)
def test_the_transform_of_a_sample_is_within_its_bound(shift, odds, rate, z):
    base = lp.Gaussian(sigma=1 / shift) + (lp.RandomizedResponse(p=odds / (1 + odds)) if odds > 1 else 0 * lp.Laplace(1))
    law = SampledLoss(base.loss_law(), Plain(rate))
    found = law.log_transform(np.array([complex(z)]))
    with mpmath.workdps(30):
        exact = moment(shift, rate, odds, mpmath.mpc(z) + 1)
        wrong = abs(mpmath.mpc(found.mid[0]) - mpmath.log(exact))
    assert wrong <= found.radius[0] < 1e-8


@pytest.mark.few(3)
@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_it_agrees_with_the_law_of_a_sampled_gaussian(seed, reflected):
    random = np.random.default_rng(seed)
    sigma, rate = float(10 ** random.uniform(-0.3, 1.5)), float(10 ** random.uniform(-5, -0.1))
    known = lp.Gaussian(sigma=sigma).poisson(rate).loss_law()
    law = SampledLoss(lp.Gaussian(sigma=sigma).loss_law(), Plain(rate))
    own, other = (law.reflected(), known.reflected()) if reflected else (law, known)
    line = Line(round(float(random.uniform(-0.9, 6)) * 64) / 64, 0.125 * 2.0 ** int(random.integers(0, 8)), 24)
    found, exact = own.on_line(line), other.on_line(line)
    usable = (found.radius < 1) & (exact.radius < 1)
    assert usable.sum() >= 12
    apart = np.abs(np.exp(np.where(usable, found.mid - exact.mid, 0.0)) - 1)
    assert (apart <= np.expm1(found.radius) + np.expm1(exact.radius))[usable].all()
    heights = np.geomspace(1e-2, 1e4, 20)
    far = other.log_transform(line.abscissa + 1j * heights)
    fallen = far.mid.real - far.radius - other.log_transform(np.array([line.abscissa])).mid[0].real
    envelope = own.log_envelope(line.abscissa, heights)
    assert (envelope >= fallen - 1e-12 * (1 + np.abs(fallen)))[far.radius < 1].all()


def test_bounds_beyond_the_range_of_doubles_are_no_bounds():
    assert np.isinf(mellin_barnes_lines.exp(np.array([601.0, np.inf]))).all()
    assert mellin_barnes_lines.expm1(1.0) == np.expm1(1.0)


def test_abscissas_are_moved_by_whole_numbers_only_while_that_is_exact():
    assert exact_steps(0.5, 20) == 20
    # 0.1 less three has fewer digits behind the point
    assert exact_steps(0.1, 20) == 0
    assert exact_steps((1 + 5.3) - 1, 20) < 20


@pytest.mark.few(1)
@pytest.mark.parametrize("rate", [1 - 2.0**-12, 1 - 2.0**-30])
def test_rates_next_to_one(rate):
    """Terms are powers of 1 - q, whose logarithm is large."""
    base = lp.Gaussian(sigma=2)
    law = SampledLoss(base.loss_law(), Plain(rate))
    found = law.log_transform(np.array([-3.5 + 2j, 1.25 + 4j]))
    with mpmath.workdps(40):
        for k, z in enumerate((mpmath.mpc(-3.5, 2), mpmath.mpc(1.25, 4))):
            wrong = abs(mpmath.mpc(found.mid[k]) - mpmath.log(moment(0.5, rate, 1, z + 1)))
            assert wrong <= found.radius[k] < 1e-8
