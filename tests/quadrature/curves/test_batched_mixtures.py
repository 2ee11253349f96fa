"""Batches of sampled Gaussians on common panels: the same numbers as term by term, and as mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import logphi as lp
from exact import contains, dec
from logphi.quadrature.curves.batched_mixtures import on_line_batched
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_trapezoid import on_line
from logphi.quadrature.values import Line
from profiles import gaussian_profile
from slowly import slowly

# relative width of a delta of Gaussians, at most some standard deviations out
SHARP = 1e-10


def batch(rng: np.random.Generator, size: int) -> TwoComponents:
    shift, rate = 10 ** rng.uniform(-1.3, 0.3), 10 ** rng.uniform(-5, -0.5)
    counts = rng.integers(1, 20, size).astype(float)
    return TwoComponents(shift * rng.uniform(0.5, 1, size), rate * rng.uniform(0.1, 1, size), counts)


@pytest.mark.parametrize("seed", [*range(5), *slowly(*range(5, 25))])
def test_panels_agree_with_the_terms(seed):
    rng = np.random.default_rng(seed)
    mixtures = batch(rng, 80)
    c = rng.choice([rng.uniform(-0.9, -0.1), 10 ** rng.uniform(-1, 1), -1 - 10 ** rng.uniform(-1, 1)])
    line = Line(c, 10 ** rng.uniform(-2, 0.5), 24)
    together, apart = on_line_batched(mixtures, line), on_line(mixtures, line)
    slack = together.radius + apart.radius
    known = np.isfinite(slack)
    gap = together.mid - apart.mid
    gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
    assert known[0]
    assert np.all(np.abs(gap)[known] <= slack[known])


def log_mean(m, q, z):
    """log E[w^{z+1}] by quadrature at 25 digits."""
    m, q = mpmath.mpf(m), mpmath.mpf(q)
    power = mpmath.mpc(z) + 1

    def inside(x):
        return mpmath.npdf(x) * (1 - q + q * mpmath.exp(m * x - m * m / 2)) ** power

    return mpmath.log(mpmath.quad(inside, [-12, -6, -3, 0, 3, 6, 12]))


@pytest.mark.parametrize("size", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_panels_agree_with_mpmath(size):
    mixtures = TwoComponents(np.linspace(0.5, 1.0, size), np.geomspace(1e-3, 0.1, size), np.ones(size))
    line = Line(1.5, 2.0, 3)
    values = on_line_batched(mixtures, line)
    with mpmath.workdps(25):
        for index in (0, 2):
            z = complex(line.points[index])
            total = sum(log_mean(m, q, z) for m, q in zip(mixtures.shift, mixtures.rate, strict=True))
            assert abs(complex(total) - values.mid[index]) <= values.radius[index] + 1e-15
    assert np.all(values.radius < 1e-11)


def test_far_apart_terms_are_summed_apart():
    mixtures = TwoComponents(np.geomspace(1e-3, 20, 70), np.geomspace(1e-6, 0.9, 70), np.full(70, 3.0))
    line = Line(3.0, 1.0, 4)
    together, apart = on_line_batched(mixtures, line), on_line(mixtures, line)
    known = np.isfinite(together.radius) & np.isfinite(apart.radius)
    gap = together.mid - apart.mid
    gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
    assert np.all(np.abs(gap)[known] <= (together.radius + apart.radius)[known])


@pytest.mark.slow
def test_a_batch_spends_about_as_much_as_its_mean():
    batch_of = lp.compose(lp.Gaussian(sigma=1 + i / 2000).poisson(0.01 + i * 1e-7) for i in range(200))
    low, high = 200 * lp.Gaussian(sigma=1.1).poisson(0.01), 200 * lp.Gaussian(sigma=1.0).poisson(0.01002)
    spent = batch_of.epsilon(1e-6)
    assert spent.status is lp.Status.MET
    assert low.epsilon(1e-6).upper < spent.lower < spent.upper < high.epsilon(1e-6).lower
    profile = batch_of.delta(spent.value)
    assert profile.lower <= 1e-6 * (1 + 1e-8)
    assert profile.upper >= 1e-6 * (1 - 1e-8)


def test_a_batch_of_gaussians_is_one_gaussian():
    rng = np.random.default_rng(3)
    sigmas, counts = rng.uniform(20.0, 200.0, 90).tolist(), rng.integers(1, 1000, 90).tolist()
    release = lp.compose(count * lp.Gaussian(sigma=sigma) for sigma, count in zip(sigmas, counts, strict=True))
    with mpmath.workdps(40):
        m = mpmath.sqrt(sum(count / dec(sigma) ** 2 for sigma, count in zip(sigmas, counts, strict=True)))
        for epsilon in (-1.0, 0.0, 0.5, 5.0, 20.0):
            exact = gaussian_profile(m)(epsilon)
            bound = release.delta(epsilon)
            assert contains(bound, exact), epsilon
            assert bound.status is lp.Status.MET
            assert bound.width <= SHARP * float(exact)


def test_shifts_that_are_not_doubles_are_felt_in_the_sum_of_gaussians():
    thirds = lp.compose(lp.Gaussian(sigma=Fraction(n, 3)) for n in range(50, 80))
    with mpmath.workdps(40):
        m = mpmath.sqrt(sum(mpmath.mpf(9) / n**2 for n in range(50, 80)))
        exact = gaussian_profile(m)(1)
        assert contains(thirds.delta(1.0), exact)


@pytest.mark.parametrize("power", [108, 280])
def test_variances_beyond_all_doubles_leave_a_certainty(power):
    beyond = 10**power * (lp.Gaussian(sigma=1e-100) + lp.Gaussian(sigma=1.01e-100))
    found = beyond.delta(1.0)
    # 1 - delta is at most e^{1/2} M(-1/2), of which the logarithm is far below -1e300
    assert found.lower == pytest.approx(1.0, abs=1e-12)
    assert found.upper == 1.0


@pytest.mark.parametrize("size", [500, pytest.param(3000, marks=pytest.mark.slow)])
def test_the_width_does_not_grow_with_the_batch(size):
    few, many = (
        lp.compose(lp.Gaussian(1 + i / n).poisson(0.3 * (1 + i / n) / n**0.5) for i in range(n)).delta(1.0) for n in (100, size)
    )
    assert many.status is lp.Status.MET
    assert many.ledger.inner.amount / many.value <= 3 * few.ledger.inner.amount / few.value


def distinct(n):
    """Steps that leak as much together, whatever their number."""
    rate = (10 / n) ** 0.5
    return lp.compose(lp.Gaussian(sigma=1 + i / n).poisson(rate * (0.2 + 0.3 * i / n) / 3) for i in range(n))


@pytest.mark.slow
def test_thirty_thousand_distinct_steps_are_answered():
    n = 30_000
    found, share = distinct(n).delta(1.0), np.arange(n) / n
    assert found.status is lp.Status.MET
    # nearly a normal loss, of the variance that the chi-square divergences add up to; what is left of its skew is 15 percent
    mu = float((10 / n * ((0.2 + 0.3 * share) / 3) ** 2 * np.expm1((1 + share) ** -2.0)).sum()) ** 0.5
    limit = lp.Gaussian(sigma=1 / mu).delta(1.0).value
    assert limit < found.value < 1.2 * limit


@pytest.mark.slow
def test_epsilon_of_ten_thousand_distinct_steps_inverts_delta():
    release = distinct(10_000)
    epsilon = release.epsilon(1e-5)
    assert epsilon.status is lp.Status.MET
    high, low = release.delta([epsilon.lower, epsilon.upper])
    assert low.lower <= 1e-5 <= high.upper
