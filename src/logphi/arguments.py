"""The types of what questions are asked with, as editors and type checkers see them; no more is accepted at run time."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from logphi.bound import Bound, Direction


class Array(Protocol):
    """An array of NumPy, a column of pandas, and what else has elements and becomes an array."""

    def __array__(self) -> NDArray[Any]:
        """The elements."""
        ...

    def __len__(self) -> int:
        """How many there are along the first axis."""
        ...


# one number: the answer is a Bound
Number = float | Fraction | Decimal | np.floating[Any] | np.integer[Any] | Bound
# an array of them, or something like it: the answers are Bounds
Numbers = Sequence[Number | Sequence[Number]] | Array

DirectionLike = Direction | Literal["remove", "add", "both"]

# the routes of logphi.engine.routes by name, and the one in ball arithmetic
RouteName = Literal[
    "contour",
    "lattice",
    "exact",
    "exponential",
    "smoothed",
    "discretized",
    "clipped",
    "buckets",
    "levy",
    "levy-sums",
    "levy-quadrature",
]
Method = RouteName | Literal["certified"]
