"""Where the width of an answer comes from, error by error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from logphi.answers.decimals import plain
from logphi.listed import Listed


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
    """Where the width of a bound comes from: one line for each kind of error, in the units of the answer.

    Attributes
    ----------
    aliasing
        Of an integral that is replaced by a sum with equal steps.
    truncation
        Of a sum or an integral that ends somewhere.
    inner
        Of the inner integral: that of the transform, where it has no closed form.
    rounding
        Of doubles, and of parameters and the question within half a unit of their last place.
    discretization
        Of losses that are moved to a grid, or of a threshold that is smoothed.
    infinite_mass
        The probability of an infinite loss that the answer contains: a part of the value, not an error.
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
