"""Noise for integer vectors in the checker, against sums over all outcomes of one worst difference."""

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import skellam as skellam_law

pytest.importorskip("flint")

import logphi as lp
import proven
from logphi.checker import verify
from logphi.checker.arithmetic.balls import precision
from logphi.checker.laws.composition import Composition
from logphi.checker.mechanisms.whole_vectors import _apart, discrete_gaussians, moves, skellam
from logphi.mechanisms.integer_noise.whole_vectors import WholeVectors
from signed_claims import sealed

FAR = 80
OUTPUTS = np.arange(-FAR, FAR + 1)


def gaussian(sigma: float, parties: int = 1) -> Any:
    """The probabilities of the sum of so many draws, on -FAR .. FAR."""
    one = np.exp(-(OUTPUTS**2) / (2 * sigma**2))
    found = one = one / one.sum()
    for _ in range(parties - 1):
        found = np.convolve(found, one, mode="same")
    return found


def delta(law: Any, difference: tuple[int, ...], epsilon: float) -> float:
    """The profile of independent coordinates with this noise, moved by a difference."""
    p = q = np.ones(1)
    for move in difference:
        p, q = np.outer(p, np.roll(law, move)).ravel(), np.outer(q, law).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def bound(law: Any, epsilon: str) -> float:
    with precision(64):
        whole = law if isinstance(law, Composition) else Composition([(law, 1)])
    return float(proven.delta(whole, [Fraction(epsilon)], -40.0)[0].upper())


@pytest.mark.parametrize(
    ("sigma", "parties", "difference", "room"),
    [
        # wide noise: that of the Gaussian is nearly all; narrow noise: by the divergences
        ("7", 1, (2, 1), 1.15),
        ("4", 3, (3,), 1.15),
        ("3", 1, (1, 1), 4),
        ("3/2", 3, (2,), 4),
        ("2", 1, (2,), 1 + 1e-9),
        # that of some parties, and of all with their distance from one discrete Gaussian
        ("7/10", 5, (1, 1), 12),
        ("4/5", 9, (2, 1), 12),
    ],
)
@pytest.mark.parametrize("epsilon", ["0.1", "0.7"])
def test_discrete_gaussians_are_bounded(
    sigma: str, parties: int, difference: tuple[int, ...], room: float, epsilon: str
) -> None:
    l2, l1 = (Fraction(math.hypot(*difference)), Fraction(sum(difference)))
    moved: dict[str, Any] = {"l2_sensitivity": l2, "l1_sensitivity": l1, "dimension": len(difference)}
    found = bound(discrete_gaussians(sigma=Fraction(sigma), parties=parties, **moved), epsilon)
    truth = delta(gaussian(float(Fraction(sigma)), parties), difference, float(epsilon))
    assert truth * (1 - 1e-9) <= found <= truth * room


@pytest.mark.parametrize(("sigma", "parties"), [("0.5", 2), ("0.5", 5), ("0.6", 12), ("1", 3)])
def test_a_sum_is_near_one_discrete_gaussian(sigma: str, parties: int) -> None:
    near = slice(FAR - 12, FAR + 13)
    ratio = np.log(gaussian(float(sigma), parties)[near] / gaussian(float(sigma) * math.sqrt(parties))[near])
    with precision(64):
        t = float(_apart(Fraction(sigma), [parties])[0])
    assert np.ptp(ratio) <= t + 1e-12
    assert np.abs(ratio).max() <= t + 1e-12


def test_the_terms_of_many_parties_are_those_of_few() -> None:
    """What is added at once is no less than one by one."""
    with precision(64):
        found = list(map(float, _apart(Fraction(1, 2), [1, 2, 100, 101, 10**6])))
    u = np.exp(-2 * (math.pi / 2) ** 2 * (k := np.arange(1.0, 10**6)) / (k + 1))
    sums = np.cumsum(4 * np.arctanh(u) / (1 - u**2))
    assert found[0] == 0
    exact = [sums[0], sums[98], sums[99], sums[-1]]
    assert found[1:] == pytest.approx(exact, rel=0.2)
    assert all(one >= other * (1 - 1e-12) for one, other in zip(found[1:], exact, strict=True))


@pytest.mark.parametrize("difference", [(3,), (2, 1)])
def test_skellam_noise_is_bounded(difference: tuple[int, ...]) -> None:
    law = skellam_law(12.5, 12.5).pmf(OUTPUTS)
    l2, l1 = (Fraction(math.hypot(*difference)), Fraction(sum(difference)))
    declared = skellam(variance=Fraction(25), l2_sensitivity=l2, l1_sensitivity=l1, dimension=len(difference))
    found = bound(declared, "1")
    truth = delta(law, difference, 1.0)
    assert truth <= found <= 4 * truth


@pytest.mark.parametrize("l2", ["0", "0.9", "1", "1.7320508", "1.732050807", "30", "123.4"])
@pytest.mark.parametrize("l1", [None, "1", "2.5", "40"])
@pytest.mark.parametrize("dimension", [None, 1, 7])
def test_norms_bound_each_other(l2: str, l1: str | None, dimension: int | None) -> None:
    theirs = WholeVectors.of(float(l2), None if l1 is None else float(l1), dimension)
    mine = moves(Fraction(l2), None if l1 is None else Fraction(l1), dimension)
    assert mine == (theirs.square, theirs.sum, theirs.coordinates)


RELEASES = {
    "wide": "VectorDiscreteGaussian(sigma=4, l2_sensitivity=30, parties=100)",
    "wide, sampled": "VectorDiscreteGaussian(sigma=20, l2_sensitivity=10).poisson(0.1)",
    "one number": "VectorDiscreteGaussian(sigma=3, dimension=1)",
}


@pytest.mark.parametrize("name", RELEASES)
def test_upper_ends_are_certified(name: str) -> None:
    release = lp.parse(RELEASES[name])
    made: Any = release.certify(epsilon=Fraction(1, 2), digits=3)
    (claim,) = made.claims
    assert release.delta(0.5).upper <= float(claim.upper) <= 1.01 * release.delta(0.5).upper
    content = json.loads(made.to_json())
    # a smaller end, any lower end, and less noise
    content["claims"][0]["upper"] = str(float(claim.upper) * 0.9)
    assert verify(sealed(content)).status == verify(proven.proven(content)).status == 1
    content["claims"][0] |= {"upper": str(claim.upper), "lower": "1e-9"}
    assert verify(sealed(content)).status == 1
    content["claims"][0]["lower"] = "0"
    assert verify(sealed(content)).status == 0
    node = content["releases"][0]["mechanism"][0][1]
    node.get("base", node)["parameters"]["sigma"] = "2.5"
    assert verify(sealed(content)).status == verify(proven.proven(content)).status == 1


def test_upper_ends_of_skellam_noise_are_certified() -> None:
    release = lp.Skellam(variance=1600, l2_sensitivity=30)
    made: Any = release.certify(delta=Fraction(1, 10**6), digits=2)
    (claim,) = made.claims
    assert release.epsilon(1e-6).upper <= float(claim.upper) <= 1.02 * release.epsilon(1e-6).upper
    assert verify(made)
