"""How much work something is: counted, as a time would depend on the machine and on who else is using it."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(work: Callable[[], object], kinds: tuple[str, ...] = ("call", "c_call")) -> int:
    """How many functions are called meanwhile, Python's and C's (``"call"`` and ``"c_call"``), in this thread."""
    count = 0

    def counting(_frame: FrameType, event: str, _what: object) -> None:
        nonlocal count
        count += event in kinds

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def answers(work: Callable[[], object], function: Callable[..., object]) -> list[tuple[dict[str, Any], Any]]:
    """What a Python function was given and what it returned, each time it was called meanwhile, in this thread."""
    code = getattr(function, "__code__")  # noqa: B009
    found: list[tuple[dict[str, Any], Any]] = []

    def watching(frame: FrameType, event: str, value: object) -> None:
        if event == "return" and frame.f_code is code:
            found.append((dict(frame.f_locals), value))

    before = sys.getprofile()
    sys.setprofile(watching)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found
