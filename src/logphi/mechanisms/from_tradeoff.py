"""A mechanism known by its trade-off function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Arithmetic, Number
from logphi.convex.hull import Hull
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Reals, Relation, frozen
from logphi.laws.atomic.cells import Cells
from logphi.mechanisms.from_profile import LEAST_DELTA, ROUNDED, outcomes
from logphi.pairs.finite import FinitePair
from logphi.text.written import meant


@frozen
class FromTradeoff(Primitive):
    """Any mechanism that is f-DP, f piecewise linear, by the pair that has f as its trade-off function.

    f(alpha) is the smallest type II error of a test at type I error alpha; the null hypothesis is Q, without the record, the
    alternative P, with it. The curve is linear between the given vertices, and ends at (1, 0). If they are not convex, it is
    the largest convex curve below them, a weaker guarantee. Pair: an outcome for each segment, whose mass is its width under Q
    and its fall under P; one that only P has, of mass 1 - f(0); and one that only Q has, of the width over which f is 0.
    log-phi: M(z) = sum of p^{1+z} q^{-z} over the segments.

    The curve is that of the remove direction, and its inverse that of the add direction, as for every pair. If the curves of a
    mechanism are above f in both directions, they are also above the inverse of f. Under ``"add"`` the curve is that of the add
    direction, with the hypotheses exchanged.

    Do not give points of a smooth curve: chords lie above it, which claims too much. Tangents below it are safe. If two errors
    sum to more than one by no more than rounding (2^-51), the type II error is lowered, a weaker guarantee.

    Parameters
    ----------
    type_one_errors
        The type I errors of the vertices, in [0, 1], 0 among them.
    type_two_errors
        f there: at least 0, and at most one minus the type I error, up to rounding.
    adjacency
        The relation under which the curve is known.

    Raises
    ------
    ValueError, TypeError
        If the lists differ in length, a number is outside its range, no vertex is at 0, or f is 0 there.

    References
    ----------
    [AFA] Lemma 25 (the pair of a trade-off function); Dong, Roth & Su 2022, Proposition 2.2 (which curves there are).

    Examples
    --------
    >>> curve = FromTradeoff(type_one_errors=[0, 0.1, 0.5], type_two_errors=[0.9, 0.5, 0.1])
    >>> round(curve.tradeoff(0.3, direction="remove").value, 9)
    0.3
    """

    type_one_errors: Reals
    type_two_errors: Reals
    adjacency: Relation = ADD_REMOVE
    _dominating: ClassVar = True

    def __post_init__(self) -> None:
        first = check.unit_array("type_one_errors", self.type_one_errors)
        second = check.unit_array("type_two_errors", self.type_two_errors)
        together = "each type II error belongs to the type I error at its place"
        check.paired("type_one_errors and type_two_errors", first, second, together)
        self._settle(
            type_one_errors=check.entries(self.type_one_errors, first),
            type_two_errors=check.entries(self.type_two_errors, second),
        )
        for place, (alpha, beta) in enumerate(zip(self.type_one_errors, self.type_two_errors, strict=True)):
            where = f"a type I error of {alpha!r} with a type II error of {beta!r} at index {place}"
            if meant(alpha) + meant(beta) > 1 + ROUNDED:
                raise ValueError(
                    f"the two errors must sum to at most 1, got {where}: a test that ignores the output does better; "
                    "check that the two lists are in the same order"
                )
            if min(one for one in (alpha, beta, 1.0) if one > 0) < LEAST_DELTA:
                raise ValueError(f"an error must be 0 or at least {LEAST_DELTA:g}, the range of doubles, got {where}")
        if min(self.type_one_errors) > 0:
            raise ValueError(
                f"some type I error must be 0, got {self.type_one_errors!r}: give f(0), which is 1 unless an output may reveal "
                "everything"
            )
        if self._hull().vertices[0][1] == 0:
            raise ValueError(f"f(0) must be above 0, got {self.type_two_errors!r}: such a mechanism guarantees nothing")

    def _points(self) -> list[tuple[float, float]]:
        return [*zip(self.type_one_errors, self.type_two_errors, strict=True), (1.0, 0.0)]

    def _hull(self) -> Hull:
        return Hull.of([_attained(meant(alpha), meant(beta)) for alpha, beta in self._points()])

    def pair(self) -> FinitePair:
        """The segments of the curve; for direction add the outcome laws are exchanged."""
        vertices = self._hull().vertices
        p = [1 - vertices[0][1], *(here[1] - there[1] for here, there in pairwise(vertices)), Fraction(0)]
        q = [Fraction(0), *(there[0] - here[0] for here, there in pairwise(vertices)), 1 - vertices[-1][0]]
        given = {_attained(meant(alpha), meant(beta)): (alpha, beta) for alpha, beta in self._points()}
        corners = tuple(given[vertex] for vertex in vertices)
        # a point that rounding has raised above 1 - alpha differs from the given one
        same = vertices == tuple((meant(alpha), meant(beta)) for alpha, beta in corners)
        return outcomes(p, q, self.adjacency, _Segments(corners) if same else None)


def _attained(alpha: Fraction, beta: Fraction) -> tuple[Fraction, Fraction]:
    """The point, lowered to the line 1 - alpha if it is above."""
    return alpha, min(beta, 1 - alpha)


@dataclass(frozen=True)
class _Segments(Cells):
    corners: tuple[tuple[float, float], ...]

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """P alone, the segments, Q alone."""
        none = arith.constant(0.0)
        first, second = ([arith.constant(corner[k]) for corner in self.corners] for k in (0, 1))
        falls = [here - there for here, there in pairwise(second)]
        widths = [there - here for here, there in pairwise(first)]
        return [1 - second[0], *falls, none], [none, *widths, 1 - first[-1]]
