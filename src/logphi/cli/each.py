"""Answers for one expression, or for each line of standard input; the exit status is the worst of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from logphi.cli.answers import as_data, as_text, one_line
from logphi.cli.exits import MET, REFUSED, WIDE
from logphi.cli.options import STANDARD_INPUT

if TYPE_CHECKING:
    from logphi.algebra.release import Mechanism
    from logphi.answers.bound import Bound


class Answer(NamedTuple):
    """An answer as text and as JSON objects, and whether it is within tolerance."""

    text: str
    data: list[dict[str, Any]]
    met: bool


def answered(query: str, given: str, point: float, bound: Bound, asked: str | None = None) -> Answer:
    """The answer to a query at a point; ``asked`` is the direction that was asked for."""
    data = {"query": query, "at": point, **as_data(bound, asked)}
    return Answer(as_text(query, given, point, bound, asked), [data], bound.status.met)


def each_text(arguments: argparse.Namespace, answer: Callable[[str], Iterable[Answer]]) -> int:
    """Print the answers for the expression or, for a lone ``-``, for every line of standard input; return the exit status.

    A line that is refused is reported on standard error, and the next one is answered.
    """
    if arguments.expression != STANDARD_INPUT:
        return _print(answer(arguments.expression), arguments.json)
    codes = [_line(number, text, arguments.json, answer) for number, text in _lines()]
    if not codes:
        raise ValueError("standard input holds no expression: write one on each line")
    return max(codes)


def each(arguments: argparse.Namespace, answer: Callable[[Mechanism], Iterable[Answer]]) -> int:
    """:func:`each_text` for answers about the mechanism that the expression describes."""
    from logphi.expression import parse

    return each_text(arguments, lambda text: answer(parse(text)))


def _lines() -> Iterator[tuple[int, str]]:
    """The expressions of standard input with the numbers of their lines; comments and blank lines are left out."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        # invalid UTF-8 becomes a letter that no expression may contain, so that the error names the line
        text = line.decode("utf-8-sig", "replace").partition("#")[0].strip()
        if text:
            yield number, text


def _line(number: int, text: str, as_json: bool, answer: Callable[[str], Iterable[Answer]]) -> int:
    try:
        return _print(answer(text), as_json, f"line {number}: ", {"line": number, "expression": text})
    except (ValueError, NotImplementedError) as error:
        print(f"logphi: line {number}: {one_line(str(error))}", file=sys.stderr)
        return REFUSED


def _print(answers: Iterable[Answer], as_json: bool, label: str = "", named: dict[str, Any] | None = None) -> int:
    # all are computed before the first is printed, so that a refused line prints nothing else
    listed = list(answers)
    for text, data, _ in listed:
        if as_json:
            for one in data:
                print(json.dumps({**(named or {}), **one}, allow_nan=False))
        else:
            print(f"{label}{text}")
    # a user who types one line at a time gets each answer immediately
    sys.stdout.flush()
    return MET if all(one.met for one in listed) else WIDE
