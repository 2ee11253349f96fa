"""The constants of symmetric laws on [-w, w] that are uniform after tilting by e^{-x/2}, with or without atoms at both ends.

P has the density C e^{x/2} between the ends, Q the density C e^{-x/2}. After tilting, both atoms have one weight A: under P
they have the masses A e^{-w/2} and A e^{w/2}, under Q the reverse. Each function maps w to log C and log A, which are minus
infinity for an absent part.
"""

from __future__ import annotations

import math

import numpy as np


def uniform(w: float) -> tuple[float, float]:
    """C = 1 / (4 sinh(w/2)), no atoms."""
    return -w / 2 - float(np.log(-2 * np.expm1(-w))), -math.inf


def with_atoms(w: float) -> tuple[float, float]:
    """C = e^{-w/2} / 4, A = e^{-w/2} / 2: double exponential noise, shifted by w scales."""
    return -w / 2 - math.log(4), -w / 2 - math.log(2)


def two_point(w: float) -> tuple[float, float]:
    """No density, A = 1 / (2 cosh(w/2))."""
    return -math.inf, -w / 2 - float(np.log1p(np.exp(-w)))
