"""One-sided claims: what a classical theorem proves about delta or epsilon, and what it accepts as a premise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from logphi.answers.approximation import Approximation
from logphi.answers.bound import Bound
from logphi.answers.decimals import plain
from logphi.answers.display import printed
from logphi.answers.enclosed import Enclosed
from logphi.answers.status import Side
from logphi.inputs import check
from logphi.text.written import exact


@dataclass(frozen=True, eq=False, repr=False)
class Claim(Enclosed):
    """A number that is proved to lie on one side of the truth.

    Comparisons are about the truth: for an upper bound, ``claim <= x`` is true if x is at least its value, and undecided
    otherwise. ``float``, ``round``, formats and ``numpy.asarray`` give the value; shorter forms are rounded away from the
    truth.

    Parameters
    ----------
    value
        The number, rounded away from the truth; infinite where the theorem promises nothing.
    side
        ``Side.UPPER`` if the truth is at most ``value``, ``Side.LOWER`` if it is at least that.
    name
        What the bound is called.
    source
        The theorem.
    note
        What the computation chose, as text: an order, a slack, a constant.
    proved
        False if an error that went into it is an estimate, as for losses that are known by samples only.

    Raises
    ------
    ArithmeticError
        If the value is NaN, which is an internal error.

    Examples
    --------
    >>> claim = Claim(0.25, Side.UPPER, "Mironov", "Mironov 2017, Proposition 3")
    >>> float(claim), str(claim)
    (0.25, 'at most 0.25 (Mironov)')
    """

    value: float
    side: Side
    name: str
    source: str
    note: str = ""
    proved: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        if math.isnan(self.value):
            raise ArithmeticError(f"internal error: the bound {self.name!r} is not a number; please report it")

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain data for JSON: infinities are ``"inf"`` and ``"-inf"``."""
        return {**vars(self), "value": plain(self.value), "side": self.side.value}

    def _ends(self) -> tuple[float, float]:
        return (-math.inf, self.value) if self.side is Side.UPPER else (self.value, math.inf)

    def _upward(self) -> bool:
        return self.side is Side.UPPER

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        given = {**vars(self), "side": self.side.value}
        for name, usual in (("note", ""), ("proved", True)):
            if given[name] == usual:
                del given[name]
        return f"Claim({', '.join(f'{name}={entry!r}' for name, entry in given.items())})"

    def __str__(self) -> str:
        word = "at most" if self.side is Side.UPPER else "at least"
        return f"{word} {printed(self.value, self.side)} ({self.name})"


def at_most(name: str, bound: Any) -> float:
    """A number that the quantity is proved not to exceed: a number given as such, or the upper end of a bound.

    Raises a TypeError if it is an approximation, an estimate or a lower bound, which prove no upper bound, and a ValueError if
    it is NaN.
    """
    return _end(name, bound, Side.UPPER)


def at_least(name: str, bound: Any) -> float:
    """A number that the quantity is proved to reach; see :func:`at_most`."""
    return _end(name, bound, Side.LOWER)


def _end(name: str, bound: Any, side: Side) -> float:
    if isinstance(bound, Approximation):
        raise TypeError(
            f"{name} must be a proved {side.value} bound, got an approximation ({bound}): nothing is known about its error, so "
            "that nothing could be proved with it; give a Bound, a Claim, or a number that you vouch for"
        )
    if (isinstance(bound, Bound) and not bound.ledger.proved) or (isinstance(bound, Claim) and not bound.proved):
        raise TypeError(
            f"{name} must be a proved {side.value} bound, got one with an estimate of an error ({bound}): nothing could be "
            "proved with it; give a number that you vouch for"
        )
    if isinstance(bound, Bound):
        return bound.upper if side is Side.UPPER else bound.lower
    if isinstance(bound, Claim):
        if bound.side is not side:
            raise TypeError(f"{name} must be a proved {side.value} bound, got a {bound.side.value} one: {bound}")
        return bound.value
    if isinstance(bound, float) and math.isinf(bound):
        return bound
    number = check.real(name, bound, f"a proved {side.value} bound")
    # an exact number may lie on the wrong side of its double
    excess = exact(number) - Fraction(float(number))
    wrong = excess > 0 if side is Side.UPPER else excess < 0
    return math.nextafter(number, math.copysign(math.inf, excess)) if wrong else number
