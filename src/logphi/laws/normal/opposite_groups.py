"""Two mixtures of normal laws with binomial weights, shifted in opposite directions."""

from __future__ import annotations

import math
from fractions import Fraction

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Parameter
from logphi.laws.normal.mixture_pair import MixturePair
from logphi.text.written import meant

# measured: larger distances between the outermost shifts, in standard deviations, take many seconds
LARGEST_RANGE = 50.0
# derived: products of smaller weights lose digits
LEAST_WEIGHT = Fraction(1, 10**290)


def opposite_groups(shift: Parameter, rate: float, size: int) -> MixturePair:
    """The sum of w_i N(i m, 1) against that of w_j N(-j m, 1), with the binomial weights of ``size`` and ``rate`` below 1.

    Raises
    ------
    ValueError
        If the shifts are too far apart, or a weight is too small.
    """
    number = shift.under(FLOATS)
    m = float(number.mid)
    if not 2 * size * m <= LARGEST_RANGE:
        raise ValueError(
            f"2 * group_size * sensitivity / sigma must be at most {LARGEST_RANGE:g} for a sample under replace, got "
            f"{2 * size * m:g}: the noise hardly hides such a group"
        )
    q = meant(rate)
    exact = [math.comb(size, i) * q**i * (1 - q) ** (size - i) for i in range(size + 1)]
    if min(exact) < LEAST_WEIGHT:
        raise ValueError(
            f"how many of {size} records are in a sample at rate {float(q)!r} must have probabilities of 1e-290 at least under "
            "replace: take a smaller group, or a larger rate, which is an upper bound"
        )
    weights = tuple(map(float, exact))
    none = (0.0,) * size
    values = tuple(i * m for i in range(-size, size + 1))
    # a multiple has one more rounding
    relative_error = float(number.rad) / m + ULP
    return MixturePair(1.0, values, (*none, *weights), (*reversed(weights), *none), relative_error=relative_error)
