"""Values that are determined by the arguments of their constructor: how these are stored, and written down."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from logphi.inputs.adjacency import Adjacency
from logphi.text.description import node, normalised, numbers_in
from logphi.text.spelling import is_foreign
from logphi.text.written import exactly


class Constructed:
    """A frozen dataclass whose fields are the arguments of its constructor, an ``adjacency`` among them."""

    adjacency: Adjacency

    # arguments that are kept under another name, as theirs is that of a question
    _stored: ClassVar[dict[str, str]] = {}
    # arguments that are vectors of probabilities, which must sum to one
    _distributions: ClassVar[tuple[str, ...]] = ()

    def _text(self, spell: Callable[[Any], str]) -> str:
        """The constructor call; defaults are left out."""
        defaults = {name: one.default for name, one in self._signature()}
        shown = [
            f"{name}={spell(value.value if isinstance(value, Adjacency) else value)}"
            for name, value in self._given().items()
            if exactly(value) != exactly(defaults[name])
        ]
        return f"{spell(type(self))}({', '.join(shown)})"

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        name = type(self).__name__
        if is_foreign(type(self)):
            raise ValueError(
                f"a {name} cannot be written down: it is not in the catalogue, so that it cannot be rebuilt from its "
                "parameters; write down a mechanism that dominates it, or pickle it"
            )
        given = self._given()
        return node(name, given.pop("adjacency").value, given, write)

    def _numbers(self) -> Iterator[float]:
        given = self._given()
        for name in self._distributions:
            normalised(f"{name} of a {type(self).__name__}", given[name])
        return numbers_in(given.values())

    def _given(self) -> dict[str, Any]:
        return {name: getattr(self, self._stored.get(name, name)) for name, _ in self._signature()}

    @classmethod
    def _signature(cls) -> list[tuple[str, inspect.Parameter]]:
        """The parameters of the constructor; Python 3.10 takes those of ``__new__`` for the signature of some subclasses."""
        return list(inspect.signature(cls.__init__).parameters.items())[1:]

    def _settle(self, **values: Any) -> None:
        """Store checked parameters; a frozen dataclass is written to only while it is made."""
        adjacency = Adjacency.of(values.pop("adjacency", None) or self.adjacency)
        for name, value in {**values, "adjacency": adjacency}.items():
            object.__setattr__(self, name, value)
