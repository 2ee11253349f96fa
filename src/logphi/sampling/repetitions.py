"""The number K of runs among which the best output is selected; K does not depend on the data.

notation: f(x) = E x^K; c = 1 - gamma, eta the shape. For the truncated negative binomial law (Papernot & Steinke 2022;
geometric for eta = 1, logarithmic for eta = 0)

    f'(x) / f'(1) = (gamma / (1 - c x))^{eta + 1},     1 - f(1 - u) = ((1 + c u / gamma)^{-eta} - 1) / (gamma^eta - 1),

and K is at least 1. For the Poisson law, eta = infinity, f(x) = e^{mean (x - 1)}; nothing is released if K is 0. With
t = log(1 / gamma) the mean is eta (e^t - 1) / (1 - e^{-eta t}), which grows from 1 with t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array

# derived: the exponential of a larger number overflows
LARGEST_EXPONENT = 600.0
# derived: a relative error above that of the mean as a function of t, and of the formulas below
ROOM = 1e-12


@dataclass(frozen=True)
class Repetitions:
    """A law of K by its mean and its shape; ``low`` and ``high`` enclose t, and are infinite for the Poisson law."""

    mean: float
    shape: float
    low: float
    high: float

    @staticmethod
    def of(mean: float, shape: float) -> Repetitions:
        """The law with this mean, which must exceed 1 unless the shape is infinite."""
        if math.isinf(shape):
            return Repetitions(mean, shape, math.inf, math.inf)
        low, high = (_exponent(mean, shape, side) for side in (-1.0, 1.0))
        return Repetitions(mean, shape, low, high)

    @property
    def poisson(self) -> bool:
        """Whether K is Poisson, so that there may be no run at all."""
        return math.isinf(self.shape)

    def selected(self, u: Array, *, upper: bool) -> Array:
        """A bound of 1 - f(1 - u), the probability that at least one run falls into an event of probability u."""
        # the probability grows with the number of runs
        t = self.high if upper else self.low
        if self.poisson:
            found = -np.expm1(-self.mean * u)
        else:
            grown = np.log1p(math.expm1(t) * u)
            found = np.expm1(-self.shape * grown) / math.expm1(-self.shape * t) if self.shape else grown / t
        return np.minimum(found * (1 + ROOM if upper else 1 - ROOM), 1.0)


def _mean(t: float, shape: float) -> float:
    falling = -math.expm1(-shape * t) / shape if shape else t
    return math.expm1(t) / falling


def _exponent(mean: float, shape: float, side: float) -> float:
    """A lower (``side`` -1) or upper (1) bound of t."""
    wanted = mean * (1 + side * ROOM)
    below, above = 0.0, 1.0
    while above < 2 * LARGEST_EXPONENT and _mean(min(above, 700.0), shape) < wanted:
        below, above = above, 2 * above
    if above >= 2 * LARGEST_EXPONENT:
        raise ValueError(
            f"mean must be smaller for a shape of {shape!r}, got {mean!r}: there would nearly always be one run, and otherwise "
            "more than can be counted; give a larger shape"
        )
    for _ in range(200):
        middle = (below + above) / 2
        if not below < middle < above:
            break
        below, above = (middle, above) if _mean(middle, shape) < wanted else (below, middle)
    found = (below if side < 0 else above) * (1 + side * 4 * ULP)
    return max(found, 0.0)
