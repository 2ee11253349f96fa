"""Numbers of cells and nodes, as the goal needs or a share of the budget allows; and where in a cell losses move to."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.certified.witness.ranges import cells_of, loss_range, stated
from logphi.checker.allocation.allocated import FEWEST, even
from logphi.checker.arithmetic.balls import precision, resolving, rough
from logphi.checker.arithmetic.work import EXP, Undecided, left, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Cells
from logphi.checker.mechanisms.above import BITS, profile
from logphi.checker.methods import cells
from logphi.checker.text.reading import Proof

# chosen: the number of cells of one law in the first attempt
FIRST = 256
# chosen: later attempts use as many as the goal needs, or as this share of the budget allows: of cells, and of nodes, as both
# orders of an epoch need the same sums
OF_CELLS, OF_NODES = 0.3, 0.6
# chosen: three digits, in the units of the goal, by which the error of an answer may exceed the goal
ROOM = 3 * math.log(10)
# chosen: the number of heaviest cells whose place in their cell is tried as the share
HEAVY = 4
# chosen: the logarithm of the delta down to which a profile is followed, and the largest epsilon that is looked at
DEEPEST, FARTHEST = -44.0, 250.0
# derived: halvings of the range of epsilon
HALVINGS = 40
# measured: with these epsilon grows by less than a thousandth of it: cells of the narrowest law, and bounds for the widest
OF_NARROWEST, FEWEST_CELLS, MOST_CELLS = 80, 2000, 6000
# the values that a proof encloses
Evaluate = Callable[[Proof], list[Any]]


def by_cells(whole: Composition, evaluate: Evaluate, goal: float) -> Proof:
    """A proof with errors of about e^``goal``, or as small as a share of the budget allows."""
    bits = resolving(goal, cells.SPARE_BITS)
    return _refined(lambda number: in_cells(whole, bits, number), evaluate, goal, FIRST, OF_CELLS)


def in_cells(whole: Composition, bits: int, number: int) -> Proof:
    """A proof by so many cells of the leading law."""
    with precision(bits):
        _, others = cells.separated(whole.terms)
        width, places = cells_of(others, cells.goal_of(bits), number)
        step, bases, numbers = Fraction(width), *(list(map(Fraction, one)) for one in zip(*places, strict=True))
        laid = cells.lay(others, step, bases, numbers)
        shares = [_share(below, laid.step) for below, _, _ in laid.cut]
        return Proof("cells", bits, (step, *(one for triple in zip(bases, numbers, shares, strict=True) for one in triple)))


def of_profile(whole: Composition) -> tuple[Fraction, ...]:
    """For the hull of a composition the last epsilon of a point and, without a closed form, cells."""
    with precision(BITS):
        laid = list[Fraction]()
        try:
            bound = profile(whole, laid)
            bound(arb(1))
        except Undecided:
            terms = [(law.listed(), count) for law, count in whole.terms]
            ranges = [high - low for low, high in (loss_range(law, DEEPEST) for law, _ in terms) if high > low]
            wanted = OF_NARROWEST * max(ranges, default=0) / min(ranges, default=1)
            number = min(max(math.ceil(wanted), FEWEST_CELLS), MOST_CELLS)
            laid = stated(*cells_of(terms, DEEPEST, number))
            bound = profile(whole, laid)
        infinite, low, high = whole.infinite(), 0.0, FARTHEST
        spend(10 * EXP * HALVINGS)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if rough(bound(arb(middle)) - infinite) > math.exp(DEEPEST) else (low, middle)
        return Fraction(high), *laid


def by_nodes(evaluate: Evaluate, goal: float, first: int) -> Proof:
    """The same for one epoch of a random allocation."""
    bits = resolving(goal, cells.SPARE_BITS)
    return _refined(lambda size: Proof("nodes", bits, (Fraction(even(size)),)), evaluate, goal, first or FEWEST, OF_NODES)


def _refined(proof: Callable[[int], Proof], evaluate: Evaluate, goal: float, number: int, share: float) -> Proof:
    best, most = None, share * left()
    while True:
        before = left()
        try:
            tried = proof(number)
            found = evaluate(tried)
        except Undecided:
            if best is None:
                raise
            return best
        best = tried
        width = max(rough(one.rad().log()) if one.rad() > 0 else -math.inf for one in found)
        if width <= goal + ROOM:
            return best
        most -= before - left()
        # the errors fall as the square of the number, and the work grows a little faster than it
        factor = min(1.2 * math.exp(min((width - goal - ROOM) / 2, 5)), most / (1.3 * (before - left())))
        if factor < 1.5:
            return best
        number = int(number * factor)


def _share(cut: Cells, step: Any) -> Fraction:
    """The share that changes the losses least, from the heavy cells or for smooth densities."""
    places = [
        (rough(((p / q).log() - t) / step), rough(p)) if p > 0 and q > 0 else (0.0, 0.0)
        for p, q, t in zip(cut.p, cut.q, cut.points, strict=False)
    ]
    width = rough(step)

    def moved(share: float) -> float:
        """The mean by which losses fall, in steps: down to the target from above; from below, by the variance or a step."""
        lost = 0.0
        for (place, mass), (_, more) in zip(places, [*places[1:], (0.0, 0.0)], strict=True):
            if place >= share:
                lost += mass * (place - share)
            else:
                lost += mass * ((share - place) * width if mass * (share - place) < more else 1 - share + place)
        return lost

    room, smooth = width * sum(mass for _, mass in places), 0.0
    for place, mass in sorted(places, reverse=True):
        room -= mass
        if room < 0:
            smooth = place
            break
    heavy = [place * (1 - 1e-9) for place, _ in sorted(places, key=lambda one: -one[1])[:HEAVY]]
    return Fraction(min(max(min([smooth, *heavy], key=moved), 0.0), 1.0))
