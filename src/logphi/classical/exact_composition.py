"""Compositions that are finite sums, without transforms: of guarantees (eps, delta), and of piecewise linear profiles.

notation: D(eps) = E[(1 - e^{eps - L})_+] given that the loss L is finite; F the probability of an infinite loss;
delta = F + (1 - F) D for a composition of guarantees, each of which has the losses eps_i, -eps_i and infinity.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.ledger import Entry, Ledger
from logphi.arrays import Array
from logphi.convex.hull import exponential
from logphi.inputs import check
from logphi.text.written import meant

# measured: a sum of so many terms takes about a second
LARGEST_SUM = 1 << 22
# measured: so many products of fractions take about a second
LARGEST_PRODUCT = 200_000
# derived: e^epsilon of a larger one overflows, and its square too
LARGEST_EPSILON = 300.0
# derived: half an ulp of every parameter, and some roundings, relative to the size of an exponent or a logarithm
_ROUNDING = 1.2e-15
# derived: from here on the remainder of Stirling's series after four terms is below 1e-18
_STIRLING = 64
# derived: far more than the relative error of exponentials, which have sixty digits; rational numbers are exact
_SHARE = Fraction(1, 10**40)
# derived: terms are rounded to multiples of one over this, far below every double
_UNIT = 1 << 1200

# a profile: epsilons and deltas of its vertices
Vertices = tuple[Sequence[float], Sequence[float]]


def compose_guarantees(guarantees: Sequence[tuple[float, float, int]], epsilon: float) -> Bound:
    """The smallest delta that any number of guarantees (eps_i, delta_i), composed adaptively, imply at epsilon.

    1 - prod (1 - delta_i)^{k_i} (1 - D(eps)), D the sum over all outcomes of prod(1 + e^{eps_i})^{-k_i} times
    (e^{sum of eps_i over true responses} - e^{eps + sum of the others})_+. It is attained by randomized responses, so that no
    theorem gives less. Optimal composition is #P-hard for many different guarantees: the number of terms is the product of the
    k_i + 1 over the different eps_i.

    Parameters
    ----------
    guarantees
        Triples (epsilon, delta, count), epsilons in nats.
    epsilon
        Any real number, in nats.

    Returns
    -------
    Bound
        Of delta, rounding included; what the guarantees imply is its upper end.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or the sum has more than four million terms.

    References
    ----------
    [LT] Theorem 4.6 and Corollary 4.7; Kairouz, Oh & Viswanath 2015, Theorem 3.3; Murtagh & Vadhan 2016, Theorem 1.5.

    Examples
    --------
    >>> round(compose_guarantees([(0.3, 0.01, 1), (0.5, 0.0, 1), (0.1, 0.02, 1)], 0.4).value, 9)
    0.144169802
    """
    at = check.real("epsilon", epsilon)
    counts: Counter[float] = Counter()
    survivals: list[tuple[float, float]] = []
    for level, failed, number in guarantees:
        repeated = check.count("the count of a guarantee", number)
        counts[check.moderate_or_zero("the epsilon of a guarantee", level)] += repeated
        failure = check.unit("the delta of a guarantee", failed)
        if failure == 1 and repeated:
            return Bound(1.0, 1.0, 1.0)
        if repeated:
            # the effect of half an ulp of delta
            survivals.append((repeated * math.log1p(-failure), repeated * _ROUNDING * failure / (1 - failure)))
    # guarantees with epsilon 0 add no loss
    distinct = [(level, count) for level, count in counts.items() if level > 0 and count > 0]
    terms = math.prod(count + 1 for _, count in distinct)
    if terms > LARGEST_SUM:
        raise ValueError(
            f"the composition of {sum(count for _, count in distinct)} guarantees with {len(distinct)} different epsilons is a "
            f"sum of {terms} terms, more than {LARGEST_SUM}: compose ApproximateDP mechanisms instead, whose bounds are as good"
        )
    loss, weight, size = np.zeros(1), np.zeros(1), 0.0
    for level, count in distinct:
        own_loss, own_weight = _response(level, count)
        loss, weight = (np.add.outer(one, own).ravel() for one, own in ((loss, own_loss), (weight, own_weight)))
        # a bound of all logarithms in a weight
        size += count * (level + 1.0)
    room = _ROUNDING * (size + abs(at))
    finite = [float((np.exp(weight) * -np.expm1(-np.maximum(loss - at + side * room, 0.0))).sum()) for side in (-1, 0, 1)]
    # exponentials may underflow
    underflow = loss.size * 5e-324 if loss.max() > at - room else 0.0
    spread = min(_ROUNDING * size + 1e-14, 700.0)
    low, value, high = (
        amount * math.exp(side * spread) + side * underflow for amount, side in zip(finite, (-1, 0, 1), strict=True)
    )
    survival, moved = (math.fsum(part) for part in zip(*survivals, strict=True)) if survivals else (0.0, 0.0)
    moved -= 1e-15 * survival
    ends = (min(survival + moved, 0.0), survival, survival - moved)
    lower, value, upper = (
        -math.expm1(mass) + math.exp(mass) * min(amount, 1.0) for mass, amount in zip(ends, (low, value, high), strict=True)
    )
    lower, upper = max(lower * (1 - 1e-15), 0.0), min(upper * (1 + 1e-15), 1.0)
    ledger = Ledger(rounding=Entry(upper - lower), infinite_mass=Entry(-math.expm1(ends[2]) + 0.0))
    return Bound(lower, min(max(value, lower), upper), upper, ledger=ledger)


def _response(level: float, count: int) -> tuple[Array, Array]:
    """Losses of ``count`` randomized responses of one level, and the logarithms of their probabilities."""
    true = np.arange(count + 1, dtype=float)
    weight: Array = log_ways(count) - (count - true) * level - count * math.log1p(math.exp(-level))
    return level * (2 * true - count), weight


def log_ways(count: int) -> Array:
    """Logarithms of the binomial coefficients, to a few roundings relative to ``count``."""
    half = count // 2 + 1
    first = np.array([math.log(math.comb(count, j)) for j in range(min(half, _STIRLING))])
    if half > _STIRLING:
        few = np.arange(_STIRLING, half, dtype=float)
        many = count - few
        rest = _remainder(np.array([float(count)])) - _remainder(few) - _remainder(many)
        leading = few * np.log(count / few) - many * np.log1p(-few / count) - np.log(2 * np.pi * few * (many / count)) / 2
        first = np.concatenate([first, leading + rest])
    return np.concatenate([first, first[: count + 1 - half][::-1]])


def _remainder(n: Array) -> Array:
    """The logarithm log n! - n log n + n - log(2 pi n) / 2."""
    square = 1 / (n * n)
    remainder: Array = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / n
    return remainder


def compose_profiles(one: Vertices, other: Vertices, epsilon: float) -> Bound:
    """Delta of the composition of two mechanisms whose profiles are piecewise linear in e^eps.

    delta(eps) = F_2 + E[ delta_1(eps - L_2); L_2 finite ]. The second loss has an atom at every vertex of its profile, so that
    the expectation is the sum over the vertices b_j of m_j b_j delta_1(eps - log b_j), m_j the change of slope at b_j. In
    general it is an integral with the density delta_2'' - delta_2', so that the composition is a convolution ([LT] Theorem
    4.2).

    Parameters
    ----------
    one, other
        Pairs (epsilons, deltas): the vertices, in nats, of two profiles, each of one direction of a pair, the same one for
        both. A profile is 1 at e^eps = 0 and constant from its last vertex on. The numbers are read as the decimals that were
        written.
    epsilon
        Any real number, in nats.

    Returns
    -------
    Bound
        Of delta, exact up to the last digits of a double.

    Raises
    ------
    ValueError, TypeError
        If a profile is not decreasing and convex in e^eps, is outside its range, or there are more than 200,000 terms.

    Examples
    --------
    >>> response = ([-1.0, 1.0], [0.6321205588285577, 0.0])
    >>> round(compose_profiles(response, response, 0.5).value, 9)
    0.41519548
    """
    at = check.real("epsilon", epsilon)
    if abs(at) > LARGEST_EPSILON:
        raise ValueError(f"epsilon must lie between -{LARGEST_EPSILON:g} and {LARGEST_EPSILON:g}, got {at!r}")
    first, second = _profile("one", one), _profile("other", other)
    if len(first) * len(second) > LARGEST_PRODUCT:
        raise ValueError(
            f"profiles of {len(first)} and {len(second)} vertices make more than {LARGEST_PRODUCT} terms: "
            "compose FromProfile mechanisms instead"
        )
    a = exponential(meant(at))
    slopes = [*((h - k) / (c - b) for (b, h), (c, k) in pairwise(second)), Fraction(0)]
    places = [b for b, _ in first]
    parts = [
        (before - after) * b * _height(first, places, a / b)
        for (b, _), (before, after) in zip(second[1:], pairwise(slopes), strict=True)
    ]
    total = second[-1][1] + Fraction(sum(int(part * _UNIT) for part in parts), _UNIT)
    lower, upper = float(total * (1 - _SHARE)), float(total * (1 + _SHARE))
    lower, upper = max(math.nextafter(lower, 0.0), 0.0), min(math.nextafter(upper, 1.0), 1.0)
    infinite = 1 - (1 - first[-1][1]) * (1 - second[-1][1])
    ledger = Ledger(rounding=Entry(upper - lower), infinite_mass=Entry(float(infinite)))
    return Bound(lower, min(max(float(total), lower), upper), upper, ledger=ledger)


def _profile(name: str, given: Any) -> list[tuple[Fraction, Fraction]]:
    """The vertices in a = e^eps, with (0, 1)."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"{name} must be a pair of lists, epsilons and deltas, got {given!r} of type {type(given).__name__}")
    epsilons, deltas = (
        check.real_array(f"the epsilons of {name}", given[0]),
        check.unit_array(f"the deltas of {name}", given[1]),
    )
    check.paired(name, epsilons, deltas, "each delta belongs to the epsilon at its place")
    if np.abs(epsilons).max() > LARGEST_EPSILON:
        raise ValueError(
            f"the epsilons of {name} must lie between -{LARGEST_EPSILON:g} and {LARGEST_EPSILON:g}, got {given[0]!r}"
        )
    points = [(exponential(meant(e)), meant(d)) for e, d in sorted(zip(epsilons.tolist(), deltas.tolist(), strict=True))]
    vertices = [(Fraction(0), Fraction(1)), *points]
    if any(b == c for (b, _), (c, _) in pairwise(vertices)):
        raise ValueError(f"the epsilons of {name} must be distinct, got {given[0]!r}")
    falls = [(h - k) / (c - b) for (b, h), (c, k) in pairwise(vertices)]
    if falls[0] > 1 or falls[-1] < 0 or any(one < other for one, other in pairwise(falls)):
        raise ValueError(
            f"{name} must decrease and be convex in e^epsilon, with slopes between -1 and 0 from 1 at e^epsilon = 0, got "
            f"{given!r}: drop the points above the hull, as FromProfile does"
        )
    return vertices


def _height(vertices: Sequence[tuple[Fraction, Fraction]], places: Sequence[Fraction], a: Fraction) -> Fraction:
    i = bisect_left(places, a)
    if i == len(places):
        return vertices[-1][1]
    (b, h), (c, k) = vertices[i - 1], vertices[i]
    return h + (k - h) * (a - b) / (c - b)
