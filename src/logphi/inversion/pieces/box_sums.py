"""Means of payoffs under convolutions of atoms and flat parts, as alternating sums over the corners of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.atoms.convolution import Group
from logphi.inversion.pieces.payoffs import Payoff, factorials

# chosen: rows summed at a time, which bounds the memory
BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class BoxSums:
    """The parts of a convolution as arrays, a row for each atom and a column for each corner of its box.

    The excess at x is the sum over the rows of e^log_weight times H(location - x), with H(y) = 2 G(y) e^{-(y + r)/2}.
    The arrays do not depend on x. r is ``half_diagonal``, ``half_extent`` half the distance of a corner below the highest one.
    """

    location: Array
    half_diagonal: Array
    log_weight: Array
    log_box: Array
    weight_error: Array
    location_error: Array
    group: NDArray[np.intp]
    order: NDArray[np.intp]
    kinds: NDArray[np.intp]
    multiplicity: Array
    half_extent: Array

    @staticmethod
    def of(parts: Sequence[Group]) -> BoxSums:
        """The table of some parts, or of none."""
        sizes = [len(part.atoms) for part in parts]

        def rows(values: Sequence[float]) -> Array:
            return np.repeat(np.array(values, dtype=float), sizes)

        location = np.concatenate([np.zeros(0), *(part.atoms.location for part in parts)])
        log_tilted = np.concatenate([np.zeros(0), *(part.atoms.log_weight for part in parts)])
        half_diagonal, log_factor = rows([part.half_diagonal for part in parts]), rows([part.log_factor for part in parts])
        log_box = [sum(m * (w / 2 + float(np.log(-2 * np.expm1(-w)))) for w, m in part.flats) for part in parts]
        corners = [_corners(part.flats) for part in parts]
        columns = max((signs.size for signs, _ in corners), default=0)
        padded = [np.array([np.pad(one[i], (0, columns - one[i].size)) for one in corners]) for i in range(2)]
        farthest = [float(np.abs(part.atoms.location).max(initial=0)) for part in parts]
        return BoxSums(
            location,
            half_diagonal,
            log_tilted + log_factor + (location + half_diagonal) / 2,
            rows(log_box),
            # the error of the logarithm of the weight
            ELEMENTARY * (4 + np.abs(log_tilted) + np.abs(log_factor) + np.abs(location) + half_diagonal)
            + rows([p.relative_error for p in parts])
            + np.concatenate([np.zeros(0), *(part.atoms.log_error for part in parts)]),
            # a location has the rounding of the sums it was formed from
            rows(
                [
                    ULP * (8 + 2 * len(p.flats)) * (p.half_diagonal + far) + p.location_error
                    for p, far in zip(parts, farthest, strict=True)
                ]
            ),
            np.repeat(np.arange(len(parts)), sizes),
            np.array([part.order for part in parts], dtype=np.intp),
            np.array([len(part.flats) for part in parts], dtype=np.intp),
            padded[0],
            padded[1],
        )

    def total(self, x: float, payoff: Payoff) -> Scaled | None:
        """The mean of the payoff at x over all parts, None where it is zero; the rounding counts half an ulp of x."""
        y = self.location - x
        location_error = self.location_error + ULP * (8 + 2 * self.kinds[self.group]) * abs(x)
        paying = np.flatnonzero(y > -self.half_diagonal - location_error)
        if paying.size == 0:
            return None
        log_scale = float(self.log_weight[paying].max())
        total = error = 0.0
        for rows in np.split(paying, range(BLOCK, paying.size, BLOCK)):
            inside = y[rows] < self.half_diagonal[rows]
            low, high = rows[inside], rows[~inside]
            value, noise = np.empty(rows.size), np.empty(rows.size)
            value[inside], noise[inside] = self._partly(low, y[low], payoff)
            value[~inside], noise[~inside] = self._wholly(high, y[high], payoff)
            weight = np.exp(self.log_weight[rows] - log_scale)
            log_noise = self.weight_error[rows] + ELEMENTARY * (np.abs(y[rows]) + abs(log_scale))
            total += float((weight * value).sum())
            noise += value * log_noise + self._slope(rows, y[rows] + location_error[rows], payoff) * location_error[rows]
            # an atom, or the end of a box, that may be on either side of a jump
            jumping = self.order[self.group[rows]] + payoff.smoothness == 0
            noise += np.where(jumping & (np.abs(np.abs(y[rows]) - self.half_diagonal[rows]) <= location_error[rows]), 1.0, 0.0)
            error += float((weight * noise).sum())
        # the rounding of the sums, and underflow
        return Scaled(log_scale, total, rounding=1.01 * error + ULP * (40 + paying.size / BLOCK) * total + 1e-290)

    def _slope(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> Array:
        """A bound of the slope up to y, over e^{(y + r)/2}: from the whole box, and from its corner above the threshold."""
        order = self.order[self.group[rows]]
        corner = np.maximum(y + self.half_diagonal[rows], 0.0)
        whole = np.exp(self.log_box[rows] - self.half_diagonal[rows] / 2)
        # a decreasing payoff is not bounded by its mean over the whole box
        bound: Array = np.minimum(2 * whole if payoff.rises else np.inf, corner**order / factorials(order))
        if payoff.smoothness < 1:
            # the face of the box that crosses the threshold
            face = order + payoff.smoothness - 1
            at_least = np.maximum(face, 0)
            bound += np.where(face < 0, 0.0, corner**at_least / factorials(at_least) * np.exp(-corner / 2))
        return np.where(order == 0, 2.0, bound)

    def _wholly(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> tuple[Array, Array]:
        """The payoff where the whole box is above the threshold, and its rounding error."""
        log_box, half_diagonal = self.log_box[rows], self.half_diagonal[rows]
        value = payoff.whole(y) * np.exp(log_box - half_diagonal / 2)
        return value, ELEMENTARY * (2 + np.abs(log_box) + half_diagonal) * value

    def _partly(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> tuple[Array, Array]:
        """The payoff as the alternating sum over the corners, and its rounding error."""
        group, half_diagonal = self.group[rows], self.half_diagonal[rows]
        signed, below = self.multiplicity[group], self.half_extent[group]
        top = (y + half_diagonal)[:, None]
        # the rounding of a corner's position: the slope is at most one, and at most that of the first term
        location_error = ULP * (2 + 2 * self.kinds[group])[:, None] * (np.abs(top) + below)
        half = top / 2 - below
        # other corners are surely below the threshold, or fill up the columns
        row, column = np.nonzero((half > -location_error) & (signed != 0))
        half, below, location_error = half[row, column], below[row, column], location_error[row, column]
        order = self.order[group][row]
        factor = 2.0 ** (order + payoff.smoothness) * signed[row, column] * np.exp(-below)
        part = factor * payoff.series(np.maximum(half, 0.0), order)
        first = np.maximum(order + payoff.smoothness - 1, 0)
        slope = np.minimum(1.0, (half + location_error) ** first / factorials(first))
        noise = (8 + order) * ELEMENTARY * (1 + below / 16) * np.abs(part) + np.abs(factor) * slope * location_error
        total, rounding = (np.bincount(row, one, rows.size).astype(np.float64) for one in (part, noise))
        return np.maximum(total, 0.0), rounding


def _corners(flats: tuple[tuple[float, int], ...]) -> tuple[Array, Array]:
    """Signed multiplicities of the corners of the box, and half their distances below the highest corner."""
    signs, below = np.ones(1), np.zeros(1)
    for width, m in flats:
        own = np.array([(-1.0) ** j * comb(m, j) for j in range(m + 1)])
        signs = np.multiply.outer(signs, own).ravel()
        below = np.add.outer(below, width * np.arange(m + 1)).ravel()
    return signs, below
