"""Forged proofs: whatever numbers a file states, what the checker derives holds the truth, known by other means."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

pytest.importorskip("flint")

import logphi as lp
from alterations import altered, with_checksum
from logphi.checker import verify
from profiles import gaussian_profile

# for each method a release whose delta at an epsilon it shows
SHOWN: dict[str, tuple[str, str]] = {
    "alone": ("Laplace(scale=2)", "1/10"),
    "beyond": ("2 * PureDP(0.2)", "1/2"),
    "chernoff": ("3 * Gaussian(sigma=1.5).poisson(0.1) + Gaussian(sigma=10)", "6"),
    "line": ("100 * Gaussian(sigma=2).poisson(0.1)", "1/2"),
    "folded": ("20 * DiscreteGaussian(sigma=3)", "1/2"),
    "bent": ("3 * GaussianPair(0.5, 1.2, 0, 1)", "1/2"),
    "residues": ("5 * Laplace(scale=2)", "1/2"),
    "averaged": ("GaussianPair(0.5, 1.2, 0, 1) + RandomizedResponse(0.6)", "1/2"),
    "two": ("2 * Gaussian(sigma=1).poisson(0.1)", "1/2"),
    "cells": ("3 * Laplace(scale=1).poisson(0.1)", "2/5"),
    "nodes": ("Gaussian(sigma=1).allocation(10)", "1/2"),
    "tangents": ("ZCDP(rho=0.125)", "1/2"),
}
# chosen: as much as the proofs of two digits need; and what is put in the place of a number, or is a precision
WORK = 1.5e6
PUT = ["0", "-1", "1/3", "1e9", "1e-1000"]
STATED = {
    **{method: ["8"] for method in ("chernoff", "bent", "two", "nodes")},
    "cells": ["1/100", "-3/2", "300", "1/2"],
    "folded": ["1/2", "1001", "1/2", "1/2"],
    "line": ["1/2", "1/2", "500", "1/2", "1/2", "60", "1/2"],
    "tangents": ["3", "1/100", "1/1000"],
}
BITS = [0, 2, 30, 1000, 10**9]


def forged(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """With each number of each proof replaced, another precision, or another method."""
    order, proof = next(iter(content["claims"][0]["proof"].items()))
    path = ("claims", 0, "proof", order)
    for place in range(2, min(len(proof), 10)):
        own = Fraction(proof[place])
        for number in [*PUT, *(str(own * factor) for factor in (-1, Fraction(3, 2), 1 - Fraction(1, 10**9)))]:
            yield altered(content, (*path, place), number)
    yield from (altered(content, (*path, 1), bits) for bits in BITS)
    for method in (*SHOWN, "moment"):
        numbers = STATED.get(method, [])
        yield altered(content, path, [method, proof[1], *numbers])


@pytest.mark.few(4)
@pytest.mark.parametrize("method", SHOWN)
def test_what_is_derived_holds_the_truth(method: str) -> None:
    expression, epsilon = SHOWN[method]
    release, at = lp.parse(expression), Fraction(epsilon)
    content = json.loads(release.certify(epsilon=at, digits=2).to_json())
    assert method in {proof[0] for proof in content["claims"][0]["proof"].values()}
    least, most = release.delta(float(at)).lower, release.delta(float(at)).upper
    if method == "tangents":
        # a Gaussian mechanism has these divergences
        least = most = float(gaussian_profile(0.5)(float(at)))
    statuses = set()
    for one in forged(content):
        verdict = verify(with_checksum(one), work=WORK)
        statuses.add(verdict.status)
        assert verdict.derived is None or (verdict.derived[0] <= most and verdict.derived[1] >= least), one["claims"]
    assert {1, 2} <= statuses


HULLS = {
    "ZCDP(rho=0.125).poisson(0.2)": "1/10",
    "RandomChoice([ZCDP(0.125), Laplace(3)], [0.5, 0.5])": "1/2",
    "ZCDP(rho=0.125) + ApproximateDP(0.1, 1e-7)": "1/2",
    "ZCDP(rho=0.125).repeat_and_select(3)": "3/2",
}


@pytest.mark.few(1)
@pytest.mark.parametrize("expression", HULLS)
def test_forged_tangents_of_a_hull(expression: str) -> None:
    """Each mechanism leaks at least as much with the Gaussian mechanism that has the divergences."""
    at = Fraction(HULLS[expression])
    content = json.loads(lp.parse(expression).certify(epsilon=at, digits=2).to_json())
    truth = lp.parse(expression.replace("ZCDP(rho=0.125)", "Gaussian(2)").replace("ZCDP(0.125)", "Gaussian(2)"))
    # of the best of several runs less is known, but that it leaks more than one
    least = (lp.Gaussian(2) if "select" in expression else truth).delta(float(at)).lower
    hull, *others = content["releases"][0]["hulls"]
    for change in (
        lambda numbers: numbers[:3],
        lambda numbers: numbers[: len(numbers) // 6 * 3],
        lambda numbers: [str(Fraction(x) * Fraction(9, 10)) for x in numbers],
        lambda numbers: [x if k % 3 else str(Fraction(x) + 1) for k, x in enumerate(numbers)],
        lambda numbers: [x if k % 3 != 1 else str(Fraction(x) / 2) for k, x in enumerate(numbers)],
        lambda numbers: [x if k % 3 != 2 else str(Fraction(x) / 2) for k, x in enumerate(numbers)],
        lambda numbers: numbers[::-1],
        lambda numbers: numbers[1:],
        lambda numbers: ["2", "1e-1000", "1e-1001"],
        lambda numbers: ["2", "1", "0"],
    ):
        one = altered(content, ("releases", 0, "hulls"), [change(hull), *others])
        verdict = verify(with_checksum(one), work=2e6)
        assert verdict.derived is None or verdict.derived[1] >= least
    more = [hull, *others, hull]
    given: Any = ([], [[]], more, [["1", "2"]], {}, None, [hull[:1]])
    short: Any = ([], [["1", "2"]], [hull[:1]])
    for hulls in given:
        one = altered(content, ("releases", 0, "hulls"), hulls)
        assert verify(with_checksum(one)).status == (0 if hulls == more else 1 if hulls in short else 2)


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["alone", "line", "cells", "nodes"])
def test_ends_that_are_sharper_than_what_is_derived_are_refused(method: str) -> None:
    expression, epsilon = SHOWN[method]
    content = json.loads(lp.parse(expression).certify(epsilon=Fraction(epsilon), digits=3).to_json())
    derived = verify(with_checksum(content)).derived
    assert derived is not None
    for end, value in (("lower", derived[0] * (1 + Fraction(1, 10**6))), ("upper", derived[1] * (1 - Fraction(1, 10**6)))):
        assert verify(with_checksum(altered(content, ("claims", 0, end), f"{float(value):.12g}"))).status == 1


def test_a_claim_without_a_proof_is_refused() -> None:
    content = json.loads(lp.parse("5 * Gaussian(sigma=2).poisson(0.1)").certify(epsilon=0.5, digits=4).to_json())
    proof = content["claims"][0]["proof"]
    for given in ({}, {"remove": proof["remove"]}, {"add": proof["add"]}):
        verdict = verify(with_checksum(altered(content, ("claims", 0, "proof"), given)))
        assert verdict.status == 1
        assert "states no proof for direction" in verdict.reason
    # each order needs its own line, but any line will do
    swapped = {"remove": proof["add"], "add": proof["remove"]}
    assert verify(with_checksum(altered(content, ("claims", 0, "proof"), swapped))).status in (0, 1)


@pytest.mark.parametrize(
    "given", [[], None, {"both": ["alone", 64]}, {"remove": []}, {"remove": ["alone"]}, {"remove": "alone"}]
)
def test_malformed_proofs(given: Any) -> None:
    content = json.loads(lp.Laplace(2).certify(epsilon=0.1, digits=4).to_json())
    assert verify(with_checksum(altered(content, ("claims", 0, "proof"), given))).status == 2
