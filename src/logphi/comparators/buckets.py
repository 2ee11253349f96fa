"""Buckets: every loss rounded up, or down, to a multiple of one width, and the sums taken by convolution.

A slow and wide method that is easily seen to be right, for comparison with :mod:`logphi.grid.discretized`.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+], which grows with X. If every X_i is replaced by the
next multiple of h above, X grows and so does D; below, it falls. The second law of the pair does not enter:
only the probabilities of X_i are rounded. The price is that n terms move the sum by up to n h, where the chords of
:mod:`logphi.grid.lattice_law` keep the mean of every e^{-X_i} and cost about n h^2.

All numbers are masses, so that nothing cancels: a sum of products errs relatively. Sums are kept in a window of nodes. Above
it, mass counts as infinite in the upper law and as the window's top in the lower one; below it, mass counts as the window's
bottom in the upper law and as nothing in the lower one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.comparators.output_cells import Cells, cells_of
from logphi.laws.transform import LossTransform

# measured: two convolutions of so many nodes take some ten milliseconds
NODES = 4096
# measured: cells of a density, finer than the grid of most sums
CELLS = 1 << 13
# standard deviations that the window is wide beside the way to the threshold; measured: more only coarsens it
_REACH = 16.0
# measured: a law may reach over so many buckets before it is cut to the window; bounds the memory
_LONGEST = 1 << 22
# derived: with more repetitions, the bound of the rounding exceeds one
MOST_COUNT = 1 << 40
# the share of the mass that is cut off at either end of the window, after each convolution
_CUT = 1e-18
# derived: the relative error of a sum of N + 1 masses, or of products of two
_SUM = 1.01 * (NODES + 4) * ULP


@dataclass(frozen=True, eq=False)
class Buckets:
    """Intervals that hold all of a law, with bounds of their masses; ends may be infinite."""

    low: Array
    high: Array
    least: Array
    most: Array

    @staticmethod
    def of(law: LossTransform) -> Buckets:
        """The output cells of a normal or mixed normal law; the atoms and the flat part of any other.

        Raises
        ------
        ValueError
            If the law is neither.
        """
        cells = cells_of(law, CELLS)
        if cells is not None:
            return Buckets.of_cells(cells)
        pieces = law.support.pieces
        if pieces is None:
            raise ValueError(
                "no probabilities of intervals are known of some loss: buckets serve Gaussian, Laplace, exponential and finite "
                "mechanisms, Gaussians sampled too"
            )
        # weights are those of e^{-x/2} mu(dx)
        places, tilted = np.asarray(pieces.locations, dtype=float), np.asarray(pieces.log_weights, dtype=float)
        low, high, log_mass = places, places, tilted + places / 2
        if pieces.width:
            edges = np.linspace(-pieces.width, pieces.width, CELLS + 1)
            log_flat = pieces.log_density + edges[:-1] / 2 + np.log(2 * np.expm1(np.diff(edges) / 2))
            low, high = np.concatenate([low, edges[:-1]]), np.concatenate([high, edges[1:]])
            log_mass = np.concatenate([log_mass, log_flat])
            # an edge is off by its rounding, and a narrow cell's mass by that over its length
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
        """The cells of a law, ends and masses outward."""
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
        """Mean and variance, roughly."""
        known = np.isfinite(self.low) & np.isfinite(self.high)
        middle, mass = (self.low[known] + self.high[known]) / 2, self.most[known]
        mean = float((middle * mass).sum() / mass.sum())
        return mean, float(((middle - mean) ** 2 * mass).sum() / mass.sum())

    def rounded(self, step: float, upper: bool) -> Line:
        """All mass moved to the multiples of ``step`` above it, or below it."""
        ends, mass = (self.high, self.most) if upper else (self.low, self.least)
        kept = np.isfinite(ends)
        place = ends[kept] / step
        # the quotient is rounded outward as well
        room = 2 * ULP * np.abs(place)
        nodes = (np.ceil(place + room) if upper else np.floor(place - room)).astype(np.int64)
        bottom = int(nodes.min())
        infinite = float(mass[~kept].sum()) if upper else 0.0
        return Line(np.bincount(nodes - bottom, mass[kept]).astype(float), bottom, infinite, upper).windowed()


@dataclass(frozen=True, eq=False)
class Line:
    """Masses at ``step * (bottom + j)``, and mass at infinity; ``roundings`` counts sums that err by ``_SUM``."""

    mass: Array
    bottom: int
    infinite: float
    upper: bool
    roundings: int = 1

    def windowed(self) -> Line:
        """The same on at most ``NODES`` nodes, cut where there is little mass."""
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
            return Line(kept, self.bottom + first, self.infinite + top, True, self.roundings + 1)
        kept[-1] += top
        return Line(kept, self.bottom + first, 0.0, False, self.roundings + 1)

    def __add__(self, other: Line) -> Line:
        # in the order of the definition, without a Fourier transform, so that small masses keep their digits
        mass = np.convolve(self.mass, other.mass)
        # an upper bound: either term may be infinite
        infinite = self.infinite + other.infinite
        roundings = self.roundings + other.roundings + 1
        return Line(mass, self.bottom + other.bottom, infinite, self.upper, roundings).windowed()

    def times(self, count: int) -> Line:
        """The sum of ``count`` copies, by doubling."""
        if count == 1:
            return self
        half = self.times(count // 2)
        return half + half + self if count % 2 else half + half

    def excess(self, x: float, step: float) -> float:
        """D(x) of this line, rounded in its own direction."""
        nodes = step * (self.bottom + np.arange(self.mass.size, dtype=float))
        # half an ulp of the step is in every node, and of a node in the difference
        location_error = 4 * ULP * (np.abs(nodes) + abs(x))
        gain = -np.expm1(np.minimum(x - nodes + (-location_error if self.upper else location_error), 0.0))
        exponent = (self.roundings + 2) * _SUM
        if exponent > 1:
            # no digit is left
            return float(self.upper)
        wrong = math.expm1(exponent)
        total = float((self.mass * gain).sum())
        return (total + self.infinite) * (1 + wrong) + 1e-290 if self.upper else total * max(1 - wrong, 0.0)


def prepare(terms: Sequence[tuple[LossTransform, int]], x: float, most: int = NODES) -> Callable[[float], Scaled]:
    """D as a function of the threshold, on a grid that suits thresholds near x.

    Parameters
    ----------
    terms
        Laws with their counts; X is the sum.
    x
        A threshold, any finite real; it only decides how wide the buckets are.
    most
        How many buckets the range of the sum is cut into.

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
    >>> from logphi.laws.normal import Normal
    >>> found = prepare([(Normal(Plain(1.0)), 1)], 0.5)(0.5)
    >>> found.low < 0.238421708 < found.high, round(found.high - found.low, 3)
    (True, 0.002)
    """
    if sum(count for _, count in terms) > MOST_COUNT:
        raise ValueError(f"buckets serve up to {MOST_COUNT} releases, and tell nothing about more")
    known = [(Buckets.of(law), count) for law, count in terms]
    moments = [(*own.moments(), count) for own, count in known]
    mean = sum(count * own for own, _, count in moments)
    spread = math.sqrt(sum(count * variance for _, variance, count in moments))
    reach = max(own.extent for own, _ in known)
    step = max((_REACH * spread + 2 * abs(x - mean)) / most, reach / _LONGEST, 1e-12 * (1 + abs(mean) + abs(x)))

    def side(upper: bool) -> Line:
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
