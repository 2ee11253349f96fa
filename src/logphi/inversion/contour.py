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
from logphi.inversion.kernels import KernelAt, Smooth, log_kappa, smooth
from logphi.inversion.layout import Layout, layout, settle
from logphi.inversion.line_sum import MAX_NODES, Contour, Extent, extent, lay_out
from logphi.inversion.saddle import MIDDLE, RIGHT, Saddle, saddle
from logphi.inversion.truncation import log_integral
from logphi.laws.transform import LossTransform

# derived: squares of it stay within the range of doubles
OUT_OF_REACH = 1e150


class Part(enum.Enum):
    """Which of three positive functionals was computed; the other two follow from the masses."""

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
    """A contour that is laid out for one threshold; its bounds hold at every threshold."""

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
    """Lay out a contour for the smallest of the three functionals at x: formed from it, the others keep all digits.

    None if no abscissa was found at which the transform is known or, where ``decaying`` is asked for, if the rest beyond the
    longest line, of ``most`` nodes, is not proved to be negligible. ``excess`` is the saddle of the excess, where that is known
    already.
    """
    best = stand(law, x, demand.hint, kernel_at, excess)
    found = None if best is None else best.draft(demand, decaying=decaying, most=most)
    return None if found is None else found.laid()


def stand(
    law: LossTransform, x: float, hint: float | None = None, kernel_at: KernelAt = smooth, excess: Saddle | None = None
) -> Candidate | None:
    """Where a contour of the smallest of the three functionals stands; None where the transform is out of reach."""
    best = _candidate(law, x, Part.EXCESS, kernel_at, hint, excess)
    # unless the excess is small, one of the other two may be smaller
    if best.log_estimate > -1.5:
        others = [Part.SHORTFALL] if x >= 0 else [Part.SHORTFALL, Part.REVERSED]
        best = min([best, *(_candidate(law, x, part, kernel_at) for part in others)], key=lambda one: one.log_estimate)
    return best if np.isfinite(best.log_estimate) else None


@dataclass(frozen=True)
class Candidate:
    """Where a functional would be computed, and about the logarithm of the integrand there, less the nearer pole."""

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
    """A contour of which all is known but the values on its line."""

    candidate: Candidate
    layout: Layout
    extent: Extent

    @property
    def terms(self) -> float:
        """About how many summands all nodes take together."""
        size = self.extent.size
        return size * self.candidate.law.terms_on_line(self.layout.abscissa, self.extent.step * size)

    def laid(self) -> Prepared | None:
        """The contour; None where too little of K is known."""
        best = self.candidate
        contour = lay_out(best.law, self.layout, self.extent, best.kernel_at(best.law, best.x))
        return None if contour is None else Prepared(best.part, best.law, contour, best.kernel_at)


def _candidate(
    law: LossTransform, x: float, part: Part, kernel_at: KernelAt, hint: float | None = None, known: Saddle | None = None
) -> Candidate:
    """Where a functional would be computed and about how large it is."""
    if part is Part.REVERSED:
        # E[(e^{x-X} - 1)_+] is e^x times the excess of the reflected law at -x
        reflected = _candidate(law.reflected(), -x, Part.EXCESS, kernel_at)
        return replace(reflected, part=part, log_estimate=reflected.log_estimate + x)
    kernel = kernel_at(law, x)
    found = known or saddle(law, kernel, RIGHT if part is Part.EXCESS else MIDDLE, hint)
    distance = found.abscissa if part is Part.EXCESS else min(-found.abscissa, found.abscissa + 1)
    if not (np.isfinite(found.value) and distance > 0):
        # out of reach, or equal to a pole in doubles
        return Candidate(part, law, x, found.abscissa, np.inf, kernel_at)
    # the height at the saddle counts the parts of a factor by their sizes; the value depends on their difference
    c = np.array([found.abscissa])
    factor = np.log(np.maximum(np.abs(kernel(c.astype(complex))[0]), 1e-300)) - kernel.log_real(c)
    estimate = found.value + float(factor[0]) + float(np.log(distance)) - 1
    return Candidate(part, law, x, found.abscissa, estimate, kernel_at)


def saddle_of_excess(law: LossTransform, x: float, hint: float | None = None) -> Saddle:
    """That of the excess of a law with a smooth part."""
    return saddle(law, Smooth(x), RIGHT, hint)


@dataclass(frozen=True)
class Ceiling:
    """A proved upper bound e^{height - abscissa x} of the excess at any threshold x; ``size`` is that of what was rounded."""

    abscissa: float = 0.0
    height: float = 0.0
    size: float = 0.0

    def at(self, x: float) -> float:
        """The logarithm of the bound; an excess is at most one."""
        if abs(x) > OUT_OF_REACH:
            return 0.0
        return min(self.height - self.abscissa * x + 1e-14 * (1 + self.size + self.abscissa * abs(x)), 0.0)


def ceiling(law: LossTransform, x: float) -> Ceiling:
    """A quick bound that is good near x: by the best abscissa there.

    The smaller of Chernoff's and that of the integral of the modulus, the transform replaced by its envelope.
    """
    kernel = Smooth(x)
    found = saddle(law, kernel, RIGHT) if abs(x) <= OUT_OF_REACH else Saddle(0.0, math.inf)
    if not math.isfinite(found.value):
        return Ceiling()
    c = settle(found.abscissa)
    values = law.log_transform(np.array([c]))
    low, middle, high = law.approximate(c * np.array([0.9, 1.0, 1.1])).tolist()
    integral = log_integral(law, c, kernel, (low + high - 2 * middle) / (0.1 * c) ** 2)
    constant = min(float(log_kappa(np.array([c]))[0]), integral)
    return Ceiling(c, float((values.mid + values.radius)[0]) + constant, float(np.abs(values.mid[0])))
