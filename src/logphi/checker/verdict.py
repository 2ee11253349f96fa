"""The verdict: whether the claim of a certificate follows from the mechanism that it names."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from logphi.checker import profile
from logphi.checker.balls import ball, precision
from logphi.checker.law import Terms
from logphi.checker.laws import terms
from logphi.checker.reading import LARGEST_TEXT, Certificate, Claim, NotACertificate, read
from logphi.checker.witness import check_witness
from logphi.checker.work import LARGEST_WORK, Undecided, budget

# derived: digits beside those of the claim, doubled in each attempt until the balls decide
SPARE = 4
ATTEMPTS = 4
# chosen: precision of what is computed before an error goal is set
BITS = 64


class Issued(Protocol):
    """A certificate as it was made."""

    def to_json(self) -> str:
        """Its text."""


@dataclass(frozen=True)
class Verdict:
    """Status 0: the claim follows; 1: it does not; 2: there is no claim, the text is not a certificate. And why."""

    status: int
    reason: str

    def __bool__(self) -> bool:
        """Whether the claim follows: a refusal must not pass for a yes."""
        return self.status == 0

    def __str__(self) -> str:
        """The reason."""
        return self.reason


class _Fails(Exception):
    """The claim is wrong at every precision, for this reason."""


def verify_file(path: str | os.PathLike[str], *, work: float = LARGEST_WORK) -> Verdict:
    """The verdict on a file; an OSError if it cannot be read."""
    with open(path, "rb") as file:
        return verify(file.read(LARGEST_TEXT + 1), work=work)


def verify(certificate: Issued | os.PathLike[str] | str | bytes | Mapping[str, Any], *, work: float = LARGEST_WORK) -> Verdict:
    """The verdict on a certificate: true if its claim follows, printed as the reason.

    The claim is derived anew from the mechanism alone, by code that shares none with what made the certificate.

    Parameters
    ----------
    certificate
        What ``certify`` returned, its text, the ``pathlib.Path`` of a file, or what ``json.load`` makes of one.
    work
        The budget: the most that is done, in multiplications of short complex balls. It is kept whatever the text holds: a
        step that does not fit is not begun, and the claim then does not follow. A second holds about ten million.

    Returns
    -------
    Verdict
        Its ``status`` is 0 if the claim follows, 1 if it does not, 2 if this is no certificate; its ``reason`` says why.

    Raises
    ------
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import logphi as lp
    >>> certificate = lp.Laplace(scale=2).certify(epsilon=0.1, digits=6)
    >>> print(verify(certificate))
    the claim follows: delta at 1/10 lies within its bounds, to 6 digits
    >>> verify(certificate.to_json().replace('"1/10"', '"1/20"')).status, verify("{}").status
    (1, 2)
    """
    if isinstance(certificate, os.PathLike):
        return verify_file(certificate, work=work)
    source: Any = certificate
    if hasattr(certificate, "to_json"):
        source = certificate.to_json()
    try:
        read_one = read(source)
        signed = read_one.digest_agrees()
    except NotACertificate as wrong:
        hint = "; for a file, pass its pathlib.Path" if isinstance(source, str) and "{" not in source else ""
        return Verdict(2, f"not a certificate: {wrong}{hint}")
    except RecursionError:
        return Verdict(2, "not a certificate: the text is nested too deeply")
    try:
        with precision(BITS), budget(work):  # the lock of FLINT is held for the whole check
            _check(read_one)
    except (_Fails, Undecided) as why:
        return Verdict(1, f"the claim does not follow: {why}")
    except (ArithmeticError, ValueError):
        return Verdict(1, "the claim does not follow: its numbers are too large or too small for this checker")
    if not signed:
        return Verdict(1, "the claim follows, but the digest is not that of the text: something else was altered")
    claim = read_one.claim
    return Verdict(0, f"the claim follows: {claim.quantity} at {claim.at} lies within its bounds, to {claim.digits} digits")


def _check(certificate: Certificate) -> None:
    claim = certificate.claim
    size = max(claim.upper, Fraction(1)) if claim.quantity == "epsilon" else claim.upper
    if claim.upper - claim.lower > size / Fraction(10) ** claim.digits:
        raise _Fails("the bounds are farther apart than the digits say")
    orders = _orders(certificate)
    there = terms(certificate.terms)
    symmetric = all(law.symmetric for law, _ in there)
    laws: dict[str, Terms] = {"remove": there, "add": [(law.reversed(), count) for law, count in there]}
    points = [claim.lower, claim.upper] if claim.quantity == "epsilon" else [claim.at]
    # the size of the delta in question; for a claim of zero, 1e-400
    scale = max(claim.at if claim.quantity == "epsilon" else claim.upper, Fraction(1, 10**400))
    for attempt in range(ATTEMPTS):
        goal = math.log(scale.numerator) - math.log(scale.denominator)
        goal -= (claim.digits + SPARE) * 2**attempt * math.log(10)
        found: dict[str, list[Any]] = {}
        for order in orders:
            known = symmetric and found
            found[order] = found[orders[0]] if known else profile.delta(laws[order], points, goal)
        with precision(int(-goal / math.log(2)) + 64):
            if _settled(claim, found):
                break
    else:
        raise Undecided("it cannot be decided at the precision of this checker")
    check_witness(certificate, {order: laws[order] for order in orders})


def _orders(certificate: Certificate) -> list[str]:
    """The directions, the larger answer of which is claimed."""
    if certificate.adjacency in ("add", "remove"):
        return [certificate.adjacency]
    return ["remove", "add"] if certificate.claim.direction is None else [certificate.claim.direction]


def _settled(claim: Claim, found: Mapping[str, list[Any]]) -> bool:
    """Whether the balls prove the whole claim; a :class:`_Fails` if they disprove a part of it."""
    # delta at the upper end must be at most ``most`` in all orders, and at the lower end reach ``least`` in some order
    most, least = (claim.at, claim.at) if claim.quantity == "epsilon" else (claim.upper, claim.lower)
    sure = True
    for order, deltas in found.items():
        if deltas[-1] > ball(most):
            end = "the upper epsilon" if claim.quantity == "epsilon" else "the epsilon asked for"
            raise _Fails(f"in the direction {order}, delta at {end} exceeds {float(most):.6g}")
        sure = sure and bool(deltas[-1] <= ball(most))
    reaching = {order: _reaches(claim, deltas[0], ball(least)) for order, deltas in found.items()}
    if all(reaches is False for reaches in reaching.values()):
        raise _Fails("the lower bound is too large: delta is smaller there in every direction")
    return sure and _attained(claim, found, reaching)


def _reaches(claim: Claim, delta: Any, least: Any) -> bool | None:
    """Whether the answer of an order is at least the lower bound; None if the ball does not decide."""
    if claim.lower == 0:
        return True
    strict = claim.quantity == "epsilon"
    if delta > least or (not strict and delta >= least):
        return True
    return False if delta < least or (strict and delta <= least) else None


def _attained(claim: Claim, found: Mapping[str, list[Any]], reaching: Mapping[str, bool | None]) -> bool:
    """Whether the named order attains the larger answer; for both, neither answer may be below the lower bound."""
    if len(found) == 1:
        if claim.attained not in found:
            raise _Fails(f"attained names {claim.attained}, which is not the direction of the claim")
        return reaching[claim.attained] is True
    if claim.attained == "both":
        for order, reaches in reaching.items():
            if reaches is False:
                raise _Fails(f"the direction {order} does not attain the answer")
        return all(reaching.values())
    (other,) = set(found) - {claim.attained}
    mine, theirs = found[claim.attained][0], found[other][0]
    if reaching[claim.attained] is False or mine < theirs:
        raise _Fails(f"the direction {claim.attained} does not attain the answer, the other does")
    return reaching[claim.attained] is True and (reaching[other] is False or bool(mine > theirs))
