"""TwoComponents of several shifts: transforms, envelopes and profiles of one release against mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from exact import dec
from logphi.arith.mp import MULTIPRECISION
from logphi.arith.protocol import Multiple, Plain
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.weights import Binomial, Listed, SampledWeights
from logphi.quadrature.mixtures.log_ratio import TwoComponents
from logphi.quadrature.mixtures.mixture_envelope import log_mixture_envelope
from logphi.quadrature.mixtures.mixture_trapezoid import on_line
from logphi.quadrature.values import Line

DIGITS = 34
# what the quadrature of the reference is off by, far below every radius
REFERENCE = mpf(10) ** -24


def listed(shifts, probabilities):
    law = MixtureOfShifts(tuple(Plain(c) for c in shifts), Listed(tuple((p,) for p in probabilities)))
    total = mpmath.fsum(dec(p) for p in probabilities)
    return law, [dec(c) for c in shifts], [dec(p) / total for p in probabilities]


def grouped(shift, size, rate):
    law = MixtureOfShifts((Plain(0.0), *(Multiple(Plain(shift), j) for j in range(1, size + 1))), Binomial(size, rate))
    q = dec(rate)
    weights = [mpmath.binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]
    return law, [j * dec(shift) for j in range(size + 1)], weights


def sampled(shifts, probabilities, rate):
    base, places, weights = listed(shifts, probabilities)
    alone, q = shifts[0] > 0, dec(rate)
    law = MixtureOfShifts((Plain(0.0), *base.shifts) if alone else base.shifts, SampledWeights(base.weights, rate, alone))
    own = [q * weight for weight in weights]
    return (law, [mpf(0), *places], [1 - q, *own]) if alone else (law, places, [1 - q + own[0], *own[1:]])


CASES = {
    "with-rest": lambda: listed((0.0, 1.0, 2.0), (0.5, 0.3, 0.2)),
    "no-rest": lambda: listed((0.3, 1.0, 2.0), (0.2, 0.3, 0.5)),
    "small": lambda: listed((0.001, 0.0025), (0.4, 0.6)),
    "far-apart": lambda: listed((0.0, 1e-3, 5.0), (0.9, 0.0999, 1e-4)),
    "high": lambda: listed((1.0, 6.0), (0.999, 0.001)),
    "group": lambda: grouped(0.3, 4, 0.05),
    "many": lambda: grouped(0.01, 40, 0.4),
    "thinned": lambda: sampled((0.0, 0.5, 1.5), (0.5, 0.25, 0.25), 0.01),
    "thinned-alone": lambda: sampled((0.5, 1.5), (0.5, 0.5), 0.125),
}

# the quadrature of their references takes long
SLOW = ("no-rest", "far-apart", "high", "many", "thinned")


def log_mean(z, shifts, weights):
    """log E[w^{z+1}], relatively accurate: E[w - 1] = 0 is taken out."""
    power = mpmath.mpc(z) + 1

    def inside(x):
        gain = mpmath.fsum(p * mpmath.expm1(c * x - c * c / 2) for c, p in zip(shifts, weights, strict=True))
        return mpmath.npdf(x) * (mpmath.exp(power * mpmath.log1p(gain)) - 1 - power * gain)

    top, real = float(max(shifts)), complex(z).real + 1
    low, high = min(0.0, top * real) - 12.5, max(0.0, top, top * real) + 12.5
    panels = int((high - low) / min(1.5, 4 / top) + abs(complex(z).imag) * top * (high - low) / 20) + 3
    return mpmath.log1p(mpmath.quad(inside, list(np.linspace(low, high, panels)), method="gauss-legendre", maxdegree=5))


def check(values, index, exact, count=1):
    gap = count * exact - count * mpmath.mpc(complex(values.mid[index]))
    turn = 2 * mpmath.pi
    gap -= 1j * turn * mpmath.nint(gap.imag / turn)
    assert abs(gap) <= count * (mpf(float(values.radius[index])) + REFERENCE), (float(abs(gap)), values.radius[index])


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CASES])
def test_the_transform_is_honest_and_relatively_accurate(name):
    with mpmath.workdps(DIGITS):
        law, shifts, weights = CASES[name]()
        batch = len(shifts) > 10
        for z in [0.5] if batch else [-0.4, 2.5]:
            values = law.log_transform(np.array([z]), 10**6)
            exact = log_mean(z, shifts, weights)
            check(values, 0, exact.real)
            assert values.rounding[0] <= 2e-12 * abs(exact)
            assert values.inner[0] <= 2e-22
            assert law.approximate(np.array([z]))[0] == pytest.approx(float(exact.real), rel=1e-3)
        line = Line(0.5, 1.0, 4)
        fast, direct = law.on_line(line), law.log_transform(line.points)
        for index in (3,):
            exact = log_mean(complex(line.points[index]), shifts, weights)
            check(fast, index, exact)
            check(direct, index, exact)
            assert fast.radius[index] <= 1e-9 * abs(exact) * math.exp(max(0.0, -float(exact.real)))


@pytest.mark.parametrize("name", ["with-rest", "no-rest", "group"])
def test_the_formula_says_the_same(name):
    law, shifts, weights = CASES[name]()
    with mpmath.workdps(20):
        gap = law.formula(MULTIPRECISION, mpf(1)) - log_mean(1.0, shifts, weights).real
        assert abs(gap) < 1e-14


def test_masses_are_one():
    for make in CASES.values():
        values = make()[0].log_transform(np.array([-1.0, 0.0]), 10**6)
        assert np.all(np.abs(values.mid) <= values.radius)
        assert np.all(values.radius <= 1e-12)


@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.6])
def test_one_shift_is_the_mixture_of_two(rate):
    blend = listed((0.0, 0.8), (1 - rate, rate))[0]
    pair = MixedNormal(Plain(0.8), Plain(rate))
    for line in (Line(3.0, 0.5, 50), Line(-0.3, 40.0, 20)):
        one, two = blend.on_line(line), pair.on_line(line)
        known = np.isfinite(one.radius) & np.isfinite(two.radius)
        assert known[:10].all()
        gap = (one.mid - two.mid)[known]
        gap -= 2j * np.pi * np.round(gap.imag / (2 * np.pi))
        assert np.all(np.abs(gap) <= (one.radius + two.radius)[known])
        heights = line.heights[1:]
        ours = blend.log_envelope(line.abscissa, heights)
        theirs = LogPhi.of([(pair, 1)]).log_envelope(line.abscissa, heights)
        near = theirs > -20
        np.testing.assert_allclose(ours[near], theirs[near], rtol=1e-3, atol=2e-11)


def test_a_contour_that_is_moved_tells_the_same():
    law, shifts, weights = listed((0.0, 0.5, 1.2), (0.9, 0.06, 0.04))
    line = Line(0.7, 20.0, 40)
    values = law.on_line(line)
    x, step = np.linspace(-13, 15, 200_001, retstep=True)
    parts = [float(p) * np.exp(float(c) * x - float(c) ** 2 / 2) for c, p in zip(shifts, weights, strict=True)]
    loss = np.log(sum(parts))
    weight = np.exp(1.7 * loss - x * x / 2) * step / math.sqrt(2 * math.pi)
    for index in (1, 7, 30):
        exact = (weight * np.exp(1j * line.heights[index] * loss)).sum()
        found = np.exp(values.mid[index])
        slack = np.expm1(min(values.radius[index], 1.0)) * abs(found) + 1e-13 * weight.sum()
        assert abs(exact - found) <= slack
    assert values.radius[1] < 1e-9


def draw(rng):
    size, top = int(rng.integers(2, 6)), 10 ** rng.uniform(-1.5, 0.9)
    shifts = np.sort(rng.uniform(0, 1, size) ** rng.choice([1, 3])) * top
    shifts[-1] = top
    shifts[0] *= rng.random() < 0.4
    probabilities = np.maximum(rng.dirichlet(np.full(size, rng.choice([0.2, 1.0]))), 1e-6)
    return shifts.tolist(), (probabilities / probabilities.sum()).tolist()


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(14))
def test_the_envelope_is_above_here_and_beyond(seed):
    rng = np.random.default_rng(seed)
    shifts, probabilities = draw(rng)
    law, top = listed(shifts, probabilities)[0], max(shifts)
    c = rng.choice([rng.uniform(-1, 0), 10 ** rng.uniform(-2, 1.3), -1 - 10 ** rng.uniform(-2, 1.5)])
    heights = np.geomspace(1e-2, 300, 30) / rng.choice([1, top])
    envelope = law.log_envelope(c, heights)
    x, step = np.linspace(min(0, top * (c + 1)) - 13, max(0, top * (c + 1)) + 13, 30001, retstep=True)
    terms = [math.log(p) + s * x - s * s / 2 for s, p in zip(shifts, probabilities, strict=True)]
    loss = np.logaddexp.reduce(terms, axis=0)
    weight = np.exp((c + 1) * loss - x * x / 2 - ((c + 1) * loss - x * x / 2).max())
    weight /= weight.sum()
    # the sum resolves its phase
    seen = heights * top * step < 2.5
    moduli = [max(abs((weight * np.exp(1j * t * loss)).sum()) - 1e-13, 1e-300) for t in heights[seen]]
    beyond = np.maximum.accumulate(np.log(moduli)[::-1])[::-1]
    assert np.all(beyond <= envelope[seen] + 1e-13)
    assert np.all(envelope <= 0)
    assert np.all(np.diff(envelope) <= 0)


def test_a_nearly_normal_law_keeps_its_decay():
    law, shifts, weights = listed((0.02, 0.05, 0.06), (0.3, 0.3, 0.4))
    mean = float(mpmath.fsum(c * p for c, p in zip(shifts, weights, strict=True)))
    heights = np.geomspace(0.2, 2.0, 8) / mean
    values = law.log_transform(2.0 + 1j * np.append(0.0, heights)).mid.real
    ratio = law.log_envelope(2.0, heights) / (values[1:] - values[0])
    assert np.all(ratio > 0.97)


def profile(x, shifts, weights, reflected):
    """E_Q[(w - e^x)_+], or E_Q[(e^x - w)_+], in output space; digits enough for the cancellation."""

    def ratio(t):
        return mpmath.fsum(p * mpmath.exp(c * t - c * c / 2) for c, p in zip(shifts, weights, strict=True))

    level = mpmath.exp(mpf(x))
    low, high = mpf(-64), mpf(64)
    for _ in range(130):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) < level else (low, middle)

    def above(t):
        return mpmath.erfc(t / mpmath.sqrt(2)) / 2

    moving = mpmath.fsum(p * above((c - low) if reflected else (low - c)) for c, p in zip(shifts, weights, strict=True))
    return level * above(-low) - moving if reflected else moving - level * above(low)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(16))
def test_one_release_in_both_directions_far_into_the_tails(seed):
    rng = np.random.default_rng(seed)
    shifts, probabilities = draw(rng)
    if rng.random() < 0.5:
        law, places, weights = listed(shifts, probabilities)
    else:
        law, places, weights = grouped(10 ** rng.uniform(-1.5, 0), int(rng.integers(2, 8)), float(rng.uniform(0.05, 0.9)))
    root = rng.uniform(-33, 33)
    x = float(law.ratio.value(root)[0, 0])
    with mpmath.workdps(330):
        for reflected in (False, True):
            found = law.reversed_excess(x) if reflected else law.excess(x)
            exact, scale = profile(x, places, weights, reflected), mpmath.exp(mpf(found.log_scale))
            assert found.low * scale <= exact <= found.high * scale
            # the distance to the infimum, of which doubles tell few digits, is what a reflected law is about
            if places[0] > 0 or root > 0:
                assert found.relative_width < 1e-8


def test_the_profile_next_to_the_infimum():
    law, places, weights = listed((0.0, 2.0, 3.0), (0.75, 0.125, 0.125))
    infimum = math.log(0.75)
    with mpmath.workdps(60):
        for x in (infimum - 1.0, infimum - 1e-9, infimum, infimum + 1e-15, infimum + 1e-9):
            found = law.excess(x)
            exact = profile(x, places, weights, False) if x > infimum else 1 - mpmath.exp(mpf(x))
            scale = mpmath.exp(mpf(found.log_scale))
            assert found.low * scale <= exact <= found.high * scale
            assert found.relative_width < 1e-11
        assert law.reversed_excess(infimum - 1e-9).high == 0
    assert law.support.lower <= infimum
    assert law.support.lower + law.support.error >= infimum


def test_weights_below_every_double_are_kept():
    # C(1000, j) q^j is far below 1e-308 for most j, and e^{j m x} makes up for it far out
    law = grouped(0.05, 1000, 1e-3)[0]
    found = law.log_transform(np.array([0.5]))
    assert found.radius[0] <= 1e-9 * found.mid[0]
    # K(z) is about z (z + 1)/2 times the variance of w, E[e^{m^2 J J'}] - 1 with two binomial numbers of mean one
    assert found.mid[0] == pytest.approx(0.375 * 0.05**2, rel=0.05)


def test_many_mixtures_of_one_shift_stay_as_they_were():
    rng = np.random.default_rng(3)
    many = TwoComponents(rng.uniform(0.2, 2, 5), 10 ** rng.uniform(-3, -0.1, 5), np.ones(5))
    line = Line(0.7, 0.05, 16)
    laws = [listed((0.0, m), (1 - q, q))[0] for m, q in zip(many.shift.tolist(), many.rate.tolist(), strict=True)]
    total, parts = on_line(many, line), [law.on_line(line) for law in laws]
    gap = np.abs(total.mid - sum(part.mid for part in parts))
    assert np.all(gap <= total.radius + sum(part.radius for part in parts))
    envelope = log_mixture_envelope(many, 0.7, line.heights[1:])
    assert envelope.shape == (5, 15)
