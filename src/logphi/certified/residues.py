"""The excess of atoms and tilted uniform (flat) parts in closed form, by residues.

notation: u = z + 1/2, t = 1/(2u), M(z) = sum over places a and powers m of C_{a,m} e^{ua} t^m.

The inverse Laplace transform of t^m / (z (z + 1)) at x > 0, from its residues at z = 0, -1 and -1/2, is 2 e^{-x/2} R_m(x/2),

    R_m(y) = y^{m+1}/(m+1)! + y^{m+3}/(m+3)! + ...,

and 0 for x <= 0. It is continuous and increasing: a place that balls do not separate from epsilon contributes between 0 and the
value at the upper end of its distance. Hence

    D(eps) = 2 e^{eps/2} * sum over a > eps and m of C_{a,m} R_m((a - eps)/2).

The terms with t^m are the part of the composition with m flat parts, a positive measure. So by (1 - e^{eps-x})_+ <=
e^{c (x - eps)}, c >= 0, all powers above a degree d together add at most e^{-c eps} s^{-(d+1)} G(c, s) for s >= 1, where G is
M(c) with s t in the place of t. Terms of different places cancel; the number of bits that this costs is measured and added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import numpy as np

from logphi.arith.ball import precision
from logphi.certified.expansion import Budget, Truncation, product
from logphi.certified.exponential_polynomials import ExponentialPolynomial
from logphi.certified.laws.law import CountedInBalls
from logphi.certified.locations import Basis
from logphi.certified.reals import ball, on_ball
from logphi.inversion.lines.saddle import Interval, minimise

# measured: exponents down to this distance below epsilon are kept, for later questions nearby
_BELOW = Fraction(1, 8)
# chosen: the number of bits beyond those requested
_SPARE = 16
# chosen: the number of attempts to measure the cancellation
_ROUNDS = 4
# measured: the values of s that are tried for the degree
_STRETCHES = tuple(Fraction(5 + k * k, 4) for k in range(1, 13))
# chosen: the search for an abscissa: its precision, interval and end
_SEARCH_BITS = 64
_RIGHT, _FARTHEST = Interval(0.0, math.inf), 1e6


@dataclass(frozen=True)
class Tail:
    """The powers of t above a degree, bounded by Chernoff's inequality at an abscissa and a stretch of t."""

    degree: int
    abscissa: Fraction = Fraction(0)
    stretch: Fraction = Fraction(1)


@dataclass(frozen=True)
class ResidueSum:
    """The terms of a composition of atoms and flat parts with exponents above a floor."""

    terms: CountedInBalls
    floor: Any
    bits: int
    tail: Tail | None

    def excess(self, epsilon: Any) -> Any:
        """From the values at the two ends of the ball: less cancels at an exact epsilon."""
        if epsilon.is_finite() and not epsilon.lower() > self.floor:
            start = epsilon.lower()
            with precision(self.bits):
                return sum_near(self.terms, start).excess(epsilon)
        with precision(self.bits):
            return on_ball(lambda end: self.sum_above(end) + self._left(end), epsilon)

    def sum_above(self, epsilon: Any) -> Any:
        """The contribution of exponents above a point, up to the degree."""
        total = flint.arb(0)
        for place, coefficients in self.kept:
            y = (place - epsilon) / 2
            if y <= 0:
                continue
            if not y > 0:
                y = y.upper().union(0)
            total += sum((c * r for c, r in zip(coefficients, _remainders(y, len(coefficients)), strict=True)), flint.arb(0))
        return 2 * (epsilon / 2).exp() * total

    def _left(self, epsilon: Any) -> Any:
        """An enclosure of the omitted part: the omitted mass and, below the largest loss, the powers above the degree."""
        most = sum((count * flint.arb(part.omitted) for part, count in self._parts), flint.arb(0))
        if self.tail is not None and not epsilon >= self._top:
            c, stretch = (ball(number) for number in (self.tail.abscissa, self.tail.stretch))
            most += _moment(self._parts, c, stretch) * (-c * epsilon).exp() / stretch ** (self.tail.degree + 1)
        return most.upper().union(0)

    @cached_property
    def _parts(self) -> list[tuple[ExponentialPolynomial, int]]:
        return [(law.exponential_polynomial(), count) for law, count in self.terms]

    @cached_property
    def _top(self) -> Any:
        return sum((count * part.values[0] for part, count in self._parts), flint.arb(0))

    @cached_property
    def kept(self) -> list[tuple[Any, list[Any]]]:
        """Places above the floor and the coefficients of the powers of t there."""
        with precision(self.bits):
            parts = self._parts
            basis = Basis.of([place for part, _ in parts for place in part.places])
            degree = self.tail.degree if self.tail else sum(count for part, count in parts if part.flat)
            truncation = Truncation(basis, self.floor, degree, Budget())
            tops = [count * part.values[0] for part, count in parts]
            whole = sum(tops, flint.arb(0))
            powers = (
                (
                    part.power([basis.key(place) for place in part.places], count, whole - top, truncation),
                    sum(tops[k + 1 :], flint.arb(0)),
                )
                for k, ((part, count), top) in enumerate(zip(parts, tops, strict=True))
            )
            return [(truncation.place(key), series.coeffs()) for key, series in product(powers, truncation).items()]


def sum_near(terms: CountedInBalls, epsilon: Any) -> ResidueSum:
    """The sum near an epsilon at the precision in force, with the bits that its cancellation costs besides.

    Raises
    ------
    NotCertifiedError
        If a law is neither finite nor flat, its probabilities are not known exactly, or there are too many different losses.
    """
    bits = flint.ctx.prec
    tail, size = _tail(terms, epsilon, bits)
    route = ResidueSum(terms, epsilon.lower() - ball(_BELOW), bits + _SPARE, tail)
    for _ in range(_ROUNDS):
        with precision(route.bits):
            wrong = route.sum_above(epsilon.mid()).rad()
            missing = (float(wrong.log()) - size) / math.log(2) + bits if wrong > 0 else 0
        if missing <= 0 or not math.isfinite(missing):
            break
        route = replace(route, bits=route.bits + math.ceil(missing) + _SPARE)
    return route


def _tail(terms: CountedInBalls, epsilon: Any, bits: int) -> tuple[Tail | None, float]:
    """The smallest degree above which about 2^-bits of the excess is left, None for all; and about the log of the excess."""
    with precision(_SEARCH_BITS):
        parts, at = [(law.exponential_polynomial(), count) for law, count in terms], float(epsilon.mid())

        def height(c: float, stretch: Fraction) -> float:
            # at the largest loss the height falls for ever
            return float(_moment(parts, flint.arb(c), ball(stretch)).log().mid()) - c * at if c <= _FARTHEST else math.inf

        def lowest(stretch: Fraction) -> float:
            return minimise(lambda c: np.array([height(one, stretch) for one in c.tolist()]), _RIGHT).abscissa

        size = height(lowest(Fraction(1)), Fraction(1))
        whole = sum(count for part, count in parts if part.flat)
        best = whole, Fraction(0), Fraction(1)
        for stretch in _STRETCHES if whole else ():
            c = Fraction(f"{lowest(stretch):.3g}")
            above = height(float(c), stretch) - size + (bits + _SPARE) * math.log(2)
            degree = math.ceil(above / math.log(stretch)) - 1
            best = min(best, (max(degree, 0), c, stretch))
    return (Tail(*best) if best[0] < whole else None), size


def _moment(parts: Sequence[tuple[ExponentialPolynomial, int]], c: Any, stretch: Any) -> Any:
    """G(c, s)."""
    whole = flint.arb(1)
    for part, count in parts:
        whole *= part.moment(c, stretch) ** count
    return whole


def _remainders(y: Any, size: int) -> list[Any]:
    """R_0 .. R_{size-1} at y >= 0, downward from the highest: R_m = y^{m+1}/(m+1)! 1F2(1; (m+2)/2, (m+3)/2; y^2/4)."""
    if size == 1:
        return [y.sinh()]
    powers = [y]
    for i in range(2, size + 1):
        powers.append(powers[-1] * y / i)
    found = [flint.arb(0)] * size
    for m in range(size - 1, -1, -1):
        if m + 2 < size:
            found[m] = found[m + 2] + powers[m]
        else:
            half = flint.arb(m + 2) / 2
            found[m] = powers[m] * (y * y / 4).hypgeom([flint.arb(1)], [half, half + flint.arb(1) / 2])
    return found
