"""The pieces of a text, and the one-line refusal of a piece."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

# Letters beyond ASCII are read as parts of names, so that a look-alike is refused as a whole, with the name it mimics.
TOKEN = re.compile(
    r"""\s*(?:(?P<number>\.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*) | (?P<name>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)
    | (?P<string>'[^'\\\n]*'|"[^"\\\n]*") | (?P<operator>\*\*|[-+*/().,=\[\]]) | (?P<end>\Z) | (?P<alien>.))""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of the text, and where it begins."""

    kind: str
    text: str
    start: int

    def refuse(self, rule: str) -> NoReturn:
        """Raise a ValueError of one line: the piece, its place, and the rule."""
        piece = "the end of the text" if self.kind == "end" else f"{clipped(self.text)} at character {self.start + 1}"
        raise ValueError(" ".join(f"{piece}: {rule}".split()))


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, (int, float))


def is_mechanism(value: Any) -> bool:
    """Whether a value is what a constructor made."""
    return not isinstance(value, (int, float, list, str))


def number_of(token: Token, value: Any) -> int | float:
    """The value, which must be a number."""
    if not is_number(value):
        token.refuse(f"a number belongs here, not {described(value)}")
    return value  # type: ignore[no-any-return]


def described(value: Any) -> str:
    """A value in the words of a refusal."""
    if is_number(value):
        return f"the number {clipped(value)}"
    return "a mechanism" if is_mechanism(value) else "a list"


def clipped(piece: Any) -> str:
    """A piece as a refusal shows it, its middle left out if it is long."""
    # ascii, not repr: a look-alike letter must be visible as what it is.
    shown = ascii(piece)
    return shown if len(shown) <= 60 else f"{shown[:40]}...{shown[-10:]}"
