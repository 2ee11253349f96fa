"""Compositions of Laplace and exponential mechanisms, and finite ones, against densities worked out here."""

import itertools
import math
from collections import defaultdict
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, mpf

import logphi as lp
from directions import OneDirection
from exact import contains, dec
from flat import Flat
from logphi.arith.floats import ELEMENTARY
from logphi.expression import parse
from logphi.inversion.demand import Demand
from logphi.inversion.pieces import real_space
from logphi.inversion.pieces.payoffs import DUAL_MASS, MASS, damped_decay, damped_sinh
from logphi.inversion.pieces.real_space import prepare
from some import some

DIGITS = 40
RTOL = 1e-9


class Laplace:
    """Loss of Lap(w) against Lap(0) under the former: an atom at w of mass 1/2, one at -w of mass e^{-w}/2, and the
    density e^{(x - w)/2}/4 between them."""

    def __init__(self, scale):
        self.width = 1 / dec(scale)
        self.atoms = [(self.width, mpf(1) / 2), (-self.width, exp(-self.width) / 2)]
        self.mechanism = lp.Laplace(scale=scale)

    def density(self, x):
        return exp((x - self.width) / 2) / 4


class Range:
    """Density proportional to e^{x/2} on [-e, e]."""

    def __init__(self, epsilon):
        self.width = dec(epsilon)
        self.atoms = []
        self.mechanism = Flat(epsilon)

    def density(self, x):
        return exp(x / 2) / (4 * mpmath.sinh(self.width / 2))


def profile(laws, x):
    """E[(1 - e^{x - X})_+] of a sum: atoms one by one, the last density in closed form, the others by quadrature."""
    if not laws:
        return 1 - exp(x) if x < 0 else mpf(0)
    first, rest = laws[0], laws[1:]
    total = mpmath.fsum(mass * profile(rest, x - place) for place, mass in first.atoms)
    w = first.width
    if not rest:
        low = min(max(x, -w), w)
        # the integral of e^{y/2} (1 - e^{x - y}) from low to w, times the height
        height = first.density(mpf(0))
        return total + height * (2 * exp(w / 2) - 2 * exp(low / 2) + 2 * exp(x - w / 2) - 2 * exp(x - low / 2))
    corners = {x - sum(s * law.width for s, law in zip(signs, rest, strict=True)) for signs in signs_of(rest)}
    cuts = sorted({-w, w, *(corner for corner in corners if -w < corner < w)})
    return total + mpmath.quad(lambda y: first.density(y) * profile(rest, x - y), cuts, method="gauss-legendre")


def signs_of(laws):
    return itertools.product((-1, 1), repeat=len(laws))


def assert_profile(laws, epsilon, width=RTOL):
    release = lp.compose([law.mechanism for law in laws])
    exact = profile(laws, dec(epsilon))
    bound = release.delta(epsilon)
    assert contains(bound, exact), (epsilon, mpmath.nstr(exact, 25), bound)
    if exact > 0:
        assert bound.upper - bound.lower <= 2 * width * float(exact) + 1e-300, (epsilon, bound)


SHARES = [-1.2, -0.9, -0.3, 0.0, 0.01, 0.3, 0.7, 0.999, pytest.param(0.9999999, marks=pytest.mark.slow)]


@pytest.mark.parametrize("scale", [0.05, 0.5, 1.0, 3.0, 1e4])
@pytest.mark.parametrize("share", SHARES)
def test_one_laplace(scale, share):
    epsilon = share / scale
    with mpmath.workdps(DIGITS):
        w = 1 / dec(scale)
        exact = 1 - exp((dec(epsilon) - w) / 2) if -w <= dec(epsilon) <= w else max(mpf(0), 1 - exp(dec(epsilon)))
        # the closed form of the profile is that of the loss written above
        assert abs(profile([Laplace(scale)], dec(epsilon)) - exact) < mpf(10) ** -35
        bound = lp.Laplace(scale=scale).delta(epsilon)
        assert contains(bound, exact), (epsilon, mpmath.nstr(exact, 25), bound)
        assert bound.upper - bound.lower <= felt(share) * float(exact)


def felt(share):
    """The promised relative width; next to the end of the support the threshold's own half ulp is felt."""
    return max(2 * RTOL, 1e-13 / (1 - share))


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 1.0, 8.0])
@pytest.mark.parametrize("share", SHARES)
def test_one_exponential_mechanism(epsilon, share):
    x = share * epsilon
    with mpmath.workdps(DIGITS):
        e = dec(epsilon)
        exact = max(mpf(0), 1 - exp(dec(x)))
        if abs(dec(x)) <= e:
            exact = (exp(e / 2) - exp(dec(x) / 2)) ** 2 / (exp(e) - 1)
        assert abs(profile([Range(epsilon)], dec(x)) - exact) < mpf(10) ** -35
        bound = lp.ExponentialMechanism(epsilon=epsilon).delta(x)
        assert contains(bound, exact), (x, mpmath.nstr(exact, 25), bound)
        assert bound.upper - bound.lower <= felt(share) * float(exact)


@pytest.mark.parametrize("share", [-0.8, -0.1, 0.0, 0.2, 0.6, 0.97])
@pytest.mark.parametrize(
    "laws",
    [
        [Laplace(1.0)] * 2,
        [Laplace(0.5), Laplace(2.0)],
        [Laplace(1.0), Laplace(100.0)],
        [Range(1.0)] * 2,
        [Range(0.1), Range(3.0)],
        [Laplace(1.0), Range(0.7)],
    ],
    ids=["laplace", "scales", "far-scales", "range", "ranges", "both"],
)
def test_two(laws, share):
    with mpmath.workdps(DIGITS):
        assert_profile(laws, float(share * sum(law.width for law in laws)))


@pytest.mark.few(2)
@pytest.mark.parametrize("share", [-0.3, 0.1, 0.8])
@pytest.mark.parametrize(
    "laws",
    [
        [Laplace(1.0)] * 3,
        [Laplace(0.5), Laplace(2.0), Laplace(3.0)],
        [Range(1.0)] * 3,
        [Laplace(2.0), Range(1.0), Range(0.3)],
    ],
    ids=["laplace", "scales", "range", "motley"],
)
def test_three(laws, share):
    with mpmath.workdps(18):
        release = lp.compose([law.mechanism for law in laws])
        epsilon = float(share * sum(law.width for law in laws))
        exact = profile(laws, dec(epsilon))
        bound = release.delta(epsilon)
        # the reference itself is good to twelve digits
        assert mpf(bound.lower) * (1 - 1e-12) <= exact <= mpf(bound.upper) * (1 + 1e-12)
        assert bound.upper - bound.lower <= 2 * RTOL * float(exact)


def equal_laplace(w, k, x):
    """The k-fold Laplace profile for any k: M^k = sum of binomial terms in e^{+-uw} and 1/u^m, inverted one by one.

    With u = z + 1/2, e^{uw} (1/2 + 1/(4u)) + e^{-uw} (1/2 - 1/(4u)) to the k has terms c u^{-m} e^{u (k - 2j) w}, times
    e^{-kw/2}; against e^{-zx}/(z (z + 1)), whose poles are 1/2 and -1/2 in u, each is a residue sum that closes to the
    left where its exponent is positive.
    """
    total = mpf(0)
    for j in range(k + 1):
        shift = (k - 2 * j) * w - x
        if shift <= 0:
            continue
        # coefficients in v = 1/(2u) of (1 + v)^(k-j) (1 - v)^j
        coefficients = [0] * (k + 1)
        for a in range(k - j + 1):
            for b in range(j + 1):
                coefficients[a + b] += math.comb(k - j, a) * math.comb(j, b) * (-1) ** b
        weight = mpmath.binomial(k, j) / mpf(2) ** k
        # the pole of order m at zero of u^{-m}/(u^2 - 1/4): 4 shift^{m-1}/(m-1)!, and four times that of order m - 2
        rising, falling, poles = exp(shift / 2), exp(-shift / 2), [mpf(0), 4 * mpf(1)]
        power = mpf(1)
        for m, coefficient in enumerate(coefficients):
            if m > 1:
                power *= shift / (m - 1)
                poles.append(4 * (power + poles[m - 2]))
            # the inverse at shift: the two simple poles, and that at zero
            value = (rising - (-1) ** m * falling) * mpf(2) ** m - poles[m]
            total += weight * coefficient / mpf(2) ** m * value
    return exp(x / 2 - k * w / 2) * total


def test_the_partial_fractions_agree_with_the_convolution():
    with mpmath.workdps(DIGITS):
        for x in (mpf(-1) / 3, mpf(1) / 2, mpf("1.9")):
            for k in (1, 2):
                assert abs(equal_laplace(mpf(1), k, x) - profile([Laplace(1.0)] * k, x)) < mpf(10) ** -30


@pytest.mark.few(2)
@pytest.mark.parametrize("scale", [0.2, 1.0, 20.0])
@pytest.mark.parametrize("k", [5, 6, 7, 13, pytest.param(60, marks=pytest.mark.slow)])
def test_many_equal_laplace(scale, k):
    release = k * lp.Laplace(scale=scale)
    with mpmath.workdps(60 + 3 * k):
        for share in (-0.5, 0.0, 0.05, 0.3, 0.8, 0.99):
            epsilon = share * k / scale
            exact = equal_laplace(1 / dec(scale), k, dec(epsilon))
            bound = release.delta(epsilon)
            assert contains(bound, exact), (epsilon, mpmath.nstr(exact, 25), bound)
            assert bound.upper - bound.lower <= 1e-6 * float(exact) + 1e-300, (epsilon, bound)


def transform(kind, parameter):
    """Half-width w and M(u - 1/2) of a law, as coefficients of e^{s u w} / u^m by (s, m)."""
    w = 1 / dec(parameter) if kind is lp.Laplace else dec(parameter)
    if kind is lp.Laplace:
        half = exp(-w / 2) / 2
        return w, {(1, 0): half, (1, 1): half / 2, (-1, 0): half, (-1, 1): -half / 2}
    if kind is Flat:
        return w, {(s, 1): s / (4 * mpmath.sinh(w / 2)) for s in (1, -1)}
    w = mpmath.log(w / (1 - w))
    return w, {(s, 0): 1 / (2 * mpmath.cosh(w / 2)) for s in (1, -1)}


def residues(parts):
    """The transform of a sum of counted laws, as coefficients of e^{us} / u^m by (s, m)."""
    total = {(mpf(0), 0): mpf(1)}
    for kind, parameter, count in parts:
        w, own = transform(kind, parameter)
        power = {(0, 0): mpf(1)}
        for _ in range(count):
            product: defaultdict[Any, mpf] = defaultdict(mpf)
            for ((s, m), a), ((r, k), b) in itertools.product(power.items(), own.items()):
                product[s + r, m + k] += a * b
            power = product
        whole: defaultdict[Any, mpf] = defaultdict(mpf)
        for ((s, m), a), ((r, k), b) in itertools.product(total.items(), power.items()):
            whole[s + r * w, m + k] += a * b
        total = whole
    return total


def by_residues(terms, x):
    """The sum over the terms of the residues of e^{u(s - x)} / (u^m (u^2 - 1/4)) at 1/2, -1/2 and 0, closed to the left."""
    total = mpf(0)
    for (s, m), coefficient in terms.items():
        y = s - x
        if y > 0:
            value = exp(y / 2) * mpf(2) ** m - exp(-y / 2) * mpf(-2) ** m
            powers = [(i, m - 1 - 2 * i) for i in range((m + 1) // 2)]
            value -= mpmath.fsum(mpf(4) ** (i + 1) * y**p / mpmath.factorial(p) for i, p in powers)
            total += coefficient * value
    return exp(x / 2) * total


L, E, R = lp.Laplace, Flat, lp.RandomizedResponse
MIXTURES: dict[str, list[tuple[Any, float, int]]] = {
    "wide and narrow": [(L, 0.06, 2), (L, 40.0, 3)],
    "with atoms": [(L, 2.0, 10), (R, 0.7, 5)],
    "three kinds": [(L, 0.8, 3), (E, 2.5, 4), (R, 0.9, 3)],
    "two scales": [(L, 5.0, 6), (L, 3.0, 7)],
    "no atoms": [(E, 0.5, 4)],
    "very wide": [(L, 0.02, 4)],
    "very narrow": [(L, 3e4, 9)],
}
# places to ask at, as shares of the top of the support
PLACES = [-0.7, -0.05, 0.0, 0.03, 0.2, 0.5, 0.8, 0.99]
# digits for sums of residues that cancel
MANY = 150


@pytest.mark.few(2)
@pytest.mark.parametrize("name", MIXTURES)
def test_mixtures_equal_their_residues(name):
    parts = MIXTURES[name]
    release = lp.compose([count * kind(parameter) for kind, parameter, count in parts])
    with mpmath.workdps(MANY):
        terms = residues(parts)
        top = max(s for s, _ in terms)
        corners = sorted({float(s) for s, _ in terms if abs(s) < 0.99 * top})[:: max(1, len(terms) // 4)]
        for x in [*(float(share * top) for share in PLACES), *corners, *(corner + 1e-7 for corner in corners)]:
            exact = by_residues(terms, dec(x))
            known, bound = release.delta(x, method="exponential"), release.delta(x)
            assert contains(known, exact), (x, mpmath.nstr(exact, 25), known)
            assert contains(bound, exact), (x, mpmath.nstr(exact, 25), bound)
            if x < 0.9 * top:
                assert bound.upper - bound.lower <= 2 * RTOL * float(exact), (x, bound)


@pytest.mark.few(2)
@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-9, 1e-20])
@pytest.mark.parametrize("name", MIXTURES)
def test_epsilon_of_mixtures_is_proved_on_both_sides(name, delta):
    parts = MIXTURES[name]
    bound = lp.compose([count * kind(parameter) for kind, parameter, count in parts]).epsilon(delta)
    with mpmath.workdps(MANY):
        terms = residues(parts)
        assert by_residues(terms, dec(bound.upper)) <= dec(delta)
        assert bound.lower == 0 or by_residues(terms, dec(bound.lower)) >= dec(delta)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["with atoms", "two scales", "no atoms", "very wide"])
def test_what_is_prepared_near_one_threshold_holds_at_others(name):
    parts = MIXTURES[name]
    loss = lp.compose([count * kind(parameter) for kind, parameter, count in parts]).loss_law()
    with mpmath.workdps(MANY):
        terms = residues(parts)
        top = max(s for s, _ in terms)
        prepared = some(real_space.prepare(loss, float(top) / 5, Demand(RTOL)))
        for share in (0.01, 0.15, 0.2, 0.21, 0.4, 0.9, 0.999):
            x = float(share * top)
            exact = by_residues(terms, dec(x))
            found = prepared.at(x)
            unit = exp(mpf(found.log_scale))
            assert found.low * unit <= exact * (1 + mpf(10) ** -14)
            assert exact <= found.high * unit * (1 + mpf(10) ** -14)


@pytest.mark.few(2)
@pytest.mark.parametrize("order", range(1, 8))
def test_damped_sinh(order):
    heights = np.concatenate([[0.0], np.geomspace(1e-9, 300.0, 40), order + np.array([-1e-9, 0.0, 1e-9])])
    found = damped_sinh(heights, np.array(order))
    with mpmath.workdps(DIGITS):
        for h, value in zip(heights, found, strict=True):
            terms = (mpf(h) ** (order + 2 * r) / mpmath.factorial(order + 2 * r) for r in range(int(h) + 60))
            exact = exp(-mpf(h)) * mpmath.fsum(terms)
            assert abs(mpf(value) - exact) <= (8 + order) * ELEMENTARY * exact


def test_epsilon_next_to_the_end_of_the_support():
    bound = lp.Laplace(scale=5.7317).epsilon(5.1e-33)
    with mpmath.workdps(DIGITS):
        exact = 1 / dec(5.7317) + 2 * mpmath.log1p(-dec(5.1e-33))
        assert contains(bound, exact)
    assert bound.upper - bound.lower <= RTOL


@pytest.mark.parametrize("epsilon", [0.0067622923557566885, 9.247691959579521])
def test_the_last_double_below_the_end_of_the_support(epsilon):
    release = 7 * Flat(epsilon)
    bound = release.delta(7 * epsilon * (1 - 1e-16), method="exponential")
    assert 0 <= bound.lower <= bound.upper < 1e-80


def brute_force(p, q, k, x, lost=0):
    """All k-tuples of cells, losses with their masses, and the mass at infinity."""
    cells = [(dec(a), dec(b)) for a, b in zip(p, q, strict=True)]
    total = mpf(0)
    for picks in itertools.product(cells, repeat=k):
        mass_p, mass_q = mpmath.fprod(a for a, _ in picks), mpmath.fprod(b for _, b in picks)
        total += max(mpf(0), mass_p - exp(x) * mass_q)
    return total


PAIRS = {
    "three": ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]),
    "skew": ([0.9, 0.09, 0.01], [0.1, 0.1, 0.8]),
    "holes": ([0.5, 0.4, 0.1, 0.0], [0.3, 0.3, 0.0, 0.4]),
    "four": ([0.37, 0.21, 0.12, 0.3], [0.11, 0.33, 0.41, 0.15]),
    "tiny": ([1e-9, 0.4, 0.599999999], [0.3, 1e-12, 0.699999999999]),
}


@pytest.mark.few(11)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("epsilon", [-2.5, -0.3, 0.0, 0.4, 1.7, 6.0])
def test_discrete_equals_enumeration(name, k, epsilon):
    p, q = PAIRS[name]
    release = k * lp.Discrete(p=p, q=q)
    with mpmath.workdps(DIGITS):
        remove, add = brute_force(p, q, k, dec(epsilon)), brute_force(q, p, k, dec(epsilon))
        for direction, exact in (("remove", remove), ("add", add), (None, max(remove, add))):
            bound = release.delta(epsilon, direction=direction)
            assert contains(bound, exact), (direction, mpmath.nstr(exact, 25), bound)
            assert bound.upper - bound.lower <= 2 * RTOL * float(exact) + 1e-300


def test_different_discrete_mechanisms_equal_enumeration():
    names, epsilon = ("three", "four", "holes"), 0.6
    release = lp.compose([lp.Discrete(*PAIRS[name]) for name in names])
    with mpmath.workdps(DIGITS):
        products: defaultdict[OneDirection, mpf] = defaultdict(mpf)
        for picks in itertools.product(*(list(zip(*PAIRS[name], strict=True)) for name in names)):
            a, b = mpmath.fprod(dec(one) for one, _ in picks), mpmath.fprod(dec(two) for _, two in picks)
            products["remove"] += max(mpf(0), a - exp(dec(epsilon)) * b)
            products["add"] += max(mpf(0), b - exp(dec(epsilon)) * a)
        for direction, exact in products.items():
            assert contains(release.delta(epsilon, direction=direction), exact)


@pytest.mark.parametrize("order", range(6))
def testdamped_decay(order):
    """e^{-h} times what the first terms leave of the series of e^{-h}, by many digits."""
    places = np.array([1e-3, 0.4, 3.0, 11.9, 12.0, 12.1, 20.0, 80.0])
    for h, found in zip(places, damped_decay(places, np.full(places.size, order)), strict=True):
        with mpmath.workdps(80):
            rest = mpmath.exp(-h) - mpmath.fsum((-mpmath.mpf(h)) ** j / mpmath.factorial(j) for j in range(order))
            assert found == pytest.approx(float(mpmath.exp(-h) * (-1) ** order * rest), rel=1e-14)
    assert damped_decay(np.zeros(1), np.array([order]))[0] == 0


@pytest.mark.parametrize(
    "expression", ["7*Laplace(scale=2)", "3*Laplace(scale=1) + 4*RandomizedResponse(p=0.6)", "30*Laplace(scale=4)"]
)
@pytest.mark.parametrize("share", [-0.83, -0.311, 0.05, 0.42])
def test_both_tails_are_formed_alike(expression, share):
    """The mass below, from payoffs that fall, and the mass above, from payoffs that rise, add up to one."""
    law = parse(expression).loss_law()
    x = share * law.support.upper
    reflected = law.reflected()
    above = some(prepare(law, x, Demand(1e-9), MASS)).at(x)
    below = some(prepare(reflected, -x, Demand(1e-9), DUAL_MASS)).at(-x).times_exp(x)
    one = [
        getattr(above, end) * np.exp(above.log_scale) + getattr(below, end) * np.exp(below.log_scale) for end in ("low", "high")
    ]
    assert one[0] <= 1 + 1e-15
    assert one[1] >= 1 - 1e-15
    # the larger of the two is the wider one
    assert one[1] - one[0] < 1e-8
