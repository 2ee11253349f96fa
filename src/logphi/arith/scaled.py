"""A positive number, which may lie outside the range of doubles, with a bound of each kind of error."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Scaled:
    """``e^log_scale`` times a value with proved errors, all in units of ``e^log_scale``.

    ``excess`` is an error by which the value can only be too large (aliasing); ``truncation``, ``inner``, ``rounding`` and
    ``discretization`` are errors in both directions.
    """

    log_scale: float
    value: float
    excess: float = 0.0
    truncation: float = 0.0
    inner: float = 0.0
    rounding: float = 0.0
    discretization: float = 0.0

    @property
    def spread(self) -> float:
        """The sum of all errors in both directions, rounded up."""
        return (self.truncation + self.inner + self.rounding + self.discretization) * (1 + 1e-14)

    @property
    def low(self) -> float:
        """Lower end, in units of the scale; never negative."""
        return max(0.0, (self.value - self.spread - self.excess) * (1 - 1e-15))

    @property
    def high(self) -> float:
        """Upper end, in units of the scale."""
        return max(self.value, 0.0) + self.spread

    @property
    def relative_width(self) -> float:
        """Width over value; infinite if the value is unknown."""
        width = self.excess + 2 * self.spread
        return width / self.value if self.value > 0 and np.isfinite(width) else np.inf

    @staticmethod
    def between(log_low: float, log_high: float) -> Scaled:
        """A number between two whose logarithms are given; half their distance counts as rounding."""
        if log_high == -math.inf:
            return Scaled(0.0, 0.0)
        share = math.exp(min(log_low - log_high, 0.0))
        return Scaled(log_high, (1 + share) / 2, rounding=(1 - share) / 2 + 4e-16)

    @property
    def log_ends(self) -> tuple[float, float]:
        """Logarithms of the two ends, outward."""
        size = 1 + abs(self.log_scale)
        logs = [(math.log(end) if end > 0 else -math.inf, sign) for end, sign in ((self.low, -1), (self.high, 1))]
        low, high = (log + self.log_scale + sign * 4e-16 * (size + abs(log)) if log > -math.inf else log for log, sign in logs)
        return low, high

    def hull(self, other: Scaled) -> Scaled:
        """The smallest interval that contains both."""
        lows, highs = zip(self.log_ends, other.log_ends, strict=True)
        return Scaled.between(min(lows), max(highs))

    def __add__(self, other: Scaled) -> Scaled:
        """The sum, in the larger of the two units."""
        if self.high == 0 or other.high == 0:
            # zero has no unit
            return other if self.high == 0 else self
        large, small = sorted((self, other), key=lambda one: -one.log_scale)
        factor = float(np.exp(small.log_scale - large.log_scale))
        names = ("value", "excess", "truncation", "inner", "rounding", "discretization")
        sums = {name: getattr(large, name) + factor * getattr(small, name) for name in names}
        sums["rounding"] += 1e-15 * (1 + abs(small.log_scale) + abs(large.log_scale)) * factor * abs(small.value)
        return replace(large, **sums)

    def times_exp(self, x: float, wrong: float = 0.0) -> Scaled:
        """The number times e^x, where x has an error of half an ulp, or of ``wrong``."""
        moved = 1e-15 * abs(self.value) * (1 + abs(x)) + self.high * math.expm1(min(wrong, 700.0))
        return replace(self, log_scale=self.log_scale + x, rounding=self.rounding + moved)
