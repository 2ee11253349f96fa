"""Certificates with the proofs that the checker asks for, and its verdict on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.certified.form import Witness
from logphi.certified.witness.proofs import proved
from logphi.text.checksum import with_checksum


@dataclass(frozen=True)
class Checked:
    """Whether the checker accepts a certificate, and why it does not; what was derived of the last claim, and the proofs."""

    accepted: bool
    reason: str
    derived: tuple[Fraction, Fraction] | None
    witness: Witness

    def __bool__(self) -> bool:
        return self.accepted

    def __str__(self) -> str:
        return self.reason


def check(certificate: Any, verify: Callable[..., Any], work: float) -> Checked:
    """The verdict on a certificate with its proofs, or with those that are found, each within a budget."""
    content, witness = json.loads(certificate.to_json()), certificate.witness
    if not witness.proofs:
        content, reason, derived = proved(content, work)
        witness = Witness([one["hulls"] for one in content["releases"]], [one["proof"] for one in content["claims"]])
        if reason:
            return Checked(False, reason, derived, witness)
    verdict = verify(with_checksum({key: one for key, one in content.items() if key != "sha256"}), work=work)
    return Checked(bool(verdict), str(verdict), verdict.derived, witness)
