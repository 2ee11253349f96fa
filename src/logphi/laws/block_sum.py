"""Bounds of the transform of a sum on blocks of heights, from as many of its terms as suffice."""

from __future__ import annotations

import numpy as np

from logphi.arrays import Array
from logphi.laws.transform import Terms


def log_block_of_sum(terms: Terms, abscissa: float, centres: Array, radius: float, enough: float) -> Array:
    """The sum of the bounds of counted laws, until it is at most ``enough`` on all blocks: no bound is positive."""
    total = np.zeros_like(centres)
    for law, count in terms:
        if (total <= enough).all():
            break
        total += count * law.log_block(abscissa, centres, radius, enough)
    return total
