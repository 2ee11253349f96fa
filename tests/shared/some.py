"""Answers that may be none, and are not."""

from typing import TypeVar

T = TypeVar("T")


def some(answer: T | None) -> T:
    """The answer; a test that is given None fails."""
    assert answer is not None
    return answer
