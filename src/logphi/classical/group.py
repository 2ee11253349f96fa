"""Group privacy: guarantees for several records from one for a single record, and for replacement from one for add/remove.

A replacement is a removal and an addition, so that it is a group of two ([S22] section 6.2), the default ``size``. Conversely,
where the mechanism has a null record, a removal is a replacement by it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.classical.composition import Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import Divergence, DivergenceCurve, between_orders, divergence_at
from logphi.classical.interval_arithmetic import Interval, decimal, exact, intervals, up
from logphi.inputs import check

# measured: the unit of the shares of the steps; the bound is within 1e-4 of the best for pairs, 2% for sixty steps
_SHARES = 240
# chosen: the most records of a group, and the most steps that are given
LARGEST_GROUP = 60
# derived: this number times that many, and times the largest c(b) of an order b, is a double
_HUGE = 1e280


def group_guarantee(guarantee: Guarantee, size: int = 2) -> Guarantee:
    """(k eps, (1 + e^eps + ... + e^{(k-1) eps}) delta) for groups of k records, with the same number of releases.

    Raises
    ------
    ValueError, TypeError
        If the size is not an integer of one or more.

    References
    ----------
    Dwork & Roth 2014, Theorem 2.2; [S22] section 6.2 for k = 2: (2 eps, (1 + e^eps) delta).

    Examples
    --------
    >>> group_guarantee(Guarantee(1.0, 0.25))
    Guarantee(epsilon=2.0, delta=0.9295704571147615, count=1)
    """
    k = check.whole("size", size, 1, 10**9)
    eps, delta = decimal(float(guarantee.epsilon)), decimal(float(guarantee.delta))
    iv = intervals()
    if k == 1:
        return guarantee
    grown = iv.exp(eps) - 1
    # for e^eps near one, k e^{(k-1) eps} is close to the sum
    times = (iv.exp(k * eps) - 1) / grown if grown.a > 1e-20 else k * iv.exp((k - 1) * eps)
    return Guarantee(up(k * eps), min(1.0, up(times * delta)), guarantee.count)


def group_concentrated(budget: Concentrated, size: int = 2) -> Concentrated:
    """The budget k^2 rho for groups of k records.

    It is Lemma 33.7 of [S22], (sqrt(rho_1) + sqrt(rho_2))^2 at its best free parameter, applied one record at a time.

    Raises
    ------
    ValueError
        If xi or the infinite mass is not zero, or the budget is that of one direction of the pair: the steps to a group add
        records and remove records.

    Examples
    --------
    >>> group_concentrated(Concentrated(0.1), 3).rho
    0.9000000000000001
    """
    k = check.whole("size", size, 1, 10**9)
    if budget.xi or budget.infinite_mass or budget.tilt or not budget.both:
        raise ValueError(f"group privacy is for budgets of both directions with xi = 0 and no infinite losses, got {budget!r}")
    return replace(budget, rho=up(exact(float(k)) ** 2 * exact(float(budget.rho))))


def group_curve(divergence: Divergence | DivergenceCurve, size: int = 2) -> DivergenceCurve:
    """The divergences of groups of k records, from those of one; see :func:`triangle`.

    Parameters
    ----------
    divergence
        A curve of both directions, or a function from an order to a bound for both, in nats.
    size
        The number of records, from 1 to 60.

    Examples
    --------
    >>> round(group_curve(lambda order: order / 2).divergence(5.0), 3)
    10.0
    """
    curve = divergence if isinstance(divergence, DivergenceCurve) else DivergenceCurve(divergence)
    if not curve.both:
        raise ValueError("group privacy needs a curve of both directions: the steps to a group add records and remove records")
    return triangle(*[curve] * check.whole("size", size, 1, LARGEST_GROUP))


def triangle(*steps: DivergenceCurve) -> DivergenceCurve:
    """D_a(P_0||P_k) from the steps D(P_0||P_1), ..., D(P_{k-1}||P_k), at nearly the best orders of the steps.

    With c(b) = b/(b-1), and for all orders b_1, ..., b_k > 1 whose c(b_j) have the product c(a),

        D_a(P_0||P_k) <= sum over j of c(b_{j+1}) ... c(b_k) D_{b_j}(P_{j-1}||P_j).

    For k = 2 that is Lemma 33.7 of [S22] with a' = b_2: there b_1 = a (a'-1)/(a'-a), and c(b_1) c(a') = c(a). For more steps
    the lemma is applied repeatedly, with all later steps as its second step. Any such orders prove a bound: each log c(b_j) is
    a multiple of log c(a) / 240, the best multiples are found by dynamic programming, and the order of the first step is
    rounded up, which only loosens the bound.

    Curves that are known at finitely many orders are interpolated by ``divergence_curve.between_orders``. Curves
    of both directions of their pairs bound D_a(P_k||P_0) too.

    Raises
    ------
    ValueError
        If there are no steps or more than 60, or there is no order above 1 at which all of them are bounded.

    Examples
    --------
    >>> near, far = DivergenceCurve(lambda order: 0.1 * order), DivergenceCurve(lambda order: 0.4 * order)
    >>> round(triangle(near, far).divergence(3.0), 3)
    2.7
    """
    if not 1 <= len(steps) <= LARGEST_GROUP:
        raise ValueError(f"the number of steps must be between 1 and {LARGEST_GROUP}, got {len(steps)}")
    filled = {step: step if step.only is None else between_orders(step) for step in steps}
    steps = tuple(filled[step] for step in steps)
    tops = [step.interval[1] for step in steps]
    # c(a) must exceed the product of c at the largest orders
    least = math.prod(top / (top - 1) if math.isfinite(top) else 1.0 for top in tops)
    last = 1 / (1 - 1 / least) if least > 1 else math.inf
    both = all(step.both for step in steps)

    def at(order: float) -> float:
        if not 1 < order < last:
            return math.inf
        return max(_chained(way, order) for way in ((steps, steps[::-1]) if both and len(set(steps)) > 1 else (steps,)))

    return DivergenceCurve(at, (1.0, last), both=both)


def _chained(steps: tuple[DivergenceCurve, ...], order: float) -> float:
    if len(steps) == 1:
        return _known(steps[0], order)
    shares = _best_shares(steps, order)
    a = exact(order)
    total, rest = exact(0.0), exact(1.0)
    for step, share in zip(steps[:0:-1], shares[:0:-1], strict=True):
        b = _at_share(order, share)
        total, rest = total + rest * exact(_known(step, b)), rest * _conjugate(exact(b))
        if not math.isfinite(up(total)):
            return math.inf
    # the first order takes the remaining factor of c(a)
    left = a / (a - 1) / rest
    if not left.a > 1:
        return math.inf
    own = _known(steps[0], up(left / (left - 1)))
    return up(total + rest * exact(own)) if math.isfinite(own) else math.inf


def _best_shares(steps: tuple[DivergenceCurve, ...], order: float) -> list[int]:
    """The share of log c(a) for each step, in units, by dynamic programming from the last step to the first."""
    unit = math.log1p(1 / (order - 1)) / _SHARES
    each = np.arange(1, _SHARES)
    tables = {step: np.array([min(_known(step, _at_share(order, int(m))), _HUGE) for m in each]) for step in set(steps)}
    cost = np.full(_SHARES + 1, np.inf)
    cost[each] = tables[steps[-1]]
    # the share that is left for later steps: a row for each total, a column for each share of this step
    behind = np.arange(_SHARES + 1)[:, None] - each
    grown = np.exp(unit * np.maximum(behind, 0))
    choices = []
    for step in steps[-2::-1]:
        total = np.where(behind > 0, cost[behind] + grown * tables[step], np.inf)
        choices.append(each[np.argmin(total, axis=1)])
        cost = total.min(axis=1)
    left, shares = _SHARES, []
    for choice in choices[::-1]:
        shares.append(int(choice[left]))
        left -= shares[-1]
    return [*shares, left]


def _at_share(order: float, share: int) -> float:
    """The order b whose log c(b) is this many units of log c(a)."""
    return 1 / -math.expm1(-share / _SHARES * math.log1p(1 / (order - 1)))


def _conjugate(b: Interval) -> Interval:
    return b / (b - 1)


def _known(step: DivergenceCurve, order: float) -> float:
    """A bound at an order; infinite where nothing is guaranteed."""
    if not step.interval[0] < order < step.interval[1]:
        return math.inf
    return divergence_at(step.divergence, order)
