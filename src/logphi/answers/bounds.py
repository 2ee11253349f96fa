"""Answers to an array of questions: an array of bounds of its shape, real or complex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import COLUMNS, Bound, ComplexBound, Parts
from logphi.answers.decimals import formatted
from logphi.answers.operators import Elementwise
from logphi.arrays import Array

# chosen: the number of points of an array that its repr shows
_FEW = 4


class Bounds(Elementwise):
    """An array of bounds, of the shape of the question.

    ``lower``, ``value`` and ``upper`` are float arrays; indexing gives a :class:`Bound` (or a smaller ``Bounds``);
    ``numpy.asarray`` gives the private side. Comparisons give an array of bools, or raise an :class:`UndecidedError` for the
    first point that is not decided; arithmetic with numbers and arrays gives ``Bounds``; ``f"{bounds:.3f}"`` formats every
    point: all as for each :class:`Bound`.

    Examples
    --------
    >>> 2 * Bounds([Bound(0.1, 0.125, 0.15), Bound(0.25, 0.25, 0.25)]) < 0.4
    array([ True, False])
    """

    def __init__(self, bounds: Iterable[Bound] | NDArray[np.object_]) -> None:
        self._bounds = bounds if isinstance(bounds, np.ndarray) else _column(list(bounds))
        if self._bounds.dtype != object:
            raise TypeError("Bounds are made from a list of Bound: numpy.array of one keeps the private sides only")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the question."""
        return self._bounds.shape

    @property
    def lower(self) -> Array:
        """Lower ends, an array of the shape of the question."""
        return self._collect("lower")

    @property
    def value(self) -> Array:
        """Best values, an array of the shape of the question."""
        return self._collect("value")

    @property
    def upper(self) -> Array:
        """Upper ends, an array of the shape of the question."""
        return self._collect("upper")

    @property
    def status(self) -> NDArray[np.object_]:
        """A status for each point."""
        return np.frompyfunc(lambda bound: bound.status, 1, 1)(self._bounds)  # type: ignore[no-any-return]

    def to_objects(self) -> NDArray[np.object_]:
        """The bounds in an array of objects."""
        return self._bounds.copy()

    def to_dict(self) -> dict[str, Any]:
        """Columns of the shape of the question, as nested lists for JSON: infinities are ``"inf"`` and ``"-inf"``.

        The names are those of :meth:`Bound.record`.
        """
        rows = [{**bound.to_dict(), "proved": bound.ledger.proved} for bound in self._listed()]
        return {name: _column([row[name] for row in rows]).reshape(self.shape).tolist() for name in COLUMNS}

    def records(self) -> list[dict[str, Any]]:
        """A table: :meth:`Bound.record` of each point, the last axis varying fastest, for ``pandas.DataFrame``."""
        return [bound.record() for bound in self._listed()]

    def same_as(self, other: object) -> bool:
        """Whether shape and every field are the same, as two runs of one computation give.

        Parameters
        ----------
        other
            Anything.

        Returns
        -------
        bool
            False for another class.

        Examples
        --------
        >>> import logphi as lp
        >>> release = 3 * lp.Gaussian(sigma=2)
        >>> release.delta([0.5, 1]).same_as(release.delta([0.5, 1]))
        True
        """
        if not isinstance(other, Bounds) or self.shape != other.shape:
            return False
        return all(one.same_as(two) for one, two in zip(self._listed(), other._listed(), strict=True))

    def _collect(self, name: str) -> Array:
        return np.array([getattr(bound, name) for bound in self._listed()], dtype=float).reshape(self.shape)

    def _listed(self) -> list[Bound]:
        return self._bounds.ravel().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array([float(bound) for bound in self._listed()], dtype=dtype or float).reshape(self.shape)

    @overload
    def __getitem__(self, index: slice | list[Any] | NDArray[Any]) -> Bounds: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...  # one bound, unless there are more axes
    def __getitem__(self, index: Any) -> Any:
        picked = self._bounds[index]
        return picked if isinstance(picked, Bound) else Bounds(picked)

    def __len__(self) -> int:
        return len(self._bounds)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        unmet = sum(not bound.status.met for bound in self._listed())
        parts = [f"shape={self.shape}", f"lower={self._few('lower', False)}", f"upper={self._few('upper', True)}"]
        if unmet:
            parts.append(f"{unmet} of {self._bounds.size} not as narrow as asked")
        return f"Bounds({', '.join(parts)})"

    def __format__(self, spec: str) -> str:
        """Each point as a :class:`Bound` is formatted, rounded to its private side."""
        return f"[{', '.join(format(one, spec) for one in self)}]" if spec else str(self)

    def _few(self, name: str, upward: bool) -> str:
        ends = [formatted(end, ".7g", upward) for end in self._collect(name).flat]
        return f"[{', '.join(ends if len(ends) <= _FEW else [*ends[: _FEW - 1], '…', ends[-1]])}]"

    def _repr_html_(self) -> str:
        from logphi.answers.display import bounds_table

        return bounds_table(self)


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


def _column(entries: Sequence[Any]) -> NDArray[np.object_]:
    """An array whose elements are the entries, whatever their type."""
    array = np.empty(len(entries), dtype=object)
    for place, entry in enumerate(entries):
        array[place] = entry
    return array


def single(answer: Bound | Bounds | ComplexBound) -> Bound:
    """The answer to a question about one real number."""
    assert isinstance(answer, Bound)
    return answer
