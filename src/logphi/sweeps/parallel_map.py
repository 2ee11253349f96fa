"""A function applied to many items on any executor, in chunks that are worth the cost of sending."""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Any, TypeVar

from logphi.progress import shown

A = TypeVar("A")
B = TypeVar("B")

# chosen: seconds of work in a chunk; measured: sending one takes a millisecond to a process, and longer to a cluster
_SECONDS = 0.3
# chosen: this many chunks keep all workers busy until the end
_CHUNKS = 64
# chosen: this many items, spread over all, are timed first
_TRIED = 5


def parallel_map(function: Callable[[A], B], items: Sequence[A], executor: Executor | None, label: str) -> list[B]:
    """The values of a function at all items, in their order, the same on every executor.

    Parameters
    ----------
    function
        A function of one item; other processes must be able to import it.
    items
        The items.
    executor
        An executor of :mod:`concurrent.futures` or the like; None for this thread. A few items are always computed here, to
        find out how many make a chunk.
    label
        The name of the work in the progress bar.

    Raises
    ------
    TypeError
        If this is not an executor, or the function or an item cannot be pickled.
    Exception
        The first exception of the function; it cancels what has not started, and so does an interruption.
    """
    if executor is None:
        return [function(item) for item in shown(items, label)]
    if not isinstance(executor, Executor):
        raise TypeError(
            f"executor must be a concurrent.futures.Executor, got {executor!r} of type {type(executor).__name__}: a thread or "
            "process pool or, of a Dask client, client.get_executor()"
        )
    found: dict[int, B] = {}
    size = 1
    if len(items) > _CHUNKS:
        found, cost = _tried(function, items)
        size = max(1, min(int(_SECONDS / cost), len(items) // _CHUNKS))
    left = [place for place in range(len(items)) if place not in found]
    sent: dict[Future[list[B]], list[int]] = {}
    try:
        for start in range(0, len(left), size):
            places = left[start : start + size]
            sent[executor.submit(_each, function, [items[place] for place in places])] = places
        for done in shown(as_completed(sent), label, len(sent)):
            found.update(zip(sent[done], done.result(), strict=True))
    except Exception as error:
        _refuse_what_cannot_be_sent(function, items, error)
        raise
    finally:
        for one in sent:
            one.cancel()
    return [found[place] for place in range(len(items))]


def _each(function: Callable[[A], B], items: list[A]) -> list[B]:
    return [function(item) for item in items]


def _tried(function: Callable[[A], B], items: Sequence[A]) -> tuple[dict[int, B], float]:
    """The values at a few items, and the approximate seconds for each; fewer items if they take long."""
    found: dict[int, B] = {}
    seconds: list[float] = []
    for place in range(0, len(items), -(-len(items) // _TRIED)):
        start = time.perf_counter()
        found[place] = function(items[place])
        seconds.append(max(time.perf_counter() - start, 1e-6))
        if sum(seconds) > _TRIED * _SECONDS:
            break
    # the first item also imports modules
    return found, statistics.median_low(seconds)


def _refuse_what_cannot_be_sent(function: Any, items: Sequence[Any], error: Exception) -> None:
    """Raise a TypeError with the cause if pickling failed."""
    if not isinstance(error, pickle.PicklingError) and not any(hint in str(error) for hint in ("pickle", "local object")):
        return
    try:
        pickle.dumps((function, items))
    except Exception as reason:
        raise TypeError(
            f"this cannot be sent to another process: {reason}; functions that are sent must be defined at the top of a "
            "module, not as a lambda or in another function; or take a ThreadPoolExecutor, which sends nothing"
        ) from error
