"""The excess of a composition by whichever way is open to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from logphi.checker import contour, sums, twofold, wedge
from logphi.checker.balls import Undecided, ball, precision
from logphi.checker.cells import Cells, common_span
from logphi.checker.closed import Flat, Normal
from logphi.checker.sweep import Work


def delta(terms: Sequence[tuple[Any, int]], epsilons: Sequence[Fraction], goal: float, work: Work) -> list[Any]:
    """The privacy profile at neighbouring epsilons, with errors of about e^``goal``."""
    excesses = _excess(terms, epsilons, goal, work)
    with precision(int(-goal / math.log(2)) + 64):
        return [contour.missing(terms) + excess for excess in excesses]


def _excess(terms: Sequence[tuple[Any, int]], epsilons: Sequence[Fraction], goal: float, work: Work) -> list[Any]:
    """D, by the first way that is open: they differ in what they can do and how long it takes, never in what they say."""
    with precision(int(-goal / math.log(2)) + 64):
        most = _largest(terms)
        if most is not None and all(ball(epsilon) > most for epsilon in epsilons):
            return [arb(0) for _ in epsilons]
        if [count for _, count in terms] == [1]:
            alone = [terms[0][0].alone(ball(epsilon)) for epsilon in epsilons]
            if None not in alone:
                return alone
    refusal = Undecided()
    for way in _ways(terms):
        try:
            return way(epsilons, goal, work)
        except Undecided as why:  # noqa: PERF203
            refusal = why
        except (ArithmeticError, ValueError):
            refusal = Undecided("its numbers are beyond what this checker computes with")
    raise refusal


def _largest(terms: Sequence[tuple[Any, int]]) -> Any:
    """The largest loss, where all are finitely many or flat; None where there is none, or some are not listed."""
    total = arb(0)
    for law, count in terms:
        if isinstance(law, Flat):
            total += count * law.width()
        elif isinstance(law, Cells) and law.beyond().is_zero():
            losses = law.losses()
            largest = losses[0]
            for loss in losses[1:]:
                largest = largest.max(loss)
            total += count * largest
        else:
            return None
    return total


def _ways(terms: Sequence[tuple[Any, int]]) -> Iterator[Callable[..., list[Any]]]:
    """What may be tried, the best first."""
    lattice = lattice_of(terms)
    if lattice is not None:
        yield partial(contour.enclose, terms, lattice=lattice)
    smooth = [(law, count) for law, count in terms if not hasattr(law, "listed")]
    if all(isinstance(law, Flat) for law, _ in smooth):
        yield partial(sums.enclose, terms)
    if wedge.applies(terms):
        yield partial(wedge.enclose, terms)
    if twofold.applies(terms):
        yield partial(twofold.enclose, terms)
    if [count for _, count in smooth] == [1] and not isinstance(smooth[0][0], Normal):
        yield partial(sums.beside, smooth[0][0], [term for term in terms if term not in smooth])
    yield partial(contour.enclose, terms)


def lattice_of(terms: Sequence[tuple[Any, int]]) -> contour.Lattice | None:
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
