"""Numbers as decimals rounded to one side, and as JSON can represent them."""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

# derived: no double has more digits before and after its point together
_ALL_DIGITS = 1100
_SPEC = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<zero>0)?(?P<width>\d+)?(?P<group>[,_])?(?:\.(?P<digits>\d+))?"
    r"(?P<kind>[eEfFgG%])?",
    re.DOTALL,
)


def formatted(number: float, spec: str, upward: bool | None) -> str:
    """``number`` by a format specification of floats, rounded to one side; to the nearest where ``upward`` is None.

    The decimal is rounded from the exact value of the double. Without a letter it is a decimal that reads back as the
    number, the shortest one unless that is on the other side; with digits only, as with ``g``.

    Raises
    ------
    ValueError
        If floats have no such format, or for ``#``, ``z`` and ``n``.

    Examples
    --------
    >>> formatted(0.12341, ".3f", True), formatted(0.12341, "+9.1%", False)
    ('0.124', '   +12.3%')
    """
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"invalid format specifier {spec!r}: a bound takes those of floats with e, f, g or %, such as '.3f'")
    asked = found.groupdict(default="")
    sign = "-" if math.copysign(1, number) < 0 else asked["sign"].replace("-", "")
    fill, align = asked["fill"] or ("0" if asked["zero"] else " "), asked["align"] or ("=" if asked["zero"] else ">")
    width = int(asked["width"] or 0)
    body = _body(number, asked["kind"], int(asked["digits"]) if asked["digits"] else None, upward)
    if asked["group"] and body[0].isdigit():
        body = _grouped(body, asked["group"], width - len(sign) if (fill, align) == ("0", "=") else 0)
    return sign + body.rjust(width - len(sign), fill) if align == "=" else format(sign + body, f"{fill}{align}{width}")


def _body(number: float, kind: str, digits: int | None, upward: bool | None) -> str:
    """The digits of a number, without its sign."""
    percent = "%" if kind == "%" else ""
    if math.isinf(number):
        text = f"inf{percent}"
    elif not kind and digits is None:
        text = _shortest(number, upward)
    elif kind and kind in "fF%":
        places = 6 if digits is None else digits
        exact = Decimal(number).scaleb(2, _context(_ALL_DIGITS, None)) if percent else Decimal(number)
        text = f"{_at_place(exact, places, upward).copy_abs():.{places}f}{percent}"
    elif kind and kind in "eE":
        places = 6 if digits is None else digits
        text = _scientific(_to_digits(number, places + 1, upward), places)
    else:
        text = _general(number, max(6 if digits is None else digits, 1), upward)
    return text.upper() if kind and kind in "EFG" else text


def _general(number: float, digits: int, upward: bool | None) -> str:
    decimal = _to_digits(number, digits, upward)
    places = len(decimal.normalize(_context(digits, None)).as_tuple().digits) - 1
    if -4 <= decimal.adjusted() < digits:
        return f"{decimal.copy_abs():.{max(places - decimal.adjusted(), 0)}f}"
    return _scientific(decimal, places)


def _scientific(decimal: Decimal, places: int) -> str:
    mantissa = decimal.copy_abs().scaleb(-decimal.adjusted(), _context(places + 1, None))
    return f"{mantissa:.{places}f}e{decimal.adjusted():+03d}"


def _grouped(body: str, separator: str, width: int) -> str:
    """Whole digits in threes, with zeros before them up to a width."""
    whole = re.match(r"\d+", body)[0]  # type: ignore[index]
    rest = body[len(whole) :]
    while True:
        start = len(whole) % 3
        threes = [whole[i : i + 3] for i in range(start, len(whole), 3)]
        text = separator.join(filter(None, [whole[:start], *threes])) + rest
        if len(text) >= width:
            return text
        whole = f"0{whole}"


def _context(digits: int, upward: bool | None) -> Context:
    rounding = {True: ROUND_CEILING, False: ROUND_FLOOR, None: ROUND_HALF_EVEN}[upward]
    return Context(prec=digits, rounding=rounding)


def _at_place(exact: Decimal, places: int, upward: bool | None) -> Decimal:
    return exact.quantize(Decimal((0, (1,), -places)), context=_context(_ALL_DIGITS + max(places, 0), upward))


def _to_digits(number: float, digits: int, upward: bool | None) -> Decimal:
    # a zero has no digits, whatever its exponent
    return _context(digits, upward).create_decimal(Decimal(number)) if number else Decimal(0)


def _shortest(number: float, upward: bool | None) -> str:
    text = repr(number)
    wrong = {True: Decimal(text) < Decimal(number), False: Decimal(text) > Decimal(number), None: False}[upward]
    # derived: eighteen digits on one side are within half a unit in the last place, seventeen mostly
    longer = (formatted(number, f".{digits}g", upward) for digits in (17, 18))
    return (next(one for one in longer if float(one) == number) if wrong else text).lstrip("-")


def rounded(number: float, places: int | None, upward: bool | None) -> float:
    """``number`` rounded to one side at so many decimal places, as a double; without places, to an integer.

    Rounding the decimal to the nearest double cannot move it past ``number``, which is a double itself.
    """
    if places is None:
        return round(number) if upward is None else math.ceil(number) if upward else math.floor(number)
    # no double has more digits than that
    return float(_at_place(Decimal(number), min(places, _ALL_DIGITS), upward)) if math.isfinite(number) else number


def plain(number: float) -> float | str:
    """A number as JSON can represent it: infinities are ``"inf"`` and ``"-inf"``."""
    return str(float(number)) if math.isinf(number) else float(number)
