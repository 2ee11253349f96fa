"""Certificates on the command line: made in one call, checked in another, with an exit status that can be trusted."""

from __future__ import annotations

import io
import json
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest

from effort import answers
from logphi.cli import main
from logphi.cli.certificates import LONGEST_CERTIFICATE

Capture = pytest.CaptureFixture[str]


def certified(*argv: str) -> int:
    pytest.importorskip("flint")
    return main(["certify", *argv])


def test_a_certificate_on_standard_output(capsys: Capture) -> None:
    assert certified("14062 * Gaussian(sigma=1.1).poisson(256/60000)", "--delta", "1e-5") == 0
    out, err = capsys.readouterr()
    content = json.loads(out)
    assert content["claims"][0]["at"] == "1/100000"
    assert content["parameters"] == "as written"
    assert content["releases"][0]["mechanism"][0][1]["parameters"]["rate"] == "8/1875"
    assert err.startswith("certified: 2.3815969214243971 <= epsilon <= 2.3815969214243974 at delta = 1e-05\n")
    assert certified("Gaussian(1.1)", "--delta", "1e-5", "-o", "-") == 0
    assert json.loads(capsys.readouterr().out)["format"] == "logphi-certificate"


def test_a_certificate_in_a_file(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    argv = ["99*Gaussian(9).poisson(0.3)", "--epsilon", "-0.5", "--digits", "30", "--direction", "add", "--output", str(file)]
    assert certified(*argv) == 0
    out, err = capsys.readouterr()
    assert out.startswith("certified: 0.")
    assert not err
    (claim,) = json.loads(file.read_text())["claims"]
    assert (claim["quantity"], claim["at"], claim["direction"]) == ("delta", "-1/2", "add")
    lower, upper = Fraction(claim["lower"]), Fraction(claim["upper"])
    assert 0 < upper - lower <= upper / 10**30


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["Gaussian(1)", "--delta", "1e-5,1e-6"], "--delta: one number is needed, got 2"),
        (["Gaussian(1)", "--delta", "0"], "strictly between 0 and 1"),
        (["Gaussian(1)", "--delta", "x"], "--delta: 'x' at character 1"),
        (["Gaussian(1)", "--delta", "0.1", "--epsilon", "1"], "not allowed with"),
        (["Gaussian(1)"], "one of the arguments --epsilon --delta is required"),
        (["Gaussian(1)", "--delta", "0.1", "--digits", "1.5"], "invalid int value"),
        (["Gaussian(1)", "--delta", "0.1", "--digits", "0"], "from 1 to 1000"),
        (
            ["Gaussian(1).allocation(5).poisson(0.1)", "--epsilon", "1"],
            "certificates do not cover samples of random allocation",
        ),
        (["Gaussian(1)", "--delta", "0.1", "-o", "/nowhere/all"], "there is no folder '/nowhere' for 'all'"),
    ],
)
def test_what_cannot_be_certified_is_refused_in_one_line(argv: list[str], reason: str, capsys: Capture) -> None:
    assert certified(*argv) == 2
    out, err = capsys.readouterr()
    assert not out
    assert reason in err
    assert err.count("\n") == 1


def test_certified_answers_take_the_question_as_it_is_written(capsys: Capture) -> None:
    certify = pytest.importorskip("logphi.certified.answer", exc_type=ImportError).certify
    command = ["epsilon", "3 * Gaussian(sigma=2)", "--delta", "1e-5, 1/3", "--method", "certified"]
    asked = [given["at"] for given, _ in answers(lambda: main(command), certify)]
    assert asked == [Fraction(1, 10**5), Fraction(1, 3)]
    assert capsys.readouterr().out.count("(certified, both)") == 2


@pytest.mark.parametrize("status", [0, 1, 2])
def test_a_verdict_is_a_line_and_a_status(
    status: int, capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    read: list[object] = []

    def verify(source: object) -> SimpleNamespace:
        read.append(source)
        return SimpleNamespace(status=status, reason="because\nof this")

    # statuses 1 and 2 take a certificate that is wrong, or too much work
    monkeypatch.setitem(sys.modules, "logphi.checker", SimpleNamespace(verify=verify, verify_file=verify))
    assert main(["verify", "certificate.json"]) == status
    assert capsys.readouterr().out == "because of this\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{" * (LONGEST_CERTIFICATE + 100))))
    assert main(["verify", "-"]) == status
    assert read[0] == "certificate.json"
    assert read[1] == b"{" * (LONGEST_CERTIFICATE + 1)


def test_the_help_tells_the_statuses(capsys: Capture) -> None:
    assert main(["verify", "--help"]) == 0
    assert "0 the claim follows, 1 it does not, 2 not a certificate" in capsys.readouterr().out


def test_what_its_check_does_not_accept_is_not_written(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flint")
    from logphi.checker.verdict import Verdict

    # whatever is made passes, as far as we know
    monkeypatch.setattr("logphi.checker.verify", lambda _, **__: Verdict(1, "more work"))
    assert certified("Gaussian(1.1)", "--delta", "1e-5") == 2
    out, err = capsys.readouterr()
    assert not out
    assert "its check does not accept it: more work\n" in err
