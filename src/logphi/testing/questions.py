"""Checks of other questions against the profile: distribution, divergences, trade-off function."""

from __future__ import annotations

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound, Bounds, single
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.engine.directions import directions_under
from logphi.questions.loss import LossDistribution
from logphi.testing.probes import ROUNDING, profile_of, profile_tolerance, require, thresholds_of

# chosen: type I errors, small and large
_ERRORS = np.array([0.02, 0.5, 0.9])
# measured: curves as wide as this show what narrower ones do, in half the time of 1e-9
_WIDTH = 1e-6
# chosen: orders on both sides of one
_ORDERS = np.array([0.2, 0.5, 0.8, 1.0, 1.3, 2.0, 4.0])


def check_distribution(mechanism: Mechanism) -> None:
    """P(L <= x) grows, its sum with P(L > x) is the finite mass, and the slopes of the profile's chords agree with Q(L > x)."""
    at, room = thresholds_of(mechanism.loss_law()), profile_tolerance(mechanism.loss_law()) + ROUNDING
    for direction, own, other in _orders(mechanism):
        here = f"in direction {direction.value!r}"
        down, up = _ends(own.sf(at)), _ends(own.cdf(at))
        finite = 1 - own.infinite_mass.upper, 1 - own.infinite_mass.lower
        require(up[0][:-1] <= up[1][1:] + room, f"P(L <= x) falls {here}", x=at[1:], lower=up[0][1:])
        agree = (down[0] + up[0] <= finite[1] + room) & (down[1] + up[1] >= finite[0] - room)
        require(agree, f"P(L <= x) + P(L > x) is not the finite mass {here}", x=at, below=up[0], above=down[0])
        # delta(x) - delta(y) is the integral of Q(L > t) d(e^t) over [x, y]
        low, high = profile_of(mechanism.loss_law(), at, direction)
        tilted = _ends(other.cdf(-at))
        lengths, slack = np.diff(np.exp(at)), room * (1 + np.exp(at[1:]))
        require(lengths * tilted[0][1:] <= high[:-1] - low[1:] + slack, f"delta falls too slowly for Q(L > x) {here}", x=at[1:])
        require(lengths * tilted[1][:-1] >= low[:-1] - high[1:] - slack, f"delta falls too fast for Q(L > x) {here}", x=at[1:])


def check_orders(mechanism: Mechanism) -> None:
    """D_a grows with a, D_1/2 is the same in both directions, and Markov's inequality P(L >= x) <= e^{(a-1)(D_a - x)} holds."""
    at, room = thresholds_of(mechanism.loss_law()), profile_tolerance(mechanism.loss_law()) + ROUNDING
    halves = []
    for direction, own, _ in _orders(mechanism):
        here = f"in direction {direction.value!r}"
        found = [single(mechanism.renyi(float(a), direction=direction)) for a in _ORDERS]
        lower, upper = (np.array([getattr(one, end) for one in found]) for end in ("lower", "upper"))
        grows = lower[:-1] <= upper[1:] * (1 + room) + room
        require(grows, f"D_a falls {here}", order=_ORDERS[1:], lower=lower[:-1], upper=upper[1:])
        halves.append(found[1])
        exceeded = _ends(own.sf(at))[0]
        for a, most in zip(_ORDERS[_ORDERS > 1], upper[_ORDERS > 1], strict=True):
            ceiling = np.exp(np.minimum((a - 1) * (most - at), 700.0))
            require(exceeded <= ceiling * (1 + room) + room, f"P(L > x) is above e^((a-1)(D_a - x)) for a = {a} {here}", x=at)
    if len(halves) == 2:
        one, two = halves
        agree = one.lower <= two.upper * (1 + room) + room and two.lower <= one.upper * (1 + room) + room
        require(agree, f"D_1/2 is {one} in one direction and {two} in the other")


def check_tradeoff(mechanism: Mechanism) -> None:
    """F is convex, at most 1 - alpha and at least every line 1 - delta(x) - e^x alpha, and ``inverse_tradeoff`` inverts it."""
    at, room = thresholds_of(mechanism.loss_law()), profile_tolerance(mechanism.loss_law()) + ROUNDING
    rtol = max(room, _WIDTH)
    for direction in directions_under(mechanism.adjacency):
        here = f"in direction {direction.value!r}"
        lower, upper = _ends(mechanism.tradeoff(_ERRORS, direction=direction, rtol=rtol))
        require(lower <= 1 - _ERRORS + room, f"f(alpha) is above 1 - alpha {here}", alpha=_ERRORS, lower=lower)
        middle = (upper[:-2] * np.diff(_ERRORS)[1:] + upper[2:] * np.diff(_ERRORS)[:-1]) / (_ERRORS[2:] - _ERRORS[:-2])
        require(lower[1:-1] <= middle + room, f"f is not convex {here}", alpha=_ERRORS[1:-1], lower=lower[1:-1])
        lines = 1 - profile_of(mechanism.loss_law(), at, direction)[1] - np.exp(at) * _ERRORS[:, None]
        below = lines <= upper[:, None] + room * (1 + np.exp(at))
        require(below, f"1 - delta(x) - e^x alpha is above f(alpha) {here}", alpha=_ERRORS[:, None] + 0 * at, x=at + 0 * lines)
        low, high = float(lower[1]), float(upper[1])
        ends = min(high * (1 + room), 1.0), max(low * (1 - room), 0.0)
        least, most = (single(mechanism.inverse_tradeoff(end, direction=direction, rtol=rtol)) for end in ends)
        alpha, slack = _ERRORS[1], room * 2
        agree = least.lower <= alpha + slack and (low <= room or alpha <= most.upper + slack)
        require(agree, f"f({alpha}) is {low} to {high} {here}, but the inverse at its ends is {least} and {most}")


def _orders(mechanism: Mechanism) -> list[tuple[Direction, LossDistribution, LossDistribution]]:
    """The directions of the relation, each with its loss and that of the other direction."""
    both = [
        (Direction.REMOVE, mechanism.loss, mechanism.dual_loss),
        (Direction.ADD, mechanism.dual_loss, mechanism.loss),
    ]
    asked = directions_under(mechanism.adjacency)
    return [one for one in both if one[0] in asked]


def _ends(answers: Bound | Bounds) -> tuple[Array, Array]:
    return np.asarray(answers.lower), np.asarray(answers.upper)
