"""Relations between data sets: under which change of one record a guarantee is stated."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Literal

from logphi.inputs.guesses import nearest

# what other libraries and papers call a relation -> ours
_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("unbounded", "add_or_remove", "add_or_remove_one"), "add_remove"),
    **dict.fromkeys(("bounded", "substitution", "substitute", "swap", "change", "replace_one", "replacement"), "replace"),
    **dict.fromkeys(("zero_out", "zeroout"), "replace_special"),
}


class Adjacency(enum.Enum):
    """How two neighbouring data sets differ.

    ``ADD_REMOVE``: one record is present or absent, and both directions count. ``ADD`` and ``REMOVE``: one direction only.
    ``REPLACE``: one record takes another value. ``REPLACE_SPECIAL``: one record takes the value "nothing".
    """

    ADD_REMOVE = "add_remove"
    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"
    REPLACE_SPECIAL = "replace_special"

    @classmethod
    def of(cls, value: AdjacencyLike | str) -> Adjacency:
        """``value`` as a relation; accepts the lower-case name.

        Raises
        ------
        ValueError, TypeError
            If there is no such relation.

        Examples
        --------
        >>> Adjacency.of("replace")
        <Adjacency.REPLACE: 'replace'>
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise TypeError(f"adjacency must be a logphi.Adjacency or its name, got {value!r}")
        try:
            return cls(value)
        except ValueError:
            names = [member.value for member in cls]
            plain = value.strip().lower().replace("-", "_").replace("/", "_")
            hint = f"did you mean {_ELSEWHERE[plain]}?" if plain in _ELSEWHERE else nearest(plain, names, 0.8)
            listed = ", ".join(map(repr, names))
            raise ValueError(f"adjacency must be one of {listed}, got {value!r}{'; ' if hint else ''}{hint}") from None


# relations of one direction; relations under which one of them lacks the record
ONE_ORDER = (Adjacency.ADD, Adjacency.REMOVE)
PRESENCE = (Adjacency.ADD_REMOVE, *ONE_ORDER)

# for type checkers: a relation, or its name
AdjacencyLike = Adjacency | Literal["add_remove", "add", "remove", "replace", "replace_special"]
