"""A bound as a line of text, or as a line of JSON."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logphi.answers.bound import Bound

JSON = """print one JSON object for each point, in full precision: query, at, lower, value, upper, direction (null if
the answer belongs to no single direction), method, status, ledger; infinite numbers are the strings "inf" and "-inf" """
_FIELDS = ("lower", "value", "upper", "direction", "method", "status", "ledger")


def as_data(bound: Bound, asked: str | None = None) -> dict[str, Any]:
    """A bound as plain data for JSON."""
    data = bound.to_dict()
    data["direction"] = data["direction"] or asked
    return {name: data[name] for name in _FIELDS}


def as_text(query: str, given: str, point: float, bound: Bound, asked: str | None) -> str:
    """A bound as a line of text, both ends rounded outward."""
    how = ", ".join(filter(None, [bound.method, _direction(bound, asked)]))
    word = "proved" if bound.ledger.proved else "estimated"
    if bound.lower == bound.upper:
        value, range_ = f"{float(bound.value)!r}", "exact"
    else:
        value, range_ = f"{bound.value:.10g}", "between {} and {}".format(*outward(bound.lower, bound.upper))
    line = f"{query} = {value} at {given} = {point!r}   {word}: {range_} ({how})"
    more = [] if bound.status.name == "MET" else [bound.status.value]
    if bound.proofs is not None:
        more += [f"{end} end: {proof}" for end, proof in zip(("lower", "upper"), bound.proofs, strict=True)]
    return "\n  ".join([line, *more])


def outward(lower: float, upper: float) -> tuple[str, str]:
    """Both ends rounded outward, to two digits more than distinguish them."""
    size, width = max(abs(lower), abs(upper)), upper - lower
    # seventeen digits distinguish all doubles
    digits = 17 if 0 < width < size * 1e-14 else 10
    if math.isfinite(width) and width >= size * 1e-14:
        digits = max(3, math.ceil(math.log10(size) - math.log10(width)) + 2)
    down = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal(Decimal(lower))
    up = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(upper))
    return f"{down:g}".replace("Infinity", "inf"), f"{up:g}".replace("Infinity", "inf")


def one_line(message: str) -> str:
    """A message on one line; control characters, which must not reach the terminal, are escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in " ".join(message.split()))


def _direction(bound: Bound, asked: str | None) -> str | None:
    return bound.direction.value if bound.direction else asked
