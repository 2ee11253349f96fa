"""A SymPy expression of + - * / powers, exp and log, evaluated from its parts to the whole in any kind of number."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class NotEnclosedError(ValueError):
    """What of a formula cannot be enclosed."""


class Rules(Protocol[T]):
    """What the variable, numbers and operations are."""

    def variable(self) -> T:
        """The variable."""

    def rational(self, value: Fraction) -> T:
        """A rational number."""

    def rounded(self, value: float) -> T:
        """A number whose nearest double is known."""

    def add(self, one: T, two: T) -> T:
        """A sum."""

    def multiply(self, one: T, two: T) -> T:
        """A product."""

    def power(self, base: T, exponent: Fraction) -> T:
        """A rational power."""

    def exp(self, exponent: T) -> T:
        """The exponential."""

    def log(self, value: T) -> T:
        """The logarithm."""


def evaluated(one: Any, variable: Any, rules: Rules[T]) -> T:
    """The value of an expression.

    Raises
    ------
    NotEnclosedError
        For any other function.
    """
    import sympy

    if one == variable:
        return rules.variable()
    if one.is_Rational:
        return rules.rational(Fraction(int(one.p), int(one.q)))
    if one is sympy.pi or one is sympy.E:
        return rules.rounded(float(one))
    if isinstance(one, (sympy.Add, sympy.Mul)):
        parts = (evaluated(part, variable, rules) for part in one.args)
        return reduce(rules.add if isinstance(one, sympy.Add) else rules.multiply, parts)
    if isinstance(one, sympy.exp):
        return rules.exp(evaluated(one.exp, variable, rules))
    if isinstance(one, sympy.Pow) and one.exp.is_Rational:
        return rules.power(evaluated(one.base, variable, rules), Fraction(int(one.exp.p), int(one.exp.q)))
    if isinstance(one, sympy.log):
        return rules.log(evaluated(one.args[0], variable, rules))
    raise NotEnclosedError(f"{one} has no enclosure: write + - * / **, exp, log and sqrt")
