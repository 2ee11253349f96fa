"""The ratio of two laws on a lattice, and the mean of many of them: random allocation between two finite pairs.

notation: Y = p/q under Q, t batches, S the mean of t independent copies of Y. For one batch of t, drawn uniformly, by P and all
others by Q the profile is E(S - a)_+ plus the infinite mass of P, and that of the reversed pair a E(1/a - S)_+. Both are means
of convex functions of S: with a variable above or below Y in the convex order (:mod:`logphi.grid.ratio_cells`) for Y, their
mean is above or below S, and so are both profiles. The means of lattice variables lie on a lattice. They are put on fewer nodes
in the same order.

What rounding does: all weights, ratios and parameters are within a share of themselves, so that every product of t of them is
within t times that share, and so is the pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from logphi.arith.floats import FLOATS, ULP
from logphi.arrays import Array
from logphi.grid.mean_power import MOST_DIRECT, Draws
from logphi.grid.ratio_cells import RatioCells
from logphi.laws.flat_constants import uniform, with_atoms
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair, UnsupportedError, not_allocated

if TYPE_CHECKING:
    from logphi.pairs.flat import TiltedFlat

# measured: transforms of this size give six digits up to a thousand batches in a second
_SIZE = 1 << 18
# measured: cells of a ratio at most, and of all batches together where they are convolved directly
_CELLS, _DIRECT = 1 << 13, 1 << 15
# chosen: how many standard deviations of the sum a transform holds
_HELD = 22.0
# measured: a pair with so many cells composes in a second
_OUTCOMES = 1 << 15
# chosen: the largest log-ratio, and the least one that is told from none
_LARGEST, _LEAST = 5.0, 1e-4
# measured: with fewer cells to a standard deviation of the ratio the bounds are far apart
_TO_DEVIATION = 16.0
# derived: far more than the roundings of a weight and of its ratio
_ROUNDED = 64 * ULP
# chosen: a bound that leaves out more says nothing that anybody would use
_MOST_OMITTED = 1e-3
# chosen: what is rarer under both laws is left out
_RARE = 1e-30
# cells on which a standard deviation is roughly known
_ROUGH = 256


@dataclass(frozen=True, eq=False)
class Ratios:
    """The law of the ratio under Q, the mass of P where Q has none, and what both are within, relatively.

    ``omitted`` bounds the mass that either law has elsewhere, ``growth`` twice the zCDP of both orders or infinity.
    """

    cells: RatioCells
    infinite: float
    relative_error: float
    omitted: float
    growth: float


def of_flat(pair: TiltedFlat, cells: int) -> Ratios:
    """Under Q the ratio y has the density C y^{-3/2} between e^{-w} and e^w, and two atoms at the ends."""
    disc = pair.width.under(FLOATS)
    w = float(disc.mid)
    if pair.failure:
        raise not_allocated()
    _check_reach(w, w)
    start, end = math.exp(-w), math.exp(w)
    step = 2 * math.sinh(w) / cells
    log_c, log_a = (with_atoms if pair.with_atoms else uniform)(w)
    roots = np.sqrt(start + step * np.arange(cells + 1))
    a, b = roots[:-1], roots[1:]
    mass, share = 2 * math.exp(log_c) * step / ((a + b) * a * b), a / (a + b)
    sag = np.minimum(mass * share * (1 - share), math.exp(log_c) * step / (8 * a**3)) * (1 + 1e-12)
    held = np.zeros(cells + 1)
    if pair.with_atoms:
        held[0], held[-1] = math.exp(log_a + w / 2), math.exp(log_a - w / 2)
    law = RatioCells(start, step, held, mass * (1 - share), mass * share, sag)
    return Ratios(law, 0.0, _ROUNDED * (1 + w) + 8 * float(disc.rad) * (1 + 1 / w), 0.0, _growth(start, end))


def of_outcomes(pair: FinitePair, cells: int) -> Ratios:
    """Atoms at p/q; what is rare under both laws is left out."""
    p, q = np.array(pair.p), np.array(pair.q)
    kept = (q > 0) & ((p > _RARE) | (q > _RARE))
    rare = float(np.maximum(p, q)[(q > 0) & ~kept].sum()) * (1 + 1e-9)
    ratios, place = np.unique(p[kept] / q[kept], return_inverse=True)
    masses = np.bincount(place, q[kept]).astype(np.float64)
    positive = ratios[ratios > 0]
    if positive.size == 0 or ratios.size < 2:
        raise not_allocated()
    _check_reach(math.log(positive[-1]), abs(math.log(positive[0])) if positive.size == ratios.size else math.inf)
    law = RatioCells.of_atoms(ratios, masses, 1 if ratios.size == 2 else cells)
    infinite = float(p[q == 0].sum())
    growth = math.inf if infinite or rare or pair.omitted_mass else _growth(ratios[0], ratios[-1])
    return Ratios(law, infinite, 2 * pair.relative_error + _ROUNDED, pair.omitted_mass + rare, growth)


def _growth(lowest: float, highest: float) -> float:
    """With all losses within epsilon of zero K(z) <= z (z + 1) epsilon^2 / 2 (Bun & Steinke 2016)."""
    return max(math.log(highest), -math.log(lowest)) ** 2 * (1 + 1e-9) if lowest > 0 else math.inf


def _check_reach(above: float, below: float) -> None:
    if not (above <= _LARGEST and max(above, below) >= _LEAST):
        raise UnsupportedError(
            "random allocation of other mechanisms than the Gaussian needs a largest loss between "
            f"{_LEAST:g} and {_LARGEST:g}, got {above!r}; m.fixed_order(batches) is an upper bound"
        )


def check_ratios(pair: Pair, batches: int) -> None:
    """That the ratios of a pair are known, and fine enough on the cells that so many batches allow.

    Raises
    ------
    UnsupportedError
        If not.
    """
    _lattices(pair, batches)


@lru_cache(maxsize=16)
def _lattices(pair: Pair, batches: int) -> tuple[Ratios, Array, Array]:
    """The ratios on a lattice, and weights below and above them."""
    known = pair.ratios(_cells_for(pair, batches))
    try:
        return known, known.cells.below(), known.cells.above()
    except ArithmeticError as coarse:
        raise _spread_too_far(batches) from coarse


def _spread_too_far(batches: int) -> UnsupportedError:
    return UnsupportedError(
        f"the ratio of the two laws spreads too far to be put on a lattice for {batches} batches; m.fixed_order(batches) is an "
        "upper bound"
    )


def _cells_for(pair: Pair, batches: int) -> int:
    rough = pair.ratios(_ROUGH).cells
    if rough.held.size == 2:
        return 1
    deviation = Draws(rough.above()).spread(batches) / _ROUGH
    wide = int(_SIZE / (_HELD * deviation * math.sqrt(batches)))
    cells = min(_DIRECT // batches if batches <= MOST_DIRECT else max(wide, 1), _CELLS)
    if cells * deviation < _TO_DEVIATION:
        raise _spread_too_far(batches)
    return cells


@lru_cache(maxsize=16)
def allocated_between(pair: Pair, batches: int) -> tuple[FinitePair, FinitePair]:
    """A pair that is dominated by one batch of many, drawn uniformly, by P and all others by Q, and one that dominates it."""
    known, below, above = _lattices(pair, batches)
    return _mean(known, below, batches, upper=False), _mean(known, above, batches, upper=True)


def _mean(known: Ratios, masses: Array, batches: int, *, upper: bool) -> FinitePair:
    total = Draws(masses).sum_of(batches, _SIZE)
    held = np.flatnonzero(total.weights > 0)
    place = known.cells.start + known.cells.step * ((held + total.first) / batches)
    weights = total.weights[held]
    if held.size > _OUTCOMES:
        few = RatioCells.of_atoms(place, weights, _OUTCOMES)
        weights, place = few.above() if upper else few.below(), few.nodes
        place, weights = place[weights > 0], weights[weights > 0]
    highest = known.cells.nodes[-1]
    # all draws but one are by Q, and the one by P has at most the highest ratio
    omitted = (batches * known.omitted + total.omitted) * max(1.0, float(highest)) * (1 + 1e-9)
    if omitted > _MOST_OMITTED:
        raise _spread_too_far(batches)
    p, q = weights * place, weights
    if known.infinite:
        p, q = np.append(p, known.infinite), np.append(q, 0.0)
    # the ratio is a mean: it errs as each of its parts does
    of_ratio = 2 * known.relative_error + _ROUNDED
    error = math.expm1(batches * math.log1p(known.relative_error)) + total.error + of_ratio
    errors = ((error, error, of_ratio),) * p.size
    return FinitePair(tuple(p.tolist()), tuple(q.tolist()), error, None, omitted, known.growth, errors)
