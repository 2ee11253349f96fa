"""The best of many runs: upper ends by the theorem in mpmath, attacks by enumeration, and files that are no certificates."""

import itertools
import math
from typing import Any

import mpmath
import pytest

pytest.importorskip("flint")

import logphi as lp
from logphi.checker import verify
from profiles import gaussian_profile
from signed_claims import node, signed


def runs(base: Any, mean: str, shape: str, adjacency: str = "add_remove") -> dict[str, Any]:
    return node("repeat_and_select", base, adjacency, mean=mean, shape=shape)


def gaussian(adjacency: str = "add_remove") -> dict[str, Any]:
    return node("Gaussian", adjacency=adjacency, sigma="2", sensitivity="1")


def gamma_of(mean, shape):
    """The parameter of the truncated negative binomial law, by bisection of its mean, shape (1 - g) / (g (1 - g^shape))."""
    low, high = mpmath.mpf(10) ** -9, 1 - mpmath.mpf(10) ** -9
    for _ in range(120):
        g = (low + high) / 2
        found = shape * (1 - g) / (g * (1 - g**shape)) if shape else (1 / g - 1) / -mpmath.log(g)
        low, high = (g, high) if found > mean else (low, g)
    return low


def log_ratio(m, mean, shape):
    """The logarithm of the supremum of f'(1 - T(x)) / f'(x), over places x of the trade-off function T of normal noise."""
    if math.isinf(shape):
        return mean * (1 - 2 * mpmath.ncdf(-m / 2))
    g = gamma_of(mean, shape)
    places = [mpmath.mpf(k) / 200 for k in range(-1600, 1601)]
    ratios = [(1 - (1 - g) * mpmath.ncdf(y)) / (g + (1 - g) * mpmath.ncdf(-m - y)) for y in places]
    return (shape + 1) * mpmath.log(max(ratios))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("mean", "shape", "epsilon"),
    [
        ("10", "1", "3"),
        ("10", "oo", "4.5"),
        ("3", "0", "2"),
        ("20", "0.5", "4"),
        ("1.5", "-0.5", "1.5"),
        ("0.5", "oo", "1.5"),
        ("0.5", "oo", "-1.5"),
    ],
)
def test_normal_runs(mean: str, shape: str, epsilon: str) -> None:
    """Where delta is small, the hull of the points of the theorem is the theorem."""
    with mpmath.workdps(25):
        m, number, x = mpmath.mpf(1) / 2, mpmath.mpf(mean), mpmath.mpf(epsilon)
        value = number * gaussian_profile(m)(abs(x) - log_ratio(m, number, float(shape.replace("oo", "inf"))))
        if x < 0:
            # normal noise is symmetric
            value = 1 - mpmath.exp(x) + mpmath.exp(x) * value
    assert value < 0.05 or x < 0
    # the points of the hull, and those of the supremum
    for factor, status in ((1 + 1e-3, 0), (1 - 3e-4, 1)):
        file = signed((1, runs(gaussian(), mean, shape)), at=epsilon, lower=0, upper=float(value * factor))
        assert verify(file).status == status


def outputs(masses, order, chances):
    """The probability that each outcome is the best of k runs, for the scores of an order from the worst to the best."""
    found, below = [0.0] * len(masses), 0.0
    for outcome in order:
        up_to = below + masses[outcome]
        found[outcome] = sum(c * (up_to**k - below**k) for k, c in chances.items())
        below = up_to
    return [*found, 1 - sum(found)]


LAWS = {
    # geometric of mean 3, and Poisson of mean 2
    ("3", "1"): {k: (2 / 3) ** (k - 1) / 3 for k in range(1, 120)},
    ("2", "oo"): {k: math.exp(-2) * 2**k / math.factorial(k) for k in range(1, 60)},
}


@pytest.mark.few(2)
@pytest.mark.parametrize("given", LAWS)
@pytest.mark.parametrize("epsilon", ["0", "0.7"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_no_score_leaks_more(given: tuple[str, str], epsilon: str, direction: str) -> None:
    """Of three outcomes, all orders of their scores: less than the worst of them leaks is refused as an upper end."""
    p, q = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
    base = node("Discrete", p=["0.5", "0.3", "0.2"], q=["0.2", "0.3", "0.5"])
    leaks = []
    for order in itertools.permutations(range(3)):
        one, other = (outputs(masses, order, LAWS[given]) for masses in ((p, q) if direction == "remove" else (q, p)))
        leaks.append(sum(max(a - math.exp(float(epsilon)) * b, 0) for a, b in zip(one, other, strict=True)))
    # the bound need not be attained
    for room, status in ((3, 0), (0.999, 1)):
        file = signed((1, runs(base, *given)), at=epsilon, lower=0, upper=min(max(leaks) * room, 1))
        assert verify(file).status == status


def test_runs_that_leak_nothing():
    nothing = node("Discrete", p=["0.5", "0.5"], q=["0.5", "0.5"])
    assert verify(signed((1, runs(nothing, "3", "1")), at="0.1", lower=0, upper=0)).status == 0


def test_there_is_no_lower_end():
    for lower in (1e-6, 0.01):
        assert verify(signed((1, runs(gaussian(), "3", "1")), at="0.5", lower=lower, upper=0.9)).status == 1


WRONG = {
    "less than a run": runs(gaussian(), "0.9", "1"),
    "exactly one run": runs(gaussian(), "1", "0"),
    "no runs": runs(gaussian(), "0", "oo"),
    "too many runs": runs(gaussian(), "1e10", "1"),
    "a shape of -1": runs(gaussian(), "3", "-1"),
    "a shape that is too large": runs(gaussian(), "3", "1e7"),
    "an infinite mean": runs(gaussian(), "oo", "1"),
    "no shape": {**runs(gaussian(), "3", "1"), "parameters": {"mean": "3"}},
    "a shape of null": {**runs(gaussian(), "3", "1"), "parameters": {"mean": "3", "shape": None}},
    "nothing to run": {key: value for key, value in runs(gaussian(), "3", "1").items() if key != "base"},
    "a list of runs": runs([gaussian()], "3", "1"),
    "one order": runs(gaussian("remove"), "3", "1", "remove"),
    "another relation": runs(gaussian("replace"), "3", "1"),
    "a selection of selections": runs(runs(gaussian(), "3", "1"), "3", "1"),
    "a sample": node("poisson", runs(gaussian(), "3", "1"), rate="1/2", group_size="1"),
    "a subset": node("subset", runs(gaussian("replace"), "3", "1", "replace"), "replace", rate="1/2"),
    "in an allocation": node("allocation", runs(gaussian(), "3", "1"), batches="4"),
    "in a choice": node("RandomChoice", [runs(gaussian(), "3", "1")], probabilities=["1"]),
    "infinite noise": node("Gaussian", sigma="oo", sensitivity="1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_mechanism(name: str) -> None:
    relation = WRONG[name]["adjacency"]
    assert verify(signed((1, WRONG[name]), at="0.1", lower=0, upper=1, adjacency=relation)).status == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "(100 * Gaussian(sigma=1.5).poisson(0.02)).repeat_and_select(20, 0)",
        "2 * (Laplace(scale=4) + Gaussian(sigma=5)).repeat_and_select(2, inf) + Gaussian(sigma=5)",
        "RandomChoice([Gaussian(4), Laplace(5)], [0.5, 0.5]).repeat_and_select(3)",
        "Gaussian(4).allocation(2).repeat_and_select(3)",
        "StabilityThreshold(threshold=60, scale=4).repeat_and_select(3)",
    ],
)
def test_certificates_hold_the_upper_end(expression: str) -> None:
    release = lp.parse(expression)
    made: Any = release.certify(delta=[1e-4], digits=3)
    assert_holds(made.claims[0], release)
    assert lp.verify(made)


def assert_holds(epsilon: Any, release: Any) -> None:
    """The claim of an epsilon has no lower end, and nearly the upper end of the doubles."""
    found = release.epsilon(1e-4)
    assert epsilon.lower == 0
    assert found.upper * (1 - 1e-12) <= float(epsilon.upper) <= 1.03 * found.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    "expression", ["Gaussian(sigma=2).repeat_and_select(10)", "ApproximateDP(0.2, 1e-9).repeat_and_select(5, 2)"]
)
def test_certificates_hold_several_ends(expression: str) -> None:
    """A trade-off function is taken from the same points, whatever is repeated: of smooth and of finite laws."""
    release = lp.parse(expression)
    made: Any = release.certify(delta=[1e-4], type_one_error=0.1, digits=3)
    assert lp.verify(made)
    epsilon, errors = made.claims
    assert_holds(epsilon, release)
    assert float(errors.lower) <= release.tradeoff(0.1).lower
