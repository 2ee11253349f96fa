"""Single doubles without errors: for values whose error the caller bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from logphi.arith.floats import SINHC
from logphi.arith.protocol import Arithmetic

# the coefficients from the last, as Python's floats
_SINHC = tuple(SINHC[::-1].tolist())


def _refused(*_: Any) -> Any:
    raise NotImplementedError("doubles without errors have elementary functions only: FLOATS carries errors")


class Doubles(Arithmetic):
    """Numbers are Python's own, real; each function is accurate to a few ulps.

    Every other function raises a ``NotImplementedError``.
    """

    def constant(self, value: float) -> float:
        """The double."""
        return float(value)

    def log(self, x: float) -> float:
        """Natural logarithm."""
        return math.log(x)

    def log1p(self, x: float) -> float:
        """``log(1 + x)``."""
        return math.log1p(x)

    def exp(self, x: float) -> float:
        """Exponential."""
        return math.exp(x)

    def tanh(self, x: float) -> float:
        """Hyperbolic tangent."""
        return math.tanh(x)

    def log_cosh(self, x: float) -> float:
        """``log(cosh(x))``; near 0 it is log(1 + 2 sinh(x/2)^2)."""
        size = abs(x)
        return math.log1p(2 * math.sinh(size / 2) ** 2) if size < 1 else size + math.log((1 + math.exp(-2 * size)) / 2)

    def log_sinhc(self, x: float) -> float:
        """``log(sinh(x)/x)``; near 0 by the series of sinh(x)/x - 1."""
        size = abs(x)
        if size < 1:
            total = 0.0
            for coefficient in _SINHC:
                total = total * size * size + coefficient
            return math.log1p(total)
        return size + math.log(-math.expm1(-2 * size) / (2 * size))

    log1p_gap = tanhc_gap = cast(Callable[..., Any], _refused)
    log_normal_mean = integral = log_normal_sum = log_power_sum = cast(Callable[..., Any], _refused)


DOUBLES = Doubles()
