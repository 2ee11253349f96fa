"""How fast a transform grows to the right: like that of a normal law, of a bounded one, or unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Growth:
    """K(z) <= z offset + z (z + 1) most / 2 for all real z >= 0, and 2 K(z) / z^2 tends to ``least`` or more.

    A positive ``least`` says that the law has no upper end, an infinite ``most`` that nothing is known.
    """

    least: float
    most: float
    offset: float

    @staticmethod
    def normal(size: float, relative_error: float = 0.0, offset: float = 0.0) -> Growth:
        """Of a law that grows like that of a shift of m, m^2 = ``size`` to within a ``relative_error``."""
        return Growth(size * (1 - relative_error) * (1 - 1e-15), size * (1 + relative_error) * (1 + 1e-15), offset)

    @staticmethod
    def bounded(supremum: float) -> Growth:
        """Of a law with an upper end; unknown if that is infinite."""
        return Growth(0.0, 0.0, supremum) if math.isfinite(supremum) else UNKNOWN

    def __add__(self, other: Growth) -> Growth:
        offset = self.offset + other.offset
        rounding = 4e-16 * (abs(self.offset) + abs(other.offset))
        return Growth((self.least + other.least) * (1 - 1e-15), (self.most + other.most) * (1 + 1e-15), offset + rounding)

    def __mul__(self, count: int) -> Growth:
        offset = self.offset * count
        return Growth(self.least * count * (1 - 1e-15), self.most * count * (1 + 1e-15), offset + 4e-16 * abs(offset))


UNKNOWN = Growth(0.0, math.inf, 0.0)
