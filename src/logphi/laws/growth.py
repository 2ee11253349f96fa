"""How fast a transform grows: like that of a normal law, like that of a bounded law, or unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.laws.support import Support


@dataclass(frozen=True)
class OneSided:
    """K(z) <= z offset + z (z + 1) most / 2 for all real z >= 0, and liminf 2 K(z) / z^2 is at least ``least``.

    A positive ``least`` means that the law has no upper end, an infinite ``most`` that no bound is known. Above ``end`` K is
    certainly infinite. Offsets and factors of sums add, rounded outward; the smallest end counts.
    """

    least: float
    most: float
    offset: float
    end: float = math.inf

    @staticmethod
    def normal(size: float, relative_error: float = 0.0, offset: float = 0.0) -> OneSided:
        """The growth of a shift m, with m^2 = ``size`` to within a ``relative_error``."""
        return OneSided(size * (1 - relative_error) * (1 - 1e-15), size * (1 + relative_error) * (1 + 1e-15), offset)

    @staticmethod
    def bounded(supremum: float, end: float = math.inf) -> OneSided:
        """The growth of a law with an upper end; if that is infinite, only that K is infinite above ``end``, rounded up."""
        if math.isfinite(supremum):
            return OneSided(0.0, 0.0, supremum)
        return OneSided(0.0, math.inf, 0.0, end + 8e-16 * (1 + abs(end)))

    def __add__(self, other: OneSided) -> OneSided:
        offset = self.offset + other.offset
        rounding = 4e-16 * (abs(self.offset) + abs(other.offset))
        least, most = (self.least + other.least) * (1 - 1e-15), (self.most + other.most) * (1 + 1e-15)
        return OneSided(least, most, offset + rounding, min(self.end, other.end))

    def __mul__(self, count: int) -> OneSided:
        offset = self.offset * count
        return OneSided(
            self.least * count * (1 - 1e-15), self.most * count * (1 + 1e-15), offset + 4e-16 * abs(offset), self.end
        )


# the growth of K = 0 on one side
NO_GROWTH = OneSided(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Growth:
    """How K grows to the right, and how K(-1 - z) does: reflecting a law exchanges the sides, and sums add them.

    ``shift`` is a mu for which the pair of measures is mu-GDP, in either order; infinite if none is known. Of sums the squares
    add.
    """

    right: OneSided = NO_GROWTH
    left: OneSided = NO_GROWTH
    shift: float = math.inf

    @staticmethod
    def both(side: OneSided, shift: float = math.inf) -> Growth:
        """The same growth on both sides."""
        return Growth(side, side, shift)

    @staticmethod
    def on(support: Support, strip: tuple[float, float] = (-math.inf, math.inf)) -> Growth:
        """The growth of a law with a known support, whose K is infinite outside of a strip."""
        return Growth(OneSided.bounded(support.upper, strip[1]), OneSided.bounded(-support.lower, -1 - strip[0]))

    @property
    def strip(self) -> tuple[float, float]:
        """Two abscissas outside of which K is certainly infinite, rounded outward."""
        low = -1 - self.left.end
        return (low - 4e-16 * abs(low), self.right.end)

    def reflected(self) -> Growth:
        """The growth of K(-1 - z)."""
        return Growth(self.left, self.right, self.shift)

    def __add__(self, other: Growth) -> Growth:
        shift = math.hypot(self.shift, other.shift) * (1 + 4e-16)
        return Growth(self.right + other.right, self.left + other.left, shift)

    def __mul__(self, count: int) -> Growth:
        return Growth(self.right * count, self.left * count, self.shift * math.sqrt(count) * (1 + 4e-16))


# the growth of K = 0, the neutral element of sums
ZERO_GROWTH = Growth(shift=0.0)
