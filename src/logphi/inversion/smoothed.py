"""Laws whose transform does not decay: the contour with a smoothed threshold, and a bound of what smoothing adds.

notation: D(x) = E[(1 - e^{x-X})_+]; xi a symmetric random number on [-w, w] with density f proportional to
r I_1(beta r), r = (1 - (s/w)^2)^{1/2}, whose transform is, with v = (beta^2 + (zw)^2)^{1/2},

    kappa(z) = E[e^{z xi}] = B(v) / B(beta),      B(v) = (cosh v - sinh(v)/v) / v^2,

of size e^{-beta} from the height beta/w on (a Kaiser-Bessel window of order one); d = log kappa(1).

* D is convex in e^x and E[e^{xi - d}] = 1, so that S(x) = E[D(x + xi - d)] is at least D(x). Its integral along a vertical
  line is that of D with the factor kappa(z) e^{zd}, and that ends at the height beta/w whatever the law is.
* S - D is the mean of a hump h(X - x), 0 <= h(y) <= e^{4w} s^2 f(y + d) for w <= 1/10: log f has a second derivative below
  -1/s^2, s^2 = w^2 I_1(beta) / (beta I_0(beta)), so that the integral of (v - y)_+ f(v) over v is at most s^2 f(y) for
  y >= 0. The mean of f is an integral along the same line, with the factor kappa(z) e^{zd} alone.

Where the law has a density, h takes about half of its bound; so the value in the middle errs by far less than the width,
which falls with w^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.inversion.kernels import Smooth, log_kappa
from logphi.inversion.layout import Layout, layout
from logphi.inversion.line_sum import MAX_NODES, SEARCHED, Contour, lay
from logphi.inversion.saddle import RIGHT, saddle
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line

# derived: the bound of the hump is proved up to here
_WIDEST = 0.1
# measured: with a larger beta nothing is gained, and with a smaller one the window's transform falls too little
_BETA = (12.0, 60.0)
# measured: beta settles within so many steps
_SETTLED = 3
# measured: the transform has fallen to e^-beta at this multiple of beta/w
_BEYOND = 1.15
# chosen: the share of the tolerance that the hump may take
_HUMP = 0.8
# measured: a width so many times the tolerance is worth a second line, with a narrower window
_NEARLY = 30.0
# measured: with wider windows than this takes, the density within them is not that at the saddle
_COARSEST = 0.1
# measured: at so many places along the line K must be known
_PROBES = 8
# derived: a recurrence from two to six over beta >= 12 loses three digits at most, of terms that fall by 1e-3 each
_MEAN = 256 * ULP
# derived: B(v) = sum of v^2k (2k + 2) / (2k + 3)!; twelve terms leave less than 1e-25 for |v| < 1
_SERIES = [(2 * k + 2) / math.factorial(2 * k + 3) for k in range(12)]


@dataclass(frozen=True)
class Window:
    """The density of xi."""

    width: float
    beta: float

    @staticmethod
    def fit(line: Layout, rtol: float, most: int) -> Window:
        """The widest window whose hump is negligible, or the narrowest that a line of ``most`` nodes resolves."""
        # at the saddle, the density is about c (c + 1) times the excess
        share = _HUMP * min(rtol, _COARSEST) / (line.abscissa * (line.abscissa + 1))
        beta = _BETA[0]
        for _ in range(_SETTLED):
            # the hump beyond the line is about e^-beta w, and the payoff is less
            beta = min(max(2 - line.log_target + 0.5 * math.log(share * beta), _BETA[0]), _BETA[1])
        narrowest = _BEYOND * beta / (line.step * (most - 2))
        return Window(min(max(math.sqrt(share * beta), narrowest), _WIDEST), beta)

    @cached_property
    def log_mean(self) -> float:
        """The d of e^d = E[e^xi], with a relative error of ``_MEAN``, which z multiplies.

        B(v) = i_1(v) / v with the modified spherical Bessel functions, and (1/v d/dv)^j B = i_{j+1}(v) / v^{j+1}: Taylor's
        series of B in v^2 / 2 around beta^2 / 2, where v^2 is larger by w^2.
        """
        beta = self.beta
        fall = math.exp(-2 * beta)
        before, bessel = (1 - fall) / beta, ((1 + fall) - (1 - fall) / beta) / beta
        first, term, change = bessel, 1.0, 0.0
        for j in range(1, 6):
            before, bessel = bessel, before - (2 * j + 1) / beta * bessel
            term *= self.width**2 / (2 * beta * j)
            change += term * bessel / first
        return math.log1p(change)

    @property
    def hump(self) -> float:
        """The factor e^{4w} s^2 between the density and the bound of the hump; I_1 is below I_0."""
        return math.exp(4 * self.width) * self.width**2 / self.beta * (1 + 1e-12)

    @cached_property
    def _scale(self) -> float:
        """B(beta) e^{-beta}."""
        return _scaled_real(np.array([self.beta])).item()

    def log_gain(self, u: Array) -> Array:
        """The log of kappa(u), real u."""
        v = np.hypot(self.beta, u * self.width)
        gain: Array = np.log(_scaled_real(v) / self._scale) + (u * self.width) ** 2 / (v + self.beta)
        return gain

    def transform(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The kappa(z) e^{zd} and its absolute error."""
        v = np.sqrt(self.beta**2 + (z * self.width) ** 2)
        value, parts = _scaled(v)
        turn = np.exp((v - self.beta) + z * self.log_mean) / self._scale
        error = ELEMENTARY * (8 + 2 * np.abs(v) + self.beta) + (4 * ULP + _MEAN) * np.abs(z) * self.log_mean
        return np.asarray(value * turn, dtype=np.complex128), parts * np.abs(turn) * error

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Of a bound of |kappa(z) e^{zd}| at and above each height.

        B(v) is a positive mean of e^{vy} over |y| < 1, hence at most B(Re v), and Re v falls with the height. Once |v|
        grows, |B| is also at most 2 cosh(Re v) / |v|^2, with Re v at its last.
        """
        square = self.beta**2 + ((abscissa + 1j * heights) * self.width) ** 2
        real = np.sqrt(square).real * (1 + 1e-12) + 1e-12
        first = np.log(_scaled_real(real)) + real
        rising = heights * self.width > 1.01 * math.hypot(self.beta, abscissa * self.width)
        second = np.where(rising, real + np.log1p(np.exp(-2 * real)) - np.log(np.abs(square)), np.inf)
        bound: Array = np.minimum(first, second) - self.beta - math.log(self._scale) + abs(abscissa) * self.log_mean + 1e-9
        return bound


def _scaled(v: NDArray[Any]) -> tuple[NDArray[Any], Array]:
    """B(v) e^{-v} for Re v >= 0, and the size of the two parts that it is the difference of."""
    fall = np.exp(-2 * v)
    near = np.flatnonzero(np.abs(v) < 1)
    far = v if not near.size else np.where(np.abs(v) < 1, 1.0, v)
    inverse = 1 / far
    value = ((1 + fall) - (1 - fall) * inverse) * (0.5 * inverse * inverse)
    parts = 2 * np.abs(inverse) ** 2
    if near.size:
        small = v[near]
        square = small * small
        series = np.full_like(square, _SERIES[-1])
        for coefficient in _SERIES[-2::-1]:
            series = series * square + coefficient
        value[near] = series * np.exp(-small)
        parts[near] = np.abs(value[near])
    return value, parts


def _scaled_real(v: Array) -> Array:
    return np.asarray(_scaled(v)[0], dtype=np.float64)


@dataclass(frozen=True)
class Smoothed:
    """The kernel of S, or of the bound of the hump; as the kernel that a line is laid for, of both."""

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
        """That of the payoff."""
        return Smooth(self.anchor).log_real(c)

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Of both."""
        payoff = np.logaddexp(Smooth(self.anchor).log_size(heights, abscissa), math.log(self.window.hump))
        return self.window.log_size(heights, abscissa) + payoff

    def log_rest(self, height: float, abscissa: float) -> float:
        """Far beyond the end of the line, where the bound falls at least like 1/t^2 but for a few percent."""
        w, beta = self.window.width, math.hypot(self.window.beta, abscissa * self.window.width)
        if height * w < 4 * beta:
            return np.inf
        return self.log_size(np.array([height]), abscissa).item() + math.log(height) + 0.1

    def log_chernoff(self, u: Array) -> Array:
        """That of the payoff, and what E[e^{-u (xi - d)}] adds."""
        return log_kappa(u) + self.window.log_gain(u) + np.abs(u) * self.window.log_mean + 1e-12

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """Zero: nothing is neglected."""
        return 0.0


@dataclass(frozen=True)
class Prepared:
    """A line laid for one threshold, which serves its neighbours too: the bounds hold at every threshold."""

    part: Part
    contour: Contour
    window: Window

    def at(self, x: float) -> Inversion:
        """The prepared functional at x; ``discretization`` is half the bound of the hump."""
        turned = self.part is Part.REVERSED
        place = -x if turned else x
        payoff = self.contour.integral(place, Smoothed(place, self.window, "payoff"))
        hump = self.contour.integral(place, Smoothed(place, self.window, "hump"))
        half = hump.high / 2
        amount = replace(payoff, value=payoff.value - half, discretization=half)
        amount = amount.times_exp(x) if turned else amount
        return Inversion(self.part, amount, self.contour.abscissa, self.contour.line.size)


def prepare(law: LossTransform, x: float, demand: Demand) -> Prepared | None:
    """Lay a line for the excess at x >= 0, or for the reversed excess at x < 0.

    Any law with a known transform is served. The relative width is about what is demanded where no atom is near the threshold
    and the longest line can resolve it. None if no abscissa was found at which the transform is known, or the line cannot
    resolve anything.
    """
    turned = x < 0
    own, place = (law.reflected(), -x) if turned else (law, x)
    kernel = Smooth(place)
    found = saddle(own, kernel, RIGHT, None if turned else demand.hint)
    line = layout(own, found.abscissa, kernel, math.log(demand.rtol)) if math.isfinite(found.value) else None
    if line is None:
        return None
    part = Part.REVERSED if turned else Part.EXCESS
    first = _laid(own, line, place, demand.rtol, part)
    reached = math.inf if first is None else first.at(x).amount.relative_width
    if not demand.rtol < reached < _NEARLY * demand.rtol:
        return first
    # the density is higher than at the saddle of a smooth law
    return _laid(own, line, place, demand.rtol**2 / reached * _HUMP, part) or first


def _laid(law: LossTransform, line: Layout, x: float, rtol: float, part: Part) -> Prepared | None:
    """The sum on a line with a window for a tolerance: a line that ends before the window does may be searched far."""
    for most, decaying in ((SEARCHED, True), (MAX_NODES, False)):
        window = Window.fit(line, rtol, most)
        if line.abscissa * window.width > window.beta:
            # the window is wider than the law
            return None
        if _known(law, line, window):
            contour = lay(law, line, Smoothed(x, window, "both"), decaying)
            if contour is not None:
                return Prepared(part, contour, window)
    return None


def _known(law: LossTransform, line: Layout, window: Window) -> bool:
    """Whether K is known along the line, or small: a transform that is an integral itself may be out of reach so far up."""
    probes = Line(line.abscissa, window.beta / window.width / _PROBES, _PROBES)
    values = law.on_line(probes)
    if not np.isfinite(values.mid[0]):
        return False
    above = (values.mid.real + values.radius)[1:] - values.mid.real[0]
    size = np.minimum(law.log_envelope(line.abscissa, probes.heights[1:]), above)
    return not ((values.radius[1:] > 1) & (size > line.log_target)).any()
