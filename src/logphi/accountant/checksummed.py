"""Accountants and budgets in files: JSON in a fixed form, with a checksum, which is not a signature."""

from __future__ import annotations

import os
from abc import abstractmethod
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from logphi.listed import Listed
from logphi.text.checksum import Saved, checksum, with_checksum
from logphi.text.strict_json import VERSION, json_object

if TYPE_CHECKING:
    from typing_extensions import Self


class Checksummed(Saved, Listed):
    """An object kept as checksummed JSON; a subclass names its ``_format`` and converts itself to plain data and back."""

    _unlisted = frozenset({"content", "of_content"})
    _format: ClassVar[str]

    @abstractmethod
    def content(self) -> dict[str, Any]:
        """The content as plain data; raises as :meth:`to_json`."""

    @classmethod
    @abstractmethod
    def of_content(cls, data: Any) -> Self:
        """The object in plain data; a ValueError if they describe none."""

    def to_json(self) -> str:
        """The object as JSON with exact numbers: the same bytes for the same content, in ASCII, with a final line break.

        Raises
        ------
        ValueError
            If a mechanism cannot be made again from numbers: FromDensities, FromLogPhi, or a class of a user's own.
        """
        kind = {"format": self._format, "version": VERSION, "made_by": {"logphi": version("logphi")}}
        return with_checksum({**kind, **self.content()})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The object that :meth:`to_json` wrote: its answers are the same to the last bit, its certificates to the last byte.

        Parameters
        ----------
        text
            The text that :meth:`to_json` gave, unchanged.

        Returns
        -------
        Accountant or PrivacyFilter
            An object in the same state.

        Raises
        ------
        TypeError
            If the text is no string.
        ValueError
            If it is not such JSON, of another version, or was changed; always one line.

        Examples
        --------
        >>> import logphi as lp
        >>> accountant = lp.Accountant()
        >>> accountant.step(lp.Laplace(scale=5), count=2)
        >>> lp.Accountant.from_json(accountant.to_json())
        <Accountant: 2 releases, 1 distinct>
        """
        whole = json_object(cls._format, text)
        written = whole.pop("sha256", None)
        try:
            unchanged = written == checksum(whole)
        except (RecursionError, ValueError):
            unchanged = False
        if not unchanged:
            raise ValueError(
                f"the {cls._format} was changed after it was written, as its digest does not match: use an undamaged copy"
            )
        return cls.of_content({name: value for name, value in whole.items() if name not in ("format", "version", "made_by")})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The object that :meth:`save` wrote to a file.

        Parameters
        ----------
        path
            The file.

        Returns
        -------
        Accountant or PrivacyFilter
            An object in the same state.

        Raises
        ------
        OSError
            If there is no such file, or it cannot be read.
        ValueError
            As :meth:`from_json`.

        Examples
        --------
        >>> import logphi as lp
        >>> import tempfile
        >>> budget = lp.PrivacyFilter(epsilon=1, delta=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     budget.save(f"{folder}/budget.json")
        ...     lp.PrivacyFilter.load(f"{folder}/budget.json").can_spend(lp.PureDP(1))
        True
        """
        # bytes that are not text fail the checksum
        return cls.from_json(Path(path).read_text(encoding="utf-8", errors="replace"))
