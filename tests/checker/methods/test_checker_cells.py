"""Compositions between two on a lattice: the enclosures hold what other methods find, and false claims do not pass."""

import json
from fractions import Fraction
from typing import Any

import pytest

flint = pytest.importorskip("flint")

import logphi as lp  # noqa: E402
import proven  # noqa: E402
from alterations import with_checksum  # noqa: E402
from logphi.checker import verify  # noqa: E402
from logphi.checker.arithmetic.balls import ball, exactly, precision  # noqa: E402
from logphi.checker.arithmetic.work import budget  # noqa: E402
from logphi.checker.laws.composition import Composition  # noqa: E402
from logphi.checker.laws.normal import Normal  # noqa: E402
from logphi.checker.laws.normal_pair import NormalPair  # noqa: E402
from logphi.checker.laws.sampled import Sampled, SubsetSampled  # noqa: E402
from logphi.checker.laws.uniform import bounded_range, laplace  # noqa: E402
from signed_claims import node, signed  # noqa: E402
from slowly import slowly  # noqa: E402

LAPLACE = laplace(exactly(Fraction(1)))
FLAT = bounded_range(exactly(Fraction(1, 2)))
UNSURE = laplace(exactly(Fraction(1)), exactly(Fraction(1, 1000)))
NORMAL = Normal(exactly(Fraction(1)), Fraction(1))
PAIR = NormalPair(Fraction(11, 10), Fraction(1))
MIXED = NORMAL.sampled(Fraction(1, 10))

# laws, an epsilon, and another method that knows the excess to many digits
COMPOSITIONS: dict[str, tuple[Any, str, Any]] = {
    "Laplace": ([(LAPLACE, 7)], "2", proven.residues),
    "Laplace of two widths": ([(LAPLACE, 3), (laplace(exactly(Fraction(2, 3))), 2)], "1", proven.residues),
    "exponential": ([(FLAT, 9)], "1", proven.residues),
    "with failures": ([(UNSURE, 4)], "0.5", proven.residues),
    "normal": ([(NORMAL, 1)], "1", proven.line),
    "sampled normal": ([(MIXED, 40)], "0.5", proven.line),
    "the other order": ([(MIXED.reversed(), 40)], "0.5", proven.line),
    "below zero": ([(MIXED, 40)], "-0.3", proven.line),
    "pairs": ([(PAIR, 12)], "3", proven.line),
}


@pytest.mark.parametrize("count", [1, 100])
def test_losses_beyond_all_cells_are_not_lost(count: int) -> None:
    """The likelihood ratio of a loss of 1e300 overflows, and a mass that is no number is not zero: delta is nearly one."""
    own = [[count, node("PureDP", epsilon="1e300")]]
    run = {"name": "composition", "adjacency": "add_remove", "terms": own}
    best = node("repeat_and_select", run, mean="2", shape="1")
    assert verify(signed((1, best), at="1", lower=0, upper=0.01)).status == 1


def relative(found: Any) -> float:
    return float(found.rad() / found.mid())


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_the_enclosure_holds_what_another_way_finds(name: str) -> None:
    terms, epsilon, other = COMPOSITIONS[name]
    at = [Fraction(epsilon)]
    with precision(64), budget(3e6):
        (found,) = proven.cells(Composition(terms), at, -30.0)
    with precision(64):
        (sharp,) = other(Composition(terms), at, -45.0)
    assert found.contains(sharp)
    # the first attempt is rough where few losses are far out
    assert relative(found) < 0.3


@pytest.mark.parametrize("number", [20, 60, 200, *slowly(1000)])
@pytest.mark.parametrize("name", ["Laplace", "exponential", "sampled normal", "with failures"])
def test_every_number_of_cells_gives_an_enclosure(name: str, number: int) -> None:
    terms, epsilon, other = COMPOSITIONS[name]
    at = [Fraction(epsilon)]
    with precision(120):
        (found,), (sharp,) = proven.number_of_cells(Composition(terms), at, -30.0, number), other(Composition(terms), at, -45.0)
    assert found.contains(sharp)


@pytest.mark.parametrize("base", [LAPLACE, FLAT, UNSURE, NORMAL, PAIR])
@pytest.mark.parametrize("epsilon", ["-0.9", "-0.05", "-0.001", "0.001", "0.04", "0.3"])
def test_the_tails_of_a_sample_have_its_profile(base: Any, epsilon: str) -> None:
    """By [LT] Theorem 5.1, a sample at rate g has g delta(log(1 + (e^eps - 1) / g)) for eps >= log(1 - g)."""
    g, at = Fraction(1, 10), ball(Fraction(epsilon))
    with precision(128):
        one = Sampled(base, g)
        inner = 1 + ball(Fraction(epsilon)).expm1() * 10
        if inner > 0:
            expected = (base.infinite() + base.single_excess(inner.log())) / 10
        else:
            expected = 1 - at.exp()
        assert (one.infinite() + one.single_excess(at)).overlaps(expected)
        # delta of the reverse is 1 - e^eps + e^eps delta(-eps)
        back = one.reversed()
        symmetric = 1 - at.exp() + at.exp() * (one.infinite() + one.single_excess(-at))
        assert (back.infinite() + back.single_excess(at)).overlaps(symmetric)


@pytest.mark.parametrize("base", [LAPLACE, FLAT, UNSURE, NORMAL])
@pytest.mark.parametrize("epsilon", ["-0.05", "-0.001", "0.001", "0.04"])
def test_the_tails_of_a_subset_have_its_profile(base: Any, epsilon: str) -> None:
    at = ball(Fraction(epsilon))
    with precision(128):
        one = SubsetSampled(base, Fraction(1, 10), True)
        upper = Sampled(base, Fraction(1, 10))
        above = upper.infinite() + upper.single_excess(abs(at))
        expected = above if at > 0 else 1 - at.exp() + at.exp() * above
        assert (one.infinite() + one.single_excess(at)).overlaps(expected)


CERTIFIED = {
    "sampled Laplace": lambda: 20 * lp.Laplace(scale=1).poisson(0.1),
    "sampled exponential": lambda: 20 * lp.ExponentialMechanism(epsilon=1).poisson(0.1),
    "few sampled Gaussians": lambda: 3 * lp.Gaussian(sigma=1).poisson(0.01),
    "sampled test": lambda: 20 * lp.DistanceToInstability(epsilon=1, delta=1e-6).poisson(0.1),
    "sampled pair": lambda: 5 * lp.GaussianPair(1, 1.2, 0, 1).poisson(0.1),
    "two kinds": lambda: 5 * lp.Laplace(scale=2).poisson(0.2) + 3 * lp.RandomizedResponse(p=0.6),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "asked", "sign"),
    [
        # a law of each kind once: epsilon is a root of the same profile
        ("sampled Laplace", {"delta": Fraction(1, 10**5)}, 1),
        ("sampled exponential", {"epsilon": Fraction(1, 4)}, 1),
        ("few sampled Gaussians", {"delta": Fraction(1, 10**5)}, -1),
        ("sampled test", {"epsilon": Fraction(1, 4)}, 1),
        ("sampled pair", {"delta": Fraction(1, 10**5)}, 1),
        ("two kinds", {"epsilon": Fraction(1, 4)}, 1),
    ],
)
def test_fewer_digits_rather_than_none(name: str, asked: dict[str, Any], sign: int) -> None:
    certificate = CERTIFIED[name]().certify(**asked)
    assert 2 <= certificate.digits <= 9
    assert verify(certificate)
    content = json.loads(certificate.to_json())
    # to either side by its own width
    moved = sign * (certificate.upper - certificate.lower)
    (claim,) = content["claims"]
    claim |= {"lower": str(certificate.lower + moved), "upper": str(certificate.upper + moved)}
    assert verify(with_checksum(content)).status == 1
    assert verify(proven.proven(content)).status == 1


def test_a_law_without_tails_is_refused() -> None:
    from logphi.checker.arithmetic.work import Undecided
    from logphi.checker.laws.law import Law

    with precision(64), pytest.raises(Undecided, match="tails of a law"):
        proven.cells(Composition([(Law(), 2)]), [Fraction(1)], -20.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [1, 5])
def test_false_claims_by_a_hair_do_not_pass(count: int) -> None:
    """A claim beside the truth by its own width, in either direction."""
    from hostile import certificate
    from logphi.checker.text.reading import NOT_COVERED

    base = {"name": "Laplace", "adjacency": "add_remove", "parameters": {"scale": "1", "sensitivity": "1"}}
    node = {"name": "poisson", "adjacency": "add_remove", "parameters": {"rate": "1/10", "group_size": "1"}, "base": base}
    truth = (count * lp.Laplace(scale=1).poisson(0.1)).delta(0.1, rtol=1e-12).value
    for shift, status in ((0, 0), (-1.2e-3, 1), (1.2e-3, 1)):
        low, high = (f"{truth * (1 + shift + side * 4e-4):.12g}" for side in (-1, 1))
        text = certificate([[count, node]], NOT_COVERED, at=("delta", "1/10"), bounds=(low, high))
        assert verify(proven.reproven(text)).status == status
