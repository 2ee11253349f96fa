"""Two releases in balls: against the reference, an integral of mpmath, and the bounds of the default route."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from cases import load
from directions import OneDirection
from logphi.answers.bound import Bound
from logphi.arith.ball import precision
from logphi.certified import two_releases
from logphi.certified.route import NotCertifiedError
from logphi.expression import parse
from logphi.laws.log_phi import LogPhi
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from logphi.text.written import Written
from written_laws import assert_certified, ball, delta, loss_of, with_bits

prepare = with_bits(two_releases.prepare)


def test_reference() -> None:
    (case,) = (case for case in load() if case.id == "p024")
    assert_certified(prepare, case)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["-0.02", "0.03", "0.4"])
def test_against_an_integral(epsilon: str) -> None:
    """A sample at rate 1/4 and one Gaussian: over the outcomes of the sample, with the profile of Balle & Wang 2018."""
    with mpmath.workdps(30):
        at = mpmath.mpf(epsilon)

        def gaussian(x):
            return mpmath.ncdf(mpmath.mpf(1) / 2 - x) - mpmath.exp(x) * mpmath.ncdf(-mpmath.mpf(1) / 2 - x)

        def paid(x):
            w = (3 + mpmath.exp(x - mpmath.mpf(1) / 2)) / 4
            return mpmath.npdf(x) * w * gaussian(at - mpmath.log(w))

        digits = mpmath.nstr(mpmath.quad(paid, [-14, -4, -2, 0, 1, 2, 3, 5, 15]), 25)
    with precision(128):
        found = delta(prepare, loss_of("Gaussian(sigma=1) + Gaussian(sigma=1).poisson(0.25)"), epsilon)
        assert abs(found - ball(digits)) < 1e-19
        assert found.rad() < 1e-30 * found


MIXTURE = "GaussianMixture(sigma=1, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2])"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "epsilon"),
    [
        ("2*Gaussian(sigma=0.8).poisson(0.05)", "0.05"),
        ("2*Gaussian(sigma=0.8).poisson(0.05)", "0.09"),
        ("2*Gaussian(sigma=0.8).poisson(0.05)", "-0.06"),
        ("2*Gaussian(sigma=0.8).poisson(0.05)", "10"),
        ("2*Gaussian(sigma=0.8).poisson(0.05)", "90"),
        ("Gaussian(sigma=0.5).poisson(0.3) + Gaussian(sigma=3).poisson(0.01)", "0.3"),
        ("3*Gaussian(sigma=10) + Gaussian(sigma=0.8).poisson(0.05)", "0.5"),
        (f"{MIXTURE} + Gaussian(sigma=0.8).poisson(0.05)", "1"),
        (f"{MIXTURE} + Gaussian(sigma=0.8).poisson(0.05)", "0.5"),
        ("2*Gaussian(sigma=0.1).poisson(0.3)", "0.5"),
        ("2*Gaussian(sigma=5).poisson(0.001)", "0.001"),
    ],
)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_within_the_bounds_of_the_default_route(expression: str, epsilon: str, direction: OneDirection) -> None:
    assert_within(parse(expression).delta(float(epsilon), direction=direction), loss_of(expression, direction), epsilon)


@pytest.mark.slow
def test_replaced_records() -> None:
    """The sample with its two mixtures outside, the Gaussian inside."""
    text = "Gaussian(sigma=1, adjacency='replace') + Gaussian(sigma=1).poisson(0.2, adjacency='replace')"
    assert_within(parse(text).delta(0.5), loss_of(text), "0.5")


def test_failures_are_lost() -> None:
    """A tenth of the mass does not come to be paid."""
    loss = loss_of("2*Gaussian(sigma=1).poisson(0.25)")
    thinned = LogPhi.of([*loss.terms, (ZeroOrInfinite(Written(Fraction(1, 10))), 1)])
    with precision(128):
        whole, rest = (prepare(one, ball(1), 128)(ball(1)) for one in (loss, thinned))
        assert (rest - ball("0.9") * whole).contains(0)


def assert_within(bound: Bound, loss: LogPhi, epsilon: str) -> None:
    found = delta(prepare, loss, epsilon)
    assert found >= bound.lower * (1 - 1e-12)
    assert found <= bound.upper * (1 + 1e-12)
    assert found == 0 or found.rad() < 1e-28 * found


@pytest.mark.slow
def test_more_bits_are_a_narrower_ball_of_the_same() -> None:
    loss = loss_of("2*Gaussian(sigma=0.8).poisson(0.05)")
    wide, narrow = (delta(prepare, loss, "1", bits) for bits in (64, 300))
    assert wide.overlaps(narrow)
    assert wide.rad() > 1e20 * narrow.rad()


def test_beyond_the_range_of_the_loss() -> None:
    loss = loss_of("2*Gaussian(sigma=0.8).poisson(0.25)")
    assert delta(prepare, loss.reflected(), "0.6") == 0
    with precision(128):
        assert (delta(prepare, loss, "-0.6") - (1 - ball("-0.6").exp())).contains(0)


@pytest.mark.slow
def test_a_ball_of_epsilon_holds_all_its_values() -> None:
    with precision(64):
        excess = prepare(loss_of("2*Gaussian(sigma=0.8).poisson(0.05)"), ball(1), 64)
        wide = excess(ball("0.999").union(ball("1.001")))
        assert all(wide.contains(excess(ball(at))) for at in ("0.9995", "1", "1.0005"))


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("3*Gaussian(sigma=1).poisson(0.1)", "two releases"),
        ("Gaussian(sigma=1)", "two releases"),
        (f"2*{MIXTURE}", "explicit root"),
        ("Laplace(scale=1) + Gaussian(sigma=1)", "no closed form"),
    ],
)
def test_what_is_refused(expression: str, reason: str) -> None:
    with precision(128), pytest.raises(NotCertifiedError, match=reason):
        prepare(parse(expression).loss_law(), ball(1), 128)
