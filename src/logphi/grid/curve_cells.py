"""The discretizer of a law that is given by a curve.

The mirror image, the atoms and the rest of the curve are added to the cells of its body (:mod:`logphi.grid.curve_masses`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.safe import safe_exp
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.cell_masses import CellMasses, atom_cells
from logphi.grid.chords import Chords
from logphi.grid.curve_masses import between
from logphi.grid.discretizer import Discretizer
from logphi.grid.lattice_law import Grid, LatticeLaw, atoms_on_lattice, check_exact, joined, missed
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.gauss_legendre import GaussLegendre, Masses, atoms_of, whole_law

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

    def cells(self, first: int, last: int, h: float, upper: bool) -> CellMasses:
        """Cells between the crossings of the loss with the multiples, atoms, and the mirror image."""
        if self.exchanged:
            return replace(self, exchanged=False).cells(-last, -first, h, upper).reversed(h)
        curve = self.curve_at(upper)
        low, high = (
            end / h if np.isinf(end) else float(curve.loss(np.array([end]))[0]) / h for end in (curve.start, curve.end)
        )

        def body(first: int, last: int) -> CellMasses:
            start = max(first, int(np.floor(low))) if low > -np.inf else first
            end = min(last, int(np.ceil(high))) if high < np.inf else last
            return between(curve, 0.0, np.arange(start, max(end, start + 1) + 1), h)[1]

        found = body(first, last)
        if curve.symmetric:
            found += body(-last, -first).reversed(h)
        if curve.atoms or curve.rest:
            none = np.zeros(0)
            atoms = whole_law(curve, Masses(none, none, none, none))
            own = atom_cells(atoms.loss, atoms.log_mass + atoms.loss, float(atoms.loss_error.max()), h)
            found += replace(own, error=own.error + atoms.relative_error + atoms.loss_error)
        return found

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
    h = grid.step
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
    s, cells = between(curve, origin, np.arange(first, last + 1), h)
    law = Chords(cells, grid, exchanged).law()
    if not grid.upper:
        return law
    log_whole = law.log_scale + float(np.log(law.weights.sum()))
    under, over = (safe_exp(_log_tail(curve, alpha, float(s[at]), outward) - log_whole) for at, outward in ((0, -1), (-1, 1)))
    if exchanged:
        # the start of the curve is the upper end of the exchanged law
        return replace(law, omitted_above=under, omitted_mass=float(under > 0), omitted_below=over)
    omitted_mass = safe_exp(_log_tail(curve, 1.0, float(s[-1]), 1)) if over else 0.0
    return replace(law, omitted_above=over, omitted_mass=omitted_mass, omitted_below=under)


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
