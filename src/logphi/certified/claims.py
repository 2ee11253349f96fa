"""What is asked of a certificate, and a certificate of several claims, about one release or several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from logphi.certified.certificate import spelled, what_is_released
from logphi.certified.form import Witness, written, written_claim
from logphi.engine.directions import Loss
from logphi.listed import Listed
from logphi.text.checksum import Saved

# the quantities in words, and at what each is claimed; an advantage needs nothing
_NAMES = {"tradeoff": "type II error", "renyi": "Renyi divergence", "advantage": "membership advantage"}
_GIVEN = {"epsilon": "delta", "delta": "epsilon", "tradeoff": "type I error", "renyi": "order"}


class Known(Enum):
    """What is known of a release: its law, laws that it lies between, or upper bounds alone."""

    LAW = "law"
    BRACKET = "bracket"
    ABOVE = "above"


@dataclass(frozen=True)
class Described:
    """A release as certificates write it: its loss, its counted mechanisms, and how their numbers are known.

    Where only bounds are ``known``, the loss is that of a release that dominates it.
    """

    loss: Loss
    tree: Sequence[tuple[int, Mapping[str, Any]]]
    manner: str
    known: Known


@dataclass(frozen=True)
class Asked:
    """A claim to be made about a release, or one whose ends are given."""

    release: Described
    quantity: str
    at: Fraction
    direction: str | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None

    @property
    def given(self) -> bool:
        """Whether an end is given."""
        return self.lower is not None or self.upper is not None


@dataclass(frozen=True)
class CertifiedClaim:
    """One claim, ``lower`` <= ``quantity`` <= ``upper``, about the release at an index; None leaves an end open.

    For epsilon it says that delta(lower) > at >= delta(upper). The proof for a trade-off function rests on ``lines``: for each
    order, the logarithms of the slopes of lines below it.
    """

    quantity: str
    at: Fraction
    direction: str | None
    lower: Decimal | Fraction
    upper: Decimal | Fraction | None
    release: int = 0
    lines: Mapping[str, Sequence[str]] = field(default_factory=dict, repr=False)

    def data(self) -> dict[str, Any]:
        """As plain data for JSON."""
        return written_claim(
            self.quantity, self.at, self.direction, self.lower, self.upper, release=self.release, lines=self.lines
        )


@dataclass(frozen=True)
class CertifiedClaims(Saved, Listed):
    """Claims about one or several releases in one file, all proved by one check that shares work between them.

    Made by ``certify`` of a release, a report, a calibration or an accountant; ``print`` shows the claims and the releases.

    Attributes
    ----------
    releases
        For each release the relation, and counted mechanisms as plain data: see :meth:`logphi.Mechanism.tree`.
    parameters
        How the numbers were known: ``"as written"``, or ``"floats as their shortest decimals"``.
    claims
        See :class:`logphi.certified.claims.CertifiedClaim`.
    made_by
        Versions of the software.
    witness
        What shows the claims, for those who check them.
    """

    releases: Sequence[tuple[str, Sequence[tuple[int, Mapping[str, Any]]]]]
    parameters: str
    claims: Sequence[CertifiedClaim]
    made_by: Mapping[str, str] = field(repr=False)
    witness: Witness = field(default=Witness(), repr=False)

    def to_json(self) -> str:
        """The certificate as JSON, the same bytes for the same certificate; ASCII, ends in a line break."""
        return written(self.releases, self.parameters, [claim.data() for claim in self.claims], self.made_by, self.witness)

    def __str__(self) -> str:
        claims = [f"certified: {' '.join(self._words(claim))}" for claim in self.claims]
        number = len(self.releases) > 1
        for place, (relation, mechanism) in enumerate(self.releases):
            which = f"release {place}: " if number else ""
            claims.append(f"  {which}{what_is_released(relation, self.parameters, mechanism)}")
        return "\n".join(claims)

    def _words(self, claim: CertifiedClaim) -> Iterator[str]:
        if claim.lower:
            yield f"{claim.lower} <="
        yield _NAMES.get(claim.quantity, claim.quantity)
        if claim.upper is not None:
            yield f"<= {claim.upper}"
        if claim.quantity in _GIVEN:
            yield f"at {_GIVEN[claim.quantity]} = {spelled(claim.at)}"
        if claim.direction:
            yield f"in direction {claim.direction}"
        if len(self.releases) > 1:
            yield f"of release {claim.release}"
