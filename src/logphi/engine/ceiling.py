"""Proved upper bounds of an excess without a route."""

from __future__ import annotations

import math

import numpy as np

from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.inversion.lines import contour
from logphi.laws.log_phi import LogPhi

# measured: how far the logarithm of a guess must be below the level for a proof to be worth its time
_SURELY = 30.0


def log_ceiling(loss: LogPhi, x: float, level: float = math.inf, hint: float | None = None) -> float:
    """The logarithm of an upper bound of the excess; trivial if it would hardly be below a level."""
    return min(contour.ceiling(loss, x, level, hint).at(x), without_large(loss, x))


def without_large(loss: LogPhi, x: float) -> float:
    """The logarithm of an upper bound of the excess by clipped losses of sampled normals; the trivial zero for others."""
    found = sampled_terms(loss) if x > 0 else None
    if found is None:
        return 0.0
    # SciPy's normal tails would double the time of importing the package
    from logphi.inversion.bent import clipped_ceiling

    terms, reflected = found
    return clipped_ceiling.log_ceiling(terms, x, reflected=reflected)


def perhaps_below(loss: LogPhi, x: float, level: float, by: float = _SURELY) -> bool:
    """Whether the excess is so far below a level that :func:`without_large` may prove it: a guess.

    The guess is the excess of a single large loss, or of many small ones.
    """
    found = sampled_terms(loss) if x > 0 and level > -math.inf else None
    if found is None:
        return False
    terms, reflected = found
    single, variance = -math.inf, 0.0
    for m, q, _, _, count in terms:
        # log of 1 + (e^x - 1)/q, at which the base has the loss x
        odds = float(np.logaddexp(0.0, x + math.log(-math.expm1(-x)) - math.log(q)))
        if not reflected:
            single = max(single, math.log(count * q) - max(odds / m - m / 2, 0.0) ** 2 / 2)
        variance += count * (q * m) ** 2
    many = -x * x / (2 * variance) if variance > 0 else -math.inf
    return max(single, many) < level - by
