"""Closed-form bounds of the divergence of one order under Poisson sampling: small orders, large orders, the reversed pair.

notation: q the rate, W = q P + (1 - q) Q the sample with the record, Q without it. A bound of D_a(W||Q) that follows from
bounds of both D_k(P||Q) and D_k(Q||P) is one of D_a(Q||W) too ([S22] Theorem 35).
"""

from __future__ import annotations

import math

import numpy as np

from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical.claim import Claim, at_least, at_most
from logphi.classical.divergence_curve import Divergence, divergence_at
from logphi.classical.interval_arithmetic import Interval, decimal, down, exact, intervals, up
from logphi.inputs import check

# derived: e (1 - q) >= 1 up to here, as Lemma 39 needs; rounded down
_LARGEST_RATE = math.nextafter(-math.expm1(-1), 0.0)
# derived: products of it with the logarithms of doubles are doubles
_LARGEST_ORDER = 1e300
# measured: the number of values of omega that are tried in a round, four times as many in the first
_PLACES = 9
# measured: the number of rounds, each around the best value of the round before
_LOOKS = 8


def analytic_divergence(divergence: Divergence, order: float, rate: float, last: float | None = None) -> Claim:
    """1/(a-1) log(1 + e/2 a (a-1) q^2 (e^{D_2} - 1) + ((a-1) q)^w e^{(w-1) D_w}), for w >= a.

    It is of order q^2 where the last term is small; see :func:`large_order_divergence` for large orders.

    Parameters
    ----------
    divergence
        From an order to a bound of D_order(P||Q), in nats; of both directions if D_a(Q||W) is to be bounded too.
    order, rate
        The order a > 1, and the sampling rate, in [0, 1 - 1/e].
    last
        The order w >= a of the last term. By default the best w found; for orders up to 2 the term is then left out
        ([S22] Lemma 39).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, or a divergence is not a proved upper bound.

    References
    ----------
    [S22] Proposition 41.

    Examples
    --------
    >>> round(float(analytic_divergence(lambda order: 0.5 * order, 3.0, 0.05, last=4.0)), 9)
    0.036334108
    """
    a, q = _order(order), _small(rate)
    if rate == 0:
        return Claim(0.0, Side.UPPER, "sampled divergence, analytic", "Steinke 2022, Proposition 41")
    if last is not None and check.real("last", last) < order:
        raise ValueError(f"last must be at least the order, {order!r}, got {last!r}")
    iv, two, rest, note = intervals(), divergence_at(divergence, 2.0), exact(0.0), ""
    if last is not None or order > 2:
        omega = float(last) if last is not None else _best_last(divergence, order, rate)
        most = divergence_at(divergence, omega)
        if math.isinf(most):
            two = math.inf
        else:
            rest = iv.exp(exact(omega) * iv.log((a - 1) * q) + (exact(omega) - 1) * exact(most))
        note = f"last order {omega:.6g}"
    value = math.inf
    if math.isfinite(two):
        value = up(iv.log(1 + iv.e / 2 * a * (a - 1) * q**2 * (iv.exp(exact(two)) - 1) + rest) / (a - 1))
    return Claim(value, Side.UPPER, "sampled divergence, analytic", "Steinke 2022, Proposition 41", note)


def large_order_divergence(own: float | Bound | Claim, order: float, rate: float) -> Claim:
    """a/(a-1) log(1 - q + q e^{(1 - 1/a) D_a}), from D_a(P||Q) alone: close to :func:`least_divergence` at large orders.

    Parameters
    ----------
    own
        A bound of D_a(P||Q), in nats; of both directions if D_a(Q||W) is to be bounded too.
    order, rate
        The order a > 1, and the sampling rate, in [0, 1].

    References
    ----------
    [S22] Proposition 42.

    Examples
    --------
    >>> round(float(large_order_divergence(5.0, 10.0, 0.05)), 9)
    1.88419196
    """
    a, q, known = _order(order), _share(rate), _nonnegative(at_most("the divergence", own))
    value = 0.0 if rate == 0 else known
    if 0 < rate < 1 and math.isfinite(known):
        iv = intervals()
        value = min(known, max(0.0, up(a / (a - 1) * iv.log(1 - q + q * iv.exp((1 - 1 / a) * exact(known))))))
    return Claim(value, Side.UPPER, "sampled divergence, large orders", "Steinke 2022, Proposition 42")


def least_divergence(own: float | Bound | Claim, order: float, rate: float) -> Claim:
    """D_a(P||Q) - a/(a-1) log(1/q), a lower bound of D_a(W||Q), and its limit at large orders.

    Parameters
    ----------
    own
        A lower bound of D_a(P||Q), in nats.
    order, rate
        The order a > 1, and the sampling rate, in [0, 1].

    References
    ----------
    [S22] section 6.6, before Lemma 39.

    Examples
    --------
    >>> round(float(least_divergence(5.0, 10.0, 0.05)), 9)
    1.671408585
    """
    a, q, known = _order(order), _share(rate), _nonnegative(at_least("the divergence", own))
    value = 0.0
    if rate > 0:
        value = known if math.isinf(known) else max(0.0, down(exact(known) + a / (a - 1) * intervals().log(q)))
    return Claim(value, Side.LOWER, "sampled divergence, limit", "Steinke 2022, section 6.6")


def reversed_divergence(forward: float | Bound | Claim, swapped: float | Bound | Claim, order: float, rate: float) -> Claim:
    """A bound of D_a(Q||W) from D_a(W||Q) and, with P and Q exchanged, D_a(q Q + (1-q) P||P).

    1/(a-1) log((1-l) e^{(a-1) forward} + l e^{(a-1) swapped}), l = (2a-1) q / ((2a-1) q + 3 (1-q)); never above the larger.

    The proof of [S22] is one for a >= 2: below, the power a-2 turns the inequality of its Lemma 36 round. With r, w and
    v = 2a-1 as in :func:`~logphi.classical.sampled_renyi.sampled_divergence`, and s = q + (1-q) r, that power of w s / r >= 1
    is at least r / (w s) then, and the second derivative is not negative since

        (1-l) w^v + l w^2 / (r^2 s) >= 1:

    w^v >= 1 + v q (r-1) is Bernoulli's inequality, w^2 exceeds (1 - 3 (1-q) (r-1)) r^2 s by the non-negative
    (1-q) (r-1)^2 (3 (1-q) r^2 + 2 r + 1 - q), and for this l the terms with r-1 cancel.

    Parameters
    ----------
    forward, swapped
        Upper bounds of these two divergences, in nats.
    order, rate
        The order a > 1, whole or not, and the sampling rate, in [0, 1].

    References
    ----------
    [S22] Theorem 35.

    Examples
    --------
    >>> round(float(reversed_divergence(0.2, 0.1, 3.0, 0.05)), 9)
    0.192636805
    """
    a, q = _order(order), _share(rate)
    first, second = (_nonnegative(at_most("the divergence", one)) for one in (forward, swapped))
    iv = intervals()
    value = max(first, second)
    if rate > 0 and math.isfinite(value):
        share = 1 / (1 + 3 * (1 - q) / ((2 * a - 1) * q))
        grown = (1 - share) * iv.exp((a - 1) * exact(first)) + share * iv.exp((a - 1) * exact(second))
        value = min(value, max(0.0, up(iv.log(grown) / (a - 1))))
    return Claim(value, Side.UPPER, "sampled divergence, reversed", "Steinke 2022, Theorem 35")


def _best_last(divergence: Divergence, order: float, rate: float) -> float:
    """An order at which the last term is nearly smallest."""
    slope = math.log(order - 1) + math.log(rate)

    def term(omega: float) -> float:
        return omega * slope + (omega - 1) * divergence_at(divergence, omega)

    best, width = order, 1e6
    for look in range(_LOOKS):
        low, high = max(order, best / width), max(order, min(best * width, _LARGEST_ORDER))
        places = np.geomspace(low, high, 4 * _PLACES if look == 0 else _PLACES)
        best = min((max(order, float(place)) for place in places), key=term)
        width = (high / low) ** (1.0 / (4 * _PLACES if look == 0 else _PLACES - 1))
    return best


def _order(order: float) -> Interval:
    if not check.real("order", order) > 1:
        raise ValueError(f"order must be above 1, got {order!r}")
    return exact(float(order))


def _share(rate: float) -> Interval:
    q = decimal(check.unit("rate", rate))
    return intervals().mpf([max(q.a, 0), min(q.b, 1)])


def _small(rate: float) -> Interval:
    if check.unit("rate", rate) > _LARGEST_RATE:
        raise ValueError(
            f"the rate must be at most 1 - 1/e = {_LARGEST_RATE:.6g} here, got {rate!r}: use large_order_divergence or, at "
            "integer orders, sampled_divergence"
        )
    return decimal(rate)


def _nonnegative(divergence: float) -> float:
    if divergence < 0:
        raise ValueError(f"a divergence is never negative, got {divergence!r}")
    return divergence
