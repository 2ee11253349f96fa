"""Records of the choice of routes: what each promised, which one was taken, and whether it kept its promise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from logphi.engine.log_probability import LogProbability
from logphi.engine.method import Method
from logphi.inversion.demand import Demand, Promise

# chosen: an answer this many times as wide as promised breaks the promise
BROKEN = 10.0


@dataclass(frozen=True)
class Choice:
    """One route that was taken near an epsilon.

    Parameters
    ----------
    epsilon
        The threshold.
    route
        The method of the route, which is its name.
    promise
        What it promised.
    width
        The relative width of its answer; infinite if it had none.
    kept
        Whether the answer is at most ``BROKEN`` times as wide as promised, or below all demands.
    others
        The other routes that were asked before it was taken, each with what it promised or why it does not apply.
    """

    epsilon: float
    route: Method
    promise: Promise
    width: float
    kept: bool
    others: tuple[tuple[str, Promise | str], ...]

    @staticmethod
    def of(
        epsilon: float,
        route: Method,
        promise: Promise,
        answer: LogProbability | None,
        demand: Demand,
        others: tuple[tuple[str, Promise | str], ...],
    ) -> Choice:
        """The record of a route with its answer, if any."""
        width = float("inf") if answer is None else answer.relative_width
        kept = answer is not None and (width <= BROKEN * promise.relative_width or answer.meets(demand))
        return Choice(epsilon, route, promise, width, kept, others)

    def __str__(self) -> str:
        outcome = "kept its promise" if self.kept else "broke its promise"
        told = f"{self.route} promised {_in_words(self.promise)}; it {outcome}, with {self.width:.1g}"
        others = [f"  {name}: {_in_words(one)}" for name, one in self.others]
        return "\n".join([told, *(others or ["  no other route was tried, as this one is quick"])])


def _in_words(found: Promise | str) -> str:
    return found if isinstance(found, str) else f"a relative width of {found.relative_width:.1g}, in about {_seconds(found)}"


def _seconds(promise: Promise) -> str:
    milliseconds = promise.operations * 1e-6
    return f"{milliseconds:.2g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.2g} s"


_RECORD: ContextVar[list[Choice] | None] = ContextVar("choices", default=None)


@contextmanager
def choices() -> Iterator[list[Choice]]:
    """The choices that are made inside of the context, in order."""
    record: list[Choice] = []
    token = _RECORD.set(record)
    try:
        yield record
    finally:
        _RECORD.reset(token)


def note(choice: Choice) -> None:
    """Add a choice to the record of the enclosing context, if there is one."""
    record = _RECORD.get()
    if record is not None:
        record.append(choice)
