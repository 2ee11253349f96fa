"""``compare``: the exact answer and the classical ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from logphi.cli.each import Answer, each
from logphi.cli.options import add_expressions, add_question, numbers, question
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

EXAMPLES = 'logphi compare "1000 * Gaussian(sigma=20)" --delta 1e-5'

_ROWS = """print one JSON object for each method, in full precision: query, at, name, value, side (exact, upper bound,
lower bound or approximation), gap (value less the exact one), source, note, and the reason if it does not apply"""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("compare", "the exact answer and what classical theorems give", run)
    add_expressions(command)
    add_question(command)
    command.add_argument("--json", action="store_true", help=_ROWS)


def run(arguments: argparse.Namespace) -> int:
    """Print one table for each point."""
    asked = question(arguments)
    points = numbers(arguments, asked)

    def answer(release: Mechanism) -> Iterator[Answer]:
        from logphi.comparison import compare

        questions: list[dict[str, Any]] = [{asked: point} for point in points]
        for one in questions:
            table = compare(release, **one)
            rows = [{"query": table.question, "at": table.at, **row.to_dict()} for row in table.rows]
            yield Answer(str(table), rows, table.exact.status.met)

    return each(arguments, answer)
