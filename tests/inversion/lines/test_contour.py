"""Gaussian compositions on the contour, against the closed form of their profile in many digits."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from exact import contains, dec
from logphi.arith.protocol import Plain
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Part, ceiling, prepare
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal import Normal
from profiles import gaussian_profile
from slowly import slowly
from some import some

DIGITS = 60
RTOL = 1e-9


def log_tail(x):
    """log P(N > x); for far tails by the continued fraction that mpmath's erfc sums."""
    return log(mpmath.erfc(x / mpmath.sqrt(2)) / 2)


def log_profile(m, eps):
    """log of Phi(m/2 - eps/m) - e^eps Phi(-m/2 - eps/m), the excess of N(m^2/2, m^2) at eps."""
    first, second = log_tail(eps / m - m / 2), eps + log_tail(eps / m + m / 2)
    return first + log(-mpmath.expm1(second - first))


def exact_log_delta(sigma, n, eps):
    # the two terms cancel, and the more the larger eps/m is
    m = mpmath.sqrt(n) / dec(sigma)
    lost = 2 * abs(math.log10(float(m))) + max(0, -float(eps)) + 40
    with mpmath.workdps(int(DIGITS + lost)):
        return log_profile(mpmath.sqrt(n) / dec(sigma), dec(eps))


@pytest.mark.few(3)
@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0, 5.0, 100.0, 1e4])
@pytest.mark.parametrize("n", [1, 7, 10**4, 10**9])
def test_gaussian_profile(sigma, n):
    m = math.sqrt(n) / sigma
    release = n * lp.Gaussian(sigma=sigma)
    for share in (-3.0, -0.5, 0.0, 0.1, 1.0, 4.0, 12.0, 36.0):
        epsilon = m * m / 2 + share * m
        if not -500 < epsilon < 1e5:
            continue
        with mpmath.workdps(DIGITS):
            exact = exact_log_delta(sigma, n, epsilon)
            bound, log_bound = release.delta(epsilon), release.log_delta(epsilon)
            assert contains(bound, exp(exact)), (epsilon, mpmath.nstr(exp(exact), 25), bound)
            assert contains(log_bound, exact), (epsilon, mpmath.nstr(exact, 25), log_bound)
            # the threshold's half ulp and that of sigma are felt through the slope
            felt = 1e-15 * (abs(share) + 1 / m if m < 1 else abs(share) + 1) * (m + 1) * (abs(epsilon) + 1) / m * 20
            if exact > -690:
                assert bound.upper - bound.lower <= (2 * RTOL + felt) * float(exp(exact)), (epsilon, bound)


@pytest.mark.few(8)
@pytest.mark.parametrize("epsilon", [-10.0, -1.0, -1e-9, 0.0, 1e-12, 1e-3, 0.7, 5.0, 30.0, 38.0, 100.0, 1000.0, 1e4])
@pytest.mark.parametrize("sigma", [0.7, 20.0])
def test_one_gaussian_at_fixed_thresholds(epsilon, sigma):
    with mpmath.workdps(DIGITS):
        exact = exact_log_delta(sigma, 1, epsilon)
        log_bound = lp.Gaussian(sigma=sigma).log_delta(epsilon)
        assert contains(log_bound, exact), (mpmath.nstr(exact, 25), log_bound)
        assert log_bound.upper - log_bound.lower <= 2 * RTOL + 1e-13 * abs(float(exact))


@pytest.mark.parametrize("delta", [0.3, 1e-5, 1e-12, 1e-100, 1e-300])
@pytest.mark.parametrize(("sigma", "n"), [(0.05, 1), (1.0, 1), (1.0, 1000), (300.0, 10**5), (1e4, 1)])
def test_epsilon_of_gaussians_inverts_the_closed_form(sigma, n, delta):
    bound = (n * lp.Gaussian(sigma=sigma)).epsilon(delta)
    with mpmath.workdps(DIGITS):
        assert exact_log_delta(sigma, n, bound.upper) <= log(dec(delta)) or bound.upper == 0
        assert bound.lower == 0 or exact_log_delta(sigma, n, bound.lower) >= log(dec(delta))
    assert bound.width <= RTOL * max(1, bound.value)


def amount_as_excess(found, x):
    """The enclosure of the excess that an inversion of any functional stands for (masses are one here)."""
    ends = [mpf(end) * exp(mpf(found.amount.log_scale)) for end in (found.amount.low, found.amount.high)]
    if found.part is Part.SHORTFALL:
        ends = [1 - end for end in reversed(ends)]
    if found.part is Part.REVERSED:
        ends = [1 - exp(mpf(x)) + end for end in ends]
    slack = mpf("1e-15") * (1 + abs(found.amount.log_scale)) * max(abs(end) for end in ends)
    return ends[0] - slack, ends[1] + slack


@pytest.mark.parametrize("m", [0.01, 0.5, 1.0, 6.0])
@pytest.mark.parametrize("share", [-8.0, -1.0, -0.3, 0.0, 0.3, 1.0, 8.0])
def test_the_functional_that_was_chosen_encloses_the_profile(m, share):
    x = m * m / 2 + share * m
    law = LogPhi.of([(Normal(Plain(m)), 1)])
    prepared = prepare(law, x, Demand(RTOL))
    assert prepared is not None
    with mpmath.workdps(DIGITS):
        low, high = amount_as_excess(prepared.at(x), x)
        exact = exp(log_profile(dec(m), mpf(x)))
        assert low <= exact <= high
        assert high - low <= mpf(1e-8) * max(exact, mpf(10) ** -12)


def test_all_three_functionals_are_used():
    law = LogPhi.of([(Normal(Plain(1.0)), 1)])
    assert {some(prepare(law, x, Demand(RTOL))).part for x in (4.0, 0.2, -4.0)} >= {Part.EXCESS, Part.REVERSED}
    assert some(prepare(LogPhi.of([(Normal(Plain(6.0)), 1)]), 5.0, Demand(RTOL))).part is Part.SHORTFALL


@pytest.mark.parametrize("m", [0.05, 1.0, 8.0])
@pytest.mark.parametrize("start", [-1.0, 0.3, 3.0])
def test_one_contour_is_honest_for_many_thresholds(m, start):
    law = LogPhi.of([(Normal(Plain(m)), 1)])
    prepared = prepare(law, m * m / 2 + start * m, Demand(RTOL))
    assert prepared is not None
    with mpmath.workdps(DIGITS):
        for share in np.concatenate([start + np.linspace(-0.05, 0.05, 7), np.linspace(-12, 30, 22)]):
            x = float(m * m / 2 + share * m)
            low, high = amount_as_excess(prepared.at(x), x)
            assert low <= exp(log_profile(dec(m), mpf(x))) <= high, x


@pytest.mark.parametrize("m", [0.01, 1.0, 10.0])
@pytest.mark.parametrize("share", [-2.0, 0.0, 2.0, 20.0])
def test_the_ceiling_is_above_and_near(m, share):
    x = m * m / 2 + share * m
    with mpmath.workdps(DIGITS):
        exact = float(log_profile(dec(m), mpf(x)))
    bound = ceiling(LogPhi.of([(Normal(Plain(m)), 1)]), x).at(x)
    assert exact <= bound <= min(exact + 0.35, 0.0) + 1e-9


def test_the_chernoff_constant():
    u = np.array([1e-9, 0.1, 1.0, 7.0, 1e6])
    with mpmath.workdps(DIGITS):
        for value, found in zip(u, log_kappa(u), strict=True):
            assert found == pytest.approx(
                float(mpf(value) * log(mpf(value)) - (1 + mpf(value)) * log(1 + mpf(value))), rel=1e-12
            )
    assert np.all(log_kappa(np.array([0.0, -0.5, -1.0])) == 0)


def sampled_two_point(p_truth, p_lie, rate, x):
    """E_Q[(w - e^x)_+] for (1 - rate) Q + rate P, P = (truth, lie), Q = (lie, truth)."""
    pairs = [(p_truth, p_lie), (p_lie, p_truth)]
    return sum(max(mpf(0), (1 - rate) * q + rate * p - exp(x) * q) for p, q in pairs)


@pytest.mark.parametrize(("guarantee", "epsilon"), [(30.0, 25.0), (450.0, 440.0), (590.0, 580.5)])
def test_sampled_guarantees_with_large_epsilon(guarantee, epsilon):
    with mpmath.workdps(500):
        lie = 1 / (1 + exp(dec(guarantee)))
        exact = sampled_two_point(1 - lie, lie, mpf(1) / 2, dec(epsilon))
        assert contains(lp.PureDP(epsilon=guarantee).poisson(0.5).delta(epsilon, direction="remove"), exact)


@pytest.mark.parametrize("p", [0.75, 0.999, 0.9999999999, 0.9999999999999])
@pytest.mark.parametrize("share", [0.2, 0.8, 0.95])
def test_sampled_responses_near_the_truth(p, share):
    with mpmath.workdps(DIGITS):
        top = float(mpmath.log(dec(p) / (1 - dec(p))))
        exact = sampled_two_point(dec(p), 1 - dec(p), mpf(1) / 2, dec(share * top))
        assert contains(lp.RandomizedResponse(p=p).poisson(0.5).delta(share * top, direction="remove"), exact)


@pytest.mark.parametrize("rate", [0.3, 0.9, 0.999999, 0.9999999999])
@pytest.mark.parametrize("gap", [1e-3, 1e-8, 1e-12])
def test_sampled_gaussian_below_the_top_of_the_add_direction(rate, gap):
    # P(L > eps) (1 - ...) with the loss -log w at most -log(1 - rate): E_Q[(1 - e^eps w)_+], w increasing in x
    m = 10
    with mpmath.workdps(DIGITS):
        top = -mpmath.log(1 - dec(rate))
        epsilon = float(top * (1 - mpf(gap)))
        growth = mpmath.expm1(-dec(epsilon)) / dec(rate) + 1
        exact = mpf(0)
        if growth > 0:
            cut = mpmath.log(growth) / m + mpf(m) / 2
            exact = mpmath.ncdf(cut) - exp(dec(epsilon)) * (
                (1 - dec(rate)) * mpmath.ncdf(cut) + dec(rate) * mpmath.ncdf(cut - m)
            )
        bound = lp.Gaussian(sigma=0.1).poisson(rate).delta(epsilon, direction="add")
        assert contains(bound, exact), (epsilon, mpmath.nstr(exact, 20), bound)


@pytest.mark.parametrize("sigma", [1.0, *slowly(0.05)])
@pytest.mark.parametrize("epsilon", [710.0, *slowly(700.0, 800.0, 1e4)])
def test_one_sampled_gaussian_at_large_thresholds(sigma, epsilon):
    m, rate = 1 / dec(sigma), mpf(1) / 2
    with mpmath.workdps(DIGITS):
        inner = mpmath.log1p(mpmath.expm1(dec(epsilon)) / rate)
    with mpmath.workdps(int(3 * float(inner)) + 100 if inner < 2000 else 100):
        exact = mpmath.log(rate) + mpmath.log(gaussian_profile(m)(inner))
        bound = lp.Gaussian(sigma=sigma).poisson(0.5).log_delta(epsilon, direction="remove")
        assert contains(bound, exact), (mpmath.nstr(exact, 20), bound)


@pytest.mark.parametrize("steps", [-3, 0, 1, 3, 50])
def test_one_sampled_gaussian_at_the_edge_of_its_support(steps):
    epsilon = math.log1p(-0.3) * (1 - steps * 2.0**-52)
    with mpmath.workdps(DIGITS):
        # every loss is above: 1 - e^eps up to less than the smallest double
        bound = lp.Gaussian(sigma=1).poisson(0.3).delta(epsilon, direction="remove")
        assert contains(bound, 1 - exp(dec(epsilon)))
        assert bound.upper - bound.lower <= 1e-9


@pytest.mark.parametrize("delta", [0.3, 1e-3, pytest.param(1e-12, marks=pytest.mark.slow)])
def test_epsilon_of_laplace_inverts_its_profile(delta):
    bound = lp.Laplace(scale=0.5).epsilon(delta)
    with mpmath.workdps(DIGITS):
        exact = 2 + 2 * mpmath.log(1 - dec(delta))
    assert contains(bound, exact)
    assert bound.width <= RTOL * max(1, math.fabs(bound.value))


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(
    "mechanism",
    [
        lp.PureDP(1e-5),
        lp.Laplace(scale=1e4),
        lp.RandomizedResponse(0.75).poisson(0.1),
        5 * lp.RandomizedResponse(0.75).poisson(0.1),
        lp.ExponentialMechanism(1.0),
    ],
    ids=repr,
)
def test_the_ceiling_holds_near_the_top_of_a_support(mechanism, gap):
    for loss in (mechanism.loss_law(), mechanism.loss_law().reflected()):
        x = loss.support.upper * (1 - gap)
        order = None if loss.traits.symmetric else ("remove" if loss == mechanism.loss_law() else "add")
        assert ceiling(loss, x).at(x) >= mechanism.log_delta(x, direction=order).lower


@pytest.mark.parametrize("rare", [1e-12, 1e-9, 2e-8])
@pytest.mark.parametrize("gap", [1e-5, 1e-7, 1e-9])
def test_no_order_is_left_out_near_the_top_of_its_support(rare, gap):
    p = [0.5 / math.e, rare, 1 - 0.5 / math.e - rare]
    q = [0.5, rare * math.exp(-2), 0.5 - rare * math.exp(-2)]
    with mpmath.workdps(DIGITS):
        growth = mpmath.exp(mpf(1 - gap))
        orders = ((p, q), (q, p))
        exact = max(sum(max(mpf(0), mpf(a) - growth * mpf(b)) for a, b in zip(*order, strict=True)) for order in orders)
    assert contains(lp.Discrete(p, q).delta(1 - gap), exact)


def mixture_profile(x, sigma):
    """The profile of N(1, s^2)/2 + N(2, s^2)/2 against N(0, s^2): the loss grows with the output."""

    def loss(y):
        return log((exp((2 * y - 1) / (2 * sigma**2)) + exp((4 * y - 4) / (2 * sigma**2))) / 2)

    low, high = mpf(-400), mpf(400)
    while high - low > mpf(10) ** -20:
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < x else (low, middle)
    tails = [exp(log_tail((low - mean) / sigma)) for mean in (1, 2, 0)]
    return (tails[0] + tails[1]) / 2 - exp(x) * tails[2]


@pytest.mark.few(1)
@pytest.mark.parametrize("eps", [1.0, 7.68])
def test_where_k_is_unknown_up_the_line_its_envelope_bounds_the_nodes(eps):
    """Three discrete Gaussians by enumeration, each of their losses a shift of the mixture's profile."""
    sigma, spread = mpf("3.57"), mpf("2.47")
    with mpmath.workdps(30):
        weights = [exp(-mpf(k * k) / (2 * spread**2)) for k in range(-30, 31)]
        total = sum(weights)
        sums = {0: mpf(1)}
        for _ in range(3):
            following: dict[int, mpf] = {}
            for place, mass in sums.items():
                for k, weight in zip(range(-30, 31), weights, strict=True):
                    if mass * weight > mpf(10) ** -40:
                        following[place + k] = following.get(place + k, mpf(0)) + mass * weight / total
            sums = following
        truth = sum(mass * mixture_profile(dec(eps) - (2 * place + 3) / (2 * spread**2), sigma) for place, mass in sums.items())
    release = 3 * lp.DiscreteGaussian(2.47) + lp.GaussianMixture(sigma=3.57, sensitivities=[1, 2], probabilities=[0.5, 0.5])
    found = release.delta(eps, direction="remove", method="contour")
    assert contains(found, truth)
    assert found.width < 3e-9 * found.value
