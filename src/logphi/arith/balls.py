"""Ball arithmetic: formulas with proved enclosures of their values, by the balls of :mod:`logphi.arith.ball`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from logphi.arith.ball import Ball, precision
from logphi.arith.order import Affine, order_of
from logphi.arith.protocol import Arithmetic, Number
from logphi.inputs import check
from logphi.text.written import meant

# chosen: bounds at fewer bits are useless
_LEAST_BITS = 16
# chosen: a larger number of bits is probably a typing error
_MOST_BITS = 1 << 20
# measured: a mean over the line may be below one by this many bits before the bound of its tails widens it
_GUARD = 32


@dataclass(frozen=True)
class Balls(Arithmetic):
    """Numbers are :class:`Ball`, computed with ``bits`` bits.

    An integer between 16 and 2^20. A constant is the decimal or the quotient that was written, and of a plain double the
    shortest decimal that reads back as it. If ``proving``, formulas refuse numbers that were rounded to doubles before.
    FLINT's own precision is restored after each operation.

    Raises
    ------
    ValueError, TypeError
        If ``bits`` is not such a number.
    ImportError
        When a number is formed and python-flint is not installed.

    Examples
    --------
    >>> balls = Balls(128)
    >>> one = 10 * balls.exp(balls.log(balls.constant(0.1)))
    >>> balls.constant(1e-35).exceeds(one - 1)
    True
    """

    bits: int
    proving: bool = False

    def __post_init__(self) -> None:
        check.whole("bits", self.bits, _LEAST_BITS, _MOST_BITS)

    def exact(self, value: complex) -> Ball:
        """A double, or a pair of them, taken as it is."""
        with precision(self.bits) as flint:
            return Ball(flint.acb(complex(value)), self.bits)

    def constant(self, value: float) -> Ball:
        """The decimal or the quotient that a user wrote, where it is known, and the shortest decimal otherwise."""
        number = meant(value)
        with precision(self.bits) as flint:
            return Ball(flint.acb(flint.arb(flint.fmpq(number.numerator, number.denominator))), self.bits)

    def log(self, x: Ball) -> Ball:
        """Natural logarithm; not finite where the ball holds 0."""
        return self._of(x, lambda flint, value: _log(flint, value, x.analytic))

    def log1p(self, x: Ball) -> Ball:
        """``log(1 + x)``, relatively accurate at 0."""
        return self._of(x, lambda flint, value: _log1p(flint, value, x.analytic))

    def log1p_gap(self, x: Ball) -> Ball:
        """``x - log(1 + x)``; near 0 it is x^2/2 2F1(1, 2; 3; -x), relatively accurate."""

        def evaluate(flint: Any, value: Any) -> Any:
            if value.abs_upper() < 0.5:
                return value * value / 2 * (-value).hypgeom_2f1(1, 2, 3)
            return value - _log1p(flint, value, x.analytic)

        return self._of(x, evaluate)

    def log_cosh(self, x: Ball) -> Ball:
        """``log(cosh(x))``; near 0 it is log(1 + 2 sinh(x/2)^2), relatively accurate."""

        def evaluate(flint: Any, value: Any) -> Any:
            if value.abs_lower() < 1:
                return _log1p(flint, 2 * (value / 2).sinh() ** 2, x.analytic)
            if x.analytic:
                return _log(flint, value.cosh(), x.analytic)
            right = _rightward(value)
            return right + _log1p(flint, (-2 * right).exp(), x.analytic) - flint.acb(2).log()

        return self._of(x, evaluate)

    def log_sinhc(self, x: Ball) -> Ball:
        """``log(sinh(x)/x)``; near 0, with sinh(x)/x - 1 = x^2/6 1F2(1; 2, 5/2; x^2/4), relatively accurate."""

        def evaluate(flint: Any, value: Any) -> Any:
            if value.abs_lower() < 1:
                square = value * value
                above = (square / 4).hypgeom([flint.acb(1)], [flint.acb(2), flint.acb(5) / 2])
                return _log1p(flint, square / 6 * above, x.analytic)
            if x.analytic:
                return _log(flint, value.sinh() / value, x.analytic)
            right = _rightward(value)
            return right + _log1p(flint, -((-2 * right).exp()), x.analytic) - _log(flint, 2 * right, x.analytic)

        return self._of(x, evaluate)

    def tanh(self, x: Ball) -> Ball:
        """Hyperbolic tangent; not finite where the ball holds a pole."""
        return self._of(x, lambda _, value: value.tanh())

    def tanhc_gap(self, x: Ball) -> Ball:
        """``1 - tanh(x)/x``; near 0 it is x^2/3 0F1(5/2; x^2/4) / cosh(x), relatively accurate."""

        def evaluate(flint: Any, value: Any) -> Any:
            if value.abs_lower() < 1:
                square = value * value
                return square / 3 * (square / 4).hypgeom_0f1(flint.acb(5) / 2) / value.cosh()
            return 1 - value.tanh() / value

        return self._of(x, evaluate)

    def exp(self, x: Any) -> Any:
        """Exponential; it neither overflows nor underflows."""
        return self._of(x, lambda _, value: value.exp()) if isinstance(x, Ball) else x.exp()

    def log_normal_mean(self, function: Callable[[Number], Number], guard: int = _GUARD) -> Ball:
        """The mean by quadrature between -R and R, and a bound of the two tails, at most 2^-(``bits`` + ``guard``).

        The function is evaluated once to bound its growth (:mod:`logphi.arith.order`). If |f(x)| <= e^{a|x| + b} for real x,
        the two tails of E[f(X)] are at most 2 e^{b + a^2/2} P(X > R - a) <= e^{b + a^2/2 - (R - a)^2/2} for R >= a.

        Raises
        ------
        NotImplementedError
            If the function is not made of powers of sums of exponentials of affine functions: nothing bounds its tails.
        """
        zero, one = self.exact(0), self.exact(1)
        size = order_of(function(Affine(one, zero)), self.bits)
        if size is None:
            return self.log(zero)
        with precision(self.bits) as flint:
            rise, start = (bound.upper() for bound in size.above)
            top = start + rise * rise / 2
            spare = top.max(flint.arb(0)) + (self.bits + guard) * flint.arb(2).log()
            if not (rise + spare).is_finite():
                return Ball(flint.acb("nan"), self.bits)
            half_range = flint.arb((rise + (2 * spare).sqrt()).upper().ceil().unique_fmpz())
            tails = flint.arb(0, (top - (half_range - rise) ** 2 / 2).exp().upper())
            end, outside, root = (
                Ball(flint.acb(*parts), self.bits) for parts in ((half_range,), (tails, tails), ((2 * flint.arb.pi()).sqrt(),))
            )
        inside = self.integral(lambda x: function(x) * self.exp(-x * x / 2), -end, end)
        return self.log(inside / root + outside)

    def integral(self, function: Callable[[Number], Number], low: Number, high: Number | None) -> Ball:
        """The integral by adaptive quadrature with a proof.

        See Johansson 2018, *Numerical integration in arbitrary-precision ball arithmetic*.

        Both ends may be balls. The function must be built from operations of this arithmetic: its argument tells them to be
        analytic or not finite. Where the quadrature gives up, the ball is wide or not finite.

        Raises
        ------
        NotImplementedError
            If there is no upper end: nothing bounds an arbitrary function in the tail.
        """
        if high is None:
            raise NotImplementedError(
                "an integral without an upper end is not enclosed in balls: nothing bounds an arbitrary function in the tail; "
                "cut it off where a bound of the function is known"
            )
        variable, bits = object(), max(self.bits, low.bits, high.bits)
        others = low.variables | high.variables
        # FLINT does not propagate exceptions of the integrand
        failure: BaseException | None = None

        with precision(bits) as flint:

            def integrand(x: Any, _: bool) -> Any:
                # the ball is marked as analytic whether or not this call asks for it, as analyticity does no harm
                nonlocal others, failure
                if failure is None:
                    try:
                        found = function(Ball(x, bits, frozenset([variable])))
                        others |= found.variables
                        return found.value
                    except BaseException as error:
                        failure = error
                return flint.acb("nan")

            value = flint.acb.integral(integrand, low.value, high.value)
        if failure is not None:
            raise failure
        return Ball(value, bits, others - {variable})

    def log_normal_sum(self, variance: Ball, at: Ball) -> Ball:
        """The dual series: the logarithm of (2 pi v)^{1/2} theta_3(at; tau = 2 pi i v), by FLINT's theta function."""
        # the value of ``at``, with the bits and the variables of both arguments
        point = at + 0 * variance

        def evaluate(flint: Any, value: Any) -> Any:
            turn = 2 * flint.arb.pi() * variance.value
            theta = value.modular_theta(flint.acb(0, 1) * turn)[2]
            return _log(flint, theta, point.analytic) + _log(flint, turn, point.analytic) / 2

        return self._of(point, evaluate)

    def log_power_sum(self, p: Sequence[Ball], q: Sequence[Ball], z: Ball) -> Ball:
        """``log(sum(p**(1 + z) * q**(-z)))``."""
        return self.log(reduce(add, (a * self.exp(z * self.log(a / b)) for a, b in zip(p, q, strict=True))))

    def _of(self, x: Any, evaluate: Callable[[Any, Any], Any]) -> Ball:
        """A function of FLINT and of a number, at the precision of whichever is finer."""
        if not isinstance(x, Ball):
            x.refuse()  # it stands for a function whose growth is being bounded
        bits = max(self.bits, x.bits)
        with precision(bits) as flint:
            return Ball(evaluate(flint, x.value), bits, x.variables)


def _log(flint: Any, value: Any, analytic: bool) -> Any:
    """The principal branch, or its continuation from above across the negative axis."""
    if analytic or value.real > 0 or not value.imag.contains(0):
        return value.log(analytic=analytic)
    return (-value).log() + flint.acb(0, 1) * flint.arb.pi()


def _log1p(flint: Any, value: Any, analytic: bool) -> Any:
    """The logarithm of 1 + value on the branch of ``_log``; small values keep their digits."""
    if value.real > -1 or not value.imag.contains(0):
        return value.log1p()
    return _log(flint, 1 + value, analytic)


def _rightward(value: Any) -> Any:
    """The number or its negative, whichever lies to the right by its midpoint."""
    return -value if value.real.mid() < 0 else value
