"""The privacy profile of a composition, by the first method that succeeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.allocation import allocated
from logphi.checker.arithmetic.balls import ball, precision, resolving
from logphi.checker.arithmetic.work import OUT_OF_RANGE, Undecided
from logphi.checker.laws.composition import Composition
from logphi.checker.mechanisms.above import apart
from logphi.checker.methods import cells, contour, declared, normal_pair, residues, two_releases


def delta(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """The privacy profile at neighbouring epsilons, with errors of about e^``goal``."""
    if declared.applies(whole):
        with suppress(Undecided):
            return declared.enclose(whole, epsilons, goal)
        # beside infinite losses, which have no divergences
        whole = apart(whole)
    excesses = _excess(whole, epsilons, goal)
    with precision(resolving(goal)):
        return [whole.infinite() + excess for excess in excesses]


def _excess(whole: Composition, epsilons: Sequence[Fraction], goal: float) -> list[Any]:
    """D, by the first method that succeeds; all methods enclose the same number."""
    with precision(resolving(goal)):
        most = whole.largest()
        if most is not None and all(ball(epsilon) > most for epsilon in epsilons):
            return [arb(0) for _ in epsilons]
        if whole.alone is not None:
            with suppress(Undecided):
                return [whole.alone.single_excess(ball(epsilon)) for epsilon in epsilons]
    refusal = Undecided()
    for way in _ways(whole):
        try:
            return way(whole, epsilons, goal)
        except Undecided as why:  # noqa: PERF203
            refusal = why
        except (ArithmeticError, ValueError):
            refusal = Undecided(OUT_OF_RANGE)
    raise refusal


def _ways(whole: Composition) -> Iterator[Callable[[Composition, Sequence[Fraction], float], list[Any]]]:
    """The methods that apply, fast ones first."""
    if allocated.applies(whole):
        yield allocated.enclose
    if whole.lattice() is not None:
        yield contour.enclose_on_lattice
    for way in (residues, normal_pair, two_releases):
        if way.applies(whole):
            yield way.enclose
    if residues.applies_but_for_one(whole):
        yield residues.averaged_over_atoms
    yield contour.enclose
    yield cells.enclose
