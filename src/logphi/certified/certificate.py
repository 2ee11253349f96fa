"""A certificate: a claim about one release with everything needed to check it, as JSON in a fixed form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from typing import Any

from logphi.certified.answer import certify
from logphi.certified.form import Witness, made_by, written, written_claim
from logphi.certified.proposal import MOST_DIGITS, ROUGH, Check, Ends, digits_of, proposed, settled
from logphi.certified.route import NotCertifiedError
from logphi.checker.mechanisms.pairs import PLACES, kind_of
from logphi.engine.directions import Loss, direction_of
from logphi.listed import Listed
from logphi.progress import shown
from logphi.questions.delta import delta
from logphi.text.checksum import Saved
from logphi.text.description import COMPOSITION, WRITTEN

# composed adaptively, exponential mechanisms may leak less than the composition of their pairs
HULL = "ExponentialMechanism"
# derived: the exponent of the least number that the format has, and the most decimals that fit its denominators
_LEAST_EXPONENT, _MOST_DECIMALS = -1100, 1113


@dataclass(frozen=True)
class Certificate(Saved, Listed):
    """A claim about one release: two decimals between which its epsilon at a delta, or its delta at an epsilon, lies.

    For epsilon it says that delta(lower) > at >= delta(upper), or that lower is 0; for delta, lower <= delta(at) <= upper.
    Made by :meth:`logphi.Mechanism.certify`; ``print`` shows it as text, and ``logphi verify`` proves it again.

    Attributes
    ----------
    mechanism
        Counted mechanisms as plain data, their parameters exact: see :meth:`logphi.Mechanism.tree`.
    parameters
        How these were known: ``"as written"``, or ``"floats as their shortest decimals"``.
    adjacency
        The relation between data sets.
    quantity, at
        ``"epsilon"`` at a delta, or ``"delta"`` at an epsilon, in nats.
    direction
        The one direction that was asked for, or None for the larger of both.
    attained
        The direction that attains the maximum, or ``"both"``; no part of the claim.
    digits
        ``upper - lower`` is at most 10^-digits of ``upper``.
    lower, upper
        The claim.
    made_by
        Versions of the software.
    witness
        What shows the claim, for those who check it.
    """

    mechanism: Sequence[tuple[int, Mapping[str, Any]]]
    parameters: str
    adjacency: str
    quantity: str
    at: Fraction
    direction: str | None
    attained: str
    digits: int
    lower: Decimal
    upper: Decimal
    made_by: Mapping[str, str] = field(repr=False)
    witness: Witness = field(default=Witness(), repr=False)

    def to_json(self) -> str:
        """The certificate as JSON, the same bytes for the same certificate; ASCII, ends in a line break."""
        claim = written_claim(self.quantity, self.at, self.direction, self.lower, self.upper)
        return written([(self.adjacency, self.mechanism)], self.parameters, [claim], self.made_by, self.witness)

    def __str__(self) -> str:
        given = "delta" if self.quantity == "epsilon" else "epsilon"
        order = f", direction {self.direction}" if self.direction else ""
        about = what_is_released(f"{self.adjacency}{order}", self.parameters, self.mechanism)
        return (
            f"certified: {self.lower} <= {self.quantity} <= {self.upper} at {given} = {spelled(self.at)}\n"
            f"  to {self.digits} digits, {about}"
        )


def what_is_released(relation: str, parameters: str, mechanism: Sequence[tuple[int, Mapping[str, Any]]]) -> str:
    """The relation of a release, how its numbers were known, and how many mechanisms it has."""
    known = "parameters as written" if parameters == WRITTEN else parameters
    count = sum(count for count, _ in mechanism)
    ranges = any(HULL in str(node) for _, node in mechanism)
    hulls = "\n  of the hulls of bounded ranges: the mechanisms leak at most the upper end" if ranges and count > 1 else ""
    return f"under {relation}, {known}, for {count} release{'s' if count > 1 else ''}{hulls}"


def issue(
    loss: Loss,
    mechanism: Sequence[tuple[int, Mapping[str, Any]]],
    parameters: str,
    *,
    quantity: str,
    at: Fraction,
    direction: str | None,
    digits: int,
    check: Callable[[Certificate], Check],
    check_soon: Callable[[Certificate], Check],
) -> Certificate:
    """The certificate of an answer that is proved here and that ``check`` accepts.

    If there is none, one with ends that the checker derives, from bounds in doubles where the answer is not proved here: by
    ``check_soon``, which has a smaller budget, or by ``check``.

    Raises
    ------
    NotCertifiedError
        If the loss cannot be certified, there is no finite answer, a mechanism has no name in certificates, or no answer with
        one digit or more passes the check.
    """
    for _, node in mechanism:
        refuse_unknown(node)

    def made(ends: Ends, witness: Witness) -> Certificate:
        return Certificate(
            mechanism=mechanism,
            parameters=parameters,
            adjacency=loss.adjacency.value,
            quantity=quantity,
            at=at,
            direction=direction,
            attained=attained,
            digits=digits if ends[0] == ends[1] else min(digits, digits_of(ends)),
            lower=ends[0],
            upper=ends[1] or Decimal(0),
            made_by=made_by(),
            witness=witness,
        )

    order, refusal = None if direction is None else direction_of(direction), None
    in_balls = partial(certify, loss, quantity=quantity, at=at, direction=direction, digits=digits, shown=shown)
    in_doubles = cache(partial(proposed, loss, quantity=quantity, at=at, direction=order, digits=min(digits, MOST_DIGITS)))
    for source, one in ((in_balls, check), (in_doubles, check_soon), (in_doubles, check)):
        try:
            answer = source()
            attained, low = answer.attained, Decimal(answer.lower)
            _refuse_too_small(low)
            profile = partial(delta, loss, direction=order, rtol=ROUGH)
            ends, verdict = settled(quantity, at, (low, Decimal(answer.upper)), made, one, profile)
        except ValueError as reason:
            refusal = refusal or reason
            continue
        certificate = made(ends, verdict.witness)
        if verdict and certificate.digits:
            return certificate
        why = "not a single digit of the answer is proved, which may be zero" if verdict else "its check does not accept it"
        refusal = refusal or NotCertifiedError(f"a certificate was made, but {why}: {verdict}")
    assert refusal is not None, "every attempt ends with a certificate or a refusal"
    raise refusal from None


def _refuse_too_small(number: Decimal) -> None:
    """Raise a NotCertifiedError if a certificate cannot hold a number."""
    decimals = -int(number.as_tuple().exponent)
    if number and (number.adjusted() < _LEAST_EXPONENT or decimals > _MOST_DECIMALS):
        raise NotCertifiedError(
            f"the answer is about {number:.1e}, and certificates hold no number below 1e{_LEAST_EXPONENT}, or of more than "
            f"{_MOST_DECIMALS} decimals: ask at a smaller epsilon"
        )


def refuse_unknown(node: Mapping[str, Any]) -> None:
    """Raise a NotCertifiedError if certificates have no name for a mechanism."""
    name = node["name"]
    if name == COMPOSITION:
        for _, one in node["terms"]:
            refuse_unknown(one)
        return
    if name not in PLACES or kind_of(name).parameters.keys() != node["parameters"].keys():
        raise NotCertifiedError(
            f"certificates do not know a {name} with parameters {', '.join(node['parameters']) or 'none'}, so that nobody can "
            "check one: certify a mechanism that dominates it, such as a Discrete or a GaussianMixture"
        )
    for one in _within(node):
        if one["name"] == "allocation" and name in ("poisson", "subset"):
            raise NotCertifiedError("certificates do not cover samples of random allocation: certify it without the sample")
        refuse_unknown(one)


def is_above(node: Mapping[str, Any]) -> bool:
    """Whether bounds are all that is known of a mechanism, or of one within it."""
    name = node["name"]
    return (name in PLACES and kind_of(name).upper_only) or any(is_above(one) for one in _within(node))


def _within(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a sample, a choice or a composition is of."""
    base = [one for _, one in node["terms"]] if node["name"] == COMPOSITION else node.get("base", [])
    return base if isinstance(base, list) else [base]


def spelled(number: Fraction) -> str:
    """A number as text: a decimal, a double, or a quotient unless that is long."""
    nearest = float(number)
    if number.denominator == 1:
        return str(number)
    if Fraction(repr(nearest)) == number:
        return repr(nearest)
    if Fraction(nearest) == number:
        return f"the double {nearest!r}"
    return str(number) if len(str(number)) <= 20 else f"about {nearest!r}"
