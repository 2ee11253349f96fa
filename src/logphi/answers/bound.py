"""Answers with proved bounds: one number, or an array of them.

A :class:`Bound` encloses one number, a :class:`Bounds` an array of them.

The file is longer than others because an answer can be read in many ways, as a number, as text, as a table, as plain data, and
because a number and an array of such numbers make each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from logphi.answers.decimals import formatted, plain
from logphi.answers.display import printed, table
from logphi.answers.interval import Interval
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.operators import Arithmetic, Elementwise
from logphi.answers.status import Direction, Side, Status
from logphi.arrays import Array

# the columns of a bound in a table
COLUMNS = ("lower", "value", "upper", "side", "direction", "method", "status", "proved")

# chosen: significant digits of a bound
_DIGITS = 13
# chosen: significant digits of an error
_ERROR_DIGITS = 2
# chosen: the number of points of an array that its repr shows
_FEW = 4
# chosen: the rows at either end of a table of more points
_ENDS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Bound(Arithmetic):
    """An enclosure ``lower <= truth <= upper`` of one number, with its best value; it can be used as that number.

    Comparisons are bools where all numbers between the ends agree, and raise an :class:`UndecidedError` where they do not; at
    an end ``b <= b.upper`` is true and ``b < b.upper`` undecided. A bound equals itself; otherwise two bounds are equal only if
    both are the same point. ``bool(b)`` is ``b != 0``.

    ``+ - * /`` with a number, ``-b`` and integer powers give enclosures, rounded outward; a float stands for all numbers within
    half a unit in its last place, as it is read from a decimal. Where the result falls as the number grows, the ends are
    exchanged, and the private side with them.

    ``float``, ``round``, a format such as ``.3f``, ``numpy.asarray`` and functions of NumPy take the private side. Text and
    ``round`` round toward it, ``float`` is exact, and functions of NumPy and ``math`` round to nearest.

    Parameters
    ----------
    lower, value, upper
        The enclosure and the best value in it; infinite where the answer is.
    status
        What happened, and what to do about it.
    method
        The method that gave the answer.
    direction
        Which of add and remove attained the answer; ``None`` where only one was asked for or exists.
    ledger
        Where the width comes from.
    side
        The private side, which ``float`` returns.
    proofs
        For a ``BRACKET``, what proves the lower end, and what proves the upper one.

    Raises
    ------
    ArithmeticError
        If the three numbers are not ordered, which is an internal error.

    Examples
    --------
    >>> b = Bound(0.875, 1.0, 1.0625)
    >>> float(b), round(b, 2), f"{b:.3f}", b < 2
    (1.0625, 1.07, '1.063', True)
    >>> 1 - b
    Bound(lower=-0.0625, value=0, upper=0.125, method='exact', side='lower')
    """

    lower: float
    value: float
    upper: float
    status: Status = Status.MET
    method: str = "exact"
    direction: Direction | None = None
    ledger: Ledger = field(default_factory=Ledger)
    side: Side = Side.UPPER
    proofs: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for name in ("lower", "value", "upper"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.lower <= self.value <= self.upper:
            raise ArithmeticError(
                f"internal error: bounds {self.lower!r} <= {self.value!r} <= {self.upper!r} are not ordered; please report it"
            )

    @property
    def width(self) -> float:
        """``upper - lower``, in the units of the answer; zero where both are the same infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON: infinities are ``"inf"`` and ``"-inf"``, and NaN does not occur."""
        return {
            "lower": plain(self.lower),
            "value": plain(self.value),
            "upper": plain(self.upper),
            "side": self.side.value,
            "direction": None if self.direction is None else self.direction.value,
            "method": self.method,
            "status": self.status.name.lower(),
            "ledger": self.ledger.to_dict(),
            "proofs": None if self.proofs is None else dict(zip(("lower", "upper"), self.proofs, strict=True)),
        }

    def record(self) -> dict[str, Any]:
        """A row of a table: as :meth:`to_dict`, with infinities as floats, and ``proved`` instead of the ledger."""
        ends = {"lower": self.lower, "value": self.value, "upper": self.upper}
        row = {**self.to_dict(), **ends, "proved": self.ledger.proved}
        return {name: row[name] for name in COLUMNS}

    def __float__(self) -> float:
        return self.upper if self.side is Side.UPPER else self.lower

    def __bool__(self) -> bool:
        return self != 0

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def _ends(self) -> tuple[float, float]:
        return self.lower, self.upper

    def _upward(self) -> bool:
        return self.side is Side.UPPER

    def _array(self, elements: Any) -> Bounds:
        return Bounds(elements)

    def _mapped(self, function: Callable[[Interval], Interval], *, falling: bool = False) -> Bound:
        """The enclosure of a monotone function of the number."""
        lower, upper = function(Interval.of(self.lower, self.upper)).outward()
        value, _ = function(Interval.of(self.value, self.value)).outward()
        width = 0.0 if lower == upper else upper - lower
        ledger = self.ledger
        if self.width == 0:
            ledger = replace(ledger, rounding=ledger.rounding + Entry(width))
        elif math.isfinite(width) and math.isfinite(self.width):
            ledger = ledger.scaled(width / self.width)
        opposite = Side.LOWER if self.side is Side.UPPER else Side.UPPER
        ends: Any = {"lower": lower, "value": value, "upper": upper}
        if falling:
            ends |= {"side": opposite, "proofs": self.proofs and self.proofs[::-1]}
        return replace(self, **ends, ledger=ledger)

    def __str__(self) -> str:
        value = f"{self.value:.10g}"
        if self.lower == self.upper:
            return value if float(value) == self.value else repr(self.value)
        digits = 10 if math.isinf(self.upper) or math.isinf(self.lower) else 13
        ends = f"between {_shown(self.lower, digits, False)} and {_shown(self.upper, digits, True)}"
        return ends if digits == 10 else f"{value} ({ends})"

    def __repr__(self) -> str:
        if self.lower == self.upper:
            parts = dict.fromkeys(("lower", "value", "upper"), repr(self.value))
        else:
            ends = zip((self.lower, self.value, self.upper), (False, None, True), strict=True)
            parts = dict(zip(("lower", "value", "upper"), (_shown(end, 13, upward) for end, upward in ends), strict=True))
        if self.status is not Status.MET:
            parts["status"] = repr(self.status.name.lower())
        parts["method"] = repr(self.method)
        if self.direction is not None:
            parts["direction"] = repr(self.direction.value)
        if self.side is Side.LOWER:
            parts["side"] = repr(self.side.value)
        return f"Bound({', '.join(f'{name}={text}' for name, text in parts.items())})"

    def _repr_html_(self) -> str:
        return table(bound_rows(self))


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

    def _array(self, elements: Any) -> Bounds:
        return Bounds(elements)

    def to_dict(self) -> dict[str, Any]:
        """Columns of the shape of the question, as nested lists for JSON: infinities are ``"inf"`` and ``"-inf"``.

        The names are those of :meth:`Bound.record`.
        """
        rows = [{**bound.to_dict(), "proved": bound.ledger.proved} for bound in self._listed()]
        return {name: _column([row[name] for row in rows]).reshape(self.shape).tolist() for name in COLUMNS}

    def records(self) -> list[dict[str, Any]]:
        """A table: :meth:`Bound.record` of each point, the last axis varying fastest, for ``pandas.DataFrame``."""
        return [bound.record() for bound in self._listed()]

    def _content(self) -> Any:
        return self.shape, [bound.to_dict() for bound in self._listed()]

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
            parts.append(f"{unmet} of {self._bounds.size} not as narrow as requested")
        return f"Bounds({', '.join(parts)})"

    def __format__(self, spec: str) -> str:
        """Each point as a :class:`Bound` is formatted, rounded to its private side."""
        return f"[{', '.join(format(one, spec) for one in self)}]" if spec else str(self)

    def _few(self, name: str, upward: bool) -> str:
        ends = [formatted(end, ".7g", upward) for end in self._collect(name).flat]
        return f"[{', '.join(ends if len(ends) <= _FEW else [*ends[: _FEW - 1], '…', ends[-1]])}]"

    def _repr_html_(self) -> str:
        size = math.prod(self.shape)
        shown = size if size <= 2 * _ENDS + 1 else _ENDS
        rows = [self._row(one) for one in islice(np.ndindex(self.shape), shown)]
        if shown < size:
            rows.append(["…", f"{size - 2 * _ENDS} more", "…", "…", "…", "…"])
            rows += [self._row(one) for one in islice(np.ndindex(self.shape), size - _ENDS, None)]
        unmet = dict.fromkeys(bound.status.value for bound in self._listed() if not bound.status.met)
        return table(rows, ["", "lower", "value", "upper", "status", "method"], "; ".join(unmet))

    def _row(self, index: tuple[int, ...]) -> list[str]:
        bound: Bound = self._bounds[index]
        return [", ".join(map(str, index)), *_shortened(bound), bound.status.name.lower(), bound.method]


def bound_rows(bound: Bound) -> Iterator[tuple[str, str]]:
    """The rows of a bound's table: its ends rounded outward, its status, and the errors that are not zero."""
    yield from zip(("lower", "value", "upper"), _shortened(bound), strict=True)
    yield "status", bound.status.value
    if bound.proofs is not None:
        yield from zip(("lower end", "upper end"), bound.proofs, strict=True)
    yield "method", bound.method
    if bound.direction is not None:
        yield "direction", bound.direction.value
    for name, entry in bound.ledger.items():
        if entry.amount > 0 or not entry.proved:
            proof = "proved" if entry.proved else "estimated"
            yield name.replace("_", " "), f"{printed(entry.amount, Side.UPPER, _ERROR_DIGITS)} ({proof})"


def single(answer: object) -> Bound:
    """The answer to a question about one real number."""
    assert isinstance(answer, Bound)
    return answer


def _shortened(bound: Bound) -> tuple[str, str, str]:
    # the same digits for all three, so that the shown value lies between the shown ends
    nearest = printed(bound.value, None, _DIGITS)
    return printed(bound.lower, Side.LOWER, _DIGITS), nearest, printed(bound.upper, Side.UPPER, _DIGITS)


def _shown(end: float, digits: int, upward: bool | None) -> str:
    """An end of a bound in some digits, rounded away from the other one."""
    return formatted(end, f".{digits}g", upward)


def _column(entries: Sequence[Any]) -> NDArray[np.object_]:
    """An array whose elements are the entries, whatever their type."""
    array = np.empty(len(entries), dtype=object)
    for place, entry in enumerate(entries):
        array[place] = entry
    return array
