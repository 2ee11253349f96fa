"""A number without an enclosure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from logphi.answers.decimals import plain
from logphi.answers.enclosed import Enclosed


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
