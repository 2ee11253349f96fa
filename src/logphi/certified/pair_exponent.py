"""The exponent of the transform of two normal laws of different widths, in balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class PairExponent:
    """K(z) = z top + w (1 - 1/y) - log(y)/2 of one pair, with y = 1 + z v.

    v = 1 - r^2 is ``bend``, r the ratio of the widths; w = d^2 (v - 1) / (2 v^2) is ``weight``, d the distance of the means in
    units of the second width; ``top`` is d^2/(2 v) - log r.
    """

    top: Any
    bend: Any
    weight: Any

    def log_rest(self, z: Any, analytic: bool) -> Any:
        """K(z) - z top."""
        y = 1 + z * self.bend
        return self.weight * (1 - 1 / y) - y.log(analytic=analytic) / 2

    def log_bound(self, height: Any) -> Any:
        """A bound of Re(K(z) - z top) for |Im z| >= height, where |y| >= |v| height."""
        least = abs(self.bend) * height
        return self.weight + abs(self.weight) / least - least.log() / 2
