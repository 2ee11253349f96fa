"""Sums of atoms and flat parts, written out: K as the logarithm of a sum of exponentials with polynomials.

notation: u = z + 1/2, t = 1/(2u). Every law here is

    M(z) = sum over k of w_k e^{u a_k} f_k(t),   f_k one of 1, t, -t, 1 + t, 1 - t,

and so, with polynomials of t, are their products. The power of t counts flat parts: the terms of t^m together are the measure
that m flat parts and otherwise atoms make, which is positive.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, gcd
from typing import Any

import flint

from logphi.certified.expansion import Cut, Terms
from logphi.certified.locations import Key, Location


@dataclass(frozen=True)
class Branches(ABC):
    """One law as such a sum: its places from the top downward, with their weights and as balls.

    ``omitted`` bounds the mass that is left out.
    """

    places: tuple[Location, ...]
    weights: tuple[Any, ...]
    values: tuple[Any, ...]
    omitted: float = 0.0

    @property
    def flat(self) -> bool:
        """Whether t occurs."""
        return False

    @abstractmethod
    def moment(self, c: Any, stretch: Any) -> Any:
        """The sum at z = c with ``stretch`` times t in the place of t."""

    @abstractmethod
    def power(self, keys: Sequence[Key], count: int, rest: Any, cut: Cut) -> Terms:
        """The power, as far as places with another, ``rest``, may lie above the floor."""


@dataclass(frozen=True)
class TwoBranches(Branches):
    """Two branches, the powers of which are binomial: here two atoms."""

    def factors(self, t: Any) -> tuple[Any, Any]:
        """The two polynomials."""
        return t * 0 + 1, t * 0 + 1

    def first(self, count: int, degree: int) -> list[int]:
        """Coefficients of a power of the upper polynomial, up to a degree."""
        return [1]

    def lowered(self, shape: list[Any]) -> list[Any]:
        """The coefficients with one upper factor less and a lower one in its place."""
        return shape

    def moment(self, c: Any, stretch: Any) -> Any:
        """Both branches."""
        u = c + flint.arb(1) / 2
        factors = self.factors(stretch / (2 * u))
        return sum((w * (u * a).exp() * f for w, a, f in zip(self.weights, self.values, factors, strict=True)), flint.arb(0))

    def power(self, keys: Sequence[Key], count: int, rest: Any, cut: Cut) -> Terms:
        """One term for each number of lower branches, from the top downward."""
        terms: Terms = {}
        gap, room = self.values[0] - self.values[1], count * self.values[0] + rest - cut.floor
        reached = min(count + 1, ceil(max(float(room / gap), 0.0)) + 1) if gap > 0 else count + 1
        cut.budget.spend(reached * (1 + min(count, cut.degree) if self.flat else 1))
        shape = [flint.fmpz(number) for number in self.first(count, cut.degree)]
        weight, step = self.weights[0] ** count, self.weights[1] / self.weights[0]
        falling = self.values[0] >= self.values[1]
        for j in range(count + 1):
            key = tuple((count - j) * high + j * low for high, low in zip(*keys, strict=True))
            if falling and not cut.above(key, rest):
                break
            added = flint.arb_poly(shape) * weight
            terms[key] = terms[key] + added if key in terms else added
            weight = weight * step * (count - j) / (j + 1)
            shape = self.lowered(shape)
        return terms


@dataclass(frozen=True)
class FlatWithEnds(TwoBranches):
    """``e^{-w/2} [(1 + t) e^{uw} + (1 - t) e^{-uw}] / 2``."""

    @property
    def flat(self) -> bool:
        """The part between the atoms."""
        return True

    def factors(self, t: Any) -> tuple[Any, Any]:
        """Both."""
        return 1 + t, 1 - t

    def first(self, count: int, degree: int) -> list[int]:
        """Of (1 + t)^n."""
        return list(accumulate(range(min(count, degree)), lambda ways, m: ways * (count - m) // (m + 1), initial=1))

    def lowered(self, shape: list[Any]) -> list[Any]:
        """Times (1 - t)/(1 + t)."""
        before = after = flint.fmpz(0)
        found = []
        for number in shape:
            before, after = number, number - before - after
            found.append(after)
        return found


@dataclass(frozen=True)
class Flat(TwoBranches):
    """``t [e^{uw} - e^{-uw}] / (2 sinh(w/2))``."""

    @property
    def flat(self) -> bool:
        """All of it."""
        return True

    def factors(self, t: Any) -> tuple[Any, Any]:
        """Both."""
        return t, -t

    def first(self, count: int, degree: int) -> list[int]:
        """Of t^n."""
        return [0] * count + [1] if count <= degree else []

    def lowered(self, shape: list[Any]) -> list[Any]:
        """Negated."""
        return [-number for number in shape]


@dataclass(frozen=True)
class Points(Branches):
    """Any number of atoms."""

    def moment(self, c: Any, stretch: Any) -> Any:
        """The sum over the atoms."""
        u = c + flint.arb(1) / 2
        return sum((w * (u * a).exp() for w, a in zip(self.weights, self.values, strict=True)), flint.arb(0))

    def power(self, keys: Sequence[Key], count: int, rest: Any, cut: Cut) -> Terms:
        """A power of a polynomial where the atoms are equally spaced, otherwise a multinomial sum."""
        if len(keys) == 1:
            return {tuple(count * a for a in keys[0]): flint.arb_poly([self.weights[0] ** count])}
        rungs = _rungs(keys)
        # far apart on a fine lattice they are few all the same
        if rungs is not None and count * max(rungs) <= cut.budget.left:
            return self._lattice(keys, rungs, count, rest, cut)
        return self._multinomial(keys, count, rest, cut)

    def _lattice(self, keys: Sequence[Key], rungs: Sequence[int], count: int, rest: Any, cut: Cut) -> Terms:
        cut.budget.spend(count * max(rungs))
        weights = [flint.arb(0)] * (max(rungs) + 1)
        for rung, weight in zip(rungs, self.weights, strict=True):
            weights[rung] += weight
        bottom, top = (keys[rungs.index(rung)] for rung in (0, max(rungs)))
        terms: Terms = {}
        for k, weight in enumerate((flint.arb_poly(weights) ** count).coeffs()):
            # whole, as all keys lie on the line
            key = tuple(count * low + k * (high - low) // max(rungs) for low, high in zip(bottom, top, strict=True))
            if cut.above(key, rest):
                terms[key] = flint.arb_poly([weight])
        return terms

    def _multinomial(self, keys: Sequence[Key], count: int, rest: Any, cut: Cut) -> Terms:
        cut.budget.spend(count * len(keys))
        # how many are taken so far, the sum of their places -> product of w^i / i!
        states: dict[tuple[int, Key], Any] = {(0, (0,) * len(keys[0])): flint.arb(1)}
        whole: dict[Key, Any] = {}
        for j, (key, weight) in enumerate(zip(keys, self.weights, strict=True), 1):
            shares = [flint.arb(1)]
            for i in range(1, count + 1):
                shares.append(shares[-1] * weight / i)
            fresh: dict[tuple[int, Key], Any] = {}
            for (taken, at), value in states.items():
                least = count - taken if j == len(keys) else 0
                cut.budget.spend(count - taken - least + 1)
                for i in range(least, count - taken + 1):
                    place = tuple(a + i * b for a, b in zip(at, key, strict=True)) if i else at
                    if taken + i == count:
                        whole[place] = whole.get(place, 0) + value * shares[i]
                    else:
                        state = taken + i, place
                        fresh[state] = fresh.get(state, 0) + value * shares[i]
            states = fresh
        ways = flint.arb(count + 1).gamma()
        return {key: flint.arb_poly([ways * value]) for key, value in whole.items() if cut.above(key, rest)}


def _rungs(keys: Sequence[Key]) -> list[int] | None:
    """Whole numbers from 0 that equally spaced vectors on one line are, if they lie on a line and not all in one place."""
    gaps = [tuple(a - b for a, b in zip(key, keys[0], strict=True)) for key in keys]
    longest = max(gaps, key=lambda gap: max(map(abs, gap)))
    size = gcd(*longest)
    if not size:
        return None
    line = tuple(a // size for a in longest)
    axis = next(i for i, a in enumerate(line) if a)
    counts = [gap[axis] // line[axis] for gap in gaps]
    if any(gap != tuple(count * a for a in line) for count, gap in zip(counts, gaps, strict=True)):
        return None
    common = gcd(*counts)
    return [(count - min(counts)) // common for count in counts]
