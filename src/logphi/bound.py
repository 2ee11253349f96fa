"""Answers that carry their doubt: the only currency between the floors of the library.

A :class:`Bound` encloses one number, a :class:`Bounds` an array of them; a :class:`Ledger` says where the
width comes from and a :class:`Status` says, in words, what happened and what to do about it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Status(enum.Enum):
    """What happened while a question was answered, with the remedy."""

    MET = "the requested tolerance is met"
    WIDE = (
        "the bounds are wider than the requested tolerance: relax rtol, or try another method "
        "(the ledger says which error dominates)"
    )
    UNBOUNDED = (
        "no finite answer exists: the probability of an infinite loss is at least the requested delta; "
        "ask for a larger delta or a smaller failure probability"
    )
    DIVERGENT = (
        "the integral that defines the answer does not converge: it is infinite for this order; "
        "renyi_orders() tells the orders for which it is finite"
    )
    ESTIMATED = "an error in the ledger is an estimate, not a proof: use another method where a proof is needed"
    UNRESOLVED = (
        "no method resolved the question and the bounds are the trivial ones: the parameters are outside "
        "the range of double precision or of the node budget"
    )

    @property
    def met(self) -> bool:
        """Whether the answer is as narrow as asked (an infinity that is certain counts)."""
        return self in (Status.MET, Status.UNBOUNDED, Status.DIVERGENT)


class Direction(enum.Enum):
    """Which record-level change attains the answer: the record is removed, added, or both tie."""

    REMOVE = "remove"
    ADD = "add"
    BOTH = "both"


class Side(enum.Enum):
    """The end of a bound on which a privacy claim is safe."""

    UPPER = "upper"
    LOWER = "lower"


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: an error in the units of the answer, and whether it is proved."""

    amount: float = 0.0
    proved: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", float(self.amount))

    def __add__(self, other: Entry) -> Entry:
        return Entry(self.amount + other.amount, self.proved and other.proved)

    def scaled(self, factor: float) -> Entry:
        """The same line in other units."""
        return Entry(self.amount * float(factor) if self.amount else 0.0, self.proved)


@dataclass(frozen=True)
class Ledger:
    """Where the width of a bound comes from.

    Every amount is in the units of the answer. ``infinite_mass`` is the probability of an infinite loss that
    the answer contains: a part of the value, not an error.
    """

    aliasing: Entry = field(default_factory=Entry)
    truncation: Entry = field(default_factory=Entry)
    inner: Entry = field(default_factory=Entry)
    rounding: Entry = field(default_factory=Entry)
    discretization: Entry = field(default_factory=Entry)
    infinite_mass: Entry = field(default_factory=Entry)

    @property
    def proved(self) -> bool:
        """Whether every line rests on a proof."""
        return all(entry.proved for _, entry in self.items())

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Names and lines, in order."""
        return ((f.name, getattr(self, f.name)) for f in fields(self))

    def scaled(self, factor: float) -> Ledger:
        """The same ledger in other units (the infinite mass stays a probability)."""
        scaled = {name: entry.scaled(factor) for name, entry in self.items()}
        return Ledger(**{**scaled, "infinite_mass": self.infinite_mass})

    def estimating(self, *names: str) -> Ledger:
        """The same ledger with the named lines as estimates."""
        return replace(self, **{name: replace(getattr(self, name), proved=False) for name in names})

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Plain data for JSON."""
        return {name: {"amount": entry.amount, "proved": entry.proved} for name, entry in self.items()}


@dataclass(frozen=True)
class Bound:
    """An enclosure ``lower <= truth <= upper`` of one number, with its best value.

    Parameters
    ----------
    lower, value, upper
        The enclosure and the best value in it; infinite where the answer is.
    status
        What happened, in words.
    method
        The route that was taken.
    direction
        Which of add and remove attained the answer; ``None`` where only one was asked for or exists.
    ledger
        Where the width comes from.
    side
        The private side, which ``float`` returns.

    Raises
    ------
    ArithmeticError
        If the three numbers are not ordered: an internal error, never a user's.

    Examples
    --------
    >>> float(Bound(0.9, 1.0, 1.1))
    1.1
    """

    lower: float
    value: float
    upper: float
    status: Status = Status.MET
    method: str = "exact"
    direction: Direction | None = None
    ledger: Ledger = field(default_factory=Ledger)
    side: Side = Side.UPPER

    def __post_init__(self) -> None:
        for name in ("lower", "value", "upper"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.lower <= self.value <= self.upper:
            raise ArithmeticError(
                f"internal error: bounds {self.lower!r} <= {self.value!r} <= {self.upper!r} are not ordered; please report it"
            )

    @property
    def width(self) -> float:
        """``upper - lower``; zero where both are the same infinity."""
        return 0.0 if self.lower == self.upper else self.upper - self.lower

    def __float__(self) -> float:
        return self.upper if self.side is Side.UPPER else self.lower

    def __contains__(self, number: float) -> bool:
        return self.lower <= number <= self.upper

    def __str__(self) -> str:
        value = f"{self.value:.10g}"
        if self.lower == self.upper:
            return value if float(value) == self.value else repr(self.value)
        digits = 10 if math.isinf(self.upper) or math.isinf(self.lower) else 13
        ends = f"between {_shown(self.lower, ROUND_FLOOR, digits)} and {_shown(self.upper, ROUND_CEILING, digits)}"
        return ends if digits == 10 else f"{value} ({ends})"

    def _repr_html_(self) -> str:
        from logphi.display import bound_table

        return bound_table(self)


def _shown(end: float, rounding: str, digits: int) -> str:
    """An end of a bound in some digits, rounded away from the other one."""
    short = Context(prec=digits, rounding=rounding).create_decimal(Decimal(end))
    return f"{float(short):.{digits}g}"


@dataclass(frozen=True)
class ComplexBound:
    """A box in the complex plane that encloses one number: an enclosure of each of its parts."""

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
        """What happened: that of the worse part."""
        return self.imag.status if self.real.status.met else self.real.status

    @property
    def method(self) -> str:
        """The route that was taken."""
        return self.real.method

    @property
    def direction(self) -> Direction | None:
        """The order of the pair."""
        return self.real.direction

    def __complex__(self) -> complex:
        return self.value

    def __contains__(self, number: complex) -> bool:
        return number.real in self.real and number.imag in self.imag

    def __str__(self) -> str:
        return f"real part {self.real}, imaginary part {self.imag}"

    def _repr_html_(self) -> str:
        from logphi.display import box_table

        return box_table(self)


@dataclass(frozen=True)
class Approximation:
    """A number without an enclosure: nothing is claimed of its error, and it is no :class:`Bound` wherever one is needed."""

    value: float
    method: str

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"about {self.value:.6g} ({self.method}; no error is known)"


class Bounds:
    """An array of bounds, of the shape of the question.

    ``lower``, ``value`` and ``upper`` are float arrays; indexing gives a :class:`Bound` (or a smaller
    ``Bounds``); ``numpy.asarray`` gives the private side.
    """

    def __init__(self, bounds: NDArray[np.object_]) -> None:
        self._bounds = bounds

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the question."""
        return self._bounds.shape

    @property
    def lower(self) -> NDArray[np.float64]:
        """Lower ends."""
        return self._collect("lower")

    @property
    def value(self) -> NDArray[np.float64]:
        """Best values."""
        return self._collect("value")

    @property
    def upper(self) -> NDArray[np.float64]:
        """Upper ends."""
        return self._collect("upper")

    @property
    def status(self) -> NDArray[np.object_]:
        """A status for each point."""
        return np.frompyfunc(lambda bound: bound.status, 1, 1)(self._bounds)  # type: ignore[no-any-return]

    def _collect(self, name: str) -> NDArray[np.float64]:
        return np.array([getattr(bound, name) for bound in self._bounds.flat], dtype=float).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array([float(bound) for bound in self._bounds.flat], dtype=dtype or float).reshape(self.shape)

    def __getitem__(self, index: Any) -> Bound | Bounds:
        picked = self._bounds[index]
        return picked if isinstance(picked, Bound) else Bounds(picked)

    def __len__(self) -> int:
        return len(self._bounds)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Bounds(lower={self.lower!r}, value={self.value!r}, upper={self.upper!r})"

    def _repr_html_(self) -> str:
        from logphi.display import bounds_table

        return bounds_table(self)


def single(answer: Bound | Bounds | ComplexBound) -> Bound:
    """The answer to a question about one real number."""
    assert isinstance(answer, Bound)
    return answer
