"""Complex balls of any precision (FLINT, formerly Arb): each contains the exact result of its computation.

Every operation returns a complex ball that contains the exact result for all arguments in the argument balls (Johansson 2017,
*Arb: efficient arbitrary-precision midpoint-radius interval arithmetic*). An operation that cannot be enclosed is refused with
a ``NotImplementedError``; the value at a pole, for example, is a ball that is not finite. No estimate is returned as a proof.

A logarithm, and so K, is determined up to multiples of 2 pi i. A ball that avoids the negative axis gets the principal branch;
a ball that meets it gets the branch that is continuous across it. In an integrand one branch must hold throughout. A ball
therefore keeps the variables of integration that it depends on, and the logarithm of such a ball is not finite where it
meets the cut: the quadrature then bisects.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from threading import RLock, local
from typing import Any

# the attribute of FLINT that holds the lock on its precision: the checker of certificates, which shares no code with this
# module, takes the same lock by the same name
_LOCK = "_precision_lock"


class _Held(local):
    """The precision that this thread has set, and the context for further computations at that precision."""

    bits: int | None = None
    again: AbstractContextManager[Any] = nullcontext()


_held = _Held()


def precision(bits: int) -> AbstractContextManager[Any]:
    """FLINT at a precision, for one thread at a time.

    The precision of FLINT is one global variable, which all threads share. Whoever computes holds the lock that guards it;
    the old precision is restored at the end, after an exception too.
    """
    if _held.bits == bits:
        return _held.again
    try:
        import flint
    except ImportError:
        raise ImportError("ball arithmetic needs python-flint, which is not installed: pip install python-flint") from None
    return _Precision(flint, bits)


class _Precision:
    """A context for every operation of an integrand: written out, as generators take longer than the operations."""

    __slots__ = ("_before", "_bits", "_flint", "_lock")

    def __init__(self, flint: Any, bits: int) -> None:
        self._flint, self._bits, self._lock = flint, bits, vars(flint).setdefault(_LOCK, RLock())

    def __enter__(self) -> Any:
        self._lock.__enter__()
        self._before = (self._flint.ctx.prec, _held.bits, _held.again)
        try:
            self._flint.ctx.prec = self._bits
        except BaseException as error:
            self._lock.__exit__(type(error), error, error.__traceback__)
            raise
        _held.bits, _held.again = self._bits, nullcontext(self._flint)
        return self._flint

    def __exit__(self, *raised: Any) -> None:
        self._flint.ctx.prec, _held.bits, _held.again = self._before
        self._lock.__exit__(*raised)


def _operator(operation: Callable[[Any, Any], Any], *, swapped: bool = False) -> Callable[[Ball, Any], Any]:
    """An operator of Python as a method of balls; if ``swapped``, of what stands on its right."""
    return lambda ball, other: ball._paired(other, operation, swapped=swapped)


@dataclass(frozen=True, eq=False)
class Ball:
    """A complex number with a radius, and the precision in bits of computations with it.

    ``value`` is a ``flint.acb``. ``variables`` are the variables of integration that the number depends on: a function of such
    a ball is finite only if it is analytic on the whole ball. The enclosure is valid at any precision; more bits make it
    narrower.
    """

    value: Any
    bits: int
    variables: frozenset[object] = frozenset()

    @property
    def analytic(self) -> bool:
        """Whether functions of the ball are finite only if they are analytic on it."""
        return bool(self.variables)

    def _paired(self, other: Any, operation: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
        if isinstance(other, Ball):
            bits, variables = max(self.bits, other.bits), self.variables | other.variables
        elif isinstance(other, int):
            bits, variables = self.bits, self.variables
        else:
            # a float is ambiguous: `Balls.constant` takes its decimal, `Balls.exact` the double itself
            return NotImplemented
        with precision(bits) as flint:
            right = other.value if isinstance(other, Ball) else flint.acb(other)
            value = operation(right, self.value) if swapped else operation(self.value, right)
        return Ball(value, bits, variables)

    def __neg__(self) -> Ball:
        # a negation at less precision would round
        with precision(self.bits):
            return Ball(-self.value, self.bits, self.variables)

    __add__ = __radd__ = _operator(add)
    __mul__ = __rmul__ = _operator(mul)
    __sub__, __rsub__ = _operator(sub), _operator(sub, swapped=True)
    __truediv__, __rtruediv__ = _operator(truediv), _operator(truediv, swapped=True)

    def __pow__(self, other: Any) -> Any:
        """Whole powers by multiplication, other powers by the principal branch."""
        if isinstance(other, int):
            return self._paired(other, pow)
        analytic = self.analytic or (isinstance(other, Ball) and other.analytic)
        # a ball across the cut holds both branches, on which the powers differ
        return self._paired(other, lambda base, power: (power * base.log(analytic=analytic)).exp())

    @property
    def finite(self) -> bool:
        """Whether the ball is bounded."""
        return bool(self.value.is_finite())

    def exceeds(self, other: Ball) -> bool:
        """Whether the modulus is proved to be larger than that of another ball."""
        with precision(max(self.bits, other.bits)):
            return bool(self.value.abs_lower() > other.value.abs_upper())
