"""What every accountant is asked for, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workloads import Workload


class UnsupportedError(Exception):
    """The accountant does not offer what the workload needs; the text says what."""


@dataclass(frozen=True)
class Answer:
    """A value with the interval that the accountant itself vouches for; without one the value is pessimistic."""

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def width(self) -> float | None:
        """``upper - lower``, where there is an interval."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    @property
    def reported(self) -> float:
        """What a careful user would report: the private side."""
        return self.value if self.upper is None else self.upper


@dataclass(frozen=True)
class Accountant:
    """A name, the module that must be there, how it answers, which questions it is asked, and beside which older packages."""

    name: str
    module: str
    answer: Callable[[Workload], Answer]
    questions: tuple[str, ...] = ("epsilon", "delta")
    beside: str = ""
