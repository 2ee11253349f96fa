"""A step whose multiples are near the ends of several losses, where there are atoms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

# chosen: the number of steps that are tried, by how well they divide the losses at both ends
_STEPS = 1024
# chosen: within this share of a step from a node, a loss is on the node
_ON_NODE = 1e-9
# chosen: within this share of a step from a node but not on it, the small share of its mass that goes to the other node would
# have few digits
BESIDE = 1e-3


def common_step(losses: Sequence[float], least: float) -> float:
    """A step of at least this size, by up to a third, that nearly divides the losses."""
    ends = np.unique(np.abs(losses))
    ends = ends[ends > 4 * least]
    if not ends.size:
        return least
    most = math.floor(ends[-1] / least)
    steps = ends[-1] / np.arange(most, max(most * 3 // 4, most - _STEPS, 1) - 1, -1)
    position = ends[:, None] / steps
    off = np.abs(position - np.rint(position))
    missed = np.where((off > _ON_NODE) & (off < BESIDE), 1.0, off).sum(axis=0)
    return float(steps[int(np.argmin(missed))])
