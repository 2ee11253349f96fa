"""Laws on the multiples of one width, by rounding or by Connect-the-Dots (:mod:`logphi.grid.cell_masses`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.safe import safe_exp
from logphi.arrays import Array
from logphi.grid.discretizer import Discretizer
from logphi.grid.lattice_law import Grid, LatticeLaw
from logphi.inversion.chernoff import log_moments
from logphi.laws.transform import LossTransform

# measured: this many nodes take about a second and half a gigabyte
MOST_BUCKETS = 1 << 22
# measured: rates of Chernoff bounds in addition to the tilt, relative to that of a normal law with the same variance
_RATES = np.geomspace(1 / 16, 16, 17)

# derived: bisections to 1e-9 of the range, far less than a bucket
_BISECTIONS = 30


@dataclass(frozen=True)
class RoundedLaw(Discretizer):
    """A law and its discretizer, put on the multiples of the step: above by chords if ``connect_dots``, else by rounding."""

    law: LossTransform
    discretizer: Discretizer
    connect_dots: bool

    @property
    def top(self) -> float:
        """Infinite: the upper end is not known before rounding."""
        return np.inf

    @property
    def endless(self) -> bool:
        """Whether the discretizer's law has an unbounded upper tail."""
        return self.discretizer.endless

    def approximate(self, u: Array, cut: float) -> Array:
        """The approximation of the discretizer."""
        return self.discretizer.approximate(u, cut)

    def on(self, grid: Grid) -> LatticeLaw:
        """The part of the law between two losses outside of which the tilted law is negligible by Chernoff's bound."""
        c, h = grid.tilt, grid.step
        below, there, above = self.discretizer.approximate(c * np.array([0.75, 1.0, 1.25]), grid.cut).tolist()
        bend = max((below - 2 * there + above) / (c / 4) ** 2, 1e-300)
        unit = min(max(float(np.sqrt(2 * grid.depth / bend)), c / 64), 2 * (1 + c))
        rates = np.concatenate([-unit * _RATES, unit * _RATES])
        away = self._log_moments(c + rates)
        ahead = rates > 0
        room = away - there + grid.depth
        # the end points of [PLD] section 5.2, of the law that is tilted by e^{cx}
        high = min(float((room[ahead] / rates[ahead]).min()), self.law.support.upper + h)
        low = max(float((room[~ahead] / rates[~ahead]).max()), self.law.support.lower - h)
        own = c + rates > 0
        if self.endless:
            high = self._cut_at(low, high, grid.cut)
        first, last = int(np.floor(low / h)), int(np.ceil(max(high, low) / h)) + 1
        if last - first > MOST_BUCKETS:
            raise ValueError(
                f"one release reaches over {last - first} buckets of width {h!r}, and at most {MOST_BUCKETS} are kept: take a "
                f"width of {(last - first) / MOST_BUCKETS * h:.3g} or more"
            )
        found, log_whole = self.discretizer.cells(first, last, h, grid.upper).rounded(grid, self.connect_dots)
        if not grid.upper:
            return found
        edge = last * h
        omitted_above = omitted_mass = below = 0.0
        if edge < self.law.support.upper:
            omitted_above = safe_exp(float((away - rates * edge)[ahead].min()) - log_whole)
            omitted_mass = safe_exp(min(float((away - (c + rates) * edge)[own].min()), self._log_above(edge)))
        if first * h > self.law.support.lower:
            below = safe_exp(float((away - rates * (first * h))[~ahead].min()) - log_whole)
        return replace(found, omitted_above=omitted_above, omitted_mass=min(omitted_mass, 1.0), omitted_below=below)

    def _log_above(self, x: float) -> float:
        """An upper bound of log P(X > x); zero if none is known."""
        found = self.law.closed_form.partial_masses(x)
        return 0.0 if found is None else min(found[0].log_ends[1], 0.0)

    def _cut_at(self, low: float, high: float, cut: float) -> float:
        """The loss between two above which the P-mass is about e^cut; the higher one if the mass above it is larger."""
        if self._log_above(high) > cut:
            return high
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._log_above(middle) > cut else (low, middle)
        return high

    def _log_moments(self, u: Array) -> Array:
        """Upper bounds of K, with room for the rounding of sums with them; infinite if unknown."""
        found = log_moments(self.law, u)
        return found + 1e-12 * (1 + np.abs(u) + np.abs(found))
