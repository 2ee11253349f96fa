"""Common spans of lattices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, inf, lcm

from logphi.arith.floats import ULP

# measured: ratios with larger terms make lattices too fine to be worth having
_LARGEST_RATIO = 20000


def common_span(spans: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The largest span that divides all, and a bound of its error at the end of the widest.

    ``spans`` are positive numbers with their absolute errors; None where no ratio of small whole numbers fits.
    """
    if not spans:
        return inf, 0.0
    base, base_error = min(spans)
    ratios, parts = [], 1
    for span, _ in spans:
        ratios.append(Fraction(span / base).limit_denominator(1000))
        parts = lcm(parts, ratios[-1].denominator)
        if parts * ratios[-1] > _LARGEST_RATIO:
            return None
    if parts * max(ratios) > _LARGEST_RATIO:
        return None
    common = gcd(*(int(ratio * parts) for ratio in ratios))
    span = base * common / parts
    worst = 0.0
    for (own, error), ratio in zip(spans, ratios, strict=True):
        miss = abs(own - float(ratio) * base)
        # a ratio is accepted only within the rounding of the two spans, plus that of the quotient
        if miss > 2 * (error + float(ratio) * base_error) + 4 * ULP * own:
            return None
        worst = max(worst, miss + error + float(ratio) * base_error)
    return span, worst
