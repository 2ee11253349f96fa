"""Claims as sentences, worded like those of a privacy statement."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from logphi.checker.mechanisms.kind import Node
from logphi.checker.text.reading import Certificate, Claim, Release

# chosen: a longer text of a release is shortened
LONGEST = 400
_PLAIN = Context(prec=28)

# each claimed quantity, and its argument
_WORDS = {
    "epsilon": "epsilon at delta = {}",
    "delta": "delta at epsilon = {}",
    "advantage": "membership advantage, TPR - FPR",
    "tradeoff": "type II error of any test at a type I error of {}",
    "renyi": "Renyi divergence of order {}",
}


def words(certificate: Certificate) -> Iterator[str]:
    """A line for each release, followed by one for each claim about it."""
    place = None
    for claim, data in zip(certificate.claims, certificate.whole["claims"], strict=True):
        if claim.release != place:
            place = claim.release
            yield f"of {_release(certificate.releases[place])}"
        yield f"  {_claim(claim, data)}"


def _claim(claim: Claim, data: dict[str, Any]) -> str:
    """The claim in words, its ends as they are written; quotients as decimals if they are short."""
    ends = (("lower", claim.lower), ("upper", claim.upper))
    low, high = (_number(end) if end and "/" in data[name] else data[name] for name, end in ends)
    most = [] if claim.upper is None else [f"at most {high}"]
    # an epsilon below the lower end is disproved, and so is that end
    least = [f"{'more than' if claim.quantity == 'epsilon' else 'at least'} {low}"] if claim.lower else []
    direction = f", direction {claim.direction}" if claim.direction else ""
    # the private side first
    both = [*least, *most] if claim.quantity == "tradeoff" else [*most, *least]
    return f"{_WORDS[claim.quantity].format(_number(claim.at))}{direction}: {' and '.join(both)}"


def _release(release: Release) -> str:
    text, names = _terms(release.terms), set(release.names())
    more = len(text) > LONGEST or len(release.terms) > 20
    # exponential mechanisms chosen adaptively leak less than the composition of their pairs, of which the claim speaks
    several = sum(count for count, _ in release.terms) > 1
    hulls = " (of the hulls of bounded ranges)" if several and "ExponentialMechanism" in names else ""
    # on which the claims rest, and which cannot be checked
    condition = " (if the transform is that of a pair)" if "FromLogPhi" in names else ""
    return f"{text[:LONGEST]}{'...' if more else ''}, under {release.adjacency}{hulls}{condition}:"


def _terms(terms: tuple[tuple[int, Node], ...]) -> str:
    return " + ".join(("" if count == 1 else f"{count} * ") + _node(node) for count, node in terms[:20])


def _node(node: Node) -> str:
    repeats = node.name == "repeat_and_select"
    given = ", ".join(f"{name}={_parameter(value)}" for name, value in node.parameters.items() if repeats or value is not None)
    if repeats or node.name == "allocation":
        (base,) = node.parts
        text = _terms(base)
        return f"{f'({text})' if base[1:] or base[0][0] > 1 else text}.{node.name}({given})"
    if node.parts:
        listed = ", ".join(_terms(part) for part in node.parts[:20])
        return f"{node.name}([{listed}{', ...' if len(node.parts) > 20 else ''}], {given})"
    if node.base is None:
        return f"{node.name}({given})"
    return f"{_node(node.base)}.{node.name}({given})"


def _parameter(value: Any) -> str:
    if value is None:
        return "oo"
    if isinstance(value, list):
        # the pieces of densities say themselves what they are
        numbers = isinstance(value[0], Fraction)
        text = (", " if numbers else "; ").join(map(_parameter, value[:20]))
        return f"[{text}{', ...' if len(value) > 20 else ''}]" if numbers else text
    return _number(value) if isinstance(value, Fraction | int) else str(value)


def _number(value: Fraction | int) -> str:
    """A number as a decimal if that is short, as a quotient otherwise."""
    decimal = str(_PLAIN.divide(Decimal(value.numerator), Decimal(value.denominator)))
    return decimal.lower() if Fraction(decimal) == value else str(value)
