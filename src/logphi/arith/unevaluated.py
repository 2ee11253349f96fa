"""Integrals and sums of an expression that have no closed form: SymPy prints them as such, and evaluates them by these rules.

SymPy's own rules lose digits, or do not end, where an integrand oscillates. ``sympy.N``, ``evalf`` and ``lambdify`` of
NumPy, SciPy and mpmath use :mod:`logphi.arith.nodes` and :mod:`logphi.arith.mp` instead. No error is bounded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import mpmath
import sympy

from logphi.arith.mp import normal_sum_of_mpmath, precision, quadrature_of_mpmath

# chosen: the number of guard bits
_GUARD = 16
# chosen: precisions are rounded up to multiples of this number of bits, so that cached values can be reused
_STEP = 64


class _ByRules:
    """What SymPy asks of an integral or a sum: to be evaluated, and to be printed as a call of one of our rules."""

    # the functions that compute it with arrays and with mpmath
    _rules: ClassVar[tuple[str, str]]

    def _eval_evalf(self: Any, prec: int) -> Any:
        return None if self.free_symbols else _evaluated(self, prec)

    def _numpycode(self: Any, printer: Any) -> str:
        return f"{printer._module_format(self._rules[0])}({self._arguments(printer)})"

    _scipycode = _numpycode

    def _mpmathcode(self: Any, printer: Any) -> str:
        return f"{printer._module_format(self._rules[1])}({self._arguments(printer)})"


class UnevaluatedIntegral(_ByRules, sympy.Integral):  # type: ignore[misc]
    """An integral over an interval, a half-line upward, or the line if the integrand falls like a normal density."""

    _rules = ("logphi.arith.nodes.quadrature_of_arrays", "logphi.arith.mp.quadrature_of_mpmath")

    def by_mpmath(self) -> Any:
        """The integral at the precision of mpmath."""
        variable, low, high = self.limits[0]
        function = sympy.lambdify(variable, self.function, "mpmath")
        ends = (None if end.is_infinite else sympy.lambdify((), end, "mpmath")() for end in (low, high))
        return quadrature_of_mpmath(function, *ends)

    def _arguments(self, printer: Any) -> str:
        variable, low, high = self.limits[0]
        ends = ("None" if end.is_infinite else printer._print(end) for end in (low, high))
        return f"lambda {printer._print(variable)}: {printer._print(self.function)}, {', '.join(ends)}"


class NormalSum(_ByRules, sympy.Sum):  # type: ignore[misc]
    """The sum of exp(-(x - a)^2 / (2 v)) over all integers x."""

    _rules = ("logphi.arith.nodes.normal_sum_of_arrays", "logphi.arith.mp.normal_sum_of_mpmath")

    @property
    def _parameters(self) -> tuple[Any, Any]:
        """The variance v and the centre a."""
        (variable, *_), exponent = self.limits[0], sympy.expand(sympy.log(self.function).expand(force=True))
        second, first = exponent.coeff(variable, 2), exponent.coeff(variable, 1)
        return -1 / (2 * second), -first / (2 * second)

    def by_mpmath(self) -> Any:
        """The sum at the precision of mpmath."""
        return normal_sum_of_mpmath(*(sympy.lambdify((), one, "mpmath")() for one in self._parameters))

    def _arguments(self, printer: Any) -> str:
        return ", ".join(map(printer._print, self._parameters))


def _evaluated(one: UnevaluatedIntegral | NormalSum, prec: int) -> Any:
    real, imag = (sympy.Float(part, precision=prec) for part in _parts(one, -(-(prec + _GUARD) // _STEP) * _STEP))
    return real + sympy.I * imag if imag else real


@lru_cache(maxsize=64)
def _parts(one: UnevaluatedIntegral | NormalSum, bits: int) -> tuple[Any, Any]:
    with precision(bits):
        value = one.by_mpmath()
        return mpmath.re(value), mpmath.im(value)
