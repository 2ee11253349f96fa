"""The budget of a verdict: work is counted before it is done, so that no text keeps the checker busy for long.

The unit is one multiplication of complex balls of few bits. The cost of a step is known before it begins, from sizes that the
text states or that follow from it; a step that does not fit is not begun.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import ctx

# chosen: about ten seconds, as a second holds ten million units
LARGEST_WORK = 10**8
# chosen: the largest precision
MOST_BITS = 50_000
# measured: units of work of an exponential or a logarithm
EXP = 6
# measured: units of work of a complex normal tail
TAIL = 130
# measured: units of work of a number that is stored
STORED = 20


# why overflows and the like end a proof
OUT_OF_RANGE = "its numbers are too large or too small for this checker"


class Undecided(ValueError):
    """The reason why the checker cannot show that the claim follows."""


def demand(holds: Any, why: str) -> None:
    """Raise an :class:`Undecided` with the reason unless something holds."""
    if not holds:
        raise Undecided(why)


def whole_number(value: Fraction, most: int) -> int:
    """A number of a proof that must be whole, and from 1 to the most."""
    demand(value.denominator == 1 and 1 <= value <= most, f"a number of its proof is not whole, or not from 1 to {most}")
    return int(value)


# the remaining units; set under the lock of FLINT, one verdict at a time
_left = [float("inf")]


@contextmanager
def budget(most: float) -> Iterator[None]:
    """Inside the block, at most ``most`` units may be spent."""
    before = _left[0]
    _left[0] = most
    try:
        yield
    finally:
        _left[0] = before


def spend(operations: float) -> None:
    """Count multiplications at the precision in force, before they are done; an :class:`Undecided` if they are too many."""
    cost = operations * _unit()
    if not cost <= _left[0]:
        raise Undecided("the claim needs more work than this checker does")
    _left[0] -= cost


def _unit() -> float:
    """What a multiplication costs at the precision in force."""
    return float(1 + (ctx.prec / 350) ** 1.5)


def evaluations(operations: float) -> int:
    """How often an integrand of so many multiplications may be computed: FLINT asks again where it raises an error."""
    return int(min(1000 * ctx.prec, _left[0] / (operations * _unit()))) + 1


def left() -> float:
    """The remaining units."""
    return _left[0]
