"""The accuracy that an inversion must reach, and the accuracy and cost that it promises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Demand:
    """How narrow an answer should be: relatively, unless it is proved to be below e^``least``.

    ``rtol`` is the target; ``enough`` is a width that suffices if a narrower answer is expensive, by default the same. ``hint``
    is the abscissa of a saddle nearby, if one is known.
    """

    rtol: float
    hint: float | None = None
    least: float = -math.inf
    enough: float = 0.0

    @cached_property
    def sufficient(self) -> Demand:
        """The demand for the width that suffices."""
        return Demand(max(self.rtol, self.enough), self.hint, self.least, self.enough)


@dataclass(frozen=True)
class Promise:
    """Estimates, not bounds, of the relative width of an answer and of the floating-point operations that it takes.

    An operation takes about a nanosecond.
    """

    relative_width: float
    operations: float
