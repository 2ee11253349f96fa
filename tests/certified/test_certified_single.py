"""Single releases in balls: against the references, and against direct integrals over the outcomes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint
import mpmath
import pytest

from cases import Case, load
from logphi.arith.ball import precision
from logphi.certified import single_release
from logphi.certified.laws.registry import in_balls
from logphi.certified.reals import balls
from logphi.certified.route import NotCertifiedError
from logphi.expression import parse
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal_pair import NormalPair
from logphi.mechanisms import Gaussian
from logphi.text.written import Written
from written_laws import assert_certified, ball, delta, loss_of, with_bits

prepare = with_bits(single_release.prepare)

IDS = "p018 p031 p041 p051 p052 p053 p054 p055 p056 p057 p058 p059 p060 p061 p062 p063 p067 p083 p084"
CASES = [case for case in load() if case.id in IDS.split()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_reference(case: Case) -> None:
    assert_certified(prepare, case)


def payoff(log_ratio, density, epsilon, points):
    """The integral of density_p (1 - e^{epsilon - loss})_+ between some points."""

    def paid(x):
        gain = log_ratio(x) - epsilon
        return density(x) * -mpmath.expm1(-gain) if gain > 0 else mpmath.mpf(0)

    return mpmath.quad(paid, points)


def normal(x, centre=0):
    return mpmath.npdf(x, centre, 1)


# expression, direction -> densities of P and Q
MIXTURES = {
    ("Gaussian(sigma=2).poisson(0.3)", None): (lambda x: 0.7 * normal(x) + 0.3 * normal(x, 0.5), normal),
    ("Gaussian(sigma=2).poisson(0.3)", "add"): (normal, lambda x: 0.7 * normal(x) + 0.3 * normal(x, 0.5)),
    ("Gaussian(sigma=1).poisson(0.2, adjacency='replace')", None): (
        lambda x: 0.8 * normal(x) + 0.2 * normal(x, 1),
        lambda x: 0.8 * normal(x) + 0.2 * normal(x, -1),
    ),
    ("GaussianMixture(sigma=1, sensitivities=[0.5, 2], probabilities=[0.5, 0.5])", None): (
        lambda x: 0.5 * normal(x, 0.5) + 0.5 * normal(x, 2),
        normal,
    ),
    ("GaussianMixture(sigma=1, sensitivities=[0.5, 2], probabilities=[0.5, 0.5])", "add"): (
        normal,
        lambda x: 0.5 * normal(x, 0.5) + 0.5 * normal(x, 2),
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", ["-0.25", "0", "0.05", "0.3"])
@pytest.mark.parametrize("which", MIXTURES, ids=lambda which: f"{which[0][:24]}-{which[1]}")
def test_normal_mixtures_against_integrals(which: tuple[str, str | None], epsilon: str) -> None:
    """Rates and centres are dyadic or few: doubles in the integrand are good to sixteen digits."""
    p, q = MIXTURES[which]
    with precision(128):
        mixtures, at = in_balls(loss_of(*which).terms[0][0]).mixtures(), ball(epsilon)
        low, high = mixtures.ends
        inside = low < at and at < high
        place = float(mixtures.root(at)) * (-1 if which[1] == "add" else 1) if inside else 0.0
    points = sorted({-12.0, place, 0.0, 1.0, 12.0})
    truth = payoff(lambda x: mpmath.log(p(x) / q(x)), p, mpmath.mpf(epsilon), points)
    assert abs(float(delta(prepare, loss_of(*which), epsilon)) - float(truth)) < 1e-12


@pytest.mark.parametrize("with_atoms", [True, False])
@pytest.mark.parametrize("epsilon", ["-0.2", "-0.05", "0.1", "0.4"])
@pytest.mark.parametrize("direction", [None, "add"])
def test_sampled_flat_laws_against_integrals(with_atoms: bool, epsilon: str, direction: str | None) -> None:
    """Width 1 at rate 1/4: losses log(3/4 + e^x/4) at the losses x of the base."""
    base = "Laplace(scale=1)" if with_atoms else "ExponentialMechanism(epsilon=1)"
    found = delta(prepare, loss_of(f"{base}.poisson(0.25)", direction), epsilon)
    height = mpmath.exp(-0.5) / 4 if with_atoms else 1 / (4 * mpmath.sinh(0.5))
    at, w = mpmath.mpf(epsilon), lambda x: 0.75 + mpmath.exp(x) / 4

    def paid(x):
        # masses of Q over those of its own
        p, q = (w(x), 1) if direction is None else (1, w(x))
        return max(p - mpmath.exp(at) * q, 0)

    turn = (mpmath.exp(-at if direction else at) - 0.75) * 4
    kink = [mpmath.log(turn)] if turn > 0 and abs(mpmath.log(turn)) < 1 else []
    truth = mpmath.quad(lambda x: height * mpmath.exp(-x / 2) * paid(x), [-1, *kink, 1])
    if with_atoms:
        truth += paid(-1) / 2 + mpmath.exp(-1) / 2 * paid(1)
    assert abs(float(found) - float(truth)) < 1e-14


@pytest.mark.few(2)
@pytest.mark.parametrize("rate", ["0.25", "0.75"])
@pytest.mark.parametrize("epsilon", ["-1", "-0.1", "0.02", "0.3"])
def test_failures_of_a_sampled_release(epsilon: str, rate: str) -> None:
    """Remove: q delta(x') of the unsampled profile max(1 - e^{(x - eps)/2}, delta), or 1 - e^x; and its reversal."""

    def profile(x):
        return (
            max(1 - mpmath.exp((x - 1) / 2), mpmath.mpf("0.05")) if x >= 0 else 1 - mpmath.exp(x) + mpmath.exp(x) * profile(-x)
        )

    def sampled(x):
        turn = 1 + mpmath.expm1(x) / mpmath.mpf(rate)
        return mpmath.mpf(rate) * profile(mpmath.log(turn)) if turn > 0 else 1 - mpmath.exp(x)

    with mpmath.workdps(30):
        at, text = mpmath.mpf(epsilon), f"DistanceToInstability(epsilon=1, delta=0.05).poisson({rate})"
        assert abs(float(delta(prepare, loss_of(text), epsilon)) - float(sampled(at))) < 1e-15
        reflected = 1 - mpmath.exp(at) + mpmath.exp(at) * sampled(-at)
        assert abs(float(delta(prepare, loss_of(text, "add"), epsilon)) - float(reflected)) < 1e-15


@pytest.mark.parametrize("base", ["Gaussian(sigma=2, adjacency='replace')", "Laplace(scale=2, adjacency='replace')"])
def test_subsets_under_replace_are_symmetric(base: str) -> None:
    """Their profile is that of its own reversal, though the two halves come from different pairs."""
    loss = loss_of(f"{base}.subset(0.3, adjacency='replace')")
    with precision(128):
        there, back = delta(prepare, loss, "0.05"), delta(prepare, loss, "-0.05")
        assert (back - (1 - ball("-0.05").exp() + ball("-0.05").exp() * there)).contains(0)
        assert there.rad() < 1e-30


@pytest.mark.parametrize(("wide", "shift", "epsilon"), [("3/2", 1, "0.4"), ("2/3", 0, "0.1"), ("1.000000000001", 1, "0.3")])
def test_widths_against_masses_between_roots(wide: str, shift: int, epsilon: str) -> None:
    """Both ways around, and where the widths nearly agree; twice the loss is a x^2 + b x + c, roots found by mpmath."""
    law = NormalPair(*(Written(Fraction(number)) for number in (0, 1, shift, wide)))
    one: Any
    for one in (law, law.reflected()):
        with mpmath.workdps(40):
            mean_p, s, mean_q, t = (
                mpmath.mpf(number.exact.numerator) / number.exact.denominator
                for number in (one.mean_p, one.sigma_p, one.mean_q, one.sigma_q)
            )
            a, b = 1 / t**2 - 1 / s**2, 2 * (mean_p / s**2 - mean_q / t**2)
            c = mean_q**2 / t**2 - mean_p**2 / s**2 - 2 * mpmath.log(s / t) - 2 * mpmath.mpf(epsilon)
            low, high = sorted(mpmath.re(root) for root in mpmath.polyroots([a, b, c], maxsteps=500, extraprec=200))
            between = [mpmath.ncdf(high, m, w) - mpmath.ncdf(low, m, w) for m, w in ((mean_p, s), (mean_q, t))]
            p, q = between if a < 0 else [1 - part for part in between]
            truth = mpmath.nstr(p - mpmath.exp(mpmath.mpf(epsilon)) * q, 25)
        with precision(128):
            assert abs(delta(prepare, LogPhi(((one, 1),)), epsilon) - ball(truth)) < 1e-22


def test_beyond_the_range_of_the_loss() -> None:
    """Below log(1 - q) everything counts, above -log(1 - q) nothing; at the end itself not much more, or less."""
    loss = loss_of("Gaussian(sigma=1).poisson(0.25)")
    with precision(128):
        end = ball("0.75").log()
        assert (delta(prepare, loss, "-0.3") - (1 - ball("-0.3").exp())).contains(0)
        assert delta(prepare, loss.reflected(), "0.3") == 0
        assert prepare(loss, end, 128)(end).contains(ball("0.25"))
        assert prepare(loss, end, 128)(end).rad() < 1e-30
        assert prepare(loss.reflected(), -end, 128)(-end).rad() < 1e-30


def test_the_root_is_enclosed() -> None:
    """Between two points where the loss is told from epsilon, however far out."""
    with precision(200):
        for text in ("Gaussian(sigma=0.5).poisson(0.001)", "Gaussian(sigma=1).poisson(0.2, adjacency='replace')"):
            mixtures = in_balls(loss_of(text).terms[0][0]).mixtures()
            for epsilon in ("-0.0009", "1e-40", "3", "300"):
                root = mixtures.root(ball(epsilon).mid())
                assert mixtures.loss(root.lower()) < ball(epsilon).mid() < mixtures.loss(root.upper())
                assert root.rad() < 1e-50 * (1 + abs(root))


def test_a_ball_of_epsilon_holds_all_its_values() -> None:
    excess = prepare(loss_of("Gaussian(sigma=1).poisson(0.25)"), flint.arb(0), 128)
    wide = excess(flint.arb("0.3", "1e-3"))
    with precision(128):
        assert all(wide.contains(excess(ball(at))) for at in ("0.2995", "0.3", "0.3005"))


@pytest.mark.parametrize("expression", ["2*Gaussian(sigma=1).poisson(0.1)", "Laplace(scale=1) + Gaussian(sigma=1)"])
def test_what_is_refused(expression: str) -> None:
    with precision(128), pytest.raises(NotCertifiedError, match="one release alone"):
        prepare(parse(expression).loss_law(), ball(1), 128)


def test_parameters_are_shortest_decimals_unless_written() -> None:
    """0.1 as a decimal and the value of its double differ in the seventeenth digit."""
    with precision(128):
        plain, decimal, double = (
            prepare(loss, ball(1), 128)(ball(1))
            for loss in (Gaussian(0.1).loss_law(), loss_of("Gaussian(sigma=0.1)"), Gaussian(Fraction(0.1)).loss_law())
        )
        assert (plain - decimal).contains(0)
        assert 0 < abs(double - decimal) < 1e-15
        assert balls().bits == 128
