"""Refusals are one line."""

from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T")


def refused(kind: type[Exception] | tuple[type[Exception], ...], action: Callable[..., object], *needles: str) -> None:
    """Check that the message of the refusal is one line that holds every needle."""
    with pytest.raises(kind) as caught:
        action()
    message = str(caught.value)
    assert message
    assert "\n" not in message
    for needle in needles:
        assert needle in message, f"{needle!r} is not in {message!r}"


def untyped(function: Callable[..., T]) -> Callable[..., T]:
    """The function as one of any arguments, as wrong ones are given on purpose."""
    return function
