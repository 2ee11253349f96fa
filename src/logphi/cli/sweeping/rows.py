"""Rows written as soon as they are known, to a file from which an interrupted sweep can continue.

A row begins with the parameters and the question, and the rows of the file must begin as those of the sweep do: any other file
is refused and left unchanged. An incomplete last line is written again.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any

from logphi.cli.sweeping.formats import Format, Row

# columns: the parameters, then the question, then the answer
ASKED = ("expression", "query", "at")
ANSWERED = ("lower", "value", "upper", "direction", "method", "status", "error")

# the rows of one mechanism: they are computed and kept together
Group = list[dict[str, Any]]
Write = Callable[[str], None]


@contextmanager
def output(
    path: str, restart: bool, form: Format, columns: tuple[str, ...], groups: Iterator[Group], statuses: Counter[str]
) -> Iterator[tuple[Write, Iterator[Group]]]:
    """A function that writes rows to a file, or to standard output for ``-``, and the groups that the file does not have yet.

    The statuses of the rows that the file has already are counted in ``statuses``; ``restart`` empties the file instead. Raises
    a ValueError if the file is not the beginning of this sweep, and an OSError if it cannot be read or written.
    """
    if path == "-":
        _print(form.header(columns))
        yield _print, groups
        return
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as file:
        if restart:
            file.truncate()
        try:
            groups = _missing(file, form, columns, groups, statuses)
        except ValueError as error:
            raise ValueError(f"{path} is not from this sweep: {error}; choose another file, or --restart") from None

        def write(text: str) -> None:
            file.write(text.encode())
            file.flush()

        try:
            yield write, groups
        except KeyboardInterrupt:
            print(f"logphi: interrupted; the same command goes on with {path}", file=sys.stderr)
            raise


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _missing(
    file: IO[bytes], form: Format, columns: tuple[str, ...], groups: Iterator[Group], statuses: Counter[str]
) -> Iterator[Group]:
    """The groups that a file does not have yet; an incomplete last group is removed from it."""
    header = form.header(columns).encode()
    first = file.read(len(header))
    if not header.startswith(first):
        raise ValueError(f"its first line is not {header.decode().strip()}")
    if len(first) < len(header):
        file.seek(0)
        file.write(header)
        return groups
    number = form.header(columns).count("\n")
    for group in groups:
        place, rows = file.tell(), []
        for asked in group:
            line, start = file.readline(), form.start(asked).encode()
            number += 1
            whole = line.endswith(b"\n")
            # an incomplete line may end sooner
            shared = len(start) if whole else min(len(start), len(line))
            if line[:shared] != start[:shared]:
                raise ValueError(f"its line {number} does not begin with {start.decode()}")
            if whole:
                rows.append(_read(form, columns, line, number))
        if len(rows) < len(group):
            file.seek(place)
            file.truncate()
            return chain([group], groups)
        statuses.update(row["status"] for row in rows)
    if file.read(1):
        raise ValueError(f"it continues after line {number}, where this sweep ends")
    return groups


def _read(form: Format, columns: tuple[str, ...], line: bytes, number: int) -> Row:
    try:
        return form.read(columns, line.decode())
    except ValueError:
        raise ValueError(f"its line {number} is not a row of the columns {', '.join(columns)}") from None
