"""The Gaussian mechanism in closed form, and the saddle-point approximation."""

import math
from concurrent.futures import ThreadPoolExecutor

import mpmath
import pytest
from mpmath import mpf
from scipy.stats import norm

import logphi as lp
from cauchy import cauchy
from exact import dec
from logphi.answers.approximation import Approximation
from logphi.classical import gaussian, interval_arithmetic, loss_class, renyi, saddle_point
from logphi.classical.concentrated import Concentrated
from logphi.classical.loss_class import LossClass
from logphi.pairs.pair import UnsupportedError
from profiles import gaussian_profile


@pytest.mark.parametrize(("sigma", "epsilon", "count"), [(1.0, 0.277, 1), (50.0, 1.0, 1000), (0.1, 30.0, 1), (3.0, -0.5, 2)])
def test_the_gaussian_in_closed_form(sigma, epsilon, count):
    with mpmath.workdps(40):
        mu, e = mpmath.sqrt(count) / dec(sigma), dec(epsilon)
        adp = gaussian_profile(mu)(e)
        found = gaussian.gaussian_adp(sigma, epsilon, count=count)
        assert found.lower <= adp <= found.upper
        assert found.width <= 1e-13 * found.value
        if epsilon >= 0:
            pdp = gaussian.gaussian_pdp(sigma, epsilon, count=count)
            assert pdp.lower <= mpmath.ncdf(mu / 2 - e / mu) <= pdp.upper
            assert found.upper <= pdp.lower
    assert (count * lp.Gaussian(sigma)).delta(epsilon).value == pytest.approx(found.value, rel=1e-9)


@pytest.mark.few(3)
@pytest.mark.parametrize("power", [-300, -100, -20, -8, 8, 20, 60, 100, 300])
@pytest.mark.parametrize("ahead", [-60.0, -44.0, -1.0, 0.0, 0.5, 37.0])
def test_the_gaussian_in_closed_form_where_digits_cancel(power, ahead):
    with mpmath.workdps(700):
        mu = 1 / dec(float(f"1e{power}"))
        epsilon = float(mu * ahead + mu * mu / 2) if power > -150 else 5e299
        x, y = (epsilon / mu + side * mu / 2 for side in (-1, 1))
        found = gaussian.gaussian_adp(float(f"1e{power}"), epsilon)
        if y > 1e6:
            # 1 / y - 1 / y^3 < tail / density < 1 / y
            density = mpmath.npdf(x)
            tail = mpmath.ncdf(-x) if abs(x) < 100 else mpf(x < 0)
            assert found.lower <= max(tail - density * (1 / y - 1 / y**3), 0)
            assert found.upper >= tail - density / y
        else:
            assert found.lower <= mpmath.ncdf(-x) - mpmath.exp(mpf(epsilon)) * mpmath.ncdf(-y) <= found.upper
        # half an ulp of epsilon moves the threshold by more than the deviation for huge mu
        assert power < 0 or found.width <= 1e-12 * found.value + 5e-324
        assert math.copysign(1, found.upper) == 1
    assert gaussian.gaussian_adp(1e-20, 1e300).upper == 5e-324


def test_large_whole_numbers_are_decimals_too():
    interval = interval_arithmetic.decimal(1e23)
    assert interval.a <= 10**23 <= interval.b
    assert interval_arithmetic.decimal(2.0**53).delta == 0


@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "sigma"),
    [
        (1, 1.0, 1e-5, 4.379070),
        (64, 0.5, 1e-6, 76.887177),
        (512, 0.3, 1e-4, 283.515618),
        (1, 1.0, 0.9, None),
        (1, 5.0, 1e-200, None),
    ],
)
def test_the_noise_for_probabilistic_privacy(count, epsilon, delta, sigma):
    found = gaussian.gaussian_pdp_sigma(epsilon, delta, count=count)
    assert sigma is None or found.value == pytest.approx(sigma, abs=1e-6)
    assert gaussian.gaussian_pdp(found.value, epsilon, count=count).lower <= delta
    assert gaussian.gaussian_pdp(found.value * (1 - 1e-12), epsilon, count=count).upper >= delta
    with mpmath.workdps(40):
        mu = mpmath.sqrt(count) / mpf(found.value)
        assert mpmath.ncdf(mu / 2 - mpf(epsilon) / mu) <= mpf(delta) * (1 + mpf("1e-15"))


@pytest.mark.parametrize(
    ("release", "epsilon", "width"),
    [
        (14062 * lp.Gaussian(1.1).poisson(256 / 60000), 2.0, 1e-3),
        (200 * lp.Laplace(10.0), 2.0, 7e-3),
        (100 * lp.Gaussian(10.0) + 10 * lp.ApproximateDP(0.1, 1e-6), 3.0, 2e-3),
    ],
)
def test_the_saddle_point_is_near_and_no_bound(release, epsilon, width):
    exact = release.delta(epsilon).value
    about = saddle_point.saddle_point_delta(release.loss_law(), epsilon)
    assert isinstance(about, Approximation)
    assert about.value == pytest.approx(exact, rel=width)
    plain = saddle_point.saddle_point_delta(release.loss_law(), epsilon, corrected=False).value
    assert abs(about.value - exact) < abs(plain - exact)
    back = saddle_point.saddle_point_epsilon(release.loss_law(), about.value).value
    assert back == pytest.approx(epsilon, abs=1e-6)


@pytest.mark.slow
def test_orders_below_one_alone_promise_something():
    found = renyi.delta(cauchy(), 1.0)
    # the total variation is more than the profile at one; the errors of a quadrature are estimates
    assert 0.15 < found.value < 0.25
    assert not found.proved
    assert renyi.delta(cauchy(), 1.0, conversion="canonne").value == 1
    assert renyi.epsilon(cauchy(), 0.3, conversion="canonne").value == math.inf
    assert renyi.epsilon(cauchy(), found.value).value == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(UnsupportedError, match="samples of its densities only"):
        Concentrated.of(cauchy())


def test_the_saddle_point_needs_an_order_above_one():
    pair = cauchy()
    with pytest.raises(UnsupportedError, match="order above 1"):
        saddle_point.saddle_point_delta(pair.loss_law(), 1.0)


def test_normal_numbers_agree_with_scipy():
    known = LossClass(lp.Bound(0.3, 0.3, 0.3), lp.Bound(0.9, 0.9, 0.9), lp.Bound(0, 0, 0), 1.0)
    s, m, e = math.sqrt(0.9), 0.3, 0.5
    truth = norm.sf((e - m) / s) - math.exp(e - m + 0.45) * norm.sf((e - m) / s + s)
    assert loss_class.normal_delta(known, e).value == pytest.approx(truth, rel=1e-12)


def test_more_digits_of_one_thread_are_no_concern_of_another():
    with interval_arithmetic.digits().workdps(90), ThreadPoolExecutor(1) as other:
        assert other.submit(lambda: interval_arithmetic.digits().dps).result() == 60
