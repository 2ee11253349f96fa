"""JSON with a checksum of its content, which shows damage; it is no signature."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from logphi.text.description import canonical


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, the same for the same content."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def with_checksum(content: Mapping[str, Any]) -> str:
    """Plain data with their checksum as JSON: the same bytes for the same content; ASCII, ends in a line break."""
    whole = {**content, "sha256": checksum(content)}
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"
