"""Densities of outputs at many digits, for integrals over the line."""

from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import exp

Density = Callable[[Any], Any]

# where integrals of laws near 0 and of width about 1 are cut
GRID = [-40, -12, -6, -3, -1, 0, 1, 2, 4, 7, 13, 40]


def normal(at: Any, sigma: Any) -> Density:
    return lambda x: exp(-(((x - at) / sigma) ** 2) / 2) / (sigma * mpmath.sqrt(2 * mpmath.pi))


def laplace(at: Any, scale: Any) -> Density:
    return lambda x: exp(-abs(x - at) / scale) / (2 * scale)


def mixed(p: Density, q: Density, rate: Any) -> Density:
    return lambda x: (1 - rate) * q(x) + rate * p(x)
