"""Bounds of large losses that coins mark."""

from __future__ import annotations

import math

import mpmath
import pytest

import logphi as lp
from logphi.engine.large_losses.excess import LargeLosses, Rest, Tails
from logphi.laws.normal.clipped import ClippedNormal
from logphi.laws.normal.mixed_normal import MixedNormal

CASES = [(0.8, 0.01, 5.0, 0.2), (2.5, 1e-5, 24.0, 0.05), (0.11, 1e-6, 5.6, 0.01), (8.0, 0.02, 20.0, 2.0)]


def integral(case: tuple[float, float, float, float], power: float) -> mpmath.mpf:
    """The logarithm of E_Q[w^power; the coin exceeds the end]."""
    sigma, rate, end, width = case
    m, q = 1 / mpmath.mpf(str(sigma)), mpmath.mpf(str(rate))

    def log_density(x):
        kept = mpmath.log(mpmath.ncdf((x - end) / width))
        return kept - x * x / 2 + power * mpmath.log(1 - q + q * mpmath.exp(m * x - m * m / 2))

    low, high, top = -12.0, end + 25.0, mpmath.mpf(0)
    for _ in range(4):
        places = [low + (high - low) * k / 60 for k in range(61)]
        logs = [log_density(mpmath.mpf(place)) for place in places]
        top = max(logs)
        kept = [k for k, one in enumerate(logs) if one > top - 90]
        low, high = places[max(kept[0] - 1, 0)], places[min(kept[-1] + 1, 60)]
    steps = [low + (high - low) * k / 20 for k in range(21)]
    return top + mpmath.log(mpmath.quad(lambda x: mpmath.exp(log_density(x) - top), steps) / mpmath.sqrt(2 * mpmath.pi))


@pytest.mark.few(2)
@pytest.mark.parametrize("case", CASES)
def test_masses_and_decay_of_marked_tails(case: tuple[float, float, float, float]) -> None:
    sigma, rate, end, width = case
    law = lp.Gaussian(sigma=sigma).poisson(rate).loss_law().terms[0][0]
    assert isinstance(law, MixedNormal)
    tails = Tails.marked(((law, 3),), [end], [width])
    ((part, count),) = tails.parts
    with mpmath.workdps(20):
        mass, other = integral(case, 0.0), integral(case, 1.0)
        more = mpmath.log(mpmath.expm1(other - mass)) + mass
        assert count == 3
        assert abs(mass - part.log_mass) <= part.error + 1e-13
        assert abs(more - part.log_more) <= part.error + 1e-13
        steepest = 3 / (width * float(law.ratio.slope(end)[0, 0]))
        for v in (0.01 * steepest, 0.3 * steepest, steepest, 10 * steepest):
            decay = float(integral(case, -v) - mass)
            assert decay <= tails.log_decay(v)
            assert v > steepest or tails.log_decay(v) - decay < 8


def test_a_cap_is_below_hardly_any_marked_loss():
    law = lp.Gaussian(sigma=0.8).poisson(0.01).loss_law().terms[0][0]
    assert isinstance(law, MixedNormal)
    end = Tails.end_above(2.0, law, 0.2)
    tails = Tails.marked(((law, 1),), [end], [0.2])
    below = [share for least, share in zip(tails.leasts, tails.log_shares, strict=True) if least < 2.0 * (1 - 1e-9)]
    assert max(below) < math.log(1e-15)


def test_errors_of_tails_count_by_their_shares() -> None:
    """A law of small losses, whose tails err by more, has none of them above the cap."""
    few, many = lp.Gaussian(sigma=0.36).poisson(4e-4), lp.Gaussian(sigma=28.0).poisson(1e-4)
    loss = (few + 388 * many).loss_law()
    cap = 8.5
    laws = [(ClippedNormal.at(law, cap), count) for law, count in loss.terms if isinstance(law, MixedNormal)]
    own, other = sorted(law.upper_tail.error for law, _ in laws)
    found = LargeLosses.of(Tails.clipped(laws), loss, Rest.near(loss, 8.0, 8.0))
    assert found.error < 10 * own + 1e-14 < other
    end = next(law for law, count in laws if count == 1).end
    with mpmath.workdps(30):
        m, q = 1 / mpmath.mpf(0.36), mpmath.mpf(4e-4)
        mass = mpmath.ncdf(-mpmath.mpf(end))
        more = q * (mpmath.ncdf(m - end) - mass)
        unit = mpmath.exp(found.log_unit)
        # doubles that are exponentials of logarithms near 20 err by their roundings
        assert abs(found.mass * unit / mass - 1) <= found.error + 1e-14
        assert abs(found.excess_mass * unit / more - 1) <= found.error + 1e-14
