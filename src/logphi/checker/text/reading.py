"""Reads the text of a certificate strictly: its releases, the claims about them, and how each claim is to be proved."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from logphi.checker.entries import json_integer, keys, listed, number, numbers, one_of, parsed, require
from logphi.checker.mechanisms.kind import MOST_ENTRIES, RELATIONS, Node, Outer
from logphi.checker.mechanisms.pairs import PLACES, kind_of

# chosen: larger certificates are refused immediately
LARGEST_TEXT = 4_000_000
LARGEST_COUNT = 10**300
MOST_TERMS = 10_000
MOST_RELEASES = 100
MOST_CLAIMS = 100
MOST_NUMBERS = 20_000
# chosen: a larger precision is refused immediately
LARGEST_BITS = 10**6
LARGEST_EPSILON = 10**9
LARGEST_ORDER = 10**6
LARGEST_LINE = 10**4

NOT_COVERED = (
    "That each mechanism did what it is described to do: queries of the stated sensitivity, contributions really clipped.",
    "That samples, allocations, shuffles and random choices were drawn as described, each independently of all others.",
    "That random numbers were unpredictable, and that noise in floating-point numbers has the stated law.",
    "That the stated relation between data sets is the one that matters, and one record all that a person contributes.",
    "That a mechanism known by its guarantee attains its pair: it leaks at most the upper end, and the pair the lower one.",
    "That nothing else was computed from the data: tuning, evaluation and other releases count only if they are listed.",
)

_DIGEST = re.compile(r"[0-9a-f]{64}")
# how parameters given as floats were read
_FLOATS_AS = ("as written", "floats as their shortest decimals")
# the range of the argument of each quantity: a delta, an epsilon, an epsilon of zero, a type I error, an order
_ARGUMENTS: dict[str, Callable[[Fraction], bool]] = {
    "epsilon": lambda x: 0 < x <= 1,
    "delta": lambda x: True,
    "advantage": lambda x: x == 0,
    "tradeoff": lambda x: 0 < x < 1,
    "renyi": lambda x: 1 < x <= LARGEST_ORDER,
}
# methods that enclose the values of a claim: the fewest numbers of each, the most, and how many come together
METHODS = {
    **dict.fromkeys(("alone", "beyond", "residues", "averaged", "moment"), (0, 0, 1)),
    **dict.fromkeys(("chernoff", "bent", "two", "nodes"), (1, 1, 1)),
    "folded": (4, 4, 1),
    "line": (6, 14, 1),
    "cells": (4, MOST_NUMBERS, 1),
    "tangents": (3, MOST_NUMBERS, 3),
}


@dataclass(frozen=True)
class Release:
    """Counted mechanisms under one relation; ``hulls`` are the numbers stated for these, in the order of their use."""

    terms: tuple[tuple[int, Node], ...]
    adjacency: str
    hulls: tuple[tuple[Fraction, ...], ...] = ()

    def names(self) -> Iterator[str]:
        """The names of all mechanisms that are part of it."""
        waiting = [node for _, node in self.terms]
        while waiting:
            node = waiting.pop()
            yield node.name
            waiting += [one for _, one in node.within()]


@dataclass(frozen=True)
class Proof:
    """How the values of a claim are enclosed in one direction: by which method, with which precision and numbers."""

    method: str
    bits: int
    numbers: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim about the release of number ``release``; a ``direction`` of None means the worse of both directions.

    ``upper`` None means no upper end, ``lower`` zero no lower end.
    """

    quantity: str
    at: Fraction
    direction: str | None
    lower: Fraction
    upper: Fraction | None
    release: int
    lines: Mapping[str, tuple[Fraction, ...]]
    proof: Mapping[str, Proof]


@dataclass(frozen=True)
class Certificate:
    """A well-formed certificate, whose claims have not been checked."""

    releases: tuple[Release, ...]
    claims: tuple[Claim, ...]
    whole: Mapping[str, Any]

    def digest_agrees(self) -> bool:
        """Whether the stated SHA-256 is that of all other entries."""
        body = {key: value for key, value in self.whole.items() if key != "sha256"}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest() == str(self.whole["sha256"])


def read(source: str | bytes | Mapping[str, Any]) -> Certificate:
    """The certificate in a text, or a :class:`NotACertificate` that says what is wrong."""
    whole = parsed(source, LARGEST_TEXT)
    early = whole.get("version") in (1, 2)
    require(not early, "versions 1 and 2, of checkouts before the first release, are no longer read: certify again")
    keys(whole, "the certificate", "format version made_by releases parameters claims not_covered sha256")
    require(whole["format"] == "logphi-certificate", "format must be 'logphi-certificate'")
    json_integer(whole["version"], "version", 3, 3)
    named = isinstance(whole["made_by"], dict) and all(isinstance(one, str) for one in whole["made_by"].values())
    require(named, "made_by must map names to versions")
    one_of(whole["parameters"], "parameters", _FLOATS_AS)
    require(whole["not_covered"] == [*NOT_COVERED], "not_covered must be the list of what no certificate covers, word for word")
    require(isinstance(whole["sha256"], str) and _DIGEST.fullmatch(whole["sha256"]), "sha256 must be 64 hexadecimal digits")
    releases = tuple(_with_hulls(one) for one in listed(whole["releases"], "releases", MOST_RELEASES))
    claims = tuple(_claim(one, releases) for one in listed(whole["claims"], "claims", MOST_CLAIMS))
    return Certificate(releases, claims, whole)


def _with_hulls(value: Any) -> Release:
    keys(value, "a release", "adjacency mechanism hulls")
    hulls = tuple(numbers(some, "a hull", MOST_NUMBERS) for some in listed(value["hulls"], "hulls", MOST_TERMS, least=0))
    return replace(_release({key: value[key] for key in ("adjacency", "mechanism")}), hulls=hulls)


def _release(value: Any, outer: Outer = frozenset()) -> Release:
    keys(value, "a release", "adjacency mechanism")
    adjacency = one_of(value["adjacency"], "adjacency", RELATIONS)
    terms = listed(value["mechanism"], "mechanism", MOST_TERMS)
    pairs = all(isinstance(term, list) and len(term) == 2 for term in terms)
    require(pairs, "every entry of mechanism must be a count and a mechanism")
    counted = tuple((json_integer(count, "a count", 1, LARGEST_COUNT), _node(node, outer)) for count, node in terms)
    same = all(node.adjacency == adjacency for _, node in counted)
    require(same, "all mechanisms of a release must have its adjacency")
    return Release(counted, adjacency)


def _claim(value: Any, releases: tuple[Release, ...]) -> Claim:
    keys(value, "a claim", "quantity at direction lower upper release lines proof")
    place = json_integer(value["release"], "release", 0, len(releases) - 1)
    quantity, adjacency = one_of(value["quantity"], "quantity", tuple(_ARGUMENTS)), releases[place].adjacency
    direction = one_of(value["direction"], "direction", (None, "remove", "add"))
    wrong = adjacency in ("add", "remove") and direction not in (None, adjacency)
    require(not wrong, f"there is no direction {direction} under adjacency {adjacency}")
    at, lower = (number(value[name], name) for name in ("at", "lower"))
    upper = None if value["upper"] is None else number(value["upper"], "upper")
    ordered = 0 <= lower <= (lower if upper is None else upper) <= LARGEST_EPSILON and abs(at) <= LARGEST_EPSILON
    require(ordered, "the claim needs 0 <= lower <= upper, and no number above 1e9")
    require(upper is not None or lower, "a claim needs a lower or an upper end")
    require(_ARGUMENTS[quantity](at), f"the claim is about {quantity} at a number that is out of range")
    given, proof = value["lines"], value["proof"]
    known = {"remove", "add"} if quantity == "tradeoff" else set()
    empty = "lines must be an empty object, except for a trade-off function, where it holds a list for each direction"
    require(isinstance(given, dict) and set(given) <= known, empty)
    lines = {direction: numbers(some, "lines", 3) for direction, some in given.items()}
    near = all(abs(x) <= LARGEST_LINE for some in lines.values() for x in some)
    require(near, f"the numbers of lines must lie between -{LARGEST_LINE} and {LARGEST_LINE}")
    fits = isinstance(proof, dict) and set(proof) <= {"remove", "add"}
    require(fits, "proof must be an object with a list for each direction")
    proofs = {direction: _proof(one) for direction, one in proof.items()}
    return Claim(quantity, at, direction, lower, upper, place, lines, proofs)


def _proof(value: Any) -> Proof:
    """A method, the precision, and the numbers that it needs."""
    method, *given = listed(value, "a proof", MOST_NUMBERS)
    least, most, each = METHODS[one_of(method, "the method of a proof", tuple(METHODS))]
    fits = least < len(given) <= most + 1 and (len(given) - 1) % each == 0
    require(fits, f"the method {method} of a proof has too few or too many numbers")
    bits, *rest = given
    return Proof(method, json_integer(bits, "bits", 2, LARGEST_BITS), tuple(number(x, "a number of a proof") for x in rest))


def _node(value: Any, outer: Outer) -> Node:
    """A mechanism that is part of mechanisms of the kinds ``outer``."""
    name: Any = value.get("name") if isinstance(value, dict) else None
    known = isinstance(name, str) and name in PLACES
    require(known, f"a mechanism must be an object with a known name, got {str(name)[:40]!r}")
    kind = kind_of(name)
    refused, why = kind.not_within
    require(not outer & refused, why)
    keys(value, name, f"name adjacency parameters{' base' if kind.base else ''}")
    keys(value["parameters"], f"the parameters of {name}", " ".join(kind.parameters))
    parameters = {key: rule(value["parameters"][key], f"{key} of {name}") for key, rule in kind.parameters.items()}
    adjacency = one_of(value["adjacency"], "adjacency", RELATIONS)
    inner, base, parts = outer | {name}, None, list[Any]()
    if kind.base == "mechanism":
        base = _node(value["base"], inner)
    elif kind.base:
        parts = [value["base"]] if kind.base == "composition" else listed(value["base"], "base", MOST_ENTRIES)
    node = Node(name, adjacency, parameters, base, tuple(_part(one, inner) for one in parts))
    for holds, words in kind.demands(node):
        require(holds, f"{name} {words}")
    return node


def _part(value: Any, outer: Outer) -> tuple[tuple[int, Node], ...]:
    """One alternative of a random choice, or what is released in a batch or a run: a mechanism, or a composition."""
    if not isinstance(value, dict) or value.get("name") != "composition":
        return ((1, _node(value, outer)),)
    keys(value, "a composition", "name adjacency terms")
    return _release({"adjacency": value["adjacency"], "mechanism": value["terms"]}, outer).terms
