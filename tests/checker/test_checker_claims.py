"""Certificates of several claims: what is true is accepted, and what is not is refused, however it is signed."""

import itertools
import json
import math
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest

flint = pytest.importorskip("flint")

import sympy  # noqa: E402

import logphi as lp  # noqa: E402
import signed_claims  # noqa: E402
from logphi.checker import verify  # noqa: E402
from logphi.checker.text.reading import NOT_COVERED  # noqa: E402
from proven import proven  # noqa: E402

NORMAL = NormalDist()
GAUSSIAN = {"name": "Gaussian", "adjacency": "add_remove", "parameters": {"sigma": "2", "sensitivity": "1"}}
# four releases are one of mu = 1
RELEASE = {"adjacency": "add_remove", "mechanism": [[4, GAUSSIAN]]}
COIN = {"name": "RandomizedResponse", "adjacency": "add_remove", "parameters": {"p": "3/4"}}
RESPONSE = {"adjacency": "add_remove", "mechanism": [[1, COIN]]}
INSTABLE = {"name": "ApproximateDP", "adjacency": "add_remove", "parameters": {"epsilon": "1", "delta": "1/100"}}
SAMPLE = {"name": "poisson", "adjacency": "add_remove", "parameters": {"rate": "1/10", "group_size": "1"}, "base": GAUSSIAN}
# the truth by closed forms that have nothing in common with the checker
F_5 = NORMAL.cdf(NORMAL.inv_cdf(0.95) - 1)
# the slope of the line that touches there: Q(L > x) = 0.05
TOUCHED = NORMAL.inv_cdf(0.95) - 0.5
ADVANTAGE = 2 * NORMAL.cdf(0.5) - 1


def signed(content: dict[str, Any], work: float = 1e8) -> str:
    return proven(content, work)


def claim(quantity: str, at: str, lower: str, upper: str | None, **more: Any) -> dict[str, Any]:
    places = {"quantity": quantity, "at": at, "direction": None, "lower": lower, "upper": upper}
    return {**places, "release": 0, "lines": {}, "proof": {}, **more}


def written(*claims: dict[str, Any], releases: Any = (RELEASE,)) -> dict[str, Any]:
    return {
        "format": "logphi-certificate",
        "version": 3,
        "made_by": {},
        "releases": [{"hulls": [], **one} for one in releases],
        "parameters": "as written",
        "claims": list(claims),
        "not_covered": list(NOT_COVERED),
    }


def status(*claims: dict[str, Any], releases: Any = (RELEASE,)) -> int:
    return verify(signed(written(*claims, releases=releases))).status


def lines(step: float, at: float = TOUCHED) -> dict[str, Any]:
    three = [str(Fraction(repr(at + k * step))) for k in (-1, 0, 1)]
    return {"remove": three, "add": three}


def around(value: float, width: float) -> tuple[str, str]:
    return f"{value - width:.15f}", f"{value + width:.15f}"


TRUE = {
    "advantage": claim("advantage", "0", *around(ADVANTAGE, 1e-10)),
    "tradeoff": claim("tradeoff", "1/20", *around(F_5, 1e-8), lines=lines(1e-5)),
    "renyi": claim("renyi", "8", "3.999999999", "4.000000001"),
    "epsilon": claim("epsilon", "1/100000", "4.3", "4.4"),
    "one end of epsilon": claim("epsilon", "1/100000", "0", "4.4"),
    "the other end": claim("epsilon", "1/100000", "4.3", None),
    "delta": claim("delta", "1", "0.126", "0.127"),
    "one end of a divergence": claim("renyi", "3/2", "0", "0.7500001"),
}


def test_true_claims_follow_together():
    verdict = verify(signed(written(*TRUE.values())))
    assert verdict.status == 0, verdict.reason
    said = str(verdict).splitlines()
    assert said[:2] == [
        f"all {len(TRUE)} claims follow:",
        "of 4 * Gaussian(sigma=2, sensitivity=1), under add_remove:",
    ]
    assert said[4] == "  Renyi divergence of order 8: at most 4.000000001 and at least 3.999999999"
    assert len(said) == len(TRUE) + 2


@pytest.mark.parametrize(
    ("name", "end"), [(name, end) for name in TRUE for end in ("lower", "upper") if TRUE[name][end] not in (None, "0")]
)
@pytest.mark.parametrize("by", ["1e-6", "0.1"])
def test_a_moved_claim_is_refused(name: str, end: str, by: str) -> None:
    """The end is moved past the truth, and the other with it; signed again."""
    given = TRUE[name]
    room = {"epsilon": "0.1", "one end of epsilon": "0.1", "the other end": "0.1", "delta": "0.002"}.get(name, "0")
    sign = 1 if end == "lower" else -1
    moved = dict(given)
    for one in ("lower", "upper"):
        if moved[one] not in (None, "0"):
            moved[one] = str(max(Decimal(moved[one]) + sign * (Decimal(by) + Decimal(room)), Decimal(0)))
    assert status(moved) == 1
    # true claims beside it change nothing
    assert status(TRUE["advantage"], moved) == 1
    verdict = verify(signed(written(TRUE["advantage"], moved)))
    assert verdict.reason.startswith("claim 2 of 2 does not follow: ")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"remove": ["1"]},
        {"remove": ["1", "1", "1"], "add": ["1", "1", "1"]},
        lines(1e-5, TOUCHED + 0.1),
        lines(1e-5, -TOUCHED),
        lines(1.0),
        {"remove": ["10000", "-10000", "0"], "add": ["0"]},
    ],
)
def test_lines_that_do_not_show_a_type_two_error_are_refused(given: dict[str, Any]) -> None:
    assert status({**TRUE["tradeoff"], "lines": given}) == 1


def test_few_lines_show_the_end_that_they_can():
    """One line bounds the curve below, in both orders; three bound it above, in one."""
    touching = str(Fraction(repr(TOUCHED)))
    lower = claim("tradeoff", "1/20", TRUE["tradeoff"]["lower"], None)
    assert status({**lower, "lines": {"remove": [touching], "add": [touching]}}) == 0
    # both orders of a Gaussian have the same curve
    assert status({**lower, "lines": {"remove": [touching]}}) == 0
    assert status({**lower, "lines": {"add": [touching]}}) == 1
    upper = claim("tradeoff", "1/20", "0", TRUE["tradeoff"]["upper"])
    assert status({**upper, "lines": {"remove": lines(1e-5)["remove"]}}) == 0
    assert status({**upper, "lines": {"remove": [touching]}}) == 1


@pytest.mark.parametrize("alpha", ["1/20", "1/5", "1/3", "9/10"])
def test_a_curve_with_corners(alpha: str) -> None:
    """Randomised response: f is piecewise linear with one corner at (1/4, 1/4)."""
    at = float(Fraction(alpha))
    truth = max(1 - 3 * at, (1 - at) / 3)
    own = (
        [repr(math.log(3) + k * 1e-10) for k in (-1, 0, 1)]
        if at < 0.25
        else [repr(-math.log(3) + k * 1e-10) for k in (-1, 0, 1)]
    )
    three = {"remove": own, "add": own}
    good = claim("tradeoff", alpha, *around(truth, 1e-8), lines=three)
    assert status(good, releases=[RESPONSE]) == 0
    for sign in (1, -1):
        wrong = claim("tradeoff", alpha, *around(truth + sign * 3e-8, 1e-8), lines=three)
        assert status(wrong, releases=[RESPONSE]) == 1


def test_orders_are_told_apart():
    """A sample: the Renyi divergence, and the type II error, are those of the worse order."""
    sampled = {"adjacency": "add_remove", "mechanism": [[1, SAMPLE]]}
    m, q = 0.5, 0.1
    # of (1-q) Q + q P against Q at order 2: 1 + q^2 (e^{m^2} - 1)
    remove = math.log(1 + q * q * math.expm1(m * m))
    good = claim("renyi", "2", *around(remove, 1e-9))
    assert status(good, releases=[sampled]) == 0
    assert status({**good, "direction": "remove"}, releases=[sampled]) == 0
    # the other order is smaller
    assert status({**good, "direction": "add"}, releases=[sampled]) == 1
    assert status({**good, "direction": "add", "lower": "0"}, releases=[sampled]) == 0


def test_infinite_losses_have_no_finite_divergence():
    releases = [{"adjacency": "add_remove", "mechanism": [[1, INSTABLE]]}]
    for upper in ("1", "100", "1e9"):
        assert status(claim("renyi", "2", "0", upper), releases=releases) == 1


def test_nothing_is_claimed_beyond_the_strip():
    """N(0, 4) against N(0, 1): orders from 1 + 1/3 on are infinite."""
    wide = {"mean_p": "0", "sigma_p": "2", "mean_q": "0", "sigma_q": "1"}
    releases = [
        {"adjacency": "remove", "mechanism": [[1, {"name": "GaussianPair", "adjacency": "remove", "parameters": wide}]]}
    ]
    assert status(claim("renyi", "1.3", "0", "10"), releases=releases) == 0
    for order in ("4/3", "1.3333333333333333334", "2", "1000000"):
        assert status(claim("renyi", order, "0", "1e9"), releases=releases) == 1


def test_two_members_of_a_family():
    """Sigma 3.731 suffices for epsilon 1 at 1e-5 and 3.73 does not, each about its own release; not the other way around."""

    def delta(sigma: float) -> float:
        return NORMAL.cdf(0.5 / sigma - sigma) - math.e * NORMAL.cdf(-0.5 / sigma - sigma)

    assert delta(3.731) < 1e-5 < delta(3.73)
    members = [
        {"adjacency": "add_remove", "mechanism": [[1, {**GAUSSIAN, "parameters": {"sigma": sigma, "sensitivity": "1"}}]]}
        for sigma in ("3.731", "3.73")
    ]
    pair = [claim("epsilon", "1e-5", "0", "1"), claim("epsilon", "1e-5", "1", None, release=1)]
    assert status(*pair, releases=members) == 0
    assert status(*pair, releases=members[::-1]) == 1
    assert status(pair[0], {**pair[1], "release": 0}, releases=members) == 1
    assert status({**pair[0], "release": 1}, pair[1], releases=members) == 1


MALFORMED = [
    {"quantity": "median"},
    {"at": "0", "quantity": "tradeoff"},
    {"at": "1", "quantity": "tradeoff"},
    {"at": "1", "quantity": "renyi"},
    {"at": "1/2", "quantity": "renyi"},
    {"at": "1e7", "quantity": "renyi"},
    {"at": "1", "quantity": "advantage"},
    {"at": "0", "quantity": "epsilon"},
    {"lower": "0", "upper": None},
    {"lower": None},
    {"lower": "2", "upper": "1"},
    {"lower": "-1"},
    {"release": 1},
    {"release": -1},
    {"release": True},
    {"release": "0"},
    {"lines": []},
    {"lines": {"remove": ["1"]}},
    {"lines": {"remove": ["20000"]}, "quantity": "tradeoff", "at": "1/2"},
    {"lines": {"remove": []}, "quantity": "tradeoff", "at": "1/2"},
    {"lines": {"remove": ["1"] * 4}, "quantity": "tradeoff", "at": "1/2"},
    {"lines": {"remove": [1]}, "quantity": "tradeoff", "at": "1/2"},
    {"lines": {"both": ["1"]}, "quantity": "tradeoff", "at": "1/2"},
    {"direction": "both"},
    {"more": 1},
]


@pytest.mark.parametrize("change", MALFORMED)
def test_malformed_claims(change: dict[str, Any]) -> None:
    assert status({**claim("advantage", "0", "0.3", "0.4"), **change}) == 2


FILES = [{"claims": []}, {"releases": []}, {"claims": {}}, {"releases": [{}]}, {"version": 2}, {"version": 4}, {"witness": {}}]


@pytest.mark.parametrize("change", FILES)
def test_malformed_files(change: dict[str, Any]) -> None:
    assert verify(signed({**written(TRUE["advantage"]), **change})).status == 2


def test_a_digest_that_is_not_that_of_the_text():
    good = json.loads(signed(written(TRUE["advantage"])))
    assert verify(json.dumps(good)).status == 0
    good["made_by"] = {"logphi": "0"}
    assert verify(json.dumps(good)).status == 1


HOSTILE = {
    "a hundred claims about hard releases": (
        [claim("epsilon", f"1e-{k}", "0", "100") for k in range(2, 102)],
        [
            [2, {**SAMPLE, "parameters": {"rate": "1e-9", "group_size": "1"}}],
            [10**6, {**COIN, "parameters": {"p": "51/100"}}],
        ],
    ),
    "a large order": ([claim("renyi", "1000000", "0", "1e9")], [[10**9, SAMPLE]]),
    "ends without a gap": ([claim("advantage", "0", "0.382924922", "0.382924922")], [[7, SAMPLE]]),
    "ends that are very near": ([claim("epsilon", "1e-1000", "1", "1." + "0" * 999 + "1")], [[7, SAMPLE]]),
    "lines far away": (
        [claim("tradeoff", "1e-1000", "1e-1000", "1", lines={"remove": ["9999"], "add": ["-9999", "0", "1e-1000"]})],
        [[10**200, SAMPLE]],
    ),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_claims_keep_the_budget(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more is spent than was allowed, whatever is claimed."""
    claims, mechanism = HOSTILE[name]
    text = signed(written(*claims, releases=[{"adjacency": "add_remove", "mechanism": mechanism}]), work=3e6)
    assert verify(text, work=3e6).status == 1


def test_ends_at_the_truth_are_not_decided_by_luck():
    """No pair of neighbouring decimals that leaves the truth outside is accepted."""
    for low, high in itertools.pairwise(f"{ADVANTAGE + k * 1e-9:.12f}" for k in (-3, -2, -1, 1, 2, 3)):
        inside = float(low) <= ADVANTAGE <= float(high)
        assert status(claim("advantage", "0", low, high)) == (0 if inside else 1)


def test_a_verdict_says_what_is_taken_for_granted():
    alpha = sympy.Symbol("alpha")
    wide = lp.FromLogPhi(lp.GaussianPair(0, 1, 1, 2).log_phi(alpha), alpha)
    verdict = lp.verify((wide + lp.Gaussian(1)).certify(epsilon=0.7, digits=6))
    assert verdict
    assert "if the transform is that of a pair" in str(verdict)
    assert "transform" not in str(lp.verify(lp.Gaussian(1).certify(epsilon=0.7, digits=6)))


@pytest.mark.parametrize(("lower", "upper", "status"), [(0.1, 0.2, 0), (0.1, 0.15, 1), (0.19, 0.2, 1)])
def test_a_verdict_says_what_it_derived(lower: float, upper: float, status: int) -> None:
    """Of Laplace noise of scale 2, delta at 1/10 is 1 - e^{(1/10 - 1/2) / 2}, enclosed if a claim holds or not."""
    noise = signed_claims.node("Laplace", scale="2", sensitivity="1")
    verdict = verify(signed_claims.signed((1, noise), at="1/10", lower=lower, upper=upper))
    truth = Fraction(-math.expm1((0.1 - 0.5) / 2))
    assert verdict.status == status
    assert verdict.derived is not None
    assert verdict.derived[0] - Fraction(1, 10**15) <= truth <= verdict.derived[1] + Fraction(1, 10**15)
    assert verdict.derived[1] - verdict.derived[0] < Fraction(1, 1000)
