"""How a number was found: the name that its answer bears, and what its width means for other methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Method:
    """A way to a number.

    Parameters
    ----------
    name
        As answers show it.
    sharp
        Whether its width is that of rounding, on which no route that takes long improves.
    trivial
        Whether its bounds hold for every pair, so that nothing was computed.
    blunt
        Whether it takes slopes of a profile, or one moment: sharper answers come from the profile itself.
    """

    name: str
    sharp: bool = False
    trivial: bool = False
    blunt: bool = False


EXACT = Method("exact", sharp=True)
TRIVIAL = Method("trivial", trivial=True)
CHERNOFF = Method("chernoff", blunt=True)
