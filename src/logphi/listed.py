"""Classes that list only the names a user needs, in ``dir``, in the completion of an editor or a notebook, and in ``help``."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Iterable, Iterator
from typing import ClassVar


class _Listing(ABCMeta):
    """The metaclass: ``dir`` of its classes leaves out names with an underscore, operators included, and hidden names."""

    def __dir__(cls) -> list[str]:
        return list(_shown(super().__dir__(), getattr(cls, "_unlisted", frozenset())))


class Listed(metaclass=_Listing):
    """A class that lists its public names, without the hidden ones that only subclasses use."""

    _unlisted: ClassVar[frozenset[str]] = frozenset()

    def __dir__(self) -> list[str]:
        return list(_shown(super().__dir__(), self._unlisted))


def _shown(names: Iterable[str], hidden: frozenset[str]) -> Iterator[str]:
    return (name for name in names if not name.startswith("_") and name not in hidden)
