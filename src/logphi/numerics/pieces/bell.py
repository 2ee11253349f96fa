"""The logarithm of a normal mixture, on a lattice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr

from logphi.arith.floats import ULP
from logphi.numerics.lattice_law import MASS, SHARE, Array, Cells, Grid, LatticeLaw, log_sum
from logphi.numerics.pieces.normal_cells import WIDE, normal_cells
from logphi.numerics.pieces.piece import Ends


@dataclass(frozen=True)
class Bell:
    """The logarithm of w = 1 - q + q e^Y, Y = m y - m^2/2, with Q standard normal in y; a normal law when q = 1.

    Turned, it is the law of -log w under Q.
    """

    shift: Ends
    rate: Ends
    turned: bool

    @property
    def top(self) -> float:
        """Minus the logarithm of 1 - q when turned."""
        return -float(np.log1p(-self.rate.high)) if self.turned else np.inf

    @property
    def endless(self) -> bool:
        """That of a mixture; a normal law's is light enough."""
        return not self.turned and self.rate.high < 1

    @property
    def spans(self) -> Array:
        """No atoms."""
        return np.zeros(0)

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The cells fit any step."""
        return np.zeros_like(steps)

    def sketch(self, u: Array, cut: float) -> Array:
        """Closed for a normal law, else a coarse sum."""
        m, q = self.shift.high, self.rate.high
        if q == 1:
            return u * (u + 1) * m * m / 2
        alpha = (-u if self.turned else 1 + u)[:, None]
        # peaks are near 0 or near alpha m, or between them; weights are the distances of the points
        near = np.linspace(-12.0, 12.0, 513)
        centre, ceiling = np.maximum(alpha * m, 0.0), self._highest(cut)
        parts = (np.broadcast_to(near, (u.size, near.size)), centre + near, centre * np.linspace(0.0, 1.0, 129))
        y = np.sort(np.minimum(np.concatenate(parts, axis=1), ceiling), axis=1)
        with np.errstate(divide="ignore"):  # points that coincide have no weight
            gaps = np.diff(y, axis=1, prepend=y[:, :1], append=y[:, -1:])
            log_weight = np.log((gaps[:, 1:] + gaps[:, :-1]) / np.sqrt(8 * np.pi))
        return log_sum(alpha * _log_mixture(m, q, y) - y * y / 2 + log_weight)

    def _highest(self, cut: float) -> float:
        """The y above which there is hardly more P-mass than e^cut."""
        if not self.endless:
            return np.inf
        low, high = 0.0, float(np.sqrt(-2 * min(cut, -1.0)) + self.shift.high + 2)
        for _ in range(2):
            y = np.linspace(low, high, 65)
            log_above = np.logaddexp(log_ndtr(-y), np.log(self.rate.high) + log_ndtr(self.shift.high - y))
            first = int(np.argmax(log_above < cut))
            low, high = float(y[max(first - 1, 0)]), float(y[first])
        return high

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells in y between the points where log w meets the lattice; an end of the support may become one node."""
        h, m, q = grid.step, self.shift.at(grid.upper), self.rate.at(grid.upper)
        alpha = -grid.tilt if self.turned else 1 + grid.tilt
        bottom, ceiling = self._range(grid, m, q, alpha)
        log_q, end = float(np.log(q)), -np.inf if q == 1 else float(np.log1p(-q))
        first = 0 if q == 1 else max(0, int(np.floor((bottom - end) / h)))
        lead, edge = self._merged(h, m, q) if q < 1 and first == 0 and not grid.upper else (0.0, -np.inf)
        merged = edge > -np.inf
        origin = bottom if q == 1 else end + lead
        last = first + int(min(max(np.ceil((ceiling - origin) / h) + 1 - first, 1), grid.most))
        k = np.arange(first, last + 1)
        x = origin + k * h
        with np.errstate(divide="ignore"):  # the node at the end of the support
            big = x - log_q + (0.0 if q == 1 else np.log(-np.expm1(-lead - k * h)))
        y = big / m + m / 2
        # the points y are kept as rounded; where they lie in x is known to within this
        finite = np.isfinite(y)
        size = np.exp(np.minimum(big + log_q - x, 0.0))[finite] * (np.abs(big) + m * np.abs(y) + m * m + 1)[finite]
        slack = 4 * ULP * float(size.max() + abs(origin) + np.abs(x).max())
        if merged:
            # cell 0 begins where the merged mass ends; the mean of that is a quotient of two normal masses
            y[0] = edge
            slack += ULP * (32 - 8 * float(log_ndtr(edge) + log_ndtr(edge - m))) * lead
        log_mass, share, share_error, sag, narrow = normal_cells(y, m)
        exponent = log_mass + alpha * x[:-1]
        log_end = float(log_ndtr(y[0])) + alpha * x[0]
        peak = max(float(exponent.max()), log_end if merged else -np.inf)
        far = np.minimum(np.abs(y[1:]), np.where(np.isinf(y[:-1]), np.inf, np.abs(y[:-1]) + 1))
        large = 2 * far * far + 2 * np.abs(alpha * x[:-1]) + np.abs(log_mass) + abs(peak)
        error = MASS + WIDE * ~narrow + ULP * large + slack
        anchor = 0.0
        if merged:
            # the mass of cell 0 ends at node 1, and its share is that of [x_0, x_1]
            e = m * (y[1] - y[0])
            base = -np.expm1(-e) / -np.expm1(-min(float(big[1] - big[0]), 700.0))
            share[0], share_error[0] = 1 - (1 - share[0]) * base, share_error[0] + SHARE * (1 + 1 / e)
            wrong = WIDE + ULP * (2 * edge * edge + 2 * abs(log_end) + abs(peak)) + slack
            anchor = float(np.exp(log_end - peak)) * max(1 - wrong, 0.0)
        cells = Cells(np.exp(exponent - peak), error, share, share_error, sag, alpha, h, self.turned, anchor)
        lost = lost_mass = below = 0.0
        if grid.upper:
            nodes = cells.above()
            log_whole = peak + float(np.log(nodes.sum()))
            if self.turned:
                # the exponent of w^alpha phi is concave: beyond the last point it is below its tangent there
                slope = y[-1] - alpha * m * np.exp(min(big[-1] + log_q - x[-1], 0.0)) * (1 - 1e-9)
                log_tail = alpha * x[-1] - y[-1] ** 2 / 2 - np.log(max(slope, 1e-300) * np.sqrt(2 * np.pi))
                wrong = ULP * large[-1] + abs(alpha) * slack + 1e-9
                below = _exp(float(log_tail + wrong) - log_whole)
            else:
                # w / e^Y falls in Y: above the last point w^alpha <= (w / e^Y)^alpha e^(alpha Y)
                log_above = alpha * (x[-1] - big[-1]) + alpha * (alpha - 1) * m * m / 2 + log_ndtr(alpha * m - y[-1])
                lost = _exp(float(log_above) - log_whole) * (1 + 1e-9)
                lost_mass = float((1 - q) * ndtr(-y[-1]) + q * ndtr(m - y[-1])) * (1 + 1e-9)
                below = _exp(_log_below(m, q, alpha, float(y[0])) - log_whole) * (1 + 1e-9)
        else:
            nodes = cells.below()
        if self.turned:
            return LatticeLaw(-k, nodes, peak, -origin, slack, lost_below=below)
        return LatticeLaw(k, nodes, peak, origin, slack, lost, lost_mass, below)

    @staticmethod
    def _merged(h: float, m: float, q: float) -> tuple[float, float]:
        """How far the node of all mass below some y is from the end of the support, and that y, half a step above."""
        odds = q / (1 - q)

        def lead(y: float) -> float:
            # log of 1 + q/(1-q) E[e^Y | below y]
            return float(np.log1p(odds * np.exp(log_ndtr(y - m) - log_ndtr(y))))

        def over(y: float) -> bool:
            return bool(np.log1p(odds * np.exp(min(m * y - m * m / 2, 600.0))) - lead(y) > h / 2)

        low, high = -38.0 - m, (np.log(np.expm1(min(h, 500.0)) / odds) + 1) / m + m / 2 + 1.0
        if over(low):
            # cells are narrow where there is any mass
            return 0.0, -np.inf
        for _ in range(60):
            y = (low + high) / 2
            low, high = (low, y) if over(y) else (y, high)
        return lead(low), low

    def _range(self, grid: Grid, m: float, q: float, alpha: float) -> tuple[float, float]:
        """Between which losses the tilted law has nearly all its mass; nothing depends on how nearly."""
        deep = np.sqrt(2 * grid.reach) + 1
        # peaks are near 0 or near alpha m, or between them
        y = np.concatenate([centre + deep * np.linspace(-1, 1, 513) for centre in (0.0, alpha * m)])
        y = np.unique(np.minimum(np.concatenate([y, np.linspace(0.0, alpha * m, 513)]), self._highest(grid.cut)))
        for _ in range(4):
            density = alpha * _log_mixture(m, q, y) - y * y / 2
            best = int(np.argmax(density))
            near = np.linspace(y[max(best - 1, 0)], y[min(best + 1, y.size - 1)], 129)
            y = np.unique(np.concatenate([y, near]))
        density = alpha * _log_mixture(m, q, y) - y * y / 2
        kept = np.flatnonzero(density > density.max() - grid.reach)
        low, high = _log_mixture(m, q, y[[max(kept[0] - 1, 0), min(kept[-1] + 1, y.size - 1)]]).tolist()
        # turned: the end of the support is where the losses are highest
        return (float(np.log1p(-q)) if self.turned else low), high


def _log_mixture(m: float, q: float, y: Array) -> Array:
    """log(1 - q + q e^Y), Y = m y - m^2/2, without overflow."""
    big = m * y - m * m / 2
    if q == 1:
        return big
    near = np.log1p(q * np.expm1(np.minimum(big, 500.0)))
    return np.where(big < 500, near, np.log(q) + big)


def _log_below(m: float, q: float, alpha: float, end: float) -> float:
    """An upper bound of log E_Q[w^alpha] over y < end.

    The exponent g of w^alpha phi has g'' >= -1: within a panel of width d it is below its chord plus d^2 / 8.
    """
    if end == -np.inf:
        return -np.inf
    lowest = min(0.0, end) - 40.0
    y, gap = np.linspace(lowest, end, 2049, retstep=True)
    log_w = _log_mixture(m, q, y)
    g = alpha * log_w - y * y / 2
    panels = np.maximum(g[1:], g[:-1]) + float(gap) ** 2 / 8 + float(np.log(gap))
    rest = alpha * log_w[0] + log_ndtr(lowest)
    return float(np.logaddexp(log_sum(panels), rest)) + 1e-12 * (1 + float(np.abs(g).max()))


def _exp(exponent: float) -> float:
    return float(np.exp(exponent)) if exponent < 700 else np.inf
