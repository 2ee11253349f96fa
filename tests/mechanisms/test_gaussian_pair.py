"""Two normal laws: the transform, its envelope, one release and many, against integrals over the output."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpc, mpf

import logphi as lp
from exact import contains, dec
from logphi.laws.normal.normal_pair import NormalPair

DIGITS = 40
# as narrow as a logarithm of a few units is with sixty roundings
SHARP = 1e-14
# a root of a quadratic, two normal masses, and what their difference loses
CLOSED = 1e-11

# tags: far apart, near widths, equal means, the wide law first, nearly equal in both
PAIRS = [
    (0.0, 1.0, 1.0, 2.0),
    (1.0, 2.0, 0.0, 1.0),
    (0.3, 1.25, 0.3, 1.2),
    (0.0, 10.0, 1.0, 11.0),
    (0.0, 1.0, 3.0, 0.01),
    (1e-5, 1.0, 0.0, 1.0001),
    (-2.5, 0.001, 4.0, 7.0),
    (0.0, 1.0, 1e-7, 1 + 1e-9),
]


def density(mean, sigma):
    return lambda x: exp(-(((x - mean) / sigma) ** 2) / 2) / sigma / mpmath.sqrt(2 * mpmath.pi)


def transform(pair, z):
    """log of the integral of p^(1+z) q^(-z), by completing the square of the exponent."""
    m, s, k, w = map(dec, pair)
    a, b, c = ((1 + z) * u - z * v for u, v in ((s**-2, w**-2), (m / s**2, k / w**2), (m**2 / s**2, k**2 / w**2)))
    return z * log(w) - (1 + z) * log(s) - log(a) / 2 + (b * b / a - c) / 2


def normal_mass(low, high):
    """Phi(high) - Phi(low), from the side where nothing cancels."""
    if low > 0:
        low, high = -high, -low
    return (mpmath.erfc(-high / mpmath.sqrt(2)) - mpmath.erfc(-low / mpmath.sqrt(2))) / 2


def profile(pair, e):
    """P - e^eps Q of the outputs where log(p/q) exceeds eps, from the roots in the output's own units."""
    m, s, k, w = map(dec, pair)
    a, b = (w**-2 - s**-2) / 2, m / s**2 - k / w**2
    c = log(w / s) - (m / s) ** 2 / 2 + (k / w) ** 2 / 2 - e
    square = b * b - 4 * a * c
    if square <= 0:
        return mpf(0) if a < 0 else max(1 - exp(e), mpf(0))
    low, high = sorted((-b + sign * mpmath.sqrt(square)) / (2 * a) for sign in (-1, 1))
    parts = [(low, high)] if a < 0 else [(-mpmath.inf, low), (high, mpmath.inf)]
    return sum(normal_mass((u - m) / s, (v - m) / s) - exp(e) * normal_mass((u - k) / w, (v - k) / w) for u, v in parts)


def test_the_square_is_completed_rightly():
    pair, z = PAIRS[0], mpc("-0.3", 2)
    with mpmath.workdps(20):
        p, q = density(0, 1), density(1, 2)
        integral = mpmath.quad(lambda x: p(x) * exp(z * log(p(x) / q(x))), [-30, -5, 0, 5, 30])
        assert abs(log(integral) - transform(pair, z)) < mpf(10) ** -15


def points_of(law, rng, size):
    low, high = max(law.strip[0], -40.0), min(law.strip[1], 40.0)
    return rng.uniform(low, high, size), np.where(rng.uniform(size=size) < 0.3, 0.0, 10 ** rng.uniform(-3, 4, size))


@pytest.mark.parametrize("pair", PAIRS)
def test_the_transform_is_contained_on_its_strip(pair):
    law, rng = NormalPair(*pair), np.random.default_rng(3)
    real, height = points_of(law, rng, 60)
    values = law.log_transform(real + 1j * height)
    with mpmath.workdps(DIGITS):
        exact = [transform(pair, mpc(complex(one))) for one in real + 1j * height]
        turn = 2 * mpmath.pi
        for mid, radius, one in zip(values.mid, values.rounding, exact, strict=True):
            miss = mpc(complex(mid)) - one
            assert abs(miss - 1j * turn * mpmath.nint(miss.imag / turn)) <= radius
    # what half an ulp of two nearly equal widths is of their difference
    loss = 4e-16 / abs(1 - pair[1] / pair[3])
    size = np.array([float(abs(one)) for one in exact])
    assert np.median(values.rounding / size) < SHARP * 4 + 4 * loss


@pytest.mark.parametrize("pair", PAIRS)
def test_nothing_is_claimed_outside_the_strip(pair):
    law = NormalPair(*pair)
    ends = np.array([end + side for end, side in zip(law.strip, (-1.0, 1.0), strict=True) if math.isfinite(end)])
    assert np.isinf(law.log_transform(ends).rounding).all()
    assert law.strip[0] <= -1 < 0 <= law.strip[1]


@pytest.mark.few(2)
@pytest.mark.parametrize("pair", PAIRS)
def test_the_envelope_is_the_modulus(pair):
    law, rng = NormalPair(*pair), np.random.default_rng(5)
    real, _ = points_of(law, rng, 20)
    heights = 10 ** np.linspace(-3, 6, 10)
    for c in real:
        found = law.log_envelope(c, heights)
        assert np.all(np.diff(found) <= 0)
        with mpmath.workdps(DIGITS):
            for t, bound in zip(heights, found, strict=True):
                exact = (transform(pair, mpc(c, t)) - transform(pair, mpf(c))).real
                assert exact <= bound
                assert bound <= exact * (1 - 1e-3) + 1e-12


@pytest.mark.parametrize("pair", PAIRS)
def test_the_support_ends_at_the_vertex(pair):
    law = NormalPair(*pair)
    with mpmath.workdps(DIGITS):
        m, s, k, w = map(dec, pair)
        x = (m / s**2 - k / w**2) / (s**-2 - w**-2)
        vertex = log(density(m, s)(x) / density(k, w)(x)) if abs(x) < 1e4 else None
    ends = [end for end in (law.support.lower, law.support.upper) if math.isfinite(end)]
    assert len(ends) == 1
    assert (law.support.upper < np.inf) == (pair[1] < pair[3])
    if vertex is not None:
        sign = 1 if pair[1] < pair[3] else -1
        assert 0 <= sign * (mpf(ends[0]) - vertex) <= law.support.error + 1e-12 * abs(vertex)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_release_is_a_difference_of_normal_masses(pair, direction):
    mechanism = lp.GaussianPair(*pair)
    own = pair if direction == "remove" else (*pair[2:], *pair[:2])
    spread = math.sqrt(abs(float(transform(tuple(map(float, own)), mpf("-0.5")))))
    with mpmath.workdps(80):
        for e in (-3 * spread, -0.1 * spread, 0.0, 0.3 * spread, spread, 5 * spread):
            found = mechanism.delta(e, direction=direction)
            exact = profile(own, dec(e))
            assert contains(found, exact)
            loss = 1e-14 / float(exact) if exact > 0 else 0.0
            assert found.width <= (CLOSED + 30 * loss) * found.upper + 1e-300


@pytest.mark.parametrize("e", [100.0, 400.0, 650.0])
def test_deltas_down_to_the_smallest_double_keep_their_digits(e):
    pair = (1.0, 2.0, 0.0, 1.0)
    with mpmath.workdps(80):
        exact = profile(pair, dec(e))
    found = lp.GaussianPair(*pair).delta(e, direction="remove")
    assert contains(found, exact)
    assert found.width <= CLOSED * found.value
    assert found.status is lp.Status.MET


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [2, 3, 4, 10])
@pytest.mark.parametrize("widths", [(1.0, 2.0), (1.1, 1.0)])
def test_equal_means_compose_to_a_chi_square(count, widths):
    """With equal means the loss is n log(w/s) - v W/2, W a chi-square of n degrees under P, and r^-2 as wide under Q."""
    s, w = widths
    mechanism = count * lp.GaussianPair(0, s, 0, w)
    for e in (0.2, 1.5):
        with mpmath.workdps(DIGITS):
            r = dec(s) / dec(w)
            v = 1 - r * r
            end = 2 * (-count * log(r) - dec(e)) / v
            masses = [mpmath.gammainc(mpf(count) / 2, 0, max(end * q / 2, 0), regularized=True) for q in (1, r * r)]
            # under Q, y = r t: W is 1/r^2 as large, and the region the same
            masses = [one if v > 0 else 1 - one for one in masses]
            exact = masses[0] - exp(dec(e)) * masses[1]
        found = mechanism.delta(e, direction="remove", rtol=1e-9)
        assert contains(found, exact)
        assert found.width <= (1e-9 if count > 3 else 1e-5) * found.value
        assert found.ledger.proved


def test_equal_widths_are_a_gaussian_mechanism():
    pair, native = lp.GaussianPair(3.5, 2, 1.5, 2), lp.Gaussian(sigma=2, sensitivity=2)
    for one, other in ((pair, native), (7 * pair, 7 * native), (pair.poisson(0.1), native.poisson(0.1))):
        assert one.delta(0.7).value == pytest.approx(other.delta(0.7).value, rel=1e-13)


def test_equal_laws_leak_nothing():
    nothing = 10 * lp.GaussianPair(0.1, 3, 0.1, 3)
    assert nothing.delta(0).upper == 0
    assert nothing.epsilon(0).upper == 0


def test_both_orders_of_the_laws_are_one_mechanism_reversed():
    one, other = lp.GaussianPair(0, 1, 1, 2), lp.GaussianPair(1, 2, 0, 1)
    assert one.loss_law().reflected() == other.loss_law()
    both = [(12 * one).delta(1.0, direction="add"), (12 * other).delta(1.0, direction="remove")]
    assert both[0].value == both[1].value


@pytest.mark.parametrize(
    ("arguments", "kind", "needles"),
    [
        ((0, -1, 1, 1), ValueError, ["sigma_p", "-1.0"]),
        ((0, 1, 1, -2), ValueError, ["sigma_q", "-2.0"]),
        ((math.nan, 1, 1, 2), ValueError, ["mean_p", "nan"]),
        ((0, 1, math.inf, 2), ValueError, ["mean_q", "inf"]),
        (("0", 1, 1, 2), TypeError, ["mean_p", "'0'"]),
        ((0, 1e-30, 0, 1e30), ValueError, ["sigma_p / sigma_q", "same units"]),
        ((0, 1, 0, 1 + 1e-15), ValueError, ["sigma_p", "sigma_q", "rounding"]),
        ((1, 1, 1 + 1e-15, 2), ValueError, ["mean_p", "mean_q", "origin"]),
        ((0, 1e-90, 1e30, 1e-80), ValueError, ["mean_p - mean_q", "1e100"]),
    ],
)
def test_bad_parameters_are_refused_by_name(arguments, kind, needles):
    with pytest.raises(kind) as caught:
        lp.GaussianPair(*arguments)
    assert "\n" not in str(caught.value)
    for needle in needles:
        assert needle in str(caught.value)


@pytest.mark.parametrize(
    ("pair", "epsilon", "direction"),
    [
        ((0.0, 0.6468095887054076, 0.0, 0.4765710337259331), 0.3054351665211069, "add"),
        ((0.0, 244.65055226757192, 0.0, 244.65055264500813), 1.5427564181267361e-09, "remove"),
        ((0.0, 0.019243081521634026, 0.0, 0.0017961919966148834), -2.3714827281468716, "remove"),
        ((0.0, 1.0, 0.0, 2.0), math.log(2.0), "remove"),
    ],
)
def test_a_threshold_at_the_vertex(pair, epsilon, direction):
    reflected = pair if direction == "remove" else (*pair[2:], *pair[:2])
    with mpmath.workdps(60):
        exact = profile(reflected, dec(epsilon))
        found = lp.GaussianPair(*pair).delta(epsilon, direction=direction)
        assert contains(found, exact)
        assert mpf(found.upper) - exact <= mpf("2e-14")
