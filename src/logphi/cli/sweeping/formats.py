"""A row of answers as a line of text, and back: comma-separated values, or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Format:
    """How rows are written, each on one line.

    ``header`` gives the line with the names of the columns, possibly empty; ``line`` the line of a row; ``start`` the beginning
    of the line of a row, from its first cells. ``read`` gives the row in a line, or raises a ValueError.
    """

    header: Callable[[tuple[str, ...]], str]
    line: Callable[[Row], str]
    start: Callable[[Row], str]
    read: Callable[[tuple[str, ...], str], Row]


def _csv_line(cells: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _csv_read(columns: tuple[str, ...], line: str) -> Row:
    try:
        return dict(zip(columns, next(csv.reader([line], strict=True)), strict=True))
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _json_line(row: Row) -> str:
    return json.dumps(row, allow_nan=False) + "\n"


def _json_read(columns: tuple[str, ...], line: str) -> Row:
    row = json.loads(line)
    if not isinstance(row, dict) or tuple(row) != columns:
        raise ValueError("other columns")
    return row


CSV = Format(
    header=_csv_line,
    line=lambda row: _csv_line(row.values()),
    start=lambda row: _csv_line(row.values()).removesuffix("\n") + ",",
    read=_csv_read,
)
JSON_LINES = Format(
    header=lambda columns: "",
    line=_json_line,
    start=lambda row: _json_line(row).removesuffix("}\n") + ",",
    read=_json_read,
)
