"""Lower bounds of the error of a private mean: no private algorithm answers many queries accurately.

notation: n records in {0, 1}^k; an algorithm M with values in [0, 1]^k, private with respect to replacement of a record; its
error is sqrt(E ||M(x) - mean(x)||^2 / k) at the worst x.
"""

from __future__ import annotations

import math

from logphi.answers.status import Side
from logphi.classical.claim import Claim
from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.interval_arithmetic import Interval, decimal, down, exact, intervals
from logphi.inputs import check

# derived: integers up to this one are doubles
_MOST = 10**15


def mean_error(guarantee: Guarantee, records: int, queries: int) -> Claim:
    """min(sqrt(k) / (16 n (e^eps - 1)), 1/10), below the error of every (eps, delta)-DP algorithm (n records, k queries).

    Raises
    ------
    ValueError, TypeError
        If delta exceeds 1 / (100 n) or k is below 200 (e^eps - 1)^2 n, which the theorem excludes: :func:`implied_mean_error`
        needs neither. Or if a number is not an integer of one or more, or the guarantee is that of several releases.

    References
    ----------
    [S22] Theorem 25.

    Examples
    --------
    >>> round(float(mean_error(Guarantee(0.5, 1e-8), 100, 40_000)), 9)
    0.1
    >>> round(float(mean_error(Guarantee(1.0, 1e-8), 1000, 1_000_000)), 9)
    0.036373544
    """
    n, k = _sizes(records, queries)
    delta, growth = _single(guarantee), _growth(guarantee)
    # the proof has slack for the half ulps of eps and delta
    if not (100 * n * delta).a <= 1 or not (200 * growth**2 * n).a <= k:
        raise ValueError(
            f"the theorem needs delta <= 1/(100 n) and at least 200 (e^eps - 1)^2 n queries, got {guarantee!r}, {records!r} "
            f"records and {queries!r} queries; use implied_mean_error"
        )
    value = down(intervals().sqrt(k) / (16 * n * growth)) if growth.a > 0 else 0.1
    return Claim(min(value, math.nextafter(0.1, 0.0)), Side.LOWER, "mean estimation", "Steinke 2022, Theorem 25")


def implied_mean_error(guarantee: Guarantee, records: int, queries: int) -> Claim:
    """The smallest error that the proof of [S22] Theorem 25 leaves possible, for any numbers of records and queries.

    With x the square of the error, the proof says 1/6 - 2x - 4 n delta <= n c sqrt((2x + 1/(3n)) / k), c = e^eps - 1. The
    smallest such x is the root of a quadratic equation; the claim is its square root, rounded down.

    Raises
    ------
    ValueError, TypeError
        If a number is not an integer of one or more, or the guarantee is that of several releases.

    References
    ----------
    [S22] Theorem 25, its proof.

    Examples
    --------
    >>> round(float(implied_mean_error(Guarantee(1.0, 1e-8), 1000, 1_000_000)), 9)
    0.063916981
    """
    n, k = _sizes(records, queries)
    return _implied(_growth(guarantee), _single(guarantee), n, k)


def concentrated_mean_error(budget: Concentrated, records: int, queries: int) -> Claim:
    """:func:`implied_mean_error` of a zCDP algorithm: with c = sqrt(e^{xi + 2 rho} - 1) and delta = 0.

    Privacy enters the proof only as E[X] <= E[Y] + c sqrt(E[Y^2]) for the outputs X and Y of neighbours. With R the density of
    X with respect to Y, E[X] - E[Y] = E[(R(Y) - 1) Y] <= sqrt(E[(R(Y) - 1)^2] E[Y^2]), and E[(R(Y) - 1)^2] = e^{D_2} - 1.

    Raises
    ------
    ValueError, TypeError
        If a number is not an integer of one or more, or the budget is that of one direction of the pair, or has infinite
        losses.

    References
    ----------
    [S22] Remark 28.

    Examples
    --------
    >>> round(float(concentrated_mean_error(Concentrated(0.5), 1000, 1_000_000)), 9)
    0.081691874
    """
    n, k = _sizes(records, queries)
    if budget.infinite_mass or budget.tilt or not budget.both:
        raise ValueError(f"a budget of both directions, without infinite losses, is needed, got {budget!r}")
    grown = intervals().exp(exact(float(budget.xi)) + 2 * exact(float(budget.rho))) - 1
    return _implied(intervals().sqrt(intervals().mpf([max(grown.a, 0), grown.b])), exact(0.0), n, k)


def _implied(closeness: Interval, delta: Interval, n: Interval, k: Interval) -> Claim:
    room, squared = exact(1.0) / 6 - 4 * n * delta, exact(0.0)
    if room.a > 0 and closeness.b == 0:
        squared = room / 2
    elif room.a > 0:
        # with share s: x + 1/(6n) = s (room - 2x)^2, divided by c^2 s where c may be next to nothing
        share, c = k / (2 * n**2), closeness**2
        root = intervals().sqrt(8 * share * room * c + c**2 + 8 * share * c / (3 * n))
        squared = 2 * (share * room**2 - c / (6 * n)) / (4 * share * room + c + root)
    value = down(intervals().sqrt(squared)) if squared.a > 0 else 0.0
    return Claim(value, Side.LOWER, "mean estimation, implied", "Steinke 2022, proof of Theorem 25")


def _sizes(records: int, queries: int) -> tuple[Interval, Interval]:
    sizes = check.whole("records", records, 1, _MOST), check.whole("queries", queries, 1, _MOST)
    return exact(float(sizes[0])), exact(float(sizes[1]))


def _single(guarantee: Guarantee) -> Interval:
    """The delta of one release."""
    if guarantee.count != 1:
        raise ValueError(f"the guarantee of one release is needed, got {guarantee!r}: compose them first")
    return decimal(float(guarantee.delta))


def _growth(guarantee: Guarantee) -> Interval:
    grown = intervals().exp(decimal(float(guarantee.epsilon))) - 1
    return intervals().mpf([max(grown.a, 0), grown.b])
