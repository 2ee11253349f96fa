"""The privacy profile of a composition, by the first method that succeeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from logphi.checker import allocated, bent_contour, cells, contour, declared, residues, two_releases
from logphi.checker.balls import ball, precision
from logphi.checker.law import Terms, common_span
from logphi.checker.work import Undecided


def delta(terms: Terms, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """The privacy profile at neighbouring epsilons, with errors of about e^``goal``."""
    if declared.applies(terms):
        return declared.enclose(terms, epsilons, goal)
    excesses = _excess(terms, epsilons, goal)
    with precision(int(-goal / math.log(2)) + 64):
        return [contour.infinite_mass(terms) + excess for excess in excesses]


def _excess(terms: Terms, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """D, by the first method that succeeds; all methods enclose the same number."""
    with precision(int(-goal / math.log(2)) + 64):
        most = _largest(terms)
        if most is not None and all(ball(epsilon) > most for epsilon in epsilons):
            return [arb(0) for _ in epsilons]
        if [count for _, count in terms] == [1]:
            with suppress(Undecided):
                return [terms[0][0].single_excess(ball(epsilon)) for epsilon in epsilons]
    refusal = Undecided()
    for way in _ways(terms):
        try:
            return way(epsilons, goal)
        except Undecided as why:  # noqa: PERF203
            refusal = why
        except (ArithmeticError, ValueError):
            refusal = Undecided("its numbers are too large or too small for this checker")
    raise refusal


def _largest(terms: Terms) -> Any:
    """The largest loss of the composition; None if it is unknown."""
    total = arb(0)
    for law, count in terms:
        largest = law.largest()
        if largest is None:
            return None
        total += count * largest
    return total


def _ways(terms: Terms) -> Iterator[Callable[..., list[Any]]]:
    """The methods that apply, fast ones first."""
    if allocated.applies(terms):
        yield partial(allocated.enclose, terms)
    lattice = lattice_of(terms)
    if lattice is not None:
        yield partial(contour.enclose, terms, lattice=lattice)
    if residues.applies(terms):
        yield partial(residues.enclose, terms)
    if bent_contour.applies(terms):
        yield partial(bent_contour.enclose, terms)
    if two_releases.applies(terms):
        yield partial(two_releases.enclose, terms)
    others = [(law, count) for law, count in terms if not law.atomic]
    if [count for _, count in others] == [1] and others[0][0].squared_shift is None:
        yield partial(residues.averaged_over_atoms, others[0][0], [(law, count) for law, count in terms if law.atomic])
    yield partial(contour.enclose, terms)
    yield partial(cells.enclose, terms)


def lattice_of(terms: Terms) -> contour.Lattice | None:
    """The lattice of the sum of all losses, if one is known."""
    spacings = [(lattice, count) for law, count in terms if (lattice := law.lattice()) is not None]
    if not terms or len(spacings) < len(terms) or len({spacing.key for spacing, _ in spacings}) > 1:
        return None
    unit, span = spacings[0][0].unit, common_span([spacing.span() for spacing, _ in spacings])
    if not span:
        return None
    return contour.Lattice(
        lambda: sum((count * (one.base() + one.unit() * ball(one.steps[0])) for one, count in spacings), arb(0)),
        lambda: abs(unit() * ball(span)),
    )
