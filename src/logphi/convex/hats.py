"""Integrals of hats (1 - |y|)_+ against 2 sinh(y d/2), by the first terms of series: to 1e-15 for d up to 0.1."""

from __future__ import annotations

from logphi.arrays import Array


def _sinhc(v: float | Array) -> float | Array:
    return 1 + v**2 / 6 * (1 + v**2 / 20 * (1 + v**2 / 42 * (1 + v**2 / 72)))


def spread(d: float) -> float:
    """The mass of a hat of weight one at zero."""
    return float(_sinhc(d / 4)) ** 2


def half(d: float) -> float:
    """The integral of (1 - y) 2 sinh(y d/2) from zero to one."""
    v = d / 2
    return 2 * (v / 6 + v**3 / 120 + v**5 / 5040 + v**7 / 362880)


def whole(d: float) -> float:
    """The integral of (1 - |y|) 2 sinh((1 - |y|) d/2) from -1 to 1."""
    v = d / 2
    return 4 * (v / 3 + v**3 / 30 + v**5 / 840 + v**7 / 45360)


def line(d: float, share: Array) -> Array:
    """The ratio of sinh(share d/2) to sinh(d/2)."""
    found: Array = share * _sinhc(share * d / 2) / _sinhc(d / 2)
    return found


def bent(d: float, share: Array) -> Array:
    """F(d - share d)."""
    v, q = (d / 2) ** 2, share**2
    rise = v / 6 * ((1 - q) + v / 20 * ((1 - q**2) + v / 42 * ((1 - q**3) + v / 72 * (1 - q**4))))
    found: Array = 4 * share * rise / _sinhc(d / 2)
    return found
