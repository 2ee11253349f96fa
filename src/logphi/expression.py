"""The algebra of mechanisms as text: numbers, lists, constructors, transforms, and nothing else.

The text is read by a small reader with its own tokens rather than by Python's parser: nothing is ever evaluated as
code, a sum of any length is a loop rather than a deep tree, and every refusal is one line that names the piece, the
rule and the next step. Numbers are exact as long as they are rational: a decimal is the decimal, and ``256/60000`` is that
quotient; each is a double as well (:class:`logphi.written.Written`). The grammar, in the precedence of Python::

    sum       = product (("+" | "-") product)*
    product   = signed (("*" | "/") signed)*
    signed    = ("+" | "-")* postfix ["**" signed]
    postfix   = atom ("." transform arguments)*
    atom      = number | variable | [("lp" | "logphi") "."] constructor arguments | "(" sum ")" | list
    list      = "[" [sum ("," sum)* [","]] "]"             also a tuple of one or more numbers
    arguments = "(" [argument ("," argument)* [","]] ")"   argument = [name "="] (sum | "inf")
                                                           or "adjacency" "=" string, "one_pair" "=" ("True" | "False")
"""

from __future__ import annotations

import enum
import inspect
import math
import operator
import re
import sys
from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from logphi.check import real
from logphi.guesses import attribute_hint, nearest, unexpected
from logphi.mechanisms import CATALOGUE, PYTHON_ONLY
from logphi.release import Mechanism, compose
from logphi.spelling import LONGEST_DECIMAL
from logphi.written import Written, exact

FLAGS = {"True": True, "False": False}
# as mechanisms are written in Python
PACKAGE = ("lp", "logphi")
TRANSFORMS = ("poisson", "subset")
LONGEST = 1_000_000
"""Characters in a text: room for tens of thousands of distinct steps."""
DEEPEST = 50
"""Levels of brackets, powers and transforms: far below the recursion limit of the interpreter."""
LARGEST_WHOLE_FLOAT = 2**53
"""Above it neighbouring whole numbers share a double, so that a float is no longer a count."""
MOST_DIGITS = 400
"""Digits computed before a whole number is compared with the largest double, which has 309."""
MOST_BITS = 3600
"""Of a numerator or a denominator; a number that needs more is its double and nothing beside."""

# Letters beyond ASCII are read as parts of names, so that a look-alike is refused as a whole, with the name it mimics.
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*) | (?P<name>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)
    | (?P<string>'[^'\\\n]*'|"[^"\\\n]*") | (?P<operator>\*\*|[-+*/().,=\[\]]) | (?P<end>\Z) | (?P<alien>.))""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


def parse(
    text: str,
    constructors: Mapping[str, Callable[..., Mechanism]] | None = None,
    variables: Mapping[str, float] | None = None,
) -> Mechanism:
    """The mechanism that a text describes.

    Parameters
    ----------
    text
        An expression such as ``"14062 * Gaussian(sigma=1.1).poisson(256/60000)"``. Decimals and what + - * / and whole powers
        make of them are exact, and rounded to doubles once; a whole float up to 2**53 counts repetitions too (``1e12``).
    constructors
        What a called name stands for; the catalogue of the library unless given.
    variables
        Names that stand for numbers; none unless given.

    Returns
    -------
    Mechanism
        Equal to what wrote the text as its ``str``.

    Raises
    ------
    ValueError
        If the text is not in the language, a number leaves the range of doubles, or a constructor refuses its
        arguments; always one line.

    Examples
    --------
    >>> parse("1e3 * Gaussian(sigma=2)") == parse("10*100 * Gaussian(2.0)")
    True
    """
    reader = _Reader(text, CATALOGUE if constructors is None else constructors, variables or {})
    value = reader.sum()
    reader.finish()
    if not _is_mechanism(value):
        raise ValueError(f"the expression is {_described(value)}, not a mechanism: write one, e.g. Gaussian(sigma=1)")
    return value  # type: ignore[no-any-return]


def parse_numbers(text: str) -> list[float]:
    """The numbers in a text, separated by commas, each in the grammar of :func:`parse`.

    Raises
    ------
    ValueError
        If the text is anything else; always one line.

    Examples
    --------
    >>> parse_numbers("-0.5, 2**-2")
    [-0.5, 0.25]
    >>> parse_numbers("0.1 + 0.2")[0].exact
    Fraction(3, 10)
    """
    reader = _Reader(text, {}, {})
    numbers = [_number(reader.token, reader.sum())]
    while reader.accept(","):
        numbers.append(_number(reader.token, reader.sum()))
    reader.finish()
    return [real("a number", number) for number in numbers]


def parse_number(text: str) -> int | float:
    """The one number in a text, in the grammar of :func:`parse`; an int if it is written as one.

    Raises
    ------
    ValueError
        If the text is anything else; always one line.

    Examples
    --------
    >>> parse_number("10**3"), parse_number("1e3"), parse_number("1/4")
    (1000, 1000.0, 0.25)
    """
    reader = _Reader(text, {}, {})
    number = _number(reader.token, reader.sum())
    reader.finish()
    return number


def unknowns(text: str) -> list[str]:
    """The names in a text that would have to be ``variables`` of :func:`parse`, each once, in their order.

    Examples
    --------
    >>> unknowns("1000 * Gaussian(sigma=x).poisson(0.01)")
    ['x']
    """
    tokens = _Reader(text, {}, {}).tokens
    return list(
        dict.fromkeys(
            token.text
            for before, token, after in zip([None, *tokens], tokens, tokens[1:], strict=False)
            if token.kind == "name"
            and after.text not in ("(", "=", ".")
            and (before is None or before.text != ".")
            and token.text not in (*CATALOGUE, "inf")
        )
    )


class _Token(NamedTuple):
    kind: str
    text: str
    start: int

    def refuse(self, rule: str) -> NoReturn:
        piece = "the end of the text" if self.kind == "end" else f"{_clipped(self.text)} at character {self.start + 1}"
        raise ValueError(" ".join(f"{piece}: {rule}".split()))


class _Reader:
    """Reads and evaluates in one pass; each rule of the grammar is the method of its name."""

    def __init__(self, text: str, constructors: Mapping[str, Callable[..., Mechanism]], variables: Mapping[str, float]) -> None:
        if not isinstance(text, str):
            raise TypeError(f"an expression must be a string, got {type(text).__name__}")
        if len(text) > LONGEST:
            raise ValueError(f"the text has {len(text)} characters, more than {LONGEST}: compose in Python instead")
        matches = ((match, match.lastgroup or "alien") for match in _TOKEN.finditer(text))
        self.tokens = [_Token(kind, match[kind], match.start(kind)) for match, kind in matches]
        self.place = 0
        self.depth = 0
        self.constructors = constructors
        self.variables = {name: value if type(value) is int else real(name, value) for name, value in variables.items()}

    @property
    def token(self) -> _Token:
        return self.tokens[self.place]

    def take(self) -> _Token:
        token = self.token
        self.place += token.kind != "end"
        return token

    def accept(self, *texts: str) -> _Token | None:
        return self.take() if self.token.text in texts else None

    def expect(self, text: str) -> _Token:
        return self.accept(text) or self.unexpected(repr(text))

    def unexpected(self, wanted: str) -> NoReturn:
        if self.token.kind == "alien":
            self.token.refuse("not in the language of numbers, + - * / **, brackets, commas, mechanisms and transforms")
        if self.token.kind == "string":
            self.token.refuse("a string may only be the value of adjacency=, e.g. adjacency='replace'")
        self.token.refuse(f"expected {wanted} here")

    def finish(self) -> None:
        if self.token.kind != "end":
            self.unexpected("an operator (+ - * / **) or the end of the text")

    def sum(self) -> Any:
        total, terms = self.product(), []
        first = self.token
        while sign := self.accept("+", "-"):
            term = self.product()
            if sign.text == "+" and _is_mechanism(total) and _is_mechanism(term):
                terms.append(term)
            else:
                total = _calculate(sign, total, term)
        # One call for all terms: repeated + would copy a growing composition at every step.
        return _attempt(first, compose, [[total, *terms]]) if terms else total

    def product(self) -> Any:
        product = self.signed()
        while sign := self.accept("*", "/"):
            factor = self.signed()
            if sign.text == "*" and _is_mechanism(product) and _is_number(factor):
                product = _attempt(sign, operator.mul, [product, _count(sign, factor)])
            elif sign.text == "*" and _is_number(product) and _is_mechanism(factor):
                product = _attempt(sign, operator.mul, [factor, _count(sign, product)])
            else:
                product = _calculate(sign, product, factor)
        return product

    def signed(self) -> Any:
        signs = []
        while sign := self.accept("+", "-"):
            signs.append(sign)
        # Every cycle of the grammar passes through this rule, so one counter bounds the recursion.
        self.depth += 1
        if self.depth > DEEPEST:
            self.token.refuse(f"nested deeper than {DEEPEST} levels: remove brackets")
        value = self.postfix()
        if power := self.accept("**"):
            value = _calculate(power, value, self.signed())
        self.depth -= 1
        for sign in reversed(signs):
            value = _negative(_number(sign, value)) if sign.text == "-" else _number(sign, value)
        return value

    def postfix(self) -> Any:
        value, chained = self.atom(), 0
        while dot := self.accept("."):
            name, chained = self.take(), chained + 1
            if not _is_mechanism(value):
                dot.refuse(f"only a mechanism has transforms, not {_described(value)}")
            if chained > DEEPEST:
                dot.refuse(f"more than {DEEPEST} transforms in a row")
            if name.text not in TRANSFORMS:
                name.refuse(f"unknown transform{attribute_hint(name.text) or '; ' + _nearest(name.text, TRANSFORMS)}")
            value = self.call(name, getattr(value, name.text))
        return value

    def atom(self) -> Any:
        token = self.token
        if token.kind == "number":
            return _literal(self.take())
        if token.kind == "name":
            self.take()
            if token.text in PACKAGE and self.token.text == "." and self.tokens[self.place + 1].kind == "name":
                self.take()
                token = self.take()
            if self.token.text == "(" and token.text in self.constructors:
                return self.call(token, self.constructors[token.text])
            if self.token.text != "(" and token.text in self.variables:
                return self.variables[token.text]
            if self.token.text == ".":
                token.refuse("there are no modules here: write Gaussian(...) or lp.Gaussian(...)")
            if token.text in self.constructors:
                token.refuse(f"a mechanism needs its parameters: {_written(token.text, self.constructors[token.text])}")
            if token.text in PYTHON_ONLY:
                token.refuse(f"{PYTHON_ONLY[token.text]}, which a text cannot hold: construct it in Python")
            token.refuse(f"unknown name; {_nearest(token.text, [*self.constructors, *self.variables])}")
        if self.accept("["):
            return self.numbers("]")
        if not self.accept("("):
            self.unexpected("a number, a mechanism, a list or '('")
        value = self.sum()
        if comma := self.accept(","):
            return [_number(comma, value), *self.numbers(")")]
        self.expect(")")
        return value

    def numbers(self, close: str) -> list[int | float]:
        numbers: list[int | float] = []
        while not self.accept(close):
            start = self.token
            numbers.append(_number(start, self.sum()))
            if not self.accept(","):
                self.expect(close)
                break
        return numbers

    def call(self, name: _Token, function: Callable[..., Any]) -> Any:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        self.expect("(")
        while not self.accept(")"):
            start = self.token
            named = start.kind == "name" and self.tokens[self.place + 1].text == "="
            if named:
                self.place += 2
                if start.text in keywords:
                    start.refuse("this argument is given twice")
            elif keywords:
                start.refuse("an argument without a name cannot follow one with a name")
            if named and start.text == "adjacency" and self.token.kind == "string":
                value: Any = self.take().text[1:-1]
            elif named and start.text == "one_pair" and self.token.text in FLAGS:
                value = FLAGS[self.take().text]
            elif self.token.text == "inf" and self.tokens[self.place + 1].text in (",", ")"):
                self.take()
                value = math.inf
            else:
                value = self.sum()
            if _is_mechanism(value):
                start.refuse("an argument is a number or a list of numbers, not a mechanism")
            if named:
                keywords[start.text] = value
            else:
                positional.append(value)
            if not self.accept(","):
                self.expect(")")
                break
        return _attempt(name, function, positional, keywords)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _is_mechanism(value: Any) -> bool:
    return not isinstance(value, (int, float, list, str))


def _number(token: _Token, value: Any) -> int | float:
    if not _is_number(value):
        token.refuse(f"a number belongs here, not {_described(value)}")
    return value  # type: ignore[no-any-return]


def _described(value: Any) -> str:
    if _is_number(value):
        return f"the number {_clipped(value)}"
    return "a mechanism" if _is_mechanism(value) else "a list"


def _clipped(piece: Any) -> str:
    # ascii, not repr: a look-alike letter must be visible as what it is.
    shown = ascii(piece)
    return shown if len(shown) <= 60 else f"{shown[:40]}...{shown[-10:]}"


def _nearest(name: str, known: Collection[str]) -> str:
    return nearest(name, known) or (f"known here: {', '.join(known)}" if known else "only numbers are known here")


def _written(name: str, function: Callable[..., Any]) -> str:
    """``name(sigma, sensitivity=1.0, adjacency='add_remove')``: the call as a user of the language writes it."""
    signature = inspect.signature(function)
    plain = []
    for entry in signature.parameters.values():
        default = entry.default.value if isinstance(entry.default, enum.Enum) else entry.default
        plain.append(entry.replace(annotation=entry.empty, default=default))
    return f"{name}{signature.replace(parameters=plain, return_annotation=signature.empty)}"


def _attempt(
    token: _Token, function: Callable[..., Any], positional: list[Any], keywords: Mapping[str, Any] | None = None
) -> Any:
    """The call, with everything that an argument can be blamed for as a refusal of ``token``."""
    keywords = keywords or {}
    try:
        result = function(*positional, **keywords)
    except (ValueError, OverflowError) as error:
        token.refuse(str(error))
    except TypeError as error:
        cause, signature = str(error), inspect.signature(function)
        try:
            # Its wording, unlike that of a failed call, does not mention __init__.
            signature.bind(*positional, **keywords)
        except TypeError as mismatch:
            unknown = [name for name in keywords if name not in signature.parameters]
            cause = unexpected(unknown[0], getattr(function, "_hints", {})) if unknown else str(mismatch)
        token.refuse(f"{cause}; it is written {_written(token.text, function)}")
    return result


def _literal(token: _Token) -> int | float:
    text = token.text
    whole = text.replace("_", "").isdigit() and len(text) <= MOST_DIGITS
    try:
        # Base 0 refuses a leading zero, which elsewhere means octal.
        value = int(text, 0) if whole else float(text)
    except ValueError:
        token.refuse("not a number: write 12, 1.5 or 1e-5 (no complex, hexadecimal or octal numbers)")
    number = _fitting(token, value, vanished=value == 0 and bool(re.search("[1-9]", re.split("[eE]", text)[0])))
    if whole or len(text) > LONGEST_DECIMAL:
        return number
    # zero may have an exponent that no power of ten can be computed for
    return Written(Fraction(text.replace("_", "") if number else 0))


def _calculate(sign: _Token, left: Any, right: Any) -> int | float:
    """``left sign right`` for numbers; everything else is refused."""
    if not (_is_number(left) and _is_number(right)):
        sign.refuse(
            f"it cannot join {_described(left)} and {_described(right)}: "
            "mechanisms compose with + and repeat with a whole number and *, lists are only arguments"
        )
    number = None
    try:
        number = _rational(sign.text, left, right)
        result = _OPERATIONS[sign.text](left, right) if number is None else _rounded(number)
    except ZeroDivisionError:
        sign.refuse(f"division by zero, {_clipped(left)} {sign.text} {_clipped(right)}")
    except OverflowError:
        result = math.inf
    if isinstance(result, complex):
        sign.refuse(f"{_clipped(left)} ** {_clipped(right)} is not a real number")
    if number is None:
        vanished = result == 0 and sign.text not in "+-" and left != 0 and (sign.text != "*" or right != 0)
    else:
        vanished = result == 0 != number
    return _fitting(sign, result, vanished)


def _rational(sign: str, left: int | float, right: int | float) -> Fraction | None:
    """What becomes of two exact numbers, if it is rational, not whole by itself, and short enough."""
    if not (isinstance(left, (int, Written)) and isinstance(right, (int, Written))):
        return None
    if type(left) is type(right) is int and (sign in "+-*" or (sign == "**" and right >= 0)):
        return None
    one, other = exact(left), exact(right)
    if sign == "**":
        if other.denominator > 1 or abs(other) * max(one.numerator.bit_length(), one.denominator.bit_length()) > MOST_BITS:
            return None
        result = one**other.numerator
    else:
        result = _OPERATIONS[sign](one, other)
    return result if max(result.numerator.bit_length(), result.denominator.bit_length()) <= MOST_BITS else None


def _rounded(number: Fraction) -> float:
    """The number; zero where it is below every double."""
    nearest = float(number)
    return Written(number) if nearest or not number else nearest


def _negative(number: int | float) -> int | float:
    return Written(-number.exact) if isinstance(number, Written) else -number


def _power(base: int | float, exponent: int | float) -> Any:
    if isinstance(base, float) or isinstance(exponent, float):
        return float(base) ** float(exponent)
    # The size is known from logarithms alone; 10**10**10 itself is never computed.
    if abs(base) > 1 and abs(exponent) * math.log10(abs(base)) > MOST_DIGITS:
        return math.inf if exponent > 0 else 0.0
    return base**exponent if exponent >= 0 else 1 / base**-exponent


_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": _power,
}


def _fitting(token: _Token, number: int | float, vanished: bool = False) -> int | float:
    if vanished or not abs(number) <= sys.float_info.max:
        token.refuse(f"the number is too {'small' if vanished else 'large'} for double precision")
    return number


def _count(sign: _Token, number: int | float) -> int:
    """A whole number of repetitions."""
    if number < 0 or exact(number).denominator > 1:
        sign.refuse(f"a mechanism is repeated a whole number of times, got {_clipped(number)}: write a count")
    if isinstance(number, float) and number > LARGEST_WHOLE_FLOAT:
        sign.refuse(f"{number!r} is no longer exact as a float: write the count as an integer")
    return int(number)
