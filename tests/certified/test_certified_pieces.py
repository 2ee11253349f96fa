"""Sums of atoms and flat parts in balls: against the references, enumeration in rational numbers, and integrals."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest

from cases import Case, load
from logphi.arith.ball import precision
from logphi.arith.protocol import LogOdds, Plain, Ratio
from logphi.certified import residues
from logphi.certified.laws.registry import in_balls, terms_of
from logphi.certified.locations import Basis, Location, Unit
from logphi.certified.profile import infinite_mass
from logphi.certified.route import NotCertifiedError
from logphi.expression import parse
from logphi.laws.atomic.cells import Given, Mixed
from logphi.laws.atomic.finite import Finite
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.discrete import Discrete
from logphi.text.written import Written
from written_laws import assert_certified, ball, delta, loss_of, with_bits

IDS = (
    "p003 p004 p008 p013 p014 p015 p016 p023 p025 p028 p032 p033 p034 p035 p036 p037 p038 p039 p040 p042 p044 p046 p047 p049 "
    "p050 p064 p065 p069 p071 p078 p079 p080 p081 p082"
)
CASES = [case for case in load() if case.id in IDS.split()]


prepare = with_bits(lambda loss, epsilon, demand: residues.sum_near(terms_of(loss), epsilon).excess)


@pytest.mark.few(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_reference(case: Case) -> None:
    assert_certified(prepare, case)


def excess_by_enumeration(cells: list[tuple[list[Fraction], list[Fraction]]], ratio: Fraction) -> Fraction:
    """Sum of (p - e^eps q)_+ over all outcomes of a composition, e^eps rational."""
    total = Fraction(0)
    for choice in itertools.product(*(zip(p, q, strict=True) for p, q in cells)):
        total += max(math.prod(a for a, _ in choice) - ratio * math.prod(b for _, b in choice), Fraction(0))
    return total


def shares(generator: random.Random, size: int) -> list[Fraction]:
    parts = [Fraction(generator.randint(1, 9)) for _ in range(size)]
    return [part / sum(parts) for part in parts]


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(12))
def test_random_finite_laws_against_enumeration(seed: int) -> None:
    generator = random.Random(seed)
    terms, cells = [], []
    for _ in range(generator.randint(1, 3)):
        size, count = generator.randint(2, 4), generator.randint(1, 3)
        p, q = shares(generator, size), shares(generator, size)
        exact = Given(tuple(Written(a) for a in p), tuple(Written(b) for b in q))
        terms.append((Finite(tuple(map(float, p)), tuple(map(float, q)), relative_error=1e-15, exact=exact), count))
        cells += [(p, q)] * count
    # where atoms lie, and between them
    for ratio in (cells[0][0][0] / cells[0][1][0], Fraction(generator.randint(1, 40), 13)):
        with precision(160):
            epsilon = ball(ratio).log()
            found = prepare(LogPhi.of(terms), epsilon, 160)(epsilon)
            assert found.rad() < 1e-40
        with precision(1000):
            assert found.contains(ball(excess_by_enumeration(cells, ratio)))


def test_sampled_cells_are_exact() -> None:
    """Mixing 0.7 against 0.3 at a rate of 0.02, forty times, with 1 - 0.7 the decimal and not the double."""
    p, q, rate = (
        (Written(Fraction(7, 10)), Written(Fraction(3, 10))),
        (Written(Fraction(3, 10)), Written(Fraction(7, 10))),
        "1/50",
    )
    law = Finite((0.308, 0.692), (0.3, 0.7), relative_error=1e-15, exact=Mixed(Given(p, q), Written(Fraction(rate))))
    a, b = Fraction(308, 1000), Fraction(3, 10)
    whole = [(math.comb(40, j) * a**j * (1 - a) ** (40 - j), math.comb(40, j) * b**j * (1 - b) ** (40 - j)) for j in range(41)]
    exact = sum(max(above - Fraction(11, 10) * below, Fraction(0)) for above, below in whole)
    with precision(128):
        epsilon = ball("11/10").log()
        assert abs(prepare(LogPhi(((law, 40),)), epsilon, 128)(epsilon) - ball(exact)) < 1e-36


def flat_excess(width: mpmath.mpf, with_atoms: bool, epsilon: mpmath.mpf) -> mpmath.mpf:
    """The profile of one flat release, from the mechanisms' own closed forms."""
    if epsilon >= width:
        return mpmath.mpf(0)
    if epsilon <= -width:
        return 1 - mpmath.exp(epsilon)
    if with_atoms:
        return 1 - mpmath.exp((epsilon - width) / 2)
    return (mpmath.exp(width / 2) - mpmath.exp(epsilon / 2)) ** 2 / mpmath.expm1(width)


@pytest.mark.parametrize(("first", "second"), list(itertools.product((True, False), repeat=2)))
@pytest.mark.parametrize("epsilon", ["0.3", "-0.4", "1.3"])
def test_two_flat_releases_against_an_integral(first: bool, second: bool, epsilon: str) -> None:
    """Widths 1 and 2/3: the profile of the second, over the loss of the first by quadrature."""
    kinds = {True: UniformWithAtoms, False: Uniform}
    loss = LogPhi.of([(kinds[first](Ratio(1.0, 1.0)), 1), (kinds[second](Ratio(2.0, 3.0)), 1)])
    with mpmath.workdps(30):
        at, width, other = mpmath.mpf(epsilon), mpmath.mpf(1), mpmath.mpf(2) / 3
        height = mpmath.exp(-width / 2) / 4 if first else 1 / (4 * mpmath.sinh(width / 2))
        kinks = sorted({-width, width, *(k for k in (at - other, at + other) if -width < k < width)})
        truth = mpmath.quad(lambda x: height * mpmath.exp(x / 2) * flat_excess(other, second, at - x), kinks)
        if first:
            truth += flat_excess(other, second, at - width) / 2
            truth += mpmath.exp(-width) / 2 * flat_excess(other, second, at + width)
        digits = mpmath.nstr(truth, 25)
    with precision(128):
        assert abs(prepare(loss, ball(epsilon), 128)(ball(epsilon)) - ball(digits)) < 1e-22


def test_a_cut_degree_contains_the_whole_sum() -> None:
    """The same sum with and without powers left out, and both at another epsilon than it was prepared for."""
    loss = loss_of("60*Laplace(scale=10) + 3*PureDP(epsilon=0.1)")
    with precision(100):
        short = residues.sum_near(terms_of(loss), ball("2.5"))
        assert short.tail is not None
        assert short.tail.degree < 60
    with precision(600):
        whole = prepare(loss, ball("2.5"), 600)
        for epsilon in ("2.5", "2.45", "3", "1", "-1"):
            close, wide = (excess(ball(epsilon)) for excess in (whole, short.excess))
            assert wide.contains(close)
            assert wide.rad() < 1e-24 * close


def test_a_ball_of_epsilon_holds_all_its_values() -> None:
    loss = loss_of("20*Laplace(scale=5)")
    with precision(128):
        excess = prepare(loss, ball(2), 128)
        wide = excess(flint.arb(2, "1e-3"))
        assert all(wide.contains(excess(ball(at))) for at in ("1.9995", "2", "2.0005"))
        assert excess(flint.arb(0, "inf")).contains(flint.arb(1))


def test_ends_of_the_support() -> None:
    """Nothing from the largest loss on, which is known exactly; nearly everything far below."""
    loss = loss_of("20*Laplace(scale=5)")
    assert delta(prepare, loss, "4") == delta(prepare, loss, "4.5") == 0
    with precision(128):
        assert abs(delta(prepare, loss, "-4") - (1 - ball(-4).exp())) < 1e-35


def test_nothing_released() -> None:
    assert delta(prepare, LogPhi(), "0.5") == 0
    with precision(128):
        assert (delta(prepare, LogPhi(), "-0.5") - (1 - ball("-0.5").exp())).contains(0)


def test_equal_places_are_found() -> None:
    """Logarithms of 6/5, 3/2 and 25/16 are combinations of three; a unit stands for itself."""
    unit = Unit("x", flint.arb(1))
    places = [
        Location(ratio=Fraction(6, 5)),
        Location(ratio=Fraction(3, 2)),
        Location(ratio=Fraction(25, 16)),
        Location(units=((unit, 1),)),
    ]
    basis = Basis.of(places)
    keys = [basis.key(place) for place in places]
    assert tuple(2 * a + b for a, b in zip(keys[0], keys[2], strict=True)) == tuple(2 * a for a in keys[1])
    assert keys[3][-1] == 1
    with precision(100):
        assert all(basis.place(key).overlaps(ball(place.ratio).log()) for key, place in zip(keys[:3], places, strict=False))


def test_commensurable_spans_merge() -> None:
    """Guarantees of 0.3 and 0.2, fifty each: places a tenth apart, and not all pairs of numbers of both."""
    loss = LogPhi.of([(TwoPoint(Plain(Written(Fraction(3, 10)))), 50), (TwoPoint(Plain(Written(Fraction(2, 10)))), 50)])
    with precision(128):
        assert len(residues.sum_near(terms_of(loss), ball(-30)).kept) <= 251
    odds = LogPhi.of([(TwoPoint(LogOdds(Written(Fraction(2, 3)))), 30), (TwoPoint(LogOdds(Written(Fraction(4, 5)))), 30)])
    with precision(128):
        assert len(residues.sum_near(terms_of(odds), ball(-90)).kept) <= 91


def test_vectors_of_doubles_are_divided_by_their_sums() -> None:
    """Before they are mixed, and with the outcomes that only one of the laws has."""
    p, q = (1 / 3, 1 / 3, 0.1, 0.7 / 3), (0.7, 0.1, 0.2, 0.0)
    ((law, _),) = Discrete(p, q).poisson(0.3).loss_law().terms
    decimals_p, decimals_q = ([Fraction(repr(one)) for one in side] for side in (p, q))
    whole_p, rate = sum(decimals_p), Fraction(3, 10)
    assert whole_p != 1 == sum(decimals_q)
    atoms: Any = in_balls(law)
    with precision(200):
        mixed = [(1 - rate) * b + rate * a / whole_p for a, b in zip(decimals_p, decimals_q, strict=True)]
        assert all(abs(one - ball(other)) < 1e-55 for one, other in zip(atoms.atoms().p, mixed, strict=False))
        assert abs(infinite_mass(LogPhi(((law, 1),))) - ball(mixed[-1])) < 1e-55


def test_equally_spaced_atoms_and_others() -> None:
    """Ratios of 1, 2 and 4 or 8 lie on a lattice, those of 1, 2 and 3 do not."""
    for third in (4, 8, 3):
        q = [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)]
        p = [ratio * b for ratio, b in zip((1, 2, third), q, strict=True)]
        p = [a / sum(p) for a in p]
        exact = Given(tuple(map(Written, p)), tuple(map(Written, q)))
        law = Finite(tuple(map(float, p)), tuple(map(float, q)), relative_error=1e-15, exact=exact)
        with precision(128):
            route = residues.sum_near(terms_of(LogPhi(((law, 4),))), ball(-9))
            epsilon = ball("1.1").log()
            assert len(route.kept) == {4: 9, 8: 13, 3: 15}[third]
            assert abs(route.excess(epsilon) - ball(excess_by_enumeration([(p, q)] * 4, Fraction(11, 10)))) < 1e-35


def test_lost_mass() -> None:
    """Exactly what is written, or what a truncated law leaves out."""
    with precision(128):
        lost = infinite_mass(loss_of("Laplace(scale=1) + 2 * ApproximateDP(epsilon=1, delta=0.001)"))
        assert lost.overlaps(ball("0.001999"))
        lost = infinite_mass(loss_of("DiscreteGaussian(sigma=2, truncation=10)"))
        weights = [mpmath.exp(-mpmath.mpf(x * x) / 8) for x in range(-10, 11)]
        assert abs(lost - ball(float(weights[-1] / mpmath.fsum(weights)))) < 1e-15


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("FromProfile(epsilons=[0.5, 1], deltas=[0.1, 0.01])", "some digits only"),
        ("FromProfile(epsilons=[0.5, 1], deltas=[0.1, 0.01]).poisson(0.5)", "some digits only"),
        ("Gaussian(sigma=1) + Laplace(scale=1)", "not a sum of atoms and flat parts"),
        ("100000*Laplace(scale=1)", "too many"),
        ("1000000000*KaryRandomizedResponse(k=3, p=0.5, adjacency='replace')", "too many"),
        ("1000000000*DiscreteLaplace(scale=3, sensitivity=3).poisson(0.1)", "too many"),
        pytest.param("DiscreteGaussian(sigma=100).poisson(0.1)", "different kinds", marks=pytest.mark.slow),
    ],
)
def test_what_is_refused(expression: str, reason: str) -> None:
    with precision(128), pytest.raises(NotCertifiedError, match=reason):
        prepare(parse(expression).loss_law(), ball(1), 128)(ball(1))
