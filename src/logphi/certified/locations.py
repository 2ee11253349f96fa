"""Locations of atoms as exact numbers, so that equality is decided exactly.

A location is r + log(a) + k_1 x_1 + k_2 x_2 + ..., with r and a > 0 rational, whole k_i, and x_i numbers of which only balls
are known. The a of all locations are products of powers of a few pairwise coprime integers. So each location becomes a
vector of integers; sums of locations become sums of vectors, and equal vectors are equal locations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any, cast

import flint

from logphi.arith.protocol import Arithmetic
from logphi.certified.route import NotCertifiedError
from logphi.text.written import meant

Key = tuple[int, ...]

# measured: for so many numbers, finding common divisors takes a second
MOST_NUMBERS = 2000


@dataclass(frozen=True)
class Unit:
    """A real number known by balls; equal names mean equal numbers."""

    name: Hashable
    value: Any = field(compare=False)


@dataclass(frozen=True)
class Location:
    """``rational + log(ratio)`` and whole multiples of units."""

    rational: Fraction = Fraction(0)
    ratio: Fraction = Fraction(1)
    units: tuple[tuple[Unit, int], ...] = ()

    @staticmethod
    def of(number: Location | Fraction | int) -> Location:
        """The location of a number of :class:`Exact`."""
        return number if isinstance(number, Location) else Location(Fraction(number))

    def as_rational(self) -> Fraction | None:
        """The location as a rational number; None if it is not known to be one."""
        return None if self.units or self.ratio != 1 else self.rational

    def __add__(self, other: Location | Fraction | int) -> Location:
        other = Location.of(other)
        return Location(self.rational + other.rational, self.ratio * other.ratio, self.units + other.units)

    __radd__ = __add__

    def __mul__(self, times: int) -> Location:
        return Location(self.rational * times, self.ratio**times, tuple((unit, times * k) for unit, k in self.units))

    __rmul__ = __mul__

    def __neg__(self) -> Location:
        return -1 * self


def _irrational(*_: Any) -> Any:
    raise NotImplementedError("not a rational number, nor the logarithm of one")


class Exact(Arithmetic):
    """Rational numbers, and locations as their logarithms.

    Every other function raises a ``NotImplementedError``.
    """

    def constant(self, value: float) -> Fraction:
        """The number as it was written, or the shortest decimal of a double."""
        return meant(value)

    def log(self, x: Fraction) -> Location:
        """The logarithm of a rational number."""
        return Location(ratio=x)

    def log1p(self, x: Fraction) -> Location:
        """The logarithm of a rational number."""
        return Location(ratio=1 + x)

    exp = tanh = cast(Callable[..., Any], _irrational)
    log1p_gap = log_cosh = log_sinhc = tanhc_gap = cast(Callable[..., Any], _irrational)
    log_normal_mean = integral = log_normal_sum = log_power_sum = cast(Callable[..., Any], _irrational)


@dataclass(frozen=True)
class Basis:
    """Numbers whose integer combinations are all locations of a composition: 1/denominator, logs of divisors, and units.

    Logarithms are taken once, at the precision of the first use.
    """

    denominator: int
    divisors: tuple[int, ...]
    units: tuple[Unit, ...]

    @staticmethod
    def of(places: Sequence[Location]) -> Basis:
        """The basis of some locations.

        Raises
        ------
        NotCertifiedError
            If there are too many different numbers.
        """
        denominator = lcm(*(place.rational.denominator for place in places))
        numbers = dict.fromkeys(number for place in places for number in place.ratio.as_integer_ratio())
        units = dict.fromkeys(unit for place in places for unit, _ in place.units)
        if len(numbers) + len(units) > MOST_NUMBERS:
            raise NotCertifiedError(
                f"the losses of these releases are of more than {MOST_NUMBERS} different kinds: certify mechanisms with fewer "
                "outcomes, or ask without a certificate"
            )
        return Basis(denominator, tuple(_coprime(numbers)), tuple(units))

    def key(self, place: Location) -> Key:
        """The location as a vector of integers."""
        above, below = place.ratio.as_integer_ratio()
        powers = (_power(above, divisor) - _power(below, divisor) for divisor in self.divisors)
        counts = dict(place.units)
        return (int(place.rational * self.denominator), *powers, *(counts.get(unit, 0) for unit in self.units))

    def place(self, key: Key) -> Any:
        """The location of a vector, as a ball at the precision in force."""
        return sum((k * value for k, value in zip(key[1:], self._logs, strict=True) if k), flint.arb(key[0]) / self.denominator)

    @cached_property
    def _logs(self) -> list[Any]:
        return [*(flint.arb(divisor).log() for divisor in self.divisors), *(unit.value for unit in self.units)]


def _coprime(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime integers above 1 whose products include all the given ones."""
    base: list[int] = []
    waiting = list(dict.fromkeys(numbers))
    while waiting:
        number = waiting.pop()
        if number == 1:
            continue
        shared, met = next(((common, one) for one in base if (common := gcd(number, one)) > 1), (1, 1))
        if shared == 1:
            base.append(number)
        elif met != number:
            # this ends, as the product of all numbers becomes smaller
            base.remove(met)
            waiting += [shared, number // shared, met // shared]
    return sorted(base)


def _power(number: int, divisor: int) -> int:
    """The exponent of a divisor in a number."""
    count = 0
    while number % divisor == 0:
        number, count = number // divisor, count + 1
    return count
