"""Profiles of one release in closed form, at the digits of mpmath."""

from collections.abc import Callable
from typing import Any

import mpmath

Profile = Callable[[Any], Any]


def gaussian_profile(mu: Any) -> Profile:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu): Balle & Wang 2018, Theorem 8."""
    return lambda e: mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def laplace_profile(width: Any) -> Profile:
    """1 - e^{(eps - w)/2} for eps in [0, w], and by symmetry below zero."""

    def above(e: Any) -> Any:
        return max(mpmath.mpf(0), 1 - mpmath.exp((e - width) / 2))

    return lambda e: above(e) if e >= 0 else 1 - mpmath.exp(e) * (1 - above(-e))
