"""``explain``: how an answer comes about."""

from __future__ import annotations

import argparse

from logphi.cli.exits import MET
from logphi.cli.options import add_expression, add_question, mechanism, numbers, question
from logphi.cli.parser import Commands

EXAMPLES = """logphi explain "Laplace(scale=5) + Gaussian(sigma=2, adjacency='add_remove')" --epsilon 2"""


def add(commands: Commands) -> None:
    """Enter the command."""
    command = commands.add("explain", "how an answer is reached, and where its width comes from", run)
    add_expression(command)
    add_question(command)


def run(arguments: argparse.Namespace) -> int:
    """One explanation for each point."""
    asked = question(arguments)
    points = numbers(arguments, asked)
    release = mechanism(arguments)
    for point in points:
        print(release.explain(epsilon=point) if asked == "epsilon" else release.explain(delta=point))
    return MET
