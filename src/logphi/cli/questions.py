"""``epsilon``, ``delta``, ``tradeoff`` and ``renyi``: one bound at each of several points."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from logphi.cli.answers import JSON
from logphi.cli.each import Answer, answered, each
from logphi.cli.options import add_direction, add_expressions, add_method, add_rtol, numbers, options
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

EXAMPLES = """\
logphi epsilon "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --delta 1e-5
logphi delta "50*Gaussian(sigma=5) + 50*RandomizedResponse(p=0.52)" --epsilon 0.5,1,2
logphi tradeoff "100 * Laplace(scale=20)" --type-one-error 0.01,0.1
logphi renyi "PureDP(epsilon=1)" --order 1,2,32.5"""

# query -> its argument, and the query in words
_QUESTIONS = {
    "epsilon": ("delta", "the smallest epsilon at each delta"),
    "delta": ("epsilon", "the smallest delta at each epsilon"),
    "tradeoff": ("type-one-error", "the smallest type II error of a test at each type I error"),
    "renyi": ("order", "the Renyi divergence at each order"),
}
# queries with a --method
_ROUTED = ("epsilon", "delta")


def add(commands: Commands) -> None:
    """Add the commands."""
    for query, (given, about) in _QUESTIONS.items():
        command = commands.add(query, about, run)
        add_expressions(command)
        command.add_argument(f"--{given}", required=True, metavar="X[,X...]", help="numbers such as 1e-5, 1/60000 or 2**-20")
        command.add_argument("--json", action="store_true", help=JSON)
        if query in _ROUTED:
            add_method(command)
        add_rtol(command)
        add_direction(command)


def run(arguments: argparse.Namespace) -> int:
    """Print the answers; the exit status says whether all are within tolerance."""
    from logphi.inputs.route_names import is_certified

    query, how = arguments.query, options(arguments)
    given, _ = _QUESTIONS[query]
    points = numbers(arguments, given)

    def answer(release: Mechanism) -> Iterator[Answer]:
        question = partial(getattr(release, query), **how)
        # an array would keep the doubles only, not the numbers as they are written
        bounds = [question(point) for point in points] if is_certified(how.get("method")) else question(points)
        for point, bound in zip(points, bounds, strict=True):
            yield answered(query, given.replace("-", " "), point, bound, arguments.direction)

    return each(arguments, answer)
