"""The discretizer of the log-ratio of a normal mixture to the standard normal law."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arith.safe import safe_exp
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses
from logphi.grid.chords import Chords
from logphi.grid.discretizer import Discretizer, DoubleInterval
from logphi.grid.lattice_law import Grid, Indices, LatticeLaw, check_exact
from logphi.grid.one_sided_mixture import OneSidedMixture
from logphi.normal.cells import WIDE
from logphi.normal.errors import MASS, SHARE

# chosen: a search for a tilt asks for one cut many times
_KEPT = 64


@dataclass(frozen=True)
class MixtureCells(Discretizer):
    """Cells of log w, w = p_0 + sum of p_i e^{c_i y - c_i^2/2}, with Q standard normal in y; a normal law if p_1 = 1.

    With ``exchanged``, of the law of -log w under Q. ``rates`` are the p_i of positive shifts; ``log_rest`` is log p_0, minus
    infinity for p_0 = 0, by default log(1 - p_1). ``weight_error`` bounds the relative errors of weights, apart from intervals.
    """

    shifts: tuple[DoubleInterval, ...]
    rates: tuple[DoubleInterval, ...]
    exchanged: bool = False
    log_rest: float | None = None
    weight_error: float = 0.0

    @staticmethod
    def normal(shift: DoubleInterval) -> MixtureCells:
        """The cells of a normal law, a mixture with this single component."""
        return MixtureCells((shift,), (DoubleInterval(1.0, 1.0),))

    def one_sided(self, upper: bool) -> OneSidedMixture:
        """The mixture w with its parameters and their errors on one side; w increases with each of them."""
        rates = np.array([rate.at(upper) for rate in self.rates])
        log_rest = self.log_rest
        if log_rest is None:
            log_rest = float(np.log1p(-rates[0])) if rates[0] < 1 else -np.inf
        return OneSidedMixture.of(np.array([shift.at(upper) for shift in self.shifts]), rates, log_rest)

    @property
    def _is_normal(self) -> bool:
        return len(self.rates) == 1 and self.rates[0].high == 1

    @property
    def top(self) -> float:
        """Minus the logarithm of p_0 when exchanged."""
        return -self.one_sided(True).log_rest + self.weight_error if self.exchanged else np.inf

    @property
    def endless(self) -> bool:
        """Whether the mixture has an unbounded tail to be cut; that of a normal law falls fast enough."""
        return not self.exchanged and not self._is_normal

    def reflected(self) -> Discretizer:
        """The cells with P and Q exchanged."""
        return replace(self, exchanged=not self.exchanged)

    def approximate(self, u: Array, cut: float) -> Array:
        """The closed form for a normal law, otherwise a coarse sum."""
        mixture = self.one_sided(True)
        m = mixture.largest
        if self._is_normal:
            return u * (u + 1) * m * m / 2
        alpha = (-u if self.exchanged else 1 + u)[:, None]
        # peaks are near 0 or near alpha m, or between them; the weights of the sum are the distances of the points
        near = np.linspace(-12.0, 12.0, 513)
        centre, ceiling = alpha * m, _highest(self, cut)
        if mixture.log_rest > -np.inf:
            centre = np.maximum(centre, 0.0)
        parts = (np.broadcast_to(near, (u.size, near.size)), centre + near, centre * np.linspace(0.0, 1.0, 129))
        y = np.sort(np.minimum(np.concatenate(parts, axis=1), ceiling), axis=1)
        with np.errstate(divide="ignore"):  # points that coincide have weight zero
            gaps = np.diff(y, axis=1, prepend=y[:, :1], append=y[:, -1:])
            log_weight = np.log((gaps[:, 1:] + gaps[:, :-1]) / np.sqrt(8 * np.pi))
        return log_sum(alpha * mixture.log_ratio(y) - y * y / 2 + log_weight)

    def on(self, grid: Grid) -> LatticeLaw:
        """Nodes from the end of the support on; all mass near it may become one node at its mean."""
        h, mixture = grid.step, self.one_sided(grid.upper)
        end = mixture.log_rest
        bounded = end > -np.inf
        alpha = -grid.tilt if self.exchanged else 1 + grid.tilt
        bottom, ceiling = self._range(grid, mixture, alpha)
        first = max(0, int(np.floor((bottom - end) / h))) if bounded else 0
        check_exact(first)
        lead, edge = self._merged(h, mixture) if bounded and first == 0 and not grid.upper else (0.0, -np.inf)
        origin = end + lead if bounded else bottom
        last = first + int(min(max(np.ceil((ceiling - origin) / h) + 1 - first, 1), grid.most))
        y, cells = self._between(mixture, origin, np.arange(first, last + 1), h, edge)
        anchor = (float(log_ndtr(edge)), WIDE + 2 * ULP * edge * edge) if edge > -np.inf else None
        law = Chords(cells, grid, self.exchanged, anchor).law()
        if not grid.upper:
            return law
        above, mass_above, below = self._outside(mixture, alpha, y, cells, law, h)
        return replace(law, omitted_above=above, omitted_mass=mass_above, omitted_below=below)

    def _outside(
        self, mixture: OneSidedMixture, alpha: float, y: Array, cells: CellMasses, law: LatticeLaw, h: float
    ) -> tuple[float, float, float]:
        """What the lattice law above omits: shares of the tilted mass above and below, and the P-mass above."""
        log_whole = law.log_scale + float(np.log(law.weights.sum()))
        x = cells.origin + h * np.array([cells.index[0], cells.index[-1] + 1.0])
        if not self.exchanged:
            # w / e^Y falls in Y: above the last point w^alpha <= (w / e^Y)^alpha e^(alpha Y)
            m = mixture.largest
            above = alpha * (x[-1] - (m * y[-1] - m * m / 2))
            log_above = above + alpha * (alpha - 1) * m * m / 2 + log_ndtr(alpha * m - y[-1])
            mass = np.exp(mixture.log_rest) * float(ndtr(-y[-1])) + mixture.varying_mass(float(y[-1]))
            omitted = float(log_above), _log_below(mixture, alpha, float(y[0]))
            return (
                safe_exp(omitted[0] - log_whole) * (1 + 1e-9),
                mass * (1 + 1e-9),
                safe_exp(omitted[1] - log_whole) * (1 + 1e-9),
            )
        # the exponent of w^alpha phi is concave: outside the last point it is below its tangent there, and, where w has no
        # constant part, also towards the other end, where the losses are highest
        high, low = (
            safe_exp(_log_outside(mixture, alpha, float(at), float(loss), outward, cells.location_error) - log_whole)
            for at, loss, outward in ((y[0], x[0], -1), (y[-1], x[-1], 1))
        )
        return high, float(ndtr(y[0])) * (1 + 1e-9), low

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """Cells in y between the crossings of log w with the multiples."""
        if self.exchanged:
            return replace(self, exchanged=False).cells(-last, -first, h, upper).reversed(h)
        mixture = self.one_sided(upper)
        first = max(first, int(np.floor(mixture.log_rest / h))) if mixture.log_rest > -np.inf else first
        return self._between(mixture, 0.0, np.arange(first, max(last, first + 1) + 1), h)[1]

    def _between(
        self, mixture: OneSidedMixture, origin: float, k: Indices, h: float, edge: float = -np.inf
    ) -> tuple[Array, CellMasses]:
        """The y at which log w crosses the nodes, and the cells between these.

        Below ``edge``, which then takes the place of the first y, all mass has its mean at the first node.
        """
        end = mixture.log_rest
        bounded = end > -np.inf
        x = origin + k * h
        # of the nodes above the end of the support, which is the first one if that is the origin
        over = (origin - end) + k * h
        with np.errstate(divide="ignore", over="ignore"):  # logarithms of zero below the support, and overflow from its end on
            big = x + np.log(np.maximum(-np.expm1(-over), 0.0))
        y, missed = mixture.ratio.inverse_of_log_v(big)
        finite = np.isfinite(y)
        # the losses of these y are known to within this, as they are sums of numbers of this size
        size = np.exp(np.minimum((big - x)[finite], 0.0)) * mixture.size(y[finite], big[finite])
        reach = abs(origin) + (abs(end) if bounded else 0.0) + float(np.abs(x).max())
        location_error = 4 * ULP * (float(size.max()) + reach) + 2 * missed + self.weight_error
        merged = edge > -np.inf
        if merged:
            # the mean of the merged mass is a quotient of two normal masses
            y[0] = edge
            location_error += ULP * (32 - 8 * float(log_ndtr(edge) + log_ndtr(edge - mixture.largest))) * float(over[0])
        if not (y[1:] > y[:-1]).all() or (merged and not big[1] > big[0]):
            raise ValueError(f"a step of {h!r} is finer than the doubles at the losses of one release")
        log_mass, share, share_error, sag, narrow = mixture.cells(y)
        if merged:
            # the mass of the first cell ends at its upper node, and its share is that of the whole cell
            rise = float(np.diff(mixture.ratio.log_v(y[:2]))[0])
            part = -np.expm1(-rise) / -np.expm1(-min(float(big[1] - big[0]), 700.0))
            share[0], share_error[0] = 1 - (1 - share[0]) * part, share_error[0] + SHARE * (1 + 1 / rise)
        elif not finite[0]:
            # the support begins within the first cell
            part = np.expm1(-over[1]) / np.expm1(-h)
            share[0], share_error[0] = 1 - (1 - share[0]) * part, share_error[0] + SHARE * (1 + (abs(end) + h) / h)
            sag[0] = max(sag[0], share[0] * (1 - share[0]))
        far = np.where(np.isinf(y[:-1]), np.abs(y[1:]), np.minimum(np.abs(y[1:]), np.abs(y[:-1]) + 1))
        error = MASS + WIDE * ~narrow + ULP * (2 * far * far + np.abs(log_mass))
        share = np.maximum(share, 1e-300)
        return y, CellMasses(k[:-1], log_mass, error, share, share_error, sag, location_error, origin)

    @staticmethod
    def _merged(h: float, mixture: OneSidedMixture) -> tuple[float, float]:
        """The distance between the node of all mass below some y and the end of the support, and that y, half a step above."""

        def over(y: float) -> bool:
            return bool(np.logaddexp(0.0, mixture.ratio.log_v(np.array([y]))[0] - mixture.log_rest) - mixture.lead(y) > h / 2)

        level = mixture.log_rest + np.log(np.expm1(min(h, 500.0))) + 1
        low, high = -38.0 - mixture.largest, float(mixture.ratio.inverse_of_log_v(np.array([level]))[0][0]) + 1
        if over(low):
            # cells are narrow where there is any mass
            return 0.0, -np.inf
        for _ in range(60):
            y = (low + high) / 2
            low, high = (low, y) if over(y) else (y, high)
        return mixture.lead(low), low

    def _range(self, grid: Grid, mixture: OneSidedMixture, alpha: float) -> tuple[float, float]:
        """Two losses between which the tilted law has nearly all its mass; no bound depends on them."""
        deep, m = np.sqrt(2 * grid.depth) + 1, mixture.largest
        # peaks are near 0 or near alpha m, or between them
        y = np.concatenate([centre + deep * np.linspace(-1, 1, 513) for centre in (0.0, alpha * m)])
        y = np.unique(np.minimum(np.concatenate([y, np.linspace(0.0, alpha * m, 513)]), _highest(self, grid.cut)))
        for _ in range(4):
            density = alpha * mixture.log_ratio(y) - y * y / 2
            best = int(np.argmax(density))
            near = np.linspace(y[max(best - 1, 0)], y[min(best + 1, y.size - 1)], 129)
            y = np.unique(np.concatenate([y, near]))
        density = alpha * mixture.log_ratio(y) - y * y / 2
        kept = np.flatnonzero(density > density.max() - grid.depth)
        low, high = mixture.log_ratio(y[[max(kept[0] - 1, 0), min(kept[-1] + 1, y.size - 1)]]).tolist()
        # the end of the support of the exchanged law is its highest loss
        return (mixture.log_rest if self.exchanged and mixture.log_rest > -np.inf else low), high


def _log_outside(mixture: OneSidedMixture, alpha: float, y: float, loss: float, outward: int, location_error: float) -> float:
    """An upper bound of log E_Q[w^alpha], alpha < 0, from y with this loss upward (1) or downward (-1)."""
    if y == -np.inf:
        return -np.inf
    # the slope of log w is rounded down
    fall = outward * y - outward * alpha * mixture.slope(y) * (1.0 if outward > 0 else 1 + 3e-9)
    if not fall > 0:
        return np.inf
    log_tail = alpha * loss - y * y / 2 - float(np.log(fall)) - LOG_ROOT_TWO_PI
    size = 2 * y * y + 2 * abs(alpha * loss) + abs(log_tail)
    return log_tail + ULP * size + abs(alpha) * location_error + 1e-9


def _log_below(mixture: OneSidedMixture, alpha: float, end: float) -> float:
    """An upper bound of log E_Q[w^alpha] over y < end.

    The exponent g of w^alpha phi has g'' >= -1: within a panel of width d it is below its chord plus d^2 / 8.
    """
    if end == -np.inf:
        return -np.inf
    lowest = min(0.0, end) - 40.0
    y, gap = np.linspace(lowest, end, 2049, retstep=True)
    log_w = mixture.log_ratio(y)
    g = alpha * log_w - y * y / 2
    panels = np.maximum(g[1:], g[:-1]) + float(gap) ** 2 / 8 + float(np.log(gap))
    rest = alpha * log_w[0] + log_ndtr(lowest)
    return float(np.logaddexp(log_sum(panels), rest)) + 1e-12 * (1 + float(np.abs(g).max()))


@lru_cache(maxsize=_KEPT)
def _highest(cells: MixtureCells, cut: float) -> float:
    """The y above which the P-mass is about e^cut."""
    if not cells.endless:
        return np.inf
    mixture = cells.one_sided(True)
    low, high = 0.0, float(np.sqrt(-2 * min(cut, -1.0)) + mixture.largest + 2)
    for _ in range(2):
        y = np.linspace(low, high, 65)
        first = int(np.argmax(mixture.log_above(y) < cut))
        low, high = float(y[max(first - 1, 0)]), float(y[first])
    return high
