"""The verdict: whether the claim of a certificate follows from the mechanism that it names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from logphi.checker.arithmetic.balls import precision
from logphi.checker.arithmetic.work import LARGEST_WORK, OUT_OF_RANGE, Undecided, budget
from logphi.checker.claims import Fails, check_claim
from logphi.checker.entries import NotACertificate
from logphi.checker.releases import ReleaseLaws
from logphi.checker.text.reading import LARGEST_TEXT, Certificate, read
from logphi.checker.text.words import words

# chosen: the precision in force until a claim sets its own
BITS = 64


class Issued(Protocol):
    """A certificate that ``certify`` returned."""

    def to_json(self) -> str:
        """The text of the certificate."""


@dataclass(frozen=True)
class Verdict:
    """Status 0: the claims follow; 1: one does not; 2: the text is not a certificate; with the reason.

    ``claims`` says in words what follows. ``derived`` is what was enclosed for the last claim that was checked: a lower bound
    at its lower end, and an upper bound at its upper end; for an epsilon, bounds of delta there.
    """

    status: int
    reason: str
    claims: tuple[str, ...] = ()
    derived: tuple[Fraction, Fraction] | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Whether the claim follows; a refusal must not count as true."""
        return self.status == 0

    def __str__(self) -> str:
        """The reason, followed by the claims."""
        return "\n".join([self.reason, *self.claims])


def verify_file(path: str | os.PathLike[str], *, work: float = LARGEST_WORK) -> Verdict:
    """The verdict on a file; an OSError if it cannot be read."""
    with open(path, "rb") as file:
        return verify(file.read(LARGEST_TEXT + 1), work=work)


def verify(certificate: Issued | os.PathLike[str] | str | bytes | Mapping[str, Any], *, work: float = LARGEST_WORK) -> Verdict:
    """The verdict on a certificate: true if its claims follow, printed as the reason and these claims.

    They are proved again from the mechanisms, by code that imports nothing of the code that made the certificate.

    Parameters
    ----------
    certificate
        What ``certify`` returned, its text, the ``pathlib.Path`` of a file, or what ``json.load`` reads from one.
    work
        The budget, in multiplications of short complex balls, of which a second holds about ten million. It is never exceeded:
        a step that does not fit is not begun, and the claim then does not follow.

    Returns
    -------
    Verdict
        Its ``status`` is 0 if the claims follow, 1 if one does not, 2 if this is no certificate; its ``reason`` says why.

    Raises
    ------
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import logphi as lp
    >>> certificate = lp.Laplace(scale=2).certify(epsilon=0.1, digits=6)
    >>> print(verify(certificate))
    the claim follows:
    of Laplace(scale=2, sensitivity=1), under add_remove:
      delta at epsilon = 0.1: at most 0.18126926 and at least 0.18126923
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
        is_path = isinstance(source, str) and "{" not in source
        hint = "for a file, pass its pathlib.Path" if is_path else "certify makes certificates"
        return Verdict(2, f"not a certificate: {wrong}; {hint}")
    except RecursionError:
        return Verdict(2, "not a certificate: the text is nested too deeply")
    count = len(read_one.claims)
    with precision(BITS), budget(work):  # the lock of FLINT is held for the whole check
        place, reason, derived = _refuted(read_one)
    if reason:
        return Verdict(
            1, f"{f'claim {place} of {count}' if count > 1 else 'the claim'} does not follow: {reason}", derived=derived
        )
    follow = f"{'both' if count == 2 else f'all {count}'} claims follow" if count > 1 else "the claim follows"
    if not signed:
        return Verdict(1, f"{follow}, but the digest is not that of the text, which was altered")
    return Verdict(0, f"{follow}:", tuple(words(read_one)), derived)


def _refuted(certificate: Certificate) -> tuple[int, str, tuple[Fraction, Fraction] | None]:
    """The number of the first claim that does not follow, and why, or no reason; and what was derived of the last claim."""
    place, reason, release = 1, "", None
    try:
        releases = [ReleaseLaws(release) for release in certificate.releases]
        for place, claim in enumerate(certificate.claims, 1):  # noqa: B007
            release = releases[claim.release]
            check_claim(claim, release)
    except (Fails, Undecided) as why:
        reason = str(why)
    except (ArithmeticError, ValueError):
        reason = OUT_OF_RANGE
    return place, reason, release.derived if release else None
