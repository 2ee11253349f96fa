"""A partition that only one record has: released if its noisy value reaches a threshold, and never without the record."""

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
    """Probabilities that the partition is released and that it is not, positive or exactly zero, both to a relative error."""

    seen: float
    missed: float
    error: float

    def pair(self) -> Pair:
        """Seen or missed, against always missed."""
        return FinitePair((self.seen, self.missed), (0.0, 1.0), self.error) if self.seen else EQUAL

    def any_seen_at_most(self, partitions: int) -> float:
        """An upper bound of the probability that at least one of several partitions is seen."""
        seen = self.seen * (1 + self.error)
        return 1.0 if seen >= 1 else -math.expm1(partitions * math.log1p(-seen)) * (1 + 8 * ULP)


def chances(gap: Fraction, width: float, truncation: Fraction | None, *, normal: bool) -> Chances:
    """The chances that noise is at least ``gap``: Laplace, or normal noise, of this width, with |noise| <= truncation.

    ``gap``, ``width`` and ``truncation`` are in the same units; the width is rounded from an exact number. At the truncation
    the noise has no mass.
    """
    at = float(gap / Fraction(width))
    end = math.inf
    if truncation is not None:
        if gap >= truncation:
            return Chances(0.0, 1.0, 0.0)
        if gap <= -truncation:
            return Chances(1.0, 0.0, 0.0)
        end = float(truncation / Fraction(width))
        at = min(max(at, -end), end)
    # the masses above and below the gap within the truncation, and beyond it on one side
    low, high = np.array([at, -end, end]), np.array([end, at, math.inf])
    count = 2 if truncation is None else 3
    logs, wrong = (log_masses if normal else _log_laplace)(low[:count], high[:count])
    seen, missed, outside, *_ = (math.exp(one) for one in (*logs.tolist(), -math.inf))
    # a positive probability that underflows must not be zero
    seen = max(seen, math.ulp(0.0))
    whole = 1 - 2 * outside
    # the ends of a cell have an error of an ulp or two, which changes its mass by the density there
    moved = 4 * ULP * max(abs(at), 0.0 if math.isinf(end) else end, 1e-300)
    density = math.exp(-(at * at) / 2 if normal else -abs(at))
    edge = 0.0 if math.isinf(end) else math.exp(-(end * end) / 2 if normal else -end)
    least = min(seen, missed)
    location_error = moved * (density + edge) / least if least else math.inf
    # the mass within the truncation is 1 - 2 outside
    rounded = float(wrong.max()) * (1 + outside / whole) + 8 * ULP * (1 + float(np.abs(logs[:2]).max()) + outside / whole)
    return Chances(seen / whole, missed / whole, 2 * rounded + location_error)


def _log_laplace(low: Array, high: Array) -> tuple[Array, Array]:
    """Logarithms of the masses of cells under the density e^{-|x|} / 2, and their relative errors."""
    # a cell left of zero is reflected
    flipped = (low + high) < 0
    low, high = np.where(flipped, -high, low), np.where(flipped, -low, high)
    right = np.exp(-np.maximum(low, 0)) * -np.expm1(np.maximum(low, 0) - high)
    left = -np.expm1(np.minimum(low, 0))
    with np.errstate(divide="ignore"):  # a cell without mass
        return np.log((right + left) / 2), np.full(low.shape, 16 * ULP)
