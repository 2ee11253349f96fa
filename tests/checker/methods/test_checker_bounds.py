"""What the checker's verdicts rest on, against independent integrals: enclosures contain, and bounds of decay are above."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

flint = pytest.importorskip("flint")

from flint import acb, arb  # noqa: E402

import proven  # noqa: E402
from logphi.checker.arithmetic.balls import ball, exactly, precision  # noqa: E402
from logphi.checker.laws.composition import Composition  # noqa: E402
from logphi.checker.laws.finite import DiscreteGaussian, Finite  # noqa: E402
from logphi.checker.laws.law import Reversed  # noqa: E402
from logphi.checker.laws.normal import Normal  # noqa: E402
from logphi.checker.laws.normal_mixtures import NormalMixtures, sampled_group  # noqa: E402
from logphi.checker.laws.normal_pair import NormalPair  # noqa: E402
from logphi.checker.laws.sampled_uniform import SampledUniform  # noqa: E402
from logphi.checker.laws.subset_normal import SubsetNormal  # noqa: E402
from logphi.checker.laws.uniform import bounded_range, laplace, truncated_laplace  # noqa: E402

ZERO = (exactly(1), Fraction(0))


def mixture(*pairs: tuple[str, str]) -> tuple[Any, ...]:
    return tuple((exactly(Fraction(weight)), Fraction(shift)) for weight, shift in pairs)


SAMPLED = NormalMixtures(mixture(("0.9", "0"), ("0.1", "1.25")), (ZERO,))
THREE = NormalMixtures(mixture(("0.5", "0.5"), ("0.3", "1"), ("0.2", "2")), (ZERO,))
BOTH = NormalMixtures(mixture(("0.7", "0"), ("0.3", "0.5")), mixture(("0.7", "0"), ("0.3", "-0.5")))
# a law, and u and v as functions for mpmath
LAPLACE = laplace(exactly(Fraction(1, 2)))
LAWS: dict[str, Any] = {
    "sampled": SAMPLED,
    "sampled, reversed": SAMPLED.reversed(),
    "three": THREE,
    "three, reversed": THREE.reversed(),
    "both": BOTH,
    "wide": NormalPair(Fraction(11, 10), Fraction(1, 100)),
    "narrow": NormalPair(Fraction(10, 11), Fraction(1, 121)),
    "Laplace": LAPLACE,
    "flat": bounded_range(exactly(Fraction(2))),
    "sampled Laplace": SampledUniform(LAPLACE, Fraction(1, 5)),
    "sampled Laplace, reversed": SampledUniform(LAPLACE, Fraction(1, 5)).reversed(),
    "failing": SampledUniform(laplace(exactly(Fraction(1, 2)), exactly(Fraction(1, 100))), Fraction(1, 5)),
    "truncated Laplace": truncated_laplace(Fraction(1, 2), Fraction(2)),
    "sampled truncated Laplace": SampledUniform(truncated_laplace(Fraction(1, 2), Fraction(2)), Fraction(1, 5)),
    "spliced": SubsetNormal(Fraction(1, 2), Fraction(1, 10)),
}


def density(x, centre, width=1):
    return mpmath.npdf(x, centre, width)


def noise(x, centre):
    return mpmath.exp(-abs(x - centre)) / 2


def within(x, centre):
    """The density of Laplace noise within two scales."""
    return noise(x, centre) / -mpmath.expm1(-2) if abs(x - centre) <= 2 else mpmath.mpf(0)


def mass(shifts, x):
    with precision(140):
        numbers = [(mpmath.mpf(weight().str(35, radius=False)), shift) for weight, shift in shifts]
    return sum(weight * density(x, mpmath.mpf(shift.numerator) / shift.denominator) for weight, shift in numbers)


def moment(name: str, z: Any) -> Any:
    """M(z), straight from the two laws."""
    law = LAWS[name]
    if isinstance(law, NormalMixtures):
        pair = lambda x: (mass(law.p, x), mass(law.q, x))  # noqa: E731
        breaks = [-12, -4, 0, 4, 12, 20]
    elif isinstance(law, NormalPair):
        r, d = (
            mpmath.mpf(law.ratio.numerator) / law.ratio.denominator,
            mpmath.sqrt(law.squared_distance.numerator) / law.squared_distance.denominator**0.5,
        )
        pair = lambda x: (density(x, d, r), density(x, 0))  # noqa: E731
        breaks = [-40, -12, -4, 0, 4, 12, 40]
    elif name == "spliced":
        p, q, g = lambda x: density(x, 0.5), lambda x: density(x, 0), mpmath.mpf("0.1")
        above = mpmath.quad(lambda x: ((1 - g) * q(x) + g * p(x)) ** (1 + z) * q(x) ** -z, [0.25, 4, 14])
        below = mpmath.quad(lambda x: p(x) ** (1 + z) * ((1 - g) * p(x) + g * q(x)) ** -z, [-14, -4, 0.25])
        rest = 1 - mpmath.quad(lambda x: (1 - g) * q(x) + g * p(x), [0.25, 4, 14]) - mpmath.quad(p, [-14, -4, 0.25])
        return above + below + rest
    elif name == "flat":
        return mpmath.quad(lambda y: mpmath.exp((z + 0.5) * y), [-2, 0, 2]) / mpmath.quad(
            lambda y: mpmath.exp(y / 2), [-2, 0, 2]
        )
    elif name == "failing":
        g, f = mpmath.mpf("0.2"), mpmath.mpf("0.01")
        pair = lambda x: (g * noise(x, 0.5) + (1 - g) * noise(x, 0), noise(x, 0))  # noqa: E731
        return (1 - f) * integral(pair, [-60, 0, 0.5, 60], z) + f * (1 - g) ** (1 + z)
    elif "truncated" in name:
        g = mpmath.mpf("0.2") if isinstance(law, SampledUniform) else 1
        pair = lambda x: (g * within(x, 0.5) + (1 - g) * within(x, 0), within(x, 0))  # noqa: E731
        breaks = [-2, mpmath.mpf(-1.5), 0, mpmath.mpf(0.5), 2]
    else:
        g = mpmath.mpf("0.2") if isinstance(law, SampledUniform | Reversed) else 1
        there = lambda x: (g * noise(x, 0.5) + (1 - g) * noise(x, 0), noise(x, 0))  # noqa: E731
        pair = (lambda x: there(x)[::-1]) if isinstance(law, Reversed) else there
        breaks = [-60, 0, mpmath.mpf(0.5), 60]
    return integral(pair, breaks, z)


def integral(pair, breaks, z):
    return mpmath.quad(lambda x: pair(x)[0] ** (1 + z) * pair(x)[1] ** -z, breaks)


@pytest.mark.slow
@pytest.mark.parametrize(("c", "step"), [(0.75, 3.0), pytest.param(2.5, 7.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LAWS)
def test_moments_and_lines(name: str, c: float, step: float) -> None:
    with precision(140), mpmath.workdps(17):
        along = LAWS[name].on_line(arb(c), arb(step), 4)
        for k in (0, 3):
            expected = moment(name, mpmath.mpc(c, k * step))
            room = arb(0, 1e-14 * max(1.0, float(along[0].real.mid())))
            slack = acb(room, room)
            assert (along[k] + slack).overlaps(acb(arb(str(expected.real)), arb(str(expected.imag)))), (c, k)
            assert float(along[k].rad()) < 1e-30
        assert LAWS[name].moment(arb(c)).overlaps(along[0].real)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", LAWS)
def test_decay_is_above_all_that_follows(name: str) -> None:
    law = LAWS[name]
    with precision(100):
        for c in (0.5, 3.0):
            step = 0.75
            sizes = [float(abs(value).mid()) for value in law.on_line(arb(c), arb(step), 200)]
            bound = law.ceiling_above(arb(c), [0.05, 0.3, 0.6, 1.5], 20)
            for k in range(1, 200, 7):
                assert max(sizes[k:]) <= float(bound(arb(k * step)).mid()) * (1 + 1e-12)
            # and below what is known at once, but for laws with atoms close together
            assert float(bound(arb(140)).mid()) < 0.999 * sizes[0]


@pytest.mark.parametrize("law", [LAPLACE, LAWS["flat"], Normal(exactly(2)), DiscreteGaussian(Fraction(3, 2), 2), LAWS["wide"]])
def test_a_law_that_says_so_is_its_own_reflection(law: Any) -> None:
    """M(-1-z) is M(z) exactly if (P, Q) and (Q, P) have the same loss."""
    with precision(100):
        z = acb(0.7, 1.3)
        assert law.symmetric == law.value(z).overlaps(law.value(-1 - z))
        assert law.reversed().value(z).overlaps(law.value(-1 - z))


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("epsilon", ["-0.3", "0.05", "0.4"])
def test_single_releases(name: str, epsilon: str) -> None:
    """The closed form, and the same by a contour, as far as the slow decay of a single release allows."""
    law, at = LAWS[name], Fraction(epsilon)
    with precision(120):
        alone = law.single_excess(ball(at))
        assert float(alone.rad()) < 1e-25
        goal = -5.0 if isinstance(law, SampledUniform | Reversed) else -7.5
        (found,) = proven.line(Composition([(law, 1)]), [at], goal)
        assert found.overlaps(alone)
        assert float(found.rad()) < math.exp(goal)


def test_two_ways_agree() -> None:
    """Sums over residues and contours share nothing but the laws."""
    flat, lap = bounded_range(exactly(Fraction(1))), laplace(exactly(Fraction(1, 3)))
    terms = Composition([(flat, 12), (lap, 25)])
    for epsilon in ("0", "-1", "1.5", "9"):
        (one,) = proven.residues(terms, [Fraction(epsilon)], -50.0)
        (other,) = proven.line(terms, [Fraction(epsilon)], -50.0)
        assert one.overlaps(other)
        assert max(float(one.rad()), float(other.rad())) < 1e-20
    whole = DiscreteGaussian(Fraction(3, 2), 2)
    (one,) = proven.residues(Composition([(whole.listed(), 3)]), [Fraction("1.5")], -50.0)
    (other,) = proven.folded(Composition([(whole, 3)]), [Fraction("1.5")], -50.0)
    assert one.overlaps(other)
    assert max(float(one.rad()), float(other.rad())) < 1e-20


def test_gaussians_are_known() -> None:
    """The contour of a Gaussian composition against its closed form."""
    law = Normal(exactly(Fraction(1, 100)))
    for epsilon in ("-1", "0", "0.5", "3", "12"):
        (found,) = proven.line(Composition([(law, 100)]), [Fraction(epsilon)], -120.0)
        with precision(250):
            assert found.overlaps(Normal(exactly(1)).single_excess(ball(Fraction(epsilon))))
        assert float(found.rad()) < 1e-51


@pytest.mark.parametrize("epsilon", ["-0.4", "0.05", "0.9"])
def test_tails_beside_losses_that_are_one_number(epsilon: str) -> None:
    """Laplace noise, and a partition that is missed with probability 0.9 under P and always under Q: a loss of log 0.9."""
    with precision(100):
        seen = Finite.spaced(lambda: [(ball(Fraction(1, 10)), arb(0)), (ball(Fraction(9, 10)), arb(1))])
        p, q = Composition([(laplace(exactly(1)), 1), (seen, 2)]).tails(ball(Fraction(epsilon)))
    # the output at which the loss 2x - 1, between -1 and 1, and twice log 0.9 sum to epsilon
    at = (float(epsilon) - 2 * math.log(0.9) + 1) / 2
    tail = lambda x: math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2  # noqa: E731
    above = at < 1
    assert float(p) == pytest.approx(0.81 * tail(at - 1) * above, abs=1e-12)
    assert float(q) == pytest.approx(tail(at) * above, abs=1e-12)


@pytest.mark.parametrize(("rate", "size"), [("1/10", 1), ("1/3", 4)])
def test_the_largest_loss_of_a_sample_reversed(rate: str, size: int) -> None:
    """It is that of the outputs far on the other side, where all that matters is whether the record was drawn at all."""
    law = sampled_group(Fraction(1, 2), Fraction(rate), size, False)
    with precision(120):
        most, forward = law.reversed().largest(), law.largest()
        assert most.overlaps(-size * (1 - ball(Fraction(rate))).log())
        assert forward is None
        assert law.reversed().tails(most + 1e-20) == (arb(0), arb(0))
        assert all(one > 0 for one in law.reversed().tails(most - 1e-3))
        # P is a mixture, too
        assert sampled_group(Fraction(1, 2), Fraction(rate), size, True).largest() is None
