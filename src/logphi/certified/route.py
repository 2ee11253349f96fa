"""The interface of a certified route: the question that it answers, and its refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class NotCertifiedError(ValueError):
    """No certificate is possible; the message says why, and what to do instead."""


class NotThisRouteError(NotCertifiedError):
    """A route does not apply to this loss. Users see its reason only if no route that applies gives one of its own."""


class Shown(Protocol):
    """Wraps the items of a long loop, so that a progress bar can count them, as :func:`logphi.progress.shown` does."""

    def __call__(self, items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
        """The items."""


def unseen(items: Iterable[T], label: str, total: int | None = None) -> Iterable[T]:
    """The items, without a progress bar."""
    return items


@dataclass(frozen=True)
class Demand:
    """The accuracy that a route must reach, at the precision in force.

    A profile that is below a positive ``level`` may be enclosed in any ball below that level.
    """

    digits: int
    level: Any = 0
    shown: Shown = unseen


# E_P[(1 - e^{epsilon - L})_+; |L| < inf] as a real ball. Of a closed form of one law, at an exact epsilon and the precision in
# force; of a route, for a loss prepared near an epsilon, at a real ball and the precision of the caller, who raises it if balls
# are too wide
Excess = Callable[[Any], Any]
