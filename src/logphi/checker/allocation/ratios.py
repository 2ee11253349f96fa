"""Sums of independent likelihood ratios on lattices, above and below in the order of ``levels``.

notation: X = p/q of a base under Q, with E_Q X = 1 - f where f is the mass of infinite losses; S = X_1 + .. + X_n. The masses p
and q of X between two nodes give the mean p/q there, so that both sides follow from the tails of the base.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from flint import arb, fmpz, fmpz_poly

from logphi.checker.allocation.levels import (
    EMPTY,
    MARGIN,
    MOVED,
    NONE,
    Kind,
    Levels,
    Lump,
    merged,
    product,
    settled,
    with_lump,
    with_waiting,
)
from logphi.checker.arithmetic.balls import rough
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, spend
from logphi.checker.laws.law import Ends, Law

# chosen: the first level of a sum of n ratios holds what is below this number times n
NEAR = 2
# chosen: more levels are refused
MOST_LEVELS = 60


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
        mass = moment = NONE
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
        raise Undecided("the likelihood ratios are too large for this checker")
    top = max(top, fmpz(1))
    one = _one(law, size, int(top), scale, ends, kind)
    found, number = one, 1
    for digit in bin(count)[3:]:
        found = settled(found, number, size, kind)
        found, number = product(found, found, int(top), kind), 2 * number
        if digit == "1":
            # the single ratio on no finer levels than the sum
            found, one = settled(found, number, size, kind), settled(one, number, size, kind)
            found, number = product(found, one, int(top), kind), number + 1
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
    levels, width, start, rest = list[Any](), 1, 0, EMPTY
    finite, zero = 1 - law.infinite(), law.unreached()
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
        row = [NONE] * start + row
        levels.append(fmpz_poly(with_lump(row, *rest) if is_last else row))
        if is_last:
            return Levels(levels)
        width, start = 2 * width, 3 * size // 8


def _share(k: int, size: int) -> Any:
    """The share of the cells k and k + 1, k even, that stays on their level: it falls to zero over its last quarter."""
    return min(arb(1), arb(4 * (size - k + k % 2)) / size)


def _on_nodes(cells: list[Any], start: int, step: Any, before: Lump, kind: Kind) -> tuple[list[Any], Lump]:
    """The masses on nodes from ``start`` on, of masses (p, q) between neighbours; and a lump that waits, as ``before``."""
    found = [NONE] * (len(cells) + 1)
    if kind.above:
        for k, (p, q) in enumerate(cells):
            up = p / step - (start + k) * q
            found[k] += kind.rounded(q - up)
            found[k + 1] += kind.rounded(up)
        return found, EMPTY
    moments = replace(kind, up=True)
    lumps = [(kind.rounded(q), moments.rounded(p / step)) for p, q in cells]
    return merged(start, with_waiting(lumps, start, before))
