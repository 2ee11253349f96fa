"""Truncated noise, public coins, shuffled reports and mechanisms known by a curve: against sums and closed forms in doubles."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

flint = pytest.importorskip("flint")

from logphi.checker import verify  # noqa: E402
from profiles import gaussian_profile  # noqa: E402
from signed_claims import node, signed  # noqa: E402


def gaussian(sigma: str) -> dict[str, Any]:
    return node("Gaussian", sigma=sigma, sensitivity="1")


def accepted(*mechanism: Any, at: str, value: float, width: float = 1e-10, **more: Any) -> bool:
    """Whether the value is accepted; the same, signed again with both ends on one side of it, must be refused."""
    for sign in (-3, 3):
        moved = value + sign * width
        assert verify(signed(*mechanism, at=at, lower=moved - width, upper=moved + width, **more)).status == 1
    return verify(signed(*mechanism, at=at, lower=value - width, upper=value + width, **more)).status == 0


def by_quadrature(density: Callable[[float], float], epsilon: float, move: float, end: float) -> float:
    """The integral of (p - e^eps q)_+ for a density on [-end, end] that is moved; the rule in the middle of cells."""
    cells = 200_000
    step = (2 * end + move) / cells
    places = [-end + (k + 0.5) * step for k in range(cells)]
    whole = sum(density(x) for x in places if x <= end) * step
    shifted = (density(x - move) if x - move >= -end else 0.0 for x in places)
    own = (density(x) if x <= end else 0.0 for x in places)
    return sum(max(p - math.exp(epsilon) * q, 0.0) for p, q in zip(shifted, own, strict=True)) * step / whole


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("name", "density", "move", "end"),
    [
        ("TruncatedGaussian", lambda x: math.exp(-x * x / 2), 0.5, 2.0),
        ("TruncatedGaussian", lambda x: math.exp(-x * x / 2), 3.0, 2.0),
        ("TruncatedLaplace", lambda x: math.exp(-abs(x)), 0.5, 2.0),
        ("TruncatedLaplace", lambda x: math.exp(-abs(x)), 3.0, 2.0),
    ],
)
@pytest.mark.parametrize("epsilon", ["0.1", "-0.2"])
def test_truncated_noise(name: str, density: Callable[[float], float], move: float, end: float, epsilon: str) -> None:
    width = "sigma" if "Gauss" in name else "scale"
    noise = node(name, **{width: "1"}, truncation=str(end), sensitivity=str(move))
    value = by_quadrature(density, float(epsilon), move, end)
    # the rule is off by a cell at the jumps
    assert accepted((1, noise), at=epsilon, value=value, width=3e-5)


def profile(mu: float, epsilon: float) -> float:
    return float(gaussian_profile(mu)(epsilon))


def test_releases_of_noise_that_is_hardly_cut():
    """They are those of the whole noise."""
    far = node("TruncatedGaussian", sigma="1", truncation="9", sensitivity="1/2")
    assert accepted((1, far), at="0.5", value=profile(0.5, 0.5), width=1e-9)
    assert accepted((20, far), at="0.5", value=profile(0.5 * math.sqrt(20), 0.5), width=1e-7)


POINTS = [(0.0, 0.875), (0.125, 0.5), (0.25, 0.45), (0.5, 0.125)]


@pytest.mark.parametrize("adjacency", ["add_remove", "remove", "add"])
@pytest.mark.parametrize("epsilon", ["0.3", "1.1", "-0.4", "5"])
def test_a_tradeoff_function(adjacency: str, epsilon: str) -> None:
    """Delta is the conjugate: the largest 1 - f - a alpha over the vertices; of the inverse, alpha and f change places."""
    vertices = [*POINTS, (1.0, 0.0)]
    a = math.exp(float(epsilon))
    given, inverse = max(1 - y - a * x for x, y in vertices), max(1 - x - a * y for x, y in [*vertices, (0.0, 1.0)])
    # the curve of the order add is the given one, under add
    value = max(given, inverse) if adjacency == "add_remove" else given
    first, second = ([repr(point[k]) for point in POINTS] for k in (0, 1))
    mechanism = node("FromTradeoff", adjacency=adjacency, type_one_errors=first, type_two_errors=second)
    assert accepted((1, mechanism), at=epsilon, value=max(value, 0.0), adjacency=adjacency)


@pytest.mark.parametrize("adjacency", ["add_remove", "remove", "add"])
@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "0.7", "1.5", "-0.3"])
def test_a_profile(adjacency: str, epsilon: str) -> None:
    """Delta is the largest convex function below the points, linear in a between two of them."""
    given = [(0.5, 0.25), (1.0, 0.015625), (0.9, 0.2)]
    points = [(math.exp(e), d) for e, d in given]
    if adjacency == "add_remove":
        points += [(1 / a, 1 - 1 / a + d / a) for a, d in points]
    points = [(0.0, 1.0), *points]
    a, far = math.exp(float(epsilon)), (1e12, min(d for _, d in points))
    pairs = [(one, other) for one in points for other in [*points, far] if one[0] < other[0] and one[0] <= a <= other[0]]
    value = min(y + (v - y) * (a - x) / (u - x) for (x, y), (u, v) in pairs)
    lists = {"epsilons": [repr(e) for e, _ in given], "deltas": [repr(d) for _, d in given]}
    assert accepted((1, node("FromProfile", adjacency=adjacency, **lists)), at=epsilon, value=value, adjacency=adjacency)


RESPONSES = [(math.e / (1 + math.e) * 0.99, 0.99 / (1 + math.e)), (0.99 / (1 + math.e), math.e / (1 + math.e) * 0.99)]
FINITE = {
    "ApproximateDP": (
        node("ApproximateDP", adjacency="replace", epsilon="1", delta="1/100"),
        [*RESPONSES, (0.01, 0), (0, 0.01)],
    ),
    "Discrete": (
        node("Discrete", adjacency="replace", p=["1/2", "1/4", "1/8", "1/8"], q=["1/4", "1/4", "1/2", "0"]),
        [(0.5, 0.25), (0.25, 0.25), (0.125, 0.5), (0.125, 0)],
    ),
    "FromTradeoff": (
        node("FromTradeoff", adjacency="replace", type_one_errors=["0", "1/4"], type_two_errors=["7/8", "1/4"]),
        [(0.125, 0), (0.625, 0.25), (0.25, 0.75)],
    ),
}


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("rate", ["1/5", "3/4"])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.6"])
def test_a_subset_under_replace(name: str, rate: str, epsilon: str) -> None:
    """From zero on the profile is g delta(log(1 + (e^eps - 1) / g)), delta that of the base ([AFA] Proposition 30)."""
    base, outcomes = FINITE[name]
    g = float(Fraction(rate))
    a = 1 + math.expm1(float(epsilon)) / g
    value = g * max(sum(max(p - a * q, 0.0) for p, q in side) for side in (outcomes, [(q, p) for p, q in outcomes]))
    sample = node("subset", base, adjacency="replace", rate=rate)
    assert accepted((1, sample), at=epsilon, value=value, adjacency="replace")


def test_shuffled_reports():
    """Every count of clones by itself; the reports need not attain what their clones leak."""
    e, n, a = math.exp(-1.0), 12, math.exp(0.25)
    value = 0.0
    for clones in range(n):
        chance = math.comb(n - 1, clones) * e**clones * (1 - e) ** (n - 1 - clones)
        for one in range(clones + 2):
            other = clones + 1 - one
            share = chance * math.comb(clones + 1, one) / 2.0 ** (clones + 1) * 2 / ((1 + e) * (clones + 1))
            value += max(share * ((one + e * other) - a * (e * one + other)), 0.0)
    few = (1, node("ShuffledReports", local_epsilon="1", records="12"))
    claims = [(0, value + 1e-10), (0, value - 1e-10), (value - 1e-10, value + 1e-10)]
    assert [verify(signed(few, at="0.25", lower=low, upper=high)).status for low, high in claims] == [0, 1, 1]
    many = node("ShuffledReports", local_epsilon="1", records="1000000000")
    assert verify(signed((1, many), at="0", lower=0, upper=1)).status == 1


def test_a_public_coin():
    coin = node("RandomChoice", [gaussian("2"), gaussian("4")], probabilities=["1/4", "3/4"])
    value = 0.25 * profile(0.5, 0.3) + 0.75 * profile(0.25, 0.3)
    assert accepted((1, coin), at="0.3", value=value)
    # of two throws there are three cases
    cases = [(1 / 16, math.sqrt(0.5)), (6 / 16, math.sqrt(0.3125)), (9 / 16, math.sqrt(0.125))]
    assert accepted((2, coin), at="0.3", value=sum(share * profile(mu, 0.3) for share, mu in cases))
    both = {"name": "composition", "adjacency": "add_remove", "terms": [[3, gaussian("2")], [1, gaussian("4")]]}
    nested = node("RandomChoice", [gaussian("2"), both], probabilities=["1/2", "1/2"])
    value = 0.5 * profile(0.5, 0.3) + 0.5 * profile(math.sqrt(13 / 16), 0.3)
    assert accepted((1, nested), at="0.3", value=value)


def test_a_sample_of_a_public_coin():
    """The profile of one sample: q delta(log(1 + (e^eps - 1)/q)), mean over the coin, in the order remove."""
    coin = node("RandomChoice", [gaussian("1"), gaussian("2")], adjacency="remove", probabilities=["1/4", "3/4"])
    for one in coin["base"]:
        one["adjacency"] = "remove"
    sample = node("poisson", coin, adjacency="remove", rate="1/5", group_size="1")
    moved = math.log1p(math.expm1(0.1) / 0.2)
    value = 0.2 * (0.25 * profile(1, moved) + 0.75 * profile(0.5, moved))
    assert accepted((1, sample), at="0.1", value=value, adjacency="remove")


COIN = node("RandomChoice", [gaussian("2"), gaussian("4")], probabilities=["1/4", "3/4"])
WRONG = {
    "a choice in a choice": node("RandomChoice", [COIN, gaussian("2")], probabilities=["1/2", "1/2"]),
    "a choice in a sample in a choice": node(
        "RandomChoice", [node("poisson", COIN, rate="1/2", group_size="1")], probabilities=["1"]
    ),
    "a sample of a sample in a choice": node(
        "poisson",
        node("RandomChoice", [node("poisson", gaussian("1"), rate="1/2", group_size="1")], probabilities=["1"]),
        rate="1/2",
        group_size="1",
    ),
    "another number of parts": node("RandomChoice", [gaussian("2")], probabilities=["1/4", "3/4"]),
    "no parts": node("RandomChoice", [], probabilities=["1"]),
    "another relation": node(
        "RandomChoice", [node("Gaussian", adjacency="add", sigma="1", sensitivity="1")], probabilities=["1"]
    ),
    "a composition of nothing": node(
        "RandomChoice", [{"name": "composition", "adjacency": "add_remove", "terms": []}], probabilities=["1"]
    ),
    "chances that are too small": node("RandomChoice", [gaussian("2"), gaussian("4")], probabilities=["1/4", "1/4"]),
    "noise without common outputs": node("TruncatedLaplace", scale="1", truncation="1", sensitivity="2"),
    "errors that sum to more than one": node("FromTradeoff", type_one_errors=["0", "1/2"], type_two_errors=["1", "3/4"]),
    "no error at zero": node("FromTradeoff", type_one_errors=["1/2"], type_two_errors=["1/4"]),
    "an error of zero at zero": node("FromTradeoff", type_one_errors=["0"], type_two_errors=["0"]),
    "lists of two lengths": node("FromTradeoff", type_one_errors=["0", "1/2"], type_two_errors=["1"]),
    "deltas of one": node("FromProfile", epsilons=["1"], deltas=["1"]),
    "deltas above one": node("FromProfile", epsilons=["1", "2"], deltas=["2", "1/2"]),
    "no reports": node("ShuffledReports", local_epsilon="1", records="0"),
    "a sample of reports": node("poisson", node("ShuffledReports", local_epsilon="1", records="9"), rate="1/2", group_size="1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_mechanism(name: str) -> None:
    assert verify(signed((1, WRONG[name]), at="1/10", lower=0, upper=1)).status == 2


def test_failures_that_leak_more_than_the_test_are_not_known():
    """Above 1 - e^(-eps/2) the loss of the test would have a negative width."""
    for failure, status in (("0.39", 0), ("0.4", 1)):
        one = node("DistanceToInstability", epsilon="1", delta=failure)
        assert verify(signed((2, one), at="-1", lower=0, upper=1)).status == status


def test_a_point_below_every_profile_proves_nothing():
    """Delta(-1) is at least 1 - 1/e."""
    below = node("FromProfile", adjacency="remove", epsilons=["-1"], deltas=["1/2"])
    assert verify(signed((1, below), at="0", lower=0, upper=1, adjacency="remove")).status == 1


LONG = [str(k) for k in range(1, 1002)]
HOSTILE = {
    "many reports": [(10**9, node("ShuffledReports", local_epsilon="1/1000000", records="140"))],
    "a long curve": [
        (10**6, node("FromProfile", epsilons=[f"{k}/1001" for k in LONG], deltas=[f"1/{int(k) ** 2 + 1}" for k in LONG]))
    ],
    "long numbers": [
        (
            7,
            node(
                "FromTradeoff",
                type_one_errors=["0", *(f"1/{10**900 + int(k)}" for k in LONG[1:])],
                type_two_errors=["1/2"] * 1001,
            ),
        )
    ],
    "a wide choice": [(10**9, node("RandomChoice", [gaussian(k) for k in LONG], probabilities=["1/1001"] * 1001))],
    "a random choice between compositions": [
        (
            10**3,
            node(
                "RandomChoice",
                [{"name": "composition", "adjacency": "add_remove", "terms": [[10**100, COIN["base"][0]]] * 50}] * 100,
                probabilities=["1/100"] * 100,
            ),
        )
    ],
    "noise far out": [(3, node("TruncatedGaussian", sigma="1e-500", truncation="1", sensitivity="1"))],
    "noise with hardly any common output": [
        (10**6, node("TruncatedLaplace", scale="1", truncation="1", sensitivity="1." + "9" * 500))
    ],
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mechanisms_keep_the_budget(name: str) -> None:
    """Whatever is listed, the verdict comes within a small budget."""
    verdict = verify(signed(*HOSTILE[name], at="1/10", lower=0.3, upper=0.3), work=3e6)
    assert verdict.status == 1, verdict.reason


def test_the_vertices_are_those_of_the_hull():
    """A point above a chord of two others changes nothing."""
    three = [("1/2", "1/4"), ("4/5", "1/5"), ("1", "1/64")]
    for points in (three, three[::2], three[::-1]):
        mechanism = node("FromProfile", epsilons=[e for e, _ in points], deltas=[d for _, d in points])
        low, high = (math.exp(0.5), 0.25), (math.e, 1 / 64)
        value = low[1] + (high[1] - low[1]) * (math.exp(0.8) - low[0]) / (high[0] - low[0])
        assert accepted((1, mechanism), at="4/5", value=value)
