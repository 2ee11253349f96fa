"""Bounds to try things on, random ones among them, and what holds of the numbers between their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

import logphi as lp
from logphi import Bound
from logphi.answers.status import Side

spent = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).epsilon(1e-5)
curve = lp.Gaussian(sigma=1).tradeoff(0.05)
wide = Bound(2.38159, 2.381595, 2.3816)

doubles = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=1e-300, max_value=1e300)


@st.composite
def bounds(draw: Callable[..., Any], numbers: st.SearchStrategy[float] = doubles) -> Bound:
    """Bounds of either private side."""
    lower, value, upper = sorted(draw(st.tuples(numbers, numbers, numbers)))
    return Bound(lower, value, upper, side=draw(st.sampled_from(Side)))


def truths(bound: Bound) -> list[Fraction]:
    """The ends and the best value, exactly."""
    return [Fraction(end) for end in (bound.lower, bound.value, bound.upper)]


def at_least(number: float, exact: Fraction) -> bool:
    """``number >= exact``, also if it is infinite."""
    return number > 0 if math.isinf(number) else Fraction(number) >= exact


def at_most(number: float, exact: Fraction) -> bool:
    """``number <= exact``, also if it is infinite."""
    return at_least(-number, -exact)
