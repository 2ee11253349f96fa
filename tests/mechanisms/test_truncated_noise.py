"""Truncated Gaussian and Laplace noise ([PLC] section 6): one release by its densities, few by nested integrals."""

import math
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, mpf

import logphi as lp
from exact import contains, dec
from slowly import slowly

DIGITS = 40
# scale, truncation, sensitivity: ends that are far, near, nearer than the sensitivity, and equal to it
SHAPES = [(1, 3, 1), (2, 1.5, 1), (1, 0.7, 1), (1, 2, 3.5), (1.5, 1.5, 1.5), (3, 20, 0.25)]
EPSILONS = [-0.4, 0.0, 0.1, 0.6, 1.5, 4.0]


class Normal:
    """Normal noise of width sigma on [-t, t], in units of sigma, moved by m."""

    make: Any = lp.TruncatedGaussian

    def __init__(self, sigma, truncation, sensitivity):
        self.m, self.t = dec(sensitivity) / dec(sigma), dec(truncation) / dec(sigma)
        self.whole = mpmath.erf(self.t / mpmath.sqrt(2))
        self.kinks = []

    def density(self, x):
        return mpmath.npdf(x) / self.whole

    def loss(self, x):
        return self.m * (x - self.m / 2)

    def mass(self, low, high):
        # from the side where less cancels
        low, high = (-high, -low) if low > 0 else (low, high)
        return (mpmath.ncdf(high) - mpmath.ncdf(low)) / self.whole

    def place(self, epsilon):
        """Above it the loss is above epsilon, on the common support."""
        return min(max(epsilon / self.m + self.m / 2, self.m - self.t), self.t)


class Double(Normal):
    """Double-exponential noise."""

    make = lp.TruncatedLaplace

    def __init__(self, scale, truncation, sensitivity):
        self.m, self.t = dec(sensitivity) / dec(scale), dec(truncation) / dec(scale)
        self.whole = 2 * (1 - exp(-self.t))
        self.kinks = [mpf(0), self.m]

    def density(self, x):
        return exp(-abs(x)) / self.whole

    def loss(self, x):
        return abs(x) - abs(x - self.m)

    def mass(self, low, high):
        low, high = (-high, -low) if low > 0 else (low, high)

        def below(x):
            return exp(x) if x < 0 else 2 - exp(-x)

        return (below(high) - below(low)) / self.whole

    def place(self, epsilon):
        if epsilon >= self.m:
            return self.t
        crossing = (epsilon + self.m) / 2 if epsilon > -self.m else self.m - self.t
        return min(max(crossing, self.m - self.t), self.t)


def profile(noise, epsilon):
    """Of one release: the outputs above a place, those that P alone has among them."""
    low = noise.place(epsilon)
    return noise.mass(low - noise.m, noise.t) - exp(epsilon) * noise.mass(low, noise.t)


def convolved(noise, inner, epsilon, **rule):
    """Of one release more: the mean of ``inner`` at what the loss leaves of epsilon, by a rule of quadrature."""
    low, high = noise.m - noise.t, noise.t
    cuts = sorted({low, high, *(kink for kink in noise.kinks if low < kink < high)})
    # where the inner profile has its own kinks
    inside = [noise.place(epsilon - end) for end in (noise.loss(low), noise.loss(high))]
    cuts = sorted({*cuts, *inside})
    body = mpmath.quad(lambda x: noise.density(x - noise.m) * inner(epsilon - noise.loss(x)), cuts, **rule)
    return noise.mass(high - noise.m, noise.t) + body


@pytest.mark.parametrize("kind", [Normal, Double])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_release(kind, shape):
    with mpmath.workdps(DIGITS):
        noise, mechanism = kind(*shape), kind.make(*shape)
        for epsilon in EPSILONS:
            found = mechanism.delta(epsilon)
            assert contains(found, profile(noise, dec(epsilon)))
            assert found.upper - found.lower < 1e-11 * found.upper
        # the densities themselves, at one place
        at = dec(0.3)
        cuts = sorted({noise.m - noise.t, noise.place(at), *noise.kinks, noise.t, noise.t + noise.m})

        def gain(x):
            p = noise.density(x - noise.m) if abs(x - noise.m) <= noise.t else 0
            q = noise.density(x) if abs(x) <= noise.t else 0
            return max(p - exp(at) * q, 0)

        assert mpmath.almosteq(mpmath.quad(gain, cuts), profile(noise, at), 1e-12)


@pytest.mark.parametrize("kind", [Normal, Double])
@pytest.mark.parametrize("shape", SHAPES[:4])
def test_infinite_losses(kind, shape):
    with mpmath.workdps(DIGITS):
        noise, mechanism = kind(*shape), kind.make(*shape)
        lost = noise.mass(noise.t - noise.m, noise.t)
        for count in (1, 2, 10**6):
            assert contains((count * mechanism).delta(1e9), 1 - (1 - lost) ** count)


def test_infinite_losses_far_out():
    with mpmath.workdps(DIGITS):
        for kind, shape in ((Normal, (1, 30, 1e-5)), (Normal, (1, 8, 1)), (Double, (1, 500, 0.01))):
            noise = kind(*shape)
            found = kind.make(*shape).delta(1e3)
            assert contains(found, noise.mass(noise.t - noise.m, noise.t))
            assert found.upper < found.lower * (1 + 1e-9)


@pytest.mark.parametrize("kind", [Double, *slowly(Normal)])
@pytest.mark.parametrize("shape", SHAPES[:2])
def test_two_releases(kind, shape):
    with mpmath.workdps(20):
        noise, mechanism = kind(*shape), kind.make(*shape)
        for epsilon in (0.0, 0.5):
            found = (2 * mechanism).delta(epsilon)
            expected = convolved(noise, lambda at: profile(noise, at), dec(epsilon))
            assert found.lower - 1e-12 <= expected <= found.upper + 1e-12
            assert found.upper - found.lower < 1e-9


@pytest.mark.slow
def test_three_releases_of_normal_noise():
    # between the cuts the densities are smooth: 48 nodes each leave 2e-8
    rule: dict[str, Any] = {"method": "gauss-legendre", "maxdegree": 4}
    with mpmath.workdps(15):
        noise = Normal(1, 2, 1)

        def pair(at):
            return convolved(noise, lambda one: profile(noise, one), at, **rule)

        found = (3 * lp.TruncatedGaussian(1, 2)).delta(0.5)
        assert float(convolved(noise, pair, mpf(0.5), **rule)) == pytest.approx(found.value, rel=1e-7)


def test_three_releases_of_double_exponential_noise():
    """Once tilted, atoms of weight a at +-1 and a flat part of height h: sums over how many of either kind are drawn."""
    with mpmath.workdps(DIGITS):
        one, end, epsilon, count = mpf(1), mpf(2), mpf("0.5"), 3
        whole = 2 * (1 - exp(-end))
        a, h = (1 - exp(one - end)) / whole * exp(-one / 2), exp(-one / 2) / (2 * whole)
        lost = (exp(one - end) - exp(-end)) / whole

        def flats(k, y):
            """The density of k uniform numbers on [-1, 1], times 2^k."""
            parts = ((-1) ** j * mpmath.binomial(k, j) * (y + k - 2 * j) ** (k - 1) for j in range(k + 1) if y + k > 2 * j)
            return mpmath.fsum(parts) / mpmath.factorial(k - 1)

        def pays(loss):
            return exp(loss / 2) * max(1 - exp(epsilon - loss), 0)

        total = 1 - (1 - lost) ** count
        for up in range(count + 1):
            for down in range(count + 1 - up):
                k, place = count - up - down, up - down
                weight = math.comb(count, up) * math.comb(count - up, down) * a ** (up + down) * h**k
                if k == 0:
                    total += weight * pays(mpf(place))
                    continue
                cuts = sorted({*map(mpf, range(-k, k + 1)), min(max(epsilon - place, -k), k)})
                total += weight * mpmath.quad(lambda y, k=k, place=place: flats(k, y) * pays(y + place), cuts)
        assert contains((count * lp.TruncatedLaplace(1, 2)).delta(0.5), total)


@pytest.mark.parametrize("kind", [Normal, Double])
@pytest.mark.parametrize("shape", SHAPES[:3])
def test_sampled(kind, shape):
    """(1 - q) Q + q P against Q has profile q delta(x'), and the other order follows from the symmetry of the base."""
    with mpmath.workdps(DIGITS):
        noise, q = kind(*shape), dec(0.2)
        sampled = kind.make(*shape).poisson(0.2)
        for epsilon in (-0.1, 0.05, 0.3, 1.0):
            at = mpmath.log1p(mpmath.expm1(dec(epsilon)) / q)
            assert contains(sampled.delta(epsilon, direction="remove"), q * profile(noise, at))
        low = kind.make(*shape).delta(0.0)
        spliced = kind.make(*shape, adjacency="replace").subset(0.2, adjacency="replace").delta(0.0)
        assert spliced.lower <= 0.2 * low.upper
        assert spliced.upper >= 0.2 * low.lower


@pytest.mark.parametrize("count", [30, 2**20])
def test_without_ends_it_is_the_plain_mechanism(count):
    """The noise that is cut off has a mass below 1e-13 per release: profiles differ by at most twice that each."""
    for cut, plain in (
        (lp.TruncatedGaussian(500, 4000), lp.Gaussian(500)),
        (lp.TruncatedLaplace(500, 17000), lp.Laplace(500)),
    ):
        one, other = (count * cut).delta(0.5), (count * plain).delta(0.5)
        room = count * 4e-15
        assert one.lower - room <= other.upper
        assert other.lower - room <= one.upper


def test_it_composes_with_others():
    total = 5 * lp.TruncatedGaussian(4, 20) + 3 * lp.TruncatedLaplace(6, 40) + lp.Gaussian(3) + lp.RandomizedResponse(0.6)
    found = total.delta(0.5)
    assert found.status is lp.Status.MET
    assert total.epsilon(0.01).status is lp.Status.MET


@settings(max_examples=15)
@given(st.floats(0.1, 3), st.floats(0.6, 5), st.floats(1.01, 2), st.floats(-1, 2))
def test_more_noise_or_less_sensitivity_tells_less(m, t, factor, epsilon):
    """A log-concave noise: the profile grows with the shift and falls with the end."""
    t = t * m
    for make in (lp.TruncatedGaussian, lp.TruncatedLaplace):
        here = make(1, t, m).delta(epsilon)
        assert make(1, t, m / factor).delta(epsilon).lower <= here.upper
        assert make(1, min(t * factor, 36), m).delta(epsilon).lower <= here.upper


def test_ends_of_the_support():
    for mechanism in (lp.TruncatedLaplace(10, 150), lp.TruncatedGaussian(10, 50), lp.TruncatedLaplace(1, 1, 1.5)):
        for count in (1, 3):
            release = count * mechanism
            top, lost = release.loss_law().support.upper, release.delta(1e3)
            for share in (1 - 1e-12, 1.0):
                found = release.delta(top * share)
                assert lost.lower <= found.upper <= lost.upper + 2e-12 * top


@pytest.mark.parametrize("make", [lp.TruncatedGaussian, lp.TruncatedLaplace])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 0.50000001, 1), "nearly every output"),
        ((1, 700, 1), "leave the truncation out"),
        ((1, math.inf, 1), "truncation"),
        ((-1, 3, 1), "must not be negative"),
        ((1, -3, 1), "must not be negative"),
        ((1, 3, 1e-60), "at least 1e-50"),
    ],
)
def test_refused(make, arguments, words):
    with pytest.raises(ValueError, match=words):
        make(*arguments)


def test_questions_without_an_answer():
    for make in (lp.TruncatedGaussian, lp.TruncatedLaplace):
        with pytest.raises(ValueError, match="group_size"):
            make(1, 3).poisson(0.1, group_size=2)
        with pytest.raises(ValueError, match="replace"):
            make(1, 3).poisson(0.1, adjacency="replace")
