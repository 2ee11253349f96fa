"""``sweep``: one question to a family of mechanisms, a row for each, that can be interrupted and resumed."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from logphi.cli.answers import one_line
from logphi.cli.exits import MET, REFUSED, WIDE
from logphi.cli.options import (
    add_direction,
    add_expression,
    add_method,
    add_question,
    add_rtol,
    expression,
    numbers,
    options,
    question,
)
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from logphi.cli.sweeping.formats import Format
    from logphi.cli.sweeping.parameters import Parameters
    from logphi.cli.sweeping.rows import Group

EXAMPLES = """\
logphi sweep "n * Gaussian(sigma=s).poisson(q)" --vary s=0.5,1,2 --vary n=100:1000:100 --set q=0.01 --delta 1e-5
logphi sweep "n * Gaussian(sigma=s).poisson(0.01)" --csv parameters.csv --delta 1e-5 --output answers.csv"""

_ABOUT = "one question about many mechanisms, with values for the names in EXPR from a grid or a table: a row for each"
_VALUES = "values of a name: 0.5,1,2 or 100:1000:100 (start:stop:step), 0:1:lin11 or 1e-3:1:log7 (11 or 7 values)"
_OUTPUT = """where the rows go (default: standard output): JSON lines if it ends in .jsonl, CSV otherwise; rows of the same
sweep that it already holds are kept and not computed again"""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("sweep", _ABOUT, run)
    add_expression(command)
    command.add_argument("--vary", action="append", default=[], metavar="NAME=X[,X...]", help=_VALUES)
    command.add_argument("--set", action="append", default=[], metavar="NAME=X", help="a single value of a name")
    command.add_argument("--csv", metavar="FILE", help="a table; its first line has, for each column, the name in EXPR")
    add_question(command)
    add_direction(command)
    add_method(command)
    add_rtol(command)
    command.add_argument("-o", "--output", default="-", metavar="FILE", help=_OUTPUT)
    command.add_argument("--restart", action="store_true", help="start the output over, whatever it holds")
    command.add_argument("--json", action="store_true", help="JSON lines instead of CSV")
    command.add_argument("--processes", type=int, default=1, metavar="N", help="number of processes (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Write the rows; the exit status says whether all are answered, and within tolerance."""
    from logphi.cli.sweeping.family import answered, executor_of, refuse_mistyped
    from logphi.cli.sweeping.parameters import parameters
    from logphi.cli.sweeping.rows import output
    from logphi.expression import unknowns
    from logphi.progress import shown

    form, given, points, how = _format(arguments), question(arguments), _points(arguments), _how(arguments)
    text = one_line(expression(arguments))
    names = unknowns(text)
    refuse_mistyped(text, names)
    query = " ".join(["epsilon" if given == "delta" else "delta", *(f"--{name} {one}" for name, one in how.items())])
    asked = {"expression": text, "query": query}
    statuses: Counter[str] = Counter()
    with parameters(arguments, names) as over, executor_of(arguments.processes) as executor:
        groups: Iterator[Group] = ([{**row, **asked, "at": point} for point in points] for row in over.rows)
        with output(arguments.output, arguments.restart, form, _columns(over), groups, statuses) as (write, left):
            total = max(over.total - statuses.total() // len(points), 0)
            for group in shown(answered(left, given, how, names, executor, arguments.processes), "sweep", total):
                write("".join(map(form.line, group)))
                statuses.update(row["status"] for row in group)
    return _exit(statuses)


def _points(arguments: argparse.Namespace) -> list[float]:
    """The epsilons or deltas; a number that no row can answer is refused here."""
    from logphi.inputs import check

    given = question(arguments)
    points = numbers(arguments, given)
    if given == "delta":
        check.unit_array(given, points)
    return points


def _how(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the question; one that no row can answer is refused here."""
    from logphi.engine.routes.registry import named
    from logphi.inputs import check
    from logphi.inputs.route_names import is_certified

    how = options(arguments)
    check.tolerance("--rtol", how.get("rtol", 1))
    if not is_certified(how.get("method")):
        named(how.get("method"))
    return how


def _format(arguments: argparse.Namespace) -> Format:
    """The format of the rows; the output must not overwrite the table of ``--csv``."""
    from logphi.cli.sweeping.formats import CSV, JSON_LINES

    path, table = arguments.output, arguments.csv
    if table is not None and os.path.exists(path) and os.path.exists(table) and os.path.samefile(path, table):
        raise ValueError(f"--output {path} is the table of --csv: choose another file")
    if arguments.json and path.endswith(".csv"):
        raise ValueError(f"--json writes JSON lines, and --output {path} is the name of a table: call it .jsonl")
    return JSON_LINES if arguments.json or path.endswith(".jsonl") else CSV


def _columns(over: Parameters) -> tuple[str, ...]:
    from logphi.cli.sweeping.rows import ANSWERED, ASKED

    taken = [name for name in over.columns if name in (*ASKED, *ANSWERED)]
    if taken:
        raise ValueError(f"{taken[0]!r} is a column of the output: give the parameter another name")
    return (*over.columns, *ASKED, *ANSWERED)


def _exit(statuses: Counter[str]) -> int:
    from logphi.answers.status import Status
    from logphi.cli.sweeping.family import REFUSED_ROW

    if statuses[REFUSED_ROW]:
        message = f"{statuses[REFUSED_ROW]} of {statuses.total()} rows are refused: the column error says why"
        print(f"logphi: {message}", file=sys.stderr)
        return REFUSED
    met = {status.name.lower() for status in Status if status.met}
    return MET if met.issuperset(statuses) else WIDE
