"""``explain``: how an answer was computed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from logphi.cli.each import Answer, each
from logphi.cli.options import add_expressions, add_question, numbers, question
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

EXAMPLES = """logphi explain "Laplace(scale=5) + Gaussian(sigma=2, adjacency='add_remove')" --epsilon 2"""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("explain", "how an answer is reached, and where its width comes from", run)
    add_expressions(command)
    add_question(command)


def run(arguments: argparse.Namespace) -> int:
    """Print one explanation for each point."""
    asked = question(arguments)
    points = numbers(arguments, asked)

    def answer(release: Mechanism) -> Iterator[Answer]:
        for point in points:
            explanation = release.explain(epsilon=point) if asked == "epsilon" else release.explain(delta=point)
            yield Answer(str(explanation), [], met=True)

    return each(arguments, answer)
