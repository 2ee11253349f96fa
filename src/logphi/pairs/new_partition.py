"""A partition that only one record has: seen where noise brings its value up to a threshold, and never without the record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.normal.tails import log_masses
from logphi.pairs.equal import EQUAL
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class Chances:
    """Probabilities of being seen and of being missed, positive or exactly zero, both to a relative error."""

    seen: float
    missed: float
    error: float

    def pair(self) -> Pair:
        """{seen, missed} against {missed}."""
        return FinitePair((self.seen, self.missed), (0.0, 1.0), self.error) if self.seen else EQUAL

    def any_seen_at_most(self, partitions: int) -> float:
        """An upper bound of the probability that one of several is seen."""
        seen = self.seen * (1 + self.error)
        return 1.0 if seen >= 1 else -math.expm1(partitions * math.log1p(-seen)) * (1 + 8 * ULP)


def chances(gap: Fraction, width: float, truncation: float | None, *, normal: bool) -> Chances:
    """Of noise of at least ``gap``: Laplace of a scale or normal of a standard deviation, with |noise| <= truncation.

    Gap, width and truncation are in the same units; the two floats are known to half an ulp.
    """
    at = float(gap / Fraction(width))
    end = math.inf
    if truncation is not None:
        if gap >= Fraction(truncation) * (1 + Fraction(2) ** -50):
            return Chances(0.0, 1.0, 0.0)
        end = truncation / width
        if gap <= -Fraction(truncation) * (1 + Fraction(2) ** -50):
            return Chances(1.0, 0.0, 0.0)
        at = min(max(at, -end), end)
    # above and below, and beyond the truncation, if there is one, on one side
    low, high = np.array([at, -end, end]), np.array([end, at, math.inf])
    count = 2 if truncation is None else 3
    logs, wrong = (log_masses if normal else _log_laplace)(low[:count], high[:count])
    seen, missed, outside, *_ = (math.exp(one) for one in (*logs.tolist(), -math.inf))
    # what is below every double is not zero
    seen = max(seen, math.ulp(0.0))
    whole = 1 - 2 * outside
    # the ends of a cell are an ulp or two off, which moves its mass by the density there
    moved = 4 * ULP * max(abs(at), 0.0 if math.isinf(end) else end, 1e-300)
    density = math.exp(-(at * at) / 2 if normal else -abs(at))
    edge = 0.0 if math.isinf(end) else math.exp(-(end * end) / 2 if normal else -end)
    least = min(seen, missed)
    slip = moved * (density + edge) / least if least else math.inf
    # half of the mass is within, at least, or the two ends are known as well as any
    rounded = float(wrong.max()) * (1 + outside / whole) + 8 * ULP * (1 + float(np.abs(logs[:2]).max()) + outside / whole)
    return Chances(seen / whole, missed / whole, 2 * rounded + slip)


def _log_laplace(low: Array, high: Array) -> tuple[Array, Array]:
    """Logarithms of the masses of cells under the density e^{-|x|} / 2, and their relative errors."""
    # by the side of zero that the cell is on
    flipped = (low + high) < 0
    low, high = np.where(flipped, -high, low), np.where(flipped, -low, high)
    right = np.exp(-np.maximum(low, 0)) * -np.expm1(np.maximum(low, 0) - high)
    left = -np.expm1(np.minimum(low, 0))
    with np.errstate(divide="ignore"):  # a cell without mass
        return np.log((right + left) / 2), np.full(low.shape, 16 * ULP)
