"""Tails and densities of the loss of one release, against masses in the space of the output at fifty digits."""

import math
from typing import Any

import mpmath
import pytest
from mpmath import erfc, exp, expm1, log, log1p, mpf

import logphi as lp
from exact import contains, dec
from logphi.arith.scaled import Scaled
from logphi.engine.tail import tails

DIGITS = 50
# a few dozen roundings of an exponent of some hundreds
SHARP = 3e-11
# where half an ulp of a parameter moves a place, the answer is as wide as that makes it
ULP = 2.0**-52

SIGMAS = [0.05, 0.3, 1.0, 7.0, 100.0]
RATES = [1e-8, 1e-3, 0.25, 0.9, 1 - 1e-4, 1 - 1e-9]
# places of the output, in standard deviations of the noise, from the record's absence
PLACES = [-25.0, -6.0, -1.0, 1e-3, 0.5, 3.0, 9.0, 27.0]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(DIGITS):
        yield


def phi(t):
    return exp(-t * t / 2) / mpmath.sqrt(2 * mpmath.pi)


def up(t):
    """The normal mass above t."""
    return erfc(t / mpmath.sqrt(2)) / 2


def holds(found, exact, width):
    """Whether an enclosure of a logarithm holds the number's, and is as narrow as requested."""
    # weights add up to one but for the last of the fifty digits
    assert mpf(found.lower) <= min(log(exact), mpf(0)) <= mpf(found.upper)
    assert found.relative_width <= width + 256 * ULP * float(abs(log(exact)))


def both(law, x, above, below, width):
    """Both tails; the larger of their relative widths."""
    found = tails(law, x)
    holds(found.above, above, width)
    holds(found.below, below, width)
    return found.width


def dense(distribution, x, exact, width):
    found = distribution.pdf(x)
    assert contains(found, exact) or exact < 1e-300
    assert exact < 1e-290 or found.upper - found.lower <= width * found.value


@pytest.mark.few(2)
@pytest.mark.parametrize("sigma", SIGMAS)
@pytest.mark.parametrize("rate", RATES)
def test_sampled_gaussian(sigma, rate):
    mechanism = lp.Gaussian(sigma=sigma).poisson(rate)
    m, q = 1 / dec(sigma), dec(rate)
    met = 0
    for place in [*PLACES, *(1 / sigma + one for one in (-3.0, 2.0))]:
        x = float(log1p(q * expm1(m * mpf(place) - m * m / 2)))
        # the threshold as it is written decides
        here = dec(x)
        ratio = 1 + expm1(here) / q
        if ratio <= 0 or ratio < 1e-12:
            # x is log(1 - q) to all its digits
            continue
        t = log(ratio) / m + m / 2
        # how far half an ulp of q and of x move the place, times what a normal tail makes of it
        moved = ULP * (1 + abs(x) * exp(here) / q + 1 / ratio) / ratio if ratio < 1 else ULP
        width = SHARP + float(16 * moved * (1 + abs(t) + m) / m) + 8 * ULP / (1 - rate)
        density = exp(here) * phi(t) * (1 - q + q * exp(m * t - m * m / 2)) / (q * m * exp(m * t - m * m / 2))
        found = both(mechanism.loss.law, x, (1 - q) * up(t) + q * up(t - m), (1 - q) * up(-t) + q * up(m - t), width)
        reflected = both(mechanism.dual_loss.law, -x, up(-t), up(t), width)
        # the loss increases with the output: density over slope, with p = e^x q
        wide = 4 * width + float(16 * moved / ratio)
        dense(mechanism.loss, x, density, wide)
        dense(mechanism.dual_loss, -x, density * exp(-here), wide)
        met += max(found, reflected) < 1e-9
    # for a large shift most places of an absent record have a loss of log(1 - q), to all digits
    assert met >= (3 if sigma < 0.1 else 8)


def test_sampled_gaussian_at_its_infimum():
    mechanism = lp.Gaussian(sigma=1).poisson(0.01)
    bottom = math.log1p(-0.01)
    for x in (bottom, math.nextafter(bottom, 0), math.nextafter(bottom, -1)):
        assert mechanism.loss.cdf(x).upper < 1e-14
        assert mechanism.loss.sf(x).lower > 1 - 1e-14
    assert mechanism.loss.cdf(bottom - 1e-9).upper == 0
    assert mechanism.loss.pdf(bottom - 1e-9).upper == 0


def test_far_tails_keep_their_digits():
    # far below every double
    law = lp.Gaussian(sigma=2).poisson(0.02).loss.law
    found = tails(law, 100.0)
    t = (log(1 + expm1(mpf(100)) / dec(0.02))) * 2 + mpf(1) / 4
    holds(found.above, (1 - dec(0.02)) * up(t) + dec(0.02) * up(t - mpf(1) / 2), 2e-10)
    assert found.above.upper < -20000


PAIRS = [
    (0.0, 1.0, 1.0, 2.0),
    (1.0, 2.0, 0.0, 1.0),
    (0.0, 1.0, 0.0, 1.3),
    (0.3, 1.25, 0.3, 1.2),
    (0.0, 0.01, 2.0, 1.0),
    (-2.5, 7.0, 4.0, 0.01),
    (0.0, 1.0, 1e-3, 1 + 1e-6),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_of_gaussians(pair):
    mechanism = lp.GaussianPair(*pair)
    m, s, k, w = map(dec, pair)
    a, b = (w**-2 - s**-2) / 2, m / s**2 - k / w**2
    for place in (-11.0, -3.0, -0.7, 1e-3, 1.0, 4.0, 12.0):
        y = m + s * mpf(place)
        x = float((((y - k) / w) ** 2 - ((y - m) / s) ** 2) / 2 + log(w / s))
        c = log(w / s) - (m / s) ** 2 / 2 + (k / w) ** 2 / 2 - dec(x)
        square = b * b - 4 * a * c
        if square < 1e-9 * (b * b + abs(4 * a * c)):
            # next to the vertex the places are not known to half of the digits
            found = tails(mechanism.loss.law, x)
            inside = found.below if a > 0 else found.above
            assert math.exp(inside.upper) < 1e-3
            continue
        low, high = sorted((-b + sign * mpmath.sqrt(square)) / (2 * a) for sign in (-1, 1))
        masses = []
        for mean, sigma in ((m, s), (k, w)):
            one, two = (low - mean) / sigma, (high - mean) / sigma
            between = up(one) - up(two) if one > 0 else up(-two) - up(-one)
            masses.append((between, up(-one) + up(two)) if a < 0 else (up(-one) + up(two), between))
        # digits lost where widths, or roots, are near each other, or where a mean is far away
        level = abs(dec(x)) + abs(log(w / s)) + ((m / s) ** 2 + (k / w) ** 2) / 2
        lost = float(abs(w + s) / abs(w - s) + (b * b + abs(4 * a) * level) / square) * (1 + float(abs(m - k) / min(s, w)))
        width = SHARP + 64 * ULP * lost * (1 + place**2)
        both(mechanism.loss.law, x, *masses[0], width)
        both(mechanism.dual_loss.law, -x, *masses[1][::-1], width)
        density = sum(phi((end - m) / s) / s for end in (low, high)) / mpmath.sqrt(square)
        dense(mechanism.loss, x, density, 16 * width)


def test_beyond_the_vertex_nothing_is_left():
    mechanism = lp.GaussianPair(0, 1, 0.5, 2)
    top = mechanism.loss.law.support.upper
    assert mechanism.loss.sf(top - 1e-12).upper < 1e-5
    assert mechanism.loss.sf(top + 1e-12).upper == 0
    assert mechanism.dual_loss.cdf(-top + 1e-12).upper < 1e-5


MIXTURES = [
    (1.0, [0.0, 1.0, 2.0], [0.5, 0.3, 0.2]),
    (0.4, [0.5, 1.0], [0.999, 0.001]),
    (5.0, [0.0, 0.1, 1.0, 3.0], [0.9, 0.05, 0.04, 0.01]),
]


@pytest.mark.parametrize(("sigma", "shifts", "weights"), MIXTURES)
@pytest.mark.parametrize("place", PLACES)
def test_mixtures_of_gaussians(sigma, shifts, weights, place):
    mechanism = lp.GaussianMixture(sigma=sigma, sensitivities=shifts, probabilities=weights)
    parts = [(dec(p), dec(c) / dec(sigma)) for p, c in zip(weights, shifts, strict=True)]

    def ratio(t):
        return sum(p * exp(c * t - c * c / 2) for p, c in parts)

    x = float(log(ratio(mpf(place))))
    rest = sum(p for p, c in parts if c == 0)
    if exp(dec(x)) - rest < 1e-12:
        return
    t = mpmath.findroot(lambda t: log(ratio(t)) - dec(x), mpf(place))
    slope = sum(p * c * exp(c * t - c * c / 2) for p, c in parts) / ratio(t)
    width = SHARP + float(200 * ULP * (1 + abs(t)) * ratio(t) / (ratio(t) - rest) * (1 + abs(x)) / slope)
    both(mechanism.loss.law, x, sum(p * up(t - c) for p, c in parts), sum(p * up(c - t) for p, c in parts), width)
    both(mechanism.dual_loss.law, -x, up(-t), up(t), width)
    density = exp(dec(x)) * phi(t) / slope
    wide = width * float(1 + ratio(t) / (ratio(t) - rest))
    dense(mechanism.loss, x, density, wide)
    dense(mechanism.dual_loss, -x, density * exp(-dec(x)), wide)


def laplace(y: Any, scale: Any, moved: Any) -> tuple[Any, Any]:
    """The mass of a Laplace law below y, and above."""
    away = (y - moved) / scale
    below = exp(away) / 2 if away < 0 else 1 - exp(-away) / 2
    return below, (1 - exp(away) / 2 if away < 0 else exp(-away) / 2)


@pytest.mark.parametrize("scale", [0.03, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("rate", [1.0, 1e-6, 0.1, 0.99])
def test_sampled_laplace(scale, rate):
    mechanism = lp.Laplace(scale=scale) if rate == 1 else lp.Laplace(scale=scale).poisson(rate)
    b, q = dec(scale), dec(rate)
    for share in (1e-6, 0.01, 0.3, 0.5, 0.9, 1 - 1e-6):
        # between 0 and 1 the base's loss is (2 y - 1)/b
        x = float(log1p(q * expm1((2 * mpf(share) - 1) / b)))
        ratio = 1 + expm1(dec(x)) / q
        if ratio <= 1e-9:
            continue
        y = (b * log(ratio) + 1) / 2
        absent, present = laplace(y, b, 0), laplace(y, b, 1)
        width = SHARP + float(32 * ULP / ratio**2)
        below, above = ((1 - q) * one + q * two for one, two in zip(absent, present, strict=True))
        both(mechanism.loss.law, x, above, below, width)
        both(mechanism.dual_loss.law, -x, *absent, width)
        # dl/dy = (2/b) q e^l / (1 - q + q e^l)
        slope = 2 / b * q * ratio / exp(dec(x))
        dense(mechanism.loss, x, ((1 - q) * exp(-y / b) + q * exp((y - 1) / b)) / (2 * b) / slope, 8 * width)


@pytest.mark.few(2)
@pytest.mark.parametrize("rate", [1e-6, 0.2, 0.999])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 30.0])
def test_spliced_gaussian(sigma, rate):
    mechanism = lp.Gaussian(sigma=sigma, adjacency="replace").subset(rate, adjacency="replace")
    m, g = 1 / dec(sigma), dec(rate)
    for ahead in (1e-3, 0.5, 3.0, 20.0):
        x = float(log1p(g * expm1(m * mpf(ahead))))
        t = log(1 + expm1(dec(x)) / g) / m + m / 2
        above, reflected = (1 - g) * up(t) + g * up(t - m), up(t)
        width = SHARP * 4 + 32 * ULP / (1 - rate)
        # on the other side of zero the two laws change places
        both(mechanism.loss.law, x, above, 1 - above, width)
        both(mechanism.loss.law, -x, 1 - reflected, reflected, width)
        density = exp(2 * dec(x)) * phi(t) / (g * m * exp(m * t - m * m / 2))
        dense(mechanism.loss, x, density, 8 * width)
        dense(mechanism.loss, -x, density * exp(-dec(x)), 8 * width)
    # the atom at zero is on either side there
    here = mechanism.loss.sf(0.0)
    assert contains(here, (1 - g) * up(m / 2) + g * up(-m / 2))
    assert contains(here, 1 - up(m / 2))


@pytest.mark.parametrize("rate", [1e-6, 0.2, 0.9])
@pytest.mark.parametrize("sigma", [0.2, 1.0, 30.0])
def test_replaced_gaussian(sigma, rate):
    law = lp.Gaussian(sigma=sigma).poisson(rate, adjacency="replace").loss.law
    m, q = 1 / dec(sigma), dec(rate)

    def loss(t):
        return log1p(q * expm1(m * t - m * m / 2)) - log1p(q * expm1(-m * t - m * m / 2))

    for place in (-20.0, -2.0, -0.01, 0.5, 6.0, 25.0):
        x = float(loss(mpf(place)))
        if abs(x) < 1e-12:
            continue
        t = mpmath.findroot(lambda t, x=x: loss(t) - dec(x), mpf(place))
        both(law, x, (1 - q) * up(t) + q * up(t - m), (1 - q) * up(-t) + q * up(m - t), 4 * SHARP + 256 * ULP * (1 + place**2))


def test_spliced_laplace_with_its_atoms():
    scale, rate = 0.5, 0.3
    mechanism = lp.Laplace(scale=scale, adjacency="replace").subset(rate, adjacency="replace")
    b, g = dec(scale), dec(rate)
    for share in (0.6, 0.9, 1 - 1e-7):
        x = float(log1p(g * expm1((2 * mpf(share) - 1) / b)))
        y = (b * log(1 + expm1(dec(x)) / g) + 1) / 2
        above, reflected = (1 - g) * laplace(y, b, 0)[1] + g * laplace(y, b, 1)[1], laplace(y, b, 0)[1]
        both(mechanism.loss.law, x, above, 1 - above, SHARP)
        both(mechanism.loss.law, -x, 1 - reflected, reflected, SHARP)
    top = math.log1p(0.3 * math.expm1(2))
    weight = (1 - g) * exp(-2) / 2 + g / 2
    for x in (top, math.nextafter(top, 0), math.nextafter(top, 9)):
        found = mechanism.loss.sf(x)
        assert found.lower < 1e-14
        assert found.upper > weight


def test_failures_of_a_test_are_an_atom_at_the_bottom():
    failure, rate = 0.01, 0.25
    mechanism = lp.DistanceToInstability(epsilon=1, delta=failure).poisson(rate)
    # what only the law without the record may give
    atom = dec(failure) * (1 - dec(rate))
    bottom = math.log1p(-rate)
    for x in (bottom + 1e-9, -0.27):
        assert contains(mechanism.loss.cdf(x), atom)
    assert mechanism.loss.cdf(bottom - 1e-9).upper == 0
    both_sides = mechanism.loss.cdf(bottom)
    assert both_sides.lower == 0
    assert both_sides.upper >= float(atom)
    assert contains(mechanism.dual_loss.sf(0.27), dec(failure))
    assert contains(mechanism.loss.infinite_mass, dec(failure) * dec(rate))


def test_finite_pairs():
    p, q = [0.5, 0.3, 1e-12, 0.2 - 1e-12], [1e-9, 0.3, 0.4, 0.3 - 1e-9]
    mechanism = lp.Discrete(p=p, q=q)
    losses = [log(dec(a) / dec(b)) for a, b in zip(p, q, strict=True)]
    for x in (-30.0, -26.0, -5.0, -0.1, 1e-3, 15.0, 21.0):
        above, below = (
            sum((dec(a) for a, one in zip(p, losses, strict=True) if (one > x) == side), mpf(0)) for side in (True, False)
        )
        found = tails(mechanism.loss.law, x)
        for one, exact in ((found.above, above), (found.below, below)):
            # the whole is one, whatever the decimals add up to
            assert one.relative_width <= 1e-12
            assert exact == 0 or abs(log(exact) - one.value) <= 1e-12
            assert exact > 0 or one.upper == -math.inf
    on_an_atom = mechanism.loss.sf(0.0)
    assert contains(on_an_atom, dec(0.5))
    assert on_an_atom.upper >= 0.8


def test_the_left_tail_of_a_laplace_loss():
    # as small as e^-100 / 2
    found = lp.Laplace(scale=0.01).loss.cdf(-99.9)
    b, y = dec(0.01), (dec(0.01) * dec(-99.9) + 1) / 2
    assert contains(found, laplace(y, b, 1)[0])
    assert found.upper - found.lower <= 1e-11 * found.value


def test_laws_without_a_closed_form_say_so():
    law = lp.DiscreteGaussian(sigma=2).loss.law.terms[0][0]
    assert law.closed_form.partial_masses(0.3) is None
    assert law.closed_form.density(0.3) is None


def test_sums_of_tiny_and_nothing():
    tiny, nothing = Scaled(-2000.0, 1.0, rounding=1e-10), Scaled(0.0, 0.0)
    assert nothing + tiny == tiny
    assert tiny + nothing == tiny
    assert Scaled.between(-math.inf, -math.inf).high == 0
    hull = nothing.hull(tiny)
    assert hull.low == 0
    assert hull.log_ends[1] >= -2000.0
    part = Scaled.between(-3.0, -2.0)
    assert part.log_ends[0] <= -3 <= -2 <= part.log_ends[1]


@pytest.mark.slow
def test_where_no_route_leads_chernoffs_bound_does():
    """Log delta of N(m^2/2, m^2) at eps is about -(eps/m - m/2)^2/2; and the largest number of releases can be told."""
    release = lp.Gaussian(sigma=1e9)
    assert release.delta(1.0).upper <= 5e-324
    assert -5e17 < release.log_delta(1.0).upper < -4.99e17
    most = lp.calibrate(lambda n: n * release, epsilon=1, delta=1e-5).value
    assert most == pytest.approx(
        1e18 * float(lp.calibrate(lambda n: n * lp.Gaussian(1000), epsilon=1, delta=1e-5).value) / 1e6, rel=1e-4
    )
