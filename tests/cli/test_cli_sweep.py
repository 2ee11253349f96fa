"""``logphi sweep``: what is typed, the rows that come out, and what becomes of an interruption."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import logphi as lp
from effort import answers
from logphi.cli import main
from logphi.cli.sweeping.axes import axis
from logphi.cli.sweeping.formats import CSV, JSON_LINES
from logphi.cli.sweeping.rows import ANSWERED, output
from logphi.cli.sweeping.rows import ASKED as ASKED_COLUMNS
from logphi.sweeps.sweep import sweep
from logphi.text.written import exact

TRAINING = "n*Gaussian(sigma=s).poisson(q)"
# quick, and its epsilon is its parameter
PURE = "PureDP(epsilon=e)"
GRID = ["--vary", "s=1,2", "--vary", "n=100:200:100", "--set", "q=0.01", "--delta", "1e-5"]


def run(capsys, *argv):
    code = main(["sweep", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def table(text):
    return list(csv.DictReader(text.splitlines()))


def refused(capsys, *argv):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("logphi: ")
    assert err.endswith("\n")
    assert err[:-1].isprintable(), "one line"
    return err


def test_a_grid_is_typed_and_a_table_comes_out(capsys):
    code, out, err = run(capsys, TRAINING, *GRID)
    assert (code, err) == (0, "")
    rows = table(out)
    assert list(rows[0]) == [
        "s",
        "n",
        "q",
        "expression",
        "query",
        "at",
        "lower",
        "value",
        "upper",
        "direction",
        "method",
        "status",
        "error",
    ]
    assert [(row["s"], row["n"]) for row in rows] == [(s, n) for s in ("1", "2") for n in ("100", "200")]
    for row in rows:
        alone = (int(row["n"]) * lp.Gaussian(float(row["s"])).poisson(0.01)).epsilon(1e-5)
        assert float(row["lower"]) <= alone.upper
        assert alone.lower <= float(row["upper"])
        assert float(row["lower"]) <= float(row["value"]) <= float(row["upper"])
        assert (row["query"], row["at"], row["status"], row["error"]) == ("epsilon", "1e-05", "met", "")


def test_the_answers_are_those_of_the_library_to_the_last_digit(capsys):
    _, out, _ = run(capsys, TRAINING, "--json", *GRID)
    found = lp.sweep(lambda s, n: n * lp.Gaussian(sigma=s).poisson(0.01), {"s": [1.0, 2.0], "n": [100, 200]}, delta=[1e-5])
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["lower"], row["upper"]) for row in rows] == [(bound.lower, bound.upper) for _, bound in found]


def test_several_points_are_rows_of_their_own(capsys):
    _, out, _ = run(capsys, "n*Gaussian(sigma=9)", "--vary", "n=1,2", "--epsilon", "-0.5,1", "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(row["n"], row["at"], row["query"]) for row in rows] == [(n, at, "delta") for n in (1, 2) for at in (-0.5, 1.0)]
    assert all(row["direction"] and row["method"] and row["error"] is None for row in rows)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.5,1,2", [0.5, 1, 2]),
        ("100:1000:300", [100, 400, 700, 1000]),
        ("1:10:4", [1, 5, 9]),
        ("10:1:-3", [10, 7, 4, 1]),
        ("0.1:0.5:0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("0:1:lin5", [0, 0.25, 0.5, 0.75, 1]),
        ("1e-3:1:log4", [1e-3, 0.01, 0.1, 1]),
        ("1,10:20:5, 2**5", [1, 10, 15, 20, 32]),
        ("256/60000", [256 / 60000]),
        ("7:7:1", [7]),
    ],
)
def test_values_and_ranges_are_written_plainly(text, values):
    assert axis(text) == values


def test_a_range_makes_the_decimals_that_were_meant():
    """0.1 + 0.1 + 0.1 is not 0.3 in doubles; the third step of 0.1 is."""
    assert [exact(value) for value in axis("0.1:0.3:0.1")] == [Fraction(k, 10) for k in (1, 2, 3)]
    assert all(type(value) is int for value in axis("1:9:2") + axis("10:1000:log3") + axis("0:10:lin6"))


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(2, 40))
def test_steps_and_counts_agree(start, step, count):
    stop = start + step * (count - 1)
    assert axis(f"{start}:{stop}:{step}") == axis(f"{start}:{stop}:lin{count}") == list(range(start, stop + 1, step))
    assert axis(f"{stop}:{start}:{-step}") == axis(f"{start}:{stop}:{step}")[::-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "end of the text"),
        ("1,", "end of the text"),
        ("x", "'x' at character 1"),
        ("nan", "'nan'"),
        ("1:2", "is not a range"),
        ("1:2:3:4", "is not a range"),
        ("1:2:0", "steps of 0"),
        ("2:1:1", "do not lead from 2 to 1"),
        ("0:1:log3", "must be positive"),
        ("0:1:lin1", "at least 2"),
        ("0:1e9:1e-3", "more than 1000000"),
        ("0:1:lin999999999", "more than 1000000"),
    ],
)
def test_what_is_no_range_is_refused_with_the_name_of_the_option(text, said, capsys):
    err = refused(capsys, PURE, "--vary", f"e={text}", "--delta", "0")
    assert "--vary e: " in err
    assert said in err


def test_a_table_names_its_columns_and_keeps_its_labels(capsys, tmp_path):
    given = tmp_path / "parameters.csv"
    # as a spreadsheet saves it: with a mark of its encoding, and lines of two characters
    given.write_bytes('\ufeffrun, s,n\r\n"first, small",2,1e3\r\n\r\nsecond,256/100,100\r\n'.encode())
    code, out, err = run(capsys, TRAINING, "--csv", str(given), "--set", "q=0.01", "--delta", "1e-5")
    assert (code, err) == (0, "")
    rows = table(out)
    assert [(row["run"], row["s"], row["n"], row["q"]) for row in rows] == [
        ("first, small", "2", "1000.0", "0.01"),
        ("second", "2.56", "100", "0.01"),
    ]
    assert float(rows[0]["upper"]) == pytest.approx((1000 * lp.Gaussian(2.0).poisson(0.01)).epsilon(1e-5).value)


def test_each_row_of_a_table_is_joined_with_each_point_of_a_grid(capsys, tmp_path):
    given = tmp_path / "parameters.csv"
    given.write_text("s\n1\n2\n")
    _, out, _ = run(capsys, "n*Gaussian(s)", "--csv", str(given), "--vary", "n=1,4", "--epsilon", "1")
    rows = table(out)
    assert [(row["s"], row["n"]) for row in rows] == [("1", "1"), ("1", "4"), ("2", "1"), ("2", "4")]
    # four steps of twice the noise are one step
    assert float(rows[0]["value"]) == pytest.approx(float(rows[3]["value"]), rel=1e-9)


def test_a_row_that_is_refused_says_why_and_the_others_are_answered(capsys, tmp_path):
    given = tmp_path / "parameters.csv"
    given.write_text("e\n0.5\n-1\nunknown\n\n2\n")
    code, out, err = run(capsys, PURE, "--csv", str(given), "--delta", "0")
    assert code == 2
    assert err == "logphi: 2 of 4 rows are refused: the column error says why\n"
    rows = table(out)
    assert [row["status"] for row in rows] == ["met", "refused", "refused", "met"]
    assert [row["e"] for row in rows] == ["0.5", "-1", "unknown", "2"]
    assert "epsilon" in rows[1]["error"]
    assert "e: 'unknown' at character 1" in rows[2]["error"]
    assert [row["lower"] + row["value"] + row["upper"] for row in rows[1:3]] == ["", ""]
    _, out, _ = run(capsys, PURE, "--csv", str(given), "--delta", "0", "--json")
    assert json.loads(out.splitlines()[1])["upper"] is None


def test_a_mistyped_expression_leaves_no_file(capsys, tmp_path):
    path = tmp_path / "answers.csv"
    refused(capsys, "Gausian(sigma=s)", "--vary", "s=1:1000:1", "--delta", "1e-5", "-o", str(path))
    assert not path.exists()


def test_direction_method_and_tolerance_are_those_of_the_question(capsys, tmp_path):
    path = tmp_path / "answers.csv"
    options = ["--direction", "add", "--method", "contour", "--rtol", "1e-3"]
    assert run(capsys, TRAINING, *GRID, *options, "-o", str(path)) == (0, "", "")
    row = table(path.read_text())[0]
    one = (100 * lp.Gaussian(1).poisson(0.01)).epsilon(1e-5, direction="add", method="contour", rtol=1e-3)
    assert (float(row["lower"]), float(row["upper"]), row["direction"]) == (one.lower, one.upper, "add")
    assert row["query"] == "epsilon --direction add --method contour --rtol 0.001"
    # answers to another question are not gone on with
    assert "not from this sweep" in refused(capsys, TRAINING, *GRID, "-o", str(path))
    certified = ["PureDP(e)", "--vary", "e=1/3", "--delta", "1e-5", "--method", "certified"]
    assert table(run(capsys, *certified)[1])[0]["method"] == "certified"


def test_a_wide_answer_sets_the_status(capsys):
    """An exact zero is reached at no finite epsilon; that is an answer. An unproved bound is a wide one."""
    code, out, _ = run(capsys, "Gaussian(s)", "--vary", "s=1", "--delta", "0", "--json")
    assert (code, json.loads(out)["upper"], json.loads(out)["status"]) == (0, "inf", "unbounded")
    pair = "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=s).poisson(0.1)"
    code, out, _ = run(capsys, pair, "--vary", "s=1.2", "--epsilon", "1")
    assert (code, table(out)[0]["status"]) == (1, "estimated")


# ---- files: they grow, and are gone on with


ASKED = [PURE, "--vary", "e=1:5:1", "--delta", "0,0.01"]


@pytest.fixture(params=["out.csv", "out.jsonl"])
def whole(request, tmp_path, capsys):
    """A file of a whole sweep."""
    path = tmp_path / request.param
    assert run(capsys, *ASKED, "--output", str(path)) == (0, "", "")
    return path


def test_the_end_of_the_name_says_how_rows_are_written(capsys, tmp_path, whole):
    rows = table(whole.read_text()) if whole.suffix == ".csv" else [json.loads(line) for line in whole.read_text().splitlines()]
    assert len(rows) == 10
    assert [float(row["upper"]) for row in rows[::2]] == pytest.approx([1, 2, 3, 4, 5])
    other = tmp_path / "answers.txt"
    assert run(capsys, *ASKED, "--json", "-o", str(other))[0] == 0
    assert json.loads(other.read_text().splitlines()[0])["e"] == 1


def test_what_was_cut_is_made_whole_by_the_same_command(capsys, whole):
    content = whole.read_bytes()
    ends = [place + 1 for place, letter in enumerate(content) if letter == ord("\n")]
    for length in (0, 5, ends[0], ends[0] + 1, ends[1] - 3, ends[1], ends[2] - 1, ends[-1] - 1):
        whole.write_bytes(content[:length])
        assert run(capsys, *ASKED, "-o", str(whole)) == (0, "", "")
        assert whole.read_bytes() == content


@pytest.mark.parametrize("form", [CSV, JSON_LINES], ids=["csv", "jsonl"])
def test_wherever_a_file_was_cut_whole_mechanisms_are_kept(form, tmp_path):
    path, columns = tmp_path / "out", ("label", *ASKED_COLUMNS, *ANSWERED)
    asked = [[{"label": f'a "{k}", b', "expression": "x", "query": "delta", "at": at} for at in (0.5, 1.0)] for k in range(2)]
    lines = [form.line({**row, **dict.fromkeys(ANSWERED), "status": "met"}) for group in asked for row in group]
    content = "".join([form.header(columns), *lines]).encode()
    for length in {*range(0, len(content), 3), len(content)}:
        path.write_bytes(content[:length])
        statuses: Counter[str] = Counter()
        with output(str(path), False, form, columns, iter(asked), statuses) as (write, left):
            missing = list(left)
            assert missing == asked[len(asked) - len(missing) :]
            write("".join(lines[2 * (2 - len(missing)) :]))
        assert path.read_bytes() == content
        assert statuses.total() == 4 - 2 * len(missing)
        assert (length == len(content)) == (not missing)


def test_rows_that_are_there_are_not_computed_again(capsys, whole):
    computed = answers(lambda: run(capsys, *ASKED, "-o", str(whole)), sweep)
    assert computed == []
    assert run(capsys, *ASKED, "-o", str(whole)) == (0, "", "")


def test_a_longer_sweep_goes_on_where_a_shorter_one_ended(capsys, whole):
    content = whole.read_bytes()
    longer = [PURE, "--vary", "e=1:6:1", "--delta", "0,0.01", "-o", str(whole)]
    assert run(capsys, *longer) == (0, "", "")
    assert whole.read_bytes().startswith(content)
    assert whole.read_bytes().count(b"\n") == content.count(b"\n") + 2
    assert "where this sweep ends" in refused(capsys, *ASKED, "-o", str(whole))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "other",
    [
        [PURE, "--vary", "e=1:5:1", "--delta", "0,0.1"],
        [PURE, "--vary", "e=1:5:1", "--delta", "0"],
        [PURE, "--vary", "e=1:5:1", "--epsilon", "0,0.01"],
        [PURE, "--vary", "e=1,2,3,4,6", "--delta", "0,0.01"],
        ["2*PureDP(epsilon=e)", "--vary", "e=1:5:1", "--delta", "0,0.01"],
        ["PureDP(epsilon=f)", "--vary", "f=1:5:1", "--delta", "0,0.01"],
    ],
)
def test_another_question_does_not_go_on_with_a_file(other, capsys, whole):
    content = whole.read_bytes()
    err = refused(capsys, *other, "-o", str(whole))
    assert "is not from this sweep: its " in err or "is not from this sweep: it continues after" in err
    assert "--restart" in err
    assert whole.read_bytes() == content
    assert run(capsys, *other, "-o", str(whole), "--restart") == (0, "", "")
    assert whole.read_bytes() != content


@pytest.mark.parametrize("content", ["my notes", "my notes\n", "e", "\n", '{"e": 1}\n', '{"e": 2', "e,expression,query,at\n"])
@pytest.mark.parametrize("name", ["notes.csv", "notes.jsonl"])
def test_a_file_of_somebody_else_is_left_as_it_is(content, name, capsys, tmp_path):
    path = tmp_path / name
    path.write_text(content)
    if (content, name) == ("e", "notes.csv"):
        # it may be the beginning of this one
        assert run(capsys, *ASKED, "-o", str(path))[0] == 0
        return
    refused(capsys, *ASKED, "-o", str(path))
    assert path.read_text() == content


def test_a_row_that_was_damaged_is_named(capsys, whole):
    lines = whole.read_text().splitlines(keepends=True)
    for damaged in (lines[-1][: len(lines[-1]) // 2] + "\n", lines[0]):
        content = "".join([*lines[:-1], damaged])
        whole.write_text(content)
        assert f"its line {len(lines)} " in refused(capsys, *ASKED, "-o", str(whole))
        assert whole.read_text() == content


def test_refused_rows_of_an_earlier_run_still_tell(capsys, tmp_path):
    path = tmp_path / "out.csv"
    asked = [PURE, "--vary", "e=-1,1", "--delta", "0", "-o", str(path)]
    assert run(capsys, *asked)[0] == 2
    code, _, err = run(capsys, *asked)
    assert (code, err) == (2, "logphi: 1 of 2 rows are refused: the column error says why\n")


def test_an_interruption_leaves_whole_rows_and_says_what_to_do(capsys, tmp_path, monkeypatch):
    path, real = tmp_path / "out.csv", lp.PureDP.epsilon

    def impatient(self, *given, **asked):
        if self == lp.PureDP(3):
            raise KeyboardInterrupt
        return real(self, *given, **asked)

    # the user's Ctrl-C in the midst of a question
    monkeypatch.setattr(lp.PureDP, "epsilon", impatient)
    code, _, err = run(capsys, *ASKED, "-o", str(path))
    assert code == 130
    assert err == f"logphi: interrupted; the same command goes on with {path}\n"
    assert [row["e"] for row in table(path.read_text())] == ["1", "1", "2", "2"]
    monkeypatch.undo()
    assert run(capsys, *ASKED, "-o", str(path)) == (0, "", "")
    assert len(table(path.read_text())) == 10


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_a_file_to_go_on_with(tmp_path):
    path = tmp_path / "out.csv"
    command = [
        sys.executable,
        "-m",
        "logphi",
        "sweep",
        TRAINING,
        "--vary",
        "s=1:3:lin60",
        "--set",
        "q=0.01",
        "--set",
        "n=1000",
    ]
    command += ["--delta", "1e-5", "-o", str(path)]
    with subprocess.Popen(command) as process:
        while not path.exists() or path.read_bytes().count(b"\n") < 5:
            assert process.poll() is None, "it ended before it was killed"
        os.kill(process.pid, signal.SIGKILL)
    there = path.read_bytes()
    assert 5 <= there.count(b"\n") < 60
    assert subprocess.run(command, check=False).returncode == 0
    rows = table(path.read_text())
    assert [float(row["s"]) for row in rows] == axis("1:3:lin60")
    assert path.read_bytes().startswith(there[: there.rindex(b"\n") + 1])


@pytest.mark.slow
def test_several_processes_write_the_same_file(capsys, tmp_path):
    alone, several = tmp_path / "alone.csv", tmp_path / "several.csv"
    asked = [TRAINING, "--vary", "s=1:2:lin10", "--vary", "n=100,200", "--set", "q=0.01", "--delta", "1e-5"]
    assert run(capsys, *asked, "-o", str(alone)) == (0, "", "")
    assert run(capsys, *asked, "-o", str(several), "--processes", "2") == (0, "", "")
    assert several.read_bytes() == alone.read_bytes()


# ---- bad input


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([PURE, "--delta", "0"], "nothing varies"),
        ([PURE, "--set", "e=1", "--delta", "0"], "nothing varies"),
        ([PURE, "--vary", "e=1"], "--epsilon --delta is required"),
        ([PURE, "--vary", "e=1", "--delta", "2"], "[0, 1]"),
        ([PURE, "--vary", "e=1", "--delta", "x"], "--delta: 'x'"),
        ([PURE, "--vary", "x=1", "--delta", "0"], "'x' is not a name in the expression, which has: e"),
        ([PURE, "--vary", "1", "--delta", "0"], "--vary 1: write a name and its values"),
        ([PURE, "--vary", "e=1", "--vary", "e=2", "--delta", "0"], "'e' is given twice"),
        ([PURE, "--vary", "e=1", "--set", "e=2", "--delta", "0"], "'e' is given twice"),
        (["n*Gaussian(s)", "--vary", "s=1", "--delta", "0"], "no values for n: give --vary or --set n="),
        (["n*Gaussian(s)", "--vary", "s=1", "--set", "n=1,2", "--delta", "0"], "--set n: one number is needed, got 2"),
        (["PureDP(1)", "--vary", "x=1", "--delta", "0"], "which has: none"),
        (["PureDP(epsilon=value)", "--vary", "value=1", "--delta", "0"], "'value' is a column of the output"),
        ([PURE, "--vary", "e=1", "--delta", "0", "--processes", "0"], "--processes: at least 1"),
        ([PURE, "--vary", "e=1", "--delta", "0", "--json", "-o", "x.csv"], "call it .jsonl"),
        ([PURE, "--vary", "e=1", "--delta", "0", "-o", "/nowhere/all.csv"], "there is no folder '/nowhere' for 'all.csv'"),
        ([PURE, "--csv", "/nowhere/all.csv", "--delta", "0"], "there is no folder '/nowhere' for 'all.csv'"),
        ([PURE, "--vary", "e=1", "--delta", "0", "--method", "fast"], "method must be one of 'contour'"),
        ([PURE, "--vary", "e=1", "--delta", "0", "--rtol", "2"], "--rtol must be at most 1"),
        ([PURE, "--vary", "e=1", "--delta", "0", "--direction", "up"], "argument --direction: invalid choice"),
        (["PureDPP(epsilon=e)", "--vary", "e=1,2", "--delta", "0"], "unknown name; did you mean PureDP"),
        (["PureDP(eps=e)", "--vary", "e=1,2", "--delta", "0"], "write epsilon"),
        (["PureDP(e).poison(q)", "--vary", "e=1,2", "--set", "q=0.1", "--delta", "0"], "did you mean poisson"),
        (["PureDP(e) + Gaussian(-1)", "--vary", "e=1,2", "--delta", "0"], "sigma must not be negative, got -1"),
        (["e * PureDP(", "--vary", "e=1,2", "--delta", "0"], "the end of the text"),
    ],
)
def test_bad_input_is_one_line_and_status_two(argv, said, capsys):
    assert said in refused(capsys, *argv)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the first line names the columns"),
        ("e,\n1,2\n", "the first line names the columns"),
        ("x;y\n1;2\n", "no column is a name in the expression, which has: e; the header has 'x;y'"),
        ("e,e\n1,2\n", "'e' is given twice"),
        ("e,upper\n1,2\n", "'upper' is a column of the output"),
        ('"e\n', "not a table"),
    ],
)
def test_what_is_no_table_is_refused_before_anything_is_written(content, said, capsys, tmp_path):
    given = tmp_path / "parameters.csv"
    given.write_text(content)
    assert said in refused(capsys, PURE, "--csv", str(given), "--delta", "0", "-o", str(tmp_path / "out.csv"))
    assert not (tmp_path / "out.csv").exists()


def test_a_ragged_row_ends_the_sweep_and_what_was_answered_stays(capsys, tmp_path):
    given, path = tmp_path / "parameters.csv", tmp_path / "out.csv"
    given.write_text("e,run\n1,a\n2\n")
    asked = [PURE, "--csv", str(given), "--delta", "0", "-o", str(path)]
    assert "the row '2' has 1 cells, and the header 2" in refused(capsys, *asked)
    assert len(table(path.read_text())) == 1
    given.write_text("e,run\n1,a\n2,b\n")
    assert run(capsys, *asked) == (0, "", "")
    assert len(table(path.read_text())) == 2


def test_the_table_is_never_written_over(capsys, tmp_path):
    given = tmp_path / "parameters.csv"
    given.write_text("e\n1\n")
    asked = [PURE, "--csv", str(given), "--delta", "0", "--restart", "-o", str(tmp_path / "." / "parameters.csv")]
    assert "is the table of --csv" in refused(capsys, *asked)
    assert given.read_text() == "e\n1\n"


def test_rows_are_read_one_by_one(tmp_path, monkeypatch):
    """A hundred thousand rows are never in memory together: a table that grows by a row whenever one is written has no end."""
    given, written = tmp_path / "parameters.csv", []

    class Growing(io.StringIO):
        def write(self, text):
            written.append(text)
            if len(written) < 50:
                with given.open("a") as table:
                    table.write("1\n")
            return len(text)

    # two rows ahead of what is written: a third is there when the header is
    given.write_text("e\n1\n1\n")
    monkeypatch.setattr(sys, "stdout", Growing())
    assert main(["sweep", PURE, "--csv", str(given), "--delta", "0"]) == 0
    assert len(written) > 50
