"""``risk``: the most that an attack can attain."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from logphi.cli.answers import JSON
from logphi.cli.each import Answer, answered, each
from logphi.cli.options import add_expressions, number, numbers
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism

EXAMPLES = 'logphi risk "14062 * Gaussian(sigma=1.1).poisson(256/60000)" --fpr 0.001,0.01 --slack 1e-6'

_ABOUT = "the most that attacks attain: the advantage of a membership attack, and the risks chosen by options"
# option -> the question to ask there, and the question in words
_ASKED: dict[str, tuple[str, str]] = {
    "fpr": ("tpr", "the true positive rate of a membership attack at these false positive rates"),
    "prior": ("success", "the probability of guessing membership right, at these prior probabilities"),
    "baseline": ("reconstruction", "the probability of reconstructing a record, if guessing succeeds with this one"),
    "slack": ("gaussian_mu", "the mu of a Gaussian mechanism that leaks at least as much, up to this much delta"),
}


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("risk", _ABOUT, run)
    add_expressions(command)
    for given, (_, about) in _ASKED.items():
        command.add_argument(f"--{given}", metavar="X" if given == "slack" else "X[,X...]", help=about)
    command.add_argument("--json", action="store_true", help=JSON)


def run(arguments: argparse.Namespace) -> int:
    """Print the advantage, then one line for each number that is given."""
    asked = {given: _points(arguments, given) for given in _ASKED if getattr(arguments, given) is not None}

    def answer(release: Mechanism) -> Iterator[Answer]:
        risk = release.risk
        # the advantage is delta at epsilon 0
        yield answered("advantage", "epsilon", 0.0, risk.advantage())
        for given, points in asked.items():
            name, _ = _ASKED[given]
            question: Callable[[float], Any] = getattr(risk, name)
            yield from (answered(name, given, point, question(point)) for point in points)

    return each(arguments, answer)


def _points(arguments: argparse.Namespace, given: str) -> list[float]:
    return [number(arguments, given)] if given == "slack" else numbers(arguments, given)
