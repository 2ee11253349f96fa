"""Answers in the complex plane: boxes, and arrays of them."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bound, Bounds, bound_rows
from logphi.answers.display import table
from logphi.answers.enclosed import Enclosed
from logphi.answers.sameness import Same
from logphi.answers.status import Direction, Status
from logphi.arrays import Array


class Parts(Same):
    """Answers with an enclosed real part and an enclosed imaginary part."""

    real: Any
    imag: Any

    # NumPy leaves operators to this class, and does not use the best values of boxes
    __array_ufunc__ = None

    def to_dict(self) -> dict[str, Any]:
        """Both parts; see :meth:`Bound.to_dict`."""
        return {"real": self.real.to_dict(), "imag": self.imag.to_dict()}

    def _content(self) -> Any:
        return self.real._content(), self.imag._content()


@dataclass(frozen=True, eq=False)
class ComplexBound(Parts):
    """A box in the complex plane that encloses one number: an enclosure of each of its parts.

    ``==`` is a bool where all numbers in the box agree, and raises an :class:`UndecidedError` where they do not. ``complex``
    and ``numpy.asarray`` give the best value.
    """

    real: Bound
    imag: Bound

    @property
    def lower(self) -> complex:
        """The corner with the smallest parts."""
        return complex(self.real.lower, self.imag.lower)

    @property
    def value(self) -> complex:
        """The best value."""
        return complex(self.real.value, self.imag.value)

    @property
    def upper(self) -> complex:
        """The corner with the largest parts."""
        return complex(self.real.upper, self.imag.upper)

    @property
    def width(self) -> float:
        """The longer side of the box."""
        return max(self.real.width, self.imag.width)

    @property
    def status(self) -> Status:
        """The status of the worse part."""
        return self.imag.status if self.real.status.met else self.real.status

    @property
    def method(self) -> str:
        """The method that gave the answer."""
        return self.real.method

    @property
    def direction(self) -> Direction | None:
        """The order of the pair."""
        return self.real.direction

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (ComplexBound, numbers.Complex)):
            parts: Any = (self.real, other.real), (self.imag, other.imag)
        elif isinstance(other, (Enclosed, Decimal)):
            parts = (self.real, other), (self.imag, 0)
        else:
            return NotImplemented
        # a part that differs decides, whatever is known of the other one
        if any(own._holds("==", theirs) is False for own, theirs in parts):
            return False
        return all(own == theirs for own, theirs in parts)

    def __hash__(self) -> int:
        return hash(self.value) if self.width == 0 else object.__hash__(self)

    def __complex__(self) -> complex:
        return self.value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.value, dtype=dtype or complex)

    def __contains__(self, number: complex) -> bool:
        return number.real in self.real and number.imag in self.imag

    def __str__(self) -> str:
        return f"real part {self.real}, imaginary part {self.imag}"

    def _repr_html_(self) -> str:
        parts = {"real part": dict(bound_rows(self.real)), "imaginary part": dict(bound_rows(self.imag))}
        names = dict.fromkeys(name for part in parts.values() for name in part)
        return table(([name, *(part.get(name, "") for part in parts.values())] for name in names), ["", *parts])


class ComplexBounds(Parts):
    """An array of boxes in the complex plane, of the shape of the question.

    ``lower``, ``value`` and ``upper`` are complex arrays of corners and best values; ``real`` and ``imag`` are :class:`Bounds`;
    indexing gives a :class:`ComplexBound` (or fewer of them); ``numpy.asarray`` gives the best values.
    """

    real: Bounds
    imag: Bounds

    def __init__(self, real: Bounds, imag: Bounds) -> None:
        if real.shape != imag.shape:
            raise ValueError(f"both parts must have one shape, got {real.shape} and {imag.shape}")
        self.real, self.imag = real, imag

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the question."""
        return self.real.shape

    @property
    def lower(self) -> NDArray[np.complex128]:
        """The corners with the smallest parts."""
        return _complex(self.real.lower, self.imag.lower)

    @property
    def value(self) -> NDArray[np.complex128]:
        """Best values."""
        return _complex(self.real.value, self.imag.value)

    @property
    def upper(self) -> NDArray[np.complex128]:
        """The corners with the largest parts."""
        return _complex(self.real.upper, self.imag.upper)

    @property
    def status(self) -> NDArray[np.object_]:
        """A status for each point: that of the worse part."""
        return np.frompyfunc(lambda real, imag: imag if real.met else real, 2, 1)(  # type: ignore[no-any-return]
            self.real.status, self.imag.status
        )

    def reshape(self, shape: tuple[int, ...]) -> ComplexBounds:
        """The same boxes in another shape.

        Parameters
        ----------
        shape
            As of a NumPy array.

        Returns
        -------
        ComplexBounds
            Of that shape.

        Examples
        --------
        >>> import logphi as lp
        >>> lp.Gaussian(sigma=1).phi([0.0, 1.0]).reshape((2, 1)).shape
        (2, 1)
        """
        return ComplexBounds(*(Bounds(part.to_objects().reshape(shape)) for part in (self.real, self.imag)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.value.astype(dtype or complex)

    def __getitem__(self, index: Any) -> Any:
        real, imag = self.real[index], self.imag[index]
        if isinstance(real, Bounds):
            return ComplexBounds(real, imag)
        return ComplexBound(real, imag)

    def __len__(self) -> int:
        return len(self.real)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"ComplexBounds(real={self.real!r}, imag={self.imag!r})"


def _complex(real: Array, imag: Array) -> NDArray[np.complex128]:
    # a product with 1j would make NaN of infinite parts
    whole = np.empty(real.shape, complex)
    whole.real, whole.imag = real, imag
    return whole
