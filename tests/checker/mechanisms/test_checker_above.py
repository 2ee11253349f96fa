"""Mechanisms of which bounds are known: the upper ends against closed forms in mpmath, and what is not proved is refused."""

import json
import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

pytest.importorskip("flint")

import logphi as lp
from logphi.checker import verify
from profiles import gaussian_profile
from signed_claims import node, sealed, signed


def laplace_profile(w, epsilon):
    """Of Lap(w, 1) against Lap(0, 1)."""
    return max(1 - mpmath.exp((epsilon - w) / 2) if epsilon > -w else 1 - mpmath.exp(epsilon), mpmath.mpf(0))


def truncated_profile(m, far, epsilon):
    """Of N(m, 1) within far of m against N(0, 1) within far of 0."""
    share = mpmath.ncdf(far) - mpmath.ncdf(-far)
    low = min(max(epsilon / m + m / 2, m - far), far)
    p, q = mpmath.ncdf(far - m) - mpmath.ncdf(low - m), mpmath.ncdf(far) - mpmath.ncdf(low)
    alone = mpmath.ncdf(far) - mpmath.ncdf(far - m)
    return (alone + p - mpmath.exp(epsilon) * q) / share


def seen(gap, tail, far=None):
    """P(noise >= gap), within a range."""
    beyond = 0 if far is None else tail(far)
    return (tail(gap) - beyond) / (1 - 2 * beyond)


def laplace_tail(x):
    return mpmath.exp(-x) / 2 if x >= 0 else 1 - mpmath.exp(x) / 2


def normal_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def partitions(**given: Any) -> dict[str, Any]:
    own = {"threshold": "10", "scale": None, "sigma": None, "truncation": None, "sensitivity": "1", "partitions": "1"}
    return node("StabilityThreshold", **{"adjacency": "add_remove", **own, **given})


@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.6", "-0.3"])
@pytest.mark.parametrize("adjacency", ["remove", "add"])
@pytest.mark.parametrize(
    ("given", "number", "count", "chance", "profile"),
    [
        ({"scale": "2"}, 1, 1, lambda: seen(4.5, laplace_tail), lambda x: laplace_profile(0.5, x)),
        ({"sigma": "4"}, 1, 9, lambda: seen(mpmath.mpf(9) / 4, normal_tail), gaussian_profile(0.75)),
        (
            {"sigma": "4", "partitions": "3"},
            3,
            3,
            lambda: seen(mpmath.mpf(9) / 4, normal_tail),
            gaussian_profile(0.75),
        ),
        (
            {"sigma": "4", "truncation": "12", "threshold": "-2"},
            *(1, 1),
            lambda: seen(mpmath.mpf(-3) / 4, normal_tail, 3),
            lambda x: truncated_profile(0.25, 3, x),
        ),
        ({"sigma": "4", "truncation": "9"}, 1, 1, lambda: 0, lambda x: truncated_profile(0.25, mpmath.mpf(9) / 4, x)),
    ],
)
def test_partitions(
    epsilon: str, adjacency: str, given: dict[str, Any], number: int, count: int, chance: Any, profile: Any
) -> None:
    """With missed the probability that none is seen: 1 - missed + missed delta(eps - log missed), delta that of the noise."""
    with mpmath.workdps(40):
        missed = (1 - chance()) ** (number * count)
        # the noise is symmetric; reversed, Q misses nothing for sure
        at = mpmath.mpf(epsilon) + (mpmath.log(missed) if adjacency == "add" else -mpmath.log(missed))
        value = profile(at) if adjacency == "add" else 1 - missed + missed * profile(at)
    mechanism = (count, partitions(adjacency=adjacency, **given))
    for room, status in ((1e-9, 0), *([(-1e-9, 1)] if value > 1e-9 else [])):
        assert verify(signed(mechanism, at=epsilon, lower=0, upper=float(value) + room, adjacency=adjacency)).status == status


@pytest.mark.parametrize("epsilon", ["0.05", "0.3"])
@pytest.mark.parametrize("adjacency", ["remove", "add"])
@pytest.mark.parametrize("chosen", [False, True])
def test_samples_of_partitions(epsilon: str, adjacency: str, chosen: bool) -> None:
    """Where one partition is never new, its sample is that of noise; else a sample at rate 1 is the mechanism itself."""
    noise = partitions(sigma="4", truncation="9", adjacency="add_remove")
    base = node("RandomChoice", [noise], probabilities=["1"]) if chosen else noise
    with mpmath.workdps(30):
        q, x, far = mpmath.mpf(1) / 5, mpmath.mpf(epsilon), mpmath.mpf(9) / 4
        # (1-q) Q + q P against Q; reversed, by h(1/a) = 1 - 1/a + h(a)/a
        side = x if adjacency == "remove" else -x
        inner = mpmath.log(1 + mpmath.expm1(side) / q) if 1 + mpmath.expm1(side) / q > 0 else None
        there = q * truncated_profile(0.25, far, inner) if inner is not None else 1 - mpmath.exp(side)
        value = there if adjacency == "remove" else 1 - mpmath.exp(x) + mpmath.exp(x) * there
    mechanism = (1, node("poisson", base, adjacency=adjacency, rate="1/5", group_size="1"))
    for room, status in ((max(1e-3 * value, 1e-9), 0), *([(-1e-9, 1)] if value > 1e-8 else [])):
        assert verify(signed(mechanism, at=epsilon, lower=0, upper=float(value + room), adjacency=adjacency)).status == status
    assert verify(signed(mechanism, at=epsilon, lower=1e-9, upper=1, adjacency=adjacency)).status == 1


def vector(**given: Any) -> dict[str, Any]:
    own = {
        "query_scale": "8",
        "threshold_scale": None,
        "threshold_sigma": None,
        "sensitivity": "1",
        "answers": "2",
        "monotone": "0",
    }
    return node("SparseVector", **{"adjacency": "add_remove", **own, **given})


def attack(scale: float, query: float, number: int, epsilon: float) -> float:
    """Delta of queries that are all one larger with the record, below the threshold, until one is above: by a sum over r."""
    step, outcomes = 0.02, [[0.0, 0.0] for _ in range(number + 1)]
    for k in range(int(-30 * scale / step), int(30 * scale / step)):
        r = (k + 0.5) * step
        weight = math.exp(-abs(r) / scale) / (2 * scale) * step
        for side, value in enumerate((-1.0, -2.0)):
            chance = float(laplace_tail(mpmath.mpf((r - value) / query)))
            for place in range(number + 1):
                outcomes[place][side] += weight * (1 - chance) ** place * (chance if place < number else 1)
    return max(sum(max(one[side] - math.exp(epsilon) * one[1 - side], 0.0) for one in outcomes) for side in (0, 1))


@pytest.mark.few(1)
@pytest.mark.parametrize("epsilon", ["0", "0.15", "0.4"])
def test_a_sparse_vector_leaks_more_than_an_attack_and_less_than_its_pure_guarantee(epsilon: str) -> None:
    given = {"threshold_scale": "4", "query_scale": "4", "answers": "1"}
    least, total = attack(4.0, 4.0, 4, float(epsilon)), 0.25 + 0.5
    most = max(math.exp(total) - math.exp(float(epsilon)), 0.0) / (1 + math.exp(total))
    assert least < most
    assert verify(signed((1, vector(**given)), at=epsilon, lower=0, upper=most)).status == 0
    if least > 0:
        assert verify(signed((1, vector(**given)), at=epsilon, lower=0, upper=least)).status == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("adjacency", "width", "monotone"),
    [
        # each with each of another column
        ("add", "threshold_scale", True),
        ("add", "threshold_sigma", False),
        ("remove", "threshold_scale", False),
        ("remove", "threshold_sigma", True),
        ("replace", "threshold_scale", False),
        ("replace", "threshold_sigma", True),
    ],
)
def test_a_sparse_vector_is_as_the_doubles_say(adjacency: Any, width: str, monotone: bool) -> None:
    """Two programs with grids of their own, both from above."""
    release = lp.SparseVector(query_scale=8, answers=2, monotone=monotone, adjacency=adjacency, **{width: 4})
    found = release.delta(0.2).upper
    mechanism = (1, vector(adjacency=adjacency, monotone=str(int(monotone)), **{width: "4"}))
    for factor, status in ((1.003, 0), (0.98, 1)):
        assert verify(signed(mechanism, at="0.2", lower=0, upper=found * factor, adjacency=adjacency)).status == status


@pytest.mark.slow
def test_an_epsilon_next_to_the_largest_loss():
    """The checker derives more there than the doubles say, and nothing above: the end is between."""
    release = lp.SparseVector(query_scale=20, threshold_scale=10)
    made: Any = release.certify(delta=1e-6)
    assert verify(made.to_json()).status == 0
    (claim,) = made.claims
    assert release.epsilon(1e-6).upper <= float(claim.upper) < 0.2001


def test_what_is_above_has_no_lower_end():
    assert verify(signed((1, partitions(scale="2")), at="0.1", lower=0.01, upper=0.9)).status == 1
    coin = node("RandomChoice", [partitions(scale="2")], probabilities=["1"])
    assert verify(signed((1, coin), at="0.1", lower=0.01, upper=0.9)).status == 1
    assert verify(signed((1, coin), at="0.1", lower=0, upper=0.9)).status == 0


WRONG = {
    "two widths": partitions(scale="1", sigma="1"),
    "no width": partitions(),
    "a width of zero": partitions(scale="0"),
    "a relation": partitions(adjacency="replace", scale="1"),
    "no partitions": partitions(scale="1", partitions="0"),
    "too many partitions": partitions(scale="1", partitions="1000001"),
    "noise that never keeps below": partitions(scale="1", truncation="2", threshold="-1"),
    "noise without common outputs": partitions(scale="1", truncation="1/2"),
    "a threshold with two widths": vector(threshold_scale="1", threshold_sigma="1"),
    "a threshold without noise": vector(),
    "no answers": vector(threshold_scale="1", answers="0"),
    "neither one-sided nor not": vector(threshold_scale="1", monotone="2"),
    "a sample of a sample": node(
        "poisson", node("poisson", partitions(scale="1"), rate="1/2", group_size="1"), rate="1/2", group_size="1"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_mechanism(name: str) -> None:
    relation = WRONG[name]["adjacency"]
    assert verify(signed((1, WRONG[name]), at="0.1", lower=0, upper=1, adjacency=relation)).status == 2


@pytest.mark.parametrize("count", [1, 10**300])
def test_hostile_numbers_keep_the_budget(count: int) -> None:
    far = partitions(scale="1e-300", threshold="1e300", partitions="1000000")
    assert verify(signed((count, far), at="0.1", lower=0, upper=0.5)).status in (0, 1)


HOSTILE = {
    "moves that are too small": vector(threshold_scale="1", query_scale="1e300"),
    "moves that are too large": vector(threshold_scale="1", query_scale="1e-300"),
    "noise without end": vector(threshold_scale="1e-300"),
    "hardly any noise": vector(threshold_sigma="1e-300"),
    "a threshold that hardly moves": vector(threshold_scale="1e300"),
    "many answers": vector(threshold_scale="1", answers="1000000"),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_vectors_keep_the_budget(name: str) -> None:
    assert verify(signed((1, HOSTILE[name]), at="0.1", lower=0, upper=0.01), work=10**7).status == 1


RELEASES = {
    "a sparse vector": lp.SparseVector(query_scale=8, threshold_scale=4),
    "partitions": lp.StabilityThreshold(threshold=48, scale=4, partitions=2),
    "beside noise": lp.StabilityThreshold(threshold=30, sigma=5) + 10 * lp.Gaussian(sigma=20),
    "a coin and partitions": lp.RandomChoice([lp.StabilityThreshold(threshold=30, scale=3), lp.Gaussian(3)], [0.5, 0.5]),
    "declared": lp.ZCDP(rho=0.01),
    "a sample of partitions": lp.StabilityThreshold(threshold=48, scale=4, partitions=2).poisson(0.25),
    "a sample of a sparse vector": 3 * lp.SparseVector(query_scale=8, threshold_scale=4).poisson(0.25),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RELEASES)
def test_a_certificate_holds_the_private_ends(name: str) -> None:
    release = RELEASES[name]
    made: Any = release.certify(delta=[1e-4], epsilon=0.5, type_one_error=0.1, advantage=True, digits=4)
    assert lp.verify(made)
    of_epsilon, of_delta, errors, advantage = made.claims
    for claim, found in (
        (of_epsilon, release.epsilon(1e-4)),
        (of_delta, release.delta(0.5)),
        (advantage, release.risk.advantage()),
    ):
        assert claim.lower == 0
        assert found.upper <= claim.upper <= Fraction(found.upper) * Fraction(1003, 1000)
    assert errors.upper is None
    found = release.tradeoff(0.1)
    assert Fraction(found.lower) * Fraction(997, 1000) <= errors.lower <= found.lower


def altered(made: Any, change: Any) -> str:
    """With another claim or mechanism, and a digest that agrees."""
    content = json.loads(made.to_json())
    change(content)
    return sealed(content)


FORGERIES = {
    "a smaller end": lambda content: content["claims"][0].update(upper="0.49"),
    "a larger error": lambda content: content["claims"][1].update(lower="0.9"),
    "another line": lambda content: content["claims"][1].update(lines={"remove": ["5"], "add": ["5"]}),
    "no line of one order": lambda content: content["claims"][1].update(
        lines={"remove": content["claims"][1]["lines"]["remove"]}
    ),
    "swapped ends": lambda content: content["claims"][0].update(lower=content["claims"][0]["upper"], upper=None),
    "a lower end": lambda content: content["claims"][0].update(lower="0.1"),
    "an upper end of an error": lambda content: content["claims"][1].update(upper="1"),
    "a smaller threshold": lambda content: content["releases"][0]["mechanism"][0][1]["parameters"].update(threshold="20"),
    "less noise": lambda content: content["releases"][0]["mechanism"][0][1]["parameters"].update(scale="3"),
    "more partitions": lambda content: content["releases"][0]["mechanism"][0][1]["parameters"].update(partitions="3"),
    "more releases": lambda content: content["releases"][0]["mechanism"][0].__setitem__(0, 2),
    "a divergence": lambda content: content["claims"][0].update(quantity="renyi", at="2", upper="100"),
}


def test_forgeries_are_refused():
    made = RELEASES["partitions"].certify(delta=[1e-4], type_one_error=0.1)
    assert verify(altered(made, lambda content: None)).status == 0
    for name, change in FORGERIES.items():
        assert verify(altered(made, change)).status == 1, name


@pytest.mark.slow
def test_reports_and_calibrations():
    """Of a report all that is finite; of a calibration that the value suffices, as nothing shows that the next one does not."""
    statement = lp.report(RELEASES["partitions"], delta=1e-4, epsilons=[0.2], deltas=[])
    made = statement.certify(digits=6)
    assert lp.verify(made)
    assert {claim.quantity for claim in made.claims} == {"epsilon", "delta", "tradeoff", "advantage"}
    noise = lp.calibrate(lambda rho: lp.ZCDP(rho=rho), epsilon=1, delta=1e-6, digits=3)
    assert [(claim.lower, claim.upper) for claim in noise.certify().claims] == [(Fraction(0), Fraction(1))]
    ledger = lp.Accountant()
    ledger.step(RELEASES["partitions"])
    assert ledger.certify(delta=1e-4) == RELEASES["partitions"].certify(delta=1e-4)


def test_what_is_refused():
    # with a probability, only one of the two laws has some outcomes
    with pytest.raises(ValueError, match="no finite renyi"):
        RELEASES["partitions"].certify(order=2)
