"""Mixtures of unit normal laws: u = sum of p_i N(c_i, 1) against v = sum of q_j N(d_j, 1), all c_i >= 0 >= d_j.

With densities relative to N(0, 1), u(x) = sum of p_i e^{c_i x - c_i^2 / 2} and v likewise, X standard normal,

    M(z) = E[u(X)^{1+z} v(X)^{-z}].

All bounds rely on these facts, for real x and y, with S the largest difference of two shifts of u:

1. |u(x+iy)| <= u(x); and |u(x+iy)| >= cos(S y / 2) u(x) for 0 <= S y < pi: divided by e^{i c y}, c the middle of the
   extreme shifts, every term lies within an angle S y / 2 of the positive axis. So log u is analytic there, and
   arg u(x+iy) lies between c_min y and c_max y.
2. u'/u (x+iy) has as its real part the mean of (c_i + c_j) / 2 by the weights a_i a_j cos((c_i - c_j) y), a_i the terms of
   u(x). For S |y| <= pi/2 no weight is negative, and it lies between c_min and c_max. It is the derivative of log|u| by x
   and that of arg u by y.
3. By 2, arg u(x+iy) - arg v(x+iy) grows with y, from 0 at y = 0, as the shifts of v are not positive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.arithmetic.balls import Real, ball, between, cached, exactly, normal_tail, rough, within
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend
from logphi.checker.laws.by_quadrature import ByQuadrature, Points
from logphi.checker.laws.law import Law

# probabilities and shifts
Shifts = tuple[tuple[Real, Fraction], ...]
AT_ZERO: Shifts = ((exactly(1), Fraction(0)),)


@dataclass(frozen=True)
class NormalMixtures(ByQuadrature):
    """The pair (u, v), at least one of which has more than one component."""

    p: Shifts
    q: Shifts

    def reversed(self) -> NormalMixtures:
        """The pair (v, u), with x replaced by -x."""
        return NormalMixtures(_negated(self.q), _negated(self.p))

    def sampled(self, rate: Fraction) -> Law | None:
        """A mixture with one more component, at zero; if Q is N(0, 1)."""
        if len(self.q) > 1 or self.q[0][1] != 0:
            return super().sampled(rate)
        taking = tuple((_times(weight, rate), shift) for weight, shift in self.p)
        return NormalMixtures(((exactly(1 - rate), Fraction(0)), *taking), self.q)

    def points(self, c: Any, time: Any) -> Points:
        """By the trapezoidal rule in x, on a line with Im x = b >= 0.

        Where Im x = y the integrand is, by fact 1, at most that of M(c) times e^{y^2/2}, of the normal density, and
        cos(S y / 2)^{-c}, of v. Below the real axis the arguments add a factor e^{t (c_max - d_min) |y|}; above it, by fact 3,
        they add none. With step h the error is at most 1 / (e^{2 pi a / h} - 1) times the integrals of these bounds along y =
        b + a and b - a. Where t is large a = b is best: the lower edge is then the real axis, and no bound grows with t.
        """
        reach, spread, inner = self._reach(), self._spread(), _spread(self.q)
        wanted = ctx.prec * math.log(2)
        planned = []
        for k in range(1, 32):
            near = k / 32 * min(math.pi / float(spread), 2 * math.sqrt(2 * wanted))
            narrow = near**2 / 2 - rough(c) * math.log(math.cos(float(inner) * near / 2))
            planned.append((2 * math.pi * near / (narrow + rough(time) * float(reach) * near + wanted + 2), 0.0, near))
            planned.append((math.pi * near / (narrow + wanted + 2), near / 2, near / 2))
        h, b, a = map(arb, max(planned))
        edges = [((b + a), arb(0)), (a - b, time * ball(reach))]
        share = sum(((y**2 / 2 + turning * y).exp() * (ball(inner) * y / 2).cos() ** (-c) for y, turning in edges), arb(0))
        share /= (2 * arb.pi() * a / h).expm1()
        weights, losses, tails = self._grid(c, b, h, wanted)
        whole = acb(sum(weights, arb(0))).real
        size = between(whole - tails, whole + tails) / (1 + within(share))
        return weights, losses, size * share + tails

    def ceiling_above(self, c: Any, lifts: list[float], bits: int) -> Callable[[Any], Any]:
        """A function of T > 0 that bounds |M(c + it)| for all |t| >= T, with an error of about 2^-bits M(c).

        Integrated over Im x = b > 0 instead, M(c + it), t > 0, is at most
        J(t) = E[e^{b^2/2} |u|^{1+c} |v|^{-c} e^{-t (arg u - arg v)}] at X + ib, which falls with t by fact 3. The same rule
        encloses J. As functions of x, log|u| and arg u at x + ib are half the sum, and 1/i times half the difference, of
        log u(x+ib) and log u(x-ib). So on Im x = +-d the factor that depends on t is at most 1, by fact 3, and the others at
        most those of M(c) times e^{(b^2 + d^2) / 2} cos(S (b+d) / 2)^{-c}, if S (b+d) <= pi/2.
        """
        spread, inner = float(self._spread()), ball(_spread(self.q))
        size, wanted = self.moment(c).abs_upper(), bits * math.log(2)
        prepared = []
        for lift in sorted({min(math.pi / 4 / spread, lift) for lift in lifts}):
            b, d = arb(lift), arb(min(0.999 * math.pi / 2 / spread - lift, math.sqrt(2 * wanted)))
            growth = (b**2 + d**2) / 2 - c * (inner * (b + d) / 2).cos().log()
            h = arb(2 * math.pi * rough(d) / (rough(growth) + wanted + 2))
            share = 2 * growth.exp() / (2 * arb.pi() * d / h).expm1()
            weights, losses, tails = self._grid(c, b, h, wanted)
            sizes, angles = [abs(weight) for weight in weights], [loss.imag for loss in losses]
            prepared.append((sizes, angles, (tails + share * size).abs_upper()))

        def bound(time: Any) -> Any:
            spend(2 * EXP * sum(len(weights) for weights, _, _ in prepared))
            bounds = [size]
            for weights, angles, error in prepared:
                kept = sum((w * (-time * angle).exp() for w, angle in zip(weights, angles, strict=True)), error)
                bounds.append(kept.abs_upper())
            return min(bounds, key=rough)

        return bound

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """P and Q above the x at which the loss, which increases with x, is eps."""
        x = self.threshold(epsilon)
        p, q = (sum((weight() * normal_tail(x - ball(c)) for weight, c in side), arb(0)) for side in (self.p, self.q))
        return p, q

    def threshold(self, epsilon: Any) -> Any:
        """An interval around the x at which the loss is epsilon, proved by the signs at both ends; or an infinity."""
        for ours, theirs, sign in ((self.p, self.q, -1), (self.q, self.p, 1)):
            still = sum((weight() for weight, c in ours if c == 0), arb(0))
            if still > 0 and all(c == 0 for _, c in theirs) and sign * epsilon > -still.log():
                return sign * arb.pos_inf()
            if len(ours) == 2 and still > 0 and all(c == 0 for _, c in theirs):
                [(weight, c)] = [one for one in ours if one[1] != 0]
                return (((-sign * epsilon).exp() - still) / weight()).log() / ball(c) + ball(c) / 2
        p, q = _components(self.p, arb(0)), _components(self.q, arb(0))

        def loss(x: Any) -> Any:
            spend(EXP * (len(self.p) + len(self.q) + 4))
            return _logarithm(*p, x) - _logarithm(*q, x)

        low, high = arb(-1), arb(1)
        while not loss(low) < epsilon:
            low = 2 * low
            _near(low)
        while not loss(high) > epsilon:
            high = 2 * high
            _near(high)
        for _ in range(ctx.prec + 64):
            middle = ((low + high) / 2).mid()
            if loss(middle) < epsilon:
                low = middle
            elif loss(middle) > epsilon:
                high = middle
            else:
                break
        return between(low, high)

    def largest(self) -> Any:
        """The limit of the loss where P is N(0, 1), as v is above its share of it."""
        still = sum((weight() for weight, d in self.q if d == 0), arb(0))
        return -still.log() if still > 0 and all(c == 0 for _, c in self.p) else None

    def _reach(self) -> Fraction:
        return max(c for _, c in self.p) - min(d for _, d in self.q)

    def _spread(self) -> Fraction:
        return max(_spread(self.p), _spread(self.q))

    def _grid(self, c: Any, b: Any, h: Any, wanted: float) -> tuple[list[Any], list[Any], Any]:
        """At x + ib, x = k h: weights h phi u^{1+c} v^{-c}, losses log u - log v, and a bound of all further weights.

        By fact 2, the logarithm of |weight| has a derivative between -x and a - x, a = (1 + c) c_max - c d_min. So to the
        right of a, and to the left of zero, the weights fall faster than geometrically.
        """
        a = (1 + c) * ball(max(shift for _, shift in self.p)) - c * ball(min(shift for _, shift in self.q))
        room = math.sqrt(2 * wanted + rough(b) ** 2) + 1
        first, last = math.ceil(room / rough(h)), math.ceil((rough(a) + room) / rough(h))
        spend((first + last) * (2 * EXP * (len(self.p) + len(self.q)) + 5 * EXP + 2 * STORED))
        (least, lifted, p), q = _components(self.p, b), _components(self.q, b)
        scale = h / (2 * arb.pi()).sqrt()
        weights, losses = [], []
        for k in range(-first, last + 1):
            x = k * h
            u, v = _logarithm(least, lifted, p, x), _logarithm(*q, x)
            weights.append(scale * ((1 + c) * u - c * v - (x + lifted) ** 2 / 2).exp())
            losses.append(u - v)
        tails = abs(weights[0]) / (first * h * h).expm1() + abs(weights[-1]) / ((last * h - a) * h).expm1()
        return weights, losses, tails.abs_upper()


def mixture(shares: Mapping[Fraction, Fraction]) -> NormalMixtures:
    """The mixture with these shares of shifts against N(0, 1)."""
    return NormalMixtures(tuple((exactly(share), shift) for shift, share in shares.items()), AT_ZERO)


def sampled_group(shift: Fraction, rate: Fraction, size: int, replaced: bool) -> NormalMixtures:
    """A binomial number of shifts against none or, where a group is replaced, against one of shifts in the other direction."""

    def chosen(k: int) -> Real:
        return cached(lambda: math.comb(size, k) * ball(rate) ** k * ball(1 - rate) ** (size - k))

    shifts = tuple((chosen(k), k * shift) for k in range(size + 1))
    return NormalMixtures(shifts, _negated(shifts) if replaced else AT_ZERO)


def _times(weight: Real, rate: Fraction) -> Real:
    return lambda: weight() * ball(rate)


def _near(x: Any) -> None:
    demand(not (abs(x) > 2**64), "the precision does not separate this epsilon from the limit of the loss")


def _negated(shifts: Shifts) -> Shifts:
    return tuple((weight, -shift) for weight, shift in shifts)


def _spread(shifts: Shifts) -> Fraction:
    return max(c for _, c in shifts) - min(c for _, c in shifts)


def _components(shifts: Shifts, b: Any) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """The least shift c, ib, and for each shift its gap g to c and its probability times e^{i g b + (c^2 - (c + g)^2) / 2}."""
    spend(3 * EXP * len(shifts))
    least = min(c for _, c in shifts)
    lifted = arb(0) if b.is_zero() else acb(0, b)
    gaps = [(weight(), ball(c - least), ball((least**2 - c**2) / 2)) for weight, c in shifts]
    return ball(least), lifted, [(gap, weight * (gap * lifted + fall).exp()) for weight, gap, fall in gaps]


def _logarithm(least: Any, lifted: Any, gaps: list[tuple[Any, Any]], x: Any) -> Any:
    """Log u(x + ib); its principal branch, as by fact 1 the arguments relative to the least shift are below pi."""
    if len(gaps) == 1:
        return least * (x + lifted) - least**2 / 2
    inner = sum([mass * (gap * x).exp() if gap else mass for gap, mass in gaps], arb(0))
    return least * (x + lifted) - least**2 / 2 + inner.log()
