"""The text of a certificate, read strictly: every key, type, range and size must be as stated here.

The file is longer than others because it states the form of every entry in one place.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

# chosen: larger certificates are refused before any work is done
LARGEST_TEXT = 4_000_000
LARGEST_COUNT = 10**300
MOST_TERMS = 10_000
MOST_ENTRIES = 1001
MOST_DIGITS = 1000
# chosen: of a numerator or a denominator; those of a double have at most 1074
MOST_BITS = 3700
LARGEST_EPSILON = 10**9
# derived: how far the sum of probabilities that were rounded to doubles may be from one
NORMALIZED = Fraction(1, 10**14)

NOT_COVERED = (
    "That each mechanism did what it is described to do: queries of the stated sensitivity, contributions really clipped.",
    "That the sampler drew as described, afresh for every release: Poisson samples, or subsets of a fixed size.",
    "That random numbers were unpredictable, and that noise in floating-point numbers has the stated law.",
    "That the stated relation between data sets is the one that matters, and one record all that a person contributes.",
    "That a mechanism known by its guarantee attains its pair: it leaks at most the upper end, and the pair the lower one.",
    "That nothing else was computed from the data: tuning, evaluation and other releases count only if they are listed.",
)

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:/[1-9][0-9]*|(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_RELATIONS = ("add_remove", "add", "remove", "replace", "replace_special")
_PRESENCE = _RELATIONS[:3]
# the last two are what certificates said when floats counted as the doubles they are
_MANNERS = ("as written", "floats as their shortest decimals", "exact doubles", "mixed")
# relations under which Q is the law without the record
_SAMPLED = (*_PRESENCE, "replace_special")

# the parameters of every constructor, and the rule of each
_CONSTRUCTORS: dict[str, dict[str, str]] = {
    "Gaussian": {"sigma": "positive", "sensitivity": "positive"},
    "Laplace": {"scale": "positive", "sensitivity": "positive"},
    "DiscreteLaplace": {"scale": "positive", "sensitivity": "step"},
    "DiscreteGaussian": {"sigma": "width", "sensitivity": "leap", "truncation": "reach"},
    "RandomizedResponse": {"p": "open"},
    "KaryRandomizedResponse": {"k": "symbols", "p": "open"},
    "GaussianMixture": {"sigma": "positive", "sensitivities": "vector", "probabilities": "probabilities"},
    "ExponentialMechanism": {"epsilon": "positive"},
    "PureDP": {"epsilon": "nonnegative"},
    "ApproximateDP": {"epsilon": "nonnegative", "delta": "below one"},
    "DistanceToInstability": {"epsilon": "positive", "delta": "below one"},
    "GaussianPair": {"mean_p": "real", "sigma_p": "positive", "mean_q": "real", "sigma_q": "positive"},
    "Discrete": {"p": "probabilities", "q": "probabilities"},
    "poisson": {"rate": "unit", "group_size": "step"},
    "subset": {"rate": "unit"},
}
_WHOLE = {"step": (1, 1000), "leap": (1, 10**6), "symbols": (2, 2**53), "reach": (1, 10**5)}
_RANGES: dict[str, Callable[[Fraction], bool]] = {
    "positive": lambda x: x > 0,
    "nonnegative": lambda x: x >= 0,
    "unit": lambda x: 0 <= x <= 1,
    "open": lambda x: 0 < x < 1,
    "below one": lambda x: 0 <= x < 1,
    "width": lambda x: Fraction(1, 10) <= x <= 10**6,
    "real": lambda x: True,
}


class NotACertificate(ValueError):
    """What is wrong with the text."""


@dataclass(frozen=True)
class Node:
    """A mechanism: its constructor with exact parameters, and what it samples from."""

    name: str
    adjacency: str
    parameters: Mapping[str, Any]
    base: Node | None = None


@dataclass(frozen=True)
class Claim:
    """What is claimed; ``direction`` None means the larger of both orders."""

    quantity: str
    at: Fraction
    direction: str | None
    attained: str
    digits: int
    lower: Fraction
    upper: Fraction


@dataclass(frozen=True)
class Certificate:
    """A certificate that is well formed, whose claim has not been checked."""

    terms: tuple[tuple[int, Node], ...]
    adjacency: str
    claim: Claim
    witness: Mapping[str, Any]
    whole: Mapping[str, Any]

    def digest_agrees(self) -> bool:
        """Whether the SHA-256 of everything else is the one that is stated."""
        body = {key: value for key, value in self.whole.items() if key != "sha256"}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode("ascii")).hexdigest() == str(self.whole["sha256"])


def read(source: str | bytes | Mapping[str, Any]) -> Certificate:
    """The certificate in a text, or a :class:`NotACertificate` that says what is wrong."""
    whole = _parsed(source)
    _keys(
        whole,
        "the certificate",
        "adjacency claim format made_by mechanism not_covered parameters sha256 version witness",
    )
    if whole["format"] != "logphi-certificate" or _whole(whole["version"], "version", 1, 1) != 1:
        raise NotACertificate("format must be 'logphi-certificate' and version 1")
    if not isinstance(whole["made_by"], dict) or not all(isinstance(one, str) for one in whole["made_by"].values()):
        raise NotACertificate("made_by must map names to versions")
    _one_of(whole["parameters"], "parameters", _MANNERS)
    if whole["not_covered"] != list(NOT_COVERED):
        raise NotACertificate("not_covered must be the list of what no certificate covers, word by word")
    if not isinstance(whole["sha256"], str) or not _DIGEST.fullmatch(whole["sha256"]):
        raise NotACertificate("sha256 must be 64 hexadecimal digits")
    adjacency = _one_of(whole["adjacency"], "adjacency", _RELATIONS)
    terms = whole["mechanism"]
    if not isinstance(terms, list) or not 0 < len(terms) <= MOST_TERMS:
        raise NotACertificate(f"mechanism must list 1 to {MOST_TERMS} counted mechanisms")
    if not all(isinstance(term, list) and len(term) == 2 for term in terms):
        raise NotACertificate("every entry of mechanism must be a count and a mechanism")
    counted = tuple((_whole(count, "a count", 1, LARGEST_COUNT), _node(node)) for count, node in terms)
    if any(node.adjacency != adjacency for _, node in counted):
        raise NotACertificate("all mechanisms must have the adjacency of the certificate")
    claim = _claim(whole["claim"], adjacency)
    witness = whole["witness"]
    if not isinstance(witness, dict) or not set(witness) <= {"remove", "add"}:
        raise NotACertificate("witness must hold an object for each direction, remove or add")
    if not all(isinstance(one, dict) for one in witness.values()):
        raise NotACertificate("the witness of a direction must be an object")
    return Certificate(counted, adjacency, claim, witness, whole)


def number(value: Any, name: str) -> Fraction:
    """The rational number that a string holds."""
    if not isinstance(value, str) or len(value) > 2400 or not _NUMBER.fullmatch(value):
        raise NotACertificate(f"{name} must be a string that holds a decimal or a quotient of whole numbers")
    _, _, exponent = value.lower().partition("e")
    if exponent and abs(int(exponent)) > 1100:
        raise NotACertificate(f"{name} must have an exponent between -1100 and 1100")
    read = Fraction(value)
    if max(read.numerator.bit_length(), read.denominator.bit_length()) > MOST_BITS:
        raise NotACertificate(f"{name} must have a numerator and a denominator of at most {MOST_BITS} bits")
    return read


def _parsed(source: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    try:
        if isinstance(source, Mapping):
            source = json.dumps(dict(source), allow_nan=False)
        if isinstance(source, bytes):
            source = source[: LARGEST_TEXT + 1].decode("utf-8")
        if not isinstance(source, str):
            raise NotACertificate(f"a certificate is a text or what certify returned, got {type(source).__name__}")
        if len(source) > LARGEST_TEXT:
            raise NotACertificate(f"the text is longer than {LARGEST_TEXT} characters")
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
    if not isinstance(whole, dict):
        raise NotACertificate("the text must hold one JSON object")
    return whole


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotACertificate("a key occurs twice in one object")
    return found


def _no_float(text: str) -> Any:
    raise NotACertificate(f"numbers other than whole ones are strings, got {text[:30]}")


def _short_integer(text: str) -> int:
    if len(text) > 310:
        raise NotACertificate("a whole number has more than 310 digits")
    return int(text)


def _keys(value: Any, name: str, expected: str) -> None:
    if not isinstance(value, dict) or set(value) != set(expected.split()):
        raise NotACertificate(f"{name} must be an object of exactly these keys: {expected}")


def _one_of(value: Any, name: str, known: tuple[Any, ...]) -> Any:
    if not isinstance(value, str | None) or value not in known:
        raise NotACertificate(f"{name} must be one of {', '.join(map(str, known))}")
    return value


def _whole(value: Any, name: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise NotACertificate(f"{name} must be a whole number from {least} to {most if most < 10**9 else f'{most:.0e}'}")
    return value


def _claim(value: Any, adjacency: str) -> Claim:
    _keys(value, "the claim", "quantity at direction attained digits lower upper")
    quantity = _one_of(value["quantity"], "quantity", ("epsilon", "delta"))
    direction = _one_of(value["direction"], "direction", (None, "remove", "add"))
    attained = _one_of(value["attained"], "attained", ("remove", "add", "both"))
    if adjacency in ("add", "remove") and direction not in (None, adjacency):
        raise NotACertificate(f"there is no direction {direction} under adjacency {adjacency}")
    at, lower, upper = (number(value[name], name) for name in ("at", "lower", "upper"))
    if not 0 <= lower <= upper <= LARGEST_EPSILON or abs(at) > LARGEST_EPSILON:
        raise NotACertificate("the claim needs 0 <= lower <= upper, and no number above 1e9")
    if quantity == "epsilon" and not 0 < at <= 1:
        raise NotACertificate("at must be a delta above 0, at most 1")
    return Claim(quantity, at, direction, attained, _whole(value["digits"], "digits", 1, MOST_DIGITS), lower, upper)


def _node(value: Any, sampled: bool = False) -> Node:
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or name not in _CONSTRUCTORS:
        raise NotACertificate(f"a mechanism must be an object with a known name, got {str(name)[:40]!r}")
    samples = name in ("poisson", "subset")
    if samples and sampled:
        raise NotACertificate("what is sampled must not be a sample itself")
    _keys(value, f"a {name}", "name adjacency parameters base" if samples else "name adjacency parameters")
    rules = _CONSTRUCTORS[name]
    _keys(value["parameters"], f"the parameters of {name}", " ".join(rules))
    parameters = {key: _parameter(value["parameters"][key], f"{key} of {name}", rule) for key, rule in rules.items()}
    node = Node(
        name,
        _one_of(value["adjacency"], "adjacency", _RELATIONS),
        parameters,
        _node(value["base"], sampled=True) if samples else None,
    )
    complaint = _misfit(node)
    if complaint:
        raise NotACertificate(f"a {name} {complaint}")
    return node


def _parameter(value: Any, name: str, rule: str) -> Any:
    if rule == "reach" and value is None:
        return None
    if rule in ("vector", "probabilities"):
        if not isinstance(value, list) or not 0 < len(value) <= MOST_ENTRIES:
            raise NotACertificate(f"{name} must be a list of 1 to {MOST_ENTRIES} numbers")
        entries = [_parameter(one, name, "nonnegative") for one in value]
        if rule == "probabilities" and abs(total(entries) - 1) > NORMALIZED:
            raise NotACertificate(f"{name} must sum to one")
        return entries
    read = number(value, name)
    if rule in _WHOLE:
        if read.denominator != 1 or not _WHOLE[rule][0] <= read <= _WHOLE[rule][1]:
            raise NotACertificate(f"{name} must be a whole number from {_WHOLE[rule][0]} to {_WHOLE[rule][1]}")
        return int(read)
    if not _RANGES[rule](read):
        raise NotACertificate(f"{name} is outside its range")
    return read


def total(entries: list[Fraction]) -> Fraction:
    """The exact sum, of numbers whose common denominator is short."""
    common = 1
    for entry in entries:
        common = math.lcm(common, entry.denominator)
        if common.bit_length() > 4 * MOST_BITS:
            raise NotACertificate("the numbers of a list must have a short common denominator")
    return Fraction(sum(entry.numerator * (common // entry.denominator) for entry in entries), common)


def _misfit(node: Node) -> str:
    """Why the parts of a node do not fit each other, if they do not."""
    given, base = node.parameters, node.base
    if node.name == "Discrete":
        if len(given["p"]) != len(given["q"]):
            return "needs as many p as q"
        if not any(a and b for a, b in zip(given["p"], given["q"], strict=True)):
            return "needs an outcome that both laws reach"
    if node.name == "GaussianMixture":
        if len(given["sensitivities"]) != len(given["probabilities"]):
            return "needs as many sensitivities as probabilities"
        if not any(a and b for a, b in zip(given["sensitivities"], given["probabilities"], strict=True)):
            return "needs a positive sensitivity of positive probability"
    if node.name == "DiscreteGaussian" and 2 * (given["truncation"] or math.inf) < given["sensitivity"]:
        return "needs a truncation of at least half its sensitivity"
    if node.name == "KaryRandomizedResponse" and node.adjacency not in ("replace", "replace_special"):
        return "is stated under replace or replace_special"
    if node.name in ("PureDP", "ApproximateDP") and node.adjacency in ("add", "remove"):
        return "is a guarantee in both orders of two neighbours"
    if node.name == "poisson" and base is not None:
        if base.adjacency not in _SAMPLED:
            return "samples a mechanism that is stated under add/remove or replace_special"
        if base.adjacency != node.adjacency and not (
            base.adjacency == "add_remove" and node.adjacency in (*_PRESENCE, "replace")
        ):
            return f"of a mechanism under {base.adjacency} is not known under {node.adjacency}"
        if given["group_size"] > 1 and (node.adjacency == "replace" or base.name != "Gaussian"):
            return "of a group is known for the Gaussian under add/remove"
        if node.adjacency == "replace" and base.name != "Gaussian":
            return "under replace is known for the Gaussian"
    if node.name == "subset" and base is not None:
        fits = base.adjacency == "replace" and node.adjacency != "replace_special"
        return "" if fits else ("leads from replace to replace or add/remove")
    return ""
