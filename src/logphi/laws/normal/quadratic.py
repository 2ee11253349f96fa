"""The log-ratio of two normal densities of different widths, as a quadratic in a normal variable.

notation: P = N(d, r^2) and Q = N(0, 1), d >= 0, v = 1 - r^2; y ~ Q. Then log(p/q) = top - v (y - d/v)^2 / (2 r^2) with
top = d^2/(2 v) - log r. {log(p/q) > x} lies between the roots of v y^2 - 2 d y + n, n = d^2 + 2 r^2 (x + log r), or outside
them for v < 0. With s^2 = r^2 (d^2 - 2 v (x + log r)) they are n/(d + s) and (d + s)/v.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import FLOATS, ULP, Discs


@dataclass(frozen=True)
class Quadratic:
    """The pair in units of Q, reflected so that d >= 0: d, r, v and log r, each a real number with its error."""

    shift: Discs
    ratio: Discs
    curvature: Discs
    log_ratio: Discs

    @property
    def vertex(self) -> Discs:
        """The end of the support, d^2 / (2 v) - log r."""
        return self.shift * self.shift / (2 * self.curvature) - self.log_ratio

    @property
    def opens_upward(self) -> bool:
        """Whether P is wider than Q, so that large losses lie outside the roots."""
        return bool(self.curvature.mid < 0)

    def discriminant(self, x: float) -> Discs:
        """s^2 / r^2 at the loss x."""
        return self.shift * self.shift - 2 * self.curvature * self._level(x)

    def _level(self, x: float) -> Discs:
        return FLOATS.constant(x) + self.log_ratio

    def roots(self, x: float) -> tuple[Discs, Discs] | None:
        """The two y at which the loss is x, in order; None on overflow, or if rounding hides whether they are real."""
        d, r, v = self.shift, self.ratio, self.curvature
        with np.errstate(all="ignore"):  # values that are not finite are refused below
            square = self.discriminant(x)
            if not square.mid > 4 * square.rad:
                return None
            root = np.sqrt(square.mid)
            outer = d + r * Discs(root, square.rad / root + ULP * root)
            roots = ((d * d + 2 * r * r * self._level(x)) / outer, outer / v)
        if not all(np.isfinite(one.mid) and np.isfinite(one.rad) for one in roots):
            return None
        return (roots[1], roots[0]) if self.opens_upward else roots

    def in_units_of_p(self, y: Discs) -> Discs:
        """(y - d)/r, which is standard normal under P."""
        return (y - self.shift) / self.ratio
