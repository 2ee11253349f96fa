"""Arguments that several commands share, and how they are read."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism


# stands in place of an expression or of a file
STANDARD_INPUT = "-"


def add_expression(command: argparse.ArgumentParser) -> None:
    """Add an argument for one mechanism."""
    command.add_argument("expression", metavar="EXPR", help="the mechanism, or - to read it from standard input")


def add_expressions(command: argparse.ArgumentParser) -> None:
    """Add an argument for one mechanism, or many."""
    about = "the mechanism, or - to read one per line from standard input"
    command.add_argument("expression", metavar="EXPR", help=about)
    command.set_defaults(json=False)


def add_question(command: argparse.ArgumentParser) -> None:
    """Add the options for an epsilon or a delta, the other of which is to be computed."""
    verb = command.prog.split()[-1]
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("--epsilon", metavar="E[,E...]", help=f"{verb} delta at this epsilon")
    either.add_argument("--delta", metavar="D[,D...]", help=f"{verb} epsilon at this delta")


def add_direction(command: argparse.ArgumentParser) -> None:
    """Add the option for a direction."""
    command.add_argument("--direction", choices=["add", "remove"], help="one direction only")


def add_method(command: argparse.ArgumentParser) -> None:
    """Add the option for a method."""
    from logphi.inputs.route_names import RouteName

    names = ", ".join(get_args(RouteName))
    about = f"the route (default: chosen for you): {names}; or certified: ball arithmetic on the numbers as they are written"
    command.add_argument("--method", help=about)


def add_rtol(command: argparse.ArgumentParser) -> None:
    """Add the option for a tolerance."""
    command.add_argument("--rtol", metavar="R", help="the relative width to aim for")


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The values of direction, method and rtol, of those that are given."""
    given = {name: getattr(arguments, name, None) for name in ("direction", "method", "rtol")}
    if given["rtol"] is not None:
        given["rtol"] = number(arguments, "rtol")
    return {name: one for name, one in given.items() if one is not None}


def question(arguments: argparse.Namespace) -> str:
    """Which of epsilon and delta is given."""
    return "delta" if arguments.delta is not None else "epsilon"


def numbers(arguments: argparse.Namespace, option: str) -> list[float]:
    """The numbers of an option; a ValueError names it."""
    from logphi.expression import parse_numbers

    try:
        return parse_numbers(getattr(arguments, option.replace("-", "_")))
    except ValueError as error:
        raise ValueError(f"--{option}: {error}") from None


def number(arguments: argparse.Namespace, option: str) -> float:
    """The number of an option that takes a single one."""
    given = numbers(arguments, option)
    if len(given) != 1:
        raise ValueError(f"--{option}: one number is needed, got {len(given)}")
    return given[0]


def expression(arguments: argparse.Namespace) -> str:
    """The text of the mechanism, given or from standard input."""
    from logphi.expression import LONGEST

    text: str = arguments.expression
    return sys.stdin.read(LONGEST + 1) if text == STANDARD_INPUT else text


def mechanism(arguments: argparse.Namespace) -> Mechanism:
    """The mechanism that the expression describes."""
    from logphi.expression import parse

    return parse(expression(arguments))


def glued(argv: Sequence[str]) -> list[str]:
    """The arguments with ``--epsilon -0.5,1`` as ``--epsilon=-0.5,1``: argparse takes the number for an option."""
    glued: list[str] = []
    for argument in argv:
        if glued and re.fullmatch(r"--[a-z][a-z-]*", glued[-1]) and re.match(r"-[\d.(]", argument):
            glued[-1] += f"={argument}"
        else:
            glued.append(argument)
    return glued
