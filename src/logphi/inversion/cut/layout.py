"""Where to integrate along a branch cut and up from it, and bounds of the integrands.

notation as in :mod:`logphi.inversion.cut.branch_cut`. Both integrals are Gauss-Legendre sums over panels, of log r and of y,
with the error of :mod:`logphi.quadrature.curves.panels`. On an ellipse around a panel of log r the integrand is (phi_+^t -
phi_-^t) e^{-rk} / 2ir with the continuations from both sides of the cut. |phi_+^t - phi_-^t| is at most 2 B^t, and at most t
B^{t-1} H, with a bound B of both and H of their difference, which is an integral over two rays. B at s = u/t is an integral of
e^{sY} over the line, and a constant for the rays; its logarithm is convex in Re s, so that the bound is largest at an end of
the range of Re s. Where s has an angle a, the rays start at an imaginary part of -a/m.

Below the least r: if s falls from s0, and the start X of the ray moves so that sY does not change, the normal density falls at
least like (s/s0)^{X/m}, and so does H.

The file is longer than others because the choice of places and all bounds share the sizes of the integrands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import LOG_ROOT_TWO_PI, ULP
from logphi.arrays import Array
from logphi.quadrature.lognormal.continued import Numbers, continued
from logphi.quadrature.lognormal.modulus import LARGEST, Box, Modulus, unclipped_exp

# measured: the order of the rule, the ellipses that are tried, and the nodes that share a path of the inner integral
_ORDER, _ROW = 20, 5
_RHO = (2.0, 3.0, 4.5, 7.0)
# derived: an ellipse must not reach the imaginary axis, nor the pole
_WIDEST, _NEAREST = 1.5, 0.9
# chosen: the logarithm of the share of the answer that errors of the sums may have
TARGET = math.log(1e-13)
# chosen: the angles that are tried, and the least length of a ray, an angle
_ANGLES = np.concatenate([[0.0], np.geomspace(1e-3, 1.5, 15)])
_SHORTEST = 0.05
# measured: where c is small, a ray that starts farther out than the saddle for this share of |w| turns too fast
_SHARE = 0.5
# chosen: the logarithm of how much larger than the answer F may be after the end: two digits are lost, and one is spare
_TOO_LARGE = 2.5
# measured: a larger angle of phi^t along the cut takes more nodes than the way up saves
_MOST_TURNS = 25.0
LOG_PI = math.log(math.pi)


@dataclass(frozen=True)
class Bounds:
    """Bounds of an integrand on ellipses, a row for each panel and a column for each ellipse.

    For each of some bounds and each of two ends of a range, the logarithm of a bound of phi^t or of a difference, and Re u; and
    the logarithm of all that does not depend on k; then the same with a factor of u^2.
    """

    powers: tuple[Array, Array]
    ends: tuple[Array, Array]
    rest: Array
    rest_of_density: Array

    def log_errors(self, k: float | Array, *, density: bool = False) -> Array:
        """Logarithms of the errors of the sums over the panels, for one k, or for many along an axis before three others."""
        low, high = (power - end * k for power, end in zip(self.powers, self.ends, strict=True))
        rest = self.rest_of_density if density else self.rest
        return np.asarray((np.maximum(low, high).min(axis=-3) + rest).min(axis=-1))


@dataclass(frozen=True)
class Nodes:
    """Nodes u, log phi(u/t) and its error, that of its imaginary part, weights; the relative error of all u.

    Where ``known`` is false, the real part of the logarithm is an upper bound.
    """

    u: Numbers
    log: Numbers
    error: Array
    angle_error: Array
    weight: Array
    known: Array
    wrong: float

    def doubt(self, t: int, rounding: Array) -> tuple[Array, Array, Array, Array]:
        """For an exponent, t times the logarithm and more with its own rounding: where it is known to within one.

        Then what to add for an upper bound where it is not, and elsewhere bounds of |e^v - 1| for the error v of t times the
        logarithm and for the rounding.
        """
        error = t * self.error
        known = np.logical_and(self.known, error + rounding < 1)
        wrong, own = (np.expm1(np.where(known, part, 0.0)) for part in (error, rounding))
        return known, np.where(known, 0.0, error + rounding), wrong, own


@dataclass(frozen=True)
class Plan:
    """Where to integrate, and bounds of the integrands, for one k."""

    known: Modulus
    count: int
    k: float

    def end(self, guess: float | None) -> tuple[float, float]:
        """r0, and about the logarithm of the answer: a saddle point of F, or before it where the rest is negligible."""
        m, t = self.known.shift, self.count
        v = self._places
        bell, jump, _ = self._sizes(v)
        below = np.logaddexp.accumulate(jump) + math.log(0.25)
        answer = np.maximum(below, guess if guess is not None else -np.inf)
        negligible = bell + v + 1 < answer + TARGET - 4
        rising = np.append(bell[1:] > bell[:-1], True)
        first = max(int((negligible | rising).argmax()), 1)
        if negligible[first]:
            return math.exp(v[first]), guess if guess is not None else float(below[first]) - 2
        near = v[first] + np.linspace(-0.25, 0.25, 21)
        bell = self._sizes(near)[0]
        best = int(bell.argmin())
        # a bell of range sqrt(t / variance)
        log_bell = float(bell[best]) + 0.5 * math.log(t) - 0.5 * math.log(math.expm1(m * m)) - 1.5
        about = max(log_bell, float(below[first]) - 2) if guess is None else guess
        return math.exp(float(near[best])), min(about, 0.0)

    def quickest(self, end: float, about: float) -> float:
        """Another r0, for the profile alone: the farthest to which phi^t hardly turns, as the way up from there is short.

        It is ``end`` if F is too large after it. Otherwise it is not before F is about as large as the answer, e^about.
        """
        v = self._places
        bell, _, turns = self._sizes(v)
        past = int(np.append(bell + v + 1 < about + TARGET - 4, True).argmax()) + 1
        large = np.flatnonzero(bell[:past] > about + _TOO_LARGE)
        first = int(large[-1]) + 1 if large.size else 0
        if first == v.size or (first and v[first - 1] > math.log(end)):
            return end
        many = np.append(turns[first:past] > _MOST_TURNS, True)
        return math.exp(v[first + max(int(many.argmax()) - 1, 0)])

    @property
    def _places(self) -> Array:
        """Values of log r; nothing counts where r is far above 1/k."""
        return np.arange(-14 * self.known.shift - 6 - max(math.log(self.k), 0.0), 16.0, 0.25)

    def _sizes(self, v: Array) -> tuple[Array, Array, Array]:
        """Over v, about the logarithm of |F| at -e^v, and of the integrand along the cut, and the angle of phi^t above it."""
        s = np.exp(v) / self.count
        x1, zero = self.known.start(s), np.zeros_like(s)
        ray = np.minimum(self.known.ray(Box(s, s, zero), zero, x1, zero + math.pi).total, LARGEST)
        log_bound = np.log1p(np.clip(self.known.line(s, x1), -0.9, 1e300) + np.exp(ray))
        falling = -np.exp(v) * self.k - LOG_PI
        jump = np.minimum(0.0, math.log(self.count) + ray - log_bound) + self.count * log_bound + falling - v
        turns = self.count * np.exp(np.minimum(ray - log_bound, math.log(math.pi)))
        return self.count * log_bound + falling - 2 * v, np.where(np.isfinite(jump), jump, -np.inf), turns

    def start(self, end: float, goal: float) -> float:
        """The least r, below which nothing is left that counts."""
        r = end * np.exp(-np.arange(0.0, 14 * self.known.shift + 8, 0.25))
        still, moving = self.log_near_zero(r)
        good = np.maximum(still, moving - r * self.k) < goal - 2
        return float(r[int(good.argmax())]) if good.any() else float(r[-1])

    def log_near_zero(self, r: Array) -> tuple[Array, Array]:
        """Logarithms of two bounds, the larger of which bounds the integral from 0 to r; the second lacks a factor e^{-rk}."""
        m, t = self.known.shift, self.count
        s = r / t
        x, zero = self.known.start(s), np.zeros_like(s)
        both = self.known.ray(Box(s, s, zero), zero, x, zero + math.pi).total + math.log(2)
        moved = unclipped_exp(log_ndtr(-x) + s * unclipped_exp(m * x - m * m / 2)) + unclipped_exp(both)
        power = np.maximum(x / m - 1, 0.0) * (1 - 1e-9)
        with np.errstate(divide="ignore"):  # no bound where the power does not suffice
            share = math.log(t / 2) + both - np.log(r) - np.log(power) - LOG_PI + 1e-9
        return share + (t - 1) * np.log1p(moved), share + (t - 1) * np.log1p(self.known.line(s, x) + moved)

    def along(self, low: Array, high: Array) -> Bounds:
        """The bounds on ellipses around panels of log r."""
        m, t = self.known.shift, self.count
        middle, half = ((high + low) / 2)[:, None], ((high - low) / 2)[:, None]
        rho = np.array(_RHO)
        wide, far = half * (rho - 1 / rho) / 2, half * (rho + 1 / rho) / 2
        fits = wide < _WIDEST
        wide = np.minimum(wide, _WIDEST)
        first, last = np.exp(middle - far), np.exp(np.minimum(middle + far, LARGEST))
        tilt, s0, s1 = wide.ravel(), first.ravel() / t, last.ravel() / t
        x1, zero = self.known.start(s1), np.zeros(s1.size)
        both = self.known.ray(Box(s0, s1, zero), zero, x1, zero + math.pi, tilt).total + math.log(2)
        # from x1 to the start of the rays
        y1 = unclipped_exp(m * x1 - m * m / 2)
        between = np.log(tilt / m) + (tilt * tilt / (m * m) - x1 * x1) / 2 - LOG_ROOT_TWO_PI + s1 * y1
        turned = unclipped_exp(np.logaddexp(both, between))
        powers = []
        for s in (s0 * np.cos(tilt), s1):
            log_bound = np.log1p(self.known.line(s, x1) + turned) + 1e-15
            single = math.log(t / 2) + (t - 1) * log_bound + both
            powers.append(np.stack([t * log_bound, single]).reshape(2, -1, rho.size))
        rest = np.where(fits, np.log(half) + _log_rule(rho) - LOG_PI, np.inf)
        return Bounds((powers[0], powers[1]), (first * np.cos(wide), last), rest - np.log(first), rest + np.log(last))

    def nodes_along(self, low: Array, high: Array) -> Nodes:
        """Values at the nodes of panels of log r."""
        v, weight = _nodes_of(low, high)
        wrong = ULP * (6 + 2 * float(np.abs(v).max()))
        u = -np.exp(v)
        x1 = self.known.start(-u.min(axis=1) / self.count)
        return self._values(u, np.zeros(x1.size), x1, weight, wrong)

    def log_on_line(self, end: float, heights: Array) -> tuple[Array, Array]:
        """The angles of the smallest bounds of phi^t at -r0 + iy for all y above heights, and their logarithms."""
        eta = np.repeat(heights / self.count, _ANGLES.size)
        s = np.full(eta.size, end / self.count)
        theta = np.tile(_ANGLES, heights.size)
        last = _last(s, eta, theta)
        x1 = self._start_of_ray(s, eta, theta)
        bound = np.where(last > _SHORTEST, self.known.log(s, eta, theta, x1, np.maximum(last, _SHORTEST)), np.inf)
        bound = np.where(np.isfinite(bound), self.count * bound, np.inf).reshape(heights.size, -1)
        best = bound.argmin(axis=1)
        return _ANGLES[best], bound[np.arange(heights.size), best]

    def _start_of_ray(self, rho: Array, eta: Array, theta: Array) -> Array:
        """The saddle for c, or for a share of |w| if c is smaller: farther out e^{-wY} turns too fast."""
        c = rho * np.cos(theta) - eta * np.sin(theta)
        return self.known.start(np.maximum(c, _SHARE * np.hypot(rho, eta)))

    def up(self, end: float, low: Array, high: Array) -> Bounds:
        """The bounds on ellipses around panels of y, which reach below the cut near its end."""
        t, rho = self.count, np.array(_RHO)
        theta = np.repeat(self._angles_at(end, low, high), rho.size)
        middle, half = ((high + low) / 2)[:, None], ((high - low) / 2)[:, None]
        wide, far = half * (rho - 1 / rho) / 2, half * (rho + 1 / rho) / 2
        fits = wide < _NEAREST * end
        wide = np.minimum(wide, _NEAREST * end)
        height = middle - far
        eta = height.ravel() / t
        last = _last(np.full(eta.size, end / t), eta, theta)
        powers, ends = [], (end - wide, end + wide)
        x1 = self._start_of_ray(ends[1].ravel() / t, eta, theta)
        for r in ends:
            bound = self.known.log(r.ravel() / t, eta, theta, x1, np.maximum(last, _SHORTEST))
            powers.append(t * bound.reshape(1, -1, rho.size))
        fits &= (last > _SHORTEST).reshape(fits.shape)
        rest = np.where(fits, np.log(half) + _log_rule(rho) - LOG_PI, np.inf)
        log_square = np.log((end - wide) ** 2 + np.maximum(height, 0.0) ** 2)
        return Bounds((powers[0], powers[1]), ends, rest - log_square, rest)

    def log_beyond(self, end: float, height: float) -> float:
        """The logarithm of a bound of the integral of |phi^t| over -r0 + iy, y above a height.

        With all normal variables on the line x - i theta/m, |phi^t| is at most e^{t theta^2/(2 m^2)} E e^{-sS} for a positive
        s = y sin theta - r0 cos theta; and e^{-sS} is at most (b/(es))^b S^{-b}, S at least the geometric mean of the Y.
        """
        m, t = self.known.shift, self.count
        theta, b = _ANGLES[-8:, None], np.geomspace(2.0, 1e4 * t, 60)
        s = height * np.sin(theta) - end * np.cos(theta)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (
                t * (theta / m) ** 2 / 2 + m * m * (b + b * b / t) / 2 + b * (np.log(b) - 1) - np.log((b - 1) * np.sin(theta))
            )
            found += (1 - b) * np.log(np.maximum(s, 0.0))
        return float(np.where(s > 0, found, np.inf).min()) + 1e-6

    def _angles_at(self, end: float, low: Array, high: Array) -> Array:
        """Angles for panels of y: those of a bound at most of their points."""
        return self.log_on_line(end, 0.4 * (low + high))[0]

    def nodes_up(self, end: float, low: Array, high: Array) -> Nodes:
        """Values at the nodes of panels of y."""
        y, weight = _nodes_of(low, high)
        wrong = ULP * (6 + 4 * float((high / np.hypot(end, low)).max()))
        theta = np.repeat(self._angles_at(end, low, high), _ORDER // _ROW)
        eta = y.min(axis=1) / self.count
        x1 = self._start_of_ray(np.full(eta.shape, end / self.count), eta, theta)
        return self._values(-end + 1j * y, theta, x1, weight, wrong)

    def _values(self, u: Numbers, theta: Array, x1: Array, weight: Array, wrong: float) -> Nodes:
        found = continued(self.known, u / self.count, theta, x1, wrong)
        below, turn = found.value.real, found.value.imag
        near = np.maximum(np.abs(below), np.abs(turn)) < 0.5
        size = np.hypot(1 + below, turn)
        close, rise = np.where(near, below, 0.0), np.where(near, turn, 0.0)
        square = close * (2 + close) + rise * rise
        log = np.where(near, 0.5 * np.log1p(square), np.log(size)) + 1j * np.arctan2(turn, 1 + below)
        relative = found.error / size
        known = relative < 0.25
        log = np.where(known, log, np.log(size + found.error))
        share = np.where(known, 1.2 * relative, 0.0)
        angle = np.where(known, 2 * (found.imaginary_error + np.abs(turn) / size * found.error) / size, 0.0)
        # the logarithm of |phi| loses digits of phi - 1 where |phi| is nearly one, and 1 + (phi - 1) those of a small phi
        small = np.where(near, 0.0, 2 * ULP / size)
        own, angle = 8 * ULP * np.minimum(np.abs(found.value), 1.0) + small, angle + small * np.minimum(np.abs(log.imag), 1.0)
        error = np.asarray(share + own)
        return Nodes(u.ravel(), log.ravel(), error.ravel(), angle.ravel(), weight.ravel(), known.ravel(), wrong)


def _nodes_of(low: Array, high: Array) -> tuple[Array, Array]:
    """Nodes on panels and their weights over pi, a few of each panel in a row."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    middle, half = ((high + low) / 2)[:, None], ((high - low) / 2)[:, None]
    return (middle + half * nodes).reshape(-1, _ROW), (half * weights / math.pi).reshape(-1, _ROW)


def _last(rho: Array, height: Array, theta: Array) -> Array:
    """The length of a ray in angles: to where e^{-wY} falls fastest."""
    return np.asarray(np.pi - np.arctan2(np.maximum(height, 0.0), rho) - theta)


def _log_rule(rho: Array) -> Array:
    """The logarithm of the error of a Gauss-Legendre sum relative to half a length and a bound on an ellipse."""
    return math.log(64 / 15) - 2 * _ORDER * np.log(rho) - np.log1p(-(rho**-2.0))
