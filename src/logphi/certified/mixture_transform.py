"""The transform of the log-ratio of two mixtures of unit normal laws in balls, and its decay along a line.

With u(x) = sum of p_i e^{c_i x - c_i^2/2} and v(x) = sum of q_j e^{-d_j x - d_j^2/2}, all shifts c_i, d_j >= 0, the pair is
P = u N(0, 1) against Q = v N(0, 1), and M(z) = E[u(X)^{1+z} v(X)^{-z}] for a standard normal X. For theta between 0 and
pi over the largest shift, and real x,

    cos(c theta / 2) u(x) <= |u(x + i theta)| <= u(x),     0 <= arg u(x + i theta) <= c theta,

as a sum of vectors in a sector; the same holds for v with -arg. Hence the trapezoidal rule converges geometrically,
with an a priori bound (:meth:`NormalRatio.on_line`), and on the line x + ib the factor e^{-t (arg u - arg v)} falls
with the height t (:meth:`NormalRatio.ceiling`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from flint import acb, arb, ctx

from logphi.certified.exponential_sums import exponential_sums
from logphi.certified.route import NotCertifiedError
from logphi.certified.transform import MOST_SUMS, Transform
from logphi.laws.transform import LossTransform
from logphi.quadrature.mixtures.many_components import ManyComponents
from logphi.quadrature.mixtures.shifted_lines import OppositeMixtures, ShiftedLines, shifted_lines

T = TypeVar("T")

# measured: with these shares of the widest strip for its two edges, steps are within a few percent of the best
_STRIPS = np.array([0.95, 0.85, 0.7, 0.5, 0.35, 0.25, 0.15])
_FALLS = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0])


@dataclass(frozen=True, eq=False)
class Mixture:
    """``sum of weight e^{shift x - shift^2/2}``, weights positive with sum one, shifts not negative: real balls."""

    weights: tuple[Any, ...]
    shifts: tuple[Any, ...]

    @cached_property
    def parts(self) -> list[tuple[Any, Any]]:
        """The shifts c, and the factors of e^{c x}."""
        return [(c, p * (-c * c / 2).exp()) for p, c in zip(self.weights, self.shifts, strict=True)]

    @property
    def in_doubles(self) -> ManyComponents | None:
        """In doubles, for estimates; None for N(0, 1) alone."""
        if self.trivial:
            return None
        parts = [(c, p, p.log()) for p, c in zip(self.weights, self.shifts, strict=True) if not c.is_zero()]
        shifts, weights, logs = (np.array([float(x.mid()) for x in column]) for column in zip(*parts, strict=True))
        log_rest = float(self.weight_at_zero.log().mid()) if self.weight_at_zero > 0 else -math.inf
        return ManyComponents.of(shifts, weights, logs, log_rest)

    @cached_property
    def largest(self) -> Any:
        """The largest shift."""
        largest = arb(0)
        for c in self.shifts:
            largest = largest.max(c)
        return largest.upper()

    @cached_property
    def weight_at_zero(self) -> Any:
        """The weight of the shift zero."""
        return sum((p for p, c in zip(self.weights, self.shifts, strict=True) if c.is_zero()), arb(0))

    @property
    def trivial(self) -> bool:
        """Whether the mixture is N(0, 1) alone."""
        return bool(self.largest.is_zero())

    def log(self, x: Any) -> Any:
        """The logarithm at a real or a complex ball; in the strip it is the principal branch."""
        return sum((factor * (c * x).exp() for c, factor in self.parts), type(x)(0)).log()


@dataclass(frozen=True, eq=False)
class Grid:
    """Points ``h j + i shift`` for ``first <= j <= last``.

    The error of the rule is at most ``relative`` times M(c), plus ``tails`` for the points that are left out.
    """

    step: Any
    first: int
    last: int
    shift: Any
    relative: Any
    tails: Any

    @property
    def points(self) -> list[Any]:
        """The points."""
        return [self.step * j for j in range(self.first, self.last + 1)]


@dataclass(frozen=True, eq=False)
class NormalRatio(Transform):
    """Log(u/v) under u N(0, 1); ``up`` is u(x), ``down`` is v(-x). The law in doubles serves for estimates."""

    up: Mixture
    down: Mixture
    law: LossTransform

    @cached_property
    def in_doubles(self) -> OppositeMixtures:
        """In doubles."""
        return OppositeMixtures(self.up.in_doubles, self.down.in_doubles)

    @property
    def most_nodes(self) -> int:
        """The limit for sums over nodes."""
        return MOST_SUMS

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """M(c + i step j) for j = 0 .. size - 1, c >= 0 and the step exact, by the trapezoidal rule on a line x + ib.

        At x + i theta the integrand is at most u^{1+c} v^{-c} e^{-x^2/2} times e^{theta^2/2} cos(d_1 theta / 2)^{-c} and, below
        the real line, e^{t (c_1 + d_1) |theta|}, where c_1 and d_1 are the largest shifts. The error is at most M(c) times the
        sum of these factors at both edges b +- s of a strip, over e^{2 pi s/h} - 1 (Trefethen & Weideman 2014, Theorem 5.1).
        """
        grid = self._grid(c, step * (size - 1), ctx.prec * math.log(2))
        places = [acb(x, grid.shift) for x in grid.points] if grid.shift else grid.points
        logs = [(self.up.log(x), self.down.log(-x)) for x in places]
        root = grid.step / (2 * arb.pi()).sqrt()
        weights = [root * ((1 + c) * u - c * v - x * x / 2).exp() for x, (u, v) in zip(places, logs, strict=True)]
        total = acb(sum(weights, type(weights[0])(0))).real
        error = arb(0, (grid.relative * (total + grid.tails) / (1 - grid.relative) + grid.tails).upper())
        first = acb(total + error)
        if size == 1:
            return [first]
        factors = [(acb(0, step) * (u - v)).exp() for u, v in logs]
        _, *sums = exponential_sums(weights, factors, size)
        # the error disc is enclosed in a square
        return [first, *(one + acb(error, error) for one in sums)]

    def ceiling(self, c: Any, height: Any, count: int, whole: Any) -> Any:
        """A bound of |M(c + it)| for all t >= height, sharp enough for its power ``count``; ``whole`` is a bound of M(c).

        With the contour on x + ib, |M(c + it)| <= E[G(X)], G = e^{b^2/2} |u|^{1+c} |v|^{-c} e^{-t (arg u - arg v)} at x + ib,
        which falls with t. G is analytic: |u|^2 = u(x + ib) u(x - ib), and so for the others. On x + i theta, with
        theta + b <= pi/(2 c) for all shifts c, the difference of arg u(x + i(theta + b)) and arg u(x + i(theta - b)) is not
        negative, because d arg u / d theta = Re(u'/u) = sum over j, k of p_j p_k e_j e_k (c_j + c_k)/2 cos((c_j - c_k) theta) /
        |u|^2; and |v| >= cos(d_1 (b + theta)/2) v(x), d_1 the largest shift of v. So |G(x + i theta)| is at most
        e^{(b^2 + theta^2)/2} cos(d_1 (b + theta)/2)^{-c} u^{1+c} v^{-c}, and the rule misses at most twice that over
        e^{2 pi theta/h} - 1.
        """
        b, fall = self._lines(float(c.mid())).best(float(height.upper()))
        sharp = math.log(count) - fall + 8
        room = float((arb.pi() / 2 / self.up.largest.max(self.down.largest) - b).lower())
        # the optimum if only e^{theta^2/2} counts
        theta = min(0.99 * room, math.sqrt(2 * sharp))
        growth = ((arb(b) ** 2 + arb(theta) ** 2) / 2).exp() * (self.down.largest * (arb(b) + theta) / 2).cos() ** (-c)
        step = _dyadic(2 * math.pi * theta / (sharp + float(growth.log().upper()) + 1))
        error = 2 * growth / ((2 * arb.pi() * theta / step).exp() - 1)
        grid = self._between(c, step, sharp, error, arb(b))
        total = arb(0)
        for x in grid.points:
            u, v = self.up.log(acb(x, b)), self.down.log(acb(-x, -b))
            # arg v has the sign of -b
            total += ((1 + c) * u.real - c * v.real - height * (u.imag - v.imag) - x * x / 2).exp()
        inside = (arb(b) ** 2 / 2).exp() * total * grid.step / (2 * arb.pi()).sqrt()
        return (inside + grid.tails + grid.relative * whole).upper()

    def fall(self, c: float, height: float) -> float:
        """An estimate of log(ceiling / M(c))."""
        return self._lines(c).best(height)[1]

    def _lines(self, c: float) -> ShiftedLines:
        """Shifted lines in doubles, for estimates."""
        return _unless_too_long(shifted_lines(self.in_doubles, c))

    def _grid(self, c: Any, top: Any, sharp: float) -> Grid:
        """For heights up to ``top``: the widest step with an error of at most e^-sharp.

        A strip around the real line has the smaller term theta^2/2; a strip above it has no term that grows with the height.
        """
        up, down = self.up.largest, self.down.largest
        turning = top * (up + down)
        most = float((arb.pi() / up.max(down)).lower())
        # the upper and the lower edge, as shares of the widest strip, or of the optimum if the quadratic term dominates
        high = np.minimum(most, 2 * math.sqrt(sharp)) * _STRIPS[:, None]
        low = high * _FALLS
        narrow = -float(c.upper()) * np.log(np.cos(float(down) * high / 2))
        growth = np.maximum(high**2 / 2, low**2 / 2 + float(turning.upper()) * low) + narrow
        steps = math.pi * (high + low) / (sharp + growth + 1)
        best = np.unravel_index(np.argmax(steps), steps.shape)
        edges, step = (arb(float(high[best[0], 0])), arb(float(low[best]))), _dyadic(float(steps[best]))
        growths = [
            (edge * edge / 2 + turn * edge).exp() * (down * edge / 2).cos() ** (-c)
            for edge, turn in zip(edges, (0, turning), strict=True)
        ]
        error = sum(growths) / ((arb.pi() * (edges[0] + edges[1]) / step).exp() - 1)
        return self._between(c, step, sharp, error, ((edges[0] - edges[1]) / 2).mid())

    def _between(self, c: Any, step: Any, sharp: float, relative: Any, b: Any) -> Grid:
        """The points on x + ib outside of which the integrand is negligible; the error of the rule is ``relative`` times M(c).

        For x >= X, u^{1+c} <= sum of p_i e^{(1+c)(c_i x - c_i^2/2)} by convexity, and v <= 1 with v^{-c} <= e^{C}, where C is
        -c log q_0, q_0 the weight of the shift 0, or, as log v >= -d' x - d''/2 with the means d', d'' of the shifts and of
        their squares, c (d' x + d''/2). For x <= -X, u <= 1 and v >= q_0, or v >= e^{-d''/2}. Each is a normal density times
        e^{A x}; of that, the sum over the points beyond X > A, times the step, is at most the density at X over X - A. Off the
        real line the modulus is larger by e^{b^2/2} cos(d_1 b / 2)^{-c} at most.
        """
        resting = self.down.weight_at_zero > 0
        moments = [sum(p * d**k for p, d in zip(self.down.weights, self.down.shifts, strict=True)) for k in (1, 2)]
        rise, start = (arb(0), -c * self.down.weight_at_zero.log()) if resting else (c * moments[0], c * moments[1] / 2)
        right = [
            ((1 + c) * shift + rise, start + p.log() - (1 + c) * shift**2 / 2)
            for p, shift in zip(self.up.weights, self.up.shifts, strict=True)
        ]
        left = [(arb(0), start)]
        lift = (b * b / 2).exp() * (self.down.largest * b / 2).cos() ** (-c)
        abscissa = float(c.mid())
        _unless_too_long(self.in_doubles.points(abscissa))
        level = sharp + float(lift.log().upper()) - float(self.law.approximate(np.array([abscissa]))[0])
        ends = [_reach(lines, level, step) for lines in (left, right)]
        tails = lift * sum((_tail(lines, step * end) for lines, end in zip((left, right), ends, strict=True)), arb(0))
        return Grid(step, -ends[0], ends[1], b, relative.upper(), tails.upper())


def _unless_too_long(found: T | None) -> T:
    """What was found; a NotCertifiedError if it takes too many points."""
    if found is None:
        raise NotCertifiedError("this epsilon is next to the largest loss, where no line of nodes resolves it")
    return found


def _dyadic(step: float) -> Any:
    """A slightly smaller number with few bits, so that its multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return arb(math.floor(mantissa * 1024)) * arb(2) ** (exponent - 10)


def _reach(lines: list[tuple[Any, Any]], level: float, step: Any) -> int:
    """An estimate of the number of steps from zero after which all e^{C + A x - x^2/2} are below e^-level."""
    ends = []
    for a, start in lines:
        slope, top = float(a.upper()), float(start.upper())
        ends.append(slope + math.sqrt(2 * max(level + top + slope * slope / 2, 1.0)) + 1)
    return math.ceil(max(ends) / float(step.lower()))


def _tail(lines: list[tuple[Any, Any]], end: Any) -> Any:
    """A bound of the integrals of all e^{C + A x - x^2/2} over x > end."""
    return sum(((start + a * end - end * end / 2).exp() / (end - a) for a, start in lines), arb(0))
