"""A law known by a SymPy expression of its log-characteristic function: compiled, with errors that are estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.ball import Ball
from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.numerics.law import Law, Line, Values
from logphi.numerics.roots import last_good

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# measured: steps of the differences that tell rounding from slope, and what of it calls for more digits
_STEP, _NOISY = 2.0**-30, 1e-13
# measured: points at which more digits are computed at a time; the digits; the step across a removable singularity
_MOST, _DIGITS, _ACROSS = 400, 40, 1e-15
# measured: the largest abscissa looked at, and how finely an end of the strip is found
_FARTHEST, _HALVINGS = 2.0**15, 30
# a mass this close to one is one
_WHOLE = 1e-12
# measured: standard deviations up to which the decay is sampled, and the samples
_HIGHEST, _SAMPLES = 200.0, 4000
# derived: what a peak between two samples may add to log |M|, (0.025 r)^2 / 2 for losses within r = 10 standard deviations
_BETWEEN = 0.032
# held by whoever computes with more digits, as threads share the precision of mpmath
_ALONE = RLock()


@dataclass(frozen=True)
class Expression(Law):
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
    def estimated(self) -> bool:
        """Always."""
        return True

    @property
    def strip(self) -> tuple[float, float]:
        """As far as K is real on the real axis."""
        return (-1 - _end(self, True), _end(self, False))

    @property
    def infimum(self) -> float:
        """Not known."""
        return -np.inf

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K, by more digits where rounding shows or nothing is defined; infinite outside the strip."""
        z = np.asarray(z)
        low, high = self.strip
        inside = (z.real > low) & (z.real < high)
        mid, radius = evaluated(self, np.where(inside, z, -0.5).ravel().astype(complex))
        known = inside & np.isfinite(mid).reshape(z.shape) & np.isfinite(radius).reshape(z.shape)
        mid = np.where(known, mid.reshape(z.shape), np.inf)
        return Values(
            mid if np.iscomplexobj(z) else mid.real,
            np.where(known, radius.reshape(z.shape), np.inf),
            np.where(known, radius.reshape(z.shape), 0.0),
        )

    def log_masses(self) -> tuple[Values, Values] | None:
        """K(0) and K(-1); zero within rounding is zero."""
        mid, radius = evaluated(self, np.array([0j, -1 + 0j]))
        if (np.abs(mid) < _WHOLE).all():
            return None
        ends = np.where(np.abs(mid) < _WHOLE, 0.0, np.minimum(mid.real, 0.0))
        one, other = (Values(ends[k : k + 1], radius[k : k + 1], np.zeros(1)) for k in (0, 1))
        return one, other

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """An estimate: sampled, its largest value to the right taken; constant beyond."""
        places, sampled = _decay(self, abscissa)
        return np.asarray(sampled[np.searchsorted(places, heights, side="right") - 1])

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self.log_transform(line.points, count)


def evaluated(law: Expression, z: Complex) -> tuple[Complex, Array]:
    """K and an estimate of its error: from second differences over a small step, which a smooth function does not have."""
    quick, _ = _compiled(law.expression, law.alpha)
    step = _STEP * (1 + np.abs(z))
    with np.errstate(all="ignore"):  # removable singularities are evaluated by more digits below
        left, mid, right = (
            np.broadcast_to(np.asarray(quick(-1j * (z + side * step)), complex), z.shape) for side in (-1, 0, 1)
        )
        gap = left + right - 2 * mid
        gap = gap - 2j * np.pi * np.round(gap.imag / (2 * np.pi))
        noise = 4 * np.abs(gap) + 8 * ULP * (np.abs(mid) + 0.5)
    bad = np.flatnonzero(~(noise < _NOISY * (1e-3 + np.abs(mid))))[:_MOST]
    mid, noise = mid.copy(), np.where(np.isfinite(noise), noise, np.inf)
    for k in bad:
        found = _precise(law, complex(z[k]))
        mid[k], noise[k] = (np.inf, np.inf) if found is None else (found, 8 * ULP * abs(found))
    return mid, noise


def _precise(law: Expression, z: complex) -> complex | None:
    """K by many digits, if it has a value."""
    import mpmath

    with _ALONE, mpmath.workdps(_DIGITS):
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
    """How far beyond 0, or beyond -1, K stays real and finite."""

    def real(distance: float) -> bool:
        z = -1 - distance if left else distance
        mid, radius = evaluated(law, np.array([complex(z)]))
        turn = abs(mid[0].imag - 2 * np.pi * np.round(mid[0].imag / (2 * np.pi))) if np.isfinite(mid[0]) else 1.0
        return bool(turn < 1e-9 * (1 + abs(mid[0])) and radius[0] < 1)

    return last_good(real, _FARTHEST, 4.0, 20, _HALVINGS)


@lru_cache(maxsize=32)
def _decay(law: Expression, abscissa: float) -> tuple[Array, Array]:
    """Heights from zero, and the largest Re K(c + it) - K(c) seen from each on."""
    low, high = law.strip
    step = min(1e-3 * (1 + abs(abscissa)), (abscissa - low) / 4, (high - abscissa) / 4)
    near = evaluated(law, np.asarray(abscissa + step * np.array([-1.0, 0.0, 1.0]), complex))[0].real
    spread = np.sqrt(max(float(near[0] + near[2] - 2 * near[1]) / step**2, 1e-300))
    places = np.linspace(0.0, _HIGHEST / spread, _SAMPLES)
    values = evaluated(law, np.asarray(abscissa + 1j * places, complex))[0].real - near[1]
    values = np.where(np.isfinite(values), np.minimum(values + _BETWEEN, 0.0), 0.0)
    # beyond the last sample, the largest of the upper half
    values[_SAMPLES // 2 :] = values[_SAMPLES // 2 :].max()
    return places, np.maximum.accumulate(values[::-1])[::-1]
