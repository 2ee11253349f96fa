"""Forged certificates: one number of a true one changed, and signed again. What is accepted agrees with the doubles."""

import json
import operator
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, reduce
from typing import Any

import pytest

pytest.importorskip("flint")

import logphi as lp
from alterations import altered, places, with_checksum
from logphi.checker import verify
from logphi.serialization import mechanism_from_data

# chosen: budgets, of which the least that is enough for what is true is that of its forgeries
WORK = (10**6, 4 * 10**6, 16 * 10**6, 3 * 10**7)
# chosen: small changes, far above the 15 digits of the claims, and large ones
SMALL, LARGE = (1 + Fraction(1, 10**6), 1 - Fraction(1, 10**6)), (Fraction(3, 2), Fraction(2, 3))
CERTIFICATES: dict[str, dict[str, Any]] = {
    "5 * Laplace(scale=2)": {"epsilon": 0.5},
    "20 * ExponentialMechanism(epsilon=0.5)": {"delta": 1e-5},
    "10 * RandomizedResponse(0.7)": {"epsilon": 1},
    "10 * KaryRandomizedResponse(k=5, p=0.3, adjacency='replace')": {"delta": 1e-4},
    "30 * DiscreteLaplace(scale=2)": {"epsilon": 0.5},
    "20 * DiscreteGaussian(sigma=3)": {"delta": 1e-6},
    "3 * DiscreteGaussian(sigma=3, truncation=40)": {"epsilon": 0.5},
    "10 * PureDP(0.2)": {"delta": 1e-4},
    "4 * ApproximateDP(0.3, 1e-4)": {"delta": 1e-3},
    "3 * DistanceToInstability(epsilon=1, delta=1e-4)": {"epsilon": 0.5},
    "3 * Discrete(p=[0.2, 0.3, 0.5], q=[0.3, 0.3, 0.4])": {"epsilon": 0.2},
    "3 * Discrete(p=[0.2, 0.3, 0.5], q=[0.3, 0.3, 0.4]).poisson(0.5)": {"epsilon": 0.1},
    "3 * FromTradeoff([0, 0.1, 0.5], [0.9, 0.6, 0.2])": {"epsilon": 0.5},
    "3 * FromProfile([0, 1], [0.2, 0.01])": {"epsilon": 0.5},
    "TruncatedLaplace(scale=4, truncation=16, sensitivity=2)": {"epsilon": 0.2},
    "RandomizedResponse(0.7).allocation(10)": {"epsilon": 0.1},
    "2 * StabilityThreshold(threshold=30, sigma=5)": {"delta": 1e-4},
    "3 * RandomChoice([Gaussian(2), 2 * Gaussian(4) + Laplace(3)], [0.25, 0.75])": {"epsilon": 0.5},
    "3 * GaussianPair(0.5, 1.2, 0, 1)": {"epsilon": 0.5},
    "RandomizedResponse(0.6).repeat_and_select(5)": {"delta": 1e-4, "digits": 3},
    "Discrete(p=[0.2, 0.3, 0.5], q=[0.3, 0.3, 0.4]).repeat_and_select(3, 0.5)": {"epsilon": 0.2},
    "Laplace(scale=3).repeat_and_select(0.7, inf)": {"epsilon": 0.2},
    "StabilityThreshold(threshold=30, sigma=5).poisson(0.25)": {"delta": 1e-3},
    "SparseVector(query_scale=8, threshold_scale=4).poisson(0.25)": {"epsilon": 0.05},
    "ZCDP(rho=0.1) + Gaussian(sigma=3)": {"order": 4},
    "RandomChoice([RandomizedResponse(0.7).allocation(4), Laplace(3)], [0.25, 0.75])": {"epsilon": 0.2, "digits": 2},
    "100 * Gaussian(sigma=20)": {"delta": [1e-5], "type_one_error": 0.01, "order": 8, "advantage": True, "digits": 6},
}


def forged(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The certificate with each of its numbers changed."""
    # what is known from above only is claimed to a few digits, in which a small change of a mechanism is lost
    sharp = any(claim["lower"] != "0" for claim in content["claims"])
    for path in places(content):
        value: Any = content
        for key in path:
            value = value[key]
        if not path or path[0] not in ("claims", "releases") or isinstance(value, bool):
            continue
        if isinstance(value, int):
            yield from (altered(content, path, one) for one in (value + 1, 2 * value) if one != value)
        elif isinstance(value, str) and value[:1].isdigit() and value != "0":
            changes = LARGE if path[0] == "releases" and not sharp else SMALL + LARGE
            yield from (altered(content, path, str(Fraction(value) * change)) for change in changes)


@cache
def answer(mechanism: str, quantity: str, at: Fraction, direction: str | None) -> Any:
    """The bound in doubles; of many forgeries only the claim differs."""
    release: Any = reduce(operator.add, [count * mechanism_from_data(node) for count, node in json.loads(mechanism)])
    ask = {"epsilon": release.epsilon, "delta": release.delta, "advantage": release.delta, "tradeoff": release.tradeoff}
    return ask.get(quantity, release.renyi)(float(at), direction=direction)


def agrees(claim: dict[str, Any], mechanism: list[list[Any]]) -> bool:
    """Whether a claim does not contradict the bounds in doubles."""
    found = answer(json.dumps(mechanism), claim["quantity"], Fraction(claim["at"]), claim["direction"])
    low, high = Fraction(claim["lower"]), claim["upper"]
    # of several exponential mechanisms, lower ends are those of their hulls
    hulls = any(node["name"] == "ExponentialMechanism" for _, node in mechanism)
    # the hull of a SparseVector has fewer outcomes in doubles
    room = 1 - 1e-3 if "SparseVector" in json.dumps(mechanism) else 1.0
    return bool((hulls or found.upper >= low) and (high is None or found.lower * room <= Fraction(high)))


@pytest.mark.slow
@pytest.mark.parametrize("expression", CERTIFICATES)
def test_what_is_accepted_is_true(expression: str) -> None:
    content = json.loads(lp.parse(expression).certify(**CERTIFICATES[expression]).to_json())
    work = next(most for most in WORK if verify(content, work=most))
    refused = 0
    for one in forged(content):
        if verify(with_checksum(one), work=work).status:
            refused += 1
            continue
        for claim in one["claims"]:
            assert agrees(claim, one["releases"][claim["release"]]["mechanism"]), one
    assert refused
