"""JSON with a checksum of its content, which shows damage; it is no signature."""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from logphi.text.description import canonical
from logphi.text.files import write_whole


def checksum(content: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, the same for the same content."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


def with_checksum(content: Mapping[str, Any]) -> str:
    """Plain data with their checksum as JSON: the same bytes for the same content; ASCII, ends in a line break."""
    whole = {**content, "sha256": checksum(content)}
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


class Saved:
    """What is kept as JSON with a checksum."""

    @abstractmethod
    def to_json(self) -> str:
        """All of it, in ASCII."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, which has the old content or all of the new one at any time.

        Parameters
        ----------
        path
            Where; a file that is there is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            As :meth:`to_json`.
        """
        write_whole(path, self.to_json().encode("ascii"))
