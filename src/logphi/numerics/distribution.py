"""The known laws on a lattice: two discrete laws whose excess lies above and below that of the exact one.

notation: a law X has two measures, P(dx) = mu(dx) and Q(dx) = e^{-x} mu(dx); l = e^X is their density ratio, and
with a = e^x the excess E[(1 - e^{x-X})_+] is D(a) = integral of (l - a)_+ dQ: convex in a, and additive over the
pieces of the measure. The lattice has nodes x_k = origin + k h, a_k = e^{x_k}, d_k = a_{k+1} - a_k; cell k lies
between nodes k and k + 1.

* Above: the Q-mass A of a cell, whose mean of l lies at the share s of the cell, goes to both ends as A (1 - s) and
  A s. That chord of D keeps both masses (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, *Connect the Dots*).
* Below: the chord lies above D by at most G = max(dQ/da) d^2 / 8 within a cell. Lowering the vertices by D_k, the
  larger G of the two cells that meet there, gives a piecewise linear function below D, with its kinks on the lattice
  too. Its Q-masses are those of the chord minus the second differences of D_k; nearly always they are positive. A
  deficit is taken from the next node above, and cells near the top are rounded down entirely: both lower D. Where the
  support ends, all mass below some point may become one atom at its mean, which is a tangent of D.
* Reversal exchanges P with Q and x with -x. It turns chords into chords and keeps the order, so a turned law is the
  lattice law of the straight one, read backwards: only the direction of "up" changes.

All profiles grow with the parameters of the laws below: half an ulp of a parameter is taken outward in the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.numerics.lattice_law import MASS, RUN, SHARE, Array, Cells, Grid, LatticeLaw, joined, log_sum, placed
from logphi.numerics.law import Law, Reflected
from logphi.numerics.laws.finite import Finite, Thinned
from logphi.numerics.laws.integers import NormalSteps
from logphi.numerics.laws.ladder import GeometricShift, Ladder
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.laws.two_point import TwoPoint
from logphi.numerics.laws.uniform import Uniform, UniformWithAtoms

# derived: from here on five terms of the Hermite series leave less than 945 * 0.05^10 / 11! < 1e-17
_NARROW = 0.05
# derived: a difference that keeps a twentieth loses twenty times the few ulps of its terms
_WIDE = 128 * ULP


# measured: of so many atoms, bases and steps are not worth trying
_MANY = 24


class Piece(Protocol):
    """A law that can be put on a lattice."""

    @property
    def top(self) -> float:
        """The supremum of the support."""

    @property
    def endless(self) -> bool:
        """Whether there is an upper tail that :class:`Grid` may cut."""

    @property
    def spans(self) -> Array:
        """Distances that the step should divide."""

    def misfit(self, steps: Array, tilt: float) -> Array:
        """About how far the lower law's tilted mean is moved by atoms off the lattice, per step."""

    def sketch(self, u: Array, cut: float) -> Array:
        """About log E[e^{uX}], of the law that is cut as in :class:`Grid`."""

    def on(self, grid: Grid) -> LatticeLaw:
        """A lattice law whose excess lies above, or below, that of the law at every threshold."""


@dataclass(frozen=True)
class Ends:
    """A parameter between two doubles."""

    low: float
    high: float

    @staticmethod
    def of(parameter: Parameter) -> Ends:
        """The ends of its disc."""
        disc = parameter.under(FLOATS)
        mid, rad = float(np.real(disc.mid)), float(disc.rad)
        room = rad * (1 + ULP) + ULP * abs(mid) if rad else 0.0
        return Ends(mid - room, mid + room)

    @property
    def size(self) -> Ends:
        """Of the absolute value."""
        return self if self.low >= 0 else Ends(max(-self.high, 0.0), max(-self.low, self.high))

    def at(self, upper: bool) -> float:
        """The end on one side."""
        return self.high if upper else self.low


def pieces(terms: Iterable[tuple[Law, int]]) -> tuple[tuple[tuple[Piece, int], ...], Ends]:
    """The laws as pieces with counts, and the logarithm of the constant factor; all normals become one.

    Raises
    ------
    ValueError
        If a law is none of those whose cell masses are known.
    """
    result: list[tuple[Piece, int]] = []
    log_factor, wrong, low, high, normals = 0.0, 0.0, 0.0, 0.0, 0
    for law, count in terms:
        if isinstance(law, Thinned):
            log_factor += count * float(np.log1p(-law.failure))
            wrong += 8 * ULP * count * law.failure / (1 - law.failure)
        elif isinstance(law, Normal):
            ends = Ends.of(law.shift)
            low, high, normals = low + count * ends.low**2, high + count * ends.high**2, normals + 1
        else:
            turned = isinstance(law, Reflected)
            make = _MAKERS.get((type(law.law) if isinstance(law, Reflected) else type(law), turned))
            if make is None:
                known = ", ".join(sorted({kind.__name__ for kind, _ in _MAKERS} | {"Normal", "Thinned"}))
                raise ValueError(f"no cell masses are known of {law!r}: discretisation serves sums of {known}")
            result.append((make(law), count))
    if normals:
        room = 1 + (normals + 4) * ULP
        result.append((Bell(Ends(np.sqrt(low) / room, np.sqrt(high) * room), Ends(1.0, 1.0), False), 1))
    return tuple(result), Ends(log_factor - wrong, log_factor + wrong)


# ------------------------------------------------------------------------------------------- cells to nodes
@dataclass(frozen=True)
class Points:
    """Atoms at ``locations`` with logarithms of their P-masses; ``slack`` bounds the error of either."""

    locations: tuple[float, ...]
    log_p: tuple[float, ...]
    slack: float

    @staticmethod
    def of(law: Any) -> Points:
        """A finite law: every location is the difference of two logarithms."""
        log_p, log_q = np.log(np.asarray(law.p)), np.log(np.asarray(law.q))
        slack = ELEMENTARY * (2 + float(np.abs(log_p).max() + np.abs(log_q).max())) + 2 * law.blur
        return Points(tuple((log_p - log_q).tolist()), tuple(log_p.tolist()), slack)

    @staticmethod
    def rungs(law: Ladder) -> Points:
        """The atoms of a ladder."""
        locations, log_weights, slip, blur = law.atoms()
        log_p = log_weights + locations / 2
        slack = slip + blur + 4 * ULP * (1 + float(np.abs(log_weights).max()) + law.supremum)
        return Points(tuple(locations.tolist()), tuple(log_p.tolist()), slack)

    @property
    def top(self) -> float:
        """The highest atom."""
        return max(self.locations) + self.slack

    @property
    def endless(self) -> bool:
        """No."""
        return False

    def misfit(self, steps: Array, tilt: float) -> Array:
        """How far the lower law's tilted mean is moved, per step; the base is the best atom."""
        least: Array = self._misfits(steps, tilt).min(axis=0)
        return least

    def _misfits(self, steps: Array, tilt: float) -> Array:
        """How far the lower law's tilted mean is moved, per base and step."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        weight = np.exp(log_p + tilt * r - (log_p + tilt * r).max())
        if r.size > _MANY:
            # no base fits better than another
            return np.broadcast_to(steps / 2, (r.size, steps.size))
        position = (r[:, None] - r)[:, :, None] / steps
        nearest = np.rint(position)
        hit = np.abs(position - nearest) <= 16 * ULP * (1 + np.abs(position))
        missed = np.where(hit, 0.0, position - np.floor(position))
        moved: Array = (weight[:, None] * missed.transpose(1, 0, 2)).sum(axis=1) / weight.sum() * steps
        return moved

    @property
    def spans(self) -> Array:
        """Distances that the step may divide."""
        r = np.unique(self.locations)
        if r.size > _MANY:
            return np.zeros(0)
        return np.unique(r[1:] - r[0])

    def sketch(self, u: Array, cut: float) -> Array:
        """A sum over the atoms."""
        return log_sum(np.asarray(self.log_p) + u[:, None] * np.asarray(self.locations))

    def on(self, grid: Grid) -> LatticeLaw:
        """Split over the neighbours, or rounded down, from the base that fits best."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        base = int(np.argmin(self._misfits(np.array([grid.step]), grid.tilt)[:, 0]))
        return placed(grid, r - r[base], log_p, float(r[base]), self.slack)


@dataclass(frozen=True)
class Flat:
    """Q-density proportional to e^{-x/2} on [-w, w] with P-mass 1 - 2 p at most, and P-mass p at the upper end.

    ``weight`` maps w to the logarithms of the density's constant C (P-density C e^{x/2}) and of p, each -inf if absent.
    """

    width: Ends
    weight: Callable[[float], tuple[float, float]]

    @property
    def top(self) -> float:
        """The upper end."""
        return self.width.high

    @property
    def endless(self) -> bool:
        """No."""
        return False

    @property
    def spans(self) -> Array:
        """The width of the support."""
        return np.array([2 * self.width.low])

    def misfit(self, steps: Array, tilt: float) -> Array:
        """How far the narrower lower law moves the tilted mean, per step."""
        turns = 2 * self.width.low / steps
        missed = np.where(np.abs(turns - np.rint(turns)) <= 16 * ULP * turns, 0.0, turns - np.floor(turns))
        moved: Array = missed * steps / 2 * np.tanh((tilt + 0.5) * self.width.low)
        return moved

    def sketch(self, u: Array, cut: float) -> Array:
        """From the density's integral and the two atoms."""
        w = self.width.high
        log_c, log_p = self.weight(w)
        rate = np.maximum(np.abs(u + 0.5), 1e-9)
        body = log_c + rate * w + np.log(-np.expm1(-2 * rate * w) / rate)
        return log_sum(np.stack([body, log_p + u * w, log_p - w - u * w], axis=1))

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells from -w upward. The lower law is that of the widest multiple of the step; far cells are left out."""
        h, c = grid.step, grid.tilt
        w = self.width.at(grid.upper)
        turns = 2 * w / h
        aligned = abs(turns - round(turns)) <= 16 * ULP * (turns + 1)
        count = round(turns) if aligned else int(np.floor(turns))
        if not (aligned or grid.upper):
            w = count * h / 2
        if count == 0 and (aligned or not grid.upper):
            return LatticeLaw(np.zeros(1, np.int64), np.ones(1), 0.0, 0.0, 48 * ULP * (w + h))
        log_c, log_p = self.weight(w)
        ends = np.array([0.0, count * h if aligned or not grid.upper else 2 * w])
        # nodes that are aligned within rounding count as aligned
        slack = 48 * ULP * (w + h)
        if log_c == -np.inf:
            return placed(grid, ends, np.array([log_p - w, log_p]), -w, slack)
        cells = count if aligned or not grid.upper else count + 1
        first = max(0, count - int(min(grid.reach / ((c + 0.5) * h) + 4, grid.most)))
        k = np.arange(first, cells)
        low = -w + k * h
        # all cells but the last are whole
        lengths = np.array([h, h if aligned or not grid.upper else min(max(w - low[-1], 0.0), h)])
        kind = np.append(np.zeros(k.size - 1, np.int64), 1)
        with np.errstate(divide="ignore"):  # a sliver of no length has no mass
            log_mass = (log_c + np.log(4 * np.sinh(lengths / 4)) - lengths / 4)[kind] + (c + 0.5) * low
        peak = float(log_mass.max())
        error = MASS + ULP * (64 + 64 * w + 2 * np.abs((1 + c) * low) + abs(peak))
        share = (np.expm1(lengths / 2) / np.expm1(h))[kind]
        share_error, sag = np.full(k.size, 2 * SHARE * (1 + w / h)), np.full(k.size, np.exp(h) / 8)
        found = Cells(np.exp(log_mass - peak), error, share, share_error, sag, 1 + c, h, False)
        nodes = found.above() if grid.upper else found.below()
        below = np.exp(log_c + (c + 0.5) * low[0] - np.log(c + 0.5) - peak) / nodes.sum() * 1.001 if first else 0.0
        body = LatticeLaw(np.arange(first, cells + 1), nodes, peak, -w, slack, lost_below=float(below))
        if log_p == -np.inf:
            return body
        return joined(body, placed(grid, ends, np.array([log_p - w, log_p]), -w, slack))


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
        log_mass, share, share_error, sag, narrow = _normal_cells(y, m)
        exponent = log_mass + alpha * x[:-1]
        log_end = float(log_ndtr(y[0])) + alpha * x[0]
        peak = max(float(exponent.max()), log_end if merged else -np.inf)
        far = np.minimum(np.abs(y[1:]), np.where(np.isinf(y[:-1]), np.inf, np.abs(y[:-1]) + 1))
        large = 2 * far * far + 2 * np.abs(alpha * x[:-1]) + np.abs(log_mass) + abs(peak)
        error = MASS + _WIDE * ~narrow + ULP * large + slack
        anchor = 0.0
        if merged:
            # the mass of cell 0 ends at node 1, and its share is that of [x_0, x_1]
            e = m * (y[1] - y[0])
            base = -np.expm1(-e) / -np.expm1(-min(float(big[1] - big[0]), 700.0))
            share[0], share_error[0] = 1 - (1 - share[0]) * base, share_error[0] + SHARE * (1 + 1 / e)
            wrong = _WIDE + ULP * (2 * edge * edge + 2 * abs(log_end) + abs(peak)) + slack
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


def _normal_cells(y: Array, m: float) -> tuple[Array, Array, Array, Array, NDArray[np.bool_]]:
    """Log-masses between the y, shares of e^Y and their errors, bounds of G / (A d), and which cells are narrow."""
    runs = [_run_of_cells(y[first : first + RUN + 1], m) for first in range(0, y.size - 1, RUN)]
    log_mass, share, error, sag = np.concatenate([results for results, _ in runs], axis=1)
    return log_mass, share, error, sag, np.concatenate([narrow for _, narrow in runs])


def _run_of_cells(y: Array, m: float) -> tuple[Array, NDArray[np.bool_]]:
    low, high = y[:-1], y[1:]
    with np.errstate(invalid="ignore"):  # the first cell may be endless: it is not narrow
        narrow = (high - low) / 2 * (np.abs(low / 2 + high / 2) + m + 1) <= _NARROW
    # dQ/da is proportional to phi(y) e^{-Y}, highest at y = -m
    top = np.clip(-m, low, high)
    results = np.empty((4, low.size))
    for kind, those in ((_narrow_cells, narrow), (_wide_cells, ~narrow)):
        if those.any():
            chosen: Any = slice(None) if those.all() else those
            results[:, chosen] = kind(low[chosen], high[chosen], top[chosen], m)
    # the chord is nowhere further from the curve than if all mass were at the mean
    share = np.clip(results[1], 0.0, 1.0)
    results[3] = np.minimum(results[3] * (1 + 1e-12), share * (1 - share) + results[2])
    return results, narrow


def _narrow_cells(low: Array, high: Array, top: Array, m: float) -> tuple[Array, Array, Array, Array]:
    r, mid = (high - low) / 2, low / 2 + high / 2
    own, other, length = _hermite(mid, r), _hermite(mid - m, r), 2 * m * r
    growth = np.expm1(length)
    log_mass = np.log(2 / np.sqrt(2 * np.pi) * r * own) - mid * mid / 2
    share = np.expm1(length / 2 + np.log1p((other - own) / own)) / growth
    log_peak = (mid - top) * (mid + top) / 2 - m * (top - low)
    return log_mass, share, SHARE * (1 + 1 / length), np.exp(log_peak) * growth / (length * own) / 8


def _wide_cells(low: Array, high: Array, top: Array, m: float) -> tuple[Array, Array, Array, Array]:
    log_own, log_other = _log_normal_mass(low, high), _log_normal_mass(low - m, high - m)
    empty, room = np.exp(-m * (high - low)), -np.expm1(-m * (high - low))
    mean = np.exp(np.minimum(log_other - log_own - (m * high - m * m / 2), 0.0))
    share = np.clip((mean - empty) / room, 0.0, 1.0)
    error = SHARE * (32 + high * high + m * m + np.abs(log_own) + np.abs(log_other)) / room
    log_peak = m * (high - top) - top * top / 2 - log_own - np.log(m * np.sqrt(2 * np.pi))
    return log_own, share, error, np.exp(np.minimum(log_peak, 700.0)) * room / 8


def _hermite(c: Array, r: Array) -> Array:
    """The mean of phi(c + t) / phi(c) over |t| < r: sum of He_2j(c) r^2j / (2j + 1)!."""
    s, u = c * c, r * r
    he4, he6 = (s - 6) * s + 3, ((s - 15) * s + 45) * s - 15
    he8 = (((s - 28) * s + 210) * s - 420) * s + 105
    mean: Array = 1 + u * ((s - 1) / 6 + u * (he4 / 120 + u * (he6 / 5040 + u * he8 / 362880)))
    return mean


def _log_normal_mass(low: Array, high: Array) -> Array:
    """Logarithm of the normal mass of a cell: the series where it is narrow, else from the side where least cancels.

    A cell that is not narrow has at least a twentieth of the mass beyond its inner end.
    """
    turned = low + high < 0
    a, b = np.where(turned, -high, low), np.where(turned, -low, high)
    tail = a > 0
    start = np.where(tail, a, 0.0)
    end = np.where(np.isinf(b), start, b)
    beyond = np.where(np.isinf(b), 0.0, np.exp(-(end - start) * (end + start) / 2) * erfcx(end / np.sqrt(2)))
    with np.errstate(divide="ignore"):  # cells without any width: the series takes over
        far = np.log((erfcx(start / np.sqrt(2)) - beyond) / 2) - start * start / 2
        near = np.log(ndtr(b) - ndtr(np.minimum(a, 0.0)))
    mid = np.where(np.isinf(a), 1 / ULP, a / 2 + end / 2)
    narrow = ~np.isinf(b) & ((b - a) / 2 * (np.abs(mid) + 1) <= _NARROW)
    r, mid = np.where(narrow, (end - a) / 2, 0.0), np.where(narrow, mid, 0.0)
    with np.errstate(divide="ignore"):
        series = np.log(2 / np.sqrt(2 * np.pi) * r * _hermite(mid, r)) - mid * mid / 2
    mass: Array = np.where(narrow, series, np.where(tail, far, near))
    return mass


def _weight_uniform(w: float) -> tuple[float, float]:
    """C = 1 / (4 sinh(w/2)), no atoms."""
    return float(-w / 2 - np.log(-2 * np.expm1(-w))), -np.inf


def _weight_with_atoms(w: float) -> tuple[float, float]:
    """C = e^{-w/2} / 4, atoms of P-mass 1/2 and e^{-w}/2."""
    return -w / 2 - float(np.log(4)), -float(np.log(2))


def _weight_two_point(w: float) -> tuple[float, float]:
    """No density, atoms of P-mass 1 / (1 + e^{-w}) and e^{-w} / (1 + e^{-w})."""
    return -np.inf, -float(np.log1p(np.exp(-w)))


def _bell(law: Any) -> Bell:
    turned = isinstance(law, Reflected)
    base: Any = law.law if isinstance(law, Reflected) else law
    return Bell(Ends.of(base.shift), Ends.of(base.rate), turned)


# which laws are known, and whether turned by Reflected
_MAKERS: dict[tuple[type[Law], bool], Callable[[Any], Piece]] = {
    (MixedNormal, False): _bell,
    (MixedNormal, True): _bell,
    (Uniform, False): lambda law: Flat(Ends.of(law.width), _weight_uniform),
    (UniformWithAtoms, False): lambda law: Flat(Ends.of(law.width), _weight_with_atoms),
    (TwoPoint, False): lambda law: Flat(Ends.of(law.point).size, _weight_two_point),
    (Finite, False): Points.of,
    (GeometricShift, False): Points.rungs,
    (NormalSteps, False): Points.rungs,
}
