"""JSON with a checksum of its content, which reveals damage; it is not a signature."""

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
    """Plain data with their checksum as JSON: the same bytes for the same content, in ASCII, with a final line break."""
    whole = {**content, "sha256": checksum(content)}
    return json.dumps(whole, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False) + "\n"


class Saved:
    """A value that is saved as JSON with a checksum."""

    @abstractmethod
    def to_json(self) -> str:
        """The value as JSON in ASCII."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the object to a file, which holds the old content or all of the new one even after a crash.

        Parameters
        ----------
        path
            The file; an existing one is replaced.

        Raises
        ------
        OSError
            If the file cannot be written.
        ValueError
            As :meth:`to_json`.
        """
        write_whole(path, self.to_json().encode("ascii"))
