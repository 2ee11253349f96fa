"""Certificates of one claim written by hand."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from logphi.checker.text.reading import NOT_COVERED
from proven import proven


def node(name: str, base: Any = None, adjacency: str = "add_remove", **parameters: Any) -> dict[str, Any]:
    """A mechanism, or a sample or a choice of a base, as certificates write it."""
    own = {"name": name, "adjacency": adjacency, "parameters": parameters}
    return own if base is None else {**own, "base": base}


def signed(*mechanism: Any, at: str, lower: float, upper: float, adjacency: str = "add_remove") -> str:
    """A certificate that delta at an epsilon of counted nodes lies between two ends, with the proof that is found."""
    claim: dict[str, Any] = {"quantity": "delta", "at": at, "direction": None, "release": 0, "lines": {}, "proof": {}}
    body = {
        "format": "logphi-certificate",
        "version": 3,
        "made_by": {},
        "releases": [{"adjacency": adjacency, "mechanism": [list(one) for one in mechanism], "hulls": []}],
        "parameters": "as written",
        "claims": [{**claim, "lower": f"{max(lower, 0):.13f}", "upper": f"{upper:.13f}"}],
        "not_covered": list(NOT_COVERED),
    }
    return proven(body)


def sealed(content: Mapping[str, Any]) -> str:
    """The text with the digest of all else."""
    rest = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return json.dumps({**rest, "sha256": hashlib.sha256(text.encode()).hexdigest()})
