"""Renyi divergences, zCDP and hockey sticks against integrals over the output, exact sums and closed forms."""

import cmath
import math

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpc, mpf

import logphi as lp
from densities import GRID, laplace, mixed, normal
from directions import DIRECTIONS
from exact import contains, dec
from logphi.answers.complex_bound import ComplexBound
from logphi.answers.status import Status
from logphi.arith.protocol import Plain
from logphi.expression import parse
from logphi.inversion.lines.phase import along
from logphi.laws.growth import OneSided
from logphi.laws.normal.normal import Normal
from refusals import untyped
from slowly import slowly

INF, NAN = math.inf, math.nan
# relative to the answer
SHARP = 1e-9
REAL_ORDERS = [-3.0, -0.5, 1e-9, 0.25, 0.5, 0.999999, 1.0, 1 + 1e-9, 1.01, 2.0, 7.5, 40.0]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(28):
        yield


def divergence(p, q, order, places):
    """By the integral over the output; the Kullback-Leibler divergence at order 1."""
    if order == 1:
        return mpmath.quad(lambda x: p(x) * log(p(x) / q(x)), places)
    z = (mpc if isinstance(order, complex) else mpf)(order) - 1
    with mpmath.workdps(34):
        # the masses are taken off, so that nothing cancels near order 1
        rest = mpmath.quad(lambda x: p(x) * (mpmath.expm1(z * log(p(x) / q(x)))), places)
        return mpmath.log1p(rest) / z


def check(bound, exact, sharp=SHARP):
    assert contains(bound, exact), (bound, exact)
    assert bound.width <= sharp * abs(bound.value), bound
    assert bound.status is Status.MET


@pytest.mark.slow
@pytest.mark.parametrize("order", [-3.0, 1e-9, 0.5, 1.0, 1 + 1e-9, 1.01, 7.5, 40.0])
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.02), *slowly((2.0, 1e-8), (0.5, 0.4))])
def test_sampled_normal_laws(order, sigma, rate):
    s = dec(sigma)
    q = normal(0, 1)
    p = mixed(normal(1 / s, 1), q, dec(rate))
    places = [at + (max(order, 1 - order) / s if at > 4 else 0) for at in GRID]
    mechanism = lp.Gaussian(sigma=sigma).poisson(rate)
    check(mechanism.renyi(order, direction="remove"), divergence(p, q, order, places))
    check(mechanism.renyi(order, direction="add"), divergence(q, p, order, places))


@pytest.mark.parametrize("order", [*REAL_ORDERS, 1e4, 1e9])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 100.0])
def test_normal_laws(order, sigma):
    exact = mpf(order) / dec(sigma) ** 2 / 2
    check(lp.Gaussian(sigma=sigma).renyi(order), exact)
    check((10**9 * lp.Gaussian(sigma=sigma)).renyi(order), 10**9 * exact)


@pytest.mark.few(2)
@pytest.mark.parametrize("order", REAL_ORDERS)
@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_laplace_laws(order, scale):
    b = dec(scale)
    exact = divergence(laplace(1, b), laplace(0, b), order, [-INF, 0, 1, INF])
    check(lp.Laplace(scale=scale).renyi(order), exact)


@pytest.mark.slow
@pytest.mark.parametrize("order", [-2.0, 1.0, INF, -INF, *slowly(0.0, 0.3, 1.3, 5.0)])
def test_mixtures(order):
    q = normal(0, 1)

    def p(x):
        return (5 * normal(0, 1)(x) + 3 * normal(1, 1)(x) + 2 * normal(2, 1)(x)) / 10

    mechanism = lp.GaussianMixture(sigma=1, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2])
    here, there = (mechanism.renyi(order, direction=one) for one in ("remove", "add"))
    if order == INF:
        assert here.lower == INF
        check(there, log(2))
    elif order == -INF:
        assert there.upper == -INF
        check(here, -log(2))
    elif order == 0:
        assert here.upper == there.upper == 0
    else:
        check(here, divergence(p, q, order, GRID))
        check(there, divergence(q, p, order, GRID))


P, Q = [0.5, 0.3, 0.2, 0], [0.2, 0.3, 0, 0.5]


def finite(p, q, order):
    """By its definition, with infinities where outcomes of one law are not of the other."""
    pairs = [(dec(a), dec(b)) for a, b in zip(p, q, strict=True)]
    if any(a > 0 and b == 0 for a, b in pairs) and order >= 1:
        return mpf(INF)
    if any(b > 0 and a == 0 for a, b in pairs) and order < 0:
        return -mpf(INF)
    pairs = [(a, b) for a, b in pairs if a and b]
    if order == 1:
        return sum(a * log(a / b) for a, b in pairs)
    if abs(order) == INF:
        return (max if order > 0 else min)(log(a / b) for a, b in pairs)
    o = mpf(order)
    return log(sum(a**o * b ** (1 - o) for a, b in pairs)) / (o - 1)


@pytest.mark.parametrize("order", [-INF, -2.0, -1e-6, 0.0, 1e-6, 0.4, 0.99999, 1.0, 1.0001, 3.0, 1e6, INF])
@pytest.mark.parametrize(("p", "q"), [(P, Q), ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ([0.4, 0.6, 0.0], [0.3, 0.3, 0.4])])
def test_finite_laws(p, q, order):
    mechanism = lp.Discrete(p=p, q=q)
    for direction, exact in zip(DIRECTIONS, (finite(p, q, order), finite(q, p, order)), strict=True):
        bound = mechanism.renyi(order, direction=direction)
        if abs(exact) == INF:
            assert bound.lower == bound.upper == float(exact)
            assert bound.status is Status.DIVERGENT
        else:
            check(bound, exact)
    both = mechanism.renyi(order)
    assert both.lower <= max(finite(p, q, order), finite(q, p, order)) <= both.upper


def test_orders_with_infinite_losses():
    assert lp.Discrete(p=P, q=Q).renyi_orders() == (0.0, 1.0)
    only_q = lp.Discrete(p=[0.4, 0.6, 0], q=[0.3, 0.3, 0.4])
    assert only_q.renyi_orders(direction="remove") == (0.0, INF)
    assert only_q.renyi_orders(direction="add") == (-INF, 1.0)
    assert only_q.renyi_orders() == (0.0, 1.0)
    assert lp.Gaussian(sigma=1).renyi_orders(rtol=1e-6) == (-INF, INF)


def test_a_strip_that_ends():
    mechanism = lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)
    low, high = mechanism.renyi_orders(direction="add")
    assert high == pytest.approx(4 / 3)
    assert low == -INF
    exact = divergence(normal(1, 2), normal(0, 1), 1.2, [-90, -20, -10, -2, 0, 2, 10, 20, 90])
    check(mechanism.renyi(1.2, direction="add"), exact)
    # the closer to the end, the more does half an ulp of a width change
    near = mechanism.renyi(4 / 3 - 1e-6, direction="add")
    assert near.lower > 2e5
    assert near.width <= 1e-8 * near.value
    # within half an ulp of a width of the end, it may be either
    at_end = mechanism.renyi(4 / 3, direction="add")
    assert 0 < at_end.lower < at_end.upper == INF
    assert at_end.status is Status.WIDE
    for order in (1.34, 2, 1e9, INF):
        bound = mechanism.renyi(order, direction="add")
        assert bound.lower == bound.upper == INF
        assert bound.status is Status.DIVERGENT
    assert mechanism.renyi(2).lower == INF
    below = mechanism.renyi(-1.0, direction="remove")
    assert below.upper == -INF


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "text",
    [
        "Gaussian(sigma=1).poisson(0.1)",
        "Laplace(scale=1)",
        "KaryRandomizedResponse(k=4, p=0.5)",
        "DiscreteGaussian(sigma=2).poisson(0.2)",
        "3 * PureDP(epsilon=0.5) + 2 * Gaussian(sigma=1.5).poisson(0.3)",
        "Laplace(scale=1).poisson(0.2)",
        "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)",
    ],
)
def test_laws_of_the_family(text):
    """D_a grows with a, (a - 1) D_a is convex, and a/(1-a) turns the pair around."""
    mechanism = parse(text)
    orders = np.array([-2.5, -1, -0.25, 0, 0.125, 0.25, 0.5, 0.75, 0.875, 1, 1.0625, 1.125, 1.25])
    here, there = (mechanism.renyi(orders, direction=one) for one in ("remove", "add"))
    assert np.all(here.lower[:-1] <= here.upper[1:])
    for k, order in enumerate(orders[3:9], 3):
        other = mechanism.renyi(1 - order, direction="add")
        assert other.lower * order / (1 - order) <= here.upper[k] * (1 + 1e-12)
        assert other.upper * order / (1 - order) >= here.lower[k] * (1 - 1e-12)
    z = orders - 1
    low, high = (np.where(z < 0, z * ends[0], z * ends[1]) for ends in ((here.upper, here.lower), (here.lower, here.upper)))
    chord = (high[:-2] * (z[2:] - z[1:-1]) + high[2:] * (z[1:-1] - z[:-2])) / (z[2:] - z[:-2])
    finite_ones = np.isfinite(chord)
    assert np.all((low[1:-1] <= chord + 1e-13)[finite_ones])
    assert there.shape == orders.shape


def test_the_larger_direction_is_named():
    bound = lp.Gaussian(sigma=1).poisson(0.02).renyi(2)
    assert bound.direction is lp.Direction.REMOVE
    assert lp.Gaussian(sigma=1).renyi(2).direction is lp.Direction.BOTH


def test_divergences_by_name():
    mechanism = lp.Laplace(scale=2)
    check(mechanism.kl_divergence(), mpf(1) / 2 - 1 + exp(-mpf(1) / 2))
    check(mechanism.max_divergence(direction="add"), mpf(1) / 2)
    assert lp.ApproximateDP(epsilon=1, delta=1e-9).kl_divergence().lower == INF
    assert lp.Gaussian(sigma=3).max_divergence().status is Status.DIVERGENT


def test_unknown_ends_are_enclosures():
    """A density by samples: the largest loss is not known, and the order is not an error."""
    mechanism = lp.FromDensities(lambda x: np.log(0.5 + x), lambda x: 0 * x, (0.0, 1.0))
    bound = mechanism.renyi(INF, direction="remove")
    assert bound.upper == INF
    assert 0.35 < bound.lower <= math.log(1.5)
    exact = log(mpmath.quad(lambda x: (mpf(1) / 2 + x) ** 3, [0, 1])) / 2
    third = mechanism.renyi(3, direction="remove")
    assert contains(third, exact)
    assert third.status is Status.ESTIMATED


# ------------------------------------------------------------------------------------------ complex orders


@pytest.mark.few(1)
@pytest.mark.parametrize("order", [2.5 + 1.25j, 0.2 - 3j, 1.0001 + 0.0001j, *slowly(1 + 0.5j, -1.5 + 2j, 4 + 12j)])
def test_complex_orders(order):
    q = normal(0, 1)
    p = mixed(normal(1, 1), q, dec(0.02))
    bound = lp.Gaussian(sigma=1).poisson(0.02).renyi(order, direction="remove")
    exact = divergence(p, q, order, [at + (order.real if at > 4 else 0) for at in GRID])
    assert contains(bound.real, exact.real)
    assert contains(bound.imag, exact.imag)
    assert bound.width <= SHARP * abs(bound.value)
    # the branch: many repetitions multiply the phase too
    many = (1000 * lp.Gaussian(sigma=1).poisson(0.02)).renyi(order, direction="remove")
    assert contains(many.real, 1000 * exact.real)
    assert contains(many.imag, 1000 * exact.imag)


def test_the_branch_is_followed_around_zero():
    """Two atoms: the phase winds once in every period, so that the principal value is soon wrong."""
    mechanism = lp.Discrete(p=[0.9, 0.1], q=[0.3, 0.7])
    high, low = log(mpf(3)), log(mpf(1) / 7)
    for height in (1.0, 5.0, -20.0, 60.0):
        bound = mechanism.renyi(complex(1, height), direction="remove")
        # log(0.9 e^{z h}) + log(1 + e^{z (l - h)}/9), whose second part never leaves the right half plane
        z = mpc(0, height)
        exact = (z * high + log(mpf("0.9")) + log(1 + exp(z * (low - high)) / 9)) / z
        assert contains(bound.real, exact.real)
        assert contains(bound.imag, exact.imag)
        assert bound.width <= SHARP * abs(bound.value)


def test_a_phase_that_cannot_be_followed_is_not_told():
    """Two equal atoms: the transform has zeros on the line Re z = -1/2."""
    mechanism = lp.RandomizedResponse(p=0.75)
    bound = mechanism.renyi(complex(0.5, 4.0))
    assert bound.real.lower == -INF
    assert bound.real.upper == INF
    assert bound.status is Status.UNRESOLVED
    assert np.isfinite(along(mechanism.loss_law().terms[0][0], -0.5, np.array([0.5])).radius).all()


def test_real_orders_written_as_complex():
    mechanism = lp.Gaussian(sigma=1).poisson(0.02)
    bound = mechanism.renyi(2 + 0j)
    assert isinstance(bound, ComplexBound)
    assert bound.real.value == mechanism.renyi(2).value
    assert bound.imag.lower == bound.imag.upper == 0


def test_complex_orders_that_diverge():
    mechanism = lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)
    assert mechanism.renyi(2 + 1j, direction="add").status is Status.DIVERGENT
    assert lp.ApproximateDP(epsilon=1, delta=0.1).renyi(1 + 1j).status is Status.DIVERGENT
    inside = lp.ApproximateDP(epsilon=1, delta=0.1).renyi(0.75 + 1j)
    exact = log((1 - mpf("0.1")) * (exp(mpc(0.75, 1)) + exp(-mpc(-0.25, 1))) / (1 + exp(1))) / mpc(-0.25, 1)
    assert contains(inside.real, exact.real)
    assert contains(inside.imag, exact.imag)


@pytest.mark.parametrize(
    ("order", "error", "text"),
    [
        (NAN, ValueError, "must not be NaN"),
        ([1.0, NAN], ValueError, "must not be NaN"),
        (complex(NAN, 1), ValueError, "finite"),
        ("2", TypeError, "must be a number"),
        (None, TypeError, "must be a number"),
        (True, TypeError, "must be a number"),
        ([1 + 1j, 2], TypeError, "one at a time"),
        (2 + 1j, ValueError, "no maximum"),
    ],
)
def test_bad_orders_are_refused(order, error, text):
    with pytest.raises(error, match=text):
        lp.Gaussian(sigma=1).poisson(0.1).renyi(order)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="direction"):
        untyped(lp.Gaussian(sigma=1).renyi)(2, direction="left")
    with pytest.raises(ValueError, match="rtol"):
        lp.Gaussian(sigma=1).renyi(2, rtol=0)


def test_arrays_keep_their_shape():
    orders = np.array([[1.5, 2.0], [3.0, INF]])
    bounds = lp.PureDP(epsilon=1).renyi(orders)
    assert bounds.shape == (2, 2)
    assert bounds[1, 1].value == pytest.approx(1.0)
    assert lp.PureDP(epsilon=1).renyi([]).shape == (0,)


# ----------------------------------------------------------------------------------------------------- growth


@pytest.mark.parametrize(
    "text",
    [
        "Gaussian(sigma=1.3)",
        "Gaussian(sigma=0.7).poisson(0.1)",
        "Gaussian(sigma=1.3).poisson(0.1, adjacency='replace')",
        "Gaussian(sigma=1.3, adjacency='replace').subset(0.2, adjacency='replace')",
        "GaussianMixture(sigma=1, sensitivities=[1, 2], probabilities=[0.5, 0.5])",
        "DiscreteGaussian(sigma=0.6, sensitivity=2)",
        "DiscreteGaussian(sigma=2).poisson(0.2)",
        "DiscreteGaussian(sigma=2, adjacency='replace').subset(0.2, adjacency='replace')",
        "Laplace(scale=1).poisson(0.2)",
        "5 * Gaussian(sigma=2).poisson(0.2) + Laplace(scale=1)",
    ],
)
def test_transforms_stay_below_their_growth(text):
    law = parse(text).loss_law().with_omitted_mass()
    z = np.array([0.01, 0.3, 1.0, 2.5, 8.0, 20.0, 45.0])
    for one in (law, law.reflected()):
        growth = one.growth.right
        values = one.log_transform(z)
        known = np.isfinite(values.radius)
        bound = z * (growth.offset + (z + 1) * growth.most / 2)
        assert known.sum() >= 4
        assert np.all((values.mid - values.radius <= bound)[known])
        if growth.least > 0:
            # log of a weight away from it, at least in the limit
            assert values.mid[known][-1] / (z[known][-1] * (z[known][-1] + 1)) > growth.least / 2 * 0.6


def test_growths_add():
    one = Normal(Plain(2.0)).growth.right + OneSided.bounded(1.0) * 3
    assert one.least <= 4 <= one.most
    assert one.most - one.least < 1e-13
    assert 3 <= one.offset < 3 + 1e-14


# ------------------------------------------------------------------------------------------------------- zCDP


@pytest.mark.parametrize("sigma", [0.2, 1.0, 30.0])
def test_zcdp_of_normal_laws(sigma):
    """Bun & Steinke 2016, Proposition 1.6; sampling changes nothing, as orders grow without end."""
    exact = 1 / dec(sigma) ** 2 / 2
    for mechanism, count in ((lp.Gaussian(sigma=sigma), 1), (7 * lp.Gaussian(sigma=sigma), 7)):
        check(mechanism.zcdp(), count * exact, 1e-12)
        check(mechanism.zcdp(0.5), count * exact, 1e-12)
    check(lp.Gaussian(sigma=sigma).poisson(0.01).zcdp(), exact, 1e-12)


def brute_force(p, q, xi):
    """The largest of many orders, a lower end of the truth that is near it."""
    pairs = [(dec(a), dec(b)) for a, b in zip(p, q, strict=True)]

    def f(z):
        return (log(sum(a * (a / b) ** z for a, b in pairs)) / z - xi) / (z + 1)

    best = max(range(-100, 40), key=lambda k: f(mpf(2) ** (mpf(k) / 4)))
    return max(f(mpf(2) ** (mpf(best) / 4 + mpf(j) / 256)) for j in range(-65, 66))


@pytest.mark.parametrize("xi", [0.0, 0.02, 0.1])
@pytest.mark.parametrize(
    ("p", "q"), [([0.75, 0.25], [0.25, 0.75]), ([0.99, 0.01], [0.9999, 0.0001]), ([0.25, 0.25, 0.5], [0.1, 0.7, 0.2])]
)
def test_zcdp_of_finite_laws(p, q, xi):
    bound = lp.Discrete(p=p, q=q).zcdp(xi, direction="remove")
    exact = brute_force(p, q, dec(xi))
    assert bound.lower <= exact * (1 + mpf("1e-6")) or exact < 1e-9
    assert exact <= bound.upper
    assert bound.width <= 1e-6 * bound.value
    assert bound.upper <= float(exact) * 1.01 + 1e-9


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 8.0])
def test_zcdp_of_pure_privacy(epsilon):
    """Bun & Steinke 2016, Proposition 3.3: at most epsilon^2/2; attained at order 1 by epsilon tanh(epsilon/2)."""
    bound = lp.PureDP(epsilon=epsilon).zcdp()
    assert bound.upper <= epsilon**2 / 2 * (1 + 1e-12)
    assert contains(bound, dec(epsilon) * mpmath.tanh(dec(epsilon) / 2))
    assert bound.width <= 1e-6 * bound.value


FAR = [
    "Laplace(scale=2)",
    "DiscreteLaplace(scale=2, sensitivity=2)",
    "DiscreteGaussian(sigma=2).poisson(0.1)",
    "RandomizedResponse(p=0.75).poisson(0.1)",
    "Gaussian(sigma=1)",
    "Gaussian(sigma=1).poisson(0.1)",
]


@pytest.mark.parametrize("q", [[0.4, 0.4, 0.2], [0.4, 0.3, 0.3], [0.3, 0.1, 0.6]])
def test_zcdp_of_bounded_losses_with_outcomes_that_only_q_has(q):
    """The losses are bounded under P only: the rho of pure privacy is none for them."""
    p = [0.5, 0.5, 0.0]
    found = lp.Discrete(p=p, q=q).zcdp(direction="remove")
    best = max(finite(p, q, order) / order for order in [1.0, *(1 + mpf(10) ** k for k in range(-6, 4))])
    assert found.upper >= best
    assert found.lower <= best * (1 + 1e-6)
    assert found.status is Status.MET


@pytest.mark.few(6)
@pytest.mark.parametrize("text", FAR)
@pytest.mark.parametrize("order", [1e100, 1e308, -1e308, 1e308j, 1e308 + 1j, 0.5 + 1e17j, 1 + 1e-300j, 5e-324])
def test_orders_that_leave_the_doubles(text, order):
    """Answers without warnings, however wide."""
    for count in (1, 10**250):
        found = (count * parse(text)).renyi(order, direction="remove")
        for part in (found.real, found.imag) if isinstance(found, ComplexBound) else (found,):
            assert part.lower <= part.value <= part.upper


def test_zcdp_of_compositions():
    mechanism = 3 * lp.Gaussian(sigma=2) + 5 * lp.Laplace(scale=1)
    bound = mechanism.zcdp()
    orders = 1 + 2.0 ** np.arange(-20, 10)
    found = np.max(mechanism.renyi(orders).lower / orders)
    assert bound.lower >= found * (1 - 1e-5)
    assert bound.upper >= found
    assert bound.width <= 1e-6 * bound.value
    sampled = (1000 * lp.Gaussian(sigma=1).poisson(0.01)).zcdp(direction="add")
    assert sampled.width <= 1e-6 * sampled.value


def test_zcdp_that_is_infinite_or_unknown():
    assert lp.ApproximateDP(epsilon=1, delta=1e-9).zcdp().status is Status.DIVERGENT
    assert lp.GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2).zcdp(direction="add").lower == INF
    known = lp.FromDensities(lambda x: np.log(0.5 + x), lambda x: 0 * x, (0.0, 1.0)).zcdp(direction="remove")
    assert known.upper == INF
    assert known.lower > 0.04
    assert not known.status.met
    assert lp.PureDP(epsilon=0).zcdp().upper == 0
    assert lp.PureDP(epsilon=0.1).zcdp(0.5).upper == 0


@pytest.mark.parametrize(("xi", "error"), [(-0.1, ValueError), (NAN, ValueError), (INF, ValueError), ("0", TypeError)])
def test_bad_offsets_are_refused(xi, error):
    with pytest.raises(error, match="xi must"):
        lp.Gaussian(sigma=1).zcdp(xi)


# ----------------------------------------------------------------------------------------------- hockey sticks


@pytest.mark.parametrize("order", [0.0, 1e-9, 0.3, 1.0, 1.5, 2.9999, 3.0, 40.0, INF])
def test_hockey_sticks_of_finite_laws(order):
    pairs = [(dec(a), dec(b)) for a, b in zip(P, Q, strict=True)]
    exact = sum(max(a - mpf(order) * b, 0) if b else a for a, b in pairs) if order < INF else mpf("0.2")
    bound = lp.Discrete(p=P, q=Q).hockey_stick(order, direction="remove")
    assert contains(bound, exact)
    assert bound.width <= 1e-12


@pytest.mark.parametrize("order", [1e-300, 0.5, 1.0, 1 + 1e-12, 7.0, 1e6])
def test_hockey_sticks_of_normal_laws(order):
    e = log(mpf(order))
    exact = mpmath.ncdf(mpf(1) / 2 - e) - order * mpmath.ncdf(-mpf(1) / 2 - e)
    bound = lp.Gaussian(sigma=1).hockey_stick(order)
    assert contains(bound, exact)
    assert bound.width <= 1e-9 * bound.value


def test_hockey_sticks_at_the_ends():
    mechanism = lp.ApproximateDP(epsilon=1, delta=0.25)
    ends = mechanism.hockey_stick([0, INF])
    assert ends[0].lower == ends[0].upper == 1
    assert ends[1].lower <= 0.25 <= ends[1].upper
    assert ends[1].width <= 1e-14
    assert lp.Gaussian(sigma=1).hockey_stick(INF).upper == 0


@pytest.mark.parametrize(
    ("order", "error"), [(-0.1, ValueError), (NAN, ValueError), (1j, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_bad_hockey_sticks_are_refused(order, error):
    with pytest.raises(error, match="order must"):
        lp.Gaussian(sigma=1).hockey_stick(order)


def test_complex_values_are_complex():
    assert cmath.isclose(complex(lp.Gaussian(sigma=1).renyi(3 + 4j)), (3 + 4j) / 2, rel_tol=1e-12)


def test_complex_orders_of_many_repetitions():
    """A tiny K, ten million times: by an integral in output space, as sharp as a real order."""
    with mpmath.workdps(40):
        shift, rate = mpmath.mpf(1) / 10, mpmath.mpf("0.0001")
        z = mpmath.mpc(1, 1.25)

        def ratio(y):
            return 1 - rate + rate * mpmath.exp(shift * y - shift**2 / 2)

        moment = mpmath.quad(lambda y: mpmath.npdf(y) * ratio(y) ** (z + 1), [-16, -4, 0, 4, 16])
        exact = 10**7 * mpmath.log(moment) / z
    found = (10**7 * lp.Gaussian(sigma=10).poisson(0.0001)).renyi(2 + 1.25j, direction="remove")
    assert found.real.lower <= exact.real <= found.real.upper
    assert found.imag.lower <= exact.imag <= found.imag.upper
    assert found.width <= 1e-10 * abs(found.value)
