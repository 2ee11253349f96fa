"""The parameters of a sweep, row by row: a grid, a table, or each row of a table at each point of a grid."""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from logphi.cli.answers import one_line
from logphi.cli.sweeping.axes import assignments, axis

# a number, or the text of a table cell that is not a number
Cell = int | float | str
Row = dict[str, Cell]


@dataclass(frozen=True)
class Parameters:
    """The columns of parameters, the rows that have all of them, and the number of rows: 0 if unknown."""

    columns: tuple[str, ...]
    rows: Iterator[Row]
    total: int


@contextmanager
def parameters(arguments: argparse.Namespace, unknowns: list[str]) -> Iterator[Parameters]:
    """The values that the arguments give to the names in the expression; the table is open within the context.

    Columns of a table that the expression does not name are labels, and copied to the output.

    Raises a ValueError if a name has no values, or has them twice, or (while rows are read) if a line of the table does not
    match its header; an OSError if the table cannot be read.
    """
    if not arguments.vary and arguments.csv is None:
        raise ValueError("nothing varies: give --vary name=values or --csv FILE, or use logphi epsilon or logphi delta")
    axes = {name: _values("vary", name, text) for name, text in assignments("vary", arguments.vary, unknowns).items()}
    fixed = {name: _values("set", name, text) for name, text in assignments("set", arguments.set, unknowns).items()}
    several = next((name for name, values in fixed.items() if len(values) > 1), None)
    if several is not None:
        raise ValueError(f"--set {several}: one number is needed, got {len(fixed[several])}: --vary takes several")
    if arguments.csv is None:
        yield _joined([], iter([{}]), axes, fixed, unknowns, 1)
        return
    with open(arguments.csv, encoding="utf-8-sig", errors="replace", newline="") as file:
        header, rows = _table(arguments.csv, file, unknowns)
        yield _joined(header, rows, axes, fixed, unknowns, 0)


def number(name: str, cell: Cell) -> int | float:
    """The number in the column of a name; a ValueError with the text if it is not a number."""
    from logphi.expression import parse_number

    try:
        return parse_number(cell) if isinstance(cell, str) else cell
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _joined(
    header: list[str],
    rows: Iterator[Row],
    axes: dict[str, list[int | float]],
    fixed: dict[str, list[int | float]],
    unknowns: list[str],
    total: int,
) -> Parameters:
    columns = (*header, *axes, *fixed)
    twice = sorted(name for name in {*columns} if columns.count(name) > 1)
    if twice:
        raise ValueError(f"{twice[0]!r} is given twice: give it once, by --vary, --set or a column of the table")
    missing = [name for name in unknowns if name not in columns]
    if missing:
        has = f"; the table has the columns {', '.join(map(repr, header))}" if header else ""
        raise ValueError(f"no values for {', '.join(missing)}: give --vary or --set {missing[0]}=...{has}")
    grid = {**axes, **fixed}

    def joined() -> Iterator[Row]:
        for row in rows:
            for point in itertools.product(*grid.values()):
                yield {**row, **dict(zip(grid, point, strict=True))}

    return Parameters(columns, joined(), total * math.prod(map(len, grid.values())))


def _values(option: str, name: str, text: str) -> list[int | float]:
    try:
        return axis(text)
    except ValueError as error:
        raise ValueError(f"--{option} {name}: {error}") from None


def _table(path: str, file: IO[str], unknowns: list[str]) -> tuple[list[str], Iterator[Row]]:
    lines = csv.reader(file, skipinitialspace=True, strict=True)
    header = [name.strip() for name in _next(path, lines) or []]
    if not header or not all(header):
        raise ValueError(f"{path}: the first line names the columns, separated by commas; got {','.join(header)!r}")
    if not set(unknowns).intersection(header):
        names = ", ".join(unknowns) or "none"
        raise ValueError(
            f"{path}: no column is a name in the expression, which has: {names}; the header has {','.join(header)!r}"
        )
    return header, _rows(path, lines, header, unknowns)


def _rows(path: str, lines: Iterator[list[str]], header: list[str], unknowns: list[str]) -> Iterator[Row]:
    while (cells := _next(path, lines)) is not None:
        if not cells:
            # a blank line
            continue
        if len(cells) != len(header):
            raise ValueError(f"{path}: the row {','.join(cells)!r} has {len(cells)} cells, and the header {len(header)}")
        yield {name: _cell(text) if name in unknowns else one_line(text) for name, text in zip(header, cells, strict=True)}


def _next(path: str, lines: Iterator[list[str]]) -> list[str] | None:
    try:
        return next(lines, None)
    except csv.Error as error:
        raise ValueError(f"{path}: not a table of comma-separated values: {error}") from None


def _cell(text: str) -> Cell:
    """The number in a cell; its text if it is not a number: then its row is refused later."""
    from logphi.expression import parse_number

    try:
        return parse_number(text)
    except ValueError:
        return one_line(text)
