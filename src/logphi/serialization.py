"""Mechanisms from plain data, as :meth:`logphi.Mechanism.to_json` and accountants contain them.

The layout is that of certificates (:mod:`logphi.text.description`), whose mechanisms are read too; numbers that were written
exactly are distinguished from doubles (:mod:`logphi.text.strict_json`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from logphi.algebra.release import Composition, Mechanism, compose
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.catalogue import CATALOGUE
from logphi.text.description import CHOICE, COMPOSITION
from logphi.text.strict_json import LONGEST_MECHANISM, MECHANISM, fields, json_object, number_from_json

_SAMPLED = ("poisson", "subset")
_OF_THEIR_BASE = {
    "shuffled": "shuffled batches are",
    "allocation": "randomly allocated batches are",
    "repeat_and_select": "repeated runs are",
}
# chosen: the depth to which mechanisms may be nested, far below the recursion limit of the interpreter
_DEEPEST = 50


def from_json(text: str) -> Mechanism:
    """The mechanism that :meth:`logphi.Mechanism.to_json` wrote: equal, with all numbers as exact as they were.

    The text is never run as code.

    Parameters
    ----------
    text
        The JSON, at most five million characters.

    Returns
    -------
    Mechanism
        Under the relation of the original.

    Raises
    ------
    TypeError
        If the text is not a string.
    ValueError
        If it does not describe a mechanism of this version; the message is one line.

    Examples
    --------
    >>> import logphi as lp
    >>> step = lp.parse("Gaussian(sigma=11/10).poisson(256/60000)")
    >>> lp.from_json((14062 * step).to_json()) == 14062 * step
    True
    """
    content = fields(json_object(MECHANISM, text, LONGEST_MECHANISM), f"a {MECHANISM}", ("format", "version", "mechanism"))
    return mechanism_from_data(content["mechanism"])


def mechanism_from_data(data: Any, depth: int = 0) -> Mechanism:
    """The mechanism that plain data describe; raises a ValueError of one line if they do not describe one."""
    if depth > _DEEPEST:
        raise ValueError(f"mechanisms are nested deeper than {_DEEPEST} levels")
    if isinstance(data, dict) and data.get("name") == COMPOSITION:
        return _composition(fields(data, "several mechanisms", ("name", "adjacency", "terms")), depth)
    content = fields(data, "a mechanism", ("name", "adjacency", "parameters"), ("base",))
    name, parameters = content["name"], content["parameters"]
    if not isinstance(name, str) or not isinstance(parameters, dict):
        raise ValueError("a mechanism needs a name and its parameters, by their names")
    given = {one: number_from_json(f"{one[:40]!r} of {name[:40]!r}", value) for one, value in parameters.items()}
    try:
        adjacency = Adjacency.of(content["adjacency"])
        if name in _OF_THEIR_BASE:
            return _transformed(name, mechanism_from_data(content.get("base"), depth + 1), adjacency, given)
        if name in _SAMPLED:
            return getattr(mechanism_from_data(content.get("base"), depth + 1), name)(**given, adjacency=adjacency)  # type: ignore[no-any-return]
        if name == CHOICE:
            given["mechanisms"] = _listed(content.get("base"), depth)
        elif name not in CATALOGUE or "base" in content:
            raise ValueError(f"no mechanism {name[:40]!r} is known here: it may belong to a later version")
        made: Any = CATALOGUE[name]
        # certificates write a flag as 0 or 1
        flags = [one.name for one in dataclasses.fields(made) if one.default is False and given.get(one.name) in (0, 1)]
        return made(**{**given, **{one: bool(given[one]) for one in flags}}, adjacency=adjacency)  # type: ignore[no-any-return]
    except (TypeError, OverflowError) as wrong:
        raise ValueError(f"the parameters of {name[:40]!r} do not fit: {wrong}") from None


def _transformed(name: str, base: Mechanism, adjacency: Adjacency, given: dict[str, Any]) -> Mechanism:
    """A mechanism made from a base by one of its methods, under the relation of the base."""
    if adjacency is not base.adjacency:
        raise ValueError(f"{_OF_THEIR_BASE[name]} under the relation of their base, {base.adjacency.value!r}")
    return getattr(base, name)(**given)  # type: ignore[no-any-return]


def _listed(data: Any, depth: int) -> list[Mechanism]:
    """The mechanisms of a choice."""
    if not isinstance(data, list):
        raise ValueError("a choice must have a list of mechanisms")
    return [mechanism_from_data(one, depth + 1) for one in data]


def _composition(content: dict[str, Any], depth: int) -> Mechanism:
    """Several releases on one sample."""
    terms = content["terms"]
    if not isinstance(terms, list) or not all(isinstance(term, list) and len(term) == 2 for term in terms):
        raise ValueError("several mechanisms must be a list of counts and mechanisms")
    try:
        adjacency = Adjacency.of(content["adjacency"])
        none = Composition((), adjacency)
        return compose([none, *(check.count("a count", count) * mechanism_from_data(one, depth + 1) for count, one in terms)])
    except TypeError as wrong:
        raise ValueError(f"several mechanisms do not compose: {wrong}") from None
