"""A certificate of several claims, about one release or several: epsilon, delta, advantage, trade-off and Renyi divergence.

Epsilon and delta are proved here. For a trade-off function or a Renyi divergence, bounds in doubles are proposed, with as many
digits as the checker derives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.certified.certificate import issue, refuse_unknown, spelled
from logphi.certified.form import Witness, made_by, written, written_claim
from logphi.certified.proposal import Check, digits_between, moved, sharpest
from logphi.certified.route import NotCertifiedError
from logphi.engine.directions import Loss, direction_of
from logphi.engine.supporting_lines import ProfileLines
from logphi.engine.tangent import Search, guessed, supremum
from logphi.inputs.tolerance import Tolerance
from logphi.laws.log_phi import LogPhi
from logphi.listed import Listed
from logphi.questions.renyi import renyi
from logphi.questions.tradeoff import lines_demand, tradeoff
from logphi.text.checksum import Saved
from logphi.text.description import DECIMALS, WRITTEN

# at what each quantity is claimed; an advantage needs nothing
_GIVEN = {"epsilon": "delta", "delta": "epsilon", "tradeoff": "type I error", "renyi": "order"}
# chosen: the relative tolerance of the answers in doubles
_RTOL = 1e-12
# chosen: the numbers of digits if the checker cannot derive all claims in its budget
_FEWER = (6, 3)
# derived: the largest epsilon of a line that the checker reads
_FARTHEST = 1e4


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

    Made by ``certify`` of a release, a report, a calibration or an accountant; ``print`` shows what ``logphi verify`` says.

    Attributes
    ----------
    releases
        For each release the relation, and counted mechanisms as plain data: see :meth:`logphi.Mechanism.tree`.
    parameters
        How the numbers were known: ``"as written"``, or ``"floats as their shortest decimals"``.
    claims
        See :class:`logphi.certified.several.CertifiedClaim`.
    made_by, witness
        Versions of the software; and what shows the claims, for those who check them.
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
        return "\n".join(f"certified: {' '.join(self._words(claim))}" for claim in self.claims)

    def _words(self, claim: CertifiedClaim) -> Iterator[str]:
        if claim.lower:
            yield f"{claim.lower} <="
        yield claim.quantity
        if claim.upper is not None:
            yield f"<= {claim.upper}"
        if claim.quantity in _GIVEN:
            yield f"at {_GIVEN[claim.quantity]} = {spelled(claim.at)}"
        if len(self.releases) > 1:
            yield f"of release {claim.release}"


def issue_several(
    asked: Sequence[Asked], *, digits: int, check: Callable[[Any], Check], check_soon: Callable[[Any], Check]
) -> CertifiedClaims:
    """One certificate of all claims that ``check`` accepts, with fewer digits where necessary.

    Raises
    ------
    NotCertifiedError
        If a claim cannot be certified, or all together exceed the budget of a check.
    """
    for one in asked:
        for _, node in one.release.tree:
            refuse_unknown(node)
    verdict: Any = ""
    fewer = [] if all(one.given for one in asked) else [fewer for fewer in _FEWER if fewer < digits]
    for tried in [digits, *fewer]:
        made = bundle([(one.release, _claim(one, tried, check, check_soon)) for one in asked])
        verdict = check(made)
        if verdict:
            return replace(made, witness=verdict.witness)
    raise NotCertifiedError(f"a certificate was made, but its check does not accept it: {verdict}")


def bundle(claims: Sequence[tuple[Described, CertifiedClaim]]) -> CertifiedClaims:
    """One certificate of all claims, in which each release is written once."""
    releases: list[tuple[str, Any]] = []
    placed = []
    for release, claim in claims:
        own = (release.loss.adjacency.value, release.tree)
        if own not in releases:
            releases.append(own)
        placed.append(replace(claim, release=releases.index(own)))
    known = DECIMALS if any(release.manner == DECIMALS for release, _ in claims) else WRITTEN
    return CertifiedClaims(releases, known, placed, made_by())


def _claim(one: Asked, digits: int, check: Callable[[Any], Check], check_soon: Callable[[Any], Check]) -> CertifiedClaim:
    if one.given:
        return CertifiedClaim(one.quantity, one.at, one.direction, one.lower or Fraction(0), one.upper)

    def verdict(claim: CertifiedClaim) -> Check:
        return check_soon(bundle([(one.release, claim)]))

    order = None if one.direction is None else direction_of(one.direction)
    if one.quantity == "renyi":
        return _divergence(one, order, digits, verdict)
    if one.quantity == "tradeoff":
        return _tradeoff(one, order, digits, verdict)
    found = issue(
        one.release.loss,
        one.release.tree,
        one.release.manner,
        quantity="delta" if one.quantity == "advantage" else one.quantity,
        at=one.at,
        direction=one.direction,
        digits=digits,
        check=check,
        check_soon=check_soon,
    )
    return CertifiedClaim(one.quantity, one.at, one.direction, found.lower, found.upper)


Soon = Callable[[CertifiedClaim], Check]


def _divergence(one: Asked, order: Direction | None, digits: int, check: Soon) -> CertifiedClaim:
    found = renyi(one.release.loss, float(one.at), direction=order, rtol=_RTOL)

    def attempt(tried: int) -> tuple[CertifiedClaim, Check] | None:
        ends = _rounded(found, tried)
        if ends is None:
            return None
        claim = CertifiedClaim("renyi", one.at, one.direction, *ends)
        return claim, check(claim)

    def reached(claim: CertifiedClaim, derived: tuple[Fraction, Fraction]) -> int:
        return digits_between(
            moved((Fraction(claim.lower), Fraction(claim.upper or 0)), derived, one.at, None), Fraction(found.value)
        )

    made = sharpest(digits, attempt, reached)
    if made is None:
        raise NotCertifiedError(
            "the checker of certificates cannot derive a single digit of this divergence: it is infinite or zero, or the "
            "moments of a law are not known to it"
        )
    return made[0]


def _tradeoff(one: Asked, order: Direction | None, digits: int, check: Soon) -> CertifiedClaim:
    alpha = float(one.at)
    found = tradeoff(one.release.loss, alpha, direction=order, rtol=_RTOL)
    orders = one.release.loss.orders(order)
    best = {name: _best_line(part, alpha) for name, part in orders}

    def attempt(tried: int) -> tuple[CertifiedClaim, Check] | None:
        ends, made = _rounded(found, tried, most=Decimal(1)), None
        if ends is None:
            return None
        # the error of chords is of second order in the distance where the curve is smooth, and of first order at a kink
        for power in (tried / 2, tried + 1):
            lines = {
                key: _around(*best[name], power if found.direction in (name, Direction.BOTH, None) else None)
                for name, _ in orders
                for key in (("remove", "add") if name is Direction.BOTH else (name.value,))
            }
            claim = CertifiedClaim("tradeoff", one.at, one.direction, *ends, lines=lines)
            made = claim, check(claim)
            if made[1]:
                break
        return made

    # with fewer digits lines are farther apart, so that what was derived with others says little
    made = sharpest(digits, attempt)
    if made is None:
        raise NotCertifiedError("the checker of certificates cannot derive a single digit of this type II error")
    return made[0]


def _best_line(part: LogPhi, alpha: float) -> tuple[float, float]:
    """An estimate of the epsilon of the best line, and of the scale on which it changes; no proof rests on it."""
    guess = guessed(part, alpha, 0.0)
    search = Search(ProfileLines(part, alpha, lines_demand(Tolerance(_RTOL, _RTOL))), guess)
    return supremum(search, _RTOL).at, guess.scale


def _around(place: float, scale: float, power: float | None) -> list[str]:
    """Three lines around a place, ``scale`` * 10^-power apart; or one line, without a power."""
    if not abs(place) < _FARTHEST:
        raise NotCertifiedError("the slopes of lines below this trade-off function are too large for a certificate")
    if power is None:
        return [_line(place)]
    step = scale * 10**-power
    return [_line(place - step), _line(place), _line(place + step)]


def _line(place: float) -> str:
    return str(Fraction(repr(place)))


def _rounded(found: Bound, digits: int, most: Decimal | None = None) -> tuple[Decimal, Decimal] | None:
    """Decimals around an answer, as far apart as the digits allow; None if its bounds are too wide."""
    if not 0 < found.lower <= found.upper < math.inf:
        return None
    room = Fraction(found.value) / 10**digits * Fraction(9, 20)
    down, up = (Context(prec=digits + 3, rounding=rounding) for rounding in (ROUND_FLOOR, ROUND_CEILING))
    low, high = Fraction(found.value) - room, Fraction(found.value) + room
    lower, upper = (
        context.divide(Decimal(end.numerator), Decimal(end.denominator)) for context, end in ((down, low), (up, high))
    )
    if not Fraction(lower) <= Fraction(found.lower) <= Fraction(found.upper) <= Fraction(upper):
        return None
    return lower, upper if most is None else min(upper, most)
