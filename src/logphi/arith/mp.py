"""mpmath arithmetic: formulas with any number of digits and without error bounds, for reference values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock

import mpmath

from logphi.arith.nodes import SHIFT
from logphi.arith.protocol import Arithmetic, Number
from logphi.text.written import meant

# measured: sums for the catalogue converge after three to seven halvings of the step
_HALVINGS = 12
# chosen: ranges |x| <= R, tried in turn until both tails of the integrand lie within
_RANGES = (16, 64, 512, 8192)


# all threads share the precision of mpmath
_PRECISION_LOCK = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the precision of mpmath, for one thread at a time; the old precision is restored, after an exception too."""
    with _PRECISION_LOCK, mpmath.workprec(bits):
        yield


class Multiprecision(Arithmetic):
    """Numbers are ``mpf`` or ``mpc`` at the working precision of mpmath: set it with :func:`precision`.

    No rounding bounds are carried. The removable singularities at 0 are filled in.
    """

    def constant(self, value: float) -> Number:
        """The decimal or the quotient that a user wrote, where it is known, and the shortest decimal otherwise."""
        number = meant(value)
        return mpmath.mpf(number.numerator) / number.denominator

    def log(self, x: Number) -> Number:
        """Natural logarithm, principal branch."""
        return mpmath.log(x)

    def log1p(self, x: Number) -> Number:
        """``log(1 + x)``."""
        return mpmath.log1p(x)

    def log1p_gap(self, x: Number) -> Number:
        """``x - log(1 + x)``; a small argument loses as many digits as it has zeros."""
        return x - mpmath.log1p(x)

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
        """The mean by :meth:`over_the_line`."""
        return mpmath.log(self.over_the_line(lambda x: function(x) * mpmath.npdf(x)))

    def over_the_line(self, function: Callable[[Number], Number]) -> Number:
        """An integral over the line by the trapezoidal rule, its step halved until two sums agree; its error is not bounded.

        The convergence is geometric for an analytic function that falls like a normal density, however fast it oscillates;
        tanh-sinh rules lose their digits there.
        """

        def term(x: Number) -> Number:
            return function(mpmath.mpf(x))

        digits = mpmath.mp.dps
        # cancellation costs as many digits as the sum is smaller than its largest term
        for extra in (10, 100, 400):
            with _PRECISION_LOCK, mpmath.extradps(extra):
                total = self._trapezoid(term, mpmath.mpf(10) ** (-3 - digits - extra), mpmath.mpf(10) ** (3 - digits))
                if total is not None:
                    return total
        raise ArithmeticError(
            f"the trapezoidal rule must converge in {_HALVINGS} halvings of its step, and does not: the integrand oscillates "
            "too fast, or has singularities too near the real line; ask for numbers with bounds, m.log_phi(t)"
        )

    @staticmethod
    def _trapezoid(term: Callable[[Number], Number], negligible: Number, close: Number) -> Number | None:
        for half_range in _RANGES:
            sizes = [abs(term(x)) for x in range(-half_range, half_range + 1)]
            least = negligible * max(sizes)
            held = [x for x, size in enumerate(sizes, -half_range) if size > least]
            if -half_range < held[0] and held[-1] < half_range:
                break
        else:
            raise ArithmeticError(
                f"an integrand over the line must fall like a normal density, but is not negligible at |x| = {_RANGES[-1]}; "
                "ask for numbers with bounds, m.log_phi(t)"
            )
        first, last = held[0] - 1, held[-1] + 1
        step, total = mpmath.mpf(1), mpmath.fsum(term(x) for x in range(first, last + 1))
        # exact at any precision, unlike a sum of doubles
        aside = mpmath.mpf(SHIFT)
        for halving in range(1, _HALVINGS):
            step /= 2
            odd = range((first << halving) + 1, last << halving, 2)
            change = step * mpmath.fsum(term(j * step) for j in odd) - total / 2
            total += change
            if abs(change) <= abs(total) * close:
                # two sums of an integrand that oscillates between the points agree, but not with one over shifted points
                beside = step * mpmath.fsum(term((j + aside) * step) for j in range(first << halving, last << halving))
                if abs(beside - total) <= 4 * abs(total) * close:
                    return total
            if abs(change) <= least * 1e6:
                return None
        return None

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Number:
        """The integral by mpmath's tanh-sinh quadrature; its error is not bounded."""
        pieces = mpmath.linspace(low, high, 9) if high is not None else [low + step for step in (0, 1, 3, 6, 10, 20, 40, 80)]
        return mpmath.quad(function, pieces)

    def log_normal_sum(self, variance: Number, at: Number) -> Number:
        """The dual series, a theta function."""
        nome = mpmath.exp(-2 * mpmath.pi**2 * variance)
        return mpmath.log(mpmath.sqrt(2 * mpmath.pi * variance) * mpmath.jtheta(3, mpmath.pi * at, nome))

    def log_power_sum(self, p: Sequence[Number], q: Sequence[Number], z: Number) -> Number:
        """``log(sum(p**(1 + z) * q**(-z)))``."""
        return mpmath.log(mpmath.fsum(a * mpmath.exp(z * mpmath.log(a / b)) for a, b in zip(p, q, strict=True)))


MULTIPRECISION = Multiprecision()


def quadrature_of_mpmath(function: Callable[[Number], Number], low: Number | None, high: Number | None) -> Number:
    """An integral over the line, a half-line upward or an interval, for functions that SymPy compiles; None is infinite."""
    return MULTIPRECISION.over_the_line(function) if low is None else MULTIPRECISION.integral(function, low, high)


def normal_sum_of_mpmath(variance: Number, at: Number) -> Number:
    """The sum of exp(-(x - at)^2 / (2 variance)) over all integers x, for functions that SymPy compiles."""
    return mpmath.exp(MULTIPRECISION.log_normal_sum(variance, at))
