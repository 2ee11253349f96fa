"""The discretizer of a law that is given by a curve.

The losses between two nodes of the lattice are those of an interval of the curve's variable s. The cell's Q-mass and the share
of it that goes to the upper node are integrals of analytic functions over that interval: sums over panels with the error bounds
of :mod:`logphi.quadrature.curves.panels`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.safe import safe_exp
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.discretizer import Discretizer
from logphi.grid.lattice_law import Grid, LatticeLaw, TiltedCells, atoms_on_lattice, check_exact, joined, missed
from logphi.normal.errors import MASS, RUN, SHARE
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import GaussLegendre, atoms_of
from logphi.quadrature.curves.panels import Ellipses, gauss

# measured: nodes of a panel
_ORDER = 8
# measured: its ellipses
_RHO = np.array([2.5, 5.0, 10.0, 20.0])
# measured: if the loss changes by less than this in a cell, fewer nodes and a larger ellipse suffice
_NARROW = 0.02
# measured: the nodes that suffice
_FEWER = 4
# measured: the ellipse that suffices
_LARGER = np.array([160.0])
# chosen: the logarithm of the largest error of a share
_SHARP = float(np.log(1e-15))
# chosen: the largest number of halvings of a cell
_HALVINGS = 60
# measured: points of a sum that only locates the saddle point
_POINTS = 1025


@dataclass(frozen=True)
class CurveCells(Discretizer):
    """Cells from curves with profiles above and below that of the law; with ``exchanged``, of the law of -l under Q."""

    curve_at: Callable[[bool], Curve]
    exchanged: bool = False

    @property
    def top(self) -> float:
        """The highest loss."""
        curve = self.curve_at(True)
        low, high = _ends_of(curve)
        top = -float(low) if self.exchanged else float(high)
        return top * (1 + 4 * curve.error)

    @property
    def endless(self) -> bool:
        """Whether a curve has no upper end."""
        return not self.exchanged and not np.isfinite(self.curve_at(True).end)

    @property
    def spans(self) -> Array:
        """The distances between atoms."""
        curve = self.curve_at(True)
        if not curve.atoms:
            return np.zeros(0)
        low, high = curve.loss(np.array([curve.start, curve.end]))
        return np.array([high - low])

    def misfit(self, steps: Array, tilt: float) -> Array:
        """The change of the tilted mean by atoms off the lattice, for each step."""
        if not self.spans.size:
            return np.zeros_like(steps)
        return missed(self.spans[0] / steps) * steps / 2

    def reflected(self) -> Discretizer:
        """The cells with P and Q exchanged."""
        return replace(self, exchanged=not self.exchanged)

    def approximate(self, u: Array, cut: float) -> Array:
        """Gauss-Legendre sums, or a trapezoidal sum if the upper tail is cut."""
        curve = self.curve_at(True)
        if not self.endless:
            return GaussLegendre(curve).approximate(-1 - u if self.exchanged else u)
        s = np.linspace(*_range(curve, 1.0, -cut), _POINTS)
        loss, log_density = curve.loss(s), curve.log_density(s) + np.log(s[1] - s[0])
        parts = [log_density + (1 + u[:, None]) * loss]
        if curve.symmetric:
            parts.append(log_density - u[:, None] * loss)
        if curve.rest:
            parts.append(np.full((u.size, 1), np.log(curve.rest)))
        return log_sum(np.concatenate(parts, axis=1))

    def on(self, grid: Grid) -> LatticeLaw:
        """Cells between the crossings of the loss with the lattice, atoms, and the mirror image."""
        curve = self.curve_at(grid.upper)
        origin = 0.0 if np.isinf(curve.start) else float(curve.loss(np.array([curve.start]))[0])
        if not curve.symmetric:
            return self._whole(curve, grid, origin, self.exchanged)
        right, left = (self._whole(curve, grid, 0.0, exchanged) for exchanged in (False, True))
        both = joined(right, left)
        below = right.omitted_below + left.omitted_below
        both = replace(both, omitted_above=right.omitted_above, omitted_mass=right.omitted_mass, omitted_below=below)
        if not curve.rest:
            return both
        # the relative error of the mass at zero
        sure = 1 + (1 if grid.upper else -1) * (64 * ULP + 4 * curve.error)
        rest = LatticeLaw(np.zeros(1, np.int64), np.ones(1) * sure, float(np.log(curve.rest)), 0.0, both.location_error)
        return replace(joined(both, rest), omitted_above=both.omitted_above, omitted_mass=both.omitted_mass)

    def _whole(self, curve: Curve, grid: Grid, origin: float, exchanged: bool) -> LatticeLaw:
        body = _body(curve, grid, origin, exchanged)
        if not curve.atoms:
            return body
        atoms = atoms_of(curve)
        sign = -1.0 if exchanged else 1.0
        log_p = atoms.log_mass if exchanged else atoms.log_mass + atoms.loss
        log_p = log_p + (1 if grid.upper else -1) * (atoms.relative_error + atoms.loss_error)
        location_error = float(atoms.loss_error.max()) + 8 * ULP * (1 + abs(origin))
        own = atoms_on_lattice(grid, sign * (atoms.loss - origin), log_p, sign * origin, location_error)
        return replace(joined(body, own), omitted_above=body.omitted_above, omitted_mass=body.omitted_mass)


def _ends_of(curve: Curve) -> Array:
    """The least and the largest loss, atoms included."""
    marks = np.array([mark for mark, _ in curve.atoms] + [curve.start, curve.end])
    loss = np.where(np.isinf(marks), marks, curve.loss(np.where(np.isinf(marks), 0.0, marks)))
    endless = marks == -np.inf
    if len(curve.factors) == 1 and endless.any():
        # the loss is finite where the variable ends at minus infinity
        loss = np.where(endless, np.log1p(-curve.factors[0].rate), loss)
    return np.array([loss.min(), loss.max()])


def _range(curve: Curve, power: float, depth: float) -> tuple[float, float]:
    """An interval with nearly all of the mass of e^{power l} Q; the bounds hold for any interval."""
    if np.isfinite(curve.start) and np.isfinite(curve.end):
        low, high = curve.start, curve.end
    else:
        far = np.sqrt(2 * max(depth, 1.0)) + (abs(power) + 1) * curve.steepness + 2
        low, high = max(curve.start, -far), min(curve.end, far)
    for _ in range(3):
        s = np.linspace(low, high, 513)
        weight = curve.log_density(s) + power * curve.loss(s)
        # the largest weight is kept even if its ulp exceeds the depth
        kept = np.flatnonzero(weight >= weight.max() - depth)
        low, high = float(s[max(kept[0] - 1, 0)]), float(s[min(kept[-1] + 1, s.size - 1)])
    return low, high


def _body(curve: Curve, grid: Grid, origin: float, exchanged: bool) -> LatticeLaw:
    """The lattice law of the curve without its atoms."""
    h, sign = grid.step, -1.0 if exchanged else 1.0
    alpha = -grid.tilt if exchanged else 1 + grid.tilt
    low, high = _range(curve, alpha, grid.depth)
    if not exchanged and np.isinf(curve.end):
        high = min(high, _range(curve, 1.0, -grid.cut)[1])
    # an upper law ends at the end of the support
    if grid.upper and exchanged and np.isfinite(curve.start):
        low = curve.start
    if grid.upper and not exchanged and np.isfinite(curve.end):
        high = curve.end
    first, last = ((float(curve.loss(np.array([end]))[0]) - origin) / h for end in (low, high))
    check_exact(first, last)
    first, last = int(np.floor(first + 1e-9)), int(np.ceil(last - 1e-9))
    first = max(first, 0) if np.isfinite(curve.start) else first
    last = min(max(last, first + 1), first + grid.most) if not exchanged else max(last, first + 1)
    first = first if not exchanged else max(first, last - grid.most)
    k = np.arange(first, last + 1)
    x = np.asarray(origin + k * h, dtype=float)
    s = np.clip(curve.inverse(x), curve.start, curve.end)
    if first == 0 and np.isfinite(curve.start):
        # near the start the computed edge has few digits
        s[0] = curve.start
    loss_error = curve.loss_error(s, np.abs(s))
    # an end of the curve lies within its cell; other edges are as computed
    inside = (s > curve.start) & (s < curve.end)
    location_error = float((np.abs(curve.loss(s) - x) * inside + loss_error).max()) + 4 * ULP * float(np.abs(x).max())
    runs = [_cells(curve, s[at : at + RUN + 1], x[at : at + RUN + 1], h) for at in range(0, s.size - 1, RUN)]
    log_mass, share, wrong, sag = np.concatenate(runs, axis=1)
    share_error = SHARE + np.exp(wrong) + 4 * location_error / h
    sag = np.minimum(sag * (1 + 1e-9), share * (1 - share) + share_error)
    exponent = log_mass + alpha * x[:-1]
    peak = float(exponent.max())
    g0, g1, g2 = (abs(one) for one in curve.density)
    far = np.maximum(np.abs(s[1:]), np.abs(s[:-1]))
    size = g0 + far * (g1 + g2 * far) + np.abs(alpha * x[:-1]) + np.abs(log_mass) + abs(peak)
    # the density is evaluated at the rounded s, too
    error = MASS + (16 * ULP + 2 * curve.error) * (4 + size) + np.exp(wrong) + np.maximum(loss_error[1:], loss_error[:-1])
    cells = TiltedCells(np.exp(exponent - peak), error, np.clip(share, 0, 1), share_error, sag, alpha, h, exchanged)
    nodes = cells.above() if grid.upper else cells.below()
    if not grid.upper:
        return LatticeLaw(-k if exchanged else k, nodes, peak, sign * origin, location_error)
    log_whole = peak + float(np.log(nodes.sum()))
    under, over = (safe_exp(_log_tail(curve, alpha, float(s[at]), outward) - log_whole) for at, outward in ((0, -1), (-1, 1)))
    if exchanged:
        # the start of the curve is the upper end of the exchanged law
        return LatticeLaw(-k, nodes, peak, -origin, location_error, under, float(under > 0), over)
    omitted_mass = safe_exp(_log_tail(curve, 1.0, float(s[-1]), 1)) if over else 0.0
    return LatticeLaw(k, nodes, peak, origin, location_error, over, omitted_mass, under)


def _log_tail(curve: Curve, power: float, end: float, outward: int) -> float:
    """An upper bound of the logarithm of the integral of e^{power l} dQ from an end upward (1) or downward (-1)."""
    far = curve.end if outward > 0 else curve.start
    if end == far:
        return -np.inf
    g1, g2 = curve.density[1:]
    at = np.array([end])
    steep, own = (float(part[0]) for part in curve.tail_slopes(at, outward))
    fall = -outward * (g1 + 2 * g2 * end) - max(outward * power, 0.0) * steep - own
    value = float((curve.log_density(at) + power * curve.loss(at))[0])
    if np.isfinite(far):
        value += float(np.log(abs(far - end))) + max(-fall, 0.0) * abs(far - end)
    else:
        value = value - float(np.log(fall)) if fall > 0 else np.inf
    return value + 1e-9 * (1 + abs(value)) if value < np.inf else np.inf


def _cells(curve: Curve, s: Array, x: Array, h: float) -> Array:
    """Log-masses of cells, shares, logarithms of the errors of either, and bounds of G / (A d)."""
    count = s.size - 1
    owner, low, high = np.arange(count), s[:-1], s[1:]
    reference = np.maximum(curve.log_density(low), curve.log_density(high))
    mass, upper, wrong = np.zeros(count), np.zeros(count), np.full(count, 1e-300)
    scale = float(np.log(np.expm1(min(h, 700.0))))
    narrow = float((high - low).max()) * curve.steepness < _NARROW
    rho, order = (_LARGER, _FEWER) if narrow else (_RHO, _ORDER)
    for halving in range(_HALVINGS):
        # some cells are narrower than the spacing of doubles
        wide = high > low
        owner, low, high = owner[wide], low[wide], high[wide]
        if not owner.size:
            break
        around = Ellipses.around(curve, low, high, rho, order)
        start = x[owner][:, None]
        apart = np.maximum(np.abs(around.left - start), np.abs(around.right - start)) + around.deviation + 1e-300
        paid = np.log(apart) + np.maximum(around.most - start, 0.0) - scale
        log_error = (around.log_rest + np.maximum(paid, 0.0)).min(axis=1)
        typical = np.maximum(curve.log_density((low + high) / 2), reference[owner]) + np.log(high - low)
        good = (log_error <= typical + _SHARP) | (halving == _HALVINGS - 1)
        if good.any():
            nodes, log_weight, _ = gauss(low[good], high[good], order)
            who = np.repeat(owner[good], order)
            weight = np.exp(curve.log_density(nodes) + log_weight - reference[who])
            mass += np.bincount(who, weight, count)
            upper += np.bincount(who, weight * (np.expm1(curve.loss(nodes) - x[who]) * np.exp(-scale)), count)
            wrong += np.bincount(owner[good], np.exp(np.minimum(log_error[good] - reference[owner[good]], 700.0)), count)
        owner, low, high = owner[~good], low[~good], high[~good]
        middle = (low + high) / 2
        owner, low, high = np.tile(owner, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
    held = np.maximum(mass, 1e-300)
    share = upper / held
    with np.errstate(over="ignore"):  # a cell without mass has no error
        error = np.minimum(2 * wrong / held, 1.0)
    return np.stack([np.log(held) + reference, share, np.log(error), _sag(curve, s, x, np.log(held) + reference, scale)])


def _sag(curve: Curve, s: Array, x: Array, log_mass: Array, scale: float) -> Array:
    """Max(dQ/da) d / (8 A) of each cell, where dQ/da is e^g times powers of the w_k over e^l times the slope of the loss."""
    log_density, slope = curve.highest(s[:-1], s[1:]), np.zeros(s.size - 1)
    for factor in curve.factors:
        value = factor.value(s)
        part = (factor.own - factor.sign) * value
        log_density = log_density + np.maximum(part[1:], part[:-1])
        share = factor.share(s, value)
        slope += abs(factor.slope) * np.minimum(share[1:], share[:-1])
    log_sag = log_density - np.log(np.maximum(slope, 1e-300)) + x[:-1] + scale - log_mass - np.log(8)
    sag: Array = np.exp(np.minimum(log_sag, 700.0))
    return sag
