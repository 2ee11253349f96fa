"""Certificates of random allocation: enclosures hold what quadrature and enumeration find; false claims do not pass."""

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special

flint = pytest.importorskip("flint")

from flint import arb, fmpz, fmpz_poly  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import logphi as lp  # noqa: E402
import proven  # noqa: E402
from alterations import with_checksum  # noqa: E402
from logphi.checker import verify  # noqa: E402
from logphi.checker.allocation.allocated import Allocated  # noqa: E402
from logphi.checker.allocation.levels import Kind, Levels, coarser, merged, product, settled  # noqa: E402
from logphi.checker.allocation.ratios import Sums  # noqa: E402
from logphi.checker.arithmetic.balls import ball, exactly, precision  # noqa: E402
from logphi.checker.arithmetic.work import budget  # noqa: E402
from logphi.checker.laws.composition import Composition  # noqa: E402
from logphi.checker.laws.law import Reversed  # noqa: E402
from logphi.checker.laws.normal import Normal  # noqa: E402
from logphi.checker.laws.uniform import laplace  # noqa: E402
from repository import ROOT  # noqa: E402
from signed_claims import node, signed  # noqa: E402
from slowly import slowly  # noqa: E402

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(180)
WEIGHTS = WEIGHTS / math.sqrt(2 * math.pi)
BITS = 130


def normal(sigma: str) -> Normal:
    shift = 1 / Fraction(sigma)
    return Normal(exactly(shift**2), shift)


def put_of_normal(m: float) -> Callable[[Any], Any]:
    """E (c - X)_+ with X = e^{mg - m^2/2}, by the formula of Black and Scholes."""

    def put(c: Any) -> Any:
        c = np.asarray(c, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            d = np.log(c) / m
            found = c * special.ndtr(d + m / 2) - special.ndtr(d - m / 2)
        return np.where(c > 0, found, 0.0)

    return put


def put_of_normals(m: float, batches: int, strike: float) -> float:
    """E (strike - X_1 - .. - X_t)_+ for t = 2 or 3: all but one variable by a trapezoidal rule, whose error is negligible."""
    g = np.linspace(-9.5, 9.5, 100_001 if batches == 2 else 2401)
    weight = np.exp(-(g**2) / 2) / math.sqrt(2 * math.pi) * (g[1] - g[0])
    ratio = np.exp(m * g - m**2 / 2)
    put = put_of_normal(m)
    if batches == 2:
        return float(weight @ put(strike - ratio))
    found = weight @ put(strike - ratio[:, None] - ratio[None, :]) @ weight
    return float(found)


def mean_of_laplace(w: float, function: Callable[[float], float], kinks: list[float]) -> float:
    """E g(X), X the ratio of Lap(w, 1) to Lap(0, 1) under the latter."""
    inside = sorted(y for y in ((math.log(x) + w) / 2 for x in kinks if x > 0) if 0 < y < w)
    ends = [0.0, *inside, w]
    smooth: float = sum(
        integrate.quad(lambda y: function(math.exp(2 * y - w)) * math.exp(-y) / 2, low, high, epsabs=1e-14, epsrel=1e-12)[0]
        for low, high in itertools.pairwise(ends)
    )
    return function(math.exp(-w)) / 2 + smooth + function(math.exp(w)) * math.exp(-w) / 2


def put_of_laplaces(w: float, strike: float) -> float:
    """E (strike - X_1 - X_2)_+."""
    low, high = math.exp(-w), math.exp(w)

    def put(c: float) -> float:
        if c <= low:
            return 0.0
        if c >= high:
            return c - 1
        return mean_of_laplace(w, lambda x: max(c - x, 0.0), [c])

    return mean_of_laplace(w, lambda x: put(strike - x), [strike - low, strike - high])


def excess(put: Callable[[float], float], batches: int, epsilon: float, reverse: bool) -> float:
    a = math.exp(epsilon)
    return a * put(batches / a) / batches if reverse else 1 - a + put(batches * a) / batches


def delta(law: Allocated, epsilon: Fraction, size: int, reverse: bool) -> Any:
    """D of an epoch, or of the pair reversed."""
    with precision(BITS):
        (found,) = law.bounds([-epsilon if reverse else epsilon], size, BITS)
        return Reversed(law).turned(ball(epsilon), found) if reverse else found


@pytest.mark.parametrize("size", [64, 256, *slowly(1024)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("sigma", "batches", "epsilon"), [("1", 2, "1"), ("1/2", 2, "2"), ("2", 3, "1/3"), ("1", 3, "-1/5"), ("7/2", 2, "0")]
)
def test_few_batches_of_a_gaussian(sigma: str, batches: int, epsilon: str, reverse: bool, size: int) -> None:
    law = Allocated(normal(sigma), batches)
    m = float(1 / Fraction(sigma))
    expected = excess(lambda strike: put_of_normals(m, batches, strike), batches, float(Fraction(epsilon)), reverse)
    found = delta(law, Fraction(epsilon), size, reverse)
    assert float(found.lower()) - 1e-12 <= expected <= float(found.upper()) + 1e-12
    assert float(found.rad()) < 200 / size**2


@pytest.mark.parametrize("size", [64, 256])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("width", "epsilon"), [("1", "1/2"), ("1/4", "1/10"), ("3", "2"), ("1", "-1/3")])
def test_two_batches_of_laplace_noise(width: str, epsilon: str, reverse: bool, size: int) -> None:
    law = Allocated(laplace(exactly(Fraction(width))), 2)
    expected = excess(lambda strike: put_of_laplaces(float(Fraction(width)), strike), 2, float(Fraction(epsilon)), reverse)
    found = delta(law, Fraction(epsilon), size, reverse)
    assert float(found.lower()) - 1e-10 <= expected <= float(found.upper()) + 1e-10
    assert float(found.rad()) < 200 / size**2


FRONTIER = {
    case["id"]: case
    for case in json.loads((ROOT / "tests/reference/frontier.json").read_text())["cases"]
    if case["query"] == "delta"
    and case["tags"][0] == "allocation"
    and "+" not in case["expression"]
    and "*" not in case["expression"]
    and "Gaussian" in case["expression"]
    and "value" in case
}


@pytest.mark.parametrize("name", FRONTIER)
def test_the_numbers_of_others(name: str) -> None:
    case = FRONTIER[name]
    mechanism: Any = lp.parse(case["expression"])
    law = Allocated(normal(str(Fraction(repr(float(mechanism.base.sigma))))), mechanism.batches)
    found = delta(law, Fraction(case["at"]), 128, case["direction"] == "add")
    value, room = float(case["value"]), 1 + float(case["rel"])
    assert float(found.lower()) / room <= value <= float(found.upper()) * room
    assert float(found.rad()) < 0.1 * value or "steep" in case["tags"]


@pytest.mark.parametrize("order", ["remove", "add"])
def test_epochs_compose(order: str) -> None:
    """Two epochs of two batches, by quadrature over one of them: D = E_Q[S D_1(eps - log S)] over the first."""
    one = Allocated(normal("1"), 2)
    a = math.exp(0.8)
    g, ratio_weights = NODES, WEIGHTS
    x = np.exp(g - 0.5)
    s = ((x[:, None] + x[None, :]) / 2).ravel()
    weight = np.outer(ratio_weights, ratio_weights).ravel()
    strikes = a / s if order == "remove" else 1 / (a * s)
    puts = np.interp(strikes, *_table_of_puts())
    mean = float(weight @ (s * puts))
    expected = 1 - a + mean if order == "remove" else a * mean
    whole = Composition([(one if order == "remove" else one.reversed(), 2)])
    with precision(BITS), budget(1e9):
        (found,) = proven.number_of_cells(whole, [Fraction(4, 5)], -25.0, 512)
    assert float(found.lower()) - 1e-6 <= expected <= float(found.upper()) + 1e-6
    assert float(found.rad()) < (1e-3 if order == "remove" else 1e-2)


def _table_of_puts() -> tuple[Any, Any]:
    places = np.exp(np.linspace(-9, 12, 6001))
    return places, np.array([put_of_normals(1.0, 2, 2 * place) / 2 for place in places])


@pytest.mark.parametrize("batches", [2, 4])
@pytest.mark.parametrize("epsilon", ["1/10", "1"])
def test_few_outcomes_are_counted(batches: int, epsilon: str) -> None:
    p, q = (
        [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5), Fraction(0)],
        [Fraction(1, 5), Fraction(3, 10), Fraction(3, 10), Fraction(1, 5)],
    )
    found = lp.Discrete(p=p, q=q).allocation(batches).certify(epsilon=Fraction(epsilon), digits=6)
    a = math.exp(float(Fraction(epsilon)))
    sides = [0.0, 0.0]
    for outcomes in itertools.product(range(4), repeat=batches):
        plain = math.prod(q[k] for k in outcomes)
        taken = sum(p[k] * math.prod(q[j] for j in outcomes[:i] + outcomes[i + 1 :]) for i, k in enumerate(outcomes)) / batches
        sides = [sides[0] + max(float(taken) - a * float(plain), 0), sides[1] + max(float(plain) - a * float(taken), 0)]
    assert float(found.lower) <= max(sides) * (1 + 1e-12)
    assert max(sides) * (1 - 1e-12) <= float(found.upper)
    assert verify(found)


masses = st.lists(st.integers(0, 10**6), min_size=1, max_size=40)


def puts(nodes: list[tuple[float, float]], strikes: Any) -> Any:
    return sum((mass * np.maximum(strikes - place, 0) for place, mass in nodes), np.zeros_like(strikes))


@given(masses, st.booleans())
def test_a_coarser_level_is_on_its_side(row: list[int], above: bool) -> None:
    kind = Kind(above, above, 0)
    found, (mass, moment) = coarser(fmpz_poly(row), kind)
    nodes = [(2.0 * k, float(one)) for k, one in enumerate(found.coeffs())]
    if mass != 0:
        nodes.append((2 * float(moment) / float(mass), float(mass)))
    strikes = np.arange(0, 2 * len(row) + 4, 0.5)
    gap = puts(nodes, strikes) - puts(list(enumerate(map(float, row))), strikes)
    room = 1e-9 * (1 + sum(row)) * len(row)
    assert (gap > -room if above else gap < room).all()


@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(0, 1)), min_size=1, max_size=30))
def test_merged_lumps_are_below(drawn: list[tuple[int, float]]) -> None:
    lumps = [(fmpz(mass), fmpz(math.ceil(mass * (k + share)))) for k, (mass, share) in enumerate(drawn)]
    found, (mass, moment) = merged(0, lumps)
    nodes = [(float(k), float(one)) for k, one in enumerate(found)]
    nodes += [(float(moment) / float(mass), float(mass))] if mass != 0 else []
    given_lumps = [(float(moment) / float(mass), float(mass)) for mass, moment in lumps if mass != 0]
    strikes = np.arange(0, len(drawn) + 3, 0.25)
    assert (puts(nodes, strikes) <= puts(given_lumps, strikes) + 1e-7).all()
    assert all(one >= 0 for one in found)


def _listed(levels: list[list[int]]) -> list[tuple[int, float]]:
    return [(k << e, mass / 2**20) for e, row in enumerate(levels) for k, mass in enumerate(row)]


rows = st.lists(st.lists(st.integers(0, 1 << 20), max_size=24), min_size=1, max_size=3)


@given(rows, rows, st.booleans(), st.booleans())
def test_sums_are_on_their_side(one: list[list[int]], other: list[list[int]], above: bool, same: bool) -> None:
    """Against all pairs of nodes."""
    kind = Kind(above, above, 20)
    first = Levels([fmpz_poly(row) for row in one])
    second = first if same else Levels([fmpz_poly(row) for row in other])
    found = settled(product(first, second, 1000, kind), 4, 8, kind)
    listed = [
        [(k << e, mass / 2**20) for e, row in enumerate(side) for k, mass in enumerate(row)]
        for side in (one, one if same else other)
    ]
    exact = [(x + y, p * q) for x, p in listed[0] for y, q in listed[1]]
    strikes = np.arange(0, 300, 0.5)
    with precision(64):
        sums = Sums(found, arb(1), 1000, kind, arb(0))
        ours = np.array([float(sums.put(arb(strike))) for strike in strikes])
    gap = ours - puts([(float(x), p) for x, p in exact], strikes)
    # rounding up adds half a unit or a whole one at each step
    assert (gap > -1e-6 if above else gap < 1e-6).all()


@pytest.fixture(scope="module")
def certificate() -> dict[str, Any]:
    made: Any = (2 * lp.Gaussian(sigma=2).allocation(10)).certify(delta=Fraction(1, 10**4), digits=2)
    found: dict[str, Any] = json.loads(made.to_json())
    assert verify(with_checksum(found)).status == 0
    return found


def terms(certificate: dict[str, Any]) -> Any:
    return certificate["releases"][0]["mechanism"]


def altered(certificate: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> Any:
    copy = json.loads(json.dumps(certificate))
    change(copy)
    return verify(with_checksum(copy))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda one: terms(one)[0][1]["parameters"].update(batches="5"), 1),
        (lambda one: terms(one)[0][1]["parameters"].update(batches="20"), 1),
        (lambda one: terms(one)[0][1]["parameters"].update(batches="1"), 2),
        (lambda one: terms(one)[0][1]["parameters"].update(batches="10/3"), 2),
        (lambda one: terms(one)[0].__setitem__(0, 3), 1),
        (lambda one: terms(one)[0].__setitem__(0, 1), 1),
        (lambda one: terms(one)[0][1]["base"]["parameters"].update(sigma="19/10"), 1),
        (lambda one: terms(one)[0][1]["base"].update(adjacency="replace"), 2),
        (lambda one: terms(one)[0][1].update(base=dict(terms(one)[0][1])), 2),
        (lambda one: one["claims"][0].update(lower=one["claims"][0]["upper"]), 1),
        (lambda one: one["claims"][0].update(upper=one["claims"][0]["lower"]), 1),
    ],
)
def test_a_forged_certificate_is_refused(certificate: dict[str, Any], change: Callable[[Any], Any], status: int) -> None:
    assert altered(certificate, change).status == status


def test_forged_noise_with_a_proof_of_its_own_is_refused(certificate: dict[str, Any]) -> None:
    forged = json.loads(json.dumps(certificate))
    terms(forged)[0][1]["base"]["parameters"].update(sigma="19/10")
    assert verify(proven.proven(forged)).status == 1


def test_what_a_certificate_of_a_bracket_says() -> None:
    """Laplace noise on batches is known between two bounds: both ends are claimed."""
    made: Any = lp.Laplace(scale=2).allocation(10).certify(delta=Fraction(1, 1000), digits=3)
    (claim,) = made.claims
    known = lp.Laplace(scale=2).allocation(10).epsilon(1e-3)
    assert float(claim.lower) <= known.lower <= known.upper <= float(claim.upper) < 1.01 * float(claim.lower)
    assert "Laplace(scale=2, sensitivity=1).allocation(batches=10)" in str(verify(made))


@pytest.mark.slow
def test_a_claim_that_takes_most_of_the_budget_is_made() -> None:
    found = (5 * lp.Gaussian(sigma=1).allocation(200)).certify(delta=1e-8, digits=2)
    assert verify(found)
    # an epsilon of two contours in doubles
    assert float(found.lower) < 1.33528208248 < float(found.upper)


def test_with_other_mechanisms() -> None:
    release = lp.Gaussian(sigma=2).allocation(10) + lp.Gaussian(sigma=5) + lp.RandomizedResponse(p=Fraction(11, 20))
    found = release.certify(epsilon=1, digits=2)
    known = release.delta(1)
    assert float(found.lower) <= known.value <= float(found.upper)


def test_several_gaussians_in_each_batch_are_one() -> None:
    made = lp.Gaussian(sigma=2).allocation(10, epochs=4).certify(epsilon=1, digits=3)
    known = lp.Gaussian(sigma=1).allocation(10).delta(1)
    assert float(made.lower) <= known.value <= float(made.upper)
    assert verify(made)


def test_outcomes_that_are_not_listed_count() -> None:
    """A discrete Gaussian has no largest loss: at epsilon 100, where no listed outcome leaks, delta is 3.6e-196."""
    noise = node("DiscreteGaussian", sigma="0.3", sensitivity="1", truncation=None)
    mechanism = (1, node("allocation", noise, batches="2"))
    content = json.loads(signed(mechanism, at="100", lower=0, upper=0.5))
    content["claims"][0]["upper"] = "1e-250"
    assert verify(proven.proven(content)).status == 1
    # and where some do, the others are added: by enumeration of both batches
    weights = {x: math.exp(-(x**2) / 0.18) for x in range(-10, 12)}
    q = {x: weights[x] / sum(weights.values()) for x in weights}
    places = itertools.product(range(-8, 10), repeat=2)
    near = sum(max((q[x - 1] * q[y] + q[x] * q[y - 1]) / 2 - math.e * q[x] * q[y], 0) for x, y in places)
    alone = {**mechanism[1], "adjacency": "remove", "base": {**noise, "adjacency": "remove"}}
    for upper, status in ((near + 1e-12, 0), (near - 1e-12, 1)):
        assert verify(signed((1, alone), at="1", lower=0, upper=upper, adjacency="remove")).status == status
