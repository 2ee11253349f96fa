"""The constants of symmetric laws on [-w, w] that are uniform after tilting by e^{-x/2}, with or without atoms at both ends.

P has the density C e^{x/2} between the ends, Q the density C e^{-x/2}. After tilting, both atoms have one weight A: under P
they have the masses A e^{-w/2} and A e^{w/2}, under Q the reverse. Each function maps w, a number of an arithmetic, to log C
and log A, which are minus infinity for an absent part.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from logphi.arith.protocol import Arithmetic, Number

Constants = Callable[[Arithmetic, Number], tuple[Number, Number]]


def uniform(arith: Arithmetic, w: Number) -> tuple[Number, Number]:
    """C = 1 / (4 sinh(w/2)), no atoms."""
    return -arith.log_sinhc(w / 2) - arith.log(2 * w), -math.inf


def with_atoms(arith: Arithmetic, w: Number) -> tuple[Number, Number]:
    """C = e^{-w/2} / 4, A = e^{-w/2} / 2: double exponential noise, shifted by w scales."""
    log_two = arith.log(arith.constant(2.0))
    return -w / 2 - 2 * log_two, -w / 2 - log_two


def two_point(arith: Arithmetic, w: Number) -> tuple[Number, Number]:
    """No density, A = 1 / (2 cosh(w/2))."""
    return -math.inf, -arith.log_cosh(w / 2) - arith.log(arith.constant(2.0))
