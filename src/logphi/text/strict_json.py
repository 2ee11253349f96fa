"""JSON that is read strictly, and in which doubles and exact numbers are written differently.

A double is a JSON number with a point or an exponent, an integer is one without; a number that was given exactly is a
quotient in a string.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any, NoReturn

from logphi.text.description import canonical
from logphi.text.written import Written, exact

VERSION = 1
MECHANISM = "logphi-mechanism"
# chosen: the most digits of a number; for longer ones the interpreter is slow, or refuses
LONGEST_NUMBER = 4000
# JSON has no infinite number; the second is what certificates write
_INFINITE = "inf"
_INFINITIES = (_INFINITE, "oo")
# chosen: the most characters of a text that is read
LONGEST_MECHANISM = 5_000_000
_QUOTIENT = re.compile(rf"-?[0-9]{{1,{LONGEST_NUMBER}}}(/[0-9]{{1,{LONGEST_NUMBER}}})?", re.ASCII)
# derived: a decimal digit holds more than three bits
_MOST_BITS = 3 * LONGEST_NUMBER
# chosen: the most digits of an integer; counts have up to 301
_LONGEST_WHOLE = 400


def mechanism_json(data: Any) -> str:
    """The JSON of a mechanism's plain data; a ValueError if it is longer than :func:`json_object` would read."""
    text = canonical({"format": MECHANISM, "version": VERSION, "mechanism": data})
    if len(text) > LONGEST_MECHANISM:
        raise ValueError(f"the JSON has {len(text)} characters, more than the {LONGEST_MECHANISM} that are read: pickle it")
    return text


def json_object(kind: str, text: str, longest: int | None = None) -> dict[str, Any]:
    """The JSON object of a text whose ``format`` is ``kind``.

    Raises a TypeError if the text is not a string, and a ValueError, of one line, if it is not such JSON or of another version.
    """
    if not isinstance(text, str):
        raise TypeError(f"the JSON must be a string, got {type(text).__name__}; read it from its file first")
    if longest is not None and len(text) > longest:
        raise ValueError(f"not a {kind}: its {len(text)} characters are more than {longest}")
    try:
        whole = json.loads(text, object_pairs_hook=_unique, parse_int=_whole, parse_constant=_constant)
    except RecursionError:
        raise ValueError(f"not a {kind}: nested too deeply") from None
    except ValueError as wrong:
        raise ValueError(f"not a {kind}: {wrong}") from None
    if not isinstance(whole, dict) or whole.get("format") != kind:
        raise ValueError(f"not a {kind}: its JSON must be an object whose format is {kind!r}")
    if type(whole.get("version")) is not int or whole["version"] != VERSION:
        raise ValueError(f"version {ascii(whole.get('version'))[:20]} of a {kind} is not known here, only {VERSION}")
    return whole


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # readers differ in which of two equal names they take
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_WHOLE:
        raise ValueError(f"an integer of {len(digits)} digits")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def number_to_json(what: str, value: Any) -> Any:
    """A number, a flag, a list of numbers, or None, as JSON.

    Raises a ValueError if it is anything else, or a quotient too long to be read again.
    """
    if isinstance(value, tuple):
        return [number_to_json(what, entry) for entry in value]
    if isinstance(value, Written):
        quotient = exact(value)
        if max(quotient.numerator.bit_length(), quotient.denominator.bit_length()) > _MOST_BITS:
            raise ValueError(f"{what} has too many digits to be written down: round it to fewer than {LONGEST_NUMBER // 4}")
        return str(quotient)
    if value == math.inf:
        return _INFINITE
    if value is None or isinstance(value, (int, float)):
        return value
    raise ValueError(
        f"{what} cannot be written down, as it is of type {type(value).__name__}: numbers can, functions and formulas cannot; "
        "write down a mechanism that dominates it"
    )


def number_from_json(what: str, data: Any) -> Any:
    """The value that :func:`number_to_json` or a certificate wrote, as exact as it was.

    Raises a ValueError if it is not a number, flag, list of numbers or None.
    """
    if isinstance(data, list) and not any(isinstance(entry, list) for entry in data):
        return tuple(number_from_json(what, entry) for entry in data)
    if data in _INFINITIES:
        return math.inf
    if isinstance(data, str) and _QUOTIENT.fullmatch(data):
        try:
            return Written(Fraction(data))
        except (OverflowError, ZeroDivisionError):
            raise ValueError(f"{what} is a quotient out of the range of doubles") from None
    if data is None or isinstance(data, (int, float)):
        return data
    raise ValueError(f"{what} must be a number, a quotient of integers in a string, or a list of them")


def fields(data: Any, what: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The data, if they are an object with all ``needed`` and only ``optional`` names besides; a ValueError if not."""
    if not isinstance(data, dict) or not set(needed) <= set(data) <= {*needed, *optional}:
        raise ValueError(f"{what} must be an object of {', '.join(needed)}")
    return data
