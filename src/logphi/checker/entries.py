"""The entries of a certificate, read strictly: every key, type, range and size must be as stated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

# chosen: bits of a numerator or a denominator; those of a double have at most 1074
MOST_BITS = 3700

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:/[1-9][0-9]*|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?)")


class NotACertificate(ValueError):
    """An error in the text of a certificate."""


def require(holds: Any, why: str) -> None:
    """Raise a :class:`NotACertificate` with the reason unless something holds."""
    if not holds:
        raise NotACertificate(why)


def listed(value: Any, name: str, most: int, least: int = 1) -> list[Any]:
    """A list of bounded length."""
    fits = isinstance(value, list) and least <= len(value) <= most
    require(fits, f"{name} must be a list of {least} to {most} entries")
    return list(value)


def number(value: Any, name: str) -> Fraction:
    """The rational number in a string."""
    written = isinstance(value, str) and len(value) <= 2400 and _NUMBER.fullmatch(value)
    require(written, f"{name} must be a string with a decimal or a quotient of integers")
    _, _, exponent = value.lower().partition("e")
    require(abs(int(exponent or 0)) <= 1100, f"{name} must have an exponent between -1100 and 1100")
    read = Fraction(value)
    short = max(read.numerator.bit_length(), read.denominator.bit_length()) <= MOST_BITS
    require(short, f"{name} must have a numerator and a denominator of at most {MOST_BITS} bits")
    return read


def numbers(value: Any, name: str, most: int) -> tuple[Fraction, ...]:
    """A list of rational numbers."""
    return tuple(number(one, f"a number of {name}") for one in listed(value, name, most))


def keys(value: Any, name: str, expected: str) -> None:
    """Refuse what is not an object with exactly these keys."""
    fits = isinstance(value, dict) and set(value) == set(expected.split())
    require(fits, f"{name} must be an object of exactly these keys: {expected}")


def one_of(value: Any, name: str, known: tuple[Any, ...]) -> Any:
    """A string, or null, that is one of the known ones."""
    require(isinstance(value, str | None) and value in known, f"{name} must be one of {', '.join(map(str, known))}")
    return value


def json_integer(value: Any, name: str, least: int, most: int) -> int:
    """An integer of JSON in a range."""
    fits = type(value) is int and least <= value <= most
    require(fits, f"{name} must be an integer from {least} to {most if most < 10**9 else f'{most:.0e}'}")
    return int(value)


def parsed(source: str | bytes | Mapping[str, Any], longest: int) -> dict[str, Any]:
    """The object of a text in JSON in which no number is floating-point, and no key occurs twice."""
    try:
        if isinstance(source, Mapping):
            source = json.dumps(dict(source), allow_nan=False)
        if isinstance(source, bytes):
            source = source[: longest + 1].decode("utf-8")
        require(isinstance(source, str), f"a certificate is a text or what certify returned, got {type(source).__name__}")
        require(len(source) <= longest, f"the text is longer than {longest} characters")
        whole = json.loads(
            source, object_pairs_hook=_unique, parse_constant=_no_float, parse_float=_no_float, parse_int=_short_integer
        )
    except NotACertificate:
        raise
    except UnicodeDecodeError:
        raise NotACertificate("the text is not UTF-8") from None
    except RecursionError:
        raise NotACertificate("the text is nested too deeply") from None
    except (ValueError, TypeError):
        raise NotACertificate("the text is not JSON") from None
    require(isinstance(whole, dict), "the text must hold one JSON object")
    return dict(whole)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    require(len(found) == len(pairs), "a key occurs twice in one object")
    return found


def _no_float(text: str) -> Any:
    raise NotACertificate(f"numbers other than integers must be strings, got {text[:30]}")


def _short_integer(text: str) -> int:
    require(len(text) <= 310, "an integer has more than 310 digits")
    return int(text)
