"""Two lattice laws: the truth lies between them, and they are as near as promised."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from logphi.arith.protocol import Plain, Ratio
from logphi.arith.scaled import Scaled
from logphi.grid.discretization import discretizers
from logphi.grid.discretized import prepare
from logphi.grid.lattice_law import Grid, LatticeLaw
from logphi.inversion.demand import Demand
from logphi.inversion.lines import contour
from logphi.laws.atomic.finite import Finite
from logphi.laws.atomic.integers import NormalOnIntegers
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.weights import Listed
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from profiles import gaussian_profile
from slowly import slowly

# parameters stand for decimals within half an ulp; the truths below are formed from the doubles
HALF_ULP = 1e-12
BUDGET = 1 << 17


def total(*terms: tuple[LossTransform, int]) -> LogPhi:
    return LogPhi(terms)


def excess(law: LossTransform, x: float, rtol: float, budget: int = 1 << 20) -> Scaled:
    return prepare(law, x, Demand(rtol), budget).at(x)


def ends(found: Scaled) -> tuple[mp.mpf, mp.mpf]:
    scale = mp.exp(mp.mpf(found.log_scale))
    return found.low * scale, found.high * scale


def assert_between(found: Scaled, truth: mp.mpf, slack: float = 0.0) -> None:
    low, high = ends(found)
    assert math.isfinite(found.value)
    assert low * (1 - slack) <= truth <= high * (1 + slack), (mp.nstr(low), mp.nstr(truth), mp.nstr(high))


def mixed_excess(m: float, q: float, x: float) -> mp.mpf:
    """[LT] Theorem 5.1."""
    m, q, x = mp.mpf(m), mp.mpf(q), mp.mpf(x)
    return 1 - mp.exp(x) if x <= mp.log(1 - q) else q * gaussian_profile(m)(mp.log(1 + (mp.exp(x) - 1) / q))


def atoms_excess(parts: Iterable[list[tuple[mp.mpf, mp.mpf]]], x: float) -> mp.mpf:
    places = [(mp.mpf(0), mp.mpf(1))]
    for part in parts:
        places = [(a + b, p * q) for a, p in places for b, q in part]
    return sum((p * (1 - mp.exp(mp.mpf(x) - a)) for a, p in places if a > x), mp.mpf(0))


def two_points(point: float, count: int) -> list[tuple[mp.mpf, mp.mpf]]:
    p = 1 / (1 + mp.exp(-mp.mpf(point)))
    masses = [mp.binomial(count, k) * p**k * (1 - p) ** (count - k) for k in range(count + 1)]
    return [((2 * k - count) * mp.mpf(point), mass) for k, mass in enumerate(masses)]


KNOWN = [
    ("normal", total((Normal(Plain(1.0)), 1)), 0.5, "0.23842170813486023", 1e-8),
    ("many sampled", total((MixedNormal(Ratio(1.0, 2.0), Plain(0.01)), 1500)), 1.0, "9.46965764516836456567e-8", 1e-4),
    ("few sampled", total((MixedNormal(Ratio(1.0, 0.8), Plain(0.05)), 2)), 1.0, "0.00042867449060066728", 1e-6),
    ("uniform with atoms", total((UniformWithAtoms(Plain(1.0)), 2)), 0.7, "0.30828934579165373653", 1e-7),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("law", "x", "truth", "width"), [case[1:] for case in KNOWN], ids=[case[0] for case in KNOWN])
def test_known_values_are_inside_and_near(law: LogPhi, x: float, truth: str, width: float) -> None:
    found = excess(law, x, 1e-12, BUDGET)
    assert_between(found, mp.mpf(truth), 1e-13)
    assert found.relative_width < width


@pytest.mark.slow
def test_continuous_laws_reach_nine_digits_at_the_default_budget() -> None:
    for law, x in [(KNOWN[0][1], 0.5), (KNOWN[2][1], 1.0), (KNOWN[3][1], 0.7)]:
        assert excess(law, x, 1e-9).relative_width < 1e-9


@pytest.mark.slow
def test_a_single_sampled_release_on_both_sides() -> None:
    rng = np.random.default_rng(1)
    with mp.workdps(400):
        for _ in range(40):
            m, q = float(10 ** rng.uniform(-2, 1)), float(10 ** rng.uniform(-7, -0.05))
            law = MixedNormal(Plain(m), Plain(q))
            # thresholds where the normal part is between 3 deviations below and 9 above its null mean
            x = math.log1p(q * math.expm1(min(m * rng.uniform(-3, 9) - m * m / 2, 300.0)))
            truth = mixed_excess(m, q, x)
            assert_between(excess(law, x, 1e-7, 1 << 14), truth, HALF_ULP)
            x = -x
            reflected = 1 - mp.exp(mp.mpf(x)) + mp.exp(mp.mpf(x)) * mixed_excess(m, q, -x)
            assert_between(excess(Reflected(law), x, 1e-7, 1 << 14), reflected, HALF_ULP)


def lattice_excess(law: LatticeLaw, grid: Grid, x: float) -> mp.mpf:
    """Summed as it stands, the threshold moved by what the nodes may be off."""
    location = law.origin + grid.step * law.index
    over = location - (x - law.location_error if grid.upper else x + law.location_error)
    paid = over > 0
    terms = law.weights[paid] * np.exp(-grid.tilt * (location[paid] - x)) * -np.expm1(-over[paid])
    return float(terms.sum()) * mp.exp(mp.mpf(law.log_scale - grid.tilt * x))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("m", "q", "step", "tilt"),
    [(0.5, 0.1, 1e-3, 8.0), (3.0, 1e-4, 1e-2, 2.0), *slowly((0.013039019953872568, 0.054260028571646, 3e-6, 1500.0))],
)
@pytest.mark.parametrize("reflected", [False, True])
def test_one_lattice_law_is_above_and_one_below(m: float, q: float, step: float, tilt: float, reflected: bool) -> None:
    base = MixedNormal(Plain(m), Plain(q))
    [(piece, _)], _ = discretizers([(Reflected(base) if reflected else base, 1)])
    # the reflected law has its top, where cells are wide, at the end of the support
    points = -np.log1p(-q) * np.linspace(-0.5, 0.35, 60) if reflected else np.linspace(0.2, 2.0, 13) * m * np.sqrt(q)
    with mp.workdps(400):
        for x in points.tolist():
            at = mp.mpf(x)
            truth = 1 - mp.exp(at) + mp.exp(at) * mixed_excess(m, q, -x) if reflected else mixed_excess(m, q, x)
            for upper in (True, False):
                grid = Grid(step, tilt, upper, 60.0, -700.0, 1 << 22)
                law = piece.on(grid)
                whole = float(law.weights.sum()) * mp.exp(mp.mpf(law.log_scale - tilt * x))
                found = lattice_excess(law, grid, x)
                if upper:
                    found += min(law.omitted_above * whole, mp.mpf(law.omitted_mass)) + law.omitted_below * whole
                assert found * (1 + 1e-11) >= truth if upper else found * (1 - 1e-11) <= truth


def test_values_below_every_double_keep_relative_accuracy() -> None:
    with mp.workdps(60):
        for x in (20.0, 38.0, 60.0):
            found = excess(Normal(Plain(1.0)), x, 1e-6, BUDGET)
            assert_between(found, gaussian_profile(mp.mpf(1))(mp.mpf(x)), 1e-11)
            assert found.relative_width < 1e-5


@pytest.mark.slow
def test_atoms_without_a_common_lattice_against_enumeration() -> None:
    rng = np.random.default_rng(2)
    widths = []
    with mp.workdps(40):
        for _ in range(25):
            points = 10 ** rng.uniform(-2, 0.7, 2)
            counts = rng.integers(1, 40, 2)
            p, q = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(2))
            pairs = [(mp.mpf(a), mp.mpf(b)) for a, b in zip(p.tolist(), q.tolist(), strict=True)]
            finite = [(mp.log(a / b), a) for a, b in pairs]
            parts = [two_points(float(a), int(n)) for a, n in zip(points, counts, strict=True)] + [finite]
            law = total(
                *((TwoPoint(Plain(float(a))), int(n)) for a, n in zip(points, counts, strict=True)),
                (Finite(tuple(p.tolist()), tuple(q.tolist())), 1),
                (ZeroOrInfinite(0.25), 2),
            )
            top = float(sum(max(a for a, _ in part) for part in parts))
            x = float(rng.uniform(-0.2, 0.999)) * top
            found = excess(law, x, 1e-9, BUDGET)
            assert_between(found, mp.mpf(9) / 16 * atoms_excess(parts, x), HALF_ULP)
            widths.append(found.relative_width)
    assert np.median(widths) < 1e-6


def test_a_commensurable_sum_is_exact() -> None:
    found = excess(total((TwoPoint(Plain(1.0)), 5), (TwoPoint(Plain(0.25)), 3)), 1.0, 1e-9)
    assert found.relative_width < 1e-10


@pytest.mark.slow
def test_agrees_with_the_contour_where_that_converges() -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        mixed = MixedNormal(Ratio(1.0, float(rng.uniform(0.5, 4))), Plain(float(10 ** rng.uniform(-3, -0.5))))
        law = total(
            (mixed, int(rng.integers(5, 300))),
            (Normal(Plain(float(rng.uniform(0.1, 1)))), 3),
            (Uniform(Plain(float(rng.uniform(0.05, 0.5)))), 2),
        )
        law = law.reflected() if rng.random() < 0.5 else law
        x = float(rng.uniform(0.5, 4))
        prepared = contour.prepare(law, x, Demand(1e-9))
        assert prepared is not None
        inversion = prepared.at(x)
        if inversion.part is not contour.Part.EXCESS:
            continue
        (low, high), (other_low, other_high) = ends(excess(law, x, 1e-6, BUDGET)), ends(inversion.amount)
        assert low <= other_high
        assert other_low <= high


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_hostile_settings_give_numbers_and_no_warnings(number: int) -> None:
    rng = np.random.default_rng(4)
    for _ in range(number):
        base = MixedNormal(Ratio(1.0, float(10 ** rng.uniform(-1, 2))), Plain(float(10 ** rng.uniform(-7, -0.05))))
        kinds: list[Any] = [Normal, Uniform, UniformWithAtoms, TwoPoint]
        other = kinds[rng.integers(4)](Plain(float(10 ** rng.uniform(-2, 0.3))))
        one: LossTransform = Reflected(base) if rng.random() < 0.5 else base
        law = total((one, int(10 ** rng.uniform(0, 3))), (other, int(rng.integers(1, 9))))
        found = excess(law, float(rng.uniform(-5, 50)), 1e-6, 1 << 14)
        assert 0 <= found.low <= found.high
        assert not math.isnan(found.high)


@pytest.mark.slow
def test_bounds_hold_at_every_threshold() -> None:
    rng = np.random.default_rng(6)
    with mp.workdps(400):
        for _ in range(12):
            m, q = float(10 ** rng.uniform(-1, 0.5)), float(10 ** rng.uniform(-4, -0.3))
            point, count = float(10 ** rng.uniform(-1, 0.3)), int(rng.integers(1, 5))
            law = total((MixedNormal(Plain(m), Plain(q)), 1), (TwoPoint(Plain(point)), count))
            x = float(rng.uniform(-0.5, 1.0)) * count * point
            near = prepare(law, x, Demand(1e-7), 1 << 14)
            away = [x + float(step) for step in rng.normal(0, 3, 5)]
            for y in (x, 1.01 * x, 0.0, -x, -40.0, count * point, *away):
                truth = sum((p * mixed_excess(m, q, mp.mpf(y) - a) for a, p in two_points(point, count)), mp.mpf(0))
                assert_between(near.at(y), truth, HALF_ULP)


@pytest.mark.slow
def test_bounds_are_as_sharp_nearby_as_where_they_were_prepared() -> None:
    law = total((MixedNormal(Plain(1.0), Plain(0.1)), 20), (UniformWithAtoms(Plain(0.3)), 3))
    near = prepare(law, 2.0, Demand(1e-9), BUDGET)
    for x in (1.96, 1.99, 2.01, 2.04):
        assert near.at(x).relative_width < 1.5 * excess(law, x, 1e-9, BUDGET).relative_width


@pytest.mark.few(2)
@pytest.mark.parametrize("far", [1e5, 1e12, 1e100, 1e300])
def test_thresholds_out_of_all_proportion_are_answered(far: float) -> None:
    mixed = MixedNormal(Plain(1.0), Plain(0.1))
    for law in (total((mixed, 20), (Normal(Plain(1.0)), 1)), total((Reflected(mixed), 20), (Uniform(Plain(1.0)), 1))):
        near = prepare(law, 1.0, Demand(1e-6), 1 << 12)
        assert near.at(far).low == 0
        low, high = ends(near.at(-far))
        assert low <= 1 <= high
        assert high < mp.inf


def test_at_and_beyond_the_top_nothing_is_left() -> None:
    law = total((TwoPoint(Plain(0.5)), 4), (Uniform(Plain(1.0)), 2))
    assert excess(law, 4.1, 1e-6).high == 0
    assert excess(total((ZeroOrInfinite(0.1), 3)), 0.0, 1e-6).high == 0
    near = prepare(law, 1.0, Demand(1e-6))
    assert near.at(4.1).high == 0
    beyond = prepare(law, 5.0, Demand(1e-6))
    assert_between(beyond.at(1.0), mp.mpf(near.at(1.0).value) * mp.exp(near.at(1.0).log_scale))


@pytest.mark.slow
def test_more_budget_is_never_worse() -> None:
    law = total((MixedNormal(Plain(1.0), Plain(0.1)), 20), (TwoPoint(Plain(0.3)), 2))
    widths = [excess(law, 2.0, 1e-12, 1 << k).relative_width for k in (12, 14, 16, 18)]
    assert widths == sorted(widths, reverse=True)


BLENDS = {
    "rest": MixtureOfShifts((Plain(0.0), Plain(0.75), Plain(1.5)), Listed(((0.5,), (0.25,), (0.25,)))),
    "none": MixtureOfShifts((Plain(0.25), Plain(0.75), Plain(3.0)), Listed(((0.5,), (0.375,), (0.125,)))),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BLENDS)
@pytest.mark.parametrize("reflected", [False, True])
def test_a_release_of_several_shifts_on_both_sides(name: str, reflected: bool) -> None:
    law: LossTransform = BLENDS[name].reflected() if reflected else BLENDS[name]
    points = [-0.3, 0.1, 0.3, 0.6, 2.0]
    near = prepare(law, 0.3, Demand(1e-7), BUDGET)
    assert near.at(0.3).relative_width < 1e-6
    for x in points:
        truth = law.closed_form.excess(x)
        assert truth is not None
        (low, high), (least, most) = ends(near.at(x)), ends(truth)
        assert low <= most * (1 + HALF_ULP)
        assert least <= high * (1 + HALF_ULP)


def test_next_to_the_top_nothing_is_claimed() -> None:
    law = MixtureOfShifts(
        (Plain(0.0), Plain(8.507171803598187)), Listed(((0.7511861298245515,), (0.2488138701754484,)))
    ).reflected()
    for x in (0.286101815283371, 0.28610181528337, 0.2861):
        found = excess(law, x, 1e-6, 1 << 12)
        assert 0 <= found.low <= found.high


def test_unknown_laws_are_named() -> None:
    with pytest.raises(ValueError, match="probabilities of grid cells of some loss are not known"):
        excess(NormalOnIntegers(2.0, 1), 0.0, 1e-6)
