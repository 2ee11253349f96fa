"""The parser, to which each group adds its commands."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Protocol

from logphi.cli.exits import MET

_EXPRESSIONS = """\
EXPR is parsed, never executed: numbers, + - * / **, brackets, lists, mechanisms, .poisson(...) and .subset(...).
If EXPR is -, expressions are read from standard input, one per line, and # begins a comment; the exit status is the
worst of all. certify, report and sweep read a single expression. The number to claim is the upper end of an answer, or
the lower end of a tradeoff: both are rounded outward."""
_ANSWERED = "0 answered within tolerance, 1 valid but wider than requested, 2 bad input (one line on standard error)"
_VERIFIED = "0 the claim follows, 1 it does not, 2 not a certificate"

Run = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser that raises a ValueError for bad arguments."""

    def error(self, message: str) -> NoReturn:
        """Raise the message with which argparse would exit, and what a misspelt word may have meant."""
        from logphi.inputs.guesses import nearest

        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        hint = wrong and nearest(wrong[1], re.findall(r"[\w-]+", wrong[2]))
        raise ValueError(f"{message}{'; ' if hint else ''}{hint or ''} (see {self.prog} --help)")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help without line breaks within names that have hyphens."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def _layout(examples: Iterable[str], exits: str) -> dict[str, Any]:
    """The layout of help, which explains expressions if an example has one."""
    shown = "\n".join(f"  {line}" for line in examples)
    expressions = f"{_EXPRESSIONS}\n" if '"' in shown else ""
    return {
        "allow_abbrev": False,
        "formatter_class": _Help,
        "epilog": f"examples:\n{shown}\n\n{expressions}exit status: {exits}",
    }


class Commands:
    """The commands of a parser, to which groups add theirs."""

    def __init__(self, queries: argparse._SubParsersAction[Parser], examples: Iterable[str]) -> None:
        self._queries, self._examples = queries, list(examples)

    def add(self, query: str, about: str, run: Run) -> Parser:
        """Add a command, the function that it runs and its examples; the caller adds its arguments."""
        own = [line for line in self._examples if line.startswith(f"logphi {query} ")]
        exits = _VERIFIED if query == "verify" else _ANSWERED
        command = self._queries.add_parser(query, help=about, description=about, **_layout(own, exits))
        command.set_defaults(run=run)
        return command


class Group(Protocol):
    """A file of commands."""

    EXAMPLES: str

    def add(self, commands: Commands) -> None:
        """Add the commands."""


class _Version(argparse.Action):
    """Looks up the version only when asked: reading package metadata is slower than everything else here."""

    def __call__(self, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"logphi {version('logphi')}")
        raise SystemExit(MET)


def parser(groups: Iterable[Group]) -> Parser:
    """The parser of all groups; the parsed arguments have a member ``run``, the function of the command."""
    listed = list(groups)
    examples = [line for group in listed for line in group.EXAMPLES.splitlines()]
    whole = Parser(
        "logphi",
        description="Differential-privacy accounting with proved lower and upper bounds.",
        **_layout(examples, f"{_ANSWERED};\nof verify: {_VERIFIED}"),
    )
    whole.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    # completion reads commands and options from it
    whole.set_defaults(parser=whole)
    commands = Commands(whole.add_subparsers(dest="query", required=True, metavar="QUERY"), examples)
    for group in listed:
        group.add(commands)
    return whole
