"""Declared divergences: their upper ends against the members of the family, and against the conversion in doubles."""

import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

pytest.importorskip("flint")

import logphi as lp
import proven
from logphi.certified.claims import CertifiedClaims
from logphi.certified.witness.tangents import of_hull
from logphi.checker import verify
from logphi.checker.arithmetic.balls import upper
from logphi.checker.arithmetic.work import budget
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.declared import Declared
from logphi.checker.methods.tangents import tangents
from profiles import gaussian_profile
from signed_claims import node, signed

RELEASES = {
    "zcdp": (lp.ZCDP(rho=0.1), [(Declared(((Fraction(1, 10), Fraction(0)),)), 1)]),
    "offset": (3 * lp.ZCDP(rho=0.1, xi=0.05), [(Declared(((Fraction(1, 10), Fraction(1, 20)),)), 3)]),
    "few orders": (
        10 * lp.RenyiDP(orders=[4, 32], epsilons=[0.02, 0.16]),
        [(Declared(points=((Fraction(3), Fraction(6, 100)), (Fraction(31), Fraction(496, 100)))), 10)],
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_the_bound_is_that_of_the_conversion_in_doubles(name: str, epsilon: str) -> None:
    """It is above what a Gaussian mechanism with these divergences leaks, and as sharp as what doubles say."""
    release, terms = RELEASES[name]
    with budget(1e8):
        (found,) = proven.tangents(Composition(terms), [Fraction(epsilon)])
    other = release.delta(float(Fraction(epsilon)))
    assert other.lower < float(found.upper()) < other.upper * 1.001
    assert other.upper < float(found.upper()) * 1.001


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_pair_that_keeps_the_curve_leaks_more(epsilon: float) -> None:
    """The loss of randomized response has divergences in closed form: declared at two orders, its delta is below the bound."""
    odds = 1.5
    truth = 1 / (1 + math.exp(-odds))

    def exponent(z: int) -> Fraction:
        value = math.log(truth ** (1 + z) * (1 - truth) ** -z + (1 - truth) ** (1 + z) * truth**-z)
        return Fraction(value) + Fraction(1, 10**12)

    with budget(1e8):
        law = Declared(points=((Fraction(2), exponent(2)), (Fraction(9), exponent(9))))
        (found,) = proven.tangents(Composition([(law, 1)]), [Fraction(epsilon)])
    assert float(found.upper()) >= max(truth - math.exp(epsilon) * (1 - truth), 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("rho", [Fraction(1, 8), Fraction(1, 200), Fraction(5)])
def test_points_of_a_hull_lie_above_a_member_and_near_the_sharp_bound(rho: Fraction) -> None:
    """A Gaussian mechanism has D_a = rho a; at a single epsilon the bound is sharp."""
    whole = Composition([(Declared(((rho, Fraction(0)),)), 1)])
    with budget(1e9):
        lines = tangents(whole, of_hull(whole))
        found = [(upper(slope.log()), upper(height)) for slope, height in lines if height < 1]
        sharp = proven.tangents(whole, [epsilon for epsilon, _ in found[::150]])
    assert len(found) > 300
    assert all(float(delta) < 1.001 * float(bound.upper()) for (_, delta), bound in zip(found[::150], sharp, strict=True))
    with mpmath.workdps(40):
        leaks = gaussian_profile(mpmath.sqrt(2 * mpmath.mpf(rho.numerator) / rho.denominator))
        for epsilon, delta in found:
            assert leaks(mpmath.mpf(epsilon.numerator) / epsilon.denominator) < mpmath.mpf(delta.numerator) / delta.denominator


def sampled_gaussian_profile(rate, mu, epsilon):
    """Q and P of (1-q) Q + q P against Q where the ratio 1 - q + q e^{mu x - mu^2 / 2} exceeds e^eps."""
    at = (mpmath.log(1 + mpmath.expm1(epsilon) / rate) + mu**2 / 2) / mu
    return rate * mpmath.ncdf(mu - at) - (mpmath.expm1(epsilon) + rate) * mpmath.ncdf(-at)


@pytest.mark.few(1)
@pytest.mark.parametrize("chosen", [False, True])
def test_samples_leak_at_least_what_a_member_leaks(chosen: bool) -> None:
    """The Gaussian mechanism with mu^2 / 2 = rho is a member; the bound of one epsilon is above it, and not far."""
    own = node("ZCDP", rho="1/8", xi="0")
    sample = node("poisson", node("RandomChoice", [own], probabilities=["1"]) if chosen else own, rate="1/5", group_size="1")
    with mpmath.workdps(30):
        member = float(sampled_gaussian_profile(mpmath.mpf(1) / 5, mpmath.mpf(1) / 2, mpmath.mpf(1) / 10))
    # the sharp bound of the base, at the epsilon of the base to which 1/10 of the sample belongs
    with budget(1e9):
        place = Fraction(math.log1p(math.expm1(0.1) / 0.2))
        base = proven.tangents(Composition([(Declared(((Fraction(1, 8), Fraction(0)),)), 1)]), [place])[0]
    bound = float(base.upper()) / 5
    assert member < bound
    for end, status in ((member, 1), (0.999 * bound, 1), (1.002 * bound, 0)):
        assert verify(signed((1, sample), at="1/10", lower=0, upper=end)).status == status
    # nothing is known from below
    assert verify(signed((1, sample), at="1/10", lower=1e-9, upper=1)).status == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "20 * ZCDP(0.125, 0.25).poisson(0.2)",
        "RenyiDP([2, 4, 8], [0.25, 0.5, 1]).poisson(0.2) + Gaussian(sigma=5)",
        "Skellam(16, 2, 3, 8, adjacency='replace').subset(0.2, adjacency='replace')",
        "VectorDiscreteGaussian(1.5, 3, parties=40, dimension=4).poisson(0.1)",
        "RandomChoice([ZCDP(0.01), Gaussian(4)], [0.5, 0.5])",
        "3 * ZCDP(0.05) + 5 * ApproximateDP(0.1, 1e-7)",
        "ZCDP(0.01).repeat_and_select(10)",
    ],
)
def test_samples_choices_and_selections_have_upper_ends(expression: str) -> None:
    release = lp.parse(expression)
    made: Any = release.certify(delta=1e-4)
    (claim,) = made.claims
    assert lp.verify(made)
    assert claim.lower == 0
    assert float(claim.upper) > release.epsilon(1e-4).lower


@pytest.mark.slow
def test_certificates_hold_upper_ends():
    certificate = (2 * lp.ZCDP(rho=Fraction(1, 10))).certify(delta=[1e-6], digits=6)
    assert isinstance(certificate, CertifiedClaims)
    assert certificate.claims[0].lower == 0
    verdict = verify(certificate)
    assert verdict.status == 0
    end = str(certificate.claims[0].upper)
    lower = end[:4] + str(int(end[4]) - 1) + end[5:] if end[4] != "0" else end[:3] + "0"
    assert verify(certificate.to_json().replace(f'"{end}"', f'"{lower}"')).status == 1


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: lp.ZCDP(rho=0.1).allocation(5).certify(delta=1e-6), "single digit"),
        (lambda: lp.RenyiDP(orders=[2, 4], epsilons=[0.1, 0.2]).certify(order=5), "no finite renyi"),
    ],
)
def test_what_is_refused(ask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask()


def test_outcomes_that_are_not_listed_count():
    """The moments of a law whose far outcomes are left out prove nothing: at epsilon 20 they leak all that there is."""
    noise = node("DiscreteGaussian", sigma="1", sensitivity="1", truncation=None)
    sample = node("poisson", noise, rate="1/2", group_size="1")
    content = json.loads(signed((1, sample), (1, node("ZCDP", rho="1e-9", xi="0")), at="20", lower=0, upper=0.5))
    content["claims"][0]["upper"] = "1e-150"
    # the sample alone has 1.9e-97
    assert verify(proven.proven(content)).status == 1


@pytest.mark.parametrize(
    ("release", "order", "bound"),
    [
        # D_a <= xi + rho a, and a s^2 / (2 sigma^2) of a Gaussian
        (lp.ZCDP(rho=0.1, xi=0.2), "5/2", Fraction(1, 5) + Fraction(1, 10) * Fraction(5, 2)),
        (3 * lp.ZCDP(rho=0.1) + lp.Gaussian(sigma=2), "3", 3 * Fraction(3, 10) + Fraction(3, 8)),
        # (a - 1) D_a lies below the chord from 1 at order 2 to 6 at order 4
        (lp.RenyiDP(orders=[2, 4], epsilons=[1, 2]), "3", Fraction(7, 4)),
        (lp.RenyiDP(orders=[2, 4], epsilons=[1, 2]), "3/2", Fraction(1)),
    ],
)
def test_divergences_of_what_is_declared(release: lp.Mechanism, order: str, bound: Fraction) -> None:
    made: Any = release.certify(order=[Fraction(order)])
    (claim,) = made.claims
    assert claim.lower == 0
    assert claim.upper is not None
    assert bound <= Fraction(claim.upper) <= bound * (1 + Fraction(1, 10**8))
    text = json.loads(made.to_json())
    for ends, status in (
        ({"upper": str(bound * (1 + Fraction(1, 10**9)))}, 0),
        ({"upper": str(bound * (1 - Fraction(1, 10**9)))}, 1),
        ({"lower": str(bound / 2), "upper": str(2 * bound)}, 1),
        ({"at": "5"}, 1 if "RenyiDP" in str(release) else None),
    ):
        forged = {**text, "claims": [{**text["claims"][0], **ends}]}
        assert status is None or verify(proven.proven(forged)).status == status
