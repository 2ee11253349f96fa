"""Complex balls of any precision (FLINT, formerly Arb): each holds the exact result of what it was computed by.

Every operation returns a complex ball that contains the exact result for all arguments in the argument balls (Johansson 2017,
*Arb: efficient arbitrary-precision midpoint-radius interval arithmetic*). What cannot be enclosed is refused with a
``NotImplementedError``, and what is not known, as at a pole, is a ball that is not finite: no estimate passes for a proof.

Logarithms are known up to multiples of 2 pi i, and so is K: the principal branch is taken where a ball keeps off the negative
axis, and the branch that is continuous there where it does not. In an integrand one branch must hold throughout: a ball
knows the variables of integration that it depends on, and a logarithm of such a one across the cut is not finite, so that the
quadrature looks closer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import add, mul, sub, truediv
from threading import RLock
from typing import Any

# the name, among those of FLINT, of the lock that guards its precision: the checker of certificates, which shares no code with
# this module, takes the same lock by the same name
_LOCK = "_precision_lock"


@contextmanager
def precision(bits: int) -> Iterator[Any]:
    """FLINT at a precision, for one thread at a time.

    The precision of FLINT is one global variable, which all threads share. Whoever computes holds the lock that guards it;
    the old precision is restored at the end, after an exception too.
    """
    try:
        import flint
    except ImportError:
        raise ImportError("ball arithmetic needs python-flint, which is not installed: pip install python-flint") from None
    with vars(flint).setdefault(_LOCK, RLock()), flint.ctx.workprec(bits):
        yield flint


@dataclass(frozen=True, eq=False)
class Ball:
    """A complex number to within a radius, and the bits that are carried when it is computed with.

    ``value`` is a ``flint.acb``. ``variables`` are those of the integrals that are being taken over it: a function of such a
    ball is not finite unless it is analytic on all of it. The enclosure is valid whatever the precision, which only decides how
    wide it is.
    """

    value: Any
    bits: int
    variables: frozenset[object] = frozenset()

    @property
    def analytic(self) -> bool:
        """Whether functions of it have to be."""
        return bool(self.variables)

    def _paired(self, other: Any, operation: Callable[[Any, Any], Any], *, turned: bool = False) -> Any:
        if isinstance(other, int):
            with precision(self.bits) as flint:
                other = Ball(flint.acb(other), self.bits)
        elif not isinstance(other, Ball):
            # floats are not reals: `Balls.constant` or `Balls.exact` say which number is meant
            return NotImplemented
        bits = max(self.bits, other.bits)
        with precision(bits):
            value = operation(other.value, self.value) if turned else operation(self.value, other.value)
        return Ball(value, bits, self.variables | other.variables)

    def __neg__(self) -> Ball:
        # a negation at less precision would round
        with precision(self.bits):
            return Ball(-self.value, self.bits, self.variables)

    def __add__(self, other: Any) -> Any:
        return self._paired(other, add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._paired(other, sub)

    def __rsub__(self, other: Any) -> Any:
        return self._paired(other, sub, turned=True)

    def __mul__(self, other: Any) -> Any:
        return self._paired(other, mul)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._paired(other, truediv)

    def __rtruediv__(self, other: Any) -> Any:
        return self._paired(other, truediv, turned=True)

    def __pow__(self, other: Any) -> Any:
        """Whole powers by multiplication, others of the principal branch."""
        if isinstance(other, int):
            return self._paired(other, pow)
        analytic = self.analytic or (isinstance(other, Ball) and other.analytic)
        # across the cut both sides at once: a power tells the branches apart
        return self._paired(other, lambda base, power: (power * base.log(analytic=analytic)).exp())

    @property
    def finite(self) -> bool:
        """Whether anything is known."""
        return bool(self.value.is_finite())

    def exceeds(self, other: Ball) -> bool:
        """Whether it is larger than another in modulus, for certain."""
        with precision(max(self.bits, other.bits)):
            return bool(self.value.abs_lower() > other.value.abs_upper())
