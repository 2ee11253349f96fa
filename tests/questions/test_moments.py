"""Cumulants of losses against integrals over the output, exact sums and closed forms; what is not known is said so."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from densities import GRID, laplace, mixed, normal
from exact import contains, dec
from logphi.answers.status import Status
from logphi.arith.protocol import Plain
from logphi.engine.cumulants import cumulant, mean, variance
from logphi.inversion.lines.moments import taylor
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from slowly import slowly
from some import some

DIGITS = 30
# relative to the answer
SHARP = 1e-9
INF = math.inf


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def raw(p, q, places, order):
    """E_P[L^j], j = 1 .. order, over the output."""
    return [mpmath.quad(lambda x, j=j: p(x) * log(p(x) / q(x)) ** j, places) for j in range(1, order + 1)]


def cumulants(moments):
    """By the recursion of the logarithm of a power series."""
    found: list[Any] = []
    for n in range(1, len(moments) + 1):
        rest = sum(mpmath.binomial(n - 1, k - 1) * found[k - 1] * moments[n - k - 1] for k in range(1, n))
        found.append(moments[n - 1] - rest)
    return found


def check(law, exact, sharp=SHARP):
    for order, value in enumerate(exact, 1):
        bound = cumulant(law, order)
        assert contains(bound, value), (order, bound, value)
        assert bound.width <= sharp * abs(bound.value), (order, bound)
        assert bound.status is Status.MET


# noise and rate
SAMPLED = [
    (2.0, 0.01),
    (0.3, 1e-5),
    *slowly((0.5, 0.3), (1.0, 1e-4), (2.0, 1e-8), (40.0, 0.001)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "rate"), SAMPLED)
@pytest.mark.parametrize("reflected", [False, True])
def test_sampled_normal_laws(sigma, rate, reflected):
    s, r = dec(sigma), dec(rate)
    null = normal(0, 1)
    alternative = mixed(normal(1 / s, 1), null, r)
    p, q = (null, alternative) if reflected else (alternative, null)
    law = lp.Gaussian(sigma=sigma).poisson(rate).loss_law()
    # a mean of q^2 is the difference of parts of q
    with mpmath.workdps(45):
        first, second = raw(p, q, GRID, 2)
    check(law.reflected() if reflected else law, [first, second - first**2], 3e-7 if (sigma, rate) == (0.3, 1e-5) else SHARP)


def test_many_repetitions_cost_nothing():
    one = lp.Gaussian(sigma=2).poisson(1e-6).loss_law()
    many = (10**9 * lp.Gaussian(sigma=2).poisson(1e-6)).loss_law()
    for order in (1, 2, 3):
        assert math.isclose(cumulant(many, order).value, 1e9 * cumulant(one, order).value, rel_tol=1e-12)
    assert mean(many).width <= SHARP * mean(many).value


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.7, *slowly(0.05, 2.0, 30.0)])
def test_laplace_laws_to_the_eighth(scale):
    b = dec(scale)
    exact = cumulants(raw(laplace(1, b), laplace(0, b), [-INF, 0, 1, 1, INF], 8))
    law = lp.Laplace(scale=scale).loss_law()
    check(law, exact[:2], 1e-9)
    for order in range(3, 9):
        bound = cumulant(law, order)
        assert contains(bound, exact[order - 1])
        assert bound.width <= 1e-4 * float(max(exact[1] ** mpf(order / 2), abs(exact[order - 1])))


@pytest.mark.parametrize("sigma", [0.001, 0.1, 1.0, 100.0, 1e6])
def test_normal_laws(sigma):
    v = 1 / dec(sigma) ** 2
    law = lp.Gaussian(sigma=sigma).loss_law()
    check(law, [v / 2, v])
    for order in (3, 4, 8):
        bound = cumulant(law, order)
        assert contains(bound, 0)
        # K itself is as large as the mean, and rounds like it
        assert bound.width <= (1e-6 if order == 8 else 1e-8) * float(v) ** (order / 2) * math.factorial(order)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [(0.0, 1.0, 1.0, 2.0), (1.0, 2.0, 0.0, 1.0), (0.0, 1.0, 3.0, 0.2), (0.0, 1.0, 1e-4, 1.001)])
def test_pairs_of_widths(pair):
    m, s, k, w = map(dec, pair)
    p, q = normal(m, s), normal(k, w)
    places = sorted({m + j * s for j in (-40, -10, -3, 0, 3, 10, 40)})
    check(lp.GaussianPair(*pair).loss_law(), cumulants(raw(p, q, places, 4))[:3], 1e-6 if pair[3] == 1.001 else SHARP)


@pytest.mark.parametrize(
    ("p", "q"),
    [([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), ([0.01, 0.99], [0.02, 0.98]), ([0.5, 0.25, 0.25], [1e-9, 0.5, 0.499999999])],
)
def test_finite_laws(p, q):
    pairs = list(zip(map(dec, p), map(dec, q), strict=True))
    exact = cumulants([sum(a * log(a / b) ** j for a, b in pairs) for j in range(1, 5)])
    law = lp.Discrete(p=p, q=q).loss_law()
    check(law, exact[:2])
    for order in (3, 4):
        assert contains(cumulant(law, order), exact[order - 1])
        assert cumulant(law, order).width <= 1e-7 * float(exact[1]) ** (order / 2)


def test_infinite_losses_are_left_out():
    p, q = [0.5, 0.3, 0.2, 0], [0.2, 0.3, 0, 0.5]
    law = lp.Discrete(p=p, q=q).loss_law()
    pairs = [(dec(a), dec(b)) for a, b in zip(p, q, strict=True) if a and b]
    mass = sum(a for a, _ in pairs)
    check(law, cumulants([sum(a * log(a / b) ** j for a, b in pairs) / mass for j in (1, 2)]))
    bounded = lp.PureDP(epsilon=1).loss_law(), lp.ApproximateDP(epsilon=1, delta=0.01).loss_law()
    assert mean(bounded[0]).value == pytest.approx(mean(bounded[1]).value, rel=1e-12)


def test_a_sampled_discrete_normal_law_with_its_tails():
    # the cells beyond the doubles are part of the law
    weights = {x: exp(-mpf(x * x) / 8) for x in range(-60, 61)}
    total, r = sum(weights.values()), dec(0.01)
    pairs = [((1 - r) * weights[x] + r * weights[x - 1], weights[x]) for x in range(-59, 61)]
    exact = cumulants([sum(a * log(a / b) ** j for a, b in pairs) / total for j in (1, 2)])
    law = lp.DiscreteGaussian(sigma=2).poisson(0.01).loss_law()
    for order, value in enumerate(exact, 1):
        assert contains(cumulant(law, order), value)
        assert cumulant(law, order).width <= 1e-6 * value


class HalfStrip(Normal):
    """A law of which nothing is known to the right of zero."""

    strip = (-INF, 0.0)


def test_nothing_is_known_where_moments_end_at_zero():
    heavy = LogPhi(((HalfStrip(Plain(1.0)), 1),))
    for order, least in ((1, 0.0), (2, 0.0), (3, -INF)):
        bound = cumulant(heavy, order)
        assert bound.upper == INF
        assert bound.lower == pytest.approx(least, abs=1e-9)
        assert bound.status is Status.UNRESOLVED


def test_estimates_stay_estimates():
    known = lp.FromDensities(
        lambda x: -((x - 1) ** 2) / 2 - math.log(2 * math.pi) / 2,
        lambda x: -(x**2) / 2 - math.log(2 * math.pi) / 2,
        (-INF, INF),
    )
    bound = variance(known.loss_law())
    assert contains(bound, 1)
    assert not bound.ledger.proved
    assert bound.status is Status.ESTIMATED


def test_nothing_released_has_no_moments():
    for law in (LogPhi(), lp.PureDP(epsilon=0).loss_law(), lp.Gaussian(sigma=1).poisson(0).loss_law()):
        for order in (1, 2, 5):
            assert cumulant(law, order).lower == cumulant(law, order).upper == 0


@pytest.mark.slow
def test_many_terms_are_one_law():
    mechanisms = [lp.Gaussian(sigma=1 + k / 50).poisson(0.01) for k in range(30)]
    whole = lp.compose(mechanisms).loss_law()
    for order in (1, 2):
        apart = [cumulant(one.loss_law(), order) for one in mechanisms]
        bound = cumulant(whole, order)
        assert sum(one.lower for one in apart) <= bound.upper
        assert sum(one.upper for one in apart) >= bound.lower
        assert bound.width <= SHARP * bound.value


def test_the_disc_holds_what_it_says():
    """|K(z) - K(0) - z m| <= B on the disc, at points that the circle has not."""
    law = lp.Gaussian(sigma=1).poisson(0.2).loss_law().terms[0][0]
    assert isinstance(law, MixedNormal)
    series = some(taylor(law, 8))
    rng = np.random.default_rng(5)
    z = series.disc * np.sqrt(rng.uniform(size=40)) * np.exp(2j * np.pi * rng.uniform(size=40))
    values = law.log_transform(z)
    g = values.mid - z * series.mean
    assert np.all(np.abs(g) <= series.bound + values.radius)
    inside = z[np.abs(z) < series.circle / 2]
    for point, value in zip(inside, values.mid[np.abs(z) < series.circle / 2], strict=True):
        slope, error = series.slope(complex(point))
        assert abs(slope - value / point) <= error.error + 1e-13
        assert error.error <= 1e-10


@pytest.mark.parametrize(
    ("order", "error"), [(0, ValueError), (41, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError)]
)
def test_bad_orders_are_refused(order, error):
    with pytest.raises(error, match="order must be an integer"):
        cumulant(lp.Gaussian(sigma=1).loss_law(), order)
