"""What is asked of an inversion, and what it promises."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property


@dataclass(frozen=True)
class Demand:
    """How narrow an answer should be: relatively, unless it is proved to be below e^``least``.

    ``rtol`` is what to aim at; ``enough`` is what suffices where more costs much, by default the same. ``hint`` is the abscissa
    of a saddle nearby, if one is known.
    """

    rtol: float
    hint: float | None = None
    least: float = -math.inf
    enough: float = 0.0

    @cached_property
    def sufficient(self) -> Demand:
        """The demand for what suffices."""
        return replace(self, rtol=max(self.rtol, self.enough))


@dataclass(frozen=True)
class Promise:
    """About how wide an answer would be, relatively, and how many floating-point operations it would take: no bounds.

    An operation takes about a nanosecond.
    """

    relative_width: float
    operations: float
