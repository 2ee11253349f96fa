"""Certified answers: delta at an epsilon and epsilon at a delta, as decimals that enclose the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb

from logphi.answers.status import Direction
from logphi.arith.ball import precision
from logphi.certified.decimals import enclosing
from logphi.certified.laws.registry import in_balls
from logphi.certified.profile import infinite_mass, prepare
from logphi.certified.reals import ball, rational
from logphi.certified.route import Demand, NotCertifiedError, NotThisRouteError, Shown, unseen
from logphi.engine.directions import Loss, direction_of
from logphi.laws.log_phi import LogPhi
from logphi.questions.epsilon import epsilon

# derived: digits besides the claimed ones: two more are written, and the balls must resolve a unit of the last one
_SPARE = 5
# chosen: the precision for the quantities that determine the precision of the answer
_BITS = 64
# chosen: doublings of the precision before a question counts as undecidable
_ATTEMPTS = 6
# chosen: relative tolerance of the epsilon in doubles from which the search starts
_ROUGH = 1e-4
# measured: the secant method converges in fewer steps
_SECANTS = 50
# chosen: below this epsilon, the steps of the search no longer shrink with it
_LEAST = 1e-3


@dataclass(frozen=True)
class Answer:
    """``lower`` and ``upper`` as decimals, each at least a unit of its last place away from the truth, unless exact.

    ``attained`` is the order that attains the maximum, or ``"both"``.
    """

    lower: str
    upper: str
    attained: str


class _TooWideError(Exception):
    """The balls are too wide to decide."""


def certify(
    loss: Loss, *, quantity: str, at: Fraction, direction: Direction | str | None, digits: int, shown: Shown = unseen
) -> Answer:
    """``"delta"`` at an epsilon or ``"epsilon"`` at a delta; ``upper - lower`` is at most 10^-digits times the upper end.

    ``shown`` wraps long loops.

    Raises
    ------
    NotCertifiedError
        If the loss cannot be certified, or there is no finite answer.
    """
    try:
        with precision(_BITS):  # the lock of FLINT is held until the answer is there
            return _certify(loss, quantity, at, direction, digits, shown)
    except (NotThisRouteError, NotImplementedError) as reason:
        raise NotCertifiedError(str(reason)) from None


def _certify(loss: Loss, quantity: str, at: Fraction, direction: Direction | str | None, digits: int, shown: Shown) -> Answer:
    orders = loss.orders(direction)
    if loss.remove.empty:
        raise NotCertifiedError(
            "the loss is always infinite: delta is 1 at every epsilon and no epsilon is finite, which needs no proof"
        )
    if any(law.traits.symmetric and not in_balls(law).symmetric for law, _ in loss.remove.terms):
        raise NotCertifiedError(
            "the two orders of a loss agree in doubles but not exactly, so that doubles do not show which one is worse; write "
            "parameters that differ by more than the rounding of doubles"
        )
    for _, part in orders:
        # a law that is not known in balls is refused before anything is computed
        infinite_mass(part)
    count = max((count for part in orders for _, count in part[1].terms), default=1)
    bits = math.ceil((digits + _SPARE) * math.log2(10)) + count.bit_length() + 24
    for attempt in range(1, _ATTEMPTS + 1):
        # the line of nodes must allow more digits too, because the estimates that chose it may have been too small
        demand = Demand(digits + attempt * _SPARE, shown=shown)
        with precision(bits), suppress(_TooWideError):
            if quantity == "delta":
                return _delta(orders, at, digits, demand)
            return _epsilon(loss, orders, at, direction, digits, demand)
        bits += bits // 2
    raise NotCertifiedError(
        f"the answer could not be decided with {bits} bits: it may lie exactly at a step of the profile; ask at a point nearby"
    )


Orders = list[tuple[Direction, LogPhi]]


def _delta(orders: Orders, at: Fraction, digits: int, demand: Demand) -> Answer:
    place = ball(at)
    found: dict[Direction, Any] = {}
    for one, part in orders:
        # an order that cannot attain the maximum is not computed
        level = worst(found)[0].lower() if found else 0
        found[one] = prepare(part, place, replace(demand, level=level)).delta(place)
    largest, attained = worst(found)
    if not largest.is_finite():
        raise _TooWideError
    lowest = max(rational(largest.lower()), Fraction(0))
    lower, upper = enclosing(lowest, min(rational(largest.upper()), Fraction(1)), digits + 2)
    if Fraction(upper) - Fraction(lower) > Fraction(upper) / 10**digits:
        raise _TooWideError
    return Answer(lower, upper, attained.value)


def _epsilon(
    loss: Loss, orders: Orders, at: Fraction, direction: Direction | str | None, digits: int, demand: Demand
) -> Answer:
    order = None if direction is None else direction_of(direction)
    level, guess = ball(at), epsilon(loss, float(at), direction=order, rtol=_ROUGH)
    if not math.isfinite(guess.value):
        raise NotCertifiedError(
            "no finite epsilon has this delta, or none is known: the probability of an infinite loss is too large; ask for a "
            "larger delta"
        )
    # an order that cannot attain the maximum is not computed
    settled = len(orders) > 1 and guess.lower > 0 and guess.direction is not Direction.BOTH
    below = replace(demand, level=level)
    profiles = {
        one: prepare(part, arb(guess.value), below if settled and one is not guess.direction else demand)
        for one, part in orders
    }

    order = next((one for one in profiles if one is guess.direction), next(iter(profiles)))
    if guess.lower <= 0 and all(own.delta(arb(0)) <= level for own in profiles.values()):
        return Answer("0", "0", order.value)
    for _ in profiles:
        root = rational(_root(profiles[order].delta, level, guess.value, digits, demand.shown))
        lower, upper = enclosing(max(root, Fraction(0)), max(root, Fraction(0)), digits + 2)
        above = {one: own.delta(ball(Fraction(upper))) for one, own in profiles.items()}
        higher = [one for one, value in above.items() if value > level]
        if higher:
            # this order does not attain the maximum
            order = higher[0]
            continue
        proved = all(value <= level for value in above.values())
        if not proved or not (Fraction(lower) == 0 or profiles[order].delta(ball(Fraction(lower))) > level):
            raise _TooWideError
        return Answer(lower, upper, order.value)
    raise _TooWideError


def _root(profile: Callable[[Any], Any], level: Any, guess: float, digits: int, shown: Shown) -> Any:
    """An estimate of the crossing of a profile with a level; the caller proves a bracket around it."""
    near = arb(guess)
    unit = arb(10) ** (1 - digits - _SPARE)
    found = _secants(profile, level, near, unit, shown(range(_SECANTS), "secants", total=0))
    return _bisected(profile, level, near, unit) if found is None else found


def _secants(profile: Callable[[Any], Any], level: Any, near: Any, unit: Any, steps: Iterable[int]) -> Any:
    """The secant method for the logarithm of the profile; None if the profile is zero or the method does not converge."""
    far = near + abs(near).max(_LEAST) / 2**30
    here, there = (_height(profile(place), level) for place in (near, far))
    for _ in steps:
        if here is None or there is None or here == there:
            break
        near, far, there = (near - here * (near - far) / (here - there)).mid(), near, here
        here = _height(profile(near), level)
        if abs(near - far) <= abs(near) * unit:
            return near
    return None


def _height(value: Any, level: Any) -> Any:
    return (value / level).log().mid() if value > 0 else None


def _bisected(profile: Callable[[Any], Any], level: Any, guess: Any, unit: Any) -> Any:
    """Bisection from a bracket around a guess: slower, but safe at a kink and at the largest loss."""

    def above(place: Any) -> bool:
        value = profile(place)
        if value > level:
            return True
        if value <= level:
            return False
        raise _TooWideError

    width = abs(guess).max(_LEAST) / 2**40
    low = high = guess
    while not above(low):
        low, width = (guess - width).mid(), 2 * width
    while above(high):
        high, width = (guess + width).mid(), 2 * width
    while high - low > abs(high) * unit:
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if above(middle) else (low, middle)
    return high


def worst(found: Mapping[Direction, Any]) -> tuple[Any, Direction]:
    """The largest of the balls, and the order that certainly attains it, or both."""
    largest = reduce(lambda one, other: one.max(other), found.values())
    for one, value in found.items():
        if all(value > other for name, other in found.items() if name is not one):
            return largest, one
    return largest, Direction.BOTH
