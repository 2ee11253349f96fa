"""The single events that an event of dp-accounting is composed of, with counts.

Counts are exact integers of any size: nested repetitions multiply.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

from dp_accounting import dp_event

from logphi.inputs import check
from logphi.pairs.pair import UnsupportedError
from logphi.text.written import exact


class UnreadableEventError(UnsupportedError):
    """An event for which no pair is known under the relation of the accountant; the message says why."""

    def __init__(self, event: Any, message: str) -> None:
        super().__init__(message)
        self.event = event


class Leak(enum.Enum):
    """What an event without noise, or without data, reveals about a record."""

    NOTHING = "nothing"
    EVERYTHING = "everything"


def leaves(event: Any, count: int = 1) -> Iterator[tuple[Any, int]]:
    """The events that an event is composed of, with counts; without recursion, so that any depth is allowed.

    Raises an UnreadableEventError if a number of repetitions is not an integer from 1 to 1e300, a rate is not in [0, 1], or
    a part is not an event.
    """
    waiting = [(event, count)]
    while waiting:
        one, times = waiting.pop()
        try:
            parts = _parts(one, times)
        except (TypeError, ValueError) as error:
            raise UnreadableEventError(one, str(error)) from error
        if parts is None:
            yield one, times
        else:
            waiting.extend(reversed(parts))


def rate_of(event: Any) -> float:
    """The sampling probability of a Poisson sample."""
    return check.unit("sampling_probability", event.sampling_probability)


def _parts(event: Any, times: int) -> list[tuple[Any, int]] | None:
    """The parts of an event; None for a leaf."""
    kind = type(event)
    if kind is dp_event.SelfComposedDpEvent:
        return [(event.event, _repeated(event, times))]
    if kind is dp_event.ComposedDpEvent:
        return [(part, times) for part in event.events]
    if kind is dp_event.PoissonSampledDpEvent and exact(rate_of(event)) == 1:
        # all records are in the sample
        return [(event.event, times)]
    return None


def _repeated(event: Any, times: int) -> int:
    own = check.count("the number of repetitions", event.count)
    if not own:
        raise ValueError("the number of repetitions must be at least 1, got 0")
    return check.count("the number of all repetitions", own * times)
