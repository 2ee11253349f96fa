"""The trade-off function that Renyi bounds of several orders imply ([AFA] Appendix F.1): a search, and a proof of its result.

notation: a the type I error of a test, b its type II error, so that Q(S) = a and P(S) = 1 - b; the bound of order 1 + z says

    G_z(b) = (1-b)^{1+z} a^{-z} + b^{1+z} (1-a)^{-z} <= e^{K(z)}     (>= for z within [-1, 0]).

G_z is convex in b with minimum 1 (concave with maximum 1 for z within [-1, 0]) at b = 1 - a, the test that ignores the data.
If some b < 1 - a violates the bound of one order, so does every smaller b. The curve is the maximum over all orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.classical.interval_arithmetic import exact, intervals
from logphi.classical.joint_conversion import MARGINS, ROUNDS, first_limits, limits_between
from logphi.classical.joint_range import Limits, Points
from logphi.classical.renyi_curve import RenyiCurve

# derived: e^-700 is within the normal doubles; smaller type II errors count as this one
_DEEPEST = 700.0
# measured: halvings after which the ends of any interval of logarithms are neighbours among the doubles
_HALVINGS = 64
# measured: the number of times that the orders are moved outward; the smallest relevant losses need orders of 1e12
_MOVES = 9
# measured: the factor of each move
_MOVED = 25.0


@dataclass(frozen=True)
class ImpliedError:
    """A lower bound of the type II error of every test, with the order that proves it."""

    type_two_error: float
    order: float


def implied_error(curve: RenyiCurve, alpha: float) -> ImpliedError | None:
    """The largest type II error at ``alpha``, in [0, 1), that an order of the curve proves; None if there is none."""
    alpha, none = max(alpha, math.ulp(0.0)), alpha == 0
    limits = _limits_around_best(curve, alpha)
    if none and (limits.z > 0).any():
        # events of Q-probability zero have P-probability zero
        return ImpliedError(1.0, 1 + float(limits.z.max()))
    if not limits.z.size:
        return None
    log_errors = _log_errors(limits, alpha)
    for _ in range(0 if curve.orders is not None else ROUNDS):
        limits = limits.joined(limits_between(curve, limits, (int(np.argmax(log_errors)),), alone=False))
        log_errors = _log_errors(limits, alpha)
    row = int(np.argmax(log_errors))
    if log_errors[row] == -math.inf:
        return None
    z, k = float(limits.z[row]), float(limits.k[row])
    for margin in MARGINS:
        beta = math.exp(log_errors[row]) * (1 - margin)
        if _excluded(z, k, alpha, beta):
            return ImpliedError(beta, 1 + z)
    return None


def _limits_around_best(curve: RenyiCurve, alpha: float) -> Limits:
    """Orders on both sides of the best one, if a few enlargements of their range suffice."""
    centre = min(1.0, curve.reach[1] / 2)
    limits = first_limits(curve, centre, alone=False)
    for _ in range(0 if curve.orders is not None else _MOVES):
        row = int(np.argmax(_log_errors(limits, alpha))) if limits.z.size else 0
        if 0 < row < limits.z.size - 1 or not limits.z.size:
            break
        centre *= _MOVED
        limits = limits.joined(first_limits(curve, centre, alone=False))
    return limits


def _log_errors(limits: Limits, alpha: float) -> Points:
    """The logarithm of the smallest b that each bound allows, to some digits; minus infinity if it allows every b."""
    low, high = np.full(limits.z.size, -_DEEPEST), np.full(limits.z.size, math.log1p(-alpha))
    reached = ~_misses(limits, alpha, low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        missed = _misses(limits, alpha, middle)
        low, high = np.where(missed, middle, low), np.where(missed, high, middle)
    return np.where(reached, -math.inf, low)


def _misses(limits: Limits, alpha: float, log_beta: Points) -> NDArray[np.bool_]:
    """Whether G_z violates its bound, at one b for each z."""
    z = limits.z
    with np.errstate(divide="ignore"):  # an error that rounds to one: the search goes on below it
        log_power = np.log1p(-np.exp(log_beta))
    size = np.logaddexp((1 + z) * log_power - z * math.log(alpha), (1 + z) * log_beta - z * math.log1p(-alpha))
    wrong: NDArray[np.bool_] = np.where((z > 0) | (z < -1), size > limits.k, size < limits.k)
    return wrong


def _excluded(z: float, k: float, alpha: float, beta: float) -> bool:
    """Whether the bound of one order is proved to exclude b and every smaller one."""
    iv = intervals()
    order, a, b = 1 + exact(z), exact(alpha), exact(beta)
    if not (beta > 0 and (b - (1 - a)).b <= 0):
        return False
    size = iv.exp(order * iv.log(1 - b) - exact(z) * iv.log(a)) + iv.exp(order * iv.log(b) - exact(z) * iv.log(1 - a))
    bound = iv.exp(exact(k))
    return bool(size.a > bound.b) if z > 0 or z < -1 else bool(size.b < bound.a)
