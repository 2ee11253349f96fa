"""Masses on lattices, above and below in an order of convex functions: their sums, and coarser lattices.

E g(S) grows for every decreasing convex g >= 0, such as (b - S)_+, if in the law of S mass is added, moves down, or is spread
with its mean kept; it falls if mass is left out, moves up, or is merged at its mean. Sums of independent variables keep this
order. Masses are integers in units of 2^-bits.

* Above: mass between two nodes goes to both, in the shares that keep its mean. Numbers are rounded up.
* Below: mass between two nodes is a lump at its mean. A lump to the left of a node is merged there with so much of those to its
  right that the node is the mean, or above it. What finds nothing to its right waits, as a lump beside the nodes. Masses are
  rounded down, means up.

Level e holds nodes k 2^e, small numbers on fine levels. The step grows with the place, and with the square root of the number
of variables, as the spread of their sum does. Neighbouring levels share mass where they overlap, so that none ends abruptly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpz, fmpz_poly

from logphi.checker.arithmetic.work import Undecided, spend

# measured: units of work to add a number to a list, or to move it
MOVED = 6
# measured: units of work for each coefficient of a product
MULTIPLIED = 25
# chosen: nodes above the last that is asked for, which keep its neighbours sharp
MARGIN = 64
# derived: a unit is 2^-96 of the error that is asked for, and less than 2^20 sums of masses so small are moved
SMALL = fmpz(2) ** 60
# a mass and its first moment
Lump = tuple[Any, Any]
NONE = fmpz(0)
EMPTY = (NONE, NONE)


@dataclass(frozen=True)
class Kind:
    """Whether sums are above or below, whether numbers are rounded up, and how many bits they have after the point."""

    above: bool
    up: bool
    bits: int

    def rounded(self, mass: Any) -> Any:
        """A nonnegative ball as an integer."""
        scaled = mass * arb(2) ** self.bits
        found = (scaled.upper().ceil() if self.up else scaled.lower().floor()).unique_fmpz()
        if found is None:
            raise Undecided("this checker does not know the masses of a likelihood ratio precisely enough")
        return max(found, NONE)

    def shifted(self, number: Any, bits: int) -> Any:
        """A number over 2^bits."""
        return -(-number >> bits) if self.up else number >> bits

    def times(self, one: Any, other: Any, size: int) -> Any:
        """The first coefficients of a product of polynomials."""
        if not len(one) or not len(other):
            return fmpz_poly([])
        first, second = _leading(one.coeffs()), _leading(other.coeffs())
        one, other = one.right_shift(first), other.right_shift(second)
        size = min(size - first - second, len(one) + len(other) - 1)
        if size <= 0:
            return fmpz_poly([])
        spend(MULTIPLIED * size)
        found = [self.shifted(x, self.bits) for x in one.mul_low(other, size).coeffs()]
        return fmpz_poly(found).left_shift(first + second)


def _leading(masses: Sequence[Any]) -> int:
    """The number of leading zeros."""
    return next((k for k, mass in enumerate(masses) if mass), len(masses))


@dataclass(frozen=True)
class Levels:
    """For each level a polynomial, whose coefficients are the masses of its nodes; and mass that was moved down to zero."""

    rows: Sequence[Any]
    at_zero: Any = NONE

    def whole(self) -> Any:
        """The mass of all nodes."""
        return sum((row(1) for row in self.rows), self.at_zero)


def with_waiting(lumps: list[Lump], start: int, waiting: Lump) -> list[Lump]:
    """The lumps between nodes with one that waits, whose moment is in steps of the level before, half as wide."""
    mass, moment = waiting[0], (waiting[1] + 1) // 2
    if not mass:
        return lumps
    cell = max(int(moment // mass) - start, 0)
    lumps += [EMPTY] * (cell + 1 - len(lumps))
    lumps[cell] = lumps[cell][0] + mass, lumps[cell][1] + moment
    return lumps


def merged(start: int, lumps: Sequence[Lump]) -> tuple[list[Any], Lump]:
    """Masses on the nodes from ``start`` on, below lumps between neighbours; and a lump that waits for others on its right."""
    spend(4 * MOVED * len(lumps))
    last = len(lumps)
    found = [NONE] * (last + 1)
    mass, moment, node = NONE, NONE, 0
    while True:
        lacking = (start + node) * mass - moment
        if lacking <= 0:
            # at the node; or its mean is above the node, but for rounding
            if node == last:
                return found, (mass, moment)
            more, its = lumps[node]
            if lacking == 0:
                found[node], mass, moment = mass, NONE, NONE
            mass, moment, node = mass + more, moment + its, node + 1
            continue
        for k in range(node, last):
            more, its = lumps[k]
            beyond = its - (start + node) * more
            if beyond > lacking and more:
                part = more * lacking // beyond
                found[node] = mass + part
                mass, moment, node = more - part, its - its * part // more, k + 1
                break
            if more:
                mass, moment, lacking = mass + more, moment + its, lacking - beyond
        else:
            return found, (mass, moment)


def with_lump(masses: list[Any], mass: Any, moment: Any) -> list[Any]:
    """The nodes with a lump merged into them: into one to its right, with mass from nodes further right."""
    if not mass:
        return masses
    node = int(-(-moment // mass))
    lacking = node * mass - moment
    masses += [NONE] * (node + 1 - len(masses))
    for k in range(node + 1, len(masses)):
        part = min(masses[k], lacking // (k - node))
        masses[k] -= part
        mass, lacking = mass + part, lacking - part * (k - node)
        if masses[k]:
            break
    masses[node] += mass
    return masses


def coarser(poly: Any, kind: Kind, rest: Lump = EMPTY) -> tuple[Any, Lump]:
    """The masses of a level, and a lump that waits, on the next level."""
    masses = poly.coeffs()
    first = _leading(masses) // 2
    masses = masses[2 * first :]
    spend(MOVED * len(masses))
    even, odd = masses[::2], masses[1::2]
    if len(even) == len(odd):
        even.append(NONE)
    if kind.above:
        halves = (kind.shifted(one + other, 1) for one, other in zip([NONE, *odd], [*odd, NONE], strict=True))
        return fmpz_poly([own + more for own, more in zip(even, halves, strict=False)]).left_shift(first), EMPTY
    # moments in steps of the next level, rounded up
    lumps = [(mass, k * mass + (mass + 1) // 2) for k, mass in enumerate(odd, first)]
    found, rest = merged(first, with_waiting(lumps, first, rest))
    return (fmpz_poly(even) + fmpz_poly(found)).left_shift(first), rest


def settled(levels: Levels, number: int, size: int, kind: Kind) -> Levels:
    """The levels of a sum of so many ratios: none finer than its spread allows, each as long as its nodes are needed.

    Small masses at the lower end are moved down to zero, or left out.
    """
    least = (number.bit_length() - 1) // 2
    length, found, more, e, at_zero = size << least, list[Any](), fmpz_poly([]), 0, levels.at_zero
    while e < len(levels.rows) or len(more):
        own, there = (levels.rows[k] if k < len(levels.rows) else fmpz_poly([]) for k in (e, e + 1))
        own += more
        kept, more = (fmpz_poly([]), own) if e < least else _divided(own, length)
        kept, small = _without_small(kept)
        found.append(kept)
        at_zero += small if kind.above else 0
        more, rest = coarser(more, kind)
        if rest[0]:
            more = fmpz_poly(with_lump((more + there).coeffs(), *rest)) - there
        e += 1
    return Levels(found, at_zero)


def _without_small(row: Any) -> tuple[Any, Any]:
    """The row without its first masses that are small together, and their sum."""
    first, small = 0, NONE
    for mass in row.coeffs():
        if small + mass > SMALL:
            break
        first, small = first + 1, small + mass
    return row.right_shift(first).left_shift(first), small


def _divided(level: Any, length: int) -> tuple[Any, Any]:
    """What stays on a level of this length, and what moves to the next level; they overlap in the last quarter."""
    if len(level) <= length:
        return level, fmpz_poly([])
    shared = length // 4
    first = length - shared
    near, far = level.truncate(first), level.right_shift(first).coeffs()
    spend(MOVED * len(far))
    kept = [mass * (shared - k) // shared for k, mass in enumerate(far[:shared])]
    far[:shared] = [mass - own for mass, own in zip(far, kept, strict=False)]
    return near + fmpz_poly(kept).left_shift(first), fmpz_poly(far).left_shift(first)


def product(one: Levels, other: Levels, top: int, kind: Kind) -> Levels:
    """The sum of two independent variables, as far as ``top``."""
    square = one is other
    found = []
    whole = one.at_zero * other.whole() + other.at_zero * one.whole()
    mine, theirs = (fmpz_poly([]), EMPTY), (fmpz_poly([]), EMPTY)
    for e in range(max(len(one.rows), len(other.rows))):
        own, its = (side.rows[e] if e < len(side.rows) else fmpz_poly([]) for side in (one, other))
        size = (top >> e) + 1 + MARGIN
        mine = coarser(mine[0], kind, mine[1])
        theirs = mine if square else coarser(theirs[0], kind, theirs[1])
        if square:
            made = _with_lumps(kind.times(own, 2 * mine[0] + own, size), own, (2 * mine[1][0], 2 * mine[1][1]), size, kind)
        else:
            made = kind.times(own, theirs[0] + its, size) + kind.times(mine[0], its, size)
            made = _with_lumps(_with_lumps(made, own, theirs[1], size, kind), its, mine[1], size, kind)
        found.append(made)
        mine, theirs = (mine[0] + own, mine[1]), (theirs[0] + its, theirs[1])
    return Levels(found, kind.shifted(whole, kind.bits))


def _with_lumps(made: Any, poly: Any, lump: Lump, size: int, kind: Kind) -> Any:
    """The nodes ``made`` with the sum of a variable on nodes and one that is a lump."""
    mass, moment = lump
    if not mass or not len(poly):
        return made
    spend(6 * MOVED * len(poly))
    masses, lumps = poly.coeffs(), []
    first, shift = _leading(masses), int(moment // mass)
    for k, own in enumerate(masses[first:], first):
        both = own * mass >> kind.bits
        # rounded up, the mean is not below that of both
        lumps.append((both, k * both - (-both * moment // mass)))
    found, rest = merged(first + shift, lumps)
    made += fmpz_poly(found).left_shift(first + shift)
    return fmpz_poly(with_lump(made.coeffs(), *rest)).truncate(size)
