"""Buckets: every loss rounded up, or down, to a multiple of a width, and the sums computed by convolution.

The method is slow and its bounds are wide, but it is easily seen to be right: it is for comparison with
:mod:`logphi.grid.discretized`.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+], which grows with X. If every X_i is rounded up to a
multiple of h, X grows and so does D; rounded down, both fall. The second law of the pair does not enter: only X_i is rounded,
under the first law. The price is that n terms change the sum by up to n h, where the chords of
:mod:`logphi.grid.lattice_law` keep the mean of every e^{-X_i} and change D by about n h^2.

All numbers are masses, so that nothing cancels and a sum of products has a small relative error. Sums are kept in a window of
nodes. In the upper law, mass above the window counts as infinite and mass below it as the window's bottom; in the lower law,
mass above counts as the window's top and mass below is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.comparators.output_cells import Cells, cells_of
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform

# measured: two convolutions of this many nodes take some ten milliseconds
NODES = 4096
# measured: cells of a density, finer than the grid of most sums
CELLS = 1 << 13
# measured: the width of the window in standard deviations, besides the distance to the threshold; more only coarsens it
_REACH = 16.0
# measured: the largest number of buckets of a law before it is reduced to the window; bounds the memory
_LONGEST = 1 << 22
# derived: with more repetitions, the bound of the rounding exceeds one
MOST_COUNT = 1 << 40
# chosen: the share of the mass that is truncated at either end of the window, after each convolution
_CUT = 1e-18
# derived: the relative error of a sum of N + 1 masses, or of products of two
_SUM = 1.01 * (NODES + 4) * ULP


@dataclass(frozen=True, eq=False)
class Buckets:
    """Intervals that contain all mass of a law, with bounds of the mass of each; ends may be infinite."""

    low: Array
    high: Array
    least: Array
    most: Array

    @staticmethod
    def of(law: LossTransform) -> Buckets:
        """The output cells of a normal or mixed normal law; the atoms, and cells of the density, of any other law.

        Raises
        ------
        ValueError
            If neither is known.
        """
        cells = cells_of(law, CELLS)
        if cells is not None:
            return Buckets.of_cells(cells)
        pieces = law.support.pieces
        if pieces is None:
            raise ValueError(
                "the probabilities of intervals of some loss are not known: 'buckets' supports Gaussian, Laplace, exponential "
                "and finite mechanisms, and sampled Gaussians"
            )
        # weights are those of e^{-x/2} mu(dx)
        places, tilted = np.asarray(pieces.locations, dtype=float), np.asarray(pieces.log_weights, dtype=float)
        low, high, log_mass = places, places, tilted + places / 2
        if pieces.width:
            edges = np.linspace(-pieces.width, pieces.width, CELLS + 1)
            log_flat = pieces.log_density + edges[:-1] / 2 + np.log(2 * np.expm1(np.diff(edges) / 2))
            low, high = np.concatenate([low, edges[:-1]]), np.concatenate([high, edges[1:]])
            log_mass = np.concatenate([log_mass, log_flat])
            # an edge has a rounding error, and the mass of a narrow cell has that relative to its length
            tilted = np.concatenate([tilted, log_flat + math.log(CELLS)])
        edge_error = pieces.location_error + ELEMENTARY * (1 + np.maximum(np.abs(low), np.abs(high)))
        wrong = (
            pieces.relative_error
            + pieces.location_error
            + 4 * ELEMENTARY * (2 + np.abs(log_mass) + np.abs(tilted) + np.abs(low))
        )
        wrong[places.size :] += 8 * ULP * CELLS
        mass = np.exp(log_mass)
        return Buckets(low - edge_error, high + edge_error, mass * (1 - wrong), mass * (1 + wrong))

    @staticmethod
    def of_cells(cells: Cells) -> Buckets:
        """The cells of a law, with ends and masses rounded outward."""
        edge_error = cells.edge_error + ELEMENTARY * np.where(np.isfinite(cells.edges), np.abs(cells.edges), 0.0)
        # half an ulp of a parameter changes a mass relatively by as much as it changes a loss
        wrong = cells.mass_error[1:] + cells.mass_error[:-1] + (ELEMENTARY + edge_error[1:] + edge_error[:-1]) * cells.mass
        ends = (cells.edges - edge_error)[:-1], (cells.edges + edge_error)[1:]
        return Buckets(*ends, np.maximum(cells.mass - wrong, 0.0), cells.mass + wrong)

    @property
    def extent(self) -> float:
        """The distance between the lowest and the highest finite end."""
        ends = np.concatenate([self.low, self.high])
        ends = ends[np.isfinite(ends)]
        return float(ends.max() - ends.min())

    def moments(self) -> tuple[float, float]:
        """The mean and the variance, approximately."""
        known = np.isfinite(self.low) & np.isfinite(self.high)
        middle, mass = (self.low[known] + self.high[known]) / 2, self.most[known]
        mean = float((middle * mass).sum() / mass.sum())
        return mean, float(((middle - mean) ** 2 * mass).sum() / mass.sum())

    def rounded(self, step: float, upper: bool) -> RoundedSum:
        """All mass moved up, or down, to the multiples of ``step``."""
        ends, mass = (self.high, self.most) if upper else (self.low, self.least)
        kept = np.isfinite(ends)
        place = ends[kept] / step
        # the quotient is rounded outward as well
        room = 2 * ULP * np.abs(place)
        nodes = (np.ceil(place + room) if upper else np.floor(place - room)).astype(np.int64)
        bottom = int(nodes.min())
        infinite = float(mass[~kept].sum()) if upper else 0.0
        return RoundedSum(np.bincount(nodes - bottom, mass[kept]).astype(float), bottom, infinite, upper).windowed()


@dataclass(frozen=True, eq=False)
class RoundedSum:
    """Masses at ``step * (bottom + j)``, and the infinite mass; ``roundings`` counts sums with a relative error ``_SUM``."""

    mass: Array
    bottom: int
    infinite: float
    upper: bool
    roundings: int = 1

    def windowed(self) -> RoundedSum:
        """The masses on at most ``NODES`` nodes, truncated where there is little mass."""
        mass, total = self.mass, float(self.mass.sum())
        below, above = np.cumsum(mass), np.cumsum(mass[::-1])
        first = int(np.searchsorted(below, _CUT * total))
        last = mass.size - int(np.searchsorted(above, _CUT * total))
        if last - first > NODES:
            # the window that holds the most mass
            padded = np.concatenate([[0.0], below])
            first = int(np.argmax(padded[NODES:] - padded[:-NODES]))
            last = first + NODES
        kept = mass[first:last].copy()
        bottom, top = float(mass[:first].sum()), float(mass[last:].sum())
        if self.upper:
            kept[0] += bottom
            return RoundedSum(kept, self.bottom + first, self.infinite + top, True, self.roundings + 1)
        kept[-1] += top
        return RoundedSum(kept, self.bottom + first, 0.0, False, self.roundings + 1)

    def __add__(self, other: RoundedSum) -> RoundedSum:
        # summed directly, without a Fourier transform, so that small masses keep their digits
        mass = np.convolve(self.mass, other.mass)
        # an upper bound: either term may be infinite
        infinite = self.infinite + other.infinite
        roundings = self.roundings + other.roundings + 1
        return RoundedSum(mass, self.bottom + other.bottom, infinite, self.upper, roundings).windowed()

    def times(self, count: int) -> RoundedSum:
        """The sum of ``count`` copies, by doubling."""
        if count == 1:
            return self
        half = self.times(count // 2)
        return half + half + self if count % 2 else half + half

    def excess(self, x: float, step: float) -> float:
        """D(x) of this sum: rounded up for the upper law, down for the lower one."""
        nodes = step * (self.bottom + np.arange(self.mass.size, dtype=float))
        # every node has the rounding error of the step, and the difference has one more
        location_error = 4 * ULP * (np.abs(nodes) + abs(x))
        gain = -np.expm1(np.minimum(x - nodes + (-location_error if self.upper else location_error), 0.0))
        exponent = (self.roundings + 2) * _SUM
        if exponent > 1:
            # no digit is certain
            return float(self.upper)
        wrong = math.expm1(exponent)
        total = float((self.mass * gain).sum())
        return (total + self.infinite) * (1 + wrong) + 1e-290 if self.upper else total * max(1 - wrong, 0.0)


def prepare(law: LogPhi, x: float, most: int = NODES) -> Callable[[float], Scaled]:
    """D as a function of the threshold, on a grid chosen for thresholds near x.

    Parameters
    ----------
    law
        The law of X, a sum of counted laws.
    x
        A threshold, any finite real; it only determines the width of the buckets.
    most
        The number of buckets that the range of the sum is divided into.

    Returns
    -------
    callable
        D(x) between two proved ends, on the scale one: ``discretization`` is half their distance.

    Raises
    ------
    ValueError
        If the probabilities of a law are not known, or there are more than ``MOST_COUNT`` terms.

    References
    ----------
    Meiser & Mohammadi 2018, *Tight on Budget?*; Google 2024, *Privacy Loss Distributions*, section 2.1.

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> from logphi.laws.normal.normal import Normal
    >>> found = prepare(LogPhi.of([(Normal(Plain(1.0)), 1)]), 0.5)(0.5)
    >>> found.low < 0.238421708 < found.high, round(found.high - found.low, 3)
    (True, 0.002)
    """
    if sum(count for _, count in law.terms) > MOST_COUNT:
        raise ValueError(f"'buckets' supports up to {MOST_COUNT} releases: for more its bounds are trivial")
    known = [(Buckets.of(own), count) for own, count in law.terms]
    moments = [(*own.moments(), count) for own, count in known]
    mean = sum(count * own for own, _, count in moments)
    spread = math.sqrt(sum(count * variance for _, variance, count in moments))
    reach = max(own.extent for own, _ in known)
    step = max((_REACH * spread + 2 * abs(x - mean)) / most, reach / _LONGEST, 1e-12 * (1 + abs(mean) + abs(x)))

    def side(upper: bool) -> RoundedSum:
        lines = [own.rounded(step, upper).times(count) for own, count in known]
        total = lines[0]
        for line in lines[1:]:
            total = total + line
        return total

    low, high = side(False), side(True)

    def at(threshold: float) -> Scaled:
        ends = low.excess(threshold, step), high.excess(threshold, step)
        return Scaled(0.0, sum(ends) / 2, discretization=(ends[1] - ends[0]) / 2, rounding=1e-15 * ends[1])

    return at
