"""Progress bars for what a person waits for: after a second, on a terminal, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

# what is done sooner is not worth a bar
_SECONDS = 1.0


def shown(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """The items, one by one; how many are done is shown on standard error if it is a terminal.

    Parameters
    ----------
    items
        What is gone through.
    label
        What is done with them, in one word or two.
    total
        How many there are, where the items do not know.

    Examples
    --------
    >>> list(shown([1, 2], "counting"))
    [1, 2]
    """
    from tqdm import tqdm

    # None: off where standard error is no terminal
    return tqdm(items, desc=label, total=total, delay=_SECONDS, disable=None, leave=False)
