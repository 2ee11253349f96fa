"""The command line: what it prints, and an exit status that can be trusted."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi.expression.parsing
from logphi.answers.bound import Bound, Bounds
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction, Status
from logphi.cli import main
from logphi.cli.answers import outward

Capture = pytest.CaptureFixture[str]
WIDE = Ledger(truncation=Entry(math.inf), inner=Entry(1e-9, proved=False))
ANSWERS = {
    0.0: Bound(0.0, 0.0, 0.0, method="closed form"),
    1.0: Bound(2.38159692140, 2.3815969214213, 2.38159692145, method="contour", direction=Direction.REMOVE),
    2.0: Bound(0.0, 0.5, math.inf, status=Status.WIDE, method="levy", ledger=WIDE),
    3.0: Bound(math.inf, math.inf, math.inf, status=Status.UNBOUNDED),
    4.0: Bound(-1 / 3, 0.0, 1 / 3, status=Status.ESTIMATED, direction=Direction.BOTH, ledger=WIDE),
}


class Fake:
    """Answers from the table above, and remembers how it was asked."""

    asked: Mapping[str, Any] = {}

    def delta(self, points: list[float], **options: Any) -> Bounds:
        Fake.asked = options
        if options.get("method") == "nonsense":
            raise ValueError("method must be one of\n'contour', got 'nonsense'")
        if options.get("method") == "interrupted":
            raise KeyboardInterrupt
        if options.get("method") == "broken":
            raise ArithmeticError("internal error: please report it")
        answers = np.empty(len(points), dtype=object)
        answers[:] = [ANSWERS.get(abs(point), ANSWERS[1.0]) for point in points]
        return Bounds(answers)

    epsilon = delta

    def explain(self, *, epsilon: float | None = None, delta: float | None = None) -> object:
        return f"explained epsilon={epsilon} delta={delta}"


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    # the command line takes no mechanism beside the catalogue's
    catalogue: Mapping[str, Callable[..., Any]] = {"Fake": Fake}
    monkeypatch.setattr(logphi.expression.parsing, "CATALOGUE", catalogue)


fake = pytest.mark.usefixtures("fakes")


def refused(capsys: Capture, *argv: str) -> str:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.endswith("\n")
    assert err[:-1].isprintable(), "one line"
    assert err.startswith("logphi: ")
    return err


@fake
def test_an_answer_for_a_person(capsys: Capture) -> None:
    assert main(["epsilon", "Fake()", "--delta", "1"]) == 0
    assert capsys.readouterr().out == (
        "epsilon = 2.381596921 at delta = 1.0   proved: between 2.381596921399 and 2.381596921450 (contour, remove)\n"
    )


@fake
def test_an_exact_answer(capsys: Capture) -> None:
    assert main(["delta", "Fake()", "--epsilon", "0"]) == 0
    assert capsys.readouterr().out == "delta = 0.0 at epsilon = 0.0   proved: exact (closed form)\n"


@fake
def test_a_wide_answer_says_so_and_sets_the_status(capsys: Capture) -> None:
    assert main(["delta", "Fake()", "--epsilon", "1,2"]) == 1
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("delta = 2.381596921 at epsilon = 1.0   proved")
    assert second.startswith("delta = 0.5 at epsilon = 2.0   estimated: between 0 and inf (levy)")
    assert third == f"  {Status.WIDE.value}"


@fake
def test_no_finite_answer_is_an_answer(capsys: Capture) -> None:
    assert main(["epsilon", "Fake()", "--delta", "3"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("epsilon = inf at delta = 3.0   proved: exact (exact)\n")
    assert Status.UNBOUNDED.value in out


@fake
def test_json(capsys: Capture) -> None:
    assert main(["delta", "Fake()", "--epsilon", "1,2,3,4", "--json"]) == 1

    def strict(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    lines = capsys.readouterr().out.splitlines()
    answers = [json.loads(line, parse_constant=strict) for line in lines]
    keys = ["query", "at", "lower", "value", "upper", "direction", "method", "status", "ledger"]
    assert all(list(answer) == keys for answer in answers)
    assert [answer["at"] for answer in answers] == [1.0, 2.0, 3.0, 4.0]
    for answer in answers:
        truth = ANSWERS[answer["at"]]
        assert (float(answer["lower"]), float(answer["value"]), float(answer["upper"])) == (
            truth.lower, truth.value, truth.upper,
        )  # fmt: skip
    assert [answer["upper"] for answer in answers] == [2.38159692145, "inf", "inf", 1 / 3]
    assert [answer["direction"] for answer in answers] == ["remove", None, None, "both"]
    assert [answer["status"] for answer in answers] == ["met", "wide", "unbounded", "estimated"]
    assert answers[1]["ledger"]["truncation"] == {"amount": "inf", "proved": True}
    assert answers[1]["ledger"]["inner"] == {"amount": 1e-9, "proved": False}


@fake
def test_options_reach_the_question(capsys: Capture) -> None:
    argv = ["delta", "Fake()", "--epsilon", "1", "--method", "levy", "--rtol", "2**-20", "--direction", "add"]
    assert main(argv) == 0
    assert Fake.asked == {"method": "levy", "rtol": 2.0**-20, "direction": "add"}
    assert main(["delta", "Fake()", "--epsilon", "1"]) == 0
    assert Fake.asked == {}


@fake
@pytest.mark.parametrize(
    ("given", "points"),
    [
        (["--epsilon", "-0.5,1"], [-0.5, 1.0]),
        (["--epsilon=-0.5,1"], [-0.5, 1.0]),
        (["--epsilon", "-1e-3"], [-1e-3]),
        (["--epsilon", "-.5"], [-0.5]),
        (["--epsilon", "-(1/2)"], [-0.5]),
        (["--epsilon", "0.5, 256/60000"], [0.5, 256 / 60000]),
    ],
)
def test_negative_numbers_are_not_options(given: list[str], points: list[float], capsys: Capture) -> None:
    assert main(["delta", "Fake()", *given, "--json"]) == 0
    assert [json.loads(line)["at"] for line in capsys.readouterr().out.splitlines()] == points
    assert main(["delta", *given, "Fake()"]) == 0


@fake
def test_explain(capsys: Capture) -> None:
    assert main(["explain", "Fake()", "--epsilon", "-2"]) == 0
    assert capsys.readouterr().out == "explained epsilon=-2.0 delta=None\n"
    assert main(["explain", "Fake()", "--delta", "1/4"]) == 0
    assert capsys.readouterr().out == "explained epsilon=None delta=0.25\n"


@fake
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "required: QUERY"),
        (["nonsense"], "invalid choice"),
        (["epsilo"], "did you mean epsilon"),
        (["delta"], "required"),
        (["delta", "Fake()"], "required: --epsilon"),
        (["delta", "Fake()", "--epsilon"], "expected one argument"),
        (["delta", "Fake()", "--epsilon", "--json"], "expected one argument"),
        (["delta", "Fake()", "--eps", "1"], "required: --epsilon"),
        (["delta", "Fake()", "--epsilon", "1", "a\nb\x1b[31m"], "a b\\x1b[31m"),
        (["delta", "Fake()", "--epsilon", "x"], "--epsilon: 'x' at character 1"),
        (["delta", "Fake()", "--epsilon", ""], "--epsilon: at the end of the text"),
        (["delta", "Fake()", "--epsilon", "inf"], "--epsilon: 'inf'"),
        (["delta", "Fake()", "--epsilon", "1,,2"], "--epsilon: ','"),
        (["delta", "Fake()", "--epsilon", "1", "--rtol", "1,2"], "--rtol: one number"),
        (["delta", "Fake()", "--epsilon", "1", "--direction", "up"], "invalid choice"),
        (["delta", "Fake()", "--epsilon", "1", "--method", "nonsense"], "one of 'contour', got 'nonsense'"),
        (["delta", "Fakes()", "--epsilon", "1"], "did you mean Fake?"),
        (["delta", "", "--epsilon", "1"], "end of the text"),
        (["delta", "Fake(\n\x1b)", "--epsilon", "1"], "\\x1b"),
        (["epsilon", "__import__('os').system('true')", "--delta", "1"], "unknown name"),
        (["explain", "Fake()"], "one of the arguments --epsilon --delta is required"),
        (["explain", "Fake()", "--epsilon", "1", "--delta", "1"], "not allowed with"),
    ],
)
def test_bad_input_is_one_line_and_status_two(argv: list[str], said: str, capsys: Capture) -> None:
    assert said in refused(capsys, *argv)


@fake
def test_an_interrupt(capsys: Capture) -> None:
    assert main(["delta", "Fake()", "--epsilon", "1", "--method", "interrupted"]) == 130


@fake
def test_an_internal_error_is_not_mistaken_for_an_answer(capsys: Capture) -> None:
    assert main(["delta", "Fake()", "--epsilon", "1", "--method", "broken"]) == 70
    assert "please report it" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["--help"], ["epsilon", "--help"], ["delta", "-h"], ["explain", "--help"]])
def test_help(argv: list[str], capsys: Capture) -> None:
    assert main(argv) == 0
    out, err = capsys.readouterr()
    assert "exit status: 0" in out
    assert not err


def test_the_help_of_a_command_has_its_own_examples_alone(capsys: Capture) -> None:
    for command in ("delta", "dp-sgd", "verify"):
        main([command, "--help"])
        shown = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if line.startswith("  logphi")]
        assert shown
        assert all(line == ["logphi", command] for line in shown)


def test_help_says_how_infinity_is_written(capsys: Capture) -> None:
    main(["delta", "--help"])
    assert '"inf"' in capsys.readouterr().out


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_printed_ends_never_cut_the_interval(one: float, other: float) -> None:
    lower, upper = sorted((one, other))
    if lower < upper:
        down, up = map(Decimal, outward(lower, upper))
        assert down <= Decimal(lower)
        assert up >= Decimal(upper)
        if math.isfinite(upper - lower):
            assert up - down <= (Decimal(upper) - Decimal(lower)) * Decimal("1.5") + Decimal(abs(upper)) / 10**15


def run(*argv: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-m", "logphi", *argv]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=120)


def test_loading_the_command_line_loads_no_mechanisms() -> None:
    code = "import sys, logphi; before = set(sys.modules); import logphi.cli; print(*set(sys.modules) - before)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "logphi.cli" in loaded
    assert {name for name in loaded if name.startswith("logphi.") and not name.startswith("logphi.cli")} == set()
    assert not {"sympy", "mpmath", "scipy.stats", "importlib.metadata"} & set(loaded)


def test_version() -> None:
    from importlib.metadata import version

    result = run("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"logphi {version('logphi')}\n", "")


def test_a_reader_that_has_gone_is_quiet() -> None:
    points = ",".join(["1"] * 20)
    command = [sys.executable, "-m", "logphi", "delta", "Gaussian(sigma=1)", "--json", "--epsilon", points]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 141


def test_the_real_library() -> None:
    result = run("delta", "Gaussian(sigma=1)", "--epsilon", "-0.5,1", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    first, second = (json.loads(line) for line in result.stdout.splitlines())
    # Closed form at epsilon = 1: Phi(-1/2) - e Phi(-3/2).
    exact = 0.5 * math.erfc(0.5 / math.sqrt(2)) - math.e * 0.5 * math.erfc(1.5 / math.sqrt(2))
    assert second["lower"] * (1 - 1e-12) <= exact <= second["upper"] * (1 + 1e-12)
    assert first["value"] > second["value"]
    assert result.stdout.count("\n") == 2


def test_the_real_library_from_standard_input() -> None:
    result = run("epsilon", "-", "--delta", "1e-5", text="10 * Gaussian(sigma=5) + Laplace(scale=9)\n")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("line 1: epsilon = ")


@pytest.mark.parametrize(
    "argv",
    [
        ["delta", "Gaussian(sigma=-1)", "--epsilon", "1"],
        *(
            pytest.param(argv, marks=pytest.mark.slow)
            for argv in (
                ["delta", "Gaussian(sigma=1)", "--epsilon", "1", "--method", "nonsense"],
                ["epsilon", "Gaussian(sigma=1)", "--delta", "2"],
                ["epsilon", "Gaussian(sigma=1) + Gaussian(sigma=1, adjacency='replace')", "--delta", "0.1"],
            )
        ),
    ],
)
def test_the_real_library_refuses_in_one_line(argv: list[str]) -> None:
    result = run(*argv)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr


def test_the_help_names_every_method(capsys):
    from logphi.engine.routes.registry import ROUTES

    assert main(["delta", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(f" {name}" in text for name in ROUTES)


@pytest.mark.parametrize("method", ["levy", "levy-sums", "levy-quadrature"])
def test_the_methods_for_comparison_are_within_reach(method, capsys):
    code = main(["delta", "30*Gaussian(sigma=2).poisson(0.2)", "--epsilon", "0.5", "--method", method])
    captured = capsys.readouterr()
    assert code in (0, 1)
    assert captured.err == ""
    assert f"({method}, " in captured.out
    assert ("proved" if method == "levy-sums" else "estimated") in captured.out


def test_trade_offs_and_divergences(capsys: Capture) -> None:
    """Questions without routes: their points, in words, and the side that is safe."""
    assert main(["tradeoff", "3*Gaussian(sigma=3)", "--type-one-error", "0.1"]) == 0
    assert capsys.readouterr().out.startswith("tradeoff = 0.7593462881 at type one error = 0.1   proved: between 0.75934628808")
    assert main(["renyi", "3*Gaussian(sigma=2)", "--order", "-1,32.5", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["at"] for one in found] == [-1.0, 32.5]
    assert found[1]["lower"] <= 12.1875 <= found[1]["upper"]
    assert main(["renyi", "ApproximateDP(epsilon=1, delta=0.1)", "--order", "2"]) == 0
    assert "does not converge" in capsys.readouterr().out
    assert main(["tradeoff", "Gaussian(sigma=3)", "--type-one-error", "2"]) == 2
    assert main(["tradeoff", "Gaussian(sigma=3)", "--type-one-error", "0.1", "--method", "levy"]) == 2


def test_calibration(capsys: Capture) -> None:
    """One name in the expression is looked for; what is printed meets the target."""
    target = ["--epsilon", "2", "--delta", "1e-5"]
    assert main(["calibrate", "14062*Gaussian(sigma=x).poisson(256/60000)", *target, "--digits", "4"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("x = 1.225 meets epsilon <= 2.0 at delta = 1e-05\n  attained: 1.9978")
    assert "nearest miss: 1.224, attaining 2.0003" in text
    assert main(["calibrate", "n * Gaussian(sigma=1.1).poisson(256/60000)", *target, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["name"], found["value"], found["nearest_miss"], found["status"]) == ("n", 10207, 10208, "tight")
    assert 1.999 < found["answer"]["upper"] <= found["epsilon"] == 2
    assert found["slack"] == found["epsilon"] - found["answer"]["upper"]
    assert main(["calibrate", "20*RandomizedResponse(p)", *target, "--lower", "1/2", "--digits", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == 0.53
    # the edge of the domain is an answer
    assert main(["calibrate", "Gaussian(sigma=10).poisson(x)", *target]) == 0
    assert "x = 1.0 meets" in capsys.readouterr().out


@pytest.mark.slow
def test_a_calibration_that_may_not_be_the_best_says_so(capsys: Capture) -> None:
    pair = "GaussianPair(mean_p=0, sigma_p=x, mean_q=1, sigma_q=1.2*x).poisson(0.1)"
    assert main(["calibrate", pair, "--epsilon", "2", "--delta", "0.01", "--rtol", "1e-2"]) == 1
    assert "is an estimate: that the target is met is not proved" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["20*Gaussian(3)", "--epsilon", "2", "--delta", "1e-5"], "here there is none"),
        (["x*Gaussian(y)", "--epsilon", "2", "--delta", "1e-5"], "here there are 2: x, y"),
        (["20*Gausian(sigma=3)", "--epsilon", "2", "--delta", "1e-5"], "did you mean Gaussian"),
        (["20*Gausian(sigma=x)", "--epsilon", "2", "--delta", "1e-5"], "did you mean Gaussian"),
        (["Gaussian(sigma=x", "--epsilon", "2", "--delta", "1e-5"], "the end of the text: expected ')' here\n"),
        (["Gaussian(sigma=x)", "--epsilon", "2"], "required: --delta"),
        (["Gaussian(sigma=x)", "--epsilon", "2,3", "--delta", "1e-5"], "--epsilon: one number"),
        (["Gaussian(sigma=x)", "--epsilon", "-2", "--delta", "1e-5"], "epsilon must not be negative"),
        (["Gaussian(sigma=x)", "--epsilon", "2", "--delta", "1"], "delta must be below 1"),
        (["RandomizedResponse(p)", "--epsilon", "2", "--delta", "1e-5"], "choose a branch by upper=0.5"),
        (["x*Gaussian(2)", "--epsilon", "2", "--delta", "1e-5", "--digits", "1.5"], "invalid int value"),
    ],
)
def test_what_cannot_be_calibrated_is_refused_in_one_line(argv: list[str], said: str, capsys: Capture) -> None:
    assert said in refused(capsys, "calibrate", *argv)
