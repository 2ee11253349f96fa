"""A lone - in place of an expression: one on each line of standard input."""

import io
import json
import subprocess
import sys

import pytest

from logphi.cli import main
from some import some

LINES = """\
# what we ran last year
PureDP(epsilon=1)

2*PureDP(epsilon=1)   # twice
Gausian(sigma=2)
PureDP(epsilon=3)
"""


def run(capsys, monkeypatch, text, *argv):
    data = text if isinstance(text, bytes) else text.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


def test_each_line_is_answered_and_a_bad_one_is_named(capsys, monkeypatch):
    code, out, err = run(capsys, monkeypatch, LINES, "epsilon", "-", "--delta", "0")
    assert code == 2
    assert [line.partition(" at ")[0] for line in out.splitlines()] == [
        "line 2: epsilon = 1",
        "line 4: epsilon = 2",
        "line 6: epsilon = 3",
    ]
    assert err.startswith("logphi: line 5: 'Gausian' at character 1: ")
    assert "did you mean Gaussian" in err
    assert err.count("\n") == 1


def test_each_object_has_its_line_and_its_expression(capsys, monkeypatch):
    code, out, _ = run(capsys, monkeypatch, LINES, "delta", "-", "--epsilon", "0,1", "--json")
    assert code == 2
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["line"], row["query"], row["at"]) for row in rows] == [(n, "delta", at) for n in (2, 4, 6) for at in (0, 1)]
    assert rows[2]["expression"] == "2*PureDP(epsilon=1)"
    # the total variation of two randomized responses is that of one
    assert rows[2]["lower"] <= 0.46211715726000975 <= rows[2]["upper"]


@pytest.mark.parametrize(
    "argv",
    [
        ["tradeoff", "-", "--type-one-error", "0.1"],
        ["renyi", "-", "--order", "2"],
        ["explain", "-", "--epsilon", "0.5"],
        pytest.param(["compare", "-", "--delta", "0.1"], marks=pytest.mark.slow),
        ["risk", "-"],
    ],
)
def test_every_question_reads_lines(argv, capsys, monkeypatch):
    code, out, err = run(capsys, monkeypatch, "PureDP(1)\n2*PureDP(1)", *argv)
    assert (code, err) == (0, "")
    assert out.startswith("line 1: ")
    assert out.count("line 2: ") == 1
    one, two = (run(capsys, monkeypatch, "", argv[0], text, *argv[2:])[1] for text in ("PureDP(1)", "2*PureDP(1)"))
    assert out == f"line 1: {one}line 2: {two}"


def test_a_number_is_looked_for_on_each_line(capsys, monkeypatch):
    text = "x*PureDP(0.25)\nPureDP(1)\ny*PureDP(0.5)\n"
    code, out, err = run(capsys, monkeypatch, text, "calibrate", "-", "--epsilon", "1.1", "--delta", "0", "--json")
    assert code == 2
    assert [(row["line"], row["name"], row["value"]) for row in map(json.loads, out.splitlines())] == [(1, "x", 4), (3, "y", 2)]
    assert err.startswith("logphi: line 2: one name in the expression")


def test_the_exit_status_is_the_worst(capsys, monkeypatch):
    wide = "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=1.2).poisson(0.1)"
    asked = ["delta", "-", "--epsilon", "0.5"]
    assert run(capsys, monkeypatch, "PureDP(1)", *asked)[0] == 0
    assert run(capsys, monkeypatch, f"{wide}\nPureDP(1)", *asked)[0] == 1
    assert run(capsys, monkeypatch, f"{wide}\nPureDP(-1)\nPureDP(1)", *asked)[0] == 2


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_no_line_at_all_is_an_error(text, capsys, monkeypatch):
    code, out, err = run(capsys, monkeypatch, text, "epsilon", "-", "--delta", "0")
    assert (code, out) == (2, "")
    assert "standard input holds no expression" in err


def test_bad_options_are_said_once(capsys, monkeypatch):
    code, out, err = run(capsys, monkeypatch, "PureDP(1)\nPureDP(2)\n", "epsilon", "-", "--delta", "unknown")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("logphi: --delta: 'unknown'")


def test_what_is_not_text_is_named_with_its_line(capsys, monkeypatch):
    data = b"\xef\xbb\xbfPureDP(1)\r\nPureDP(\xff)\r\nPureDP(\x00)\n"
    code, out, err = run(capsys, monkeypatch, data, "epsilon", "-", "--delta", "0")
    assert code == 2
    assert out.startswith("line 1: epsilon = 1 ")
    assert [line[:15] for line in err.splitlines()] == ["logphi: line 2:", "logphi: line 3:"]
    assert all(line.isprintable() for line in err.splitlines())


@pytest.mark.slow
def test_answers_come_as_lines_come():
    """A program that writes a line may wait for its answer before it writes the next."""
    command = [sys.executable, "-m", "logphi", "epsilon", "-", "--delta", "0"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        given, shown = some(process.stdin), some(process.stdout)
        for k in (1, 2):
            given.write(b"PureDP(%d)\n" % k)
            given.flush()
            assert shown.readline().startswith(b"line %d: epsilon = %d " % (k, k))
        given.close()
        assert process.wait(60) == 0


def test_a_report_is_of_one_expression(capsys, monkeypatch):
    code, out, _ = run(capsys, monkeypatch, "PureDP(1)\n + PureDP(2)\n", "report", "-", "--delta", "1e-5")
    assert code == 0
    assert out.startswith("Privacy statement")
