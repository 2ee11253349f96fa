"""Laws of atoms and tilted uniform parts, called flat: their transform is a sum of exponentials times polynomials.

notation: u = z + 1/2, t = 1/(2u). Every law here is

    M(z) = sum over k of w_k e^{u a_k} f_k(t),   f_k one of 1, t, -t, 1 + t, 1 - t,

and products of such M have polynomials f_k of t. All terms with t^m together are the transform of a positive measure: the part
of the composition in which m losses come from flat parts and all others from atoms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, gcd
from typing import Any

import flint

from logphi.certified.expansion import Expanded, Truncation
from logphi.certified.locations import Key, Location


@dataclass(frozen=True)
class ExponentialPolynomial(ABC):
    """One law as such a sum: its exponents in decreasing order, their weights, and the exponents as balls.

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
        """The sum at z = c, with t multiplied by ``stretch``."""

    @abstractmethod
    def power(self, keys: Sequence[Key], count: int, rest: Any, truncation: Truncation) -> Expanded:
        """The power, without exponents that are below the floor even when ``rest`` is added."""


@dataclass(frozen=True)
class TwoExponentials(ExponentialPolynomial):
    """A sum of two exponentials, such as two atoms, whose powers are binomial sums."""

    def factors(self, t: Any) -> tuple[Any, Any]:
        """The two polynomials f_k at t."""
        return t * 0 + 1, t * 0 + 1

    def first(self, count: int, degree: int) -> list[int]:
        """Expanded of a power of the first polynomial, up to a degree."""
        return [1]

    def lowered(self, shape: list[Any]) -> list[Any]:
        """The coefficients after one factor of the first polynomial is replaced by the second one."""
        return shape

    def moment(self, c: Any, stretch: Any) -> Any:
        """The sum of both terms."""
        u = c + flint.arb(1) / 2
        factors = self.factors(stretch / (2 * u))
        return sum((w * (u * a).exp() * f for w, a, f in zip(self.weights, self.values, factors, strict=True)), flint.arb(0))

    def power(self, keys: Sequence[Key], count: int, rest: Any, truncation: Truncation) -> Expanded:
        """One term for each number of factors with the second exponent, from none on."""
        terms: Expanded = {}
        gap, room = self.values[0] - self.values[1], count * self.values[0] + rest - truncation.floor
        reached = min(count + 1, ceil(max(float(room / gap), 0.0)) + 1) if gap > 0 else count + 1
        truncation.budget.spend(reached * (1 + min(count, truncation.degree) if self.flat else 1))
        shape = [flint.fmpz(number) for number in self.first(count, truncation.degree)]
        weight, step = self.weights[0] ** count, self.weights[1] / self.weights[0]
        falling = self.values[0] >= self.values[1]
        for j in range(count + 1):
            key = tuple((count - j) * high + j * low for high, low in zip(*keys, strict=True))
            if falling and not truncation.above(key, rest):
                break
            added = flint.arb_poly(shape) * weight
            terms[key] = terms[key] + added if key in terms else added
            weight = weight * step * (count - j) / (j + 1)
            shape = self.lowered(shape)
        return terms


@dataclass(frozen=True)
class FlatWithEnds(TwoExponentials):
    """``e^{-w/2} [(1 + t) e^{uw} + (1 - t) e^{-uw}] / 2``."""

    @property
    def flat(self) -> bool:
        """Yes: between the atoms, the law is flat."""
        return True

    def factors(self, t: Any) -> tuple[Any, Any]:
        """The polynomials 1 + t and 1 - t."""
        return 1 + t, 1 - t

    def first(self, count: int, degree: int) -> list[int]:
        """The coefficients of (1 + t)^n."""
        return list(accumulate(range(min(count, degree)), lambda ways, m: ways * (count - m) // (m + 1), initial=1))

    def lowered(self, shape: list[Any]) -> list[Any]:
        """The product with (1 - t)/(1 + t)."""
        before = after = flint.fmpz(0)
        found = []
        for number in shape:
            before, after = number, number - before - after
            found.append(after)
        return found


@dataclass(frozen=True)
class Flat(TwoExponentials):
    """``t [e^{uw} - e^{-uw}] / (2 sinh(w/2))``."""

    @property
    def flat(self) -> bool:
        """Yes: all of it."""
        return True

    def factors(self, t: Any) -> tuple[Any, Any]:
        """The polynomials t and -t."""
        return t, -t

    def first(self, count: int, degree: int) -> list[int]:
        """The coefficients of t^n."""
        return [0] * count + [1] if count <= degree else []

    def lowered(self, shape: list[Any]) -> list[Any]:
        """The coefficients, negated."""
        return [-number for number in shape]


@dataclass(frozen=True)
class Points(ExponentialPolynomial):
    """Any number of atoms."""

    def moment(self, c: Any, stretch: Any) -> Any:
        """The sum over the atoms."""
        u = c + flint.arb(1) / 2
        return sum((w * (u * a).exp() for w, a in zip(self.weights, self.values, strict=True)), flint.arb(0))

    def power(self, keys: Sequence[Key], count: int, rest: Any, truncation: Truncation) -> Expanded:
        """A power of a polynomial where the atoms are equally spaced, otherwise a multinomial sum."""
        if len(keys) == 1:
            return {tuple(count * a for a in keys[0]): flint.arb_poly([self.weights[0] ** count])}
        indices = _lattice_indices(keys)
        # exponents far apart on a fine lattice may still be few
        if indices is not None and count * max(indices) <= truncation.budget.left:
            return self._lattice(keys, indices, count, rest, truncation)
        return self._multinomial(keys, count, rest, truncation)

    def _lattice(self, keys: Sequence[Key], indices: Sequence[int], count: int, rest: Any, truncation: Truncation) -> Expanded:
        truncation.budget.spend(count * max(indices))
        weights = [flint.arb(0)] * (max(indices) + 1)
        for index, weight in zip(indices, self.weights, strict=True):
            weights[index] += weight
        bottom, top = (keys[indices.index(index)] for index in (0, max(indices)))
        terms: Expanded = {}
        for k, weight in enumerate((flint.arb_poly(weights) ** count).coeffs()):
            # the quotients are integers, as all keys lie on one line
            key = tuple(count * low + k * (high - low) // max(indices) for low, high in zip(bottom, top, strict=True))
            if truncation.above(key, rest):
                terms[key] = flint.arb_poly([weight])
        return terms

    def _multinomial(self, keys: Sequence[Key], count: int, rest: Any, truncation: Truncation) -> Expanded:
        truncation.budget.spend(count * len(keys))
        # the number of atoms so far, the sum of their exponents -> product of w^i / i!
        states: dict[tuple[int, Key], Any] = {(0, (0,) * len(keys[0])): flint.arb(1)}
        whole: dict[Key, Any] = {}
        for j, (key, weight) in enumerate(zip(keys, self.weights, strict=True), 1):
            shares = [flint.arb(1)]
            for i in range(1, count + 1):
                shares.append(shares[-1] * weight / i)
            fresh: dict[tuple[int, Key], Any] = {}
            for (taken, at), value in states.items():
                least = count - taken if j == len(keys) else 0
                truncation.budget.spend((count - taken - least + 1) * (1 + len(key) // 8))
                for i in range(least, count - taken + 1):
                    place = tuple(a + i * b for a, b in zip(at, key, strict=True)) if i else at
                    if taken + i == count:
                        whole[place] = whole.get(place, 0) + value * shares[i]
                    else:
                        state = taken + i, place
                        fresh[state] = fresh.get(state, 0) + value * shares[i]
            states = fresh
        ways = flint.arb(count + 1).gamma()
        return {key: flint.arb_poly([ways * value]) for key, value in whole.items() if truncation.above(key, rest)}


def _lattice_indices(keys: Sequence[Key]) -> list[int] | None:
    """Collinear vectors as whole multiples, from 0 on, of one step; None if they are not collinear, or all equal."""
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
