"""Answers with their uncertainty.

A :class:`Bound` encloses one number, a :class:`Bounds` an array of them; a :class:`Ledger` says where the
width comes from and a :class:`Status` says, in words, what happened and what to do about it.

The file is longer than others because an answer can be read in many ways: as a number, as text, as a table, as plain data.
"""

from __future__ import annotations

import enum
import math
import numbers
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.decimals import formatted, plain
from logphi.answers.enclosed import Enclosed
from logphi.answers.interval import Interval
from logphi.answers.operators import Arithmetic
from logphi.listed import Listed

# the columns of a bound in a table
COLUMNS = ("lower", "value", "upper", "side", "direction", "method", "status", "proved")


class Status(enum.Enum):
    """How a question was answered, and what to do about it."""

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
    BRACKET = (
        "the ends are bounds by different means: the lower one is what some attack attains, the upper one what none exceeds; "
        "what lies between them is not known, and no tolerance narrows it"
    )
    UNRESOLVED = (
        "no method resolved the question and the bounds are the trivial ones: the parameters are outside "
        "the range of double precision or of the node budget"
    )

    @property
    def met(self) -> bool:
        """Whether the answer is as narrow as asked; a certain infinity is."""
        return self in (Status.MET, Status.UNBOUNDED, Status.DIVERGENT)


class Direction(enum.Enum):
    """Which of the two changes attains the answer: removing the record, adding it, or both."""

    REMOVE = "remove"
    ADD = "add"
    BOTH = "both"


class Side(enum.Enum):
    """The end of a bound on which a privacy claim is safe."""

    UPPER = "upper"
    LOWER = "lower"


@dataclass(frozen=True)
class Entry(Listed):
    """One line of a ledger: an error in the units of the answer, and whether it is proved."""

    amount: float = 0.0
    proved: bool = True
    _unlisted = frozenset({"scaled"})

    def __post_init__(self) -> None:
        object.__setattr__(self, "amount", float(self.amount))

    def __add__(self, other: Entry) -> Entry:
        return Entry(self.amount + other.amount, self.proved and other.proved)

    def scaled(self, factor: float) -> Entry:
        """The line in other units: its amount times a factor."""
        return Entry(self.amount * float(factor) if self.amount and factor else 0.0, self.proved)


@dataclass(frozen=True)
class Ledger(Listed):
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
    _unlisted = frozenset({"scaled", "estimating"})

    @property
    def proved(self) -> bool:
        """Whether every line is proved."""
        lines = (self.aliasing, self.truncation, self.inner, self.rounding, self.discretization, self.infinite_mass)
        return all(entry.proved for entry in lines)

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

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain data for JSON."""
        return {name: {"amount": plain(entry.amount), "proved": entry.proved} for name, entry in self.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Bound(Arithmetic):
    """An enclosure ``lower <= truth <= upper`` of one number, with its best value; it can be used as that number.

    Comparisons are bools where all numbers between the ends agree, and raise an :class:`UndecidedError` where they do not; at
    an end ``b <= b.upper`` is true and ``b < b.upper`` undecided. A bound equals itself; otherwise two bounds are equal only if
    both are the same point. ``bool(b)`` is ``b != 0``.

    ``+ - * /`` with a number, ``-b`` and whole powers give enclosures, rounded outward; a float stands for all numbers within
    half a unit in its last place, as it is read from a decimal. Where the result falls as the number grows, the ends are
    exchanged, and the private side with them.

    ``float``, ``round``, a format such as ``.3f``, ``numpy.asarray`` and functions of NumPy take the private side. Text and
    ``round`` round toward it, ``float`` is exact, and functions of NumPy and ``math`` round to nearest.

    Parameters
    ----------
    lower, value, upper
        The enclosure and the best value in it; infinite where the answer is.
    status
        What happened, in words.
    method
        The method that gave the answer.
    direction
        Which of add and remove attained the answer; ``None`` where only one was asked for or exists.
    ledger
        Where the width comes from.
    side
        The private side, which ``float`` returns.

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
        }

    def record(self) -> dict[str, Any]:
        """A row of a table: as :meth:`to_dict`, with infinities as floats, and ``proved`` in place of the ledger."""
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
        return replace(self, lower=lower, value=value, upper=upper, ledger=ledger, side=opposite if falling else self.side)

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
        from logphi.answers.display import bound_table

        return bound_table(self)


def _shown(end: float, digits: int, upward: bool | None) -> str:
    """An end of a bound in some digits, rounded away from the other one."""
    return formatted(end, f".{digits}g", upward)


class Parts(Listed):
    """Answers with an enclosed real part and an enclosed imaginary part."""

    real: Any
    imag: Any

    # NumPy leaves operators to this class, and does not use the best values of boxes
    __array_ufunc__ = None

    def to_dict(self) -> dict[str, Any]:
        """Both parts; see :meth:`Bound.to_dict`."""
        return {"real": self.real.to_dict(), "imag": self.imag.to_dict()}

    def same_as(self, other: object) -> bool:
        """Whether every field is the same, as two runs of one computation give.

        Parameters
        ----------
        other
            Anything.

        Returns
        -------
        bool
            False for another class or shape.

        Examples
        --------
        >>> import logphi as lp
        >>> release = 3 * lp.Gaussian(sigma=2)
        >>> release.renyi(2 + 1j).same_as(release.renyi(2 + 1j))
        True
        """
        if not isinstance(other, Parts) or type(self) is not type(other):
            return False
        return bool(self.real.same_as(other.real) and self.imag.same_as(other.imag))


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
        from logphi.answers.display import box_table

        return box_table(self)


@dataclass(frozen=True, eq=False)
class Approximation(Enclosed):
    """A number whose error is unknown; it is refused wherever a :class:`Bound` is needed.

    It decides no comparison of the truth; compare ``float(...)``. Text and ``round`` are to nearest.
    """

    value: float
    method: str

    def to_dict(self) -> dict[str, Any]:
        """Both fields as plain data for JSON: an infinity is ``"inf"``."""
        return {"value": plain(self.value), "method": self.method}

    def _ends(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def _upward(self) -> None:
        return None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"about {self.value:.6g} ({self.method}; no error is known)"
