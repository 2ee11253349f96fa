"""The types of arguments of mechanisms and questions, as editors and type checkers see them.

Nothing else is accepted at run time. A field of a mechanism has two types: that of the values it accepts, and that of the value
it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bound
from logphi.answers.status import Direction
from logphi.inputs.adjacency import Adjacency, AdjacencyLike


class Array(Protocol):
    """An array of NumPy, a column of pandas, and any other object that converts to an array."""

    def __array__(self) -> NDArray[Any]:
        """The elements."""
        ...

    def __len__(self) -> int:
        """The number of elements along the first axis."""
        ...


class Symbolic(Protocol):
    """An expression of SymPy."""

    @property
    def free_symbols(self) -> Any:
        """The symbols in it."""
        ...


# one number; where an integer is needed, 100.0 is one
Scalar = float | Fraction | Decimal | np.floating[Any] | np.integer[Any]
# a parameter of a mechanism, and a list of them
RealLike = Scalar | Symbolic
RealsLike = Sequence[RealLike] | Array
# what a question is asked at: the answer is a Bound
Number = Scalar | Bound
# an array of them, or something like it: the answers are Bounds
Numbers = Sequence[Number | Sequence[Number]] | Array

DirectionLike = Direction | Literal["remove", "add", "both"]

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    _Given = TypeVar("_Given")
    _Held = TypeVar("_Held")
    _Class = TypeVar("_Class")

    class Field(Generic[_Given, _Held]):
        """A field that accepts more types than it holds."""

        def __get__(self, instance: object, owner: Any) -> _Held:
            """The value that the field holds."""

        def __set__(self, instance: object, value: _Given) -> None:
            """The values that the field accepts."""

    Real = Field[RealLike, float]
    RealOrNone = Field[RealLike | None, float | None]
    Whole = Field[RealLike, int]
    WholeOrNone = Field[RealLike | None, int | None]
    Reals = Field[RealsLike, tuple[float, ...]]
    Interval = Field[RealsLike, tuple[float, float]]
    Relation = Field[AdjacencyLike, Adjacency]
    RelationOrNone = Field[AdjacencyLike | None, Adjacency]
    Mechanisms = Field[Sequence[Any], tuple[Any, ...]]

    # mypy gives two types to the fields of a plain dataclass only where they have a default
    @dataclass_transform(frozen_default=True)
    def frozen(cls: type[_Class]) -> type[_Class]:
        """A frozen dataclass whose repr is that of its base."""

else:
    Real, Whole, Reals, Interval = float, int, tuple[float, ...], tuple[float, float]
    RealOrNone, WholeOrNone = float | None, int | None
    Relation, RelationOrNone, Mechanisms = Adjacency, Adjacency, tuple[Any, ...]
    frozen = dataclass(frozen=True, repr=False)


def default(value: Any) -> Any:
    """The default of a field of two types, as type checkers want it."""
    return value


ADD_REMOVE, REMOVE, REPLACE = map(default, (Adjacency.ADD_REMOVE, Adjacency.REMOVE, Adjacency.REPLACE))
