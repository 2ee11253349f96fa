"""What is asked of an inversion."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """How narrow an answer must be: relatively, unless it is proved to be below e^``least``.

    ``hint`` is the abscissa of a saddle nearby, if one is known.
    """

    rtol: float
    hint: float | None = None
    least: float = -math.inf
