"""Approximate sums of many transforms on the real axis: all laws share one grid of losses.

With h_a(l) = e^{al} - 1 - a (e^l - 1), M(z) - 1 = E_Q[h_a(l)] at a = z + 1, and h_a(l)/l^2 is smooth on the scale 1/a. Each
law's Q-masses times l^2 are spread once over the nearest points of a grid, by cubic interpolation. At a only the values on the
grid are computed, and all M are one matrix product. The grid is geometric up to a loss of about one, and equally spaced for
larger losses, as e^{al} changes by the same factor from one point to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.sums.second_order_sums import second_exp

# measured: the logarithm of the ratio of neighbours, with which K errs by less than a thousandth
_STEP = 0.04
# measured: the smallest loss of a grid over the largest: below it, h_a/l^2 is constant for every a of interest
_SMALLEST = 1e-6
# measured: the grid is equally spaced from this loss on
_EQUAL_FROM = 1.0
# measured: the grid is equally spaced from this share of the largest loss on, which bounds its size
_SHARE = 1 / 80
# derived: exponentials of larger exponents, times masses, overflow
_LARGE = 600.0
# chosen: the smallest M, as 1 + E[h] has few digits where M is smaller
_LEAST = 0.1
# chosen: the largest mean of the fourth power of a times the step, with which cubic interpolation errs by a few thousandths of
# M
_COARSE = 0.1


@dataclass(frozen=True, eq=False)
class ApproximateSums:
    """Counted laws on a common grid with the points ``losses`` at the distances ``steps``; ``weights`` are by law and point.

    By law, ``omitted`` are the masses of P and Q at infinite losses, ``lowest`` and ``highest`` the ends on the grid.
    """

    count: Array
    losses: Array
    steps: Array
    weights: Array
    omitted: Array
    lowest: Array
    highest: Array

    @staticmethod
    def of(laws: Sequence[tuple[ApproximateNodes, int]]) -> ApproximateSums | None:
        """The laws on a common grid; None if all losses are zero, or one is too large to exponentiate."""
        loss = np.concatenate([law.loss for law, _ in laws])
        largest = float(np.abs(loss).max())
        if not 0 < largest < _LARGE:
            return None
        bent = max(min(_EQUAL_FROM, largest), _SHARE * largest)
        inner, outer = (
            int(np.ceil(np.log(bent / (_SMALLEST * largest)) / _STEP)),
            int(np.ceil((largest / bent - 1) / _STEP)) + 1,
        )
        side = inner + 1 + outer
        sizes = bent * np.concatenate([np.exp(_STEP * np.arange(-inner, 1)), 1 + _STEP * np.arange(1, outer + 1)])
        row = np.repeat(np.arange(len(laws)), [law.loss.size for law, _ in laws])
        mass = np.exp(np.concatenate([law.log_mass for law, _ in laws])) * loss * loss
        ratio = np.maximum(np.abs(loss) / bent, _SMALLEST * largest / bent)
        position = (inner + np.where(ratio < 1, np.log(np.minimum(ratio, 1.0)), ratio - 1) / _STEP).clip(0.0, side - 1.0)
        first = (np.floor(position).astype(int) - 1).clip(0, side - 4)
        away = position - first
        start = row * (2 * side) + np.where(loss > 0, side, 0) + first
        weights: Array = np.zeros(len(laws) * 2 * side)
        for k in range(4):
            others = [j for j in range(4) if j != k]
            share = np.prod([(away - j) / (k - j) for j in others], axis=0)
            weights += np.bincount(start + k, mass * share, weights.size)
        counts, omitted = (np.array(part, dtype=float) for part in ([n for _, n in laws], [law.omitted for law, _ in laws]))
        losses, weights = np.concatenate([-sizes, sizes]), weights.reshape(len(laws), -1)
        steps = np.tile(_STEP * np.minimum(sizes, bent), 2)
        held = weights != 0
        lowest, highest = (end(np.where(held, losses, 0.0), axis=1) for end in (np.min, np.max))
        return ApproximateSums(counts, losses, steps, weights, omitted, lowest, highest)

    def at(self, c: Array) -> tuple[Array, NDArray[np.bool_]]:
        """The sum of K at real points over the laws that the grid serves there, and whether it does, by law and point.

        The grid serves a law at points where it is fine enough and M is not too small.
        """
        powers = c + 1
        exponent = powers[:, None] * self.losses
        bounded = np.clip(exponent, -_LARGE, _LARGE)
        values = (second_exp(bounded) - powers[:, None] * second_exp(self.losses)) / self.losses**2
        excess = self.weights @ values.T + np.outer(self.omitted[:, 1], c) - np.outer(self.omitted[:, 0], powers)
        # the error of the interpolation, up to a constant factor
        with np.errstate(over="ignore", invalid="ignore"):  # infinite: such a grid does not serve
            bend = np.abs(self.weights) @ (np.abs(values) * (powers[:, None] * self.steps) ** 4).T
        far = np.maximum(np.outer(self.lowest, powers), np.outer(self.highest, powers)) > _LARGE
        known = ~far & (excess > _LEAST - 1) & (bend <= _COARSE * (1 + excess))
        return np.asarray(self.count @ np.log1p(np.where(known, excess, 0.0))), known
