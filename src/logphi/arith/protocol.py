"""The operations of an arithmetic, and the constants of formulas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

# Numbers of an arithmetic support + - * / with each other and with Python integers. Their type is the
# arithmetic's own (an array with radii, an mpf, a SymPy expression), hence Any.
Number = Any


class Arithmetic(Protocol):
    """The operations that formulas use; every one is analytic where its argument is."""

    def constant(self, value: float) -> Number:
        """A parameter as the user wrote it: a decimal that lies within half an ulp of ``value``."""

    def log(self, x: Number) -> Number:
        """Natural logarithm."""

    def log1p(self, x: Number) -> Number:
        """``log(1 + x)``, accurate for small x."""

    def log1p_gap(self, x: Number) -> Number:
        """``x - log(1 + x)``, relatively accurate at 0."""

    def log_cosh(self, x: Number) -> Number:
        """``log(cosh(x))``, relatively accurate at 0, without overflow."""

    def log_sinhc(self, x: Number) -> Number:
        """``log(sinh(x)/x)``, relatively accurate at 0, without overflow."""

    def tanh(self, x: Number) -> Number:
        """Hyperbolic tangent."""

    def tanhc_gap(self, x: Number) -> Number:
        """``1 - tanh(x)/x``, relatively accurate at 0."""

    def exp(self, x: Number) -> Number:
        """Exponential."""

    def log_normal_mean(self, function: Callable[[Number], Number]) -> Number:
        """``log(E[function(X)])`` for a standard normal X."""

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Number:
        """The integral of a function between two numbers; None is infinity."""

    def log_normal_sum(self, variance: Number, at: Number) -> Number:
        """``log(sum(exp(-(x - at)**2 / (2 * variance))))`` over all integers x."""

    def log_power_sum(self, p: Sequence[Number], q: Sequence[Number], z: Number) -> Number:
        """``log(sum(p**(1 + z) * q**(-z)))`` over positive p and q."""


class Parameter(Protocol):
    """A constant of a formula, made of floats that the user wrote."""

    def under(self, arith: Arithmetic) -> Number:
        """The constant as a number of an arithmetic."""


@dataclass(frozen=True)
class Plain:
    """A parameter used as it is."""

    value: float

    def under(self, arith: Arithmetic) -> Number:
        """The value."""
        return arith.constant(self.value)

    # reprs of parameters are read in the terms of a loss, which `explain` shows
    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Ratio:
    """A quotient of two parameters, such as the distance of two means over their scale."""

    numerator: float
    denominator: float

    def under(self, arith: Arithmetic) -> Number:
        """The quotient, formed in the arithmetic."""
        return arith.constant(self.numerator) / arith.constant(self.denominator)

    def __repr__(self) -> str:
        return f"{self.numerator!r}/{self.denominator!r}"


@dataclass(frozen=True)
class Product:
    """A product of two parameters, such as rate * probability."""

    first: float
    second: float

    def under(self, arith: Arithmetic) -> Number:
        """The product, formed in the arithmetic."""
        return arith.constant(self.first) * arith.constant(self.second)

    def __repr__(self) -> str:
        return f"{self.first!r}*{self.second!r}"


@dataclass(frozen=True)
class Multiple:
    """A whole multiple of a parameter."""

    base: Parameter
    times: int

    def under(self, arith: Arithmetic) -> Number:
        """The product, formed in the arithmetic."""
        return self.times * self.base.under(arith)

    def __repr__(self) -> str:
        return f"{self.times}*({self.base!r})"


@dataclass(frozen=True)
class Norm:
    """The root of a sum of squares of parameters, each counted."""

    terms: tuple[tuple[Parameter, int], ...]

    def under(self, arith: Arithmetic) -> Number:
        """The root, formed in the arithmetic."""
        numbers = [(one.under(arith), count) for one, count in self.terms]
        return arith.exp(arith.log(reduce(add, (count * number * number for number, count in numbers))) / 2)


@dataclass(frozen=True)
class Distance:
    """``|a - b| / scale``; equal floats stand for one decimal, so that their distance is zero."""

    one: float
    other: float
    scale: float

    def under(self, arith: Arithmetic) -> Number:
        """The quotient, formed in the arithmetic."""
        if self.one == self.other:
            return arith.constant(0.0)
        high, low = max(self.one, self.other), min(self.one, self.other)
        return (arith.constant(high) - arith.constant(low)) / arith.constant(self.scale)


@dataclass(frozen=True)
class LogOdds:
    """``log(p / (1 - p))`` of a probability."""

    probability: float

    def under(self, arith: Arithmetic) -> Number:
        """The log-odds, formed in the arithmetic."""
        p = arith.constant(self.probability)
        # near p = 1/2 the log-odds are about twice the numerator, which is formed without cancellation
        if self.probability >= 0.5:
            return arith.log1p((p - (1 - p)) / (1 - p))
        return -arith.log1p(((1 - p) - p) / p)


@dataclass(frozen=True)
class Shortened:
    """``start + 2 log(1 - mass)``: the x at which ``1 - e^{(x - start)/2}`` is a given mass."""

    start: float
    mass: float

    def under(self, arith: Arithmetic) -> Number:
        """The sum, formed in the arithmetic."""
        return arith.constant(self.start) + 2 * arith.log1p(-arith.constant(self.mass))
