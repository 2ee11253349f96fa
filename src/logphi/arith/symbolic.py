"""SymPy arithmetic: a formula evaluated here is its own expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from logphi.arith.protocol import Arithmetic, Number
from logphi.written import meant


class Symbolic(Arithmetic):
    """Numbers are SymPy expressions; parameters are the rationals that the user wrote as decimals."""

    def constant(self, value: float) -> Number:
        """The decimal or the quotient that a user wrote, where it is known, and the shortest decimal otherwise."""
        number = meant(value)
        return sympy.Rational(number.numerator, number.denominator)

    def log(self, x: Number) -> Number:
        """Natural logarithm, minus infinity of zero."""
        return -sympy.oo if x == 0 else sympy.log(x)

    def log1p(self, x: Number) -> Number:
        """``log(1 + x)``."""
        return sympy.log(1 + x)

    def log1p_gap(self, x: Number) -> Number:
        """``x - log(1 + x)``."""
        return x - sympy.log(1 + x)

    def log_cosh(self, x: Number) -> Number:
        """``log(cosh(x))``."""
        return sympy.log(sympy.cosh(x))

    def log_sinhc(self, x: Number) -> Number:
        """``log(sinh(x)/x)``."""
        return sympy.log(sympy.sinh(x) / x)

    def tanh(self, x: Number) -> Number:
        """Hyperbolic tangent."""
        return sympy.tanh(x)

    def tanhc_gap(self, x: Number) -> Number:
        """``1 - tanh(x)/x``."""
        return 1 - sympy.tanh(x) / x

    def exp(self, x: Number) -> Number:
        """Exponential."""
        return sympy.exp(x)

    def log_normal_mean(self, function: Callable[[Number], Number]) -> Number:
        """Logarithm of an integral that is left as it stands."""
        x = sympy.Symbol("x", real=True)
        density = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)
        return sympy.log(sympy.Integral(function(x) * density, (x, -sympy.oo, sympy.oo)))

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Number:
        """Left as it stands."""
        x = sympy.Symbol("x", real=True)
        return sympy.Integral(function(x), (x, low, sympy.oo if high is None else high))

    def log_normal_sum(self, variance: Number, at: Number) -> Number:
        """Logarithm of a sum that is left as it stands."""
        x = sympy.Symbol("x", integer=True)
        return sympy.log(sympy.Sum(sympy.exp(-((x - at) ** 2) / (2 * variance)), (x, -sympy.oo, sympy.oo)))

    def log_power_sum(self, p: Sequence[float], q: Sequence[float], z: Number) -> Number:
        """``log(sum(p**(1 + z) * q**(-z)))``."""
        pairs = [(self.constant(a), self.constant(b)) for a, b in zip(p, q, strict=True)]
        terms: list[Any] = [a * (a / b) ** z for a, b in pairs]
        return sympy.log(sympy.Add(*terms))


SYMBOLIC = Symbolic()
