"""Integrals and sums of an expression that have no closed form: SymPy prints them as such, and evaluates them by these rules.

SymPy's own rules lose digits, or do not end, where an integrand oscillates. ``sympy.N``, ``evalf`` and ``lambdify`` of
NumPy, SciPy and mpmath use :mod:`logphi.arith.nodes` and :mod:`logphi.arith.mp` instead. No error is bounded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import mpmath
import sympy

from logphi.arith.mp import normal_sum_of_mpmath, precision, quadrature_of_mpmath

# chosen: the number of guard bits
_GUARD = 16
# chosen: precisions are rounded up to multiples of this number of bits, so that cached values can be reused
_STEP = 64


class Uncollapsed(sympy.Integral):  # type: ignore[misc]
    """An integral over an interval, a half-line upward, or the line if the integrand falls like a normal density."""

    def _eval_evalf(self, prec: int) -> Any:
        return None if self.free_symbols else _evaluated(self, prec)

    def by_mpmath(self) -> Any:
        """The integral at the precision of mpmath."""
        variable, low, high = self.limits[0]
        function = sympy.lambdify(variable, self.function, "mpmath")
        ends = (None if end.is_infinite else sympy.lambdify((), end, "mpmath")() for end in (low, high))
        return quadrature_of_mpmath(function, *ends)

    def _code(self, printer: Any, rule: str) -> str:
        variable, low, high = self.limits[0]
        ends = ("None" if end.is_infinite else printer._print(end) for end in (low, high))
        name = printer._module_format(rule)
        return f"{name}(lambda {printer._print(variable)}: {printer._print(self.function)}, {', '.join(ends)})"

    def _numpycode(self, printer: Any) -> str:
        return self._code(printer, "logphi.arith.nodes.quadrature_of_arrays")

    _scipycode = _numpycode

    def _mpmathcode(self, printer: Any) -> str:
        return self._code(printer, "logphi.arith.mp.quadrature_of_mpmath")


class NormalSum(sympy.Sum):  # type: ignore[misc]
    """The sum of exp(-(x - a)^2 / (2 v)) over all integers x."""

    @property
    def _parameters(self) -> tuple[Any, Any]:
        """The variance v and the centre a."""
        (variable, *_), exponent = self.limits[0], sympy.expand(sympy.log(self.function).expand(force=True))
        second, first = exponent.coeff(variable, 2), exponent.coeff(variable, 1)
        return -1 / (2 * second), -first / (2 * second)

    def _eval_evalf(self, prec: int) -> Any:
        return None if self.free_symbols else _evaluated(self, prec)

    def by_mpmath(self) -> Any:
        """The sum at the precision of mpmath."""
        return normal_sum_of_mpmath(*(sympy.lambdify((), one, "mpmath")() for one in self._parameters))

    def _code(self, printer: Any, rule: str) -> str:
        variance, centre = map(printer._print, self._parameters)
        return f"{printer._module_format(rule)}({variance}, {centre})"

    def _numpycode(self, printer: Any) -> str:
        return self._code(printer, "logphi.arith.nodes.normal_sum_of_arrays")

    _scipycode = _numpycode

    def _mpmathcode(self, printer: Any) -> str:
        return self._code(printer, "logphi.arith.mp.normal_sum_of_mpmath")


def _evaluated(one: Uncollapsed | NormalSum, prec: int) -> Any:
    real, imag = (sympy.Float(part, precision=prec) for part in _parts(one, -(-(prec + _GUARD) // _STEP) * _STEP))
    return real + sympy.I * imag if imag else real


@lru_cache(maxsize=64)
def _parts(one: Uncollapsed | NormalSum, bits: int) -> tuple[Any, Any]:
    with precision(bits):
        value = one.by_mpmath()
        return mpmath.re(value), mpmath.im(value)
