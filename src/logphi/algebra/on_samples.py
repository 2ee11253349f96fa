"""A mechanism on randomly drawn records: what Poisson samples, subsets and batches share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, ClassVar

from logphi.algebra.release import Mechanism, Primitive
from logphi.text.description import node, numbers_in


class OnSamples(Primitive):
    """A mechanism, the base, on samples or batches; each subclass is one way to draw them."""

    base: Mechanism
    # the name of the method that makes it
    _operation: ClassVar[str]

    @abstractmethod
    def _drawn(self) -> dict[str, Any]:
        """The arguments of that method, by name."""

    def _parts(self) -> tuple[Mechanism, ...]:
        return (self.base,)

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        return node(self._operation, self.adjacency.value, self._drawn(), write, self.base._data(write))

    def _numbers(self) -> Iterator[float]:
        return chain(numbers_in(self._drawn().values()), self.base._numbers())

    def _uncertified(self) -> str:
        return self.base._uncertified()
