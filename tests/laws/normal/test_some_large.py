"""Sums of sampled Gaussians of which none, one or several losses are marked as large."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal import some_large
from logphi.laws.normal.marked_normal import MarkedNormal
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.some_large import SomeLarge
from logphi.quadrature.values import Line

# what rounding leaves of transforms that are far from one
ROUNDING = 1e-10


def law_of(sigma: float, rate: float) -> MixedNormal:
    found = lp.Gaussian(sigma=sigma).poisson(rate).loss_law().terms[0][0]
    assert isinstance(found, MixedNormal)
    return found


def transform(
    sigma: float, rate: float, z: complex, mark: tuple[float, float] | None = None, side: int = 1, far: float = math.inf
) -> mpmath.mpc:
    """E[w^{z+1}], X marked or not, by quadrature."""
    m, q = 1 / mpmath.mpf(str(sigma)), mpmath.mpf(str(rate))
    middle, width = mark or (0.0, 1.0)

    def density(x):
        kept = mpmath.ncdf(side * (x - mpmath.mpf(middle)) / mpmath.mpf(width)) if mark else 1
        kept -= mpmath.ncdf((x - mpmath.mpf(far)) / mpmath.mpf(width)) if far < math.inf else 0
        return mpmath.npdf(x) * kept * (1 - q + q * mpmath.exp(m * x - m * m / 2)) ** (z + 1)

    near = {middle + k * width for k in (-3, -1, 0, 1, 3)}
    near |= {far + k * width for k in (-3, 0, 3)} if far < math.inf else set()
    ends = sorted({-14.0, -5.0, 0.0, 4.0, *near, middle + 3, 16.0, max(25.0, middle + 9)})
    return mpmath.quad(density, ends)


CASES = [(0.8, 0.01, (3.5, 0.2)), (1.8, 2e-4, (6.0, 0.07)), (0.5, 1e-6, (5.5, 0.3))]
POINTS = [0.3, 2.5, 4.0 + 9.0j, 1.0 + 40.0j]


@pytest.mark.few(2)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("z", POINTS)
@pytest.mark.parametrize(("sigma", "rate", "mark"), CASES)
def test_a_marked_transform_is_its_integral(sigma: Any, rate: Any, mark: tuple[float, float], z: Any, side: Any) -> None:
    with mpmath.workdps(30):
        whole = transform(sigma, rate, z, mark, side)
    values = MarkedNormal(law_of(sigma, rate), *mark, side).log_transform(np.array([z]))
    assert abs(complex(mpmath.exp(complex(values.mid[0])) / whole) - 1) <= math.expm1(values.radius[0]) + 1e-15
    assert values.radius[0] <= ROUNDING or abs(z) > 10


@pytest.mark.few(6)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("c", [0.3, 4.0, 8.0])
@pytest.mark.parametrize("mark", [(3.8, 1e-4), (6.0, 0.02), (5.0, 0.8)])
def test_guesses_hold_next_to_sharp_coins(mark: tuple[float, float], c: float, side: int) -> None:
    truth = mpmath.log(transform(0.8, 0.01, c, mark, side))
    law = MarkedNormal(law_of(0.8, 0.01), *mark, side)
    found = float(law.approximate(np.array([c]))[0])
    assert found == pytest.approx(float(truth), rel=1e-6, abs=1e-9)


# a window of losses, and tilts that draw the law to either end of it
WINDOWS = [(0.8, 0.01, (3.5, 0.2), 6.0), (1.8, 2e-4, (6.0, 0.07), 8.0), (0.11, 1e-6, (5.5, 0.01), 5.9)]


@pytest.mark.few(4)
@pytest.mark.parametrize("z", [0.3, 4.0, 4.0 + 9.0j, 15.0 + 30.0j])
@pytest.mark.parametrize(("sigma", "rate", "mark", "far"), WINDOWS)
def test_a_transform_between_two_ends_is_its_integral(
    sigma: Any, rate: Any, mark: tuple[float, float], far: float, z: Any
) -> None:
    with mpmath.workdps(30):
        whole = transform(sigma, rate, z, mark, 1, far)
    law = MarkedNormal(law_of(sigma, rate), *mark, 1, far)
    values = law.log_transform(np.array([z]))
    assert abs(complex(mpmath.exp(complex(values.mid[0])) / whole) - 1) <= math.expm1(values.radius[0]) + 1e-15
    assert values.radius[0] <= ROUNDING * 100 or abs(z) > 10
    if isinstance(z, float):
        assert float(law.approximate(np.array([z]))[0]) == pytest.approx(float(mpmath.log(whole)), rel=1e-6, abs=1e-9)


@pytest.mark.few(1)
@pytest.mark.parametrize("c", [0.5, 6.0])
@pytest.mark.parametrize(("sigma", "rate", "mark", "far"), WINDOWS[:2])
def test_the_envelope_between_two_ends_holds_and_falls(
    sigma: Any, rate: Any, mark: tuple[float, float], far: float, c: Any
) -> None:
    law = MarkedNormal(law_of(sigma, rate), *mark, 1, far)
    heights = np.linspace(0.5, 300.0, 200)
    values, real = law.log_transform(c + 1j * heights), law.log_transform(np.array([c]))
    known = values.radius < 1
    envelope = law.log_envelope(c, heights)
    assert (values.mid.real - real.mid[0] <= envelope + values.radius + real.radius[0])[known].all()
    # losses of a hundredth hardly turn before these heights
    assert envelope[-1] < -3 or rate < 1e-3


@pytest.mark.parametrize(("side", "far"), [(1, math.inf), (-1, math.inf), (1, 6.0)])
def test_what_is_kept_is_bounded_beside_the_real_line(side: Any, far: float) -> None:
    curve = MarkedNormal(law_of(0.8, 0.01), 3.5, 0.2, side, far).curve

    def below(u: mpmath.mpc) -> mpmath.mpc:
        return mpmath.erfc(-u / mpmath.sqrt(2)) / 2

    for low, high, v in [(1.0, 1.5, 0.6), (3.2, 3.4, 0.1), (4.4, 5.2, 0.5), (4.4, 4.5, 3.0), (7.0, 7.2, 0.3)]:
        bound = float(curve.highest_beside(np.array([low]), np.array([high]), np.array([v]))[0])
        with mpmath.workdps(30):
            for share in (0.0, 0.3, 1.0):
                z = mpmath.mpc(low + share * (high - low), v)
                kept = below(side * (z - 3.5) / 0.2) - (below((z - far) / 0.2) if far < math.inf else 0)
                assert mpmath.log(abs(mpmath.npdf(z) * kept)) <= bound


@pytest.mark.parametrize(("sigma", "rate", "mark"), CASES)
def test_values_on_a_line_are_those_at_points(sigma: Any, rate: Any, mark: tuple[float, float]) -> None:
    law, line = MarkedNormal(law_of(sigma, rate), *mark, 1), Line(2.0, 0.75, 20)
    there, here = law.on_line(line), law.log_transform(line.points)
    turned = (there.mid - here.mid).imag / (2 * math.pi)
    apart = np.hypot((there.mid - here.mid).real, 2 * math.pi * (turned - np.round(turned)))
    assert (apart <= there.radius + here.radius).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("z", [0.5, 1.5, 2.0 + 3.0j])
def test_none_one_and_several_are_all(z):
    kinds = [(0.8, 0.01, (2.0, 0.4), 3), (1.2, 0.03, (1.0, 0.2), 2)]
    laws = tuple((law_of(sigma, rate), count) for sigma, rate, _, count in kinds)
    one = SomeLarge(laws, tuple(mark for *_, mark, _ in kinds), LogPhi(()))
    several = SomeLarge(one.laws, one.marks, one.others, several=True)
    parts = [law.log_transform(np.array([z])) for law in (LogPhi(one.none_large), one, several)]
    with mpmath.workdps(30):
        both = [(transform(s, q, z, mark, -1), transform(s, q, z, mark, 1), n) for s, q, mark, n in kinds]
        none = mpmath.fprod(low**n for low, _, n in both)
        single = none * sum(n * high / low for low, high, n in both)
        truths = [none, single, mpmath.fprod((low + high) ** n for low, high, n in both) - none - single]
        whole = mpmath.fprod(transform(s, q, z) ** n for s, q, _, n in kinds)
        assert abs(sum(truths) / whole - 1) < 1e-20
    for found, truth in zip(parts, truths, strict=True):
        assert abs(complex(mpmath.exp(complex(found.mid[0])) / truth) - 1) <= math.expm1(found.radius[0]) + 1e-15
        assert found.radius[0] <= ROUNDING


def test_two_rare_losses_keep_their_digits():
    mark, z = (7.0, 0.1), 1.0
    several = SomeLarge(((law_of(0.8, 1e-6), 2),), (mark,), LogPhi(()), several=True).log_transform(np.array([z]))
    with mpmath.workdps(30):
        truth = 2 * mpmath.log(transform(0.8, 1e-6, z, mark, 1))
    assert truth < -50
    assert abs(float(several.mid[0]) - float(truth)) <= several.radius[0] + 1e-13
    assert several.radius[0] <= ROUNDING


@pytest.mark.parametrize("z", [1.0, 3.0, 5.0, 3.0 + 1.0j])
def test_two_large_losses_of_different_laws_keep_their_digits_where_one_is_far_rarer(z):
    # one release of each: both are large, and the transform is the product of theirs
    laws, mark = ((law_of(0.3, 1e-3), 1), (law_of(0.3, 1e-20), 1)), (4.0, 0.3)
    several = SomeLarge(laws, (mark, mark), LogPhi(()), several=True)
    both = [MarkedNormal(law, *mark, 1).log_transform(np.array([z])) for law, _ in laws]
    found, truth = several.log_transform(np.array([z])), both[0] + both[1]
    assert abs(np.expm1(found.mid - truth.mid)[0]) <= np.expm1(found.radius + truth.radius)[0]
    assert found.radius[0] <= max(ROUNDING, 2 * truth.radius[0])
    if isinstance(z, float):
        assert several.approximate(np.array([z]))[0] == pytest.approx(float(truth.mid[0]), rel=1e-6)
        bound, _ = several.log_bound(z)
        shares = [
            high.mid[0] - law.log_transform(np.array([z])).mid[0]
            for high, (law, _) in zip(both, several.none_large, strict=True)
        ]
        # at most e^s times the product
        assert 0 <= bound - truth.mid[0] <= sum(math.exp(share) for share in shares) + 1e-6


def test_the_envelope_holds_where_one_large_loss_is_far_rarer():
    laws, mark, heights = ((law_of(0.3, 1e-3), 1), (law_of(0.3, 1e-20), 1)), (4.0, 0.3), np.geomspace(0.1, 4.0, 60)
    several = SomeLarge(laws, (mark, mark), LogPhi(()), several=True)
    parts = [MarkedNormal(law, *mark, 1) for law, _ in laws]
    for c in (0.5, 3.0):
        values = [part.log_transform(c + 1j * heights) for part in parts]
        real = [part.log_transform(np.array([c])) for part in parts]
        known = np.all([value.radius < 1 for value in values], axis=0)
        fall = sum(value.mid.real - at.mid[0] for value, at in zip(values, real, strict=True))
        room = sum(value.radius + at.radius[0] for value, at in zip(values, real, strict=True))
        assert (fall <= several.log_envelope(c, heights) + room)[known].all()
        assert known.sum() > 20


def test_the_sum_of_several_is_known_where_it_nearly_vanishes():
    # e^S - 1 - S is zero near this S, where a relative error of it would be nothing
    root = mpmath.findroot(lambda s: mpmath.exp(s) - 1 - s, mpmath.mpc(2.0888, 7.4615))
    count = 10**6
    ratio = np.array([complex(mpmath.expm1(root / count))])
    with mpmath.workdps(40):
        exact = (1 + mpmath.mpc(ratio[0])) ** count - 1 - count * mpmath.mpc(ratio[0])
    found = some_large._Grown.none((1,), np.dtype(complex)).with_law(ratio, np.zeros(1), count)
    assert abs(complex(exact) - found.second[0]) <= found.of_second[0] < 1e-10


def test_the_sum_of_several_is_within_its_error_where_it_underflows():
    """A square of e^-730 is a double of a few bits."""
    ratio, count = np.exp(np.array([-365.0 + 0.3j])), 14
    with mpmath.workdps(700):
        exact = mpmath.fsum(mpmath.binomial(count, k) * mpmath.mpc(ratio[0]) ** k for k in (2, 3))
        found = some_large._Grown.none((1,), np.dtype(complex)).with_law(ratio, np.zeros(1), count)
        assert abs(exact - mpmath.mpc(found.second[0])) <= found.of_second[0] < 1e-299


@pytest.mark.few(3)
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("c", [0.5, 4.0])
def test_the_envelope_holds_and_falls(several, c):
    laws = ((law_of(0.9, 1e-3), 4), (law_of(1.1, 2e-3), 1))
    law = SomeLarge(laws, ((4.0, 0.2), (4.0, 0.1)), LogPhi(()), several=several)
    heights = np.linspace(0.5, 400.0, 300)
    values, real = law.log_transform(c + 1j * heights), law.log_transform(np.array([c]))
    known = values.radius < 1
    envelope = law.log_envelope(c, heights)
    assert (values.mid.real - real.mid[0] <= envelope + values.radius + real.radius[0])[known].all()
    assert (np.diff(envelope) <= 1e-12).all()
    assert envelope[-1] < -3


def test_the_approximation_is_near():
    law = SomeLarge(((law_of(0.9, 1e-3), 400),), ((4.0, 0.2),), LogPhi(()))
    c = np.array([0.5, 3.0, 10.0])
    for part in (law, SomeLarge(law.laws, law.marks, law.others, several=True)):
        assert np.abs(part.approximate(c) - part.log_transform(c).mid).max() < 1e-6


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("c", [0.5, 3.0])
def test_the_bound_is_above_the_transform_and_near_it(several, c):
    laws = ((law_of(0.9, 1e-3), 400), (law_of(1.1, 2e-3), 3))
    law = SomeLarge(laws, ((5.0, 0.2), (5.0, 0.1)), LogPhi(()), several=several)
    found, (bound, _) = law.log_transform(np.array([c])), law.log_bound(c)
    assert found.mid[0] - found.radius[0] <= bound
    assert bound - found.mid[0] < 2.0


def test_the_bound_holds_where_two_large_losses_underflow():
    mark, c = (31.3, 0.058), 11.3
    law = SomeLarge(((law_of(2.5, 1.2e-6), 887),), (mark,), LogPhi(()), several=True)
    assert not law.log_transform(np.array([c])).radius[0] < 1
    with mpmath.workdps(30):
        truth = mpmath.log(887 * 886 / 2) + 2 * mpmath.log(transform(2.5, 1.2e-6, c, mark, 1))
    bound, _ = law.log_bound(c)
    assert truth < -900
    assert 0 <= bound - truth < 0.01


def test_one_large_loss_is_known_where_another_is_far_rarer():
    """Between a ratio of e^-11 and one of e^-600 the first decides."""
    kinds = [("0.786", "0.00085", (6.056, 0.00545), 6.2215), ("6.1", "0.0027", (35.108, 0.0422), 36.453)]
    laws = tuple((law_of(float(sigma), float(rate)), 1) for sigma, rate, *_ in kinds)
    one = SomeLarge(laws, tuple(mark for *_, mark, _ in kinds), LogPhi(()), ends=tuple(far for *_, far in kinds))
    found = one.log_transform(np.zeros(1))
    with mpmath.workdps(30):
        (low, high), (other, rarer) = (
            (transform(float(s), float(q), 0.0, mark, -1), transform(float(s), float(q), 0.0, mark, 1, far))
            for s, q, mark, far in kinds
        )
        truth = float(mpmath.log(high * other + low * rarer))
    assert abs(found.mid[0] - truth) <= found.radius[0] <= ROUNDING


FAR_OUT = (4.275755756969499, 1.1050735177736731e-05, (35.05, 0.0258))


def test_a_share_below_all_doubles_keeps_its_digits() -> None:
    sigma, rate, (middle, width) = FAR_OUT
    law = SomeLarge(((law_of(sigma, rate), 4647),), ((middle, width),), LogPhi(()))
    with mpmath.workdps(30):
        m, q, spread = 1 / mpmath.mpf(str(sigma)), mpmath.mpf(str(rate)), mpmath.sqrt(1 + mpmath.mpf(width) ** 2)
        large = (1 - q) * mpmath.ncdf(-middle / spread) + q * mpmath.ncdf((m - middle) / spread)
        truth = float(mpmath.log(4647 * large) + 4646 * mpmath.log1p(-large))
    found = law.log_transform(np.array([0.0]))
    assert abs(found.mid[0] - truth) <= found.radius[0] <= ROUNDING


def test_a_curve_that_a_coin_cuts_off_far_out_is_known_under_large_tilts() -> None:
    sigma, rate, mark = FAR_OUT
    values = MarkedNormal(law_of(sigma, rate), *mark, -1).log_transform(np.array([6955.0]))
    with mpmath.workdps(30):
        truth = float(mpmath.log(transform(sigma, rate, 6955.0, mark, -1)))
    assert abs(values.mid[0] - truth) <= values.radius[0] + 1e-15
    assert values.radius[0] <= ROUNDING
