"""The method by which a number was computed: its name in answers, and what its width means for other methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Method:
    """A method by which a number is computed.

    Parameters
    ----------
    name
        The name that answers show.
    sharp
        Whether its width is that of rounding, on which no slower route improves.
    trivial
        Whether its bounds hold for any pair, so that nothing was computed.
    blunt
        Whether it uses slopes of a profile, or one moment, so that answers from the profile itself are sharper.
    """

    name: str
    sharp: bool = False
    trivial: bool = False
    blunt: bool = False


EXACT = Method("exact", sharp=True)
TRIVIAL = Method("trivial", trivial=True)
CHERNOFF = Method("chernoff", blunt=True)
