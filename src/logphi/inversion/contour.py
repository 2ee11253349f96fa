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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.demand import Demand
from logphi.inversion.saddle import Interval, Saddle, minimise
from logphi.laws.negligible_nodes import negligible_from
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line, Values

# measured: the aliasing and truncation that are aimed at, each as a share of the requested relative tolerance
SHARE = 1e-3
# measured: about a second of closed forms
MAX_NODES = 1 << 18
# derived: a transform known to within e^600 only is not known; beyond that, errors leave the range of doubles
_HARDLY = 600.0
# derived: squares of it stay within the range of doubles
OUT_OF_REACH = 1e150
# derived: so many steps in a period are far more than any line is long, and their number is exact
LONGEST_PERIOD = 2.0**40


class Kernel(Protocol):
    """What the transform is multiplied with: the payoff, and where the line may end."""

    @property
    def anchor(self) -> float:
        """The point x0 whose e^{-z x0} is taken into the exponent."""

    @property
    def period(self) -> float:
        """The imaginary period of the integrand, infinite if it has none."""

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor beside e^{K(z) - z x0}, and its absolute rounding error."""

    @property
    def poles(self) -> tuple[float, ...]:
        """Where the factor is infinite, in order: the line stays off them, and to the right of all a functional is positive."""

    @property
    def farthest(self) -> float:
        """No abscissa beyond this one is of use."""

    def log_real(self, c: Array) -> Array:
        """Logarithm of the factor's size on the real axis, roughly."""

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Logarithm of a bound of the factor, decreasing in height, valid at and above each height."""

    def log_rest(self, height: float, abscissa: float) -> float:
        """Logarithm of a bound of the integral of the factor's size from a height on; without a period."""

    def log_chernoff(self, u: Array) -> Array:
        """Logarithm of the constant C(u) with which the functional at any y is at most C(u) M(u) e^{-uy}."""

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """An error of the kernel's own assumptions, in units of M(c) e^{-c x0}."""


@dataclass(frozen=True)
class Smooth:
    """1 / (z (z + 1)): the payoff of a law on the whole line."""

    anchor: float
    period: float = np.inf
    poles: tuple[float, ...] = (-1.0, 0.0)
    farthest: float = np.inf

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor."""
        factor = 1 / (z * (z + 1))
        return factor, ELEMENTARY * np.abs(factor)

    def log_real(self, c: Array) -> Array:
        """-log |c (c + 1)|."""
        return np.asarray(-np.log(np.maximum(np.abs(c), 1e-300)) - np.log(np.maximum(np.abs(c + 1), 1e-300)))

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """None: nothing is assumed."""
        return 0.0

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """-log |z (z + 1)|."""
        bound: Array = -np.log(np.hypot(heights, abscissa)) - np.log(np.hypot(heights, abscissa + 1))
        return bound + 1e-14

    def log_rest(self, height: float, abscissa: float) -> float:
        """|z (z + 1)| is above t^2."""
        return -math.log(height) + 1e-14

    def log_chernoff(self, u: Array) -> Array:
        """That of the payoff."""
        return log_kappa(u)


KernelAt = Callable[[LossTransform, float], Kernel]


def smooth(law: LossTransform, x: float) -> Kernel:
    """The kernel that fits every law."""
    return Smooth(x)


def log_kappa(u: Array) -> Array:
    """Logarithm of the Chernoff constant: sup over y of (1 - e^{-y})_+ e^{-uy} = u^u / (1+u)^{1+u}; 1 for u in [-1, 0]."""
    positive = np.maximum(u, 1e-300)
    return np.where(u > 0, -positive * np.log1p(1 / positive) - np.log1p(positive), 0.0)


RIGHT = Interval(0.0, np.inf)
MIDDLE = Interval(-1.0, 0.0)


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
    """A contour laid out for one threshold, which serves its neighbours too: every bound holds for any threshold."""

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
    law: LossTransform, x: float, demand: Demand, kernel_at: KernelAt = smooth, *, decaying: bool = False
) -> Prepared | None:
    """Lay out a contour for the smallest of the three functionals at x: the others lose nothing when formed from it.

    None if no abscissa was found at which the transform is known or, where ``decaying`` is asked for, if the rest beyond the
    longest line is not proved to be negligible.
    """
    best = _candidate(law, x, Part.EXCESS, kernel_at, demand.hint)
    # unless the excess is small, one of the other two may be smaller
    if best.log_estimate > -1.5:
        others = [Part.SHORTFALL] if x >= 0 else [Part.SHORTFALL, Part.REVERSED]
        best = min([best, *(_candidate(law, x, part, kernel_at) for part in others)], key=lambda one: one.log_estimate)
    if not np.isfinite(best.log_estimate):
        return None
    contour = plan(best.law, best.abscissa, kernel_at(best.law, best.x), demand.rtol, decaying)
    return None if contour is None else Prepared(best.part, best.law, contour, kernel_at)


@dataclass(frozen=True)
class _Candidate:
    part: Part
    law: LossTransform
    x: float
    abscissa: float
    log_estimate: float


def _candidate(law: LossTransform, x: float, part: Part, kernel_at: KernelAt, hint: float | None = None) -> _Candidate:
    """Where a functional would be computed and about how large it is."""
    if part is Part.REVERSED:
        # E[(e^{x-X} - 1)_+] is e^x times the excess of the reflected law at -x
        turned = _candidate(law.reflected(), -x, Part.EXCESS, kernel_at)
        return replace(turned, part=part, log_estimate=turned.log_estimate + x)
    kernel = kernel_at(law, x)
    found = saddle(law, kernel, RIGHT if part is Part.EXCESS else MIDDLE, hint)
    distance = found.abscissa if part is Part.EXCESS else min(-found.abscissa, found.abscissa + 1)
    if not (np.isfinite(found.value) and distance > 0):
        # out of reach, or next to a pole that doubles do not tell it from
        return _Candidate(part, law, x, found.abscissa, np.inf)
    # the saddle keeps the parts of the factor small, the value is about the factor itself
    c = np.array([found.abscissa])
    factor = np.log(np.maximum(np.abs(kernel(c.astype(complex))[0]), 1e-300)) - kernel.log_real(c)
    return _Candidate(part, law, x, found.abscissa, found.value + float(factor[0]) + float(np.log(distance)) - 1)


def interval_of(law: LossTransform, region: Interval, farthest: float = np.inf) -> Interval:
    """The part of a region in which the transform is finite."""
    return Interval(region.low, min(region.high, law.strip[1], farthest))


def saddle(law: LossTransform, kernel: Kernel, region: Interval, hint: float | None = None) -> Saddle:
    """The minimum over the region of K(c) - c x0 + log|factor|, along the real axis; infinite if the strip ends before."""

    def height(c: Array) -> Array:
        return law.approximate(c) - c * kernel.anchor + kernel.log_real(c)

    interval = interval_of(law, region, kernel.farthest)
    if not interval.low < interval.high:
        # the strip ends where the region begins
        return Saddle(interval.low, math.inf)
    return minimise(height, interval, hint if hint is not None and interval.low < hint < interval.high else None)


def saddle_of_excess(law: LossTransform, x: float, hint: float | None = None) -> Saddle:
    """That of the excess of a law with a smooth part."""
    return saddle(law, Smooth(x), RIGHT, hint)


# measured: cells of an upper Riemann sum that loses a few percent, relative to where a normal law is negligible
_CELLS = np.concatenate([np.linspace(0.0, 0.8, 24), np.linspace(0.9, 1.5, 4), 2.0 ** np.arange(1, 20, 3)])


@dataclass(frozen=True)
class Ceiling:
    """A proved upper bound e^{height - abscissa x} of the excess at any threshold x; ``size`` is that of what was rounded."""

    abscissa: float = 0.0
    height: float = 0.0
    size: float = 0.0

    def at(self, x: float) -> float:
        """The logarithm of the bound; an excess is at most one, which is all that is known where K is hardly known."""
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


def log_integral(law: LossTransform, c: float, kernel: Kernel, curvature: float) -> float:
    """Logarithm of 1/pi times an upper bound of the integral of the kernel's size and the envelope, over M(c).

    ``curvature`` is about K''(c): it only says where the bound is to be sharp.
    """
    heights = _normal_height(curvature, -35.0) * _CELLS
    envelope = np.append(0.0, law.log_envelope(c, heights[1:]))
    return float(_rest(heights, envelope, kernel, c)[0])


@dataclass(frozen=True)
class Contour:
    """A line with the values of K on it, and what its errors follow from; it serves any threshold near its own."""

    abscissa: float
    line: Line
    values: Values
    log_mass: float
    mass_error: float
    shift: float
    log_above: float
    log_below: float
    log_tail: float

    def integral(self, x: float, kernel: Kernel) -> Scaled:
        """|I(x)| with its errors; x must be where the kernel pays from."""
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
            excess=self._aliasing(x, scale),
            truncation=math.exp(self.log_tail) if self.log_tail < _HARDLY else math.inf,
            inner=share * float(inner.sum()),
            rounding=noise,
        )

    def _terms(
        self,
        z: NDArray[np.complex128],
        x: float,
        factor: NDArray[np.complex128],
        factor_error: Array,
        scale: float,
    ) -> tuple[NDArray[np.complex128], Array, Array]:
        """The summands and their rounding and inner errors, in units of e^scale."""
        size = np.abs(factor)
        known = self.values.radius < 1.0
        mid = np.where(known, self.values.mid, 0.0)
        # half an ulp of x, the product zx, and two subtractions
        slip = 2 * ULP * (np.abs(mid) + 2 * np.abs(z) * abs(x) + abs(scale)) + ELEMENTARY
        # far out no digit of the exponent is left
        known &= slip < 1.0
        exponent = np.where(known, mid - z * x - scale, 0.0)
        growth = np.exp(exponent.real)
        f = np.where(known, growth * np.exp(1j * exponent.imag) * factor, 0.0)
        # where K is hardly known, |M(z)| <= M(c) still holds: the summand is between plus and minus its bound
        trivial = np.exp(min(self.mass_error + 2e-15 * (abs(self.log_mass) + abs(self.abscissa * x)), 700.0)) * 1.01
        hardly = np.isfinite(self.values.mid) & ~known
        size_known = np.where(hardly, self.values.mid.real, np.inf) + self.values.radius - self.abscissa * x - scale
        trivial = np.minimum(trivial, np.exp(np.minimum(size_known, 700.0)) * 1.01)
        rounding = np.where(
            known,
            np.expm1(np.where(known, np.minimum(self.values.rounding + slip, 700.0), 0.0)) * (np.abs(f) + growth * factor_error)
            + growth * factor_error,
            trivial * (size + factor_error),
        )
        inner = np.where(known, np.expm1(np.where(known, self.values.inner, 0.0)) * np.abs(f) * 3, 0.0)
        return f, rounding, inner

    def _aliasing(self, x: float, scale: float) -> float:
        """Both neighbours' Chernoff bounds, summed over all periods."""
        c, s = self.abscissa, self.shift
        turns = 2 * np.pi * s / self.line.step
        decay = turns + np.log1p(-np.exp(-turns))
        terms = [self.log_above - (c + s) * x, self.log_below - (c - s) * x]
        slack = 8 * ULP * (abs(self.log_above) + abs(self.log_below) + (abs(c) + s) * abs(x) + abs(scale)) + 1e-13
        return float(sum(np.exp(np.minimum(term - decay - scale + slack, 700.0)) for term in terms))


def plan(law: LossTransform, abscissa: float, kernel: Kernel, rtol: float, decaying: bool = False) -> Contour | None:
    """Choose shift, step and length for a relative tolerance, from proved bounds; None as in :func:`prepare`."""
    found = layout(law, abscissa, kernel, math.log(rtol))
    return None if found is None else lay(law, found, kernel, decaying)


def lay(law: LossTransform, layout: Layout, kernel: Kernel, decaying: bool = False) -> Contour | None:
    """The line of a layout for a kernel, with the values of K on it; None as in :func:`prepare`."""
    c, shift, step, log_target = layout.abscissa, layout.shift, layout.step, layout.log_target
    real = law.log_transform(np.array([c, c + shift, c - shift]))
    upper = real.mid + real.radius
    lost = real.radius.max() + 2e-15 * (abs(float(real.mid[0])) + abs(c * kernel.anchor))
    if not (np.isfinite(upper).all() and lost < _HARDLY):
        return None
    log_mass = float(real.mid[0])
    neighbours = c + np.array([shift, -shift])
    log_above, log_below = (upper[1:] + kernel.log_chernoff(neighbours)).tolist()
    if np.isfinite(kernel.period):
        half = max(int(np.ceil(min(kernel.period / step / 2, LONGEST_PERIOD))), 1)
        step = kernel.period / (2 * half + 1)
        layout = replace(layout, step=step)
        size, log_tail = _length(law, layout, half + 1, kernel)
        if size > MAX_NODES:
            return None
    else:
        size, log_tail = _length(law, layout, MAX_NODES, kernel)
        if size > _LONG:
            size, log_tail = _shortened(law, layout, size, log_tail, kernel)
    line = Line(c, step, size)
    if decaying and not log_tail <= log_target + 1:
        return None
    # the tail is bounded in units of M(c); what is known of M(c) is its upper end
    log_tail += float(real.radius[0]) + 1e-12 * (1 + abs(log_mass))
    return Contour(c, line, law.on_line(line), log_mass, float(real.radius[0]), shift, log_above, log_below, log_tail)


# derived: as many deviations from the mean of a normal law leave a share of e^-40
_REACH = 9.0


@dataclass(frozen=True)
class Layout:
    """Where a line lies and how fine it is, the logarithm of the error to aim at over M(c) e^{-cx}, and about K''(c)."""

    abscissa: float
    shift: float
    step: float
    log_target: float
    curvature: float


def layout(law: LossTransform, saddle_at: float, kernel: Kernel, log_rtol: float) -> Layout | None:
    """The layout for a saddle and the logarithm of a relative tolerance, however small; None where K is out of reach.

    Towards the right a tilted law may grow a second mode (a few large steps among many small ones), which costs a small
    step; so abscissas a little left of the saddle compete, at a price for what they give away.
    """
    x, outside = kernel.anchor, saddle_at > kernel.poles[-1]
    room = float(_room(law, kernel, np.array([saddle_at]))[0])
    trial = room * np.array([1e-3, 0.1])
    rough = law.approximate(np.concatenate([[saddle_at], saddle_at + trial, saddle_at - trial]))
    if not np.isfinite(rough[0]):
        return None
    second = (rough[1:3] + rough[3:] - 2 * rough[0]) / trial**2
    usable = second[np.isfinite(second) & (second * trial**2 < 1) & (second > 0)]
    # the wider difference is the better one unless higher terms have taken over
    reach = max(_REACH, math.sqrt(max(-2 * log_rtol, 0.0)))
    scale = min(room, reach / np.sqrt(usable[-1])) if usable.size else room
    moved = saddle_at - (scale * np.array([0.0, 0.2]) if outside else np.zeros(1))
    rooms = _room(law, kernel, moved)
    # the ends themselves are poles of nothing: a shift as large as the room is allowed, where the bound is the total mass
    shifts = np.minimum(scale * np.geomspace(1 / 32, 2, 7)[None, :], rooms[:, None])
    c = moved[:, None]
    points = np.concatenate([c, c + shifts, c - shifts], axis=1)
    values = law.approximate(points.ravel()).reshape(points.shape)
    middle, above, below = values[:, :1], values[:, 1:8], values[:, 8:]
    size = np.array([float(kernel.log_real(one)[0]) for one in c])
    with np.errstate(invalid="ignore"):  # unknown values of K: such abscissas are given up below
        curvature = np.nan_to_num(np.maximum((above + below - 2 * middle)[:, 2] / shifts[:, 2] ** 2, 0.0), posinf=0.0)
        log_value = size - 0.5 * np.log(2 * np.pi * (curvature + sum((moved - pole) ** -2 for pole in kernel.poles)))
        beside = [values + kernel.log_chernoff(at) - at * x for values, at in ((above, c + shifts), (below, c - shifts))]
        neighbours = np.logaddexp(*beside) - (middle - c * x)
    log_target = log_value + math.log(SHARE) + log_rtol
    finite = np.isfinite(neighbours)
    safe = np.where(finite, neighbours, 0.0)
    # where the neighbours are far below the target, any step would do
    turns = np.maximum(np.logaddexp(0.0, safe - log_target[:, None]), SHARE)
    steps = np.where(finite, 2 * np.pi * shifts / turns, 0.0)
    heights = middle[:, 0] - moved * x + size
    known = np.isfinite(heights)
    # beside an unknown first one the others give nothing away
    given_away = np.where(known, np.where(known, heights, 0.0) - (heights[0] if known[0] else np.inf), np.inf)
    with np.errstate(divide="ignore"):  # a step of zero: no candidate
        score = np.log(steps.max(axis=1)) - 0.7 * np.maximum(given_away, 0.0)
    best = int(np.argmax(np.where(np.isnan(score), -np.inf, score)))
    pick = int(np.argmax(steps[best]))
    if not steps[best, pick] > 0:
        return None
    settled, shift = settle(float(moved[best])), float(shifts[best, pick])
    exact = settle(settled + shift) - settled
    shift = exact if abs(exact - shift) < 1e-6 * shift else shift
    found = (settled, shift, _short(float(steps[best, pick])))
    return Layout(*(float(one) for one in (*found, log_target[best], curvature[best])))


def _room(law: LossTransform, kernel: Kernel, c: Array) -> Array:
    """How far an abscissa is from the nearest pole and the ends of the strip."""
    poles = np.min([np.abs(c - pole) for pole in kernel.poles], axis=0)
    room: Array = np.minimum(poles, np.minimum(law.strip[1] - c, c - law.strip[0]))
    return room


def settle(abscissa: float) -> float:
    """Hardly another abscissa, with which -1 - c is exact unless c is tiny: laws are reflected without rounding."""
    near = (1 + abscissa) - 1
    return near if abs(near - abscissa) < 1e-6 * abs(abscissa) else abscissa


def _short(step: float) -> float:
    """Hardly less than the step, with so few digits that its multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2.0**26), exponent - 26)


# measured: heights at which the rest is bounded, relative to where that of a normal law is negligible
_AROUND = 2.0 ** np.concatenate([np.arange(-1, 1.5, 0.25), np.arange(1.5, 8), np.arange(8, 44, 4)])
_BETWEEN = 8
# measured: lines that repay a search for nodes to leave out, and how far below the target, as a logarithm, these stay
_LONG = 1 << 9
_ASIDE = 3.0


def _length(law: LossTransform, layout: Layout, most: int, kernel: Kernel) -> tuple[int, float]:
    """How many nodes until the rest is proved negligible, and the logarithm of the proved rest in units of e^scale.

    The sum over the nodes beyond the last one, at height T, is at most the integral from T of the decreasing bound,
    and that at most its upper Riemann sum on a grid.
    """
    c, step, log_target, end = layout.abscissa, layout.step, layout.log_target, kernel.period / 2

    def rest_from(heights: Array) -> Array:
        return _rest(heights, law.log_envelope(c, heights, end), kernel, c)

    heights = _normal_height(layout.curvature, log_target) * _AROUND
    if step < heights[0]:
        heights = np.append(step, heights)
    if np.isfinite(end):
        heights = np.append(heights[heights < end], end)
    rest = rest_from(heights)
    enough = int(np.argmax(rest <= log_target)) if (rest <= log_target).any() else heights.size - 1
    if enough > 0 and heights[enough] > 1.5 * heights[enough - 1]:
        between = np.geomspace(heights[enough - 1], heights[enough], _BETWEEN)[1:-1]
        heights = np.concatenate([heights[:enough], between, heights[enough:]])
        rest = rest_from(heights)
        enough = int(np.argmax(rest <= log_target)) if (rest <= log_target).any() else heights.size - 1
    size = int(min(np.ceil(heights[enough] / step - 1e-9) + 1, most))
    if np.isfinite(end) and size >= most:
        return most, -np.inf
    # the last height that is not above the last node; the first never is
    kept = int(np.searchsorted(heights, step * (size - 1) * (1 + 1e-12), side="right")) - 1
    return size, float(rest[kept])


def _shortened(law: LossTransform, layout: Layout, size: int, log_tail: float, kernel: Kernel) -> tuple[int, float]:
    """A line without its last nodes where these are proved negligible, and the rest with them."""
    c, step = layout.abscissa, layout.step
    log_most = float(kernel.log_size(np.array([step]), c)[0]) + math.log(step * size / math.pi)
    log_floor = layout.log_target - log_most - _ASIDE
    first = max(negligible_from(law, c, step, size, log_floor), 2)
    return (first, float(np.logaddexp(log_tail, log_floor + log_most))) if first < size else (size, log_tail)


def _normal_height(curvature: float, log_target: float) -> float:
    """Where the transform of a normal law of this variance has fallen to the target; one where the variance is unknown."""
    height = math.sqrt(max(-2 * log_target, 1.0) / curvature) if 0 < curvature < np.inf else 1.0
    return min(max(height, 1e-100), 1e100)


def _rest(heights: Array, envelope: Array, kernel: Kernel, abscissa: float) -> Array:
    """Logarithm of 1/pi times the upper Riemann sum of a product of decreasing bounds, from each height on."""
    # a period ends where its grid does
    last = -np.inf if np.isfinite(kernel.period) else float(envelope[-1]) + kernel.log_rest(float(heights[-1]), abscissa)
    cells = np.append((envelope + kernel.log_size(heights, abscissa))[:-1] + np.log(np.diff(heights)), last)
    total: Array = np.logaddexp.accumulate(cells[::-1])[::-1] - np.log(np.pi)
    return total
