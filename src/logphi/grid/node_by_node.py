"""Bounds of an excess far below its Chernoff bounds: laws on nodes, convolved node by node in positive numbers.

Sums of positive products (:mod:`logphi.grid.positive_sums`) keep their digits where a few large losses compete with many small
ones, and all integrals cancel. As there may be a few thousand nodes only, the ends agree to two digits at best.

notation: X = sum of n_i independent X_i, D(x) = E[(1 - e^{x-X})_+], h the step. All nodes are counted from the lowest one.

* Above: each X_i is replaced by the lattice law above it (:mod:`logphi.grid.discretization`). What lies above the last node
  of a partial sum exceeds every threshold in question, and counts as an infinite loss.
* Below: each X_i is replaced by the number J_i of its cell, rounded down. The sum J of these numbers is a function of the
  outcome, and no function makes two measures easier to distinguish: D(x) is at least the sum over J of (P_J - e^x Q_J)_+,
  with P_J and Q_J the masses of J under both measures. Where cells are unknown, the lattice law below takes their place.

Both differ from D in second order of h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.safe import safe_expm1, safe_log
from logphi.arith.scaled import Scaled
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.discretization import Discretizers, discretizers
from logphi.grid.discretizer import Discretizer, DoubleInterval
from logphi.grid.lattice_law import Grid, Indices, LatticeLaw
from logphi.grid.positive_sums import LARGEST_LOG, NodeMasses, Window, one_sided
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import saddle_of_excess
from logphi.inversion.lines.kernels import log_kappa
from logphi.laws.log_phi import terms_of
from logphi.laws.transform import LossTransform
from logphi.normal.errors import MASS

# measured: the numbers of nodes that are tried in turn; the last one takes about a second
_SIZES = (1 << 11, 1 << 12, 1 << 13)
# measured: above the threshold, losses matter until the tilt is e^-_FAR
_FAR = 20.0
# derived: the logarithm of a mass far below all doubles, and a mass above what underflows
_NO_DOUBLE, _LEAST = -800.0, 1e-320
# chosen: the logarithm of an integrand at its saddle from which on no sum is laid out
_LOWEST = -2000.0
# derived: masses deeper than this below the largest node would underflow
_DEEPEST = 600.0
# chosen: what lies below the nodes is this far below the excess, as a logarithm
_MARGIN = 40.0
# measured: the number of steps between the ends of a law, with which its top and bottom are found, and of bisections for a cut
_COARSE = 256
_BISECTIONS = 7
# measured: steps over which e^{cx} grows by more than this, as a logarithm, are useless
_LONGEST = 30.0
# chosen: a law may have so many times the nodes of the sum
_MORE = 4
# chosen: the largest distance of the nodes of one law, in steps
_MOST = 1 << 20
# chosen: a factor between both ends
_NARROW = 0.1
# measured: the largest number of summands for each node, as each cell number is rounded down
_SUMMANDS = 8


@dataclass(frozen=True)
class Prepared:
    """Sums above and below, prepared for one threshold; their bounds hold at every threshold.

    ``location_error`` is that of the nodes above. ``log_omitted`` bounds what lies below those nodes, tilted like the masses.
    ``p`` and ``q`` are the masses of the cell numbers below. ``factor`` encloses the logarithm of a constant factor.
    """

    step: float
    tilt: float
    above: NodeMasses
    location_error: float
    log_omitted: float
    p: NodeMasses
    q: NodeMasses
    factor: DoubleInterval

    def at(self, x: float) -> Scaled:
        """E[(1 - e^{x-X})_+] between two proved ends."""
        return Scaled.between(self._log_low(x) + self.factor.low, min(self._log_high(x) + self.factor.high, 0.0))

    def _log_high(self, x: float) -> float:
        one, c = self.above, self.tilt
        places = one.places(self.step)
        reach = abs(x) + float(np.abs(places).max())
        x -= self.location_error + 8 * ULP * reach
        held = places > x
        log_excess = -math.inf
        if held.any():
            terms = one.logs()[held] - c * places[held] + np.log(-np.expm1(x - places[held]))
            log_excess = float(log_sum(terms)) + one.doubt(c * reach)
        log_omitted = self.log_omitted - c * x + 1e-12 * (1 + c * reach)
        return float(np.logaddexp(np.logaddexp(log_excess, one.log_lost), log_omitted)) + 1e-12

    def _log_low(self, x: float) -> float:
        p, q = self.p, self.q
        places = p.places(self.step)
        reach = float(np.abs(places).max())
        log_p = p.logs() - p.doubt(self.tilt * reach)
        log_q = q.logs() + q.doubt(self.tilt * reach + abs(x)) + x
        held = log_p > log_q
        if not held.any():
            return -math.inf
        terms = (log_p - self.tilt * places)[held] + np.log(-np.expm1((log_q - log_p)[held]))
        return float(log_sum(terms)) - 1e-14


def prepare(law: LossTransform, x: float, demand: Demand) -> Prepared:
    """Sums above and below a law near a threshold x >= 0, on a few thousand nodes at most.

    Raises
    ------
    ValueError
        If the sum contains a law without known cell masses, or needs too many nodes, or if its excess is not small, or far
        below all doubles.
    """
    parts, factor = discretizers(terms_of(law))
    found = saddle_of_excess(law, x)
    if not (x >= 0 and parts and _LOWEST < found.value < -1):
        raise ValueError("the excess is not small, or far below all doubles")
    lows = (count * term.support.lower for term, count in terms_of(law))
    fall = x - sum(low for low in lows if math.isfinite(low))
    tilt, best, width = found.abscissa, None, math.inf
    if fall > 0:
        tilt = min(-found.value / fall, tilt)
    for size in _SIZES:
        one = _prepared(parts, tilt, size, x, fall, factor)
        if one is None:
            continue
        reached = one.at(x).relative_width
        if best is None or reached < width:
            best, width = one, reached
        if width <= max(demand.rtol, _NARROW):
            break
        low, high = one.at(x).log_ends
        # the excess may be far smaller than the integrand at its saddle, and hardly any mass may be at the end of the support
        fall = min(x - one.above.origin, fall) if fall > 0 else x - one.above.origin
        tilt = max(tilt, -(low if low > -math.inf else high) / fall) if fall > 0 else tilt
    if best is None:
        raise ValueError("a few thousand nodes are too far apart")
    return best


def _prepared(parts: Discretizers, c: float, size: int, x: float, fall: float, factor: DoubleInterval) -> Prepared | None:
    """The sums on about so many nodes, tilted by e^{cx}; None if the steps are too long, or all nodes are above the threshold.

    ``fall`` is about the distance of x from the lowest node.
    """
    top = x + _FAR / c
    reach = top - x + fall
    if not reach > 0:
        return None
    coarse = Grid(
        min(reach / _COARSE, _LONGEST / (c + 1)),
        c,
        True,
        min(_MARGIN + 2 * c * max(fall, 0.0), _DEEPEST),
        _NO_DOUBLE,
        _MORE * size,
    )
    grids = [_cut_off(part, coarse, reach) for part, _ in parts]
    bottom = sum(count * _lowest(part.on(grid), grid.step) for (part, count), grid in zip(parts, grids, strict=True))
    h = (top - bottom) / size
    if not 0 < (c + 1) * h < _LONGEST:
        return None
    grids = [replace(grid, step=h) for grid in grids]
    laws = [(part.on(grid), count) for (part, count), grid in zip(parts, grids, strict=True)]

    def window(lowest: float, up: bool, counted: bool) -> Window:
        return Window(h, c, min(max(math.ceil((top - lowest) / h), 0) + 1, 2 * size), up, counted)

    own = [(_masses(law, h, up=True), count) for law, count in laws]
    above = window(sum(count * one.origin for one, count in own), True, True).total(own)
    log_mass = sum(count * (law.log_scale + math.log(float(law.weights.sum()))) for law, count in laws)
    omitted = safe_log(safe_expm1(sum(count * law.omitted_below for law, count in laws)))
    log_omitted = omitted + log_mass + float(log_kappa(np.array([c]))[0]) + 1e-12 * (1 + abs(log_mass))
    # origins are added once for each bit of a count and for each law
    size_of_origins = sum(count * abs(one.origin) for one, count in own) + h * above.weights.size
    rounded = sum(2 * count.bit_length() + 1 for _, count in laws) * ULP * size_of_origins
    location_error = sum(count * law.location_error for law, count in laws) + rounded
    by_cell = sum(count for _, count in parts) <= size / _SUMMANDS
    pairs = [
        (_pair(part, one.origin, replace(grid, upper=False), size, by_cell), count)
        for (part, count), (one, _), grid in zip(parts, own, grids, strict=True)
    ]
    lowest = sum(count * p.origin for (p, _), count in pairs)
    p = window(lowest, False, False).total((p, count) for (p, _), count in pairs)
    q = window(lowest, True, False).total((q, count) for (_, q), count in pairs)
    return Prepared(h, c, above, location_error, log_omitted, p, q, factor)


def _cut_off(part: Discretizer, grid: Grid, top: float) -> Grid:
    """The grid with a cut above a loss: the tilted law may be largest far above it, and have no nodes below."""

    def reaches(cut: float) -> bool:
        law = part.on(replace(grid, cut=cut))
        return law.origin + grid.step * int(law.index.max()) > top

    deep, high = grid.cut, -1.0
    if not (part.endless and reaches(deep)):
        return grid
    for _ in range(_BISECTIONS):
        middle = -math.sqrt(deep * high)
        deep, high = (middle, high) if reaches(middle) else (deep, middle)
    return replace(grid, cut=deep)


def _lowest(law: LatticeLaw, h: float) -> float:
    return law.origin + h * int(law.index.min())


def _masses(law: LatticeLaw, h: float, *, up: bool) -> NodeMasses:
    """A lattice law on the nodes from its lowest one on."""
    index = law.index - law.index.min()
    if index.max() > _MOST:
        raise ValueError("the masses of a law are too many steps apart")
    weights: Array = np.bincount(index, law.weights).astype(np.float64)
    # nodes with several masses have rounded sums
    error = ULP * (int(np.bincount(index).max()) + 4 * (1 + abs(law.origin)))
    return NodeMasses(one_sided(weights, up), law.log_scale, _lowest(law, h), error, math.log(law.omitted_mass + _LEAST))


def _pair(part: Discretizer, lowest: float, grid: Grid, size: int, by_cell: bool) -> tuple[NodeMasses, NodeMasses]:
    """The masses below, under both measures: of the numbers of cells, or of the nodes of the lattice law below."""
    h, c = grid.step, grid.tilt
    if by_cell:
        first = math.floor(lowest / h) - 1
        try:
            cells = part.cells(first, first + size + 2, h, upper=False)
        except ValueError:
            # nodes serve instead
            pass
        else:
            return _masses(cells.rounded(grid, connect_dots=False)[0], h, up=False), _under_q(
                cells.index, cells.log_mass, cells.error, grid, 0.0
            )
    law = part.on(grid)
    places = law.origin + h * law.index
    with np.errstate(divide="ignore"):  # empty nodes
        log_q = np.log(law.weights) + law.log_scale - (1 + c) * places
    error = np.full(log_q.shape, law.location_error + 8 * ULP * (LARGEST_LOG + (1 + c) * float(np.abs(places).max())))
    return _masses(law, h, up=False), _under_q(law.index, log_q, error, grid, law.origin)


def _under_q(index: Indices, log_mass: Array, error: Array, grid: Grid, origin: float) -> NodeMasses:
    """Q-masses from their logarithms, tilted and rounded up."""
    turned = grid.tilt * (origin + grid.step * index)
    exponent = log_mass + turned
    peak = float(exponent.max())
    if peak == -math.inf:
        raise ValueError("all masses on the nodes below are smaller than doubles")
    size = np.where(np.isfinite(log_mass), np.abs(log_mass), 0.0) + np.abs(turned) + abs(peak)
    weights = np.exp(exponent - peak) * (1 + error + MASS + 4 * ULP * size)
    return _masses(LatticeLaw(index, weights, peak, origin, 0.0), grid.step, up=True)
