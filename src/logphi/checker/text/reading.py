"""Reads the text of a certificate strictly: every key, type, range and size must be as stated here.

The file is longer than others because it states the form of every entry in one place.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from logphi.checker.formulas.formula import Formula, NotAFormula, Piece
from logphi.checker.formulas.formula import read as read_formula

# chosen: larger certificates are refused immediately
LARGEST_TEXT = 4_000_000
LARGEST_COUNT = 10**300
MOST_TERMS = 10_000
MOST_RELEASES = 100
MOST_CLAIMS = 100
MOST_ENTRIES = 1001
MOST_PIECES = 100
MOST_NUMBERS = 20_000
# chosen: a larger precision is refused immediately
LARGEST_BITS = 10**6
# chosen: bits of a numerator or a denominator; those of a double have at most 1074
MOST_BITS = 3700
LARGEST_EPSILON = 10**9
LARGEST_ORDER = 10**6
LARGEST_LINE = 10**4
# derived: two errors that sum to one do so to within this as doubles
ROUNDED = Fraction(1, 2**51)

NOT_COVERED = (
    "That each mechanism did what it is described to do: queries of the stated sensitivity, contributions really clipped.",
    "That samples, allocations, shuffles and random choices were drawn as described, each independently of all others.",
    "That random numbers were unpredictable, and that noise in floating-point numbers has the stated law.",
    "That the stated relation between data sets is the one that matters, and one record all that a person contributes.",
    "That a mechanism known by its guarantee attains its pair: it leaks at most the upper end, and the pair the lower one.",
    "That nothing else was computed from the data: tuning, evaluation and other releases count only if they are listed.",
)

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:/[1-9][0-9]*|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_RELATIONS = ("add_remove", "add", "remove", "replace", "replace_special")
PRESENCE = _RELATIONS[:3]
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
# ways to the values of a claim: the fewest numbers of each, the most, and how many come together
WAYS = {
    **dict.fromkeys(("alone", "beyond", "residues", "averaged", "moment"), (0, 0, 1)),
    **dict.fromkeys(("chernoff", "bent", "two", "nodes"), (1, 1, 1)),
    "folded": (4, 4, 1),
    "line": (6, 14, 1),
    "cells": (4, MOST_NUMBERS, 1),
    "tangents": (3, MOST_NUMBERS, 3),
}
# mechanisms whose pair lies above what they leak, so that no lower end holds for them
UPPER_ONLY = (
    *("ZCDP", "RenyiDP", "Skellam", "VectorDiscreteGaussian", "StabilityThreshold", "SparseVector", "ShuffledReports"),
    "repeat_and_select",
)
# relations of a base that Poisson sampling accepts: under these, Q is the law without the record
_SAMPLED = (*PRESENCE, "replace_special")

# the parameters of every constructor, each with the name of its rule
CONSTRUCTORS = {
    name: dict(one.split(": ") for one in rules.split(", "))
    for name, rules in {
        "Gaussian": "sigma: positive, sensitivity: positive",
        "Laplace": "scale: positive, sensitivity: positive",
        "DiscreteLaplace": "scale: positive, sensitivity: up to 1e3",
        "DiscreteGaussian": "sigma: 0.1 to 1e6, sensitivity: up to 1e6, truncation: truncation",
        "RandomizedResponse": "p: open",
        "KaryRandomizedResponse": "k: symbols, p: open",
        "GaussianMixture": "sigma: positive, sensitivities: vector, probabilities: probabilities",
        "ExponentialMechanism": "epsilon: positive",
        "PureDP": "epsilon: nonnegative",
        "ApproximateDP": "epsilon: nonnegative, delta: below one",
        "DistanceToInstability": "epsilon: positive, delta: below one",
        "GaussianPair": "mean_p: real, sigma_p: positive, mean_q: real, sigma_q: positive",
        "Discrete": "p: probabilities, q: probabilities",
        "TruncatedGaussian": "sigma: positive, truncation: positive, sensitivity: positive",
        "TruncatedLaplace": "scale: positive, truncation: positive, sensitivity: positive",
        "FromTradeoff": "type_one_errors: vector, type_two_errors: vector",
        "FromProfile": "epsilons: reals, deltas: vector",
        "ZCDP": "rho: nonnegative, xi: nonnegative",
        "RenyiDP": "orders: vector, epsilons: vector",
        "GaussianMixturePair": "sigma: positive, values: reals, p: probabilities, q: probabilities",
        "FromDensities": "pieces: pieces",
        "FromLogPhi": "transform: transform",
        "ShuffledReports": "local_epsilon: nonnegative, records: records",
        "StabilityThreshold": (
            "threshold: real, scale: optional, sigma: optional, truncation: optional, "
            "sensitivity: positive, partitions: partitions"
        ),
        "SparseVector": (
            "query_scale: positive, threshold_scale: optional, threshold_sigma: optional, "
            "sensitivity: positive, answers: partitions, monotone: flag"
        ),
        "VectorDiscreteGaussian": (
            "sigma: 0.1 to 1e6, l2_sensitivity: up to 1e9, l1_sensitivity: optional, parties: partitions, dimension: dimension"
        ),
        "Skellam": "variance: positive, l2_sensitivity: up to 1e9, l1_sensitivity: optional, dimension: dimension",
        "RandomChoice": "probabilities: probabilities",
        "poisson": "rate: unit, group_size: up to 1e3",
        "subset": "rate: unit",
        "allocation": "batches: batches",
        "repeat_and_select": "mean: up to 1e9, shape: shape",
    }.items()
}
# the names of the mechanisms that a mechanism is part of
Outer = frozenset[str]
_SAMPLES, _CHOICES = frozenset({"poisson", "subset"}), frozenset({"RandomChoice", "allocation"})
# mechanisms of others, which are their base
_OF_OTHERS = _SAMPLES | _CHOICES | {"repeat_and_select"}
# what a mechanism must not be part of, and the words for it
_NOT_WITHIN: dict[str, tuple[Outer, str]] = {
    **dict.fromkeys(_SAMPLES, (_SAMPLES, "the base of a sample must not be a sample itself")),
    "ShuffledReports": (_SAMPLES, "a ShuffledReports is not known on a sample"),
    "allocation": (_SAMPLES | {"allocation"}, "random allocation is not known on a sample, or of itself"),
    "RandomChoice": (_CHOICES, "an alternative of a random choice must not be a random choice itself"),
    "repeat_and_select": (_OF_OTHERS, "the best of many runs is not known as a part of another mechanism"),
}
_WHOLE = {
    "up to 1e3": (1, 1000),
    "up to 1e6": (1, 10**6),
    "symbols": (2, 2**53),
    "truncation": (1, 10**5),
    "records": (1, 10**9),
    "partitions": (1, 10**6),
    "batches": (2, 10**6),
    "dimension": (1, 10**15),
    "flag": (0, 1),
}
_RANGES: dict[str, Callable[[Fraction], bool]] = {
    "positive": lambda x: x > 0,
    "optional": lambda x: x > 0,
    "nonnegative": lambda x: x >= 0,
    "unit": lambda x: 0 <= x <= 1,
    "open": lambda x: 0 < x < 1,
    "below one": lambda x: 0 <= x < 1,
    "0.1 to 1e6": lambda x: Fraction(1, 10) <= x <= 10**6,
    "real": lambda x: True,
    "up to 1e9": lambda x: 0 < x <= 10**9,
    "shape": lambda x: -1 < x <= 10**6,
}


class NotACertificate(ValueError):
    """An error in the text of a certificate."""


def _require(holds: Any, why: str) -> None:
    if not holds:
        raise NotACertificate(why)


@dataclass(frozen=True)
class Node:
    """A mechanism: its constructor with exact parameters, and the base that it samples from."""

    name: str
    adjacency: str
    parameters: Mapping[str, Any]
    base: Node | None = None
    # compositions of counted mechanisms: the alternatives of a random choice, or the one of a batch or of a run
    parts: tuple[tuple[tuple[int, Node], ...], ...] = ()

    def within(self) -> Iterator[tuple[int, Node]]:
        """The counted mechanisms that it is of: those of all alternatives, or what is sampled."""
        for part in self.parts or (self.base.parts or (((1, self.base),),) if self.base else ()):
            yield from part

    def names(self) -> Iterator[str]:
        """Its name and those of all mechanisms within."""
        yield self.name
        for _, one in self.within():
            yield from one.names()


@dataclass(frozen=True)
class Release:
    """Counted mechanisms under one relation; ``hulls`` are the numbers stated for these, in the order of their use."""

    terms: tuple[tuple[int, Node], ...]
    adjacency: str
    hulls: tuple[tuple[Fraction, ...], ...] = ()

    def holds(self, *names: str) -> bool:
        """Whether a mechanism of one of these names is part of it."""
        return any(name in names for _, node in self.terms for name in node.names())


@dataclass(frozen=True)
class Proof:
    """How the values of a claim are enclosed in one order of the pair: by which way, with which precision and numbers."""

    way: str
    bits: int
    numbers: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim about the release of number ``release``; a ``direction`` of None means the worse of both orders.

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
    whole = _parsed(source)
    early = whole.get("version") in (1, 2)
    _require(not early, "versions 1 and 2, of checkouts before the first release, are no longer read: certify again")
    _keys(whole, "the certificate", "format version made_by releases parameters claims not_covered sha256")
    _require(whole["format"] == "logphi-certificate", "format must be 'logphi-certificate'")
    _whole(whole["version"], "version", 3, 3)
    named = isinstance(whole["made_by"], dict) and all(isinstance(one, str) for one in whole["made_by"].values())
    _require(named, "made_by must map names to versions")
    _one_of(whole["parameters"], "parameters", _FLOATS_AS)
    _require(whole["not_covered"] == [*NOT_COVERED], "not_covered must be the list of what no certificate covers, word by word")
    _require(isinstance(whole["sha256"], str) and _DIGEST.fullmatch(whole["sha256"]), "sha256 must be 64 hexadecimal digits")
    releases = tuple(_with_hulls(one) for one in _listed(whole["releases"], "releases", MOST_RELEASES))
    claims = tuple(_claim(one, releases) for one in _listed(whole["claims"], "claims", MOST_CLAIMS))
    return Certificate(releases, claims, whole)


def _with_hulls(value: Any) -> Release:
    _keys(value, "a release", "adjacency mechanism hulls")
    hulls = tuple(_numbers(some, "a hull", MOST_NUMBERS) for some in _listed(value["hulls"], "hulls", MOST_TERMS, least=0))
    return replace(_release({key: value[key] for key in ("adjacency", "mechanism")}), hulls=hulls)


def _release(value: Any, outer: Outer = frozenset()) -> Release:
    _keys(value, "a release", "adjacency mechanism")
    adjacency = _one_of(value["adjacency"], "adjacency", _RELATIONS)
    terms = _listed(value["mechanism"], "mechanism", MOST_TERMS)
    pairs = all(isinstance(term, list) and len(term) == 2 for term in terms)
    _require(pairs, "every entry of mechanism must be a count and a mechanism")
    counted = tuple((_whole(count, "a count", 1, LARGEST_COUNT), _node(node, outer)) for count, node in terms)
    same = all(node.adjacency == adjacency for _, node in counted)
    _require(same, "all mechanisms must have the adjacency of the certificate")
    return Release(counted, adjacency)


def _listed(value: Any, name: str, most: int, least: int = 1) -> list[Any]:
    fits = isinstance(value, list) and least <= len(value) <= most
    _require(fits, f"{name} must be a list of {least} to {most} entries")
    return list(value)


def _numbers(value: Any, name: str, most: int) -> tuple[Fraction, ...]:
    return tuple(number(one, f"a number of {name}") for one in _listed(value, name, most))


def number(value: Any, name: str) -> Fraction:
    """The rational number in a string."""
    written = isinstance(value, str) and len(value) <= 2400 and _NUMBER.fullmatch(value)
    _require(written, f"{name} must be a string with a decimal or a quotient of integers")
    _, _, exponent = value.lower().partition("e")
    _require(abs(int(exponent or 0)) <= 1100, f"{name} must have an exponent between -1100 and 1100")
    read = Fraction(value)
    short = max(read.numerator.bit_length(), read.denominator.bit_length()) <= MOST_BITS
    _require(short, f"{name} must have a numerator and a denominator of at most {MOST_BITS} bits")
    return read


def _parsed(source: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    try:
        if isinstance(source, Mapping):
            source = json.dumps(dict(source), allow_nan=False)
        if isinstance(source, bytes):
            source = source[: LARGEST_TEXT + 1].decode("utf-8")
        _require(isinstance(source, str), f"a certificate is a text or what certify returned, got {type(source).__name__}")
        _require(len(source) <= LARGEST_TEXT, f"the text is longer than {LARGEST_TEXT} characters")
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
    _require(isinstance(whole, dict), "the text must hold one JSON object")
    return dict(whole)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    _require(len(found) == len(pairs), "a key occurs twice in one object")
    return found


def _no_float(text: str) -> Any:
    raise NotACertificate(f"numbers other than integers must be strings, got {text[:30]}")


def _short_integer(text: str) -> int:
    _require(len(text) <= 310, "an integer has more than 310 digits")
    return int(text)


def _keys(value: Any, name: str, expected: str) -> None:
    fits = isinstance(value, dict) and set(value) == set(expected.split())
    _require(fits, f"{name} must be an object of exactly these keys: {expected}")


def _one_of(value: Any, name: str, known: tuple[Any, ...]) -> Any:
    _require(isinstance(value, str | None) and value in known, f"{name} must be one of {', '.join(map(str, known))}")
    return value


def _whole(value: Any, name: str, least: int, most: int) -> int:
    fits = type(value) is int and least <= value <= most
    _require(fits, f"{name} must be an integer from {least} to {most if most < 10**9 else f'{most:.0e}'}")
    return int(value)


def _claim(value: Any, releases: tuple[Release, ...]) -> Claim:
    _keys(value, "a claim", "quantity at direction lower upper release lines proof")
    place = _whole(value["release"], "release", 0, len(releases) - 1)
    quantity, adjacency = _one_of(value["quantity"], "quantity", tuple(_ARGUMENTS)), releases[place].adjacency
    direction = _one_of(value["direction"], "direction", (None, "remove", "add"))
    wrong = adjacency in ("add", "remove") and direction not in (None, adjacency)
    _require(not wrong, f"there is no direction {direction} under adjacency {adjacency}")
    at, lower = (number(value[name], name) for name in ("at", "lower"))
    upper = None if value["upper"] is None else number(value["upper"], "upper")
    ordered = 0 <= lower <= (lower if upper is None else upper) <= LARGEST_EPSILON and abs(at) <= LARGEST_EPSILON
    _require(ordered, "the claim needs 0 <= lower <= upper, and no number above 1e9")
    _require(upper is not None or lower, "a claim needs an end")
    _require(_ARGUMENTS[quantity](at), f"at is outside the range of a claim about {quantity}")
    given, proof = value["lines"], value["proof"]
    known = {"remove", "add"} if quantity == "tradeoff" else set()
    empty = "lines must be an object, empty but for a trade-off function: then with a list for each direction"
    _require(isinstance(given, dict) and set(given) <= known, empty)
    lines = {order: _numbers(some, "lines", 3) for order, some in given.items()}
    near = all(abs(x) <= LARGEST_LINE for some in lines.values() for x in some)
    _require(near, f"the epsilons of lines must lie between -{LARGEST_LINE} and {LARGEST_LINE}")
    listed = isinstance(proof, dict) and set(proof) <= {"remove", "add"}
    _require(listed, "proof must be an object with a list for each direction")
    proofs = {order: _proof(one) for order, one in proof.items()}
    return Claim(quantity, at, direction, lower, upper, place, lines, proofs)


def _proof(value: Any) -> Proof:
    """A way, the precision, and the numbers that it needs."""
    listed = _listed(value, "a proof", MOST_NUMBERS)
    least, most, each = WAYS[_one_of(listed[0], "a way", tuple(WAYS))]
    _require(least <= len(listed) - 2 <= most and not ((len(listed) - 2) % each), f"a proof by {listed[0]} needs other numbers")
    numbers = tuple(number(x, "a number of a proof") for x in listed[2:])
    return Proof(listed[0], _whole(listed[1], "bits", 2, LARGEST_BITS), numbers)


def _node(value: Any, outer: Outer) -> Node:
    name: Any = value.get("name") if isinstance(value, dict) else None
    known = isinstance(name, str) and name in CONSTRUCTORS
    _require(known, f"a mechanism must be an object with a known name, got {str(name)[:40]!r}")
    refused, why = _NOT_WITHIN.get(name, (frozenset(), ""))
    _require(not outer & refused, why)
    of_others = name in _OF_OTHERS
    _keys(value, f"a {name}", f"name adjacency parameters{' base' if of_others else ''}")
    rules = CONSTRUCTORS[name]
    _keys(value["parameters"], f"the parameters of {name}", " ".join(rules))
    parameters = {key: _parameter(value["parameters"][key], f"{key} of {name}", rule) for key, rule in rules.items()}
    adjacency = _one_of(value["adjacency"], "adjacency", _RELATIONS)
    inner, base, listed = outer | {name}, None, list[Any]()
    if name in _SAMPLES:
        base = _node(value["base"], inner)
    elif of_others:
        listed = _listed(value["base"], "base", MOST_ENTRIES) if name == "RandomChoice" else [value["base"]]
    node = Node(name, adjacency, parameters, base, tuple(_part(one, inner) for one in listed))
    for holds, words in _demands(node):
        _require(holds, f"a {name} {words}")
    return node


def _part(value: Any, outer: Outer) -> tuple[tuple[int, Node], ...]:
    """One alternative of a random choice, or what is released in a batch or a run: a mechanism, or a composition."""
    if not isinstance(value, dict) or value.get("name") != "composition":
        return ((1, _node(value, outer)),)
    _keys(value, "a composition", "name adjacency terms")
    return _release({"adjacency": value["adjacency"], "mechanism": value["terms"]}, outer).terms


def _parameter(value: Any, name: str, rule: str) -> Any:
    if (rule in ("truncation", "optional", "dimension") and value is None) or (rule == "shape" and value == "oo"):
        return None
    if rule in ("vector", "probabilities", "reals"):
        each = "real" if rule == "reals" else "nonnegative"
        entries = [_parameter(one, name, each) for one in _listed(value, name, MOST_ENTRIES)]
        _require(rule != "probabilities" or _total(entries) == 1, f"{name} must sum to one")
        return entries
    if rule == "pieces":
        return _pieces(value, name)
    if rule == "transform":
        return _formula(value, name, "z")
    read = number(value, name)
    if rule in _WHOLE:
        least, most = _WHOLE[rule]
        _require(read.denominator == 1 and least <= read <= most, f"{name} must be an integer from {least} to {most}")
        return int(read)
    _require(_RANGES[rule](read), f"{name} is outside its range")
    return read


def _pieces(value: Any, name: str) -> list[Piece]:
    """Intervals from left to right, each with one formula or two; the first and the last one may be infinite."""
    pieces = []
    for one in _listed(value, name, MOST_PIECES):
        fits = isinstance(one, list) and len(one) == 4 and one[2:] != [None, None] and "" not in one[2:]
        _require(fits, f"each of {name} must be a list of two ends, log p and log q")
        low, high = (None if end == far else number(end, name) for end, far in zip(one, ("-oo", "oo"), strict=False))
        _require(low is None or high is None or low < high, f"{name} must have a low end below the high one")
        pieces.append(Piece(low, high, *(log and _formula(log, name, "x") for log in one[2:])))
    apart = all(None not in (one.high, other.low) and one.high <= other.low for one, other in pairwise(pieces))  # type: ignore[operator]
    _require(apart, f"{name} must be intervals from left to right that do not overlap")
    both = any(one.log_p for one in pieces) and any(one.log_q for one in pieces)
    _require(both, f"{name} must have formulas of both densities")
    return pieces


def _formula(value: Any, name: str, variable: str) -> Formula:
    _require(isinstance(value, str), f"{name} must hold formulas as strings")
    try:
        return read_formula(value, variable)
    except NotAFormula as wrong:
        raise NotACertificate(f"a formula in {name} {wrong}") from None


def _total(entries: list[Fraction]) -> Fraction:
    """The exact sum; refused if the common denominator is long."""
    common = 1
    for entry in entries:
        common = math.lcm(common, entry.denominator)
        _require(common.bit_length() <= 4 * MOST_BITS, "the numbers of a list must have a short common denominator")
    return Fraction(sum(entry.numerator * (common // entry.denominator) for entry in entries), common)


def _demands(node: Node) -> Iterator[tuple[bool, str]]:
    """How the parameters, base and alternatives of a node must fit together; a demand may rely on those before it."""
    relation, one_order = node.adjacency, node.adjacency in ("add", "remove")
    match node.name, node.parameters:
        case "Discrete", {"p": p, "q": q}:
            yield len(p) == len(q), "needs as many p as q"
            yield any(a and b for a, b in zip(p, q, strict=True)), "needs an outcome that both laws reach"
        case "GaussianMixture", {"sensitivities": moves, "probabilities": weights}:
            yield len(moves) == len(weights), "needs as many sensitivities as probabilities"
            moved = any(a and b for a, b in zip(moves, weights, strict=True))
            yield moved, "needs a positive sensitivity of positive probability"
        case "GaussianMixturePair", {"values": values, "p": p, "q": q}:
            yield len(values) == len(p) == len(q), "needs as many values as p and q"
        case ("RandomChoice" | "allocation" | "repeat_and_select") as name, given:
            if name == "RandomChoice":
                yield len(given["probabilities"]) == len(node.parts), "needs as many mechanisms as probabilities"
            elif name == "allocation":
                yield relation in _SAMPLED, "is of a mechanism that is stated under add/remove or replace_special"
            else:
                yield not one_order, "bounds both orders of two neighbours"
                yield given["shape"] is None or given["mean"] > 1, "needs a mean above 1, as there is always one run"
            yield all(one.adjacency == relation for _, one in node.within()), "is of mechanisms under its own adjacency"
        case "TruncatedGaussian" | "TruncatedLaplace", {"truncation": far, "sensitivity": move}:
            yield 2 * far > move, "needs a truncation of more than half its sensitivity"
        case "DiscreteGaussian", {"truncation": far, "sensitivity": move}:
            yield 2 * (far or math.inf) >= move, "needs a truncation of at least half its sensitivity"
        case "FromTradeoff", {"type_one_errors": first, "type_two_errors": second}:
            yield len(first) == len(second), "needs as many numbers in both lists"
            points = list(zip(first, second, strict=True))
            yield all(a <= 1 and a + b <= 1 + ROUNDED for a, b in points), "needs two errors that sum to one at most"
            at_zero = [b for a, b in points if a == 0]
            yield bool(at_zero) and min(at_zero) > 0, "needs a type II error above zero at a type I error of zero"
        case "FromProfile", {"epsilons": epsilons, "deltas": deltas}:
            yield len(epsilons) == len(deltas), "needs as many numbers in both lists"
            yield max(deltas) <= 1 and min(deltas) < 1, "needs deltas up to 1, some below"
        case "SparseVector", {"threshold_scale": scale, "threshold_sigma": sigma}:
            yield (scale is None) is not (sigma is None), "needs a scale or a sigma of its threshold"
        case "StabilityThreshold", {"scale": scale, "sigma": sigma, "truncation": far, "threshold": least, "sensitivity": move}:
            yield relation in PRESENCE, "is stated under add_remove, or one order of it"
            yield (scale is None) is not (sigma is None), "needs a scale or a sigma"
            yield far is None or 2 * far > move, "needs a truncation of more than half its sensitivity"
            yield far is None or least - move > -far, "needs noise that may miss the threshold"
        case "KaryRandomizedResponse", _:
            yield relation in ("replace", "replace_special"), "is stated under replace or replace_special"
        case ("PureDP" | "ApproximateDP" | "ZCDP" | "RenyiDP") as name, given:
            yield not one_order, "is a guarantee in both orders of two neighbours"
            if name == "RenyiDP":
                orders = given["orders"]
                fits = len(orders) == len(given["epsilons"]) == len(set(orders)) and min(orders) > 1
                yield fits, "needs as many epsilons as orders, which differ and are above one"
        case "poisson", {"group_size": size}:
            (base,) = {one.adjacency for _, one in node.within()}
            yield base in _SAMPLED, "samples a mechanism that is stated under add/remove or replace_special"
            fits = base == relation or (base == "add_remove" and relation in (*PRESENCE, "replace"))
            yield fits, f"of a mechanism under {base} is not known under {relation}"
            gaussian = all(one.name == "Gaussian" for _, one in node.within())
            yield gaussian or size == 1, "of a group is known for the Gaussian"
            yield gaussian or relation != "replace", "under replace is known for the Gaussian"
        case "subset", _:
            (base,) = {one.adjacency for _, one in node.within()}
            yield base == "replace" and relation != "replace_special", "leads from replace to replace or add/remove"
