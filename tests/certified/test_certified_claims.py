"""Certificates of several claims: what they hold, and that reports, calibrations and accountants make them."""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import pytest

import logphi as lp
from logphi.cli import main

pytest.importorskip("flint")


def claims(made: Any) -> Any:
    return made.claims


QUESTIONS: dict[str, Any] = {
    "delta": [1e-5, 1e-6],
    "epsilon": 1,
    "type_one_error": [0.01, 0.2],
    "order": [1.5, 8],
    "advantage": True,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "100 * Gaussian(sigma=20)",
        "50 * Gaussian(sigma=1).poisson(0.01)",
        "10 * RandomizedResponse(p=0.6)",
        "10 * Laplace(scale=3)",
        "20 * DiscreteGaussian(sigma=9) + Laplace(scale=4)",
    ],
)
def test_every_claim_lies_around_the_answer_in_doubles(text: str) -> None:
    release = lp.parse(text)
    made = release.certify(**QUESTIONS, digits=6)
    verdict = lp.verify(made)
    assert verdict, verdict.reason
    answers: dict[str, Callable[[float], lp.Bound]] = {
        "epsilon": release.epsilon,
        "delta": release.delta,
        "tradeoff": release.tradeoff,
        "renyi": release.renyi,
        "advantage": lambda _: release.risk.advantage(),
    }
    assert [claim.quantity for claim in made.claims] == [
        *("epsilon", "epsilon", "delta", "tradeoff", "tradeoff", "renyi", "renyi", "advantage")
    ]
    for claim in made.claims:
        found = answers[claim.quantity](float(claim.at))
        # both enclose the truth
        lower, upper = Fraction(claim.lower), Fraction(claim.upper)
        assert lower <= Fraction(found.upper), claim
        assert upper >= Fraction(found.lower), claim
        assert upper - lower <= upper / 10**3
    assert json.loads(made.to_json())["version"] == 3


def test_equal_certificates_are_equal_bytes(tmp_path):
    release = 3 * lp.Gaussian(sigma=2)
    made = release.certify(delta=[1e-5], advantage=True)
    assert made.to_json() == release.certify(delta=[Fraction(1, 10**5)], advantage=True).to_json()
    made.save(tmp_path / "claims.json")
    assert lp.verify(tmp_path / "claims.json")
    assert "certified: " in str(made)


def test_one_order():
    sampled = 10 * lp.Gaussian(sigma=1).poisson(0.1)
    directions: tuple[Literal["remove", "add"] | None, ...] = (None, "remove", "add")
    both, remove, add = (claims(sampled.certify(order=2, direction=one))[0] for one in directions)
    assert add.upper < remove.lower <= both.upper
    assert [remove.direction, both.direction] == ["remove", None]


@pytest.mark.parametrize(
    ("release", "question", "error", "words"),
    [
        (lp.Gaussian(sigma=1), {"order": 1}, ValueError, "orders above 1"),
        (lp.Gaussian(sigma=1), {"order": [2, 0.5]}, ValueError, "orders above 1"),
        (lp.Gaussian(sigma=1), {"type_one_error": 0}, ValueError, "type_one_error"),
        (lp.Gaussian(sigma=1), {"type_one_error": 1}, ValueError, "type_one_error"),
        (lp.Gaussian(sigma=1), {"delta": []}, ValueError, "nothing to certify"),
        (lp.Gaussian(sigma=1), {"delta": ["1e-5"]}, TypeError, "delta"),
        (lp.Gaussian(sigma=1), {"delta": [1e-5], "digits": 0}, ValueError, "digits"),
        (lp.Gaussian(sigma=1), {"delta": [1e-5], "direction": "left"}, ValueError, "direction"),
        (lp.ApproximateDP(epsilon=1, delta=0.01), {"order": 2}, ValueError, "divergence"),
        (0 * lp.Gaussian(sigma=1), {"advantage": True}, ValueError, "nothing is released"),
    ],
)
def test_refusals(release, question, error, words):
    with pytest.raises(error, match=words):
        release.certify(**question)


@pytest.mark.slow
def test_a_report():
    release = 200 * lp.Gaussian(sigma=4).poisson(0.05)
    statement = lp.report(release, delta=1e-6, epsilons=[0.5, 1], deltas=[1e-5])
    made = statement.certify(digits=6)
    assert lp.verify(made)
    quantities = [claim.quantity for claim in made.claims]
    assert quantities == ["epsilon"] * 2 + ["delta"] * 2 + ["tradeoff"] * 3 + ["advantage"]
    guarantee = next(claim for claim in made.claims if claim.at == Fraction(1, 10**6))
    assert guarantee.lower <= statement.epsilon.upper
    assert guarantee.upper is not None
    assert statement.epsilon.lower <= guarantee.upper


def test_a_calibration():
    noise = lp.calibrate(lambda sigma: 50 * lp.Gaussian(sigma=sigma).poisson(0.02), epsilon=1, delta=1e-6, digits=5)
    made = noise.certify()
    assert lp.verify(made)
    meets, misses = made.claims
    assert (meets.upper, meets.lower, misses.upper, misses.lower) == (Fraction(1), Fraction(0), None, Fraction(1))
    sigmas = [mechanism[0][1]["base"]["parameters"]["sigma"] for _, mechanism in made.releases]
    assert Fraction(sigmas[0]) == Fraction(repr(noise.value)) > Fraction(sigmas[1])
    steps = lp.calibrate(lambda n: n * lp.Gaussian(sigma=5), epsilon=2, delta=1e-6, integer=True)
    assert [mechanism[0][0] for _, mechanism in steps.certify().releases] == [steps.value, steps.nearest_miss]
    with pytest.raises(ValueError, match="epsilon at a delta above zero"):
        lp.calibrate(lambda scale: lp.Laplace(scale=scale), epsilon=1, delta=0).certify()


@pytest.mark.slow
def test_a_schedule():
    accountant = lp.Accountant()
    for sigma in (1, 1.5, 2):
        accountant.step(lp.Gaussian(sigma=sigma).poisson(0.01), count=30)
    made = accountant.certify(delta=[1e-5], advantage=True, digits=8)
    assert lp.verify(made)
    assert claims(made) == claims(accountant.release.certify(delta=[1e-5], advantage=True, digits=8))


def test_on_the_command_line(tmp_path, capsys):
    file = str(tmp_path / "claims.json")
    given = ["--delta", "1e-5", "--type-one-error", "1/100,1/10", "--order", "8", "--advantage", "--digits", "5"]
    assert main(["certify", "100 * Gaussian(sigma=20)", *given, "-o", file]) == 0
    assert "certified: " in capsys.readouterr().out
    assert main(["verify", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "all 5 claims follow:"
    assert lines[-1].startswith("  membership advantage, TPR - FPR: at most 0.1974")
    assert main(["verify", file, "--work", "1"]) == 1
    assert "needs more work" in capsys.readouterr().out
    assert main(["verify", file, "--work", "2e8"]) == 0
    assert main(["report", "100 * Gaussian(sigma=20)", "--delta", "1e-5", "--certificate", file]) == 0
    capsys.readouterr()
    assert main(["verify", file]) == 0
    assert "type II error of any test at a type I error of 0.001" in capsys.readouterr().out


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "text",
    [
        "3 * TruncatedLaplace(scale=4, truncation=16, sensitivity=2)",
        "TruncatedGaussian(sigma=4, truncation=9, sensitivity=2).poisson(0.2)",
        "3 * FromProfile(epsilons=[0.5, 1], deltas=[0.25, 0.01])",
        "3 * FromTradeoff(type_one_errors=[0, 0.125, 0.5], type_two_errors=[0.875, 0.5, 0.125]).poisson(0.3)",
        "2 * FromProfile(epsilons=[0.5, 1], deltas=[0.25, 0.01], adjacency='replace').subset(0.3, adjacency='replace')",
        "3 * RandomChoice([Gaussian(2), 2 * Gaussian(4) + Laplace(3)], [0.25, 0.75])",
        "3 * RandomChoice([Gaussian(2), Gaussian(4)], [0.25, 0.75]).poisson(0.3, group_size=2)",
        "3 * RandomChoice([Gaussian(2), Gaussian(4)], [0.25, 0.75]).poisson(0.3, adjacency='replace')",
        "2 * PureDP(epsilon=1, adjacency='replace').subset(0.3, adjacency='replace')",
        "2 * ApproximateDP(epsilon=1, delta=0.01, adjacency='replace').subset(0.3, adjacency='replace')",
        "DiscreteGaussian(sigma=2.5, sensitivity=2, adjacency='replace').subset(0.3, adjacency='replace')",
    ],
)
@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(-1, 5)])
def test_the_doubles_agree(text: str, epsilon: Fraction) -> None:
    release = lp.parse(text)
    made = release.certify(epsilon=epsilon)
    found = release.delta(float(epsilon))
    assert lp.verify(made)
    assert Fraction(made.lower) <= Fraction(found.upper)
    assert Fraction(made.upper) >= Fraction(found.lower)
