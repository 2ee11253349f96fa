"""Sums of independent likelihood ratios on lattices, above and below in an order of convex functions.

notation: X = p/q of the base under Q, with E_Q X = 1 - f where f is the mass of infinite losses; S = X_1 + .. + X_n.

E g(S) grows for every decreasing convex g >= 0, such as (b - S)_+, if in the law of one X mass is added, moves down, or is
spread with its mean kept; it falls if mass is left out, moves up, or is merged at its mean. These steps are taken with whole
numbers in units of 2^-bits, for X and for every sum on the way:

* Above: mass between two nodes goes to both, in the shares that keep its mean. Numbers are rounded up.
* Below: the mass between two nodes becomes one lump at its mean. A lump to the left of a node and one to its right are merged
  there, in such parts that the node is their mean or above it; what the right lump lacks waits for the lumps further right.
  Numbers are rounded down, masses and what is known of their means.

Level e holds the nodes k 2^e, those of small numbers on fine levels: the step grows with the place and with the square root
of n, as the spread of S does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from flint import arb, fmpz, fmpz_poly

from logphi.checker.balls import rough
from logphi.checker.law import Ends, Law
from logphi.checker.work import EXP, STORED, Undecided, spend

# measured: units to add a number to a list or to move it, and for each coefficient of a product
MOVED, MULTIPLIED = 6, 25
# chosen: the first level of a sum of n ratios holds what is below this number times n
NEAR = 2
# chosen: more levels are refused
MOST_LEVELS = 60
# chosen: nodes above the last that is asked for, which keep its neighbours sharp
MARGIN = 64
# derived: a unit is 2^-96 of the error that is asked for, and less than 2^20 sums of masses so small are moved
SMALL = fmpz(2) ** 60
# a mass and its first moment
Lump = tuple[Any, Any]
_NONE = fmpz(0)
_EMPTY = (_NONE, _NONE)


@dataclass(frozen=True)
class Kind:
    """Whether sums are above or below, whether numbers are rounded up, and how many bits they have after the point."""

    above: bool
    up: bool
    bits: int

    def rounded(self, mass: Any) -> Any:
        """A nonnegative ball as a whole number."""
        scaled = mass * arb(2) ** self.bits
        found = (scaled.upper().ceil() if self.up else scaled.lower().floor()).unique_fmpz()
        if found is None:
            raise Undecided("the masses of a ratio are not known precisely enough by this checker")
        return max(found, _NONE)

    def halved(self, number: Any) -> Any:
        """Half of a number."""
        return (number + 1) >> 1 if self.up else number >> 1

    def scaled(self, number: Any) -> Any:
        """A product of two masses."""
        return -(-number >> self.bits) if self.up else number >> self.bits

    def product(self, one: Any, other: Any, size: int) -> Any:
        """The first coefficients of a product of polynomials."""
        if not len(one) or not len(other):
            return fmpz_poly([])
        first, second = _leading(one.coeffs()), _leading(other.coeffs())
        one, other = one.right_shift(first), other.right_shift(second)
        size = min(size - first - second, len(one) + len(other) - 1)
        if size <= 0:
            return fmpz_poly([])
        spend(MULTIPLIED * size)
        found = one.mul_low(other, size).coeffs()
        found = [-(-x >> self.bits) for x in found] if self.up else [x >> self.bits for x in found]
        return fmpz_poly(found).left_shift(first + second)


def _leading(masses: Sequence[Any]) -> int:
    """The number of leading zeros."""
    return next((k for k, mass in enumerate(masses) if mass), len(masses))


@dataclass(frozen=True)
class Levels:
    """For each level a polynomial, whose coefficients are the masses of its nodes; and mass that was moved down to zero."""

    rows: list[Any]
    at_zero: Any = _NONE

    def whole(self) -> Any:
        """The mass of all nodes."""
        return sum((row(1) for row in self.rows), self.at_zero)


@dataclass(frozen=True)
class Sums:
    """Masses of S on levels, of nodes at start + step * k * 2^e; mass above ``top`` steps is left out."""

    levels: Levels
    step: Any
    top: int
    kind: Kind
    start: Any

    def nodes(self) -> list[tuple[int, Sequence[Any]]]:
        """For each level with any mass, 2^e and the masses."""
        return [(1 << e, level.coeffs()) for e, level in enumerate(self.levels.rows) if len(level)]

    def reaches(self, most: Any) -> bool:
        """Whether the sums are known up to there."""
        return bool((most - self.start) / self.step <= self.top)

    @cached_property
    def totals(self) -> list[tuple[int, list[Any], list[Any]]]:
        """For each level 2^e, the masses up to each node, and their first moments in steps of the level."""
        found = []
        for width, masses in self.nodes():
            spend(2 * MOVED * len(masses))
            moments = accumulate(k * mass for k, mass in enumerate(masses))
            found.append((width, list(accumulate(masses)), list(moments)))
        return found

    def _up_to(self, end: Any) -> tuple[Any, Any]:
        """Mass and first moment, in units and steps, of all nodes up to a number of steps; of all nodes without one."""
        mass = moment = _NONE
        for width, masses, moments in self.totals:
            last = len(masses) - 1
            k = fmpz(last) if end is None or end > last * width else (end / width).floor().unique_fmpz()
            if k is None:
                raise Undecided("the precision does not separate a node from the end of a cell")
            if k >= 0:
                mass, moment = mass + masses[int(k)], moment + width * moments[int(k)]
        return mass, moment

    def up_to(self, end: Any, last: int | None = None) -> tuple[Any, Any]:
        """The mean and the mass of S, where it is at most ``end``, and at most ``last`` steps; no end is None."""
        steps = None if end is None else (end - self.start) / self.step
        if last is not None and (steps is None or steps > last):
            steps = arb(last)
        mass, moment = self._up_to(steps)
        unit = arb(2) ** self.kind.bits
        return (arb(moment) * self.step + arb(mass) * self.start) / unit, arb(mass) / unit

    def put(self, strike: Any) -> Any:
        """A bound of E (strike - S)_+, from above or from below."""
        steps = (strike - self.start) / self.step
        steps = steps.upper() if self.kind.above else steps.lower()
        if not steps > 0:
            return arb(0)
        mass, moment = self._up_to(steps)
        mass += self.levels.at_zero
        return (steps * arb(mass) - arb(moment)) * self.step / arb(2) ** self.kind.bits

    def complete(self, mean: Any) -> int:
        """A number of steps: of the mass up to it, what is missing of a mean and of one has a ratio that is not smaller."""

        def holds(steps: int) -> bool:
            p, q = self.up_to(None, steps)
            return bool(mean - p >= (self.start + steps * self.step) * (1 - q))

        low, high = 0, self.top + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low


def sum_of(law: Law, count: int, size: int, most: Any, kind: Kind) -> Sums:
    """The sum of ``count`` ratios, as far as ``most``; the first level of one ratio has ``size`` nodes, a multiple of 8."""
    scale, ends = _scale(law, size), law.ends()
    most = (most - count * scale.start) / scale.step
    top = fmpz(count * scale.last) if scale.last and not most < count * scale.last else most.upper().ceil().unique_fmpz()
    if top is None or top.bit_length() > MOST_LEVELS:
        raise Undecided("the ratios are too large for this checker")
    top = max(top, fmpz(1))
    one = _one(law, size, int(top), scale, ends, kind)
    found, number = one, 1
    for digit in bin(count)[3:]:
        found = _settled(found, number, size, kind)
        found, number = _product(found, found, int(top), kind), 2 * number
        if digit == "1":
            # the single ratio on no finer levels than the sum
            found, one = _settled(found, number, size, kind), _settled(one, number, size, kind)
            found, number = _product(found, one, int(top), kind), number + 1
    return Sums(found, scale.step, int(top), kind, count * scale.start)


@dataclass(frozen=True)
class _Scale:
    """The place of the first node of one ratio, the step, and the number of the last node where there is one."""

    start: Any
    step: Any
    last: int = 0


def _scale(law: Law, size: int) -> _Scale:
    """Nodes at the ends of the ratio, if these are known."""
    ends = law.ends()
    if ends is None:
        return _Scale(arb(0), arb(NEAR) / size)
    width = ends.highest - ends.lowest
    nodes = rough(width) * size / NEAR
    # a node on all levels of one ratio, and of the sum of a few
    block = 8 << max(math.ceil(math.log2(max(nodes / size, 1))), 0)
    last = block * math.ceil(nodes / block)
    return _Scale(ends.lowest, width / last, last)


def _one(law: Law, size: int, top: int, scale: _Scale, ends: Ends | None, kind: Kind) -> Levels:
    """One ratio: its cells are shared by neighbouring levels where these overlap, so that no level begins or ends abruptly."""
    levels, width, start, rest = list[Any](), 1, 0, _EMPTY
    finite, zero = 1 - law.infinite(), law.reversed().infinite()
    bound = min(top, scale.last) if scale.last else top
    own_top = bool(scale.last) and bound == scale.last
    at_start = zero if ends is None else ends.mass_lowest
    while True:
        is_last = size * width >= bound
        end = (-(-bound // width) + (0 if own_top else MARGIN)) if is_last else size
        spend((2 * EXP + 4 * STORED) * (end - start))
        tails = []
        for k in range(start, end + 1):
            if not k:
                tails.append((finite - scale.start * at_start, 1 - at_start))
            elif scale.last and k * width >= scale.last:
                mass = ends.mass_highest if ends is not None and k * width == scale.last else arb(0)
                tails.append((mass * (scale.start + scale.last * scale.step), mass))
            else:
                tails.append(law.tails((scale.start + k * width * scale.step).log()))
        cells = []
        for k, (here, there) in enumerate(pairwise(tails), start):
            share = arb(1)
            if start and k < size // 2:
                share -= _share(2 * k, size)
            if not is_last:
                share *= _share(k, size)
            p, q = (share * (one - other) for one, other in zip(here, there, strict=True))
            cells.append((p - scale.start * q, q))
        row, rest = _on_nodes(cells, start, width * scale.step, rest, kind)
        if not start:
            row[0] += kind.rounded(at_start)
        if is_last and own_top and ends is not None:
            row[end - start] += kind.rounded(ends.mass_highest)
        row = [_NONE] * start + row
        levels.append(fmpz_poly(_with_lump(row, *rest) if is_last else row))
        if is_last:
            return Levels(levels)
        width, start = 2 * width, 3 * size // 8


def _share(k: int, size: int) -> Any:
    """The share of the cells k and k + 1, k even, that stays on their level: it falls to zero over its last quarter."""
    return min(arb(1), arb(4 * (size - k + k % 2)) / size)


def _on_nodes(cells: list[Any], start: int, step: Any, before: Lump, kind: Kind) -> tuple[list[Any], Lump]:
    """The masses on nodes from a first one on, of masses (p, q) between neighbours; and a lump that waits, as that ``before``."""
    found = [_NONE] * (len(cells) + 1)
    if kind.above:
        for k, (p, q) in enumerate(cells):
            up = p / step - (start + k) * q
            found[k] += kind.rounded(q - up)
            found[k + 1] += kind.rounded(up)
        return found, _EMPTY
    scale, lumps = arb(2) ** kind.bits, []
    for p, q in cells:
        moment = (p / step * scale).upper().ceil().unique_fmpz()
        if moment is None:
            raise Undecided("the masses of a ratio are not known precisely enough by this checker")
        lumps.append((kind.rounded(q), moment))
    return _merged(start, _with_waiting(lumps, start, before))


def _with_waiting(lumps: list[Lump], start: int, waiting: Lump) -> list[Lump]:
    """The lumps between nodes with one that waits, whose moment is in steps of the level before, half as wide."""
    mass, moment = waiting[0], (waiting[1] + 1) // 2
    if not mass:
        return lumps
    cell = max(int(moment // mass) - start, 0)
    lumps += [_EMPTY] * (cell + 1 - len(lumps))
    lumps[cell] = lumps[cell][0] + mass, lumps[cell][1] + moment
    return lumps


def _merged(start: int, lumps: Sequence[Lump]) -> tuple[list[Any], Lump]:
    """Masses on the nodes from ``start`` on, below lumps between neighbours; and a lump that waits for others on its right."""
    spend(4 * MOVED * len(lumps))
    last = len(lumps)
    found = [_NONE] * (last + 1)
    mass, moment, node = _NONE, _NONE, 0
    while True:
        lacking = (start + node) * mass - moment
        if lacking <= 0:
            # at the node; or its mean is above the node, but for rounding
            if node == last:
                return found, (mass, moment)
            more, its = lumps[node]
            if lacking == 0:
                found[node], mass, moment = mass, _NONE, _NONE
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


def _with_lump(masses: list[Any], mass: Any, moment: Any) -> list[Any]:
    """The nodes with a lump merged into them: into one to its right, with mass from nodes further right."""
    if not mass:
        return masses
    node = int(-(-moment // mass))
    lacking = node * mass - moment
    masses += [_NONE] * (node + 1 - len(masses))
    for k in range(node + 1, len(masses)):
        part = min(masses[k], lacking // (k - node))
        masses[k] -= part
        mass, lacking = mass + part, lacking - part * (k - node)
        if masses[k]:
            break
    masses[node] += mass
    return masses


def _coarser(poly: Any, kind: Kind, rest: Lump = _EMPTY) -> tuple[Any, Lump]:
    """The masses of a level, and a lump that waits, on the next level."""
    masses = poly.coeffs()
    first = _leading(masses) // 2
    masses = masses[2 * first :]
    spend(MOVED * len(masses))
    even, odd = masses[::2], masses[1::2]
    if len(even) == len(odd):
        even.append(_NONE)
    if kind.above:
        halves = (kind.halved(one + other) for one, other in zip([_NONE, *odd], [*odd, _NONE], strict=True))
        return fmpz_poly([own + more for own, more in zip(even, halves, strict=False)]).left_shift(first), _EMPTY
    # moments in steps of the next level, rounded up
    lumps = [(mass, k * mass + (mass + 1) // 2) for k, mass in enumerate(odd, first)]
    found, rest = _merged(first, _with_waiting(lumps, first, rest))
    return (fmpz_poly(even) + fmpz_poly(found)).left_shift(first), rest


def _settled(levels: Levels, number: int, size: int, kind: Kind) -> Levels:
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
        more, rest = _coarser(more, kind)
        if rest[0]:
            more = fmpz_poly(_with_lump((more + there).coeffs(), *rest)) - there
        e += 1
    return Levels(found, at_zero)


def _without_small(row: Any) -> tuple[Any, Any]:
    """The row without its first masses that are small together, and their sum."""
    first, small = 0, _NONE
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


def _product(one: Levels, other: Levels, top: int, kind: Kind) -> Levels:
    """The sum of two independent variables, as far as ``top``."""
    square = one is other
    found = []
    whole = one.at_zero * other.whole() + other.at_zero * one.whole()
    mine, theirs = (fmpz_poly([]), _EMPTY), (fmpz_poly([]), _EMPTY)
    for e in range(max(len(one.rows), len(other.rows))):
        own, its = (side.rows[e] if e < len(side.rows) else fmpz_poly([]) for side in (one, other))
        size = (top >> e) + 1 + MARGIN
        mine = _coarser(mine[0], kind, mine[1])
        theirs = mine if square else _coarser(theirs[0], kind, theirs[1])
        if square:
            made = _with_lumps(kind.product(own, 2 * mine[0] + own, size), own, (2 * mine[1][0], 2 * mine[1][1]), size, kind)
        else:
            made = kind.product(own, theirs[0] + its, size) + kind.product(mine[0], its, size)
            made = _with_lumps(_with_lumps(made, own, theirs[1], size, kind), its, mine[1], size, kind)
        found.append(made)
        mine, theirs = (mine[0] + own, mine[1]), (theirs[0] + its, theirs[1])
    return Levels(found, kind.scaled(whole))


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
    found, rest = _merged(first + shift, lumps)
    made += fmpz_poly(found).left_shift(first + shift)
    return fmpz_poly(_with_lump(made.coeffs(), *rest)).truncate(size)
