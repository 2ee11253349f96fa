"""Mechanisms as plain data from which the same mechanisms can be made again.

The layout is that of certificates (:mod:`logphi.description`), but numbers also keep how they are known: a double is a JSON
number with a point or an exponent, a whole number one without, and a number that was written exactly a quotient in a string.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from logphi import check
from logphi.core.adjacency import Adjacency
from logphi.mechanisms import CATALOGUE, PYTHON_ONLY
from logphi.release import Composition, Mechanism, PoissonSampled, Primitive, SubsetSampled, compose
from logphi.written import Written, exact

# far beyond what is written by hand; longer ones take the interpreter long, or are refused by it
LONGEST_NUMBER = 4000
# JSON has no such number
_INFINITE = "inf"
_QUOTIENT = re.compile(rf"-?[0-9]{{1,{LONGEST_NUMBER}}}(/[0-9]{{1,{LONGEST_NUMBER}}})?", re.ASCII)
# base-ten digits are worth more than three bits
_MOST_BITS = 3 * LONGEST_NUMBER

# the releases of one sample
_TOGETHER = "composition"
_SAMPLED: Mapping[type[Mechanism], str] = {PoissonSampled: "poisson", SubsetSampled: "subset"}


def described(mechanism: Mechanism) -> dict[str, Any]:
    """One mechanism of the catalogue, or a sample of one or of several.

    Raises
    ------
    ValueError
        If it is not of the catalogue, or made of something that is no number.
    """
    if isinstance(mechanism, Composition):
        terms = [[count, described(one)] for one, count in mechanism.terms]
        return {"name": _TOGETHER, "adjacency": mechanism.adjacency.value, "terms": terms}
    kind = type(mechanism)
    if not isinstance(mechanism, Primitive) or (kind not in _SAMPLED and CATALOGUE.get(kind.__name__) is not kind):
        why = PYTHON_ONLY.get(
            kind.__name__, "it is not of the catalogue, so that nobody could make it again from its parameters"
        )
        raise ValueError(f"{_named(kind)} cannot be written down: {why}; record a mechanism that dominates it")
    parameters = mechanism._given()
    name, adjacency, base = _SAMPLED.get(kind, kind.__name__), parameters.pop("adjacency"), parameters.pop("base", None)
    content = {"name": name, "adjacency": adjacency.value}
    content["parameters"] = {one: number_written(f"{one} of {_named(kind)}", value) for one, value in parameters.items()}
    return content if base is None else {**content, "base": described(base)}


def restored(data: Any) -> Mechanism:
    """The mechanism that was described.

    Raises
    ------
    ValueError
        If the data do not describe one; always one line.
    """
    if isinstance(data, dict) and data.get("name") == _TOGETHER:
        return _together(fields(data, "several mechanisms", ("name", "adjacency", "terms")))
    content = fields(data, "a mechanism", ("name", "adjacency", "parameters"), ("base",))
    name, parameters = content["name"], content["parameters"]
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise ValueError("a mechanism needs a name and its parameters, by their names")
    given = {one: number_read(f"{one} of {name[:40]!r}", value) for one, value in parameters.items()}
    try:
        adjacency = Adjacency.of(content["adjacency"])
        if name in _SAMPLED.values():
            return getattr(restored(content.get("base")), name)(**given, adjacency=adjacency)  # type: ignore[no-any-return]
        if name not in CATALOGUE or "base" in content:
            raise ValueError(f"no mechanism {name[:40]!r} is known here: it may be of a later version")
        return CATALOGUE[name](**given, adjacency=adjacency)
    except TypeError as wrong:
        raise ValueError(f"the parameters of {name[:40]!r} do not fit: {wrong}") from None


def _together(content: dict[str, Any]) -> Mechanism:
    """The releases that see one sample."""
    terms = content["terms"]
    if not isinstance(terms, list) or not all(isinstance(term, list) and len(term) == 2 for term in terms):
        raise ValueError("several mechanisms must be a list of counts and mechanisms")
    try:
        found = compose([check.count("a count", count) * restored(one) for count, one in terms])
    except TypeError as wrong:
        raise ValueError(f"several mechanisms do not compose: {wrong}") from None
    if found.adjacency is not Adjacency.of(content["adjacency"]):
        raise ValueError(f"several mechanisms are stated under {found.adjacency.value!r}, not {content['adjacency']!r}")
    return found


def number_written(what: str, value: Any) -> Any:
    """A number, a list of numbers, or None for what is left open, as JSON keeps it.

    Raises
    ------
    ValueError
        If it is anything else, or a quotient too long to be read again.
    """
    if isinstance(value, tuple):
        return [number_written(what, entry) for entry in value]
    if isinstance(value, Written):
        quotient = exact(value)
        if max(quotient.numerator.bit_length(), quotient.denominator.bit_length()) > _MOST_BITS:
            raise ValueError(f"{what} has too many digits to be written down: round it to fewer than {LONGEST_NUMBER // 4}")
        return str(quotient)
    if value == math.inf:
        return _INFINITE
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{what} is no number but of type {type(value).__name__}: only numbers can be written down exactly")


def number_read(what: str, data: Any) -> Any:
    """What :func:`number_written` wrote, known in the same way.

    Raises
    ------
    ValueError
        If it is no number, list of numbers or None.
    """
    if isinstance(data, list) and not any(isinstance(entry, list) for entry in data):
        return tuple(number_read(what, entry) for entry in data)
    if data == _INFINITE:
        return math.inf
    if isinstance(data, str) and _QUOTIENT.fullmatch(data):
        try:
            return Written(Fraction(data))
        except (OverflowError, ZeroDivisionError):
            raise ValueError(f"{what} is a quotient out of the range of doubles") from None
    if data is None or (isinstance(data, (int, float)) and not isinstance(data, bool)):
        return data
    raise ValueError(f"{what} must be a number, a quotient of whole numbers in a string, or a list of them")


def fields(data: Any, what: str, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """The data, if they are an object with these names and no others.

    Raises
    ------
    ValueError
        If not.
    """
    if not isinstance(data, dict) or not set(needed) <= set(data) <= {*needed, *optional}:
        raise ValueError(f"{what} must be an object of {', '.join(needed)}")
    return data


def _named(kind: type) -> str:
    return f"a {kind.__name__}"
