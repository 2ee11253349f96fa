"""Bounds shortened to a few digits, rounded outward, and answers as tables of a notebook."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import islice

import numpy as np

from logphi.answers.bound import Bound, ComplexBound, Ledger, Side, Status
from logphi.answers.bounds import Bounds

# chosen: significant digits of a bound, and of an error
DIGITS = 13
_ERROR_DIGITS = 2
# chosen: longer arrays show this many of their first points, and of their last
_ENDS = 5


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


def bound_rows(bound: Bound) -> Iterator[tuple[str, str]]:
    """The rows of a bound's table: its ends rounded outward, its status, and the errors that are not zero."""
    yield from zip(("lower", "value", "upper"), _ends(bound), strict=True)
    yield "status", bound.status.value
    yield "method", bound.method
    if bound.direction is not None:
        yield "direction", bound.direction.value
    yield from _errors(bound.ledger)


def bound_table(bound: Bound) -> str:
    """A bound as a table of two columns."""
    return table(bound_rows(bound))


def box_table(box: ComplexBound) -> str:
    """The two parts of a complex bound side by side."""
    parts = {"real part": dict(bound_rows(box.real)), "imaginary part": dict(bound_rows(box.imag))}
    names = dict.fromkeys(name for part in parts.values() for name in part)
    return table(([name, *(part.get(name, "") for part in parts.values())] for name in names), ["", *parts])


def bounds_table(bounds: Bounds) -> str:
    """An array of bounds as a table, one row for each point; if there are many, the first and the last ones."""
    size = math.prod(bounds.shape)
    if size > 2 * _ENDS + 1:
        left_out = ["…", f"{size - 2 * _ENDS} more", "…", "…", "…", "…"]
        last = islice(np.ndindex(bounds.shape), size - _ENDS, None)
        rows = [
            *(_row(bounds, one) for one in islice(np.ndindex(bounds.shape), _ENDS)),
            left_out,
            *(_row(bounds, one) for one in last),
        ]
    else:
        rows = [_row(bounds, one) for one in np.ndindex(bounds.shape)]
    statuses: Iterable[Status] = bounds.status.ravel().tolist()
    unmet = dict.fromkeys(status.value for status in statuses if not status.met)
    return table(rows, ["", "lower", "value", "upper", "status", "method"], "; ".join(unmet))


def _row(bounds: Bounds, index: Sequence[int]) -> list[str]:
    bound = bounds[tuple(index)]
    if not isinstance(bound, Bound):
        raise TypeError(f"an index of every axis is needed, got {index!r}")
    return [", ".join(str(int(one)) for one in index), *_ends(bound), bound.status.name.lower(), bound.method]


def _ends(bound: Bound) -> tuple[str, str, str]:
    # the same digits for all three, so that the shown value lies between the shown ends
    nearest = printed(bound.value, None, DIGITS)
    return printed(bound.lower, Side.LOWER, DIGITS), nearest, printed(bound.upper, Side.UPPER, DIGITS)


def _errors(ledger: Ledger) -> Iterator[tuple[str, str]]:
    for name, entry in ledger.items():
        if entry.amount > 0 or not entry.proved:
            proof = "proved" if entry.proved else "estimated"
            yield name.replace("_", " "), f"{printed(entry.amount, Side.UPPER, _ERROR_DIGITS)} ({proof})"
