"""The tokens of a text, and error messages that point to one."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

# letters outside ASCII are read as parts of names, so that a name with a look-alike letter is refused as a whole
TOKEN = re.compile(
    r"""\s*(?:(?P<number>\.?[0-9](?:[eE][+-]|[0-9A-Za-z_.])*) | (?P<name>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*)
    | (?P<string>'[^'\\\n]*'|"[^"\\\n]*") | (?P<operator>\*\*|[-+*/().,=\[\]]) | (?P<end>\Z) | (?P<alien>.))""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)


class Token(NamedTuple):
    """A token of the text, and where it begins."""

    kind: str
    text: str
    start: int

    def refuse(self, rule: str) -> NoReturn:
        """Raise a ValueError of one line: the token, its position, and the rule."""
        piece = "at the end of the text" if self.kind == "end" else f"{clipped(self.text)} at character {self.start + 1}"
        raise ValueError(" ".join(f"{piece}: {rule}".split()))


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, (int, float))


def is_mechanism(value: Any) -> bool:
    """Whether a value is a mechanism."""
    return not isinstance(value, (int, float, list, str))


def number_of(token: Token, value: Any) -> int | float:
    """The value, which must be a number."""
    if not is_number(value):
        token.refuse(f"a number belongs here, not {described(value)}")
    return value  # type: ignore[no-any-return]


def described(value: Any) -> str:
    """A value as an error message describes it."""
    if is_number(value):
        return f"the number {clipped(value)}"
    return "a mechanism" if is_mechanism(value) else "a list"


def clipped(piece: Any) -> str:
    """A token as an error message shows it, its middle left out if it is long."""
    # ascii, not repr: a look-alike letter must be recognizable
    shown = ascii(piece)
    return shown if len(shown) <= 60 else f"{shown[:40]}...{shown[-10:]}"
