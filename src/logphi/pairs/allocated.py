"""Random allocation between two finite pairs: the mean of many ratios of two laws.

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
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.mean_power import MOST_DIRECT, Draws
from logphi.grid.ratio_cells import RatioCells
from logphi.grid.ratio_laws import Ratios, TooWideError
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair, UnsupportedError

# measured: transforms of this size give six digits up to a thousand batches in a second
_SIZE = 1 << 18
# measured: cells of a ratio at most, and of all batches together where they are convolved directly
_CELLS, _DIRECT = 1 << 13, 1 << 15
# chosen: how many standard deviations of the sum a transform holds
_HELD = 22.0
# measured: a pair with so many cells composes in a second
_OUTCOMES = 1 << 15
# measured: with fewer cells to a standard deviation of the ratio the bounds are far apart
_TO_DEVIATION = 16.0
# derived: far more than the rounding of a ratio
_ROUNDED = 64 * ULP
# chosen: a bound that leaves out more says nothing that anybody would use
_MOST_OMITTED = 1e-3
# derived: products of weights that are smaller than the first lose digits or vanish; all of them together are below the second
_VANISHING, _VANISHED = 1e-300, 1e-290
# cells on which a standard deviation is roughly known
_ROUGH = 256


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
    try:
        known = pair.ratios(_cells_for(pair, batches))
        return known, known.cells.below(), known.cells.above()
    except TooWideError as wide:
        raise UnsupportedError(
            "random allocation of other mechanisms than the Gaussian puts the ratio of two laws on a lattice, and this one "
            f"{wide}; m.fixed_order(batches) is an upper bound"
        ) from wide
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
    found = np.where(total.weights > _VANISHING, total.weights, 0.0)
    if upper and batches <= MOST_DIRECT:
        # both ends are ratios of the mean: what a convex function has in between is at most what it has there
        found[[0, -1]] += _VANISHED
    held = np.flatnonzero(found)
    place = known.cells.start + known.cells.step * ((held + total.first) / batches)
    weights = found[held]
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
