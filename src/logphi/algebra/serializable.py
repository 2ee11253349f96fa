"""How a mechanism is written down: as an expression, as JSON, and as the data of a certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from logphi.text.description import rational
from logphi.text.spelling import python, spelled
from logphi.text.strict_json import mechanism_json, number_to_json


class Serializable(ABC):
    """A value that can be written down: one description for all purposes, in which only numbers are written differently."""

    def __str__(self) -> str:
        """Text from which :func:`logphi.parse` makes this mechanism, with numbers as they were written."""
        return self._text(spelled)

    def __repr__(self) -> str:
        """The expression that makes it in Python, numbers as doubles; defaults are left out."""
        return self._text(python)

    def __format__(self, spec: str) -> str:
        """``str``, in a format for text."""
        return format(str(self), spec)

    def to_json(self) -> str:
        """The mechanism as one line of JSON, from which :func:`logphi.from_json` makes an equal one with the same numbers.

        ``str`` is shorter, and meant for people; it writes a double as its shortest decimal.

        Raises
        ------
        ValueError
            If its parameters are not all numbers: FromDensities, FromLogPhi, FromRenyi, or a class of a user's own.

        Examples
        --------
        >>> import logphi as lp
        >>> print(lp.PureDP(epsilon=2).to_json())
        {"format":"logphi-mechanism","mechanism":{"adjacency":"add_remove","name":"PureDP","parameters":{"epsilon":2.0}},"version":1}
        """
        return mechanism_json(self._data(number_to_json))

    @abstractmethod
    def _text(self, spell: Callable[[Any], str]) -> str:
        """The expression that makes it, in which ``spell`` writes every number, list and class."""

    @abstractmethod
    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        """Name, relation and parameters as plain data; ``write`` turns the name and the value of each parameter into data.

        Raises a ValueError if the mechanism cannot be made again from them.
        """

    @abstractmethod
    def _uncertified(self) -> str:
        """Why there is no certificate for it; empty where there is one."""

    def _node(self) -> dict[str, Any]:
        if why := self._uncertified():
            raise ValueError(why)
        return self._data(rational)
