"""Progress bars, which appear after a second and only on a terminal.

Only the main thread of the first process draws bars; threads and processes that do a share of the work draw none.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from operator import length_hint
from typing import TypeVar

T = TypeVar("T")

# chosen: shorter waits get no bar
SECONDS = 1.0


def shown(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """The items, one by one; their number so far is shown on standard error if it is a terminal.

    Nested bars have a line each. Nothing is imported or drawn before a second has passed.

    Parameters
    ----------
    items
        The items to iterate over.
    label
        A name for the work, in one word or two.
    total
        The number of items, if they have no length; 0 if it is unknown: the bar then only counts.

    Examples
    --------
    >>> list(shown([1, 2], "counting"))
    [1, 2]
    """
    if not _in_front():
        return items
    return _counted(items, label, length_hint(items) if total is None else total)


def searched(steps: Iterable[T]) -> Iterable[T]:
    """The steps of a search for a crossing, counted, as their number is not known before."""
    return shown(steps, "steps", total=0)


def _in_front() -> bool:
    """Whether bars are drawn: on a terminal, in the main thread of the first process."""
    try:
        terminal = sys.stderr.isatty()
    except (AttributeError, ValueError):
        # there is none, or it was closed
        return False
    return terminal and threading.current_thread() is threading.main_thread()


def _counted(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    began = time.monotonic()
    bar = None
    try:
        for done, item in enumerate(items):
            if bar is not None:
                bar.update()
            elif time.monotonic() - began > SECONDS and _first_process():
                from tqdm import tqdm

                bar = tqdm(desc=label, total=total or None, initial=done, leave=False)
            yield item
    finally:
        if bar is not None:
            bar.close()


def _first_process() -> bool:
    from multiprocessing import parent_process

    return parent_process() is None
