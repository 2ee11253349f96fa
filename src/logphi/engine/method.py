"""How a number was found: the name that its answer bears, and what its width means for other methods."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Retry(enum.Enum):
    """When the fallbacks are worth trying after an answer that is wider than asked."""

    NEVER = "its width is rounding, which no fallback improves on"
    IF_WIDE = "where it is wide, the integrand was large beside the answer"
    ALWAYS = "its width is the method's own"


@dataclass(frozen=True, eq=False)
class Method:
    """A way to a number.

    Parameters
    ----------
    name
        As answers show it.
    retry
        When the fallbacks are worth trying after it.
    trivial
        Whether its bounds hold for every pair, so that nothing was computed.
    blunt
        Whether it takes slopes of a profile, or one moment: sharper answers come from the profile itself.
    """

    name: str
    retry: Retry = Retry.NEVER
    trivial: bool = False
    blunt: bool = False


EXACT = Method("exact")
TRIVIAL = Method("trivial", Retry.ALWAYS, trivial=True)
CHERNOFF = Method("chernoff", blunt=True)
