"""Inversion along a hyperbola that opens to the right, for sums of few sampled normal pairs.

notation: law k, counted n_k times, is that of log w_k(X), X standard normal, w = 1 - q + q e^{m X - m^2/2} as in
:mod:`logphi.quadrature.half_lines.shifted_half_line`; C_k its transform where X is at most X_k, N_k the same integral on the
shifted half-line. T is the law of the sum where every X is at most its X_k, c the vertex, x the threshold, and

    D = (1/pi) Re (1/i) * integral from c to c + i infinity of  F(z) dz,    F(z) = prod C_k^{n_k} e^{-zx} / (z (z + 1)),

which for T is the excess E[(1 - e^{x-X})_+] where c > 0, and E[(e^{x-X} - 1)_+] where c < -1. The errors, all bounded:

1. Clipping. The functional of the whole law exceeds that of T by at most the mass of any X above its X_k: under P where
   c > 0, as the payoff is at most one; where c < -1 by e^x times that under Q, as P e^{-X} = Q.
2. Shifting. N_k - C_k is the integral of phi w^{z+1} from X_k to X_k + i eta_k, on Re z = s at most v_k(s), and
   |C_k| <= C_k(s). So there prod N^n differs from prod C^n by at most t = prod (C_k + v_k)^{n_k} sum n_k v_k / (C_k + v_k),
   whose summands are log-convex in s. The integral of 1/|z (z+1)| over the half-line is at most pi/2 over the distance of c
   to the nearest pole.
3. Bending. With N_k in place of C_k the half-line may be turned to the branch z(u) = x0 + R sin(a + iu), u >= 0,
   x0 = c - R sin(a): no pole is between both, and there F falls, because log |N_k| grows along a direction by at most the
   recession of its bound, which is convex, not positive straight up, and found to be outweighed by e^{-zx} along the branch.
4. Sum. With nodes u_j = (j + 1/2) h, j >= 0, and G(u) = F(z(u)) z'(u), the kernel 1/(1 + e^{-+2 pi i u/h}) shows that
   h sum G - integral G is, but for the ends at u = 0, at most the integrals of |G| along u +- id over e^{2 pi d/h} - 1
   (Trefethen & Weideman 2014, section 5). z(u +- id) are the hyperbolas of the angles a -+ d. The ends of the branch and of
   its conjugate cancel but for the imaginary part of prod N^n on the real axis, at most t: the difference, over pi, is at most
   R h log(2)/pi^2 times the largest t e^{-sx} / |z (z+1)| from z(id) to z(-id), each factor of which is largest at an end.
5. Integrals of |F|. An arc lies in the triangle of its ends and of where its tangents meet. With y the middle of the arc, r
   the farthest vertex, k = N'(y)/N(y), and e = r^2/2 times the bound of |N''|, which is largest at a vertex, plus errors,
       log |N(z)| <= log |N(y)| + Re (k (z - y)) + |k|^2 r^2 / 2 + log(1 + e e^{|k| r} / |N(y)|),
   an affine function of z; or else the bound of |N| itself. Sums of affine functions are largest at a vertex.
6. The tail. After the last arc the branch stays in the cone of its tangent and its asymptote, and moves along both. |F| falls
   along either at a rate of at least g > 0: the integral is at most its value over g, the sum at most 2 e^{h + g h |z'|}
   times that, since for u >= 2 |z'| grows by at most 2 e^h in a step.

The file is longer than others because the whole proof stands here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.arith.scaled import Scaled
from logphi.arrays import Array, Complex
from logphi.inversion.lines.contour import Inversion, Part
from logphi.quadrature.half_lines.shifted_half_line import HalfLineMoments, ShiftedHalfLine, Within

# derived: the exponential of this is a double
_LARGEST = 700.0
# derived: far above the rounding of the logarithms that it is added to
_SLACK = 1e-9
# chosen: a bent contour is useful up to some hundred nodes; this limit keeps a wrong forecast from using gigabytes
_MOST_NODES = 1 << 16


@dataclass(frozen=True)
class Hyperbola:
    """The branch z(u) = c - R sin(a) + R sin(b + iu), u >= 0, with b = ``own``; for b = a its vertex is c."""

    vertex: float
    radius: float
    angle: float
    own: float

    @property
    def centre(self) -> float:
        """x0."""
        return self.vertex - self.radius * math.sin(self.angle)

    def confocal(self, angle: float) -> Hyperbola:
        """The hyperbola with the same foci for another angle."""
        return Hyperbola(self.vertex, self.radius, self.angle, angle)

    def at(self, u: Array) -> Complex:
        """The points z(u)."""
        real = math.sin(self.own) * np.cosh(u)
        return np.asarray(self.centre + self.radius * (real + 1j * (math.cos(self.own) * np.sinh(u))))

    def slope(self, u: Array) -> Complex:
        """The derivatives z'(u)."""
        return np.asarray(self.radius * (math.sin(self.own) * np.sinh(u) + 1j * (math.cos(self.own) * np.cosh(u))))

    @property
    def asymptote(self) -> complex:
        """The direction of the asymptote."""
        return complex(math.sin(self.own), math.cos(self.own))

    def triangles(self, edges: Array) -> tuple[Complex, Complex, Array]:
        """Middles of arcs, vertices of their triangles (arc, 3), and bounds of the lengths of the arcs."""
        middle = (edges[1:] + edges[:-1]) / 2
        ends, points = self.at(edges), self.at(middle)
        tip = self.centre + (points - self.centre) / np.cosh((edges[1:] - edges[:-1]) / 2)
        vertices = np.stack([ends[:-1], tip, ends[1:]], axis=1)
        lengths = np.abs(np.diff(vertices, axis=1)).sum(axis=1)
        return points, vertices, lengths


@dataclass(frozen=True)
class CountedHalfLine:
    """A law and how often it is repeated."""

    law: ShiftedHalfLine
    count: int


@dataclass(frozen=True)
class Branch:
    """Bounds of log prod |N^n| / |z (z+1)| on arcs of a branch, at vertices, and on the tail after them.

    ``speeds`` is |z'| at the edges; it grows along the branch.
    """

    edges: Array
    speeds: Array
    vertices: Complex
    log_size: Array
    log_length: Array
    log_last: float
    last: complex
    rates: tuple[tuple[float, float], ...]

    @staticmethod
    def of(curve: Hyperbola, laws: tuple[CountedHalfLine, ...], edges: Array) -> Branch:
        """The bounds of a branch with arcs up to the last edge."""
        middle, vertices, lengths = curve.triangles(edges)
        radius, total = _radius(middle, vertices), log_products(laws, middle, vertices)
        nearest = [np.abs(middle - pole) - radius for pole in (0.0, -1.0)]
        with np.errstate(divide="ignore", invalid="ignore"):  # a pole in the triangle: no bound
            kernel = np.where((nearest[0] > 0) & (nearest[1] > 0), -np.log(nearest[0]) - np.log(nearest[1]), np.inf)
        last = complex(vertices[-1, 2])
        here = np.array([last])
        log_last = sum(one.count * float(one.law.log_bound(here)[0]) for one in laws) - math.log(abs(last) * abs(last + 1))
        tangent = complex(curve.slope(edges[-1:])[0])
        rates = tuple(
            (sum(one.count * one.law.slope_along(way) for one in laws), way.real)
            for way in (tangent / abs(tangent), curve.asymptote)
        )
        return Branch(
            edges,
            np.abs(curve.slope(edges)),
            vertices,
            total + kernel[:, None] + _SLACK,
            np.log(lengths),
            log_last,
            last,
            rates,
        )

    def log_sizes(self, x: float) -> Array:
        """The largest log |F| on each arc."""
        shifted = self.log_size - x * self.vertices.real
        rounding = 4 * ULP * (np.abs(self.log_size) + np.abs(x * self.vertices.real)).max(axis=1)
        return np.asarray(shifted.max(axis=1) + rounding)

    def log_rest(self, x: float) -> tuple[float, float]:
        """The logarithm of a bound of the integral of |F| after the last arc, and the rate g."""
        rate = min(x * real - slope for slope, real in self.rates)
        if not (rate > 0 and self.last.real >= 0):
            return math.inf, math.inf
        return self.log_last - x * self.last.real + 4 * ULP * abs(x * self.last.real) + _SLACK - math.log(rate), rate

    def log_integral(self, x: float) -> float:
        """The logarithm of a bound of the integral of |F|."""
        return float(np.logaddexp(np.logaddexp.reduce(self.log_sizes(x) + self.log_length), self.log_rest(x)[0]))

    def log_sums(self, x: float, h: float) -> Array:
        """Logarithms of bounds of h times the sum of |G| over all nodes from each edge on."""
        arcs = self.log_sizes(x) + np.log((np.diff(self.edges) + h) * self.speeds[1:])
        rest, rate = self.log_rest(x)
        if not math.isfinite(rest):
            return np.full(self.edges.size, np.inf)
        rest += math.log(2) + h + rate * h * float(self.speeds[-1])
        return np.asarray(np.logaddexp.accumulate(np.append(rest, arcs[::-1]))[::-1])


def log_products(laws: tuple[CountedHalfLine, ...], middle: Complex, vertices: Complex) -> Array:
    """Bounds of log prod |N^n| in triangles, at their vertices."""
    radius = _radius(middle, vertices)
    return np.asarray(sum(one.count * _log_size(one, middle, vertices, radius) for one in laws))


def _radius(middle: Complex, vertices: Complex) -> Array:
    """The distance of the farthest vertex of each triangle from the middle of its arc."""
    return np.asarray(np.abs(vertices - middle[:, None]).max(axis=1) * (1 + 1e-12))


def _log_size(one: CountedHalfLine, middle: Complex, vertices: Complex, radius: Array) -> Array:
    """The smaller of both bounds of log |N| in the triangles, at vertices."""
    law = one.law
    found = law.moments(middle, one.count)
    plain, second = law.log_bounds_at(vertices, (0, 2))
    size = np.abs(1 + found.value)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # an unknown value: the bound of |N| itself holds
        rate = found.slope / (1 + found.value)
        pull = np.abs(rate) * radius
        left = np.exp(np.minimum(second, _LARGEST)) * radius**2 / 2
        left += found.rounding + found.inner + found.slope_error * radius
        steady = complex_log1p(found.value).real + pull**2 / 2 + np.log1p(left * np.exp(np.minimum(pull, _LARGEST)) / size)
        taylor = steady[:, None] + (rate[:, None] * (vertices - middle[:, None])).real
    good = np.isfinite(taylor).all(axis=1) & (taylor.max(axis=1) < plain)
    return np.asarray(np.where(good[:, None], np.where(good[:, None], taylor, 0.0), plain[:, None]) + 1e-15)


@dataclass(frozen=True)
class Plan:
    """A contour with the half-lines of its laws and the edges of its arcs."""

    part: Part
    curve: Hyperbola
    spread: float
    laws: tuple[CountedHalfLine, ...]
    edges: Array


@dataclass(frozen=True)
class Prepared:
    """A contour with the values on it; its bounds hold at every threshold."""

    plan: Plan
    step: float
    points: Complex
    slopes: Complex
    moments: tuple[HalfLineMoments, ...]
    neighbours: tuple[Branch, Branch]
    own: Branch
    log_t: Array

    def at(self, x: float) -> Inversion:
        """The functional at x."""
        plan = self.plan
        z, h = self.points, self.step
        exponent, rounding, inner = np.zeros(z.shape, dtype=complex), np.zeros(z.size), np.zeros(z.size)
        weak, known = np.zeros(z.size), np.ones(z.size, dtype=bool)
        for one, found in zip(plan.laws, self.moments, strict=True):
            size = np.abs(1 + found.value)
            error = found.rounding + found.inner
            # where a sum overflows the value is unknown
            size, error = np.where(np.isfinite(size), size, 0.0), np.where(np.isfinite(error), error, np.inf)
            resolved = error < size / 2
            known &= resolved
            safe = np.where(resolved, size, 1.0)
            log = complex_log1p(np.where(resolved, found.value, 0.0))
            exponent += one.count * log
            weak += one.count * np.log(size + error + 1e-300)
            # the error of a logarithm is divided in proportion to both kinds
            log_error = -np.log1p(-np.where(resolved, error / safe, 0.0))
            share = np.where(resolved, found.inner, 0.0) / np.where(resolved, error + 1e-300, 1.0)
            rounding += one.count * (log_error * (1 - share) + ELEMENTARY * np.abs(log))
            inner += one.count * log_error * share
        if not known.any():
            return Inversion(plan.part, Scaled(0.0, 0.0, truncation=math.inf), plan.curve.vertex, z.size)
        factor = self.slopes / (z * (z + 1))
        top = exponent - z * x
        scale = float(np.where(known, top.real + np.log(np.abs(factor)), -np.inf).max())
        rounding += 4 * ULP * (np.abs(exponent) + 2 * np.abs(z) * abs(x) + abs(scale)) + 4 * ELEMENTARY
        f = np.where(known, np.exp(np.where(known, top - scale, 0.0)) * factor, 0.0)
        size = np.abs(f)
        unresolved = np.where(known, 0.0, np.exp(np.minimum(weak - z.real * x - scale, _LARGEST)) * np.abs(factor))
        measure = h / math.pi
        value = measure * float(f.imag.sum())
        own = np.expm1(np.minimum(rounding, _LARGEST))
        both = np.expm1(np.minimum(rounding + inner, _LARGEST))
        noise = measure * float((size * own).sum() + size.sum() * ULP * (24 + math.log2(z.size)))
        wrong = measure * float((size * (both - own) + unresolved * 1.01).sum())
        turns = 2 * math.pi * plan.spread / h
        below, above = self.neighbours
        aliasing = np.logaddexp(below.log_integral(x), above.log_integral(x)) - turns - math.log1p(-math.exp(-turns))
        # the edge after the last node
        first = int(np.searchsorted(self.own.edges, h * z.size, side="right")) - 1
        rest = self.own.log_sums(x, h)[first]
        tail = np.logaddexp(aliasing, rest) - math.log(math.pi)
        cut = np.logaddexp(tail, self._log_shifting(x)) - scale
        clip = _log_clipped(plan, x) - scale
        truncation = math.exp(min(float(cut), _LARGEST)) * (1 + 1e-9)
        missing = math.exp(min(clip, _LARGEST)) / 2
        amount = Scaled(scale, value + missing, truncation=truncation + missing, inner=wrong, rounding=noise)
        return Inversion(plan.part, amount, plan.curve.vertex, z.size)

    def _log_shifting(self, x: float) -> float:
        """The logarithm of the bounds of 2 and of the ends in 4."""
        curve = self.plan.curve
        on_axis = _axis(curve, self.plan.spread)
        height = self.log_t - x * on_axis + 4 * ULP * (np.abs(self.log_t) + np.abs(x * on_axis)) + _SLACK
        distance = np.minimum(np.abs(on_axis), np.abs(on_axis + 1))
        middle = float(height[1]) - math.log(2 * distance[1])
        product = float((np.abs(on_axis) * np.abs(on_axis + 1)).min())
        ends = float(height.max()) + math.log(curve.radius * self.step * math.log(2) / (math.pi**2)) - math.log(product)
        return float(np.logaddexp(middle, ends))


def _axis(curve: Hyperbola, spread: float) -> Array:
    """The points at which the branches with angles a - d, a and a + d meet the real axis."""
    return np.array([float(curve.confocal(curve.angle + side).at(np.zeros(1))[0].real) for side in (-spread, 0.0, spread)])


def _log_t(plan: Plan) -> Array:
    """Log t on the axis."""
    on_axis = _axis(plan.curve, plan.spread)
    vertical = np.array([one.law.log_vertical(on_axis) for one in plan.laws])
    sizes = np.array([one.law.log_on_axis(on_axis, one.count) for one in plan.laws])
    counts = np.array([[float(one.count)] for one in plan.laws])
    sizes = np.logaddexp(sizes, vertical)
    known = np.isfinite(sizes).all(axis=0)
    sizes = np.where(known, sizes, 0.0)
    total = np.logaddexp.reduce(np.log(counts) + vertical - sizes, axis=0) + (counts * sizes).sum(axis=0)
    return np.where(known, total, np.inf)


def _log_clipped(plan: Plan, x: float) -> float:
    """The logarithm of the bound of 1."""
    total = -math.inf
    for one in plan.laws:
        law = one.law
        own, other = float(log_ndtr(-law.end)), float(log_ndtr(law.shift - law.end))
        if plan.part is Part.EXCESS:
            mass = np.logaddexp(math.log1p(-law.rate) + own, math.log(law.rate) + other)
        else:
            mass = own + x
        total = float(np.logaddexp(total, mass + math.log(one.count)))
    return total + _SLACK


def lay(plan: Plan, x: float, log_target: float, most_work: float = math.inf) -> Prepared | None:
    """Choose step and length with errors of at most e^log_target each; None if there is no finite bound, or too many terms.

    The terms of all inner sums together must not exceed ``most_work``.
    """
    angles = [plan.curve.angle + side * plan.spread for side in (-1, 0, 1)]
    below, own, above = (Branch.of(plan.curve.confocal(angle), plan.laws, plan.edges) for angle in angles)
    integral = float(np.logaddexp(below.log_integral(x), above.log_integral(x)))
    if not math.isfinite(integral + own.log_integral(x)):
        return None
    step = 2 * math.pi * plan.spread / max(float(np.logaddexp(0.0, integral - log_target)), 1.0)
    enough = own.log_sums(x, step) <= log_target
    end = float(plan.edges[int(np.argmax(enough)) if enough.any() else -1])
    if not end < _MOST_NODES * step:
        return None
    if end / step * sum(one.law.size(one.count) for one in plan.laws) > most_work:
        return None
    u = np.asarray((np.arange(max(math.ceil(end / step), 1)) + 0.5) * step, dtype=np.float64)
    z = plan.curve.at(u)
    panel = np.minimum(np.searchsorted(plan.edges, u, side="right") - 1, plan.edges.size - 2)
    # a few points are bounded one by one
    within = Within(own.vertices, panel) if z.size > own.vertices.size else None
    moments = tuple(one.law.moments(z, one.count, within) for one in plan.laws)
    return Prepared(plan, step, z, plan.curve.slope(u), moments, (below, above), own, _log_t(plan))
