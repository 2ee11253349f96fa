"""A point above which the profile of one normal loss stays above that of another.

notation: h_m(x) the excess E[(1 - e^{x-X})_+] of the normal loss of shift m, v = x/m - m/2, u = v + m, M Mills' ratio of the
normal tail to the normal density. As e^x phi(u) = phi(v),

    h_m(x) = phi(v) (M(v) - M(u)),    -h_m'(x)/h_m(x) = M(u) / (M(v) - M(u)),

and for v > 0, by the first convergents of its continued fraction, u/(u^2 + 1) < M(u) < 1/u and
1/(v^2 + 3) < -M'(v) < 1/(v^2 + 1), so that M(v) - M(u) lies between m/(u^2 + 3) and m/(v^2 + 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# derived: factors of 1.25: x grows by up to 10^38
_STEPS = 400
# derived: far above the rounding of a dozen operations
_ROUNDING = 1e-12


@dataclass(frozen=True)
class NormalTail:
    """An upper bound h_m(x - move) of a profile, or a lower bound e^-move h_m(x + move), with a move of at least 0.

    ``square`` is m^2: rounded up in an upper bound, down in a lower one.
    """

    square: float
    move: float


def stays_above(below: NormalTail, above: NormalTail) -> float:
    """An x from which on the lower bound of one profile is at least the upper bound of another; infinity if none is found.

    From x on both logarithms fall, the first more slowly: its derivative is at least -(u + 3/u)/m, that of the other at most
    2 - u/m, each with its own u and m. That is a linear condition on x. At x itself the two are compared.
    """
    if not below.square > above.square * (1 + _ROUNDING):
        return math.inf
    gain = (1 / above.square - 1 / below.square) * (1 - _ROUNDING)
    moved = (below.move / below.square + above.move / above.square) * (1 + _ROUNDING)
    x = above.move + above.square + below.square
    for _ in range(_STEPS):
        slower = x * gain >= moved + 2 + 3 / (x + below.move + below.square / 2)
        if slower and _least(below, x) >= _most(above, x):
            return x
        x *= 1.25
    return math.inf


def _least(tail: NormalTail, x: float) -> float:
    """A lower bound of the logarithm of a lower bound."""
    m = math.sqrt(tail.square)
    u = (x + tail.move) / m + m / 2
    v = u - m
    return _rounded(-tail.move - v * v / 2 + math.log(m) - math.log(u * u + 3), -1, tail.move + u * u)


def _most(tail: NormalTail, x: float) -> float:
    """An upper bound of the logarithm of an upper bound; this and :func:`_least` leave out the same constant."""
    m = math.sqrt(tail.square)
    v = (x - tail.move) / m - m / 2
    return math.inf if v <= 0 else _rounded(-v * v / 2 + math.log(m) - math.log(v * v + 1), 1, v * v + (x + tail.move) / m)


def _rounded(end: float, sign: int, size: float) -> float:
    return end + sign * _ROUNDING * (1 + size + abs(end))
