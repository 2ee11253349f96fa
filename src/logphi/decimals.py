"""Numbers as decimals that err to one side, and as JSON holds them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
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

    The decimal is rounded from the exact value of the double. Without a letter it is the shortest decimal that reads back as
    the number and is not on its other side; with digits only, as with ``g``.

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
    negative = math.copysign(1, number) < 0
    sign = "-" if negative else asked["sign"].replace("-", "")
    fill, align = asked["fill"] or ("0" if asked["zero"] else " "), asked["align"] or ("=" if asked["zero"] else ">")
    width = int(asked["width"] or 0)
    room = width - len(sign) if (fill, align) == ("0", "=") else 0
    body = _Body(asked["kind"], int(asked["digits"]) if asked["digits"] else None, asked["group"], room).of(number, upward)
    return sign + body.rjust(width - len(sign), fill) if align == "=" else format(sign + body, f"{fill}{align}{width}")


@dataclass(frozen=True)
class _Body:
    """The digits of a number, without its sign; ``room`` is the width that zeros fill between the separators."""

    kind: str
    digits: int | None
    group: str
    room: int

    def of(self, number: float, upward: bool | None) -> str:
        percent = "%" if self.kind == "%" else ""
        if math.isinf(number):
            text = f"inf{percent}"
        elif not self.kind and self.digits is None:
            text = _shortest(number, upward)
        elif self.kind in ("f", "F", "%"):
            places = 6 if self.digits is None else self.digits
            exact = Decimal(number).scaleb(2, _context(_ALL_DIGITS, None)) if percent else Decimal(number)
            text = self._fixed(_at_place(exact, places, upward), places, percent)
        elif self.kind in ("e", "E"):
            text = _scientific(_to_digits(number, 7 if self.digits is None else self.digits + 1, upward), self.digits)
        else:
            text = self._general(number, max(6 if self.digits is None else self.digits, 1), upward)
        return text.upper() if self.kind in ("E", "F", "G") else text

    def _fixed(self, decimal: Decimal, places: int, percent: str = "") -> str:
        room = f"0{self.room - len(percent)}" if self.room > len(percent) else ""
        return format(decimal.copy_abs(), f"{room}{self.group}.{places}f") + percent

    def _general(self, number: float, digits: int, upward: bool | None) -> str:
        decimal = _to_digits(number, digits, upward)
        kept = len(decimal.normalize(_context(digits, None)).as_tuple().digits) - 1
        if -4 <= decimal.adjusted() < digits:
            return self._fixed(decimal, max(kept - decimal.adjusted(), 0))
        return _scientific(decimal, kept)


def _context(digits: int, upward: bool | None) -> Context:
    rounding = {True: ROUND_CEILING, False: ROUND_FLOOR, None: ROUND_HALF_EVEN}[upward]
    return Context(prec=digits, rounding=rounding)


def _at_place(exact: Decimal, places: int, upward: bool | None) -> Decimal:
    return exact.quantize(Decimal((0, (1,), -places)), context=_context(_ALL_DIGITS + max(places, 0), upward))


def _to_digits(number: float, digits: int, upward: bool | None) -> Decimal:
    # a zero has no digits, whatever its exponent
    return _context(digits, upward).create_decimal(Decimal(number)) if number else Decimal(0)


def _scientific(decimal: Decimal, digits: int | None) -> str:
    places = 6 if digits is None else digits
    mantissa = decimal.copy_abs().scaleb(-decimal.adjusted(), _context(places + 1, None))
    return f"{mantissa:.{places}f}e{decimal.adjusted():+03d}"


def _shortest(number: float, upward: bool | None) -> str:
    text = repr(number)
    wrong = {True: Decimal(text) < Decimal(number), False: Decimal(text) > Decimal(number), None: False}[upward]
    return formatted(number, ".17g", upward).lstrip("-") if wrong else text.lstrip("-")


def rounded(number: float, places: int | None, upward: bool | None) -> float:
    """The nearest double of a decimal with so many places on one side of ``number``; without places, the whole number.

    A double between two decimals is not beyond the double that is nearest to either: the side stays right.
    """
    if places is None:
        return round(number) if upward is None else math.ceil(number) if upward else math.floor(number)
    # no double has a digit beyond
    return float(_at_place(Decimal(number), min(places, _ALL_DIGITS), upward)) if math.isfinite(number) else number


def plain(number: float) -> float | str:
    """A number that JSON can hold: infinities are ``"inf"`` and ``"-inf"``."""
    return str(float(number)) if math.isinf(number) else float(number)
