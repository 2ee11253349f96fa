"""``calibrate``: the number in an expression at which a target is just met."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from logphi.cli.answers import as_data
from logphi.cli.each import Answer, each_text
from logphi.cli.options import add_expressions, number
from logphi.cli.parser import Commands

if TYPE_CHECKING:
    from logphi.calibration.result import Calibration

EXAMPLES = 'logphi calibrate "1000 * Gaussian(sigma=x).poisson(0.01)" --epsilon 2 --delta 1e-5'

_ABOUT = "the smallest noise, most steps or largest rate (a name in EXPR, such as x) that meets a target"
_JSON = """print one JSON object, in full precision: query, name, value, nearest_miss (the next value, which misses the target),
epsilon, delta, slack, status, evaluations, mechanism, answer (the epsilon at this value, as printed by logphi epsilon)"""


def add(commands: Commands) -> None:
    """Add the command."""
    command = commands.add("calibrate", _ABOUT, run)
    add_expressions(command)
    command.add_argument("--epsilon", required=True, metavar="E", help="the target")
    command.add_argument("--delta", required=True, metavar="D", help="the target; 0 for pure privacy")
    command.add_argument(
        "--digits", type=int, metavar="N", help="round to N digits, such that the rounded value meets the target"
    )
    command.add_argument("--integer", action="store_true", default=None, help="only integers (default: found out by trying)")
    command.add_argument("--lower", metavar="X", help="the smallest value to try; chooses between two branches")
    command.add_argument("--upper", metavar="X", help="the largest value to try")
    command.add_argument("--rtol", metavar="R", help="how near the next value is that misses the target (default: 1e-6)")
    command.add_argument("--json", action="store_true", help=_JSON)


def run(arguments: argparse.Namespace) -> int:
    """Print the value; the exit status says whether it is proved to be the best."""
    from logphi.calibration.calibrate import calibrate
    from logphi.expression import parse

    target = {name: number(arguments, name) for name in ("epsilon", "delta")}
    given = [name for name in ("lower", "upper", "rtol") if getattr(arguments, name) is not None]
    options: dict[str, Any] = {name: number(arguments, name) for name in given}

    def answer(text: str) -> Iterator[Answer]:
        name = _unknown_of(text)
        found = calibrate(
            lambda value: parse(text, variables={name: value}),
            epsilon=target["epsilon"],
            delta=target["delta"],
            integer=arguments.integer,
            digits=arguments.digits,
            **options,
        )
        found = replace(found, name=name)
        yield Answer(str(found), [_data(target, found)], found.status.met)

    return each_text(arguments, answer)


def _unknown_of(text: str) -> str:
    """The only name in an expression, which stands for the parameter."""
    from logphi.expression import parse, unknowns

    names = unknowns(text)
    if not names:
        # another mistake in the text is reported first
        parse(text)
    if len(names) != 1:
        raise ValueError(
            "one name in the expression must stand for the unknown number, as x in Gaussian(sigma=x); here there "
            + (f"are {len(names)}: {', '.join(names)}" if names else "is none")
        )
    return names[0]


def _data(target: dict[str, float], found: Calibration) -> dict[str, Any]:
    data = found.to_dict()
    return {
        "query": "calibrate",
        **{name: data[name] for name in ("name", "value", "nearest_miss")},
        **target,
        **{name: data[name] for name in ("slack", "status", "evaluations", "mechanism")},
        "answer": as_data(found.answer),
    }
