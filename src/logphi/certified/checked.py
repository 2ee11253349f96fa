"""Certificates with the proofs that the checker asks for, and its verdict on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.certified.form import Witness
from logphi.certified.witness.proofs import proved
from logphi.text.checksum import Saved, with_checksum


@dataclass(frozen=True)
class Checked:
    """A verdict, printed as its reason, or as why no proof was found; and the proofs."""

    verdict: Any
    reason: str
    witness: Witness

    @property
    def derived(self) -> tuple[Fraction, Fraction] | None:
        """What was derived of the last claim."""
        found: tuple[Fraction, Fraction] | None = self.verdict.derived
        return found

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def __str__(self) -> str:
        return self.reason or str(self.verdict)


def check(certificate: Saved, verify: Callable[..., Any], work: float) -> Checked:
    """Search for the proofs of a certificate, and have it verified with these, each within a budget."""
    content, reason = proved(json.loads(certificate.to_json()), work)
    witness = Witness([one["hulls"] for one in content["releases"]], [one["proof"] for one in content["claims"]])
    return Checked(
        verify(with_checksum({key: one for key, one in content.items() if key != "sha256"}), work=work), reason, witness
    )
