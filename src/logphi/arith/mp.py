"""mpmath arithmetic: the same formulas with any number of digits, for references and slow twins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath

from logphi.arith.protocol import Arithmetic, Number


class Multiprecision(Arithmetic):
    """Numbers are ``mpf`` or ``mpc`` at the working precision of ``mpmath.mp`` (set it with ``workdps``).

    No rounding bounds are carried. The removable singularities at 0 are filled in.
    """

    def constant(self, value: float) -> Number:
        """The shortest decimal that reads back as ``value``."""
        return mpmath.mpf(repr(float(value)))

    def log(self, x: Number) -> Number:
        """Natural logarithm, principal branch."""
        return mpmath.log(x)

    def log1p(self, x: Number) -> Number:
        """``log(1 + x)``."""
        return mpmath.log1p(x)

    def log_cosh(self, x: Number) -> Number:
        """``log(cosh(x))``."""
        return mpmath.log(mpmath.cosh(x))

    def log_sinhc(self, x: Number) -> Number:
        """``log(sinh(x)/x)``, 0 at 0."""
        return mpmath.log(mpmath.sinh(x) / x) if x else mpmath.mpf(0)

    def tanh(self, x: Number) -> Number:
        """Hyperbolic tangent."""
        return mpmath.tanh(x)

    def tanhc_gap(self, x: Number) -> Number:
        """``1 - tanh(x)/x``, 0 at 0."""
        return 1 - mpmath.tanh(x) / x if x else mpmath.mpf(0)

    def exp(self, x: Number) -> Number:
        """Exponential."""
        return mpmath.exp(x)

    def log_normal_mean(self, function: Callable[[Number], Number]) -> Number:
        """By mpmath's tanh-sinh quadrature over pieces of the line; its error is mpmath's, not bounded."""
        pieces = [-40, -20, -10, -5, 0, 5, 10, 20, 40]
        return mpmath.log(mpmath.quad(lambda x: function(x) * mpmath.npdf(x), pieces))

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Number:
        """By mpmath's tanh-sinh quadrature over pieces; its error is mpmath's, not bounded."""
        pieces = mpmath.linspace(low, high, 9) if high is not None else [low + step for step in (0, 1, 3, 6, 10, 20, 40, 80)]
        return mpmath.quad(function, pieces)

    def log_normal_sum(self, variance: Number, at: Number) -> Number:
        """By the dual series, a theta function."""
        nome = mpmath.exp(-2 * mpmath.pi**2 * variance)
        return mpmath.log(mpmath.sqrt(2 * mpmath.pi * variance) * mpmath.jtheta(3, mpmath.pi * at, nome))

    def log_power_sum(self, p: Sequence[float], q: Sequence[float], z: Number) -> Number:
        """``log(sum(p**(1 + z) * q**(-z)))``."""
        pairs = [(self.constant(a), self.constant(b)) for a, b in zip(p, q, strict=True)]
        return mpmath.log(mpmath.fsum(a * mpmath.exp(z * mpmath.log(a / b)) for a, b in pairs))


MULTIPRECISION = Multiprecision()
