"""Formulas in one variable: expressions of Python with few parts, and their values in any arithmetic.

The parts are ``+ - * /``, parentheses, whole numbers and decimals, the variable, ``pi``, ``E``, the functions exp, log and
sqrt, and powers ``**`` whose exponent is an integer or a quotient of two, each with an optional sign.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, arb_series, ctx

from logphi.checker.arithmetic.balls import ball
from logphi.checker.arithmetic.work import EXP, spend
from logphi.checker.entries import NotACertificate, require

# chosen: the largest number of characters of a text
LONGEST = 4000
# chosen: the largest depth to which parentheses and signs are nested
DEEPEST = 60
# chosen: the number of digits of a number, and the largest exponent
MOST_DIGITS, LARGEST_POWER = 300, 1000

FUNCTIONS = ("exp", "log", "sqrt")
_CHARACTERS = re.compile(r"[-+*/(). 0-9A-Za-z]*")
_NUMBER = re.compile(rf"(?=.{{1,{MOST_DIGITS}}}$)[0-9]+(?:\.[0-9]+)?")
_EXPONENT = re.compile(r"(-?[0-9]{1,4}) *(?:/ *([0-9]{1,4}))?")
_OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


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

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Piece:
    """Two formulas on an interval, one of which may be missing; an end that is None is infinite."""

    low: Fraction | None
    high: Fraction | None
    log_p: Formula | None
    log_q: Formula | None

    def __str__(self) -> str:
        ends = ("-oo" if self.low is None else str(self.low), "oo" if self.high is None else str(self.high))
        return f"({', '.join(ends)}): {', '.join(str(one or '-oo') for one in (self.log_p, self.log_q))}"


_NAMES: dict[str, Callable[[], Any]] = {"pi": arb.pi, "E": lambda: arb(1).exp()}
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "negative": lambda arith, x: -x,
    "exp": lambda arith, x: arith.exp(x),
    "log": lambda arith, x: arith.log(x),
    "sqrt": lambda arith, x: arith.power(x, Fraction(1, 2)),
}


def written(variable: str) -> Callable[[Any, str], Formula]:
    """Reads a formula in a variable that is a parameter of a name."""

    def rule(value: Any, name: str) -> Formula:
        require(isinstance(value, str), f"{name} must hold formulas as strings")
        try:
            return read(value, variable)
        except NotAFormula as wrong:
            raise NotACertificate(f"a formula in {name} {wrong}") from None

    return rule


def read(text: str, variable: str) -> Formula:
    """The formula of a text, or a :class:`NotAFormula`."""
    if len(text) > LONGEST:
        raise NotAFormula(f"is longer than {LONGEST} characters")
    if not _CHARACTERS.fullmatch(text) or "//" in text:
        raise NotAFormula("holds something that is not part of a formula")
    try:
        # Python's own parser takes time and memory in proportion to the length, but may refuse what is nested deeply
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(" "), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotAFormula("is not an expression, or is nested too deeply") from None
    return Formula(text, tuple(_steps(tree, text.strip(" "), variable, 0)))


def _steps(node: ast.expr, text: str, variable: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The operations of an expression, each one after its operands."""
    if depth > DEEPEST:
        raise NotAFormula("is nested too deeply")
    match node:
        case ast.BinOp(left, ast.Pow(), right):
            yield from _steps(left, text, variable, depth + 1)
            yield "power", _exponent(text[right.col_offset : right.end_col_offset])
        case ast.BinOp():
            # a long sum is nested to the left
            later = list[ast.BinOp]()
            while isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
                later, node = [node, *later], node.left
            yield from _steps(node, text, variable, depth + 1)
            for one in later:
                yield from _steps(one.right, text, variable, depth + 1)
                yield _OPERATIONS[type(one.op)], None
        case ast.UnaryOp(ast.USub(), operand):
            yield from _steps(operand, text, variable, depth + 1)
            yield "negative", None
        case ast.Call(ast.Name(name), [argument], []) if name in FUNCTIONS:
            yield from _steps(argument, text, variable, depth + 1)
            yield name, None
        case ast.Name(name) if name == variable or name in _NAMES:
            yield ("variable", None) if name == variable else ("name", name)
        case ast.Constant():
            number = text[node.col_offset : node.end_col_offset]
            if not _NUMBER.fullmatch(number):
                raise NotAFormula(f"has {number[:20]!r} where a number is needed")
            yield "number", Fraction(number)
        case _:
            part = text[node.col_offset : node.end_col_offset][:20]
            raise NotAFormula(f"has {part!r} where a number, {variable} or a function is needed")


def _exponent(text: str) -> Fraction:
    """An integer, or a quotient of two."""
    found = _EXPONENT.fullmatch(text)
    if found is None or int(found[2] or 1) == 0 or abs(int(found[1])) > LARGEST_POWER * int(found[2] or 1):
        raise NotAFormula(
            f"has an exponent that is neither an integer up to {LARGEST_POWER} nor a quotient of two: write exp and log"
        )
    return Fraction(int(found[1]), int(found[2] or 1))


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
