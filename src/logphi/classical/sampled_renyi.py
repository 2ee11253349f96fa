"""What Poisson sampling makes of Renyi divergences, known of the base by their bounds only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from logphi import check
from logphi.bound import Bound, Side
from logphi.classical.claim import Claim, at_most
from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.outward import decimal, exact, intervals, up
from logphi.classical.renyi_curve import Divergence, DivergenceCurve

_SHARP = "Zhu & Wang 2019, Theorem 6; Steinke 2022, section 6 (sharp Poisson amplification)"


def sampled_divergence(divergences: Sequence[float | Bound | Claim], rate: float) -> Claim:
    """The divergence of order a on a Poisson sample, from those of the base of the whole orders 2 to a.

    With q the rate and eps(k) a bound of both D_k(P||Q) and D_k(Q||P), the divergence of either order is at most

        1/(a-1) log( (1-q)^{a-1} (1 + (a-1) q) + sum over k = 2 .. a of C(a, k) (1-q)^{a-k} q^k e^{(k-1) eps(k)} ),

    which is the divergence of (1-q) Q + q P from Q where the eps(k) are those of P from Q. The reversed order has no more: with
    r = dP/dQ and w = 1 - q + q r, at every r > 0

        w^{1-a} <= l w^a + (1-l) r (1 - q + q/r)^a + m (r-1),     l = 3 (1-q) / (3 + 2 (a-2) q),

    both sides equal to third order at r = 1 for the right m; expectations under Q are that divergence on the left, and on the
    right a mean of the sum with the eps(k) of one order and with those of the other.

    Parameters
    ----------
    divergences
        Upper bounds of orders 2, 3, ..., a, in nats.
    rate
        The sampling rate, in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If there is none, one is negative, or one is no proved upper bound.

    Examples
    --------
    >>> round(float(sampled_divergence([1, 1.5, 2], 0.1)), 12)
    0.058672606960
    """
    known = [at_most(f"the divergence of order {order}", one) for order, one in enumerate(divergences, 2)]
    if not known or min(known) < 0:
        raise ValueError(f"divergences must be non-negative, of orders 2, 3, ..., got {divergences!r}")
    a, q = len(known) + 1, decimal(check.unit("rate", rate))
    if max(known) == math.inf:
        return Claim(math.inf if rate > 0 else 0.0, Side.UPPER, "sampled divergence", _SHARP)
    total = (1 - q) ** (a - 1) * (1 + (a - 1) * q)
    for k, own in enumerate(known, 2):
        total += math.comb(a, k) * (1 - q) ** (a - k) * q**k * intervals().exp((k - 1) * exact(own))
    return Claim(max(0.0, up(intervals().log(total) / (a - 1))), Side.UPPER, "sampled divergence", _SHARP)


def sampled_curve(divergence: Divergence, rate: float, largest: int = 64) -> DivergenceCurve:
    """The guarantee of a Poisson sample at the whole orders 2 to ``largest``; see :func:`sampled_divergence`.

    Examples
    --------
    >>> curve = sampled_curve(lambda order: order / 2, 0.01, 8)
    >>> round(curve.divergence(2.0), 9)
    0.000171813
    """
    whole = range(2, check.whole("largest", largest, 2, 1024) + 1)
    known = [at_most(f"the divergence of order {order}", divergence(float(order))) for order in whole]
    return DivergenceCurve.at(
        [float(order) for order in whole], [sampled_divergence(known[: order - 1], rate) for order in whole]
    )


def sampled_guarantee(guarantee: Guarantee, rate: float) -> Guarantee:
    """(log(1 + q (e^eps - 1)), q delta) for the sampled release, each as often as before.

    References
    ----------
    Balle, Barthe & Gaboardi 2018, Theorem 8.

    Examples
    --------
    >>> round(sampled_guarantee(Guarantee(1.0, 1e-5), 0.1).epsilon, 9)
    0.158565079
    """
    q = decimal(check.unit("rate", rate))
    grown = intervals().log(1 + q * (intervals().exp(decimal(float(guarantee.epsilon))) - 1))
    return Guarantee(max(0.0, up(grown)), min(1.0, up(q * decimal(float(guarantee.delta)))), guarantee.count)


def sampled_concentrated(budget: Concentrated, rate: float) -> DivergenceCurve:
    """The analytic form: at most 10 q^2 rho a for orders 1 < a <= log(1/q) / (4 rho), for rho at most 1 and q at most 1/2.

    A simplification of :func:`sampled_divergence` ([S22] section 6). Measured on a grid of rates down to 1e-100 and rho down
    to 1e-6, the sharp bound of a curve rho a is below 3.4 q^2 rho a at whole orders up to twice the last one here, and
    divergences grow with the order: 10 leaves ample room.

    Raises
    ------
    ValueError
        If rho or the rate is outside the range of the theorem, or no order is left.
    """
    rho, q = float(budget.rho), check.unit("rate", rate)
    if budget.xi or budget.infinite_mass or not budget.both or not 0 < rho <= 1 or not 0 < q <= 0.5:
        raise ValueError(
            "the analytic amplification is for rho in (0, 1] of both orders, xi = 0 and rates in (0, 1/2], "
            f"got {budget!r} and rate={rate!r}; use sampled_curve"
        )
    last = -math.log(q) / (4 * rho) * (1 - 1e-15)
    if last <= 1:
        raise ValueError(f"no order above 1 is below log(1/rate) / (4 rho) = {last:.6g}; use sampled_curve")
    return DivergenceCurve(lambda order: 10 * q * q * rho * order * (1 + 1e-15), (1.0, last))
