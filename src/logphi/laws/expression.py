"""A law given by a SymPy expression of its log-characteristic function: compiled, with estimated errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from logphi.arith.ball import Ball
from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array, Complex
from logphi.bracketing import last_good
from logphi.laws.estimated import Estimated, slopes_apart

# measured: the step of the differences that tell rounding from slope, relative to 1 + |z|
_STEP = 2.0**-30
# measured: with a larger rounding error, relative to |K| + 1e-3, a value is computed again with more digits
_NOISY = 1e-13
# chosen: the largest number of values that are computed again at a time
_MOST = 400
# chosen: the precision of these values
_BITS = 136
# chosen: the distance to either side of a removable singularity at which K is evaluated
_ACROSS = 1e-15
# chosen: the largest abscissa at which K is tried
_FARTHEST = 2.0**15
# chosen: the number of bisections that locate an end of the strip
_HALVINGS = 30


@dataclass(frozen=True)
class Expression(Estimated):
    """K(z) = expression at alpha = -i z. All errors are estimates."""

    expression: Any
    alpha: Any

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z) as an expression; as a number of mpmath where z is one."""
        import sympy

        if isinstance(z, Ball):
            raise NotImplementedError("an expression of SymPy is compiled for doubles and for mpmath, not for balls")
        if isinstance(z, sympy.Basic):
            return self.expression.subs(self.alpha, -sympy.I * z)
        found = _filled(self, z)
        if found is None:
            raise ValueError(f"the expression has no value at z = {z}, nor beside it")
        return found

    @property
    def strip(self) -> tuple[float, float]:
        """The largest interval on which K is real and finite."""
        return (-1 - _end(self, True), _end(self, False))

    def evaluated(self, z: Complex) -> tuple[Complex, Array]:
        """K with estimated errors, from second differences; at higher precision where rounding shows or K is undefined."""
        quick, _ = _compiled(self.expression, self.alpha)
        step = _STEP * (1 + np.abs(z))
        with np.errstate(all="ignore"):  # removable singularities are evaluated at higher precision below
            left, mid, right = (
                np.broadcast_to(np.asarray(quick(-1j * (z + side * step)), complex), z.shape) for side in (-1, 0, 1)
            )
            noise = 4 * slopes_apart(left, mid, right) + 8 * ULP * (np.abs(mid) + 0.5)
        bad = np.flatnonzero(~(noise < _NOISY * (1e-3 + np.abs(mid))))[:_MOST]
        mid, noise = mid.copy(), np.where(np.isfinite(noise), noise, np.inf)
        for k in bad:
            found = _precise(self, complex(z[k]))
            mid[k], noise[k] = (np.inf, np.inf) if found is None else (found, 8 * ULP * abs(found))
        return mid, noise


def _precise(law: Expression, z: complex) -> complex | None:
    """K at high precision, if it has a value."""
    import mpmath

    from logphi.arith.mp import precision

    with precision(_BITS):
        found = _filled(law, mpmath.mpc(z))
        return None if found is None else complex(found)


def _filled(law: Expression, z: Any) -> Any:
    """K by mpmath, at its precision; at a removable singularity the mean from both sides, None at any other."""
    import mpmath

    _, slow = _compiled(law.expression, law.alpha)

    def at(point: Any) -> Any:
        try:
            value = mpmath.mpmathify(slow(-1j * point))
        except (ZeroDivisionError, ValueError, OverflowError, TypeError):
            return None
        return value if mpmath.isfinite(value) else None

    value = at(z)
    if value is None:
        sides = [at(z + sign * _ACROSS) for sign in (-1, 1)]
        return None if None in sides else (sides[0] + sides[1]) / 2
    return value


@lru_cache(maxsize=32)
def _compiled(expression: Any, alpha: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """The expression as a function of arrays, and of numbers of mpmath."""
    import sympy

    return sympy.lambdify(alpha, expression, ["scipy", "numpy"]), sympy.lambdify(alpha, expression, "mpmath")


@lru_cache(maxsize=32)
def _end(law: Expression, left: bool) -> float:
    """How far right of 0, or left of -1, K stays real and finite."""

    def real(distance: float) -> bool:
        z = -1 - distance if left else distance
        mid, radius = law.evaluated(np.array([complex(z)]))
        turn = abs(mid[0].imag - 2 * np.pi * np.round(mid[0].imag / (2 * np.pi))) if np.isfinite(mid[0]) else 1.0
        return bool(turn < 1e-9 * (1 + abs(mid[0])) and radius[0] < 1)

    return last_good(real, _FARTHEST, 4.0, 20, _HALVINGS)
