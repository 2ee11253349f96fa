"""Laws contain their transforms, written out here from the densities, and bound how these decay."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpc, mpf

from exact import dec
from logphi.arith.protocol import LogOdds, Plain, Ratio
from logphi.laws.atomic.finite import Finite
from logphi.laws.atomic.integers import NormalOnIntegers, TruncatedNormalOnIntegers
from logphi.laws.atomic.symmetric_lattice import GeometricShift
from logphi.laws.flat.linear_density import LinearDensity
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.normal.normal import Normal
from logphi.laws.weights import Listed
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from logphi.quadrature.values import Line

DIGITS = 40
# Slack of what floats can tell of an inequality between logarithms.
FUZZ = 1e-11


def normal(m):
    return lambda z: exp(z * (z + 1) * m() ** 2 / 2)


def response(p):
    def transform(z):
        r = p() / (1 - p())
        return p() * r**z + (1 - p()) * r ** (-z)

    return transform


def bounded_range(e):
    def transform(z):
        u = z + mpf(1) / 2
        return (mpmath.sinh(u * e) / u if u else e) / (2 * mpmath.sinh(e / 2))

    return transform


def laplace(w):
    def transform(z):
        u = z + mpf(1) / 2
        return exp(-w / 2) * (mpmath.cosh(u * w) + (mpmath.sinh(u * w) / (2 * u) if u else w / 2))

    return transform


def finite(p, q):
    return lambda z: mpmath.fsum(dec(a) ** (1 + z) * dec(b) ** (-z) for a, b in zip(p, q, strict=True))


def geometric(scale, s):
    def transform(z):
        r = exp(-1 / dec(scale))
        cells = [(r ** abs(x - s), r ** abs(x)) for x in range(1, s)]
        # the tails, from their first terms
        cells += [(r**s / (1 - r), 1 / (1 - r)), (1 / (1 - r), r**s / (1 - r))]
        return (1 - r) / (1 + r) * mpmath.fsum(p * (p / q) ** z for p, q in cells)

    return transform


def normal_on_integers(sigma, s, low=None, high=None):
    def transform(z):
        # terms beside (1 + Re z) s and beside 0, as far as e^-200
        reach = int(21 * sigma) + 2
        centre = int((1 + mpmath.re(z)) * s)
        places = range(min(0, centre) - reach, max(0, centre) + reach) if low is None else range(low, high + 1)
        whole = range(-reach, reach + 1) if low is None else range(-high, high + 1)
        twice = 2 * dec(sigma) ** 2
        total = mpmath.fsum(exp(-((1 + z) * (x - s) ** 2 - z * x * x) / twice) for x in places)
        return total / mpmath.fsum(exp(-x * x / twice) for x in whole)

    return transform


def linear(step, weights):
    def transform(z):
        d, u = dec(step), z + mpf(1) / 2
        both = {sign * j: dec(weight) for j, weight in weights.items() for sign in (1, -1)}
        whole = (mpmath.sinh(d / 4) / (d / 4)) ** 2
        both[0] = 1 / whole - mpmath.fsum(weight * exp(j * d / 2) for j, weight in both.items())
        if not u:
            return mpmath.fsum(both.values())
        # twice by parts
        bends = [(j, sum(n * both.get(j + k, 0) for k, n in ((-1, 1), (0, -2), (1, 1)))) for j in range(-9, 10)]
        return mpmath.fsum(bend * exp(j * u * d) for j, bend in bends) / (u * d) ** 2

    return transform


def reflect(transform):
    return lambda z: transform(-1 - z)


P, Q = (0.5, 0.3, 0.15, 0.05), (0.2, 0.35, 0.05, 0.4)
LOST = (0.5, 0.3, 0.1), (0.25, 0.05, 0.4)
CLOSED = {
    "normal": (Normal(Plain(0.7)), normal(lambda: dec(0.7))),
    "normal-tiny": (Normal(Ratio(1.0, 1e4)), normal(lambda: dec(1e-4))),
    "pure-large": (TwoPoint(Plain(30.0)), response(lambda: 1 / (1 + exp(-mpf(30))))),
    "odds": (TwoPoint(LogOdds(0.75)), response(lambda: dec(0.75))),
    "range-large": (Uniform(Plain(25.0)), bounded_range(mpf(25))),
    "laplace": (UniformWithAtoms(Ratio(1.0, 2.0)), laplace(mpf(1) / 2)),
    "laplace-large": (UniformWithAtoms(Ratio(3.0, 0.1)), laplace(mpf(30))),
    "finite": (Finite(P, Q), finite(P, Q)),
    "finite-reflected": (Finite(P, Q).reflected(), reflect(finite(P, Q))),
    "finite-lost": (Finite(*LOST, 0.1, 0.3), finite(*LOST)),
    "geometric": (GeometricShift(2.0, 3), geometric(2.0, 3)),
    "geometric-wide": (GeometricShift(0.7, 8), geometric(0.7, 8)),
    "geometric-slow": (GeometricShift(500.0, 40), geometric(500.0, 40)),
    "integers-narrow": (NormalOnIntegers(0.15, 1), normal_on_integers(0.15, 1)),
    "integers-below-one": (NormalOnIntegers(0.99, 2), normal_on_integers(0.99, 2)),
    "integers-one": (NormalOnIntegers(1.0, 3), normal_on_integers(1.0, 3)),
    "integers": (NormalOnIntegers(2.6, 5), normal_on_integers(2.6, 5)),
    "integers-ends": (TruncatedNormalOnIntegers(2.0, 3, 9), normal_on_integers(2.0, 3, 3 - 9, 9)),
    "integers-near-ends": (TruncatedNormalOnIntegers(3.0, 2, 2), normal_on_integers(3.0, 2, 0, 2)),
    "integers-one-atom": (TruncatedNormalOnIntegers(3.0, 4, 2), normal_on_integers(3.0, 4, 2, 2)),
    "linear": (LinearDensity(0.25, (1, 2, 3, 7), (0.2, 0.125, 0.05, 1e-6)), linear(0.25, {1: 0.2, 2: 0.125, 3: 0.05, 7: 1e-6})),
    "linear-fine": (LinearDensity(0.01, (1, 2), (0.3, 0.1)), linear(0.01, {1: 0.3, 2: 0.1})),
    "thinned": (ZeroOrInfinite(1e-5), lambda z: 1 - dec(1e-5)),
}
PROBABILITIES = [name for name in CLOSED if name not in ("finite-lost", "thinned") and "end" not in name and "atom" not in name]
BLENDS = {
    "rest": MixtureOfShifts((Plain(0.0), Plain(0.5), Plain(1.5)), Listed(((0.7,), (0.2,), (0.1,)))),
    "shifted": MixtureOfShifts((Plain(0.4), Plain(1.5)), Listed(((0.75,), (0.25,)))),
}
MIXED = {"low": (0.5, 0.01), "plain": (1.0, 0.3), "high": (2.0, 0.9), "rare": (1.5, 1e-5)}

ABSCISSAS = [-3.0, -1.0, -0.6, -0.5, 0.0, 0.25, 2.0, 7.0]
HEIGHTS = [0.0, 0.01, 0.4, 3.0, 25.0]


def miss(value, exact):
    gap = log(exact) - mpc(complex(value))
    turn = 2 * mpmath.pi
    return abs(gap - 1j * turn * mpmath.nint(gap.imag / turn))


def sharp(law, z):
    """What a rounding bound may be: some ulps of the exponents that K is formed from."""
    return 1.5e-14 * (20 + abs(z)) * (1 + abs(z)) * (1 + min(law.support.upper, 1e2) / 10)


@pytest.mark.few(5)
@pytest.mark.parametrize("name", CLOSED)
def test_transform_contains_the_formula(name):
    law, transform = CLOSED[name]
    z = np.array([c + 1j * t for c in ABSCISSAS for t in HEIGHTS])
    values = law.log_transform(z)
    radius = np.broadcast_to(values.radius, z.shape)
    with mpmath.workdps(DIGITS):
        for i, point in enumerate(z):
            exact = transform(mpc(point))
            if np.isfinite(radius[i]):
                assert miss(values.mid[i], exact) <= radius[i], point
            # away from zeros the bound is sharp
            if abs(exact) > 0.2 * abs(transform(mpc(point.real))):
                assert radius[i] <= sharp(law, point), point


def test_a_small_transform_keeps_its_digits():
    law, transform = GeometricShift(1e4, 2), geometric(1e4, 2)
    values = law.log_transform(np.array([0.5, 3.0 + 40j, -0.25 + 900j]))
    with mpmath.workdps(DIGITS):
        for i, z in enumerate((mpf("0.5"), mpc(3, 40), mpc("-0.25", 900))):
            assert miss(values.mid[i], transform(z)) <= values.radius[i] <= 1e-13 * abs(values.mid[i])


@pytest.mark.few(8)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("abscissa", [-0.4, 1.5])
def test_line_contains_the_formula(name, abscissa):
    law, transform = CLOSED[name]
    line = Line(abscissa, 0.37, 40)
    values = law.on_line(line)
    with mpmath.workdps(DIGITS):
        for i, point in enumerate(line.points):
            if np.isfinite(values.radius[i]):
                assert miss(values.mid[i], transform(mpc(point))) <= values.radius[i]


@pytest.mark.parametrize("name", PROBABILITIES)
def test_masses_of_probabilities_are_one(name):
    values = CLOSED[name][0].log_transform(np.array([0.0, -1.0]))
    assert np.all(np.abs(values.mid) <= values.radius)


def test_lost_masses_are_known():
    with mpmath.workdps(DIGITS):
        for law, masses in [(Finite(*LOST, 0.1, 0.3), (dec(0.9), dec(0.7))), (ZeroOrInfinite(1e-5), (1 - dec(1e-5),) * 2)]:
            for values, mass in zip(law.support.masses, masses, strict=True):
                assert abs(log(mass) - mpf(float(values.mid[0]))) <= values.radius[0]
        (reflected, _) = Finite(*LOST, 0.1, 0.3).reflected().support.masses
        assert abs(log(dec(0.7)) - mpf(float(reflected.mid[0]))) <= reflected.radius[0]


def laws():
    found = {name: law for name, (law, _) in CLOSED.items()}
    found |= {f"mixed-{name}": MixedNormal(Plain(m), Plain(q)) for name, (m, q) in MIXED.items()}
    found |= {f"blend-{name}": blend for name, blend in BLENDS.items()}
    found |= {f"blend-{name}-reflected": blend.reflected() for name, blend in BLENDS.items()}
    found |= {f"mixed-{name}-reflected": MixedNormal(Plain(m), Plain(q)).reflected() for name, (m, q) in MIXED.items()}
    return found


LAWS = laws()


def checked_values(law, z):
    values = law.log_transform(z)
    return values.mid, np.broadcast_to(values.radius, z.shape)


@pytest.mark.parametrize("name", LAWS)
def test_reflection_conjugation_convexity_and_modulus(name):
    law = LAWS[name]
    z = np.array([c + 1j * t for c in (-1.7, -0.3, 0.8) for t in (0.3, 2.0, 9.0)])
    here, radius = checked_values(law, z)
    reflected, turned_radius = checked_values(law.reflected(), -1 - z)
    conjugate, _ = checked_values(law, z.conj())
    # a larger radius bounds the size from above only
    known = np.maximum(radius, turned_radius) < math.log(2)
    for other, other_radius in ((reflected, turned_radius), (conjugate.conj(), radius)):
        gap = (other - here)[known]
        gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
        assert np.all(np.abs(gap) <= (radius + other_radius)[known])
    axis, axis_radius = checked_values(law, z.real)
    assert np.all((here.real - radius <= axis + axis_radius)[known])
    c = np.linspace(-2.5, 3, 23)
    k, k_radius = checked_values(law, c)
    assert np.all(k[2:] - 2 * k[1:-1] + k[:-2] >= -4 * k_radius.max())


@pytest.mark.few(4)
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("abscissa", [-6.0, -0.5, 0.7, 12.0])
def test_envelope_bounds_the_ratio_here_and_beyond(name, abscissa):
    law = LAWS[name]
    heights = np.geomspace(1e-3, 300, 60)
    sampled = np.sort(np.concatenate([heights, np.linspace(0.05, 300, 1200)]))
    with np.errstate(invalid="ignore"):  # another test asks for silence
        values = law.log_transform(abscissa + 1j * sampled)
    base, base_radius = checked_values(law, np.array([abscissa]))
    # a larger radius bounds the size from above only
    known = values.radius < math.log(2)
    least = (
        np.where(known, np.where(known, values.mid.real, 0) - np.where(known, values.radius, 0), -np.inf)
        - base[0]
        - base_radius[0]
    )
    for end in (np.inf, 4.0):
        envelope = law.log_envelope(abscissa, heights, end)
        assert np.all(envelope <= 0)
        assert np.all(np.diff(envelope) <= FUZZ)
        for height, bound in zip(heights, envelope, strict=True):
            beyond = least[(sampled >= height) & (sampled <= end)]
            assert beyond.max(initial=-np.inf) <= bound + FUZZ, height


SUMS: dict[str, list[tuple[Any, int]]] = {
    "mixtures": [(MixedNormal(Plain(1.0), Plain(0.3)), 3), (MixedNormal(Plain(0.2), Plain(0.01)), 100)],
    "both-ways": [(MixedNormal(Plain(1.0), Plain(0.3)), 2), (MixedNormal(Plain(1.0), Plain(0.3)).reflected(), 2)],
    "motley": [
        (Normal(Plain(0.1)), 5),
        (TwoPoint(Plain(0.3)), 4),
        (UniformWithAtoms(Plain(0.5)), 2),
        (ZeroOrInfinite(1e-3), 7),
    ],
}


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("abscissa", [-0.5, 1.3])
def test_sums_add_counted_terms_and_their_envelope_bounds_them(name, abscissa):
    total = LogPhi.of(SUMS[name])
    z = abscissa + 1j * np.linspace(0, 40, 400)
    values, line = total.log_transform(z), total.on_line(Line(abscissa, z.imag[1], 400))
    parts = sum(count * law.log_transform(z).mid for law, count in SUMS[name])
    slack = sum(count * np.broadcast_to(law.log_transform(z).radius, z.shape) for law, count in SUMS[name])
    for found in (values, line):
        gap = found.mid - parts
        gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
        known = np.isfinite(slack + found.radius)
        assert np.all(np.abs(gap)[known] <= (slack + found.radius)[known] + 1e-12)
    envelope = total.log_envelope(abscissa, z.imag[1:])
    assert np.all(np.diff(envelope) <= FUZZ)
    assert np.all(values.mid.real[1:] - values.mid.real[0] - values.radius[1:] - values.radius[0] <= envelope + FUZZ)
    assert total.support.upper == pytest.approx(sum(count * law.support.upper for law, count in SUMS[name]))
    assert total.support.lower == pytest.approx(sum(count * law.support.lower for law, count in SUMS[name]))


def test_equal_terms_are_held_once_and_zero_counts_vanish():
    one, two = TwoPoint(Plain(0.3)), Normal(Plain(0.1))
    total = LogPhi.of([(one, 2), (two, 0), (one, 3)])
    assert total.terms == ((one, 5),)
    assert (3 * total + LogPhi.of([(two, 1)])).terms == ((one, 15), (two, 1))


@pytest.mark.parametrize("name", [name for name in LAWS if LAWS[name].support.pieces is not None])
def test_pieces_and_lattice_reproduce_the_transform(name):
    law = LAWS[name]
    pieces, u = law.support.pieces, np.array([0.5, 1.7, -0.9, 0.3 + 2j, 0.5 + 11j])
    total = sum(np.exp(u * x + w) for x, w in zip(pieces.locations, pieces.log_weights, strict=True)) + 0 * u
    if pieces.width:
        total = total + np.exp(pieces.log_density) * 2 * np.sinh(u * pieces.width) / u
    np.testing.assert_allclose(total, np.exp(law.log_transform(u - 0.5).mid), rtol=1e-9, atol=1e-12)
    places = [*pieces.locations, *([pieces.width] if pieces.width else [])]
    assert law.support.upper == pytest.approx(max(places), rel=1e-12)
    assert law.support.upper >= max(places)
    assert law.support.lower <= min([*places, *(-x for x in places if pieces.width)])
    lattice = law.support.lattice
    if lattice is not None and np.isfinite(lattice.span):
        steps = (np.array(pieces.locations) - lattice.offset) / lattice.span
        assert np.all(np.abs(steps - np.round(steps)) * lattice.span <= lattice.location_error + 1e-12)


@pytest.mark.parametrize("width", [1e-9, 1e-4, 0.3, 5.0, 700.0, 3e4])
def test_the_approximation_of_a_uniform_law_with_atoms_is_its_transform(width):
    law = UniformWithAtoms(Plain(width))
    away = np.geomspace(1e-6, 1e5, 60)
    c = np.concatenate([-away, [-1.0, -0.5, 0.0], away])
    np.testing.assert_allclose(law.approximate(c), law.log_transform(c).mid, rtol=1e-12, atol=1e-15 * width)
