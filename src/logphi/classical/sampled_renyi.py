"""Renyi divergences under Poisson sampling, from bounds of those of the base."""

from __future__ import annotations

import math
from collections.abc import Sequence

from logphi.answers.bound import Bound
from logphi.answers.status import Side
from logphi.classical.claim import Claim, at_most
from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import Divergence, DivergenceCurve
from logphi.classical.interval_arithmetic import decimal, down, exact, intervals, up
from logphi.inputs import check

_SHARP = "Steinke 2022, Theorems 34 and 35 (one order: Zhu & Wang 2019, Theorem 6)"


def sampled_divergence(divergences: Sequence[float | Bound | Claim], rate: float) -> Claim:
    """The divergence of order a on a Poisson sample, from those of the base of the integer orders 2 to a.

    For addition or removal of a record. With q the rate and eps(k) a bound of both D_k(P||Q) and D_k(Q||P), the divergence of
    either direction is at most

        1/(a-1) log( (1-q)^{a-1} (1 + (a-1) q) + sum over k = 2 .. a of C(a, k) (1-q)^{a-k} q^k e^{(k-1) eps(k)} ),

    which is the divergence of (1-q) Q + q P from Q where the eps(k) are those of P from Q ([S22] Theorem 34). The reversed
    order has no more ([S22] Theorem 35): with r = dP/dQ and w = 1 - q + q r, at every r > 0

        w^{1-a} <= l w^a + (1-l) r (1 - q + q/r)^a + m (r-1),     l = 3 (1-q) / (3 + 2 (a-2) q),

    both sides equal to second order at r = 1 for the right m. Right less left, m left out, is convex in r: its second
    derivative is a (a-1) q^2 w^{-a-1} times

        l w^{2a-1} + (1-l) (w/r)^3 (w (1 - q + q/r))^{a-2} - 1,     where w (1 - q + q/r) = 1 + q (1-q) (r-1)^2 / r >= 1,

    and 3 (1-q) w^v + v q ((1-q)/r + q)^3, v = 2a-1, is convex too and least at r = 1. Expectations under Q are that divergence
    on the left, and on the right a mean of the sum with the eps(k) of one order and with those of the other.

    Parameters
    ----------
    divergences
        Upper bounds of orders 2, 3, ..., a, in nats.
    rate
        The sampling rate, in [0, 1].

    Raises
    ------
    ValueError, TypeError
        If there is none, one is negative, or one is not a proved upper bound.

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
    """The guarantee of a Poisson sample at the integer orders 2 to ``largest``; see :func:`sampled_divergence`.

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
    """(log(1 + q (e^eps - 1)), q delta) for the sampled release, with the same number of releases.

    For Poisson samples of rate q and addition or removal of a record; or, with q the share of the records, for samples of a
    fixed size and replacement.

    References
    ----------
    Balle, Barthe & Gaboardi 2018, Theorem 8; [S22] Theorem 29.

    Examples
    --------
    >>> round(sampled_guarantee(Guarantee(1.0, 1e-5), 0.1).epsilon, 9)
    0.158565079
    """
    q = decimal(check.unit("rate", rate))
    grown = intervals().log(1 + q * (intervals().exp(decimal(float(guarantee.epsilon))) - 1))
    return Guarantee(max(0.0, up(grown)), min(1.0, up(q * decimal(float(guarantee.delta)))), guarantee.count)


def sampled_concentrated(budget: Concentrated, rate: float) -> DivergenceCurve:
    """The bound 10 q^2 rho a for orders 1 < a < L, L = log(1/q) / (4 rho), for rho at most 1 and q at most 1/2.

    [S22] Theorem 38 also requires a < 1 + q^{-1/4}, and that both L and this number be at least 3 + 2 log(1/rho) / log(1/q).
    Neither is needed. For whole a <= L + 1 let S = E[e^{rho B(B-1)}], B ~ Bin(a, q): the sum of :func:`sampled_divergence`, so
    that (a-1) D_a <= log S for both directions. It is at most 7 q^2 rho a (a-1):

    * rho >= 1/10. S - 1 is the sum of T_k = C(a, k) q^k (e^{rho k(k-1)} - 1), k >= 2, at most. For k < a the quotient
      T_{k+1} / T_k is at most (a-k)/(k-1) q e^{2 rho k} <= (a-k)/(k-1) sqrt(q), as (1 - e^{-u})/u falls; thus
      S - 1 <= T_2 e^{(a-2) sqrt(q)}, where (a-2) sqrt(q) <= 1/(2e rho), as sqrt(q) log(1/q) <= 2/e. The factor of
      q^2 rho a (a-1) is (e^{2 rho} - 1)/(2 rho) e^{1/(2e rho)}, its logarithm convex in rho, 6.97 at 1/10 and 3.84 at 1.
    * rho < 1/10. From m to m + 1 trials S grows by the factor 1 + q E'[e^{2 rho B} - 1], E' the law of m trials X_i tilted by
      e^{rho B(B-1)}. There X_i is 1, given the others with sum A, with probability at most q e^{2 rho A}: at most sqrt(q), as
      m - 1 < L. So E'[e^{2 rho B} - 1] <= (e^{2 rho} - 1) E'[B e^{2 rho (B-1)}] <= (e^{2 rho} - 1) m q E'[e^{4 rho A}], and
      A is stochastically below Bin(m-1, sqrt(q)): E'[e^{4 rho A}] <= exp((m-1) sqrt(q) (e^{4 rho} - 1)) <= exp(0.91). The
      sum over m < a has the factor 2.8.

    (a-1) D_a is convex in a: between whole n >= 2 and n + 1 <= L + 1 it is below its chord, which exceeds 7 q^2 rho a (a-1) by
    an eighth of it at most. Orders up to 2 have at most D_2 <= q^2 (e^{2 rho} - 1) <= 6.4 q^2 rho.

    Raises
    ------
    ValueError
        If rho or the rate is outside this range, or no order is left.

    Examples
    --------
    >>> curve = sampled_concentrated(Concentrated(0.5), 0.05)
    >>> round(curve.interval[1], 6), round(curve.divergence(1.25), 9)
    (1.497866, 0.015625)
    """
    rho, q = float(budget.rho), check.unit("rate", rate)
    pure = budget.both and not (budget.xi or budget.infinite_mass or budget.tilt)
    if not pure or not 0 < rho <= 1 or not 0 < q <= 0.5:
        raise ValueError(
            "the analytic amplification is for rho in (0, 1] of both directions, xi = tilt = 0, no infinite losses and rates "
            f"in (0, 1/2], got {budget!r} and rate={rate!r}; use sampled_curve"
        )
    slope = 10 * decimal(q) ** 2 * exact(rho)
    last = down(-intervals().log(decimal(q)) / (4 * exact(rho)))
    if last <= 1:
        raise ValueError(f"no order above 1 is below log(1/rate) / (4 rho) = {last:.6g}; use sampled_curve")
    return DivergenceCurve(lambda order: up(slope * exact(order)) if 1 < order < last else math.inf, (1.0, last))
