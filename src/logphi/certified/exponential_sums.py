"""Equally spaced powers of numbers on the unit circle, without the growth of boxes that are turned again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from flint import acb_mat

# measured: sums are taken together in runs of this many
_RUN = 16


def exponential_sums(weights: Sequence[Any], turns: Sequence[Any], size: int) -> Iterator[Any]:
    """The sums of ``weight * turn**n`` over all pairs, for n = 0 .. size - 1.

    A power by repeated squaring is a product of few boxes: the first of each run is one, and those within a run are the same
    for all runs, so that a run is a product of matrices.
    """
    near = acb_mat(len(turns), _RUN, [turn**n for turn in turns for n in range(_RUN)])
    for start in range(0, size, _RUN):
        far = acb_mat(1, len(turns), [weight * turn**start for weight, turn in zip(weights, turns, strict=True)])
        yield from (far * near).entries()[: size - start]
