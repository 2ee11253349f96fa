"""A mechanism that is written as another one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from logphi.algebra.release import Mechanism


class WrittenAs(Mechanism):
    """A mechanism with the text, the data and the certificates of another one."""

    @property
    @abstractmethod
    def _written(self) -> Mechanism:
        """The other one."""

    @property
    def _reveals_all(self) -> bool:
        return self._written._reveals_all

    def _text(self, spell: Callable[[Any], str]) -> str:
        return self._written._text(spell)

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return self._written._data(write)

    def _uncertified(self) -> str:
        return self._written._uncertified()
