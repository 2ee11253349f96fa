"""The form of certificates: releases, and claims about them, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

import flint

from logphi.checker.text.reading import NOT_COVERED
from logphi.text.checksum import with_checksum

FORMAT, VERSION = "logphi-certificate", 3


@dataclass(frozen=True)
class Witness:
    """What shows the claims, for those who check them: tangents of each release, and for each claim a proof of each order."""

    hulls: Sequence[Sequence[Sequence[str]]] = ()
    proofs: Sequence[Mapping[str, Sequence[Any]]] = ()


def written_claim(
    quantity: str,
    at: Fraction,
    direction: str | None,
    lower: Decimal | Fraction,
    upper: Decimal | Fraction | None,
    release: int = 0,
    lines: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """A claim as plain data for JSON."""
    return {
        "quantity": quantity,
        "at": str(at),
        "direction": direction,
        "lower": str(lower).lower(),
        "upper": None if upper is None else str(upper).lower(),
        "release": release,
        "lines": dict(lines),
    }


def written(
    releases: Sequence[tuple[str, Sequence[tuple[int, Mapping[str, Any]]]]],
    parameters: str,
    claims: Sequence[dict[str, Any]],
    software: Mapping[str, str],
    witness: Witness,
) -> str:
    """Claims about releases, each a relation and counted mechanisms, as the text of a certificate."""
    hulls, proofs = witness.hulls or [[]] * len(releases), witness.proofs or [{}] * len(claims)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "made_by": software,
        "releases": [
            {"adjacency": relation, "mechanism": mechanism, "hulls": own}
            for (relation, mechanism), own in zip(releases, hulls, strict=True)
        ],
        "parameters": parameters,
        "claims": [{**claim, "proof": dict(proof)} for claim, proof in zip(claims, proofs, strict=True)],
        "not_covered": NOT_COVERED,
    }
    return with_checksum(content)


def made_by() -> dict[str, str]:
    """Versions of the software."""
    return {"logphi": version("logphi"), "python-flint": flint.__version__, "flint": flint.__FLINT_VERSION__}
