"""Inversion along a vertical line: the trapezoidal rule, every error of which is bounded.

notation: mu a law with transform M = e^K, x a threshold. For an abscissa c off the poles 0 and -1,

    I(x) = (1/2 pi i) * integral over Re z = c of  e^{K(z) - zx} / (z (z+1)) dz

is, for c > 0, the excess D(x) = E[(1 - e^{x-X})_+] and, for -1 < c < 0, minus the shortfall E(x) = E[min(1, e^{x-X})].
With step h Poisson summation gives, for the sum over all nodes c + inh,

    (h/2 pi) sum f(c + inh) = sum over m of e^{2 pi m c/h} G(x + 2 pi m/h),     G = D or -E,

whose terms all have one sign: the sum errs to the large side, by no more than the Chernoff bounds of its terms,
G(x) <= kappa(u) M(u) e^{-ux}, allow (Abate & Whitt 1992, section 5; Trefethen & Weideman 2014, section 5).
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace

import numpy as np

from logphi.arith.scaled import Scaled
from logphi.inversion.demand import Demand
from logphi.inversion.lines.kernels import KernelAt, Smooth, log_kappa, smooth
from logphi.inversion.lines.layout import Layout, exactly_reflectable, layout
from logphi.inversion.lines.line_sum import MAX_NODES, Contour, Extent, extent, lay_out
from logphi.inversion.lines.saddle import MIDDLE, RIGHT, Saddle, saddle
from logphi.inversion.lines.truncation import log_integral
from logphi.laws.transform import LossTransform

# derived: squares of larger thresholds overflow
LARGEST_THRESHOLD = 1e150
# measured: the logarithm of a ceiling exceeds the saddle point's estimate of the excess by an eighth to a half
_ABOVE_ESTIMATE = 0.25


class Part(enum.Enum):
    """Which of three positive functionals is computed; the other two follow from it and the masses."""

    EXCESS = "E[(1 - e^{x-X})_+]"
    SHORTFALL = "E[min(1, e^{x-X})]"
    REVERSED = "E[(e^{x-X} - 1)_+]"


@dataclass(frozen=True)
class Inversion:
    """One of the three functionals with its errors."""

    part: Part
    amount: Scaled
    abscissa: float | None = None
    nodes: int = 0


@dataclass(frozen=True)
class Prepared:
    """A contour laid out for one threshold; its bounds hold at every threshold."""

    part: Part
    law: LossTransform
    contour: Contour
    kernel_at: KernelAt

    def at(self, x: float) -> Inversion:
        """The prepared functional at x."""
        if self.part is not Part.REVERSED:
            amount = self.contour.integral(x, self.kernel_at(self.law, x))
        else:
            amount = self.contour.integral(-x, self.kernel_at(self.law, -x)).times_exp(x)
        return Inversion(self.part, amount, self.contour.abscissa, self.contour.line.size)


def prepare(
    law: LossTransform,
    x: float,
    demand: Demand,
    kernel_at: KernelAt = smooth,
    *,
    decaying: bool = False,
    excess: Saddle | None = None,
    most: int = MAX_NODES,
) -> Prepared | None:
    """Lay out a contour for the smallest of the three functionals at x, from which the others follow without cancellation.

    None if no abscissa was found at which the transform is known or, with ``decaying``, if the tail after the longest line, of
    ``most`` nodes, is not proved to be negligible. ``excess`` is the saddle of the excess, if it is known already.
    """
    best = smallest_functional(law, x, demand.hint, kernel_at, excess)
    found = None if best is None else best.draft(demand, decaying=decaying, most=most)
    return None if found is None else found.laid()


def smallest_functional(
    law: LossTransform, x: float, hint: float | None = None, kernel_at: KernelAt = smooth, excess: Saddle | None = None
) -> Candidate | None:
    """The smallest of the three functionals, with an abscissa for it; None if the transform is unknown there."""
    best = _candidate(law, x, Part.EXCESS, kernel_at, hint, excess)
    # unless the excess is small, one of the other two may be smaller
    if best.log_estimate > -1.5:
        others = [Part.SHORTFALL] if x >= 0 else [Part.SHORTFALL, Part.REVERSED]
        best = min([best, *(_candidate(law, x, part, kernel_at) for part in others)], key=lambda one: one.log_estimate)
    return best if np.isfinite(best.log_estimate) else None


@dataclass(frozen=True)
class Candidate:
    """A functional, an abscissa for it, and an estimate of the functional's logarithm."""

    part: Part
    law: LossTransform
    x: float
    abscissa: float
    log_estimate: float
    kernel_at: KernelAt

    def draft(self, demand: Demand, *, decaying: bool = False, most: int = MAX_NODES) -> Draft | None:
        """A line for a demand; None as in :func:`prepare`."""
        kernel = self.kernel_at(self.law, self.x)
        line = layout(self.law, self.abscissa, kernel, math.log(demand.rtol))
        found = None if line is None else extent(self.law, line, kernel, decaying, most)
        return None if line is None or found is None else Draft(self, line, found)


@dataclass(frozen=True)
class Draft:
    """A contour without the values of K on its line."""

    candidate: Candidate
    layout: Layout
    extent: Extent

    @property
    def terms(self) -> float:
        """An estimate of the number of summands of K at all nodes together."""
        size = self.extent.size
        return size * self.candidate.law.approximate.terms_on_line(self.layout.abscissa, self.extent.step * size)

    def laid(self) -> Prepared | None:
        """The contour with the values of K; None if too little of K is known."""
        best = self.candidate
        contour = lay_out(best.law, self.layout, self.extent, best.kernel_at(best.law, best.x))
        return None if contour is None else Prepared(best.part, best.law, contour, best.kernel_at)


def _candidate(
    law: LossTransform, x: float, part: Part, kernel_at: KernelAt, hint: float | None = None, known: Saddle | None = None
) -> Candidate:
    """The abscissa for a functional, and an estimate of its size."""
    if part is Part.REVERSED:
        # E[(e^{x-X} - 1)_+] is e^x times the excess of the reflected law at -x
        reflected = _candidate(law.reflected(), -x, Part.EXCESS, kernel_at)
        return replace(reflected, part=part, log_estimate=reflected.log_estimate + x)
    kernel = kernel_at(law, x)
    found = known or saddle(law, kernel, RIGHT if part is Part.EXCESS else MIDDLE, hint)
    distance = found.abscissa if part is Part.EXCESS else min(-found.abscissa, found.abscissa + 1)
    if not (np.isfinite(found.value) and distance > 0):
        # an unknown transform, or an abscissa that rounds to a pole
        return Candidate(part, law, x, found.abscissa, np.inf, kernel_at)
    # the height at the saddle adds the sizes of the parts of a factor; the value depends on their difference
    c = np.array([found.abscissa])
    factor = np.log(np.maximum(np.abs(kernel(c.astype(complex))[0]), 1e-300)) - kernel.log_real(c)
    estimate = found.value + float(factor[0]) + float(np.log(distance)) - 1
    return Candidate(part, law, x, found.abscissa, estimate, kernel_at)


def saddle_of_excess(law: LossTransform, x: float, hint: float | None = None) -> Saddle:
    """The saddle of the excess of a law with a smooth part."""
    return saddle(law, Smooth(x), RIGHT, hint)


@dataclass(frozen=True)
class Ceiling:
    """A proved upper bound e^{height - abscissa x} of the excess at any x; ``size`` is the size of the rounded numbers."""

    abscissa: float = 0.0
    height: float = 0.0
    size: float = 0.0

    def at(self, x: float) -> float:
        """The logarithm of the bound; an excess is at most one."""
        if abs(x) > LARGEST_THRESHOLD:
            return 0.0
        return min(self.height - self.abscissa * x + 1e-14 * (1 + self.size + self.abscissa * abs(x)), 0.0)


def log_estimate(found: Saddle) -> float:
    """An estimate of the logarithm of the least ceiling, from a saddle of the excess."""
    if not found.curvature > 0:
        return found.value + _ABOVE_ESTIMATE
    return found.value - 0.5 * math.log(2 * math.pi * found.curvature) + _ABOVE_ESTIMATE


def ceiling(law: LossTransform, x: float, level: float = math.inf, hint: float | None = None) -> Ceiling:
    """A quick bound that is good near x, by the best abscissa there; the trivial bound if it would hardly be below a level.

    It is the smaller of Chernoff's bound and of the integral of the modulus, the transform replaced by its envelope. ``hint``
    is a guess of the best abscissa.
    """
    kernel = Smooth(x)
    found = saddle(law, kernel, RIGHT, hint) if abs(x) <= LARGEST_THRESHOLD else Saddle(0.0, math.inf)
    if not math.isfinite(found.value):
        return Ceiling()
    if log_estimate(found) > level:
        return Ceiling()
    c = exactly_reflectable(found.abscissa)
    values = law.log_transform(np.array([c]))
    integral = log_integral(law, c, kernel, found.curvature - c**-2 - (c + 1) ** -2)
    constant = min(float(log_kappa(np.array([c]))[0]), integral)
    return Ceiling(c, float((values.mid + values.radius)[0]) + constant, float(np.abs(values.mid[0])))
