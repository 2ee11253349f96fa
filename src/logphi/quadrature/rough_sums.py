"""Approximate sums of many transforms on the real axis: all laws share one grid of losses.

With h_a(l) = e^{al} - 1 - a (e^l - 1), M(z) - 1 = E_Q[h_a(l)] at a = z + 1, and h_a(l)/l^2 is smooth on the scale 1/a. Each
law's Q-masses times l^2 are spread over the nearest points of a geometric grid, by cubic interpolation in log |l|, once; at a
only the values on the grid are computed, and all M are one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.quadrature.second_order_sums import second_exp

# measured: the ratio of neighbours as a logarithm, by which K errs by less than a thousandth, and the smallest loss of a grid
# over the largest: below it, h_a/l^2 is constant for every a of interest
_STEP, _SMALLEST = 0.04, 1e-6
# derived: exponentials of larger exponents, times masses, overflow
_LARGE = 600.0
# chosen: for transforms below this, the digits of 1 + E[h] are few; the fourth power of the step's exponent, on the mean, by
# which cubic interpolation errs by a few thousandths of M
_LEAST, _COARSE = 0.1, 0.1


@dataclass(frozen=True)
class RoughNodes:
    """A law as losses with the logarithms of their Q-masses, and the omitted masses of P and Q."""

    loss: Array
    log_mass: Array
    omitted: tuple[float, float] = (0.0, 0.0)

    def reflected(self) -> RoughNodes:
        """The nodes with P and Q exchanged."""
        return RoughNodes(-self.loss, self.log_mass + self.loss, self.omitted[::-1])


@dataclass(frozen=True, eq=False)
class RoughSums:
    """Counted laws on a common grid: ``losses`` its points, ``weights`` by law and point.

    By law, ``omitted`` are the masses elsewhere, ``lowest`` and ``highest`` the ends on the grid.
    """

    count: Array
    losses: Array
    weights: Array
    omitted: Array
    lowest: Array
    highest: Array

    @staticmethod
    def of(laws: Sequence[tuple[RoughNodes, int]]) -> RoughSums | None:
        """The laws on a common grid; None if all losses are zero, or one is too large to exponentiate."""
        loss = np.concatenate([law.loss for law, _ in laws])
        largest = float(np.abs(loss).max())
        if not 0 < largest < _LARGE:
            return None
        side = int(np.ceil(-np.log(_SMALLEST) / _STEP)) + 1
        sizes = largest * np.exp(_STEP * np.arange(1 - side, 1))
        row = np.repeat(np.arange(len(laws)), [law.loss.size for law, _ in laws])
        mass = np.exp(np.concatenate([law.log_mass for law, _ in laws])) * loss * loss
        place = (side - 1 + np.log(np.maximum(np.abs(loss) / largest, _SMALLEST)) / _STEP).clip(0.0, side - 1.0)
        first = (np.floor(place).astype(int) - 1).clip(0, side - 4)
        away = place - first
        start = row * (2 * side) + np.where(loss > 0, side, 0) + first
        weights: Array = np.zeros(len(laws) * 2 * side)
        for k in range(4):
            others = [j for j in range(4) if j != k]
            share = np.prod([(away - j) / (k - j) for j in others], axis=0)
            weights += np.bincount(start + k, mass * share, weights.size)
        counts, omitted = (np.array(part, dtype=float) for part in ([n for _, n in laws], [law.omitted for law, _ in laws]))
        losses, weights = np.concatenate([-sizes, sizes]), weights.reshape(len(laws), -1)
        held = weights != 0
        lowest, highest = (end(np.where(held, losses, 0.0), axis=1) for end in (np.min, np.max))
        return RoughSums(counts, losses, weights, omitted, lowest, highest)

    def at(self, c: Array) -> Array:
        """The sum of the K at real points; NaN if the grid is too coarse for some law, or its M too small."""
        powers = c + 1
        exponent = powers[:, None] * self.losses
        bounded = np.clip(exponent, -_LARGE, _LARGE)
        values = (second_exp(bounded) - powers[:, None] * second_exp(self.losses)) / self.losses**2
        excess = self.weights @ values.T + np.outer(self.omitted[:, 1], c) - np.outer(self.omitted[:, 0], powers)
        # the error of interpolation, up to a factor
        bend = np.abs(self.weights) @ (np.abs(values) * (_STEP * bounded) ** 4).T
        far = np.maximum(np.outer(self.lowest, powers), np.outer(self.highest, powers)) > _LARGE
        known = ~far & (excess > _LEAST - 1) & (bend <= _COARSE * (1 + excess))
        return np.asarray(self.count @ np.where(known, np.log1p(np.where(known, excess, 0.0)), np.nan))
