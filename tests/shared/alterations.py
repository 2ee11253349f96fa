"""Ledgers and budgets whose JSON somebody has altered."""

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from logphi.expression import parse
from logphi.mechanisms.catalogue import CATALOGUE
from logphi.text.description import canonical

MECHANISM = json.loads(parse("Gaussian(sigma=1.1).poisson(256/60000)").to_json())["mechanism"]
# what may be put in the place of something else
STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([10**300, -(10**350), 1e308, 5e-324, 0.0, -0.5, 2.0]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "1/0", "0/1", "1/3", "-1/3", "1e5", "9" * 4000, "1/" + "9" * 4000, "١", " 1", "1/-2", "poisson"]),
    st.sampled_from([*CATALOGUE, "subset", "shuffled", "__init__", "FromDensities", "add", "replace", "adjacency", "base"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.sampled_from(["sigma", "name", "base", "self", "rate"]), st.floats(0, 2), max_size=3),
    st.sampled_from([MECHANISM, [MECHANISM], [[0, 3], [1, 1], [2, 2]]]),
)


def with_checksum(content: dict[str, Any]) -> str:
    """A text whose digest fits, whatever it holds."""
    content = {name: value for name, value in content.items() if name != "sha256"}
    return json.dumps({**content, "sha256": hashlib.sha256(canonical(content).encode("ascii")).hexdigest()})


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in plain data."""
    yield path
    for name, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, name))


def read(kind: Any, text: str) -> Any:
    """What the text holds, or None if it is refused in one line."""
    try:
        return kind.from_json(text)
    except ValueError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return None


def altered(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The data with another value at this place."""
    if not path:
        return value
    out = copy.copy(data)
    out[path[0]] = altered(data[path[0]], path[1:], value)
    return out
