"""Likelihood ratios as atoms below and above those of a pair in the convex order, however large they are.

The cells of the loss of each release have known masses and means of the ratio. Below, the mass of a cell lies at its mean;
above, at both ends with the same mean. The ratio of several releases is the product of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.atoms import Atoms
from logphi.grid.nonnegative_sums import NonnegativeAtoms
from logphi.pairs.between import NotBetweenError, Part, parts_of
from logphi.pairs.common_step import common_step
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair

# measured: the cells of a release, which are put on fewer nodes where the ratios are close to each other
_CELLS = 1 << 12
# derived: larger ratios would exceed the range of doubles in products with masses that are left out
_LARGEST = 500.0
# chosen: outcomes that are rarer under both laws are left out
_RARE = 1e-290
# derived: far above the rounding of a mass and of a ratio
_ROUNDED = 64 * ULP


@dataclass(frozen=True, eq=False)
class RatioAtoms:
    """The law of a ratio under Q, and the mass of P where Q has none, with its relative error.

    ``omitted`` bounds the mass of either law that is left out.
    """

    atoms: NonnegativeAtoms
    infinite: float
    infinite_error: float
    omitted: float


@lru_cache(maxsize=16)
def ratio_atoms(pair: Pair) -> tuple[RatioAtoms, RatioAtoms]:
    """The law of a ratio below that of a pair, and one above.

    Raises
    ------
    NotBetweenError
        If the masses of cells are not known, or ratios are too large.
    """
    if isinstance(pair, FinitePair):
        own = _of_outcomes(pair)
        return own, own
    parts = parts_of(pair.loss())
    below, above = (_of_parts(parts, upper=upper) for upper in (False, True))
    return below, above


def _of_outcomes(pair: FinitePair) -> RatioAtoms:
    p, q = np.array(pair.p), np.array(pair.q)
    errors = np.array(pair.cell_errors) if pair.cell_errors else np.outer([1, 1, 2], np.full(p.size, pair.relative_error))
    kept, alone = (q > 0) & ((p > _RARE) | (q > _RARE)), q == 0
    lost = float(np.maximum(p * (1 + errors[0]), q * (1 + errors[1]))[(q > 0) & ~kept].sum()) * (1 + 1e-9)
    if not kept.any():
        raise NotBetweenError("no outcome is likely enough")
    of_q, of_ratio = (float(one[kept].max()) + _ROUNDED for one in errors[1:])
    infinite_error = float(errors[0, alone].max(initial=0.0)) + _ROUNDED
    atoms = _sorted(p[kept] / q[kept], q[kept], of_ratio, of_q)
    return RatioAtoms(atoms, math.fsum(p[alone].tolist()), infinite_error, pair.omitted_mass + lost)


def _of_parts(parts: Sequence[tuple[Part, int]], *, upper: bool) -> RatioAtoms:
    powers = [_of_part(part, upper=upper).product_of(count, upper=upper) for part, count in parts]
    product = reduce(partial(NonnegativeAtoms.times, upper=upper), powers)
    log_certain = sum(count * math.log1p(-part.only[0]) for part, count in parts)
    # the relative error of one less a product of such numbers
    error = max(part.only_error / (1 - part.only[0]) for part, _ in parts) * 1.01 + _ROUNDED
    omitted = sum(count * sum(part.beyond) for part, count in parts) * (1 + 1e-9)
    return RatioAtoms(product, -math.expm1(log_certain), error, omitted)


def _of_part(part: Part, *, upper: bool) -> NonnegativeAtoms:
    if not max(-part.low, part.high) < _LARGEST or not part.only[0] < 1:
        raise NotBetweenError("a loss is too large")
    if isinstance(part.cells, Atoms):
        x, error = np.array(part.cells.locations), part.cells.location_error
        places, masses, place_error, mass_error = np.exp(x), np.exp(np.array(part.cells.log_p) - x), error, 2 * error
    else:
        ends = [end for end in (part.low, part.high) if not any(part.beyond)]
        step = common_step(ends, (part.high - part.low) / _CELLS)
        first, last = math.floor(part.low / step), math.ceil(part.high / step)
        cells = part.cells.cells(first, max(last, first + 1), step, upper)
        x, mass = cells.index * step, np.exp(cells.log_mass)
        mass_error = float((cells.error + 4 * ULP * np.abs(cells.log_mass)).max())
        place_error = float(cells.share_error.max()) * math.expm1(step) + 2 * cells.location_error
        if upper:
            places = np.exp(np.concatenate([x, x + step]))
            masses = np.concatenate([mass * (1 - cells.share), mass * cells.share])
        else:
            places, masses = np.exp(x) * (1 + cells.share * math.expm1(step)), mass
    if part.only[1] > 0:
        places, masses = np.append(places, 0.0), np.append(masses, part.only[1])
        mass_error = max(mass_error, part.only_error)
    return _sorted(places, masses, place_error + _rounding(x), mass_error + _ROUNDED)


def _rounding(x: Array) -> float:
    return _ROUNDED + 4 * ULP * float(np.abs(x).max())


def _sorted(places: Array, masses: Array, place_error: float, mass_error: float) -> NonnegativeAtoms:
    kept = np.argsort(places)
    kept = kept[masses[kept] > 0]
    return NonnegativeAtoms(places[kept], masses[kept], place_error, mass_error, 0.0)
