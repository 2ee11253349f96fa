"""Bent contours against a quadrature over outputs, which knows no transform."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logphi.inversion.bent import guess
from logphi.inversion.bent import layout as bent_layout
from logphi.inversion.bent.clipped_ceiling import SampledPairs
from logphi.inversion.bent.contour import Branch
from logphi.inversion.bent.forecast import forecast
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Part
from slowly import slowly
from two_samples import Pair, two_deltas

# what doubles leave of the quadrature over outputs, relatively
ORACLE = 1e-10
# two scales of losses; equal pairs at tiny rates; much noise; little noise; large rates
PAIRS: list[tuple[Pair, Pair]] = [
    ((2.648, 1.687e-6), (2.648, 1.687e-6)),
    ((5.55, 3.3e-4), (7.18, 0.03)),
    ((122.0, 7.7e-7), (122.0, 7.7e-7)),
    ((900.0, 8e-7), (12.0, 6.5e-3)),
    ((0.9, 2e-5), (1.4, 3e-4)),
    ((8.7, 0.12), (3.0, 0.4)),
]
# little noise at tiny rates: at zero
NARROW_PAIRS: list[tuple[Pair, Pair]] = [
    ((0.11, 4.5e-7), (0.11, 4.5e-7)),
    ((0.126, 8e-7), (0.35, 2e-4)),
    ((0.2, 5e-3), (2.0, 1e-3)),
]


def terms_of(pairs: tuple[Pair, ...]) -> SampledPairs:
    return tuple((1 / sigma, q, 2e-16, 2e-16, 1) for sigma, q in pairs)


def spread_of(pairs: tuple[Pair, ...]) -> float:
    return math.sqrt(sum(q * q * math.expm1(1 / sigma**2) for sigma, q in pairs))


def assert_encloses(pairs: tuple[Pair, Pair], x: float, rtol: float, width: float) -> None:
    prepared = bent_layout.prepare(terms_of(pairs), x, Demand(rtol))
    assert prepared is not None
    found = prepared.at(x)
    truth = two_deltas(*pairs, x)
    if found.part is Part.REVERSED:
        # both are one functional but for E[1 - e^{x-X}]
        truth += math.expm1(x)
    low, high = (math.exp(end) for end in found.amount.log_ends)
    slack = ORACLE * (truth + max(-math.expm1(x), 0.0))
    assert low - slack <= truth <= high + slack
    assert high - low <= width * high


@pytest.mark.few(13)
@pytest.mark.parametrize("pairs", PAIRS)
@pytest.mark.parametrize("spreads", [0.0, 0.7, 2.5])
def test_profiles_right_of_zero_hold_the_truth_and_are_narrow(pairs: tuple[Pair, Pair], spreads: float) -> None:
    assert_encloses(pairs, spreads * spread_of(pairs), 1e-9, 1e-7)


@pytest.mark.parametrize("pairs", PAIRS)
def test_profiles_left_of_zero_hold_the_truth_and_are_narrow(pairs: tuple[Pair, Pair]) -> None:
    x = -0.4 * min(spread_of(pairs), sum(q for _, q in pairs))
    assert_encloses(pairs, x, 1e-9, 1e-7)


@pytest.mark.parametrize("pairs", NARROW_PAIRS)
def test_profiles_of_little_noise_at_zero_hold_the_truth_and_are_narrow(pairs: tuple[Pair, Pair]) -> None:
    assert_encloses(pairs, 0.0, 1e-9, 1e-7)


@pytest.mark.parametrize("pairs", PAIRS)
def test_bounds_hold_at_every_threshold(pairs: tuple[Pair, Pair]) -> None:
    spread = spread_of(pairs)
    prepared = bent_layout.prepare(terms_of(pairs), spread, Demand(1e-9))
    assert prepared is not None
    for x in (0.0, 0.5 * spread, 1.3 * spread, 4 * spread):
        found, truth = prepared.at(x).amount, two_deltas(*pairs, x)
        low, high = found.log_ends
        assert math.exp(low) <= truth * (1 + ORACLE)
        assert high >= math.log(truth) - ORACLE


@pytest.mark.parametrize("pairs", PAIRS)
def test_what_is_promised_is_kept(pairs: tuple[Pair, Pair]) -> None:
    terms, x = terms_of(pairs), spread_of(pairs)
    found = forecast(terms, x, Demand(1e-9))
    prepared = bent_layout.prepare(terms, x, Demand(1e-9))
    assert found is not None
    assert prepared is not None
    amount = prepared.at(x).amount
    # a guess of rounding, within the factor that guesses of its parts may be wrong by
    assert amount.relative_width <= 100 * max(found.width, 1e-11) + 1e-9
    # the answer lies some digits below what was guessed, and never far above
    assert -15 <= math.log(amount.value) + amount.log_scale - found.log_answer <= 3


@pytest.mark.parametrize("pairs", PAIRS)
def test_arcs_are_bounded(pairs: tuple[Pair, Pair]) -> None:
    x = spread_of(pairs)
    found = forecast(terms_of(pairs), x, Demand(1e-9))
    assert found is not None
    plan = found.plan
    for side in (-1, 0, 1):
        curve = plan.curve.confocal(plan.curve.angle + side * plan.spread)
        bounds = Branch.of(curve, plan.laws, plan.edges).log_sizes(x)
        shares = np.linspace(0.0, 1.0, 7)[:, None]
        u = plan.edges[:-1] + shares * np.diff(plan.edges)
        z = curve.at(u)
        total = np.zeros(z.shape)
        for one in plan.laws:
            moments = one.law.moments(z.ravel(), one.count)
            least = np.abs(1 + moments.value) - moments.rounding - moments.inner
            # of a sum below its own error nothing is known from below
            known = least > 0
            total += one.count * np.where(known, np.log(np.where(known, least, 1.0)), -np.inf).reshape(z.shape)
        size = total - x * z.real - np.log(np.abs(z * (z + 1)))
        assert (size <= bounds + 1e-6).all()
        # the bound of an arc is not far above its largest value where the integrand is not negligible
        largest = size.max(axis=0)
        assert (bounds - largest)[largest > largest.max() - 15].max() < 3


@slowly
@given(
    st.tuples(st.floats(-0.3, 3.0), st.floats(-7.0, -0.5)),
    st.tuples(st.floats(-0.3, 3.0), st.floats(-7.0, -0.5)),
    st.floats(-0.5, 3.0),
)
@settings(max_examples=60, deadline=None)
def test_random_pairs(first: tuple[float, float], second: tuple[float, float], spreads: float) -> None:
    pairs = (10 ** first[0], 10 ** first[1]), (10 ** second[0], 10 ** second[1])
    least = sum(math.log1p(-q) for _, q in pairs)
    x = max(spreads * spread_of(pairs), 0.5 * least)
    if bent_layout.prepare(terms_of(pairs), x, Demand(1e-9)) is not None:
        assert_encloses(pairs, x, 1e-9, math.inf)


def test_guesses_are_not_made_where_they_take_long():
    # with m = 1e8 there would be 1e17 places
    assert guess.log_guess(((1e8, 0.2, 1e-16, 1e-16, 6),), 0.5) is None
