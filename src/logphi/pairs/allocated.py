"""Random allocation, between two finite pairs: the law of the mean of many likelihood ratios.

notation: Y = p/q under Q, t batches, S the mean of t independent copies of Y. One batch of t, drawn uniformly, has the law P,
all others have Q. The profile is E(S - a)_+ plus the infinite mass of P, that of the reversed pair a E(1/a - S)_+: means of
convex functions of S. If Y is replaced by a variable above or below it in the convex order (:mod:`logphi.grid.ratio_cells`), so
are S and both profiles. Variables on a lattice have means on a lattice, which are put on fewer nodes in the same order.

Rounding: all weights, ratios and parameters have a small relative error, and a product of t of them t times as much.
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
from logphi.pairs.between import NotBetweenError, between, is_known
from logphi.pairs.finite import FinitePair, listed
from logphi.pairs.pair import Joint, Pair, UnsupportedError
from logphi.pairs.ratio_atoms import RatioAtoms, ratio_atoms

# measured: FFTs of this size give six digits for up to a thousand batches in a second
_SIZE = 1 << 18
# measured: the largest number of cells of a ratio
_CELLS = 1 << 13
# measured: the largest number of cells of the sum over all batches, where it is a direct convolution
_DIRECT = 1 << 15
# chosen: the number of standard deviations of the sum that an FFT holds
_HELD = 22.0
# measured: a pair with this many outcomes composes in a second
_OUTCOMES = 1 << 15
# measured: with fewer cells in a standard deviation of the ratio, the bounds are far apart
_TO_DEVIATION = 16.0
# derived: far above the rounding of a ratio
_ROUNDED = 64 * ULP
# chosen: a bound that omits more mass is useless
_MOST_OMITTED = 1e-3
# derived: products of weights below this lose digits or vanish
_VANISHING = 1e-300
# derived: the sum of all such products is below this
_VANISHED = 1e-290
# chosen: cells that give a rough standard deviation
_ROUGH = 256


def check_ratios(pair: Pair, batches: int) -> None:
    """Check that the law of the ratio is known, and that the cells which this number of batches allows resolve it.

    Raises
    ------
    UnsupportedError
        If it is unknown or not resolved.
    """
    try:
        for one in _finite_ends(pair) or (pair,):
            _lattices(one, batches)
    except UnsupportedError as unknown:
        _atoms(pair, unknown)


def _finite_ends(pair: Pair) -> tuple[FinitePair, FinitePair] | None:
    """Finite pairs below and above a pair of which only the loss is known: allocation keeps their order."""
    if not isinstance(pair, Joint) or not is_known(pair.loss()):
        return None
    try:
        return between(pair.loss())
    except NotBetweenError:
        return None


def _atoms(pair: Pair, unknown: UnsupportedError) -> tuple[RatioAtoms, RatioAtoms]:
    """The law of the ratio on unequal nodes, below and above; ``unknown`` says why it has none on a lattice."""
    try:
        return ratio_atoms(pair)
    except (ValueError, ArithmeticError):
        # the cells of a part have no masses
        raise unknown from None


@lru_cache(maxsize=16)
def _lattices(pair: Pair, batches: int) -> tuple[Ratios, Array, Array]:
    """The law of the ratio on a lattice, with weights that are below and above it in the convex order."""
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
    """A pair that the allocation dominates, and one that dominates it: of many batches, a random one has the law P."""
    try:
        below, above = _finite_ends(pair) or (pair, pair)
        lower, upper = _lattices(below, batches), _lattices(above, batches)
        return _mean(lower[0], lower[1], batches, upper=False), _mean(upper[0], upper[2], batches, upper=True)
    except UnsupportedError as unknown:
        own, other = _atoms(pair, unknown)
        return _mean_of_atoms(own, batches, upper=False), _mean_of_atoms(other, batches, upper=True)


def _mean(known: Ratios, masses: Array, batches: int, *, upper: bool) -> FinitePair:
    total = Draws(masses).sum_of(batches, _SIZE)
    found = np.where(total.weights > _VANISHING, total.weights, 0.0)
    if upper and batches <= MOST_DIRECT:
        # masses that were dropped go to both ends, where a convex function is largest
        found[[0, -1]] += _VANISHED
    held = np.flatnonzero(found)
    place = known.cells.start + known.cells.step * ((held + total.first) / batches)
    weights = found[held]
    if held.size > _OUTCOMES:
        few = RatioCells.of_atoms(place, weights, _OUTCOMES)
        weights, place = few.above() if upper else few.below(), few.nodes
        place, weights = place[weights > 0], weights[weights > 0]
    highest = known.cells.nodes[-1]
    # all batches but one have the law Q, and the likelihood ratio of the other one is at most the highest ratio
    omitted = (batches * known.omitted + total.omitted) * max(1.0, float(highest)) * (1 + 1e-9)
    if omitted > _MOST_OMITTED:
        raise _spread_too_far(batches)
    p, q = weights * place, weights
    if known.infinite:
        p, q = np.append(p, known.infinite), np.append(q, 0.0)
    # the relative error of a mean of positive terms is at most the largest of theirs
    of_ratio = 2 * known.relative_error + _ROUNDED
    error = math.expm1(batches * math.log1p(known.relative_error)) + total.error + of_ratio
    errors = tuple((one,) * p.size for one in (error, error, of_ratio))
    return FinitePair(tuple(p.tolist()), tuple(q.tolist()), error, None, omitted, known.growth, errors)


def _mean_of_atoms(law: RatioAtoms, batches: int, *, upper: bool) -> FinitePair:
    total = law.atoms.sum_of(batches, upper=upper)
    place, q = total.places / batches, total.masses
    # P has at most the largest ratio of the mass that Q has
    omitted = (batches * law.omitted + total.omitted * max(1.0, float(place[-1]))) * (1 + 1e-9)
    if omitted > _MOST_OMITTED or total.mass_error > _MOST_OMITTED:
        raise _spread_too_far(batches)
    of_place = total.place_error + 4 * ULP
    columns = [place * q, q, *(np.full(q.size, one) for one in (total.mass_error + of_place, total.mass_error, of_place))]
    return listed(columns, (law.infinite, 0.0), (law.infinite_error, 0.0), omitted)
