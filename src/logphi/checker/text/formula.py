"""Formulas in one variable: texts of a small grammar, and their values in any arithmetic.

    sum     = product, {("+" | "-"), product}
    product = factor, {("*" | "/"), factor}
    factor  = "-", factor | atom, ["**", exponent]
    atom    = number | name | function, "(", sum, ")" | "(", sum, ")"

A number is whole or a decimal; a name is that of the variable, ``pi`` or ``E``; a function is exp, log or sqrt; an exponent is
an integer, or a quotient of two in parentheses, each with an optional sign.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_series, ctx

from logphi.checker.arithmetic.balls import ball
from logphi.checker.arithmetic.work import EXP, spend

# chosen: the largest number of characters of a text
LONGEST = 4000
# chosen: the largest depth to which parentheses and signs are nested
DEEPEST = 60
# chosen: the number of digits of a number, and the largest exponent
MOST_DIGITS, LARGEST_POWER = 300, 1000

FUNCTIONS = ("exp", "log", "sqrt")
_TOKEN = re.compile(r" *([0-9]+(?:\.[0-9]+)?|[A-Za-z]+|\*\*|[-+*/()])")
_EXPONENT = re.compile(r" *(?:(-?[0-9]{1,4})|\( *(-?[0-9]{1,4}) *(?:/ *([0-9]{1,4}) *)?\))")


class NotAFormula(ValueError):
    """What is wrong with a text."""


class Arithmetic:
    """The operations on one kind of number besides ``+ - * /``."""

    def constant(self, value: Any) -> Any:
        """A real ball as such a number."""
        raise NotImplementedError

    def exp(self, x: Any) -> Any:
        """The exponential."""
        return x.exp()

    def log(self, x: Any) -> Any:
        """The logarithm."""
        return x.log()

    def power(self, x: Any, exponent: Fraction) -> Any:
        """A power: by multiplication where the exponent is whole, elsewhere by the logarithm."""
        if exponent.denominator == 1:
            return x**exponent.numerator
        return self.exp(self.log(x) * self.constant(ball(exponent)))


@dataclass(frozen=True)
class Formula:
    """A text as it was read; ``steps`` are its operations, each one after its operands."""

    text: str
    steps: tuple[tuple[str, Any], ...]

    def at(self, x: Any, arith: Arithmetic, cost: float = 1) -> Any:
        """The value where the variable is x; ``cost`` is that of a multiplication, in those of single balls."""
        spend(EXP * cost * len(self.steps))
        stack: list[Any] = []
        for kind, detail in self.steps:
            if kind == "variable":
                stack.append(x)
            elif kind == "number":
                stack.append(arith.constant(ball(detail)))
            elif kind == "name":
                stack.append(arith.constant(_NAMES[detail]()))
            elif kind == "power":
                stack.append(arith.power(stack.pop(), detail))
            elif kind in _SIGNS:
                other = stack.pop()
                stack.append(_SIGNS[kind](stack.pop(), other))
            else:
                stack.append(_CALLS[kind](arith, stack.pop()))
        return stack.pop()


@dataclass(frozen=True)
class Piece:
    """Two formulas on an interval, one of which may be missing; an end that is None is infinite."""

    low: Fraction | None
    high: Fraction | None
    log_p: Formula | None
    log_q: Formula | None


_NAMES: dict[str, Callable[[], Any]] = {"pi": arb.pi, "E": lambda: arb(1).exp()}
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda arith, x: -x,
    "exp": lambda arith, x: arith.exp(x),
    "log": lambda arith, x: arith.log(x),
    "sqrt": lambda arith, x: arith.power(x, Fraction(1, 2)),
}


def read(text: str, variable: str) -> Formula:
    """The formula of a text, or a :class:`NotAFormula`."""
    if len(text) > LONGEST:
        raise NotAFormula(f"is longer than {LONGEST} characters")
    reader = _Reader(text, variable)
    reader.sum(0)
    if reader.token:
        raise NotAFormula(f"goes on after its end, with {reader.token[:20]!r}")
    return Formula(text, tuple(reader.steps))


class _Reader:
    """Reads a text from left to right, by one method for each rule of the grammar."""

    def __init__(self, text: str, variable: str) -> None:
        self.text, self.variable, self.place = text, variable, 0
        self.steps: list[tuple[str, Any]] = []
        self.next()

    def next(self) -> str:
        """The current token; after it, the next one is current. It is empty at the end of the text."""
        passed = getattr(self, "token", "")
        found = _TOKEN.match(self.text, self.place)
        if found is None and self.text[self.place :].strip(" "):
            raise NotAFormula(f"holds {self.text[self.place :].strip()[:20]!r}, which is not part of a formula")
        self.token = found.group(1) if found else ""
        self.start, self.place = (found.start(), found.end()) if found else (len(self.text), len(self.text))
        return passed

    def sum(self, depth: int) -> None:
        self._chain(self._product, ("+", "-"), depth)

    def _product(self, depth: int) -> None:
        self._chain(self._factor, ("*", "/"), depth)

    def _chain(self, part: Callable[[int], None], signs: tuple[str, ...], depth: int) -> None:
        part(depth)
        while self.token in signs:
            sign = self.next()
            part(depth)
            self.steps.append((sign, None))

    def _factor(self, depth: int) -> None:
        if depth > DEEPEST:
            raise NotAFormula("is nested too deeply")
        if self.token == "-":
            self.next()
            self._factor(depth + 1)
            self.steps.append(("negative", None))
            return
        self._atom(depth)
        if self.token == "**":
            self.steps.append(("power", self._exponent()))

    def _exponent(self) -> Fraction:
        found = _EXPONENT.match(self.text, self.place)
        if found is None:
            raise NotAFormula(
                "has an exponent that is neither an integer nor a quotient of two in parentheses: write exp and log"
            )
        whole, numerator, denominator = found.groups()
        if int(denominator or 1) == 0:
            raise NotAFormula("has an exponent without a value")
        exponent = Fraction(int(whole or numerator), int(denominator or 1))
        if abs(exponent) > LARGEST_POWER:
            raise NotAFormula(f"has an exponent above {LARGEST_POWER}")
        self.place = found.end()
        self.next()
        return exponent

    def _atom(self, depth: int) -> None:
        token = self.next()
        if token == "(":
            self._inside(depth)
        elif token in FUNCTIONS and self.token == "(":
            self.next()
            self._inside(depth)
            self.steps.append((token, None))
        elif token == self.variable:
            self.steps.append(("variable", None))
        elif token in _NAMES:
            self.steps.append(("name", token))
        elif token[:1].isdigit() and len(token) <= MOST_DIGITS:
            self.steps.append(("number", Fraction(token)))
        else:
            raise NotAFormula(f"has {token[:20]!r} where a number, {self.variable} or a function is needed")

    def _inside(self, depth: int) -> None:
        self.sum(depth + 1)
        if self.next() != ")":
            raise NotAFormula("has a parenthesis that is not closed")


class Complex(Arithmetic):
    """Complex balls, on the principal branch; where ``analytic``, a logarithm has no value if its ball meets the cut."""

    def __init__(self, analytic: bool) -> None:
        self.analytic = analytic

    def constant(self, value: Any) -> Any:
        """The ball as a complex one."""
        return acb(value)

    def log(self, x: Any) -> Any:
        """The principal logarithm."""
        return x.log(analytic=self.analytic)


class Series(Arithmetic):
    """Power series whose coefficients are real balls: they hold the value and the derivatives at every point of a ball."""

    def constant(self, value: Any) -> Any:
        """A constant series."""
        return arb_series([value])


def series(formula: Formula, x: Any, terms: int) -> list[Any]:
    """The first ``terms`` Taylor coefficients at x, as balls that hold those at every point of x."""
    before, ctx.cap = ctx.cap, terms
    try:
        found = formula.at(arb_series([x, 1]), Series(), 1 + terms / 4).coeffs()
    except ZeroDivisionError:
        found = [arb.nan()]
    finally:
        ctx.cap = before
    return [*found, *[arb(0)] * (terms - len(found))]
