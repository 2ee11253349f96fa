"""The values of a variable in a sweep, in text: numbers and ranges, separated by commas.

A range is ``start:stop:step``, which includes its stop if a step reaches it. ``start:stop:lin11`` is 11 equally spaced values,
``start:stop:log7`` is 7 values in geometric progression, both ends included.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

# chosen: more values than anyone would wait for; a mistake such as 0:1e9:1e-3 would fill the memory
MOST_VALUES = 1_000_000
# derived: roundings of exponentials and logarithms are below this, so that a thousandth is written 0.001
_LOG_DIGITS = 12


def axis(text: str) -> list[int | float]:
    """The values in a text; those of ranges are computed without rounding, logarithmic ones to 12 digits.

    Raises a ValueError of one line if the text is not in this notation, or has more than a million values.

    Examples
    --------
    >>> axis("0.5, 100:300:100"), axis("0:1:lin5"), axis("1e-3:1:log4")
    ([0.5, 100, 200, 300], [0, 0.25, 0.5, 0.75, 1], [0.001, 0.01, 0.1, 1])
    """
    values = [value for piece in text.split(",") for value in _piece(piece)]
    _refuse_too_many(text, len(values))
    return values


def assignments(option: str, given: Sequence[str], known: Iterable[str]) -> dict[str, str]:
    """The values of an option's texts ``name=value`` by name; every name must be known, and given only once."""
    found: dict[str, str] = {}
    listed = list(known)
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ValueError(f"--{option} {text}: write a name and its values, as in --{option} sigma=1")
        if name not in listed:
            raise ValueError(
                f"--{option} {text}: {name!r} is not a name in the expression, which has: {', '.join(listed) or 'none'}"
            )
        if name in found:
            raise ValueError(f"--{option} {text}: {name!r} is given twice")
        found[name] = value
    return found


def _piece(text: str) -> list[int | float]:
    from logphi.expression import parse_number

    parts = text.split(":")
    if len(parts) == 1:
        return [parse_number(text)]
    if len(parts) != 3:
        raise ValueError(f"{text.strip()!r} is not a range: write start:stop:step, start:stop:lin11 or start:stop:log7")
    start, stop = map(parse_number, parts[:2])
    spaced = re.fullmatch(r"\s*(lin|log)([0-9]{1,9})\s*", parts[2])
    if spaced is None:
        return _stepped(text, start, stop, parse_number(parts[2]))
    count = int(spaced[2])
    if count < 2:
        raise ValueError(f"{text.strip()!r} is not a range: it includes both ends, so it has at least 2 values")
    _refuse_too_many(text, count)
    return _linear(start, stop, count) if spaced[1] == "lin" else _logarithmic(text, start, stop, count)


def _stepped(text: str, start: float, stop: float, step: float) -> list[int | float]:
    from logphi.text.written import exact

    if step == 0 or (exact(stop) - exact(start)) * exact(step) < 0:
        raise ValueError(f"{text.strip()!r} is not a range: steps of {step!r} do not lead from {start!r} to {stop!r}")
    count = (exact(stop) - exact(start)) // exact(step) + 1
    _refuse_too_many(text, count)
    whole = all(type(number) is int for number in (start, step))
    return [_number(exact(start) + k * exact(step), whole) for k in range(count)]


def _linear(start: float, stop: float, count: int) -> list[int | float]:
    from logphi.text.written import exact

    whole = all(type(number) is int for number in (start, stop))
    return [_number(exact(start) + (exact(stop) - exact(start)) * Fraction(k, count - 1), whole) for k in range(count)]


def _logarithmic(text: str, start: float, stop: float, count: int) -> list[int | float]:
    if min(start, stop) <= 0:
        raise ValueError(f"{text.strip()!r} is not a range: both ends must be positive, to have logarithms")
    low, high = math.log(start), math.log(stop)
    between = (math.exp(low + (high - low) * k / (count - 1)) for k in range(1, count - 1))
    whole = all(type(number) is int for number in (start, stop))
    return [start, *(_number(Fraction(f"{number:.{_LOG_DIGITS}g}"), whole) for number in between), stop]


def _number(number: Fraction, whole: bool) -> int | float:
    """The number as a user would write it: an int only among ints."""
    from logphi.text.written import Written

    if whole and number.denominator == 1:
        return number.numerator
    try:
        return Written(number)
    except OverflowError:
        raise ValueError(f"a value of the range, {number.numerator}/{number.denominator}, is below every double") from None


def _refuse_too_many(text: str, count: int) -> None:
    if count > MOST_VALUES:
        raise ValueError(f"{text.strip()!r} has {count} values, more than {MOST_VALUES}: take fewer, or several sweeps")
