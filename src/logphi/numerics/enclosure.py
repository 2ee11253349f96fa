"""A positive number below or above the range of doubles, with its errors told apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Scaled:
    """``e^log_scale`` times a value with proved errors, all in units of ``e^log_scale``.

    ``excess`` is an error that can only have made the value too large (aliasing); ``truncation``, ``inner``,
    ``rounding`` and ``discretization`` count on both sides.
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
        """All two-sided errors, outward."""
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
        """Width over value; infinite where nothing is known."""
        width = self.excess + 2 * self.spread
        return width / self.value if self.value > 0 and np.isfinite(width) else np.inf

    def with_ceiling(self, log_high: float) -> Scaled:
        """The same number, known not to exceed ``e^log_high``."""
        ceiling = float(np.exp(np.minimum(log_high - self.log_scale, 709.0)))
        if self.high <= ceiling or not np.isfinite(ceiling):
            return self
        return replace(self, value=ceiling / 2, excess=0.0, truncation=ceiling / 2, inner=0.0, rounding=0.0)
