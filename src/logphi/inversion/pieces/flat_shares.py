"""The share of parts with many flat factors in a sum of laws that are nearly atomic, which may be left out.

notation: f the share of E[e^{cX}] that the flat part of a law has. In the sum of n equal laws, the parts with j flat factors
have the share binomial(n, j) f^j (1 - f)^{n-j}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from logphi.arith.summation import log_sum
from logphi.laws.transform import Terms

# measured: with more flat factors, alternating sums lose too many digits
_MOST = 25
# measured: with more flat factors on average, alternating sums lose too many digits
_MEAN = 4.0
# measured: the excess is hardly ever below e^-12 of its bound from the saddle
_ROOM = 12.0


def first_negligible(terms: Terms, tilt: float, rtol: float) -> int | None:
    """The number of flat factors from which on the parts have a negligible share; None if that is too many."""
    shares = flat_shares(terms, tilt)
    if sum(count * share for share, count in shares) > _MEAN:
        return None
    fitting = (most for most in range(1, _MOST) if log_tail(shares, most) < math.log(rtol) - _ROOM)
    return next(fitting, None)


def flat_shares(terms: Terms, tilt: float) -> list[tuple[float, int]]:
    """The share of E[e^{cX}] that the flat part of each law has, rounded up."""
    u, shares = tilt + 0.5, []
    for law, count in terms:
        pieces = law.support.pieces
        if pieces is None or not pieces.width:
            continue
        log_flat = pieces.log_density + u * pieces.width + math.log(-math.expm1(-2 * u * pieces.width) / u)
        with_atoms = u * np.array(pieces.locations) + np.array(pieces.log_weights)
        odds = math.exp(min(float(log_sum(with_atoms)) - log_flat, 700.0)) if with_atoms.size else 0.0
        shares.append((min((1 + 1e-9) / (1 + odds), 1.0), count))
    return shares


def log_tail(shares: Sequence[tuple[float, int]], most: int) -> float:
    """The logarithm of a bound of the share of E[e^{cX}] of the parts with ``most`` flat factors or more.

    The share is at most s^{-most} times the product of (1 - f + s f)^n, for every s >= 1.
    """
    s = np.geomspace(1.0, 1e9, 400)
    height = sum((count * np.log1p((s - 1) * share) for share, count in shares), -most * np.log(s))
    return min(float(height.min()) + 1e-9 * (1 + float(np.abs(height).max())), 0.0)
