"""Plain data as JSON text of one form, with a digest by which damage is noticed. It is no signature."""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import version
from typing import Any, NoReturn

from logphi.description import canonical

VERSION = 1
# counts have up to 301 digits
_LONGEST_WHOLE = 400


def sealed(kind: str, content: dict[str, Any]) -> str:
    """The text: the same bytes for the same content; ASCII, ends in a line break."""
    whole = {"format": kind, "version": VERSION, "made_by": {"logphi": version("logphi")}, **content}
    whole["sha256"] = _digest(whole)
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def unsealed(kind: str, text: str) -> dict[str, Any]:
    """The content of a text of this kind.

    Raises
    ------
    TypeError
        If it is no string.
    ValueError
        If it is not such a text, of another version, or not as it was written; always one line.
    """
    if not isinstance(text, str):
        raise TypeError(f"the JSON must be a string, got {type(text).__name__}; use load(path) for a file")
    try:
        whole = json.loads(text, object_pairs_hook=_unique, parse_int=_whole, parse_constant=_constant)
    except RecursionError:
        raise ValueError(f"no {kind}: nested too deeply") from None
    except ValueError as wrong:
        raise ValueError(f"no {kind}: {wrong}") from None
    if not isinstance(whole, dict) or whole.get("format") != kind:
        raise ValueError(f"no {kind}: its JSON must be an object whose format is {kind!r}")
    if whole.get("version") != VERSION:
        raise ValueError(f"version {str(whole.get('version'))[:20]} of a {kind} is not known here, only {VERSION}")
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


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # readers differ in which of two they take
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST_WHOLE:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
