"""Declared divergences: their upper ends against the members of the family, and against the conversion in doubles."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("flint")

import logphi as lp
from logphi.certified.several import CertifiedClaims
from logphi.checker import verify
from logphi.checker.composition import Composition
from logphi.checker.declared import Declared, enclose
from logphi.checker.work import budget
from signed_claims import node, sealed, signed

RELEASES = {
    "zcdp": (lp.ZCDP(rho=0.1), [(Declared(Fraction(1, 10)), 1)]),
    "offset": (3 * lp.ZCDP(rho=0.1, xi=0.05), [(Declared(Fraction(1, 10), Fraction(1, 20)), 3)]),
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
        (found,) = enclose(Composition(terms), [Fraction(epsilon)], -30.0)
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
        (found,) = enclose(Composition([(law, 1)]), [Fraction(epsilon)], -30.0)
    assert float(found.upper()) >= max(truth - math.exp(epsilon) * (1 - truth), 0.0)


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
        (lambda: lp.ZCDP(rho=0.1).poisson(0.1).certify(delta=1e-6), "declared divergences"),
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
    assert verify(sealed(content)).status == 1


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
        assert status is None or verify(sealed(forged)).status == status
