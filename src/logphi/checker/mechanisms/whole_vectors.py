"""Noise for integer vectors whose differences have bounded norms: discrete Gaussian noise of several parties, or Skellam noise.

notation: D2^2 the largest square of the Euclidean norm, D1 the largest sum of absolute values, m the most coordinates that
differ, all whole; V the variance of the noise of a coordinate.

The sum of n discrete Gaussians is within a factor e^t of the one of variance V = n sigma^2, t at most the sum over k < n of
4 artanh(u) / (1 - u^2), u = e^{-2 pi^2 sigma^2 k / (k+1)}, whose terms fall. One discrete Gaussian has D_a <= a D2^2 / (2 V),
so that the sum has D_a <= a D2^2 / (2 V) + m t. Or, as a law within a factor e^t of another has D_a <= a t^2 / 8, and roots of
such rho add (Bun & Steinke 2016, Lemma 5.2), D_a <= a/2 times the sum of (|v_i| / sqrt(V) + t)^2 over the coordinates of a
difference v, which is at most D2^2 / V + 2 D1 t / sqrt(V) + m t^2. Noise of fewer parties, to which the others add, does as
well, and the least of these bounds counts. Of wide noise more is known: one discrete Gaussian, moved by an integer, is at
least 1 - 9 v w times a Gaussian of variance V - r^2 that is moved likewise and rounded at random; v = e^{-2 pi^2 r^2},
w = e^{-2 pi^2 c^2}, c^2 = r^2 (V - r^2) / V. So vectors are those of this Gaussian, but with a probability of m (t + 9 v w).

Skellam noise has the divergences D_a of integer orders a > 1 (Agarwal, Kairouz & Liu 2021), and chords of (a - 1) D_a, which is
convex, between them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, exactly, upper
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.declared import Declared
from logphi.checker.laws.finite import DiscreteGaussian, Finite
from logphi.checker.laws.law import Law
from logphi.checker.laws.normal import Normal
from logphi.checker.mechanisms.kind import COUNT, DISCRETE_SIGMA, LARGE, POSITIVE, Kind, integer, optional

# chosen: r^2, by which the probability above is 4e-21 for each coordinate of wide noise, and the least V of wide noise
R, WIDE = Fraction(5, 4), 32
# chosen: the numbers of parties for which t is added up one by one
ONE_BY_ONE = 100
# chosen: the ratio of the numbers of parties whose noise alone is tried
GROWTH = 1.2
# chosen: the whole z = a - 1 at which a divergence is taken
PLACES = sorted({*range(1, 16), *(int(1.25**k) for k in range(12, 42))})
# derived: a norm that was computed in doubles may be below the root of a whole number, which is meant
ROOM = 1 + Fraction(1, 10**9)


def moves(l2: Fraction, l1: Fraction | None, dimension: int | None) -> tuple[int, int, int]:
    """D2^2, D1 and m, as far as one bounds another."""
    square = math.floor(l2 * l2 * ROOM)
    total = square if l1 is None else min(square, math.floor(l1 * ROOM))
    square = min(square, total * total)
    coordinates = total if dimension is None else min(total, dimension)
    return square, min(total, math.isqrt(coordinates * square)), coordinates


def discrete_gaussians(
    *_: Any, sigma: Fraction, l2_sensitivity: Fraction, l1_sensitivity: Fraction | None, parties: int, dimension: int | None
) -> Law | None:
    """A Gaussian and whether it misses, or the divergences; one coordinate and one party have their own law."""
    square, total, coordinates = moves(l2_sensitivity, l1_sensitivity, dimension)
    if not square:
        return None
    if coordinates == parties == 1:
        return DiscreteGaussian(sigma, total)
    variance = parties * sigma**2
    if variance < WIDE:
        counts = sorted({parties, *(int(GROWTH**k) for k in range(int(math.log(parties, GROWTH)) + 1))})
        lines = []
        for number, t in zip(counts, _apart(sigma, counts), strict=True):
            width, own = ball(number).sqrt() * ball(sigma), ball(square / (2 * number * sigma**2))
            lines += [
                (upper(own), upper(coordinates * t)),
                (upper(own + total * t / width + coordinates * t**2 / 2), Fraction(0)),
            ]
        return Declared(tuple(lines))

    def outcomes() -> list[tuple[Any, Any]]:
        missed = coordinates * (_apart(sigma, [parties])[0] + 9 * _fall(R) * _fall(R * (variance - R) / variance))
        missed = missed.upper().min(arb(1))
        return [(missed, arb(0)), (1 - missed, 1 - missed), (arb(0), missed)]

    misses = Finite(cached(outcomes), None, known=lambda: [arb(0)])
    return Composition([(Normal(exactly(square / (variance - R))), 1), (misses, 1)])


def _apart(sigma: Fraction, numbers: list[int]) -> list[Any]:
    """Bounds of t for these numbers of parties, in rising order."""
    spend(6 * EXP * ONE_BY_ONE)
    found, t, last, k = [], arb(0), arb(0), 1
    for number in numbers:
        while k < min(number, ONE_BY_ONE):
            u = _fall(sigma**2 * k / (k + 1))
            last = 4 * u.atanh() / (1 - u**2)
            t, k = t + last, k + 1
        found.append(t + max(number - ONE_BY_ONE, 0) * last)
    return found


def _fall(square: Fraction) -> Any:
    """e^{-2 pi^2 x}."""
    return (-2 * arb.pi() ** 2 * ball(square)).exp()


def skellam(
    *_: Any, variance: Fraction, l2_sensitivity: Fraction, l1_sensitivity: Fraction | None, dimension: int | None
) -> Declared | None:
    """By the divergences."""
    square, total = moves(l2_sensitivity, l1_sensitivity, dimension)[:2]
    if not square:
        return None

    def divergence(order: int) -> Fraction:
        more = min(((2 * order - 1) * square + 6 * total) / (4 * variance**2), 3 * total / (2 * variance))
        return order * square / (2 * variance) + more

    return Declared(points=tuple((Fraction(z), z * divergence(z + 1)) for z in PLACES))


L2, L1, DIMENSION = LARGE, optional(POSITIVE), optional(integer(1, 10**15))
KINDS = {
    "VectorDiscreteGaussian": Kind(
        {"sigma": DISCRETE_SIGMA, "l2_sensitivity": L2, "l1_sensitivity": L1, "parties": COUNT, "dimension": DIMENSION},
        discrete_gaussians,
        upper_only=True,
    ),
    "Skellam": Kind(
        {"variance": POSITIVE, "l2_sensitivity": L2, "l1_sensitivity": L1, "dimension": DIMENSION}, skellam, upper_only=True
    ),
}
