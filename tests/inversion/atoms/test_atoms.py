"""Sums of laws of atoms against their atoms, one by one, at 40 digits."""

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from exact import contains, dec
from logphi.engine.routes.atoms import ATOMS
from logphi.engine.routes.route import NotApplicableError, Request
from logphi.inversion.atoms import atoms, integer_sums
from logphi.inversion.atoms.convolution import power
from logphi.inversion.atoms.piecewise_excess import PiecewiseExcess
from logphi.inversion.demand import Demand
from logphi.inversion.pieces.flat_shares import log_tail
from logphi.inversion.pieces.real_space import prepare
from logphi.laws.support import Pieces

DIGITS = 40
RTOL = 1e-9
# P and Q of each outcome
Pair = list[tuple[mpf, mpf]]


def discrete_gaussian(sigma: float) -> Pair:
    reach = math.ceil(20 * sigma) + 4
    weights = {x: exp(-(mpf(x) ** 2) / (2 * dec(sigma) ** 2)) for x in range(-reach - 1, reach + 2)}
    total = mpmath.fsum(weights.values())
    return [(weights[x - 1] / total, weights[x] / total) for x in range(-reach, reach + 2)]


def discrete_laplace(scale: float, shift: int = 1) -> Pair:
    r = exp(-1 / dec(scale))
    inner = [((1 - r) / (1 + r) * r ** (shift - x), (1 - r) / (1 + r) * r**x) for x in range(1, shift)]
    return [(1 / (1 + r), r**shift / (1 + r)), *inner, (r**shift / (1 + r), 1 / (1 + r))]


def response(p: float) -> Pair:
    return [(dec(p), 1 - dec(p)), (1 - dec(p), dec(p))]


def approximate(epsilon: float, delta: float) -> Pair:
    share, kept = exp(dec(epsilon)) / (1 + exp(dec(epsilon))), 1 - dec(delta)
    return [(kept * share, kept * (1 - share)), (kept * (1 - share), kept * share), (dec(delta), mpf(0)), (mpf(0), dec(delta))]


def sampled(pair: Pair, rate: float) -> Pair:
    return [((1 - dec(rate)) * q + dec(rate) * p, q) for p, q in pair]


def convolved(one: dict[mpf, mpf], other: dict[mpf, mpf]) -> dict[mpf, mpf]:
    """Masses by location; locations that agree to 30 digits are one."""
    found: dict[Any, list[mpf]] = {}
    for (x, p), (y, q) in itertools.product(one.items(), other.items()):
        found.setdefault(mpmath.nint((x + y) * mpf(10) ** 30), [x + y, mpf(0)])[1] += p * q
    return {place: mass for place, mass in found.values() if mass > mpf(10) ** -120}


def truths(parts: list[tuple[Pair, int]], thresholds: Iterable[float], *, added: bool) -> list[mpf]:
    """The profile of a composition, in either order of its pairs."""
    law, kept = {mpf(0): mpf(1)}, mpf(1)
    for pair, count in parts:
        ordered = [(q, p) for p, q in pair] if added else pair
        own: dict[mpf, mpf] = {}
        for p, q in ordered:
            if p and q:
                own[log(p / q)] = own.get(log(p / q), mpf(0)) + p
        for _ in range(count):
            law = convolved(law, own)
        kept *= (1 - mpmath.fsum(p for p, q in ordered if not q)) ** count
    return [
        1 - kept + mpmath.fsum(mass * (1 - exp(dec(x) - place)) for place, mass in law.items() if place > dec(x))
        for x in thresholds
    ]


KINDS = [
    (
        2 * lp.DiscreteGaussian(sigma=0.8) + 3 * lp.RandomizedResponse(p=0.7),
        lambda: [(discrete_gaussian(0.8), 2), (response(0.7), 3)],
    ),
    (
        3 * lp.DiscreteLaplace(scale=1.7) + 4 * lp.ApproximateDP(0.3, 1e-6),
        lambda: [(discrete_laplace(1.7), 3), (approximate(0.3, 1e-6), 4)],
    ),
    (
        lp.DiscreteGaussian(sigma=0.9).poisson(0.2)
        + 2 * lp.DiscreteLaplace(scale=2.3).poisson(0.6)
        + lp.DiscreteGaussian(sigma=0.7),
        lambda: [
            (sampled(discrete_gaussian(0.9), 0.2), 1),
            (sampled(discrete_laplace(2.3), 0.6), 2),
            (discrete_gaussian(0.7), 1),
        ],
    ),
    (
        5 * lp.RandomizedResponse(p=0.8).poisson(0.1) + 6 * lp.RandomizedResponse(p=0.9),
        lambda: [(sampled(response(0.8), 0.1), 5), (response(0.9), 6)],
    ),
]


@pytest.mark.few(5)
@pytest.mark.parametrize(("release", "parts"), KINDS, ids=[str(release) for release, _ in KINDS])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_atoms_of_several_kinds(release, parts, direction):
    thresholds = (-0.7, 0.0, 0.9, 2.4)
    with mpmath.workdps(DIGITS):
        for x, exact in zip(thresholds, truths(parts(), thresholds, added=direction == "add"), strict=True):
            found = release.delta(x, method="atoms", direction=direction)
            assert contains(found, exact)
            assert found.width <= RTOL * exact


def test_far_out_digits_stay():
    release = 40 * lp.RandomizedResponse(p=0.7) + 3 * lp.DiscreteLaplace(scale=3.0)
    with mpmath.workdps(80):
        (exact,) = truths([(response(0.7), 40), (discrete_laplace(3.0), 3)], [34.5], added=False)
    found = release.delta(34.5, method="atoms")
    assert exact < 1e-6
    assert contains(found, exact)
    assert found.width <= RTOL * exact


def test_laplace_noise_beside_endless_atoms():
    width = 1 / dec(1.5)

    def excess(x):
        return 1 - exp(x) if x < -width else 1 - exp((x - width) / 2) if x < width else mpf(0)

    release = lp.Laplace(scale=1.5) + 2 * lp.DiscreteGaussian(sigma=0.8)
    with mpmath.workdps(DIGITS):
        masses: dict[mpf, mpf] = {mpf(0): mpf(1)}
        for _ in range(2):
            masses = convolved(masses, {log(p / q): p for p, q in discrete_gaussian(0.8)})
        for x in (-1.0, 0.0, 1.3):
            exact = mpmath.fsum(mass * excess(dec(x) - place) for place, mass in masses.items())
            found = release.delta(x, method="exponential")
            assert contains(found, exact)
            assert found.width <= RTOL * exact


def test_many_laplace_mechanisms_whose_flat_parts_hold_little():
    release = 149 * lp.Laplace(508) + 13 * lp.RandomizedResponse(p=0.919)
    prepared = prepare(release.loss_law(), 3.0, Demand(RTOL))
    assert prepared is not None
    assert prepared.rest is None
    found, other = (release.delta(3.0, method=method) for method in ("exponential", "smoothed"))
    assert max(found.lower, other.lower) <= min(found.upper, other.upper)
    assert found.width < RTOL * found.upper


def test_the_mass_of_many_flat_parts():
    share, count = Fraction(1, 50), 30
    for most in (1, 3, 6, 10):
        tail = sum(math.comb(count, j) * share**j * (1 - share) ** (count - j) for j in range(most, count + 1))
        bound = log_tail([(float(share), count)], most)
        assert math.log(tail) <= bound <= math.log(tail) + 4


def test_sums_modulo_a_number_of_nodes():
    parts = [
        integer_sums.IntegerMeasure(np.array([-3, 0, 1]), np.array([0.25, 0.5, 0.25]), 7),
        integer_sums.IntegerMeasure(np.array([2, 5]), np.array([0.125, 0.875]), 3),
    ]
    first, last = integer_sums.effective_range(parts, 40.0)
    weights, error = integer_sums.summed(parts, first, last)
    exact = {0: Fraction(1)}
    for part in parts:
        for _ in range(part.count):
            moved: dict[int, Fraction] = {}
            for (place, mass), (step, weight) in itertools.product(
                exact.items(), zip(part.index.tolist(), part.weight.tolist(), strict=True)
            ):
                moved[place + step] = moved.get(place + step, Fraction(0)) + mass * Fraction(weight)
            exact = moved
    assert error < 1e-13
    assert all(
        abs(Fraction(weight) - exact.get(first + k, Fraction(0))) <= Fraction(error)
        for k, weight in enumerate(weights.tolist())
    )
    assert sum(mass for place, mass in exact.items() if not first <= place <= last) < 2 * math.exp(-40)


def test_ends_leave_out_what_they_say():
    part = integer_sums.IntegerMeasure(np.array([0, 1, 20]), np.array([0.5, 0.49, 0.01]), 200)
    first, last = integer_sums.effective_range([part], 6.0)
    whole, _ = integer_sums.summed([part], 0, 4000)
    assert whole[:first].sum() < math.exp(-6.0)
    assert whole[last + 1 :].sum() < math.exp(-6.0)
    assert last - first < 400


@pytest.mark.parametrize(("count", "odds"), [(10, 0.3), (3000, 0.01), (10**9, 0.5)])
def test_binomial_weights(count, odds):
    low, weights, error = integer_sums.binomial(1 - odds, odds, count, 45.0)
    with mpmath.workdps(DIGITS):
        p = mpf(odds) / (mpf(odds) + mpf(1 - odds))
        for k in (0, weights.size // 3, weights.size // 2, weights.size - 1):
            n = low + k
            exact = exp(
                mpmath.loggamma(count + 1)
                - mpmath.loggamma(n + 1)
                - mpmath.loggamma(count - n + 1)
                + n * log(p)
                + (count - n) * log(1 - p)
            )
            assert abs(mpf(float(weights[k])) / exact - 1) <= error


def test_the_excess_of_atoms_is_a_sum():
    rng = np.random.default_rng(3)
    places, weights = np.sort(rng.normal(scale=40, size=60)), rng.random(60)
    steps = PiecewiseExcess.of(places, weights, 0.1, 2.0)
    mass = weights * np.exp(-0.1 * (places - 2.0))
    for x in (-200.0, -31.7, 0.0, float(places[17]), 55.0, 200.0):
        direct = math.fsum((mass * -np.expm1(np.minimum(x - places, 0.0))).tolist())
        assert steps.at(np.array([x]))[0] == pytest.approx(direct, rel=1e-12)


def test_atoms_that_are_too_many_at_another_threshold():
    """The sums for the first threshold still have bounds there."""
    release = 3 * lp.DiscreteGaussian(sigma=2.5).poisson(0.1)
    loss = release.loss_law()
    assert atoms.plan(loss, 2.0) is None
    found, other = ATOMS.prepare(Request(loss, 0.1, Demand(RTOL)))(2.0), release.delta(2.0, method="smoothed")
    assert math.exp(found.lower) <= other.upper
    assert other.lower <= math.exp(found.upper)


def test_other_losses_are_refused():
    with pytest.raises(NotApplicableError, match="atoms only"):
        (lp.Laplace(1.0) + lp.DiscreteGaussian(sigma=2)).delta(1.0, method="atoms")


@pytest.mark.parametrize("count", [2, 3, 5])
def test_multisets_drawn_one_by_one_are_all_of_them(count: int) -> None:
    places, weights = (0.0, 0.3, 1.7, -2.2, 5.1, 7.9), (0.1, 0.25, 0.05, 0.3, 0.2, 0.1)
    found = power(Pieces(places, tuple(math.log(one) for one in weights)), count)
    assert len(found) == math.comb(count + len(places) - 1, count)
    expected: dict[float, float] = {}
    for kinds in itertools.product(range(len(places)), repeat=count):
        place = round(sum(places[kind] for kind in kinds), 9)
        expected[place] = expected.get(place, 0.0) + math.prod(weights[kind] for kind in kinds)
    known: dict[float, float] = {}
    for place, log_weight in zip(found.location.tolist(), found.log_weight.tolist(), strict=True):
        known[round(place, 9)] = known.get(round(place, 9), 0.0) + math.exp(log_weight)
    assert known == pytest.approx(expected, rel=1e-12)


def test_as_many_copies_as_there_may_be_raise_no_warning():
    release = 10**300 * lp.RandomizedResponse(0.5 + 1e-16)
    assert release.delta(0.1).upper == 1
