"""A law as nodes, of which sums give its transform to some digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.quadrature.sums.second_order_sums import second_exp

# derived: below this exponent e^{al} does not overflow
_LARGE = 600.0
# derived: M is summed as one and the rest where it is so near one
_NEAR_ONE = 0.5


@dataclass(frozen=True)
class ApproximateNodes:
    """A law as losses with the logarithms of their Q-masses, and the masses of P and Q at infinite losses."""

    loss: Array
    log_mass: Array
    omitted: tuple[float, float] = (0.0, 0.0)

    def log_transform(self, c: Array) -> Array:
        """K at real points, without a bound of its error; where M is near one, from sums of second order."""
        powers, omitted = c.ravel() + 1, self.omitted
        found, near = np.zeros(powers.size), np.zeros(powers.size, dtype=bool)
        # the extreme losses bound the exponents
        largest = float(np.abs(self.loss).max())
        if max(float(np.abs(powers).max()), 1.0) * largest <= _LARGE:
            mass = np.exp(self.log_mass)
            excess = second_exp(powers[:, None] * self.loss) @ mass - powers * (second_exp(self.loss) @ mass)
            excess += (powers - 1) * omitted[1] - powers * omitted[0]
            near = np.abs(excess) < _NEAR_ONE
            found = np.log1p(np.where(near, excess, 0.0))
        if not near.all():
            found[~near] = log_sum(powers[~near, None] * self.loss + self.log_mass)
        return found.reshape(c.shape)

    def merged(self, most: int) -> ApproximateNodes:
        """The nodes themselves if there are at most ``most``; otherwise those of equal cells are merged at their means."""
        if self.loss.size <= most:
            return self
        least, width = float(self.loss.min()), max(float(np.ptp(self.loss)), 1e-300)
        cell = np.minimum((self.loss - least) * (most / width), most - 1).astype(np.int64)
        # the largest mass of a cell is its unit, because it may be far below those of other cells
        unit = np.full(most, -np.inf)
        np.maximum.at(unit, cell, self.log_mass)
        mass = np.exp(self.log_mass - unit[cell])
        total = np.bincount(cell, mass, most)
        held = total > 0
        means = np.bincount(cell, mass * self.loss, most)[held] / total[held]
        return ApproximateNodes(means, np.log(total[held]) + unit[held], self.omitted)

    def reflected(self) -> ApproximateNodes:
        """The nodes with P and Q exchanged."""
        return ApproximateNodes(-self.loss, self.log_mass + self.loss, self.omitted[::-1])
