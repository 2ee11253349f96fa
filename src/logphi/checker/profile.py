"""The excess of a composition by whichever way is open to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker import contour, sums
from logphi.checker.balls import Undecided, ball, precision
from logphi.checker.cells import common_span
from logphi.checker.closed import Flat
from logphi.checker.sweep import Work


def delta(terms: Sequence[tuple[Any, int]], epsilons: Sequence[Fraction], goal: float, work: Work) -> list[Any]:
    """The privacy profile at neighbouring epsilons, with errors of about e^``goal``."""
    excesses = _excess(terms, epsilons, goal, work)
    with precision(int(-goal / math.log(2)) + 64):
        return [contour.missing(terms) + excess for excess in excesses]


def _excess(terms: Sequence[tuple[Any, int]], epsilons: Sequence[Fraction], goal: float, work: Work) -> list[Any]:
    if [count for _, count in terms] == [1]:
        with precision(int(-goal / math.log(2)) + 64):
            alone = [terms[0][0].alone(ball(epsilon)) for epsilon in epsilons]
        if None not in alone:
            return alone
    lattice = _lattice(terms)
    if lattice is not None:
        try:
            return contour.enclose(terms, epsilons, goal, work, lattice)
        except Undecided:
            return sums.enclose(terms, epsilons, goal, work)
    if all(isinstance(law, Flat) or hasattr(law, "listed") for law, _ in terms):
        try:
            return sums.enclose(terms, epsilons, goal, work)
        except Undecided:
            return contour.enclose(terms, epsilons, goal, work)
    return contour.enclose(terms, epsilons, goal, work)


def _lattice(terms: Sequence[tuple[Any, int]]) -> contour.Lattice | None:
    """On which the losses of all terms lie together, if there is one."""
    ladders = [(law.ladder, count) for law, count in terms if getattr(law, "ladder", None) is not None]
    if not terms or len(ladders) < len(terms) or len({ladder.key for ladder, _ in ladders}) > 1:
        return None
    unit, span = ladders[0][0].unit, common_span([ladder.span() for ladder, _ in ladders])
    if not span:
        return None
    return contour.Lattice(
        lambda: sum((count * (one.base() + one.unit() * ball(one.steps[0])) for one, count in ladders), arb(0)),
        lambda: abs(unit() * ball(span)),
    )
