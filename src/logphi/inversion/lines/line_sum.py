"""The trapezoidal sum on a vertical line, for any threshold near the one it was laid out for, with its errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.lines.kernels import Kernel
from logphi.inversion.lines.layout import Layout, layout
from logphi.inversion.lines.truncation import LONG, length, shortened
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line, SparseLine, Values

# measured: this many nodes of a law with a closed form take about a second
MAX_NODES = 1 << 18
# measured: the largest number of nodes among which the relevant ones are sought
SEARCHED = 1 << 26
# chosen: a line is refused at once if its tail is negligible only after this many times the largest number of nodes
_FAR_TOO_LONG = 2
# derived: larger errors of K would overflow
_HARDLY = 600.0
# derived: this many steps in a period are far more than any line has, and their number is exact
LONGEST_PERIOD = 2.0**40

# measured: the number of nodes at which the envelope is computed where K is unknown, each as long as some hundred nodes
_FEW = 1024

# a function that computes K on a line; None for the law's own method
ValuesOn = Callable[[LossTransform, Line | SparseLine], Values] | None


@dataclass(frozen=True)
class Contour:
    """A line with the values of K on it and the bounds from which its errors follow, for any threshold near its own."""

    abscissa: float
    line: Line | SparseLine
    values: Values
    log_mass: float
    mass_error: float
    shift: float
    log_above: float
    log_below: float
    log_tail: float

    def integral(self, x: float, kernel: Kernel) -> Scaled:
        """|I(x)| with its errors; x must be the threshold of the kernel."""
        z = self.line.points
        scale = self.log_mass - self.abscissa * kernel.anchor
        factor, factor_error = kernel(z)
        f, rounding, inner = self._terms(z, kernel.anchor, factor, factor_error, scale)
        share = self.line.step / np.pi
        f[0] *= 0.5
        value = share * float(f.real.sum())
        sizes = np.abs(f)
        noise = share * float(rounding.sum() + sizes.sum() * ULP * (24 + np.log2(self.line.size)))
        noise += kernel.position_error(z, factor, share)
        return Scaled(
            scale,
            value if self.abscissa > kernel.poles[-1] else -value,
            excess=self.aliasing(x, scale),
            truncation=self.truncation,
            inner=share * float(inner.sum()),
            rounding=noise,
        )

    def summands(self, kernel: Kernel) -> tuple[NDArray[np.complex128], Array, Array]:
        """The summands at the kernel's anchor, with their rounding and inner errors, in units of M(c) e^{-cx}."""
        z = self.line.points
        return self._terms(z, kernel.anchor, *kernel(z), self.log_mass - self.abscissa * kernel.anchor)

    @property
    def truncation(self) -> float:
        """The truncation error, in units of M(c) e^{-cx}."""
        return math.exp(self.log_tail) if self.log_tail < _HARDLY else math.inf

    def _terms(
        self,
        z: NDArray[np.complex128],
        x: float,
        factor: NDArray[np.complex128],
        factor_error: Array,
        scale: float,
    ) -> tuple[NDArray[np.complex128], Array, Array]:
        """The summands and their rounding and inner errors, in units of e^scale."""
        known = self.values.radius < 1.0
        mid = self.values.mid if known.all() else np.where(known, self.values.mid, 0.0)
        # half an ulp of x, the product zx, and two subtractions
        exponent_error = 2 * ULP * (np.abs(mid) + 2 * np.abs(z) * abs(x) + abs(scale)) + ELEMENTARY
        # at great heights the phase has lost all its digits
        known &= exponent_error < 1.0
        exponent, wrong, inner = mid - z * x - scale, self.values.rounding + exponent_error, self.values.inner
        unknown = None if known.all() else ~known
        if unknown is not None:
            exponent, wrong, inner = (np.where(known, part, 0.0) for part in (exponent, wrong, inner))
        growth = np.exp(exponent.real)
        f = growth * np.exp(1j * exponent.imag) * factor
        size, own = np.abs(f), growth * factor_error
        rounding, inner = np.expm1(wrong) * (size + own) + own, np.expm1(inner) * size * 3
        if unknown is not None:
            f[unknown], inner[unknown] = 0.0, 0.0
            rounding[unknown] = (self._largest(known, x, scale) * (np.abs(factor) + factor_error))[unknown]
        return f, rounding, inner

    def _largest(self, known: NDArray[np.bool_], x: float, scale: float) -> Array:
        """Bounds of |M(z) e^{-zx}| in units of e^scale: from |M(c)|, or from the bound of the size where K is unknown."""
        trivial = np.exp(min(self.mass_error + 2e-15 * (abs(self.log_mass) + abs(self.abscissa * x)), 700.0)) * 1.01
        hardly = np.isfinite(self.values.mid) & ~known
        size_known = np.where(hardly, self.values.mid.real, np.inf) + self.values.radius - self.abscissa * x - scale
        return np.asarray(np.minimum(trivial, np.exp(np.minimum(size_known, 700.0)) * 1.01))

    def aliasing(self, x: float, scale: float) -> float:
        """The aliasing error: Chernoff's bounds from both neighbours, summed over all periods."""
        c, s = self.abscissa, self.shift
        turns = 2 * np.pi * s / self.line.step
        decay = turns + np.log1p(-np.exp(-turns))
        slack = 8 * ULP * (abs(self.log_above) + abs(self.log_below) + (abs(c) + s) * abs(x) + abs(scale)) + 1e-13
        above, below = self.log_above - (c + s) * x, self.log_below - (c - s) * x
        return float(np.exp(np.minimum(np.array([above, below]) - decay - scale + slack, 700.0)).sum())


def plan(law: LossTransform, abscissa: float, kernel: Kernel, rtol: float, decaying: bool = False) -> Contour | None:
    """A contour whose shift, step and length meet a relative tolerance by proved bounds; None if none is found."""
    found = layout(law, abscissa, kernel, math.log(rtol))
    return None if found is None else lay(law, found, kernel, decaying)


@dataclass(frozen=True)
class Extent:
    """The step and the number of nodes of a line, and the logarithm of a bound of the tail after it, over M(c) e^{-cx}."""

    step: float
    size: int
    log_tail: float


def extent(law: LossTransform, layout: Layout, kernel: Kernel, decaying: bool = False, most: int = MAX_NODES) -> Extent | None:
    """The extent of the line of a layout, with at most ``most`` nodes.

    None if the line would be too long or, with ``decaying``, if the tail after it is not proved to be negligible.
    """
    step, log_target = layout.step, layout.log_target
    if np.isfinite(kernel.period):
        half = max(int(np.ceil(min(kernel.period / step / 2, LONGEST_PERIOD))), 1)
        step = kernel.period / (2 * half + 1)
        layout = replace(layout, step=step)
        size, log_tail = length(law, layout, half + 1, kernel)
        if size > MAX_NODES:
            return None
    else:
        size, log_tail = length(law, layout, SEARCHED, kernel)
        if size > LONG:
            size, log_tail = shortened(law, layout, size, log_tail, kernel)
        if decaying and size > _FAR_TOO_LONG * most:
            return None
        if size > most:
            size, log_tail = length(law, layout, most, kernel)
    return None if decaying and not log_tail <= log_target + 1 else Extent(step, size, log_tail)


def lay(
    law: LossTransform,
    layout: Layout,
    kernel: Kernel,
    decaying: bool = False,
    most: int = MAX_NODES,
    values_on: ValuesOn = None,
) -> Contour | None:
    """The line of a layout for a kernel, with at most ``most`` nodes and the values of K.

    None if it is too long, or too little is known.
    """
    found = extent(law, layout, kernel, decaying, most)
    return None if found is None else lay_out(law, layout, found, kernel, values_on)


def lay_out(law: LossTransform, layout: Layout, extent: Extent, kernel: Kernel, values_on: ValuesOn = None) -> Contour | None:
    """A line of that extent with the values of K on it; None if too little is known."""
    line = Line(layout.abscissa, extent.step, extent.size)
    if values_on is None:
        values, real = law.on_line_and_real(line, neighbours(layout)[1:])
    else:
        values, real = values_on(law, line), law.log_transform(neighbours(layout))
    return with_envelope(law, contour_of(line, values, real, layout.shift, extent.log_tail, kernel))


def neighbours(layout: Layout) -> Array:
    """The abscissa of a line and those of its two neighbours."""
    return layout.abscissa + layout.shift * np.array([0.0, 1.0, -1.0])


def with_envelope(law: LossTransform, found: Contour | None) -> Contour | None:
    """A contour with the bounds of the envelope where K is unknown."""
    if found is None or (found.values.radius < 1.0).all():
        return found
    return replace(found, values=_bounded(law, found.line, found.values, found.log_mass + found.mass_error))


def contour_of(
    line: Line | SparseLine, values: Values, real: Values, shift: float, log_tail: float, kernel: Kernel
) -> Contour | None:
    """The contour with K on its line and, in ``real``, at its abscissa and ``shift`` right and left of it.

    ``log_tail`` bounds the tail after the line, in units of M(c) e^{-cx}. None if too little is known.
    """
    c = line.abscissa
    upper, log_mass, mass_error = real.mid + real.radius, float(real.mid[0]), float(real.radius[0])
    lost = real.radius.max() + 2e-15 * (abs(log_mass) + abs(c * kernel.anchor))
    if not (np.isfinite(upper).all() and lost < _HARDLY):
        return None
    log_above, log_below = (upper[1:] + kernel.log_chernoff(c + np.array([shift, -shift]))).tolist()
    # the tail is bounded in units of M(c), of which the upper bound is taken
    log_tail += mass_error + 1e-12 * (1 + abs(log_mass))
    return Contour(c, line, values, log_mass, mass_error, shift, log_above, log_below, log_tail)


def _bounded(law: LossTransform, line: Line | SparseLine, values: Values, log_mass: float) -> Values:
    """K on a line; where it is unknown, the upper bound from the envelope, marked as a size only.

    ``log_mass`` is an upper bound of K at the abscissa.
    """
    unknown = ~(values.radius < 1.0)
    # at the abscissa itself the envelope is zero
    unknown[0] = False
    indices = np.flatnonzero(unknown)
    if not indices.size:
        return values
    # the envelope does not rise: a bound at one node holds at those above it
    few = np.unique(np.geomspace(1, indices.size, _FEW).astype(np.intp)) - 1
    above = np.searchsorted(few, np.arange(indices.size), side="right") - 1
    bound = log_mass + law.log_envelope(line.abscissa, line.heights[indices[few]])[above]
    sharper = ~(values.mid.real[indices] + values.radius[indices] <= bound)
    indices, bound = indices[sharper], bound[sharper]
    mid, rounding, inner = values.mid.copy(), values.rounding.copy(), values.inner.copy()
    mid[indices], rounding[indices], inner[indices] = bound - 1.0, 1.0 + 1e-12 * (1 + np.abs(bound)), 0.0
    return Values(mid, rounding, inner)
