"""Laws that are integrals over panels, against mpmath in the space of outputs and against one another."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpc, mpf

import logphi as lp
from exact import contains, dec
from flat import Flat
from logphi.arith.mp import MULTIPRECISION
from logphi.arith.protocol import Plain
from logphi.laws.flat.flat_pair import FlatPair
from logphi.laws.flat.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.normal.curved_normal import ReplacedNormal, SplicedNormal
from logphi.quadrature.values import Line
from profiles import gaussian_profile

DIGITS = 30
# what floats can tell of an inequality between logarithms
FUZZ = 1e-11
REPLACE: dict[str, Any] = {"adjacency": "replace"}


def mixture(rate, x):
    return 1 - rate + rate * exp(x)


def flat_mean(function, w, with_atoms, above):
    """E_Q f(L) by the loss L of two double exponentials, or of the hull of bounded-range pairs."""
    low = 0 if above else -w
    body = mpmath.quad(lambda x: function(x) * exp(-x / 2), mpmath.linspace(low, w, 7))
    if not with_atoms:
        return body / (4 * mpmath.sinh(w / 2))
    return exp(-w / 2) * body / 4 + exp(-w) * function(w) / 2 + (0 if above else function(-w) / 2)


def spliced(rate, z):
    def change(x):
        w = mixture(rate, x)
        return w ** (z + 1) + w ** (-z) - w - 1

    return change


def mixed_flat(w, with_atoms, failure, q):
    def transform(z):
        common = flat_mean(lambda x: mixture(dec(q), x) ** (z + 1), dec(w), with_atoms, above=False)
        return (1 - dec(failure)) * common + dec(failure) * (1 - dec(q)) ** (z + 1)

    return MixedFlat(FlatPair(Plain(w), with_atoms, failure), q), transform


def spliced_flat(w, with_atoms, failure, g):
    def transform(z):
        common = flat_mean(spliced(dec(g), z), dec(w), with_atoms, above=True)
        return 1 - dec(g) * dec(failure) + (1 - dec(failure)) * common

    return SplicedFlat(FlatPair(Plain(w), with_atoms, failure), g), transform


def line_mean(function, m, centre, low=None):
    """E f(X) of a standard normal X, f growing at most like e^{centre x}."""
    far = 18 + abs(centre)
    return mpmath.quad(lambda x: mpmath.npdf(x) * function(x), mpmath.linspace(-far if low is None else low, far, 15))


def spliced_normal(m, g):
    def transform(z):
        m_, change = dec(m), spliced(dec(g), z)
        return 1 + line_mean(lambda x: change(m_ * x - m_ * m_ / 2), m_, (abs(z.real) + 1) * m_, m_ / 2)

    return SplicedNormal(Plain(m), g), transform


def replaced_normal(m, q):
    def transform(z):
        def ratio(x):
            up, down = (mixture(dec(q), sign * dec(m) * x - dec(m) ** 2 / 2) for sign in (1, -1))
            return up ** (z + 1) * down ** (-z)

        return line_mean(ratio, dec(m), 2 * (abs(z.real) + 1) * dec(m))

    return ReplacedNormal(Plain(m), q), transform


CURVED = {
    "laplace": mixed_flat(1.0, True, 0.0, 0.05),
    "laplace-wide": mixed_flat(12.0, True, 0.0, 0.3),
    "laplace-rare": mixed_flat(1.0, True, 0.0, 1e-9),
    "laplace-always": mixed_flat(1.0, True, 0.0, 1 - 1e-9),
    "laplace-narrow": mixed_flat(1e-6, True, 0.0, 0.3),
    "range": mixed_flat(2.0, False, 0.0, 0.1),
    "instability": mixed_flat(1.0, True, 0.01, 0.2),
    "subset-laplace": spliced_flat(1.0, True, 0.0, 0.1),
    "subset-range": spliced_flat(3.0, False, 0.0, 0.01),
    "subset-instability": spliced_flat(1.0, True, 0.1, 0.3),
    "subset-normal": spliced_normal(0.5, 0.1),
    "subset-normal-wide": spliced_normal(3.0, 0.01),
    "subset-normal-rare": spliced_normal(0.5, 1e-9),
    "replaced-normal": replaced_normal(0.5, 0.1),
    "replaced-normal-wide": replaced_normal(3.0, 0.2),
    "replaced-normal-narrow": replaced_normal(1e-3, 0.2),
}
POINTS = [mpf("0.5"), mpf("-0.3"), mpf(-4), mpc("0.5", 3), mpc(2, 20)]


def miss(value, exact):
    gap = log(exact) - mpc(complex(value))
    return abs(gap - 2j * mpmath.pi * mpmath.nint(gap.imag / (2 * mpmath.pi)))


# the integrals that stand beside them take a second each
SLOW = {"subset-normal-wide", "replaced-normal-wide", "replaced-normal-narrow"}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CURVED])
def test_transform_contains_the_integral(name):
    law, transform = CURVED[name]
    for z in POINTS:
        place = np.array([complex(z)]) if z.imag else np.array([float(z)])
        values = law.log_transform(place, 10**12)
        with mpmath.workdps(40):
            exact = transform(z)
            size = abs(log(exact))
            # the meaning of a radius: e^K is within (e^radius - 1) e^mid of e^mid
            assert abs(exact * exp(-mpc(complex(values.mid[0]))) - 1) <= mpmath.expm1(values.radius[0]), z
        # small values of K keep their digits, except high up, where M is much smaller than on the axis
        assert values.radius[0] <= 1e-10 * size or abs(z.imag) > 3, z


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["laplace", "subset-normal", "replaced-normal", "subset-instability"])
def test_formula_and_line_agree_with_single_points(name):
    law, transform = CURVED[name]
    with mpmath.workdps(DIGITS):
        for z in POINTS[:1] + POINTS[-2:-1]:
            assert abs(law.formula(MULTIPRECISION, z) - log(transform(z))) < 1e-20
    line = Line(0.7, 0.37, 90)
    on_line, single = law.on_line(line), law.log_transform(line.points)
    gap = on_line.mid - single.mid
    gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
    assert np.all(np.abs(gap) <= on_line.radius + single.radius)


@pytest.mark.parametrize("name", CURVED)
def test_masses_convexity_and_the_rough_values(name):
    law = CURVED[name][0]
    masses = law.support.masses
    at = law.log_transform(np.array([0.0, -1.0]))
    for i in range(2):
        known = float(masses[i].mid[0])
        assert abs(at.mid[i] - known) <= at.radius[i] + 1e-15 * abs(known)
    c = np.linspace(-2.5, 3, 23)
    values = law.log_transform(c)
    k = values.mid
    assert np.all(k[2:] - 2 * k[1:-1] + k[:-2] >= -4 * values.radius.max())
    np.testing.assert_allclose(law.approximate(c), k, rtol=1e-6, atol=1e-12 * np.abs(k).max())
    if law.traits.symmetric:
        np.testing.assert_allclose(law.log_transform(-1 - c).mid, k, rtol=1e-11, atol=1e-30)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", CURVED)
@pytest.mark.parametrize("abscissa", [-6.0, -0.5, 0.7])
def test_envelope_bounds_the_ratio_here_and_beyond(name, abscissa):
    law = CURVED[name][0]
    heights = np.geomspace(1e-2, 120, 30)
    sampled = np.sort(np.concatenate([heights, np.linspace(0.05, 120, 120)]))
    values, base = law.log_transform(abscissa + 1j * sampled), law.log_transform(np.array([abscissa]))
    # a larger radius bounds the size from above only
    known = values.radius < math.log(2)
    least = np.where(known, np.where(known, values.mid.real, 0) - np.where(known, values.radius, 0), -np.inf)
    least -= base.mid[0] + base.radius[0]
    envelope = law.log_envelope(abscissa, heights)
    assert np.all(envelope <= 0)
    assert np.all(np.diff(envelope) <= FUZZ)
    for height, bound in zip(heights, envelope, strict=True):
        assert least[sampled >= height].max() <= bound + FUZZ, height


def test_a_smooth_law_on_the_line_has_a_sharp_envelope():
    law = CURVED["replaced-normal"][0]
    heights = np.array([10.0, 30.0])
    exact = law.log_transform(0.7 + 1j * heights).mid.real - law.log_transform(np.array([0.7])).mid
    assert np.all(law.log_envelope(0.7, heights) <= 0.9 * exact)


def laplace_profile(w, q, x, reflected):
    """Of one sampled release: the hockey-stick integral over outputs, split where the densities bend and cross."""
    p, o = (lambda y: exp(-abs(y - w)) / 2), (lambda y: exp(-abs(y)) / 2)
    mixed = lambda y: (1 - q) * o(y) + q * p(y)  # noqa: E731
    at = (log((exp(-x if reflected else x) - 1 + q) / q) + w) / 2
    if reflected:
        pieces = [-mpmath.inf, -40, -10, -3, 0, at]
        return mpmath.quad(lambda y: o(y) - exp(x) * mixed(y), pieces)
    return mpmath.quad(lambda y: mixed(y) - exp(x) * o(y), [at, w, w + 3, w + 10, w + 40, mpmath.inf])


@pytest.mark.few(2)
@pytest.mark.parametrize(("w", "q"), [(1.0, 0.1), (0.01, 0.3), (20.0, 0.01), (1.0, 1e-9)])
@pytest.mark.parametrize("share", [-0.9, 0.0, 0.4, 0.99])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_sampled_laplace_is_its_integral_over_outputs(w, q, share, direction):
    top = math.log1p(q * math.expm1(w)) if (share >= 0) == (direction == "remove") else -math.log1p(q * math.expm1(-w))
    epsilon = share * top
    bound = lp.Laplace(scale=1, sensitivity=w).poisson(q).log_delta(epsilon, direction=direction)
    with mpmath.workdps(40):
        exact = laplace_profile(dec(w), dec(q), dec(epsilon), direction == "add")
        assert contains(bound, log(exact))
    assert bound.width <= 1e-9


@pytest.mark.parametrize(("m", "g"), [(0.5, 0.1), (2.0, 0.01), (1.0, 1e-9)])
@pytest.mark.parametrize("standard", [-5.0, 0.0, 1.0, 21.0])
def test_one_subset_of_the_gaussian_is_its_closed_profile(m, g, standard):
    epsilon = math.copysign(math.log1p(g * math.expm1(m * abs(standard))), standard)
    bound = lp.Gaussian(sigma=1, sensitivity=m, **REPLACE).subset(g, **REPLACE).log_delta(epsilon)
    with mpmath.workdps(300):
        x = abs(dec(epsilon))
        inner = log(1 + (exp(x) - 1) / dec(g))
        exact = dec(g) * gaussian_profile(dec(m))(inner)
        exact = exact if epsilon >= 0 else 1 - exp(-x) + exp(-x) * exact
        assert contains(bound, log(exact))
    assert bound.width <= 1e-9


@pytest.mark.parametrize(("m", "q"), [(0.5, 0.1), (2.0, 0.01), (1e-3, 0.3)])
@pytest.mark.parametrize("standard", [-5.0, 0.0, 1.0, 21.0])
def test_one_replaced_record_is_its_closed_profile(m, q, standard):
    with mpmath.workdps(300):
        w = {sign: mixture(dec(q), sign * dec(m) * dec(standard) - dec(m) ** 2 / 2) for sign in (1, -1)}
        epsilon = float(log(w[1] / w[-1]))
    bound = lp.Gaussian(sigma=1, sensitivity=m).poisson(q, **REPLACE).log_delta(epsilon)
    with mpmath.workdps(300):
        x, m, q = dec(epsilon), dec(m), dec(q)
        y = (x / 2 + mpmath.asinh((1 - q) * exp(m * m / 2) * mpmath.sinh(x / 2) / q)) / m
        tail = lambda at: mpmath.erfc(at / mpmath.sqrt(2)) / 2  # noqa: E731
        exact = (1 - q) * tail(y) + q * tail(y - m) - exp(x) * ((1 - q) * tail(y) + q * tail(y + m))
        assert contains(bound, log(exact))
    assert bound.width <= 1e-9


def test_no_pair_of_points_in_the_plane_exceeds_that_of_opposite_ones():
    rng = np.random.default_rng(5)
    grid = np.linspace(-9, 9, 361)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    density = np.exp(-(x * x + y * y) / 2) / (2 * np.pi) * (grid[1] - grid[0]) ** 2
    for m, q in ((1.0, 0.3), (3.0, 0.5)):
        release = lp.Gaussian(sigma=1, sensitivity=m).poisson(q, **REPLACE)
        for _ in range(6):
            at = m * np.exp(2j * np.pi * rng.uniform(0, 1, 2)) * rng.uniform(0, 1, 2) ** 0.25
            w = [1 - q + q * np.exp(u.real * x + u.imag * y - abs(u) ** 2 / 2) for u in at]
            for epsilon in (0.0, 0.3, 1.0):
                exact = float((density * np.maximum(w[0] - np.exp(epsilon) * w[1], 0)).sum())
                # what the grid may be wrong by
                assert exact <= release.delta(epsilon).upper + 2e-5


ROUTES = {
    "laplace": (lp.Laplace(scale=1).poisson(0.2), 12, 0.4),
    "laplace-wide": (lp.Laplace(scale=1, sensitivity=40).poisson(0.3), 3, 0.5),
    "range": (Flat(1.0).poisson(0.1), 30, 0.3),
    "instability": (lp.DistanceToInstability(1, 1e-3).poisson(0.1), 400, 3.0),
    "subset-laplace": (lp.Laplace(scale=1, **REPLACE).subset(0.2, **REPLACE), 60, 1.5),
    "subset-range": (Flat(2.0, lp.Adjacency.REPLACE).subset(0.1, **REPLACE), 40, 1.0),
    "subset-normal": (lp.Gaussian(sigma=1, **REPLACE).subset(0.1, **REPLACE), 40, 1.0),
    "replaced-normal": (lp.Gaussian(sigma=1).poisson(0.1, **REPLACE), 10, 1.0),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ROUTES)
def test_contour_and_lattice_laws_agree(name):
    one, count, epsilon = ROUTES[name]
    for direction in ("remove", "add"):
        bounds = [
            (count * one).delta(epsilon, direction=direction, method=way, rtol=1e-5) for way in ("contour", "discretized")
        ]
        assert max(bound.lower for bound in bounds) <= min(bound.upper for bound in bounds)
        assert bounds[1].width <= 1e-3 * bounds[1].value
        if not name.startswith("laplace"):
            assert bounds[0].width <= 1e-4 * bounds[0].value


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [0.01, 0.2])
def test_two_sampled_laplace_are_a_double_integral(epsilon):
    """Outer integral by panels of the base's loss, inner one in closed form from one release."""
    w, q = mpf(1), mpf("0.2")
    with mpmath.workdps(20):
        ends = [log(mixture(q, sign * w)) for sign in (-1, 1)]

        def one(x):
            if x <= ends[0]:
                return 1 - exp(x)
            if x >= ends[1]:
                return mpf(0)
            inner = log(1 + (exp(x) - 1) / q)
            return q * (1 - exp((inner - w) / 2) if inner >= 0 else 1 - exp(inner) + exp(inner) * (1 - exp((-inner - w) / 2)))

        # where the second loss meets its ends or zero, the integrand bends
        bends = [log((exp(dec(epsilon) - at) - 1 + q) / q) for at in (*ends, mpf(0)) if exp(dec(epsilon) - at) > 1 - q]
        cuts = sorted([-w, w, *(at for at in bends if -w < at < w)])
        paid = lambda x: mixture(q, x) * one(dec(epsilon) - log(mixture(q, x)))  # noqa: E731
        total = exp(-w / 2) / 4 * mpmath.quad(lambda x: exp(-x / 2) * paid(x), cuts) + paid(-w) / 2 + exp(-w) * paid(w) / 2
        bound = (2 * lp.Laplace(scale=1).poisson(0.2)).delta(epsilon, direction="remove", rtol=1e-6)
        assert contains(bound, total)
    assert bound.width <= 1e-6 * bound.value


def test_full_rates_and_refusals():
    whole = lp.Gaussian(sigma=1).poisson(1, **REPLACE)
    assert whole.delta(0.5).value == pytest.approx(lp.Gaussian(sigma=0.5).delta(0.5).value, rel=1e-12)
    assert lp.Laplace(scale=1).poisson(1).loss_law() == lp.Laplace(scale=1).loss_law()
    with pytest.raises(ValueError, match="above 600 cannot be sampled"):
        lp.Laplace(scale=0.001).poisson(0.1)
    with pytest.raises(ValueError, match="between 1e-50 and 20 for a sample under replace"):
        lp.Gaussian(sigma=0.01).poisson(0.1, **REPLACE)


def test_a_threshold_next_to_the_top():
    base = lp.Laplace(scale=11.47761624822591, **REPLACE)
    found = base.subset(7.605992935710741e-11, adjacency="replace").delta(-6.924059085828837e-12)
    with mpmath.workdps(DIGITS):
        # nothing but rounding is left of what is below the threshold
        assert contains(found, -mpmath.expm1(dec(-6.924059085828837e-12)))


@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        # abscissas so far out that no sum over panels reaches them
        (lp.Gaussian(sigma=2466.881999358502).poisson(8.527436127607657e-10, adjacency="replace"), -2.8853600710112106),
        (lp.Gaussian(sigma=24256.857005427562, **REPLACE).subset(0.017875805533314266, adjacency="replace"), 1.515252460410035),
    ],
)
def test_thresholds_far_beyond_every_loss(release, epsilon):
    found = release.delta(epsilon)
    assert found.lower <= max(-math.expm1(epsilon), 0.0) <= found.upper
    assert found.upper - found.lower < 1e-4


@pytest.mark.parametrize(("count", "delta"), [(1, 1e-30), (3, 5.2e-49), (40, 1e-90)])
def test_epsilon_next_to_the_top_of_the_support(count, delta):
    """A delta below what the topmost atoms reach: the sum of the tops, at once, less what their probability tells."""
    release = count * lp.Laplace(scale=1.2288).poisson(0.3) + 2 * lp.PureDP(epsilon=0.012745)
    found = release.epsilon(delta, direction="remove")
    with mpmath.workdps(40):
        rate = mpmath.mpf("0.3")
        top = count * mpmath.log(1 - rate + rate * mpmath.exp(1 / mpmath.mpf("1.2288"))) + 2 * mpmath.mpf("0.012745")
        # the atoms of one sampled release, and of a guarantee
        atom = (1 - rate) * mpmath.exp(-1 / mpmath.mpf("1.2288")) / 2 + rate / 2
        mass = atom**count * (1 / (1 + mpmath.exp(-mpmath.mpf("0.012745")))) ** 2
        least = top + mpmath.log(1 - mpmath.mpf(delta) / mass)
    assert found.lower <= top
    assert found.upper >= least
    assert found.width <= 1e-9
    assert found.status is lp.Status.MET
