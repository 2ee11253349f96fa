"""Bounds shortened to a few digits, rounded outward, and tables of a notebook."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from logphi.answers.status import Side


def printed(value: float, side: Side | None, digits: int = 7) -> str:
    """``value`` in a few digits: an upper bound rounded up, a lower one down, any other number to nearest."""
    if not math.isfinite(value):
        return str(value)
    if side is None:
        return f"{value:.{digits}g}"
    rounding = ROUND_CEILING if side is Side.UPPER else ROUND_FLOOR
    short = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value))
    return f"{short.normalize():g}"


def table(rows: Iterable[Sequence[str]], header: Sequence[str] = (), caption: str = "") -> str:
    """An HTML table of plain text; without a header, the first cell of a row is its name."""

    def line(cells: Sequence[str], tags: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell, tag in zip(cells, tags, strict=True)) + "</tr>"

    body = "".join(line(row, ["td" if header else "th", *["td"] * (len(row) - 1)]) for row in rows)
    head = f"<thead>{line(header, ['th'] * len(header))}</thead>" if header else ""
    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"
