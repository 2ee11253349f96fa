"""Laws whose transform does not decay: a contour with a smoothed threshold, and a bound of the error of smoothing.

notation: D(x) = E[(1 - e^{x-X})_+]; xi a symmetric random number on [-w, w] with density f proportional to
r I_1(beta r), r = (1 - (s/w)^2)^{1/2}, whose transform is, with v = (beta^2 + (zw)^2)^{1/2},

    kappa(z) = E[e^{z xi}] = B(v) / B(beta),      B(v) = (cosh v - sinh(v)/v) / v^2,

of size e^{-beta} from the height beta/w on (a Kaiser-Bessel window of order one); d = log kappa(1).

* D is convex in e^x and E[e^{xi - d}] = 1, so that S(x) = E[D(x + xi - d)] is at least D(x). Its integral along a vertical
  line is that of D with the factor kappa(z) e^{zd}, and that ends at the height beta/w whatever the law is.
* S - D is the mean of a hump h(X - x), 0 <= h(y) <= e^{4w} s^2 f(y + d) for w <= 1/10: log f has a second derivative below
  -1/s^2, s^2 = w^2 I_1(beta) / (beta I_0(beta)), so that the integral of (v - y)_+ f(v) over v is at most s^2 f(y) for
  y >= 0. The mean of f is an integral along the same line, with the factor kappa(z) e^{zd} alone.

Where the law has a density, h is about half of its bound; so the value in the middle errs by far less than the width, which
falls with w^2.

The file is longer than others because one plan balances the errors of the line, of the window and of omitted atoms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Inversion, Part
from logphi.inversion.lines.kernels import Smooth, log_kappa
from logphi.inversion.lines.layout import Layout, layout
from logphi.inversion.lines.line_sum import MAX_NODES, SEARCHED, ValuesOn, lay
from logphi.inversion.lines.saddle import RIGHT, saddle
from logphi.inversion.lines.threshold_sum import Summands, ThresholdSum
from logphi.inversion.smoothing.rare_atoms import without_rare_atoms
from logphi.inversion.smoothing.rare_losses import RareLosses, without_large_losses
from logphi.inversion.smoothing.sparse_line import lay_sparse, longest
from logphi.inversion.smoothing.window import Window
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import SparseLine

# derived: the largest w for which the bound of the hump is proved
_WIDEST = 0.1
# measured: with a larger beta nothing is gained, and with a smaller one the window's transform falls too little
_BETA = (12.0, 60.0)
# measured: the transform of the window has fallen to e^-beta at this multiple of beta/w
_LAST_HEIGHT = 1.15
# measured: the tolerance that the line is laid out for, as a multiple of the requested one: its errors are far smaller
_LOOSE = 10.0
# chosen: the points around the threshold at which an atom is sought, in widths of the window
_AROUND = np.linspace(-1.0, 1.0, 17)
# measured: if most nodes of a line are negligible, a second line may be longer: by at most the inverse of _LONGER, and so that
# _SPARSE times the nodes of the first are no more than the largest number
_LONGER, _SPARSE = 1 / 64, 2.0
# chosen: the share of the tolerance that the errors of the line may take
_LINE = 0.2
# measured: how often a line is laid again for a value that is smaller than expected, the value that is then assumed over the
# errors, and the logarithm of a share of the integrand that rounding hides
_DEEPER, _UNSEEN, _LEAST_SHARE = 3, 1e-3, -60.0
# chosen: if the relative width is larger, the whole law is tried
_RESOLVED = 1e-2
# derived: the logarithm of a relative width far above every demand
_FAR = 300.0
# measured: a window that is narrowed by less gains nothing
_NARROWER = 0.97
# measured: the part of beta, in addition to the logarithms, with which the bound of the tail falls far enough
_FALL = 6.0
# measured: the share of the tolerance that the hump may take
_HUMP = 0.8
# measured: where a law is far from normal, its density is hardly ever below this multiple of c (c + 1) times D
_LEAST_DENSITY = 1e-2
# derived: so many deviations from its mean a normal density is far below that
_DEVIATIONS = 9.0


@dataclass(frozen=True)
class Smoothed:
    """The kernel of S (``part`` payoff), of the bound of the hump (hump), or of their sum (both), for which a line is laid."""

    anchor: float
    window: Window
    part: Literal["payoff", "hump", "both"]
    period: float = np.inf
    poles: tuple[float, ...] = (-1.0, 0.0)
    farthest: float = np.inf

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor and its absolute error."""
        factor, error = self.window.transform(z)
        if self.part == "hump":
            return self.window.hump * factor, self.window.hump * (error + ELEMENTARY * np.abs(factor))
        payoff, own = Smooth(self.anchor)(z)
        return payoff * factor, np.abs(payoff) * (error + ELEMENTARY * np.abs(factor)) + own * np.abs(factor)

    def log_real(self, c: Array) -> Array:
        """The size of the payoff's kernel."""
        return Smooth(self.anchor).log_real(c)

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """The bound of the sum of both kernels."""
        payoff = np.logaddexp(Smooth(self.anchor).log_size(heights, abscissa), math.log(self.window.hump))
        return self.window.log_size(heights, abscissa) + payoff

    def log_rest(self, height: float, abscissa: float) -> float:
        """The tail far above the end of the line, where the bound falls at least like 1/t^2 up to a few percent."""
        w, beta = self.window.width, math.hypot(self.window.beta, abscissa * self.window.width)
        if height * w < 4 * beta:
            return np.inf
        return self.log_size(np.array([height]), abscissa).item() + math.log(height) + 0.1

    def log_chernoff(self, u: Array) -> Array:
        """The constant of the payoff, times E[e^{-u (xi - d)}]."""
        return log_kappa(u) + self.window.log_gain(u) + np.abs(u) * self.window.log_mean + 1e-12

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """Zero: nothing is neglected."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Prepared:
    """Two sums on one line, of the smoothed payoff and of the hump; the bounds hold at every threshold.

    ``omitted`` bounds the contribution of omitted rare atoms; ``large_losses`` is that of omitted large losses.
    """

    part: Part
    payoff: ThresholdSum
    hump: ThresholdSum
    omitted: float = 0.0
    large_losses: RareLosses | None = None

    def at(self, x: float) -> Inversion:
        """The prepared functional at x; ``discretization`` is half the bound of the hump."""
        reflected = self.part is Part.REVERSED
        threshold = -x if reflected else x
        payoff = self.payoff.at(threshold)
        half = self.hump.at(threshold).high / 2
        middle = payoff.value - half if math.isfinite(half) else 0.0
        amount = replace(payoff, value=middle, discretization=half)
        if self.omitted:
            amount += Scaled(math.log(self.omitted), 0.5, truncation=0.5)
        if self.large_losses is not None:
            amount += self.large_losses.at(threshold)
        amount = amount.times_exp(x) if reflected else amount
        contour = self.payoff.contour
        return Inversion(self.part, amount, contour.abscissa, contour.line.size)


def prepare(law: LossTransform, x: float, demand: Demand, values_on: ValuesOn = None) -> Prepared | None:
    """Lay a line for the excess at x >= 0, or for the reversed excess at x < 0.

    Any law with a known transform is served. The relative width is about the demanded one if the longest line can resolve it.
    A window that turns out too wide, for example because of an atom near the threshold, is narrowed once. None if no abscissa
    was found at which the transform is known, or if the line is too coarse. ``values_on`` computes K on a line.
    """
    reflected = x < 0
    own, threshold = (law.reflected(), -x) if reflected else (law, x)
    hint = None if reflected else demand.hint
    small, large_losses = without_large_losses(own, threshold, demand.rtol, hint)
    if large_losses is not None:
        found = _prepared(small, threshold, Demand(demand.rtol), reflected, large_losses, values_on)
        if found is not None and found.at(x).amount.relative_width <= _RESOLVED:
            return found
    return _prepared(own, threshold, replace(demand, hint=hint), reflected, None, values_on)


def _prepared(
    own: LossTransform, threshold: float, demand: Demand, reflected: bool, large_losses: RareLosses | None, values_on: ValuesOn
) -> Prepared | None:
    """The sums for a law without its large losses, if some are omitted, and without its rare atoms.

    ``large_losses`` is the contribution of the former.
    """
    own, omitted, hint = without_rare_atoms(own, threshold, demand.rtol, demand.hint)
    first = Plan.of(own, threshold, demand.rtol, hint)
    laid = None if first is None else _laid(own, threshold, first, values_on)
    for _ in range(_DEEPER):
        deeper = None if laid is None else laid[0].deepened(own, laid[1], threshold, large_losses)
        found = None if deeper is None else _laid(own, threshold, deeper, values_on)
        if found is None:
            break
        laid = found
    if laid is None:
        return None
    plan, sums = laid
    finer = plan.narrowed(sums, threshold, large_losses)
    again = finer and _summed(own, threshold, finer, values_on)
    # a line that should be longer may have been shortened
    sums = again if again and _left_open(again, threshold) < _left_open(sums, threshold) else sums
    return Prepared(Part.REVERSED if reflected else Part.EXCESS, *sums, omitted, large_losses)


def _left_open(sums: tuple[ThresholdSum, ThresholdSum], x: float) -> float:
    """The truncation and rounding errors and the bound of the hump."""
    payoff, hump = (one.at(x) for one in sums)
    return payoff.truncation + payoff.rounding + hump.high


def _with(found: Scaled, large_losses: RareLosses | None, x: float) -> float:
    """The value of a sum with the contribution of large losses, in units of the sum."""
    if large_losses is None:
        return found.value
    more = large_losses.at(x)
    return found.value + more.value * math.exp(min(more.log_scale - found.log_scale, _FAR))


def _laid(
    law: LossTransform, x: float, plan: Plan, values_on: ValuesOn
) -> tuple[Plan, tuple[ThresholdSum, ThresholdSum]] | None:
    """A plan with its sums; with a wider window if too many nodes of the line count."""
    sums = _summed(law, x, plan, values_on)
    if sums is None:
        if not plan.longer:
            return None
        plan = replace(plan, window=replace(plan.window, width=plan.narrowest))
        sums = _summed(law, x, plan, values_on)
    return None if sums is None else (plan, sums)


def _summed(law: LossTransform, x: float, plan: Plan, values_on: ValuesOn) -> tuple[ThresholdSum, ThresholdSum] | None:
    """The sums of the payoff and of the hump; None if too little is known, or if too long a line is cut off."""
    kernel, line = Smoothed(x, plan.window, "both"), plan.layout
    contour = lay_sparse(law, line, kernel, values_on) or lay(law, line, kernel, values_on=values_on)
    if contour is None:
        return None
    if plan.longer and contour.log_tail > line.log_target + 1 + contour.mass_error:
        return None
    hump = Summands.of(contour, Smoothed(x, plan.window, "hump"))
    z = contour.line.points
    payoff = hump.times(1 / (plan.window.hump * z * (z + 1)), 2 * ELEMENTARY)
    return ThresholdSum.of(contour, x, payoff), ThresholdSum.of(contour, x, hump)


@dataclass(frozen=True)
class Plan:
    """A line and a window for one threshold, from values of K on the real axis alone.

    ``log_share`` is the logarithm of the target error of the line over the integrand.
    """

    layout: Layout
    window: Window
    rtol: float
    log_share: float

    @staticmethod
    def of(law: LossTransform, x: float, rtol: float, hint: float | None) -> Plan | None:
        """The plan for a threshold; None if no abscissa was found, or if the window would be wider than the law."""
        found = saddle(law, Smooth(x), RIGHT, hint)
        return Plan._at(law, x, rtol, found.abscissa, math.log(_LOOSE * rtol)) if math.isfinite(found.value) else None

    @property
    def narrowest(self) -> float:
        """The narrowest window that a line with all its nodes resolves."""
        return min(_narrowest(self.layout, self.window.beta), _WIDEST)

    @property
    def longer(self) -> bool:
        """Whether only a line without its negligible nodes resolves the window."""
        return self.window.width < self.narrowest

    @staticmethod
    def _at(law: LossTransform, x: float, rtol: float, abscissa: float, log_share: float) -> Plan | None:
        line = layout(law, abscissa, Smooth(x), log_share)
        if line is None:
            return None
        window = _fitted(law, line, x, rtol)
        return Plan(line, window, rtol, log_share) if line.abscissa * window.width <= window.beta else None

    def deepened(
        self, law: LossTransform, sums: tuple[ThresholdSum, ThresholdSum], x: float, large_losses: RareLosses | None = None
    ) -> Plan | None:
        """The plan for a value so far below the integrand that the errors of a first line are too large; None otherwise."""
        found = sums[0].at(x)
        error, value = found.excess + found.truncation, _with(found, large_losses, x)
        if error <= _LINE * self.rtol * value or error < found.rounding:
            return None
        # error bounds are mostly far above the errors; an unknown value is assumed some digits below them
        sought = max(value, _UNSEEN * error)
        log_share = self.log_share + math.log(max(_LINE * self.rtol * sought / 2, found.rounding) / error)
        if not _LEAST_SHARE < log_share < self.log_share - 1:
            return None
        return Plan._at(law, x, self.rtol, self.layout.abscissa, log_share)

    def narrowed(
        self, sums: tuple[ThresholdSum, ThresholdSum], x: float, large_losses: RareLosses | None = None
    ) -> Plan | None:
        """The plan for a second sum, from the width of the first at x; None if none is needed, or none is better.

        The hump of a smooth density falls with the square of w. The hump of an atom near the threshold falls with w itself,
        and like the window once w is below its distance: the hump around the threshold shows where the atom is.
        """
        payoff, hump = sums
        found, w, beta = payoff.at(x), self.window.width, self.window.beta
        here, value = hump.at(x).high, _with(found, large_losses, x)
        if not (self.rtol * value < _left_open(sums, x) + found.excess and here < math.inf and 0 < value < math.inf):
            return None
        beside = np.array([max(hump.at(x + w * threshold).high, 0.0) for threshold in _AROUND])
        smooth = min(here, float(beside.min()))
        atom, threshold = float(beside.max()) - smooth, abs(float(_AROUND[int(beside.argmax())]))
        # where most nodes of a line are negligible, it may be longer
        line = payoff.contour.line
        resolved = w if isinstance(line, SparseLine) else _narrowest(self.layout, beta)
        longest = resolved * max(_SPARSE * line.size / MAX_NODES, _LONGER)
        narrower = np.geomspace(min(max(longest / w, 1e-6), 1.0), 1.0, 64)
        depth = beta * (1 - np.sqrt(1 - np.minimum(threshold / narrower, 1.0) ** 2))
        left = smooth * narrower**2 + atom * narrower * np.exp(-depth)
        good = np.flatnonzero(left <= _HUMP * self.rtol * value)
        share = float(narrower[good[-1] if good.size else 0])
        return replace(self, window=replace(self.window, width=share * w)) if share < _NARROWER else None


def _fitted(law: LossTransform, line: Layout, x: float, rtol: float) -> Window:
    """The widest window whose hump meets the tolerance, or the narrowest that the longest line resolves."""
    # the tail after the line is about w e^-beta
    beta = min(max(_FALL + math.log(_wanted(line, rtol, 1.0)) - line.log_target, _BETA[0]), _BETA[1])
    wanted, narrowest = min(_wanted(line, rtol, beta), _WIDEST), _narrowest(line, beta)
    if wanted < narrowest:
        size = int(min(narrowest / wanted * MAX_NODES, SEARCHED))
        narrowest *= MAX_NODES / longest(law, line, Smoothed(x, Window(wanted, beta), "both"), size)
    return Window(min(max(wanted, narrowest), _WIDEST), beta)


def _wanted(line: Layout, rtol: float, beta: float) -> float:
    """The width w at which the hump takes its share of the tolerance, if the law is nearly normal under the tilt.

    Its mean is then 1/c + 1/(c + 1) above the threshold: with that as a deviations, the density is c (c + 1) times D, times
    (1 + a^2)^{1/2} e^{-a^2/2}. It is far smaller where D is nearly one.
    """
    c = line.abscissa
    ahead = min((1 / c + 1 / (c + 1)) / math.sqrt(line.curvature), _DEVIATIONS) if line.curvature > 0 else 0.0
    share = max(math.sqrt(1 + ahead * ahead) * math.exp(-ahead * ahead / 2), _LEAST_DENSITY)
    return math.sqrt(_HUMP * rtol * beta / (c * (c + 1) * share))


def _narrowest(line: Layout, beta: float) -> float:
    """The narrowest width w that the longest line resolves."""
    return _LAST_HEIGHT * beta / (line.step * (MAX_NODES - 2))
