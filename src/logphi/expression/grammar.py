"""The grammar, with the precedence of Python; each rule is a method of its name, which reads and evaluates in one pass."""

from __future__ import annotations

import enum
import inspect
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any, NoReturn

from logphi.algebra.release import Mechanism, compose
from logphi.expression.arithmetic import calculate, literal, negative, repetitions
from logphi.expression.tokens import TOKEN, Token, described, is_mechanism, is_number, number_of
from logphi.inputs.check import real
from logphi.inputs.guesses import attribute_hint, nearest, unexpected
from logphi.mechanisms.catalogue import PYTHON_ONLY

FLAGS = {"True": True, "False": False}
# the arguments that take True or False
FLAGGED = ("one_pair", "cyclic", "monotone")
# what may stand before a constructor, as in Python
PACKAGE = ("lp", "logphi")
TRANSFORMS = ("poisson", "subset", "allocation", "shuffled", "fixed_order", "repeat_and_select")
# what to do about a name in the place of a number
_OPEN = "write a number, or ask for calibrate or sweep, in which a name stands for an open number"
LONGEST = 1_000_000
"""Chosen: characters in a text, room for tens of thousands of distinct steps."""
DEEPEST = 50
"""Chosen: levels of brackets, powers and transforms, far below the recursion limit of the interpreter."""


class Reader:
    """A text that is being read: its tokens, and the position of the next one."""

    def __init__(self, text: str, constructors: Mapping[str, Callable[..., Mechanism]], variables: Mapping[str, float]) -> None:
        if not isinstance(text, str):
            raise TypeError(f"an expression must be a string, got {type(text).__name__}")
        if len(text) > LONGEST:
            raise ValueError(f"the text has {len(text)} characters, more than {LONGEST}: compose in Python instead")
        matches = ((match, match.lastgroup or "alien") for match in TOKEN.finditer(text))
        self.tokens = [Token(kind, match[kind], match.start(kind)) for match, kind in matches]
        self.place = 0
        self.depth = 0
        self.constructors = constructors
        self.variables = {name: value if type(value) is int else real(name, value) for name, value in variables.items()}

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.place]

    def take(self) -> Token:
        """Consume and return the next token."""
        token = self.token
        self.place += token.kind != "end"
        return token

    def accept(self, *texts: str) -> Token | None:
        """Consume and return the next token if it is one of these texts; otherwise None."""
        return self.take() if self.token.text in texts else None

    def expect(self, text: str) -> Token:
        """Consume and return the next token, which must be this text."""
        return self.accept(text) or self.unexpected(repr(text))

    def unexpected(self, wanted: str) -> NoReturn:
        """Refuse the next token."""
        if self.token.kind == "alien":
            self.token.refuse("not in the language of numbers, + - * / **, brackets, commas, mechanisms and transforms")
        if self.token.kind == "string":
            self.token.refuse("a string may only be the value of adjacency=, e.g. adjacency='replace'")
        self.token.refuse(f"expected {wanted} here")

    def finish(self) -> None:
        """Raise a ValueError if a token is left."""
        if self.token.kind != "end":
            self.unexpected("an operator (+ - * / **) or the end of the text")

    def sum(self) -> Any:
        """``product (("+" | "-") product)*``."""
        total, terms = self.product(), []
        first = self.token
        while sign := self.accept("+", "-"):
            term = self.product()
            if sign.text == "+" and is_mechanism(total) and is_mechanism(term):
                terms.append(term)
            else:
                total = calculate(sign, total, term)
        # one call for all terms: repeated + would copy a growing composition at every step
        return _attempt(first, compose, [[total, *terms]]) if terms else total

    def product(self) -> Any:
        """``signed (("*" | "/") signed)*``."""
        product = self.signed()
        while sign := self.accept("*", "/"):
            factor = self.signed()
            if sign.text == "*" and is_mechanism(product) and is_number(factor):
                product = _attempt(sign, operator.mul, [product, repetitions(sign, factor)])
            elif sign.text == "*" and is_number(product) and is_mechanism(factor):
                product = _attempt(sign, operator.mul, [factor, repetitions(sign, product)])
            else:
                product = calculate(sign, product, factor)
        return product

    def signed(self) -> Any:
        """``("+" | "-")* postfix ["**" signed]``."""
        signs = []
        while sign := self.accept("+", "-"):
            signs.append(sign)
        # every cycle of the grammar passes through this rule, so that one counter bounds the recursion
        self.depth += 1
        if self.depth > DEEPEST:
            self.token.refuse(f"nested deeper than {DEEPEST} levels: remove brackets")
        value = self.postfix()
        if power := self.accept("**"):
            value = calculate(power, value, self.signed())
        self.depth -= 1
        for sign in reversed(signs):
            value = negative(number_of(sign, value)) if sign.text == "-" else number_of(sign, value)
        return value

    def postfix(self) -> Any:
        """``atom ("." transform arguments)*``."""
        value, chained = self.atom(), 0
        while dot := self.accept("."):
            name, chained = self.take(), chained + 1
            if not is_mechanism(value):
                dot.refuse(f"only a mechanism has transforms, not {described(value)}")
            if chained > DEEPEST:
                dot.refuse(f"more than {DEEPEST} transforms in a row")
            if name.text not in TRANSFORMS:
                name.refuse(f"unknown transform{attribute_hint(name.text) or '; ' + _nearest(name.text, TRANSFORMS)}")
            value = self.call(name, getattr(value, name.text))
        return value

    def atom(self) -> Any:
        """``number | variable | [("lp" | "logphi") "."] constructor arguments | "(" sum ")" | list``.

        A list is ``"[" entries "]"``, or a tuple of one or more entries.
        """
        token = self.token
        if token.kind == "number":
            return literal(self.take())
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
            known = [*self.constructors, *self.variables]
            if self.constructors and not self.variables and self.token.text != "(" and not nearest(token.text, known):
                token.refuse(f"unknown name; {_OPEN}")
            token.refuse(f"unknown name; {_nearest(token.text, known)}")
        if self.accept("["):
            return self.entries("]")
        if not self.accept("("):
            self.unexpected("a number, a mechanism, a list or '('")
        value = self.sum()
        if comma := self.accept(","):
            return [_entry(comma, value), *self.entries(")")]
        self.expect(")")
        return value

    def entries(self, close: str) -> list[Any]:
        """``[sum ("," sum)* [","]]`` up to a closing bracket: the rest of a list of numbers or mechanisms, or of a tuple."""
        entries: list[Any] = []
        while not self.accept(close):
            start = self.token
            entries.append(_entry(start, self.sum()))
            if not self.accept(","):
                self.expect(close)
                break
        return entries

    def call(self, name: Token, function: Callable[..., Any]) -> Any:
        """``"(" [argument ("," argument)* [","]] ")"``, and the call.

        An argument is ``[name "="] (sum | "inf")``, ``adjacency=`` with a string, or a flag with ``True`` or ``False``.
        """
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
                start.refuse("a positional argument cannot follow a keyword argument")
            if named and start.text == "adjacency" and self.token.kind == "string":
                value: Any = self.take().text[1:-1]
            elif named and start.text in FLAGGED and self.token.text in FLAGS:
                value = FLAGS[self.take().text]
            elif self.token.text == "inf" and self.tokens[self.place + 1].text in (",", ")"):
                self.take()
                value = math.inf
            else:
                value = self.sum()
            if is_mechanism(value):
                start.refuse("an argument is a number or a list, not a mechanism")
            if isinstance(value, list) and any(map(is_mechanism, value)) and not _chooses(function):
                start.refuse("a number belongs here, not a mechanism")
            if named:
                keywords[start.text] = value
            else:
                positional.append(value)
            if not self.accept(","):
                self.expect(")")
                break
        return _attempt(name, function, positional, keywords)


def _chooses(function: Callable[..., Any]) -> bool:
    """Whether a constructor takes a list of mechanisms."""
    return "mechanisms" in inspect.signature(function).parameters


def _entry(start: Token, value: Any) -> Any:
    """The value, which must be a number or a mechanism, as in a list."""
    return value if is_mechanism(value) else number_of(start, value)


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
    token: Token, function: Callable[..., Any], positional: list[Any], keywords: Mapping[str, Any] | None = None
) -> Any:
    """The result of a call; an error that its arguments cause is raised as a refusal of ``token``."""
    keywords = keywords or {}
    try:
        result = function(*positional, **keywords)
    except (ValueError, OverflowError) as error:
        token.refuse(str(error))
    except TypeError as error:
        cause, signature = str(error), inspect.signature(function)
        try:
            # the message of bind, unlike that of a failed call, does not mention __init__
            signature.bind(*positional, **keywords)
        except TypeError as mismatch:
            unknown = [name for name in keywords if name not in signature.parameters]
            cause = unexpected(unknown[0], getattr(function, "_hints", {})) if unknown else str(mismatch)
        token.refuse(f"{cause}; it is written {_written(token.text, function)}")
    return result
