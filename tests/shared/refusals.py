"""Refusals are one line."""

import pytest


def refused(kind, action, *needles):
    """The message of the refusal: one line that holds every needle."""
    with pytest.raises(kind) as caught:
        action()
    message = str(caught.value)
    assert message
    assert "\n" not in message
    for needle in needles:
        assert needle in message, f"{needle!r} is not in {message!r}"
