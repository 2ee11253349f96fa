"""SymPy arithmetic: a formula evaluated here is its own expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, count
from typing import Any

import sympy

from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.unevaluated import NormalSum, UnevaluatedIntegral
from logphi.text.written import Named, meant


class Symbolic(Arithmetic):
    """Numbers are SymPy expressions; parameters are the rationals that the user wrote as decimals."""

    def constant(self, value: float) -> Number:
        """The symbol, decimal or quotient that a user wrote, where it is known, and the shortest decimal otherwise."""
        if isinstance(value, Named):
            return value.expression
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
        """Logarithm of an integral that stays unevaluated."""
        density = sympy.exp(-(_PLACEHOLDER**2) / 2) / sympy.sqrt(2 * sympy.pi)
        return sympy.log(_unevaluated(UnevaluatedIntegral, function(_PLACEHOLDER) * density, -sympy.oo, sympy.oo))

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Number:
        """An integral that stays unevaluated."""
        return _unevaluated(UnevaluatedIntegral, function(_PLACEHOLDER), low, sympy.oo if high is None else high)

    def log_normal_sum(self, variance: Number, at: Number) -> Number:
        """Logarithm of a sum that stays unevaluated."""
        term = sympy.exp(-((_PLACEHOLDER - at) ** 2) / (2 * variance))
        return sympy.log(_unevaluated(NormalSum, term, -sympy.oo, sympy.oo))

    def log_power_sum(self, p: Sequence[Number], q: Sequence[Number], z: Number) -> Number:
        """``log(sum(p**(1 + z) * q**(-z)))``."""
        terms: list[Any] = [a * (a / b) ** z for a, b in zip(p, q, strict=True)]
        return sympy.log(sympy.Add(*terms))


# the variable of an integral or a sum, until it has a name that its function does not use
_PLACEHOLDER = sympy.Dummy("x", real=True)
# the names that it may get, the first free one
_NAMES = ("x", "y", "u", "v", "w")


def _unevaluated(kind: type[Any], term: Number, low: Number, high: Number) -> Number:
    """An integral or a sum of a function of the placeholder, which gets a name that is still free."""
    used = {symbol.name for symbol in term.free_symbols if symbol is not _PLACEHOLDER}
    name = next(chain((one for one in _NAMES if one not in used), (f"x{k}" for k in count() if f"x{k}" not in used)))
    variable = sympy.Symbol(name, **({"integer": True} if kind is NormalSum else {"real": True}))
    return kind(term.xreplace({_PLACEHOLDER: variable}), (variable, low, high))


SYMBOLIC = Symbolic()
