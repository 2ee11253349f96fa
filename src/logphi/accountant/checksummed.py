"""Plain data as JSON text of one form, with a digest by which damage is noticed. It is no signature."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any

from logphi.description import canonical
from logphi.strict_json import VERSION, json_object


def checksummed(kind: str, content: dict[str, Any]) -> str:
    """The text: the same bytes for the same content; ASCII, ends in a line break."""
    whole = {"format": kind, "version": VERSION, "made_by": {"logphi": version("logphi")}, **content}
    whole["sha256"] = _digest(whole)
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def verified(kind: str, text: str) -> dict[str, Any]:
    """The content of a text of this kind.

    Raises
    ------
    TypeError
        If it is no string.
    ValueError
        If it is not such a text, of another version, or not as it was written; always one line.
    """
    whole = json_object(kind, text)
    digest = whole.pop("sha256", None)
    try:
        right = digest == _digest(whole)
    except (RecursionError, ValueError):
        right = False
    if not right:
        raise ValueError(f"the {kind} is not as it was written, as its digest does not fit: take an undamaged copy")
    return {name: value for name, value in whole.items() if name not in ("format", "version", "made_by")}


def _digest(whole: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(whole).encode("ascii")).hexdigest()
