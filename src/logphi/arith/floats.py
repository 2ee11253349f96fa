"""NumPy arithmetic with rounding bounds: arrays of discs, a midpoint and a radius each.

Every operation returns a disc that contains the exact result for all arguments in the argument discs
(midpoint-radius arithmetic, e.g. Rump 2010, *Verification methods*, section 9). The elementary functions of
the platform are trusted to a few units in the last place, which the constant ``ULP`` below doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic
from logphi.arrays import Array

# derived: minus the logarithm of the normal density at zero
LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
# derived: twice the unit roundoff of IEEE doubles
ULP = 2.0**-52
# derived, with room: NumPy documents at most 4 ulp for its real elementary functions; complex ones compose two or three
ELEMENTARY = 8 * ULP
# derived: one complex operation of NumPy errs by less than 6 unit roundoffs relative to its modulus
OPERATION = 4 * ULP
# derived: Theorem 24.2 of Higham 2002 has 6.7 u per level of a radix-2 transform; doubled for the real one
FOURIER = 7 * ULP
# derived: the radius arithmetic itself rounds a dozen times at most per operation
INFLATE = 1 + 16 * ULP


@dataclass(frozen=True)
class Discs:
    """Arrays of complex (or real) discs: ``|exact - mid| <= rad``.

    ``rad`` broadcasts against ``mid``. An infinite radius marks an unknown value.
    """

    mid: NDArray[Any]
    rad: Array

    # NumPy would otherwise distribute ``array * Discs`` over the elements
    __array_ufunc__ = None

    @staticmethod
    def exact(values: Any) -> Discs:
        """Doubles taken as they are."""
        array = np.asarray(values)
        return Discs(array, np.zeros(array.shape))

    def __neg__(self) -> Discs:
        return Discs(-self.mid, self.rad)

    def __add__(self, other: Any) -> Discs:
        b = _discs(other)
        mid = self.mid + b.mid
        return Discs(mid, (self.rad + b.rad + ULP * np.abs(mid)) * INFLATE)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Discs:
        return self + -_discs(other)

    def __rsub__(self, other: Any) -> Discs:
        return _discs(other) + -self

    def __mul__(self, other: Any) -> Discs:
        b = _discs(other)
        mid = self.mid * b.mid
        rad = np.abs(self.mid) * b.rad + self.rad * (np.abs(b.mid) + b.rad) + _operation(mid) * np.abs(mid)
        return Discs(mid, rad * INFLATE)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Discs:
        b = _discs(other)
        mid = self.mid / b.mid
        room = np.abs(b.mid) - b.rad
        with np.errstate(divide="ignore", invalid="ignore"):  # a divisor that may be zero: infinite radius below
            rad = (self.rad + np.abs(mid) * b.rad) / room + 2 * _operation(mid) * np.abs(mid)
        return Discs(mid, np.where(room > 0, rad, np.inf) * INFLATE)

    def __rtruediv__(self, other: Any) -> Discs:
        return _discs(other) / self


def _operation(mid: NDArray[Any]) -> float:
    return OPERATION if np.iscomplexobj(mid) else ULP


def _discs(value: Any) -> Discs:
    return value if isinstance(value, Discs) else Discs.exact(value)


def complex_log1p(x: NDArray[Any]) -> NDArray[Any]:
    """``log(1 + x)`` with an error of a few ulp relative to |x|, for real or complex arrays.

    NumPy's own complex log1p forms 1 + x first and loses the digits of a small x.
    """
    if not np.iscomplexobj(x):
        return np.log1p(x)  # type: ignore[no-any-return]
    re, im = x.real, x.imag
    near = np.abs(x) < 0.5
    small = np.where(near, x, 0)
    with np.errstate(divide="ignore"):  # log(0) = -inf is the right value at x = -1
        modulus = np.where(near, 0.5 * np.log1p(small.real * (2 + small.real) + small.imag**2), np.log(np.hypot(1 + re, im)))
    return modulus + 1j * np.arctan2(im, 1 + re)  # type: ignore[no-any-return]


def complex_expm1(x: NDArray[Any]) -> NDArray[Any]:
    """``e^x - 1`` with an error of a few ulp relative to itself, for real or complex arrays.

    For x = a + ib it is e^a - 1 - 2 e^a sin^2(b/2) + i e^a sin b, where no part is larger than three times the whole.
    """
    if not np.iscomplexobj(x):
        return np.expm1(x)  # type: ignore[no-any-return]
    size, angle = np.exp(x.real), x.imag
    return np.expm1(x.real) - 2 * size * np.sin(angle / 2) ** 2 + 1j * (size * np.sin(angle))  # type: ignore[no-any-return]


class Floats(Arithmetic):
    """Numbers are :class:`Discs`."""

    def constant(self, value: float) -> Discs:
        """Integers up to 2^53 are exact; anything else stands for a decimal within half an ulp."""
        whole = float(value).is_integer() and abs(value) <= 2.0**53
        return Discs(np.float64(value), np.float64(0.0 if whole else ULP / 2 * abs(value)))  # type: ignore[arg-type]

    def log(self, x: Discs) -> Discs:
        """Natural logarithm, principal branch (any branch within a disc that meets the cut)."""
        mid = np.log(x.mid)
        return Discs(mid, (_log_error(x.rad / np.abs(x.mid)) + ELEMENTARY * np.abs(mid)) * INFLATE)

    def log1p(self, x: Discs) -> Discs:
        """``log(1 + x)``."""
        mid = complex_log1p(x.mid)
        size = np.abs(x.mid)
        away = np.abs(1 + x.mid) * (1 - OPERATION)
        with np.errstate(divide="ignore"):  # 1 + x = 0: infinite radius
            error = _log_error((x.rad + ULP * np.minimum(size, 1)) / away)
        return Discs(mid, (error + ELEMENTARY * np.minimum(size, np.abs(mid) + 1)) * INFLATE)

    def log1p_gap(self, x: Discs) -> Discs:
        """``x - log(1 + x)``: with w = x / (2 + x) it is x w - 2 (w^3/3 + w^5/5 + ...)."""
        size = np.abs(x.mid)
        near = size < 0.25
        small, far = np.where(near, x.mid, 0), np.where(near, 1, x.mid)
        w = small / (2 + small)
        square = w * w
        mid = np.where(near, w * (small - 2 * _series(square, _ATANH)), far - complex_log1p(far))
        own = np.where(near, ELEMENTARY * size**2, ELEMENTARY * (size + np.abs(mid - x.mid)))
        # the derivative is x / (1 + x)
        room = np.abs(1 + x.mid) * (1 - OPERATION) - x.rad
        with np.errstate(divide="ignore"):  # no room: infinite radius
            by_argument = np.where(room > 0, x.rad * (size + x.rad) / np.maximum(room, 0), np.inf)
        return Discs(mid, (np.where(x.rad > 0, by_argument, 0.0) + own) * INFLATE)

    def tanh(self, x: Discs) -> Discs:
        """Hyperbolic tangent, of a real disc or away from the poles."""
        mid = np.tanh(x.mid)
        return Discs(mid, (_tanh_error(x, mid) + ELEMENTARY * np.abs(mid)) * INFLATE)

    def log_cosh(self, x: Discs) -> Discs:
        """``log(cosh(x))``, up to a multiple of 2 pi i."""
        size = np.abs(x.mid)
        near = size < 1
        small = np.where(near, x.mid, 0)
        right = np.where(x.mid.real < 0, -x.mid, x.mid)
        far = np.where(near, 1, right)
        decay = np.exp(-2 * far)
        mid = np.where(near, complex_log1p(2 * np.sinh(small / 2) ** 2), far + complex_log1p(decay) - np.log(2))
        with np.errstate(divide="ignore"):  # a zero of cosh: infinite radius
            own = np.where(near, ELEMENTARY * size**2, ELEMENTARY * (size + np.abs(decay) / np.abs(1 + decay)))
        by_argument = np.abs(np.tanh(x.mid)) * (1 + ELEMENTARY) * np.sinh(np.minimum(x.rad, 1)) + x.rad**2
        return Discs(mid, (_log_error(np.where(x.rad < 1, by_argument, np.inf)) + own) * INFLATE)

    def log_sinhc(self, x: Discs) -> Discs:
        """``log(sinh(x)/x)``, up to a multiple of 2 pi i."""
        size = np.abs(x.mid)
        near = size < 1
        square = np.where(near, x.mid, 0) ** 2
        right = np.where(x.mid.real < 0, -x.mid, x.mid)
        far = np.where(near, 1, right)
        decay = np.exp(-2 * far)
        mid = np.where(
            near,
            complex_log1p(_series(square, SINHC)),
            far + complex_log1p(-decay) - np.log(2 * far),
        )
        with np.errstate(divide="ignore"):  # a zero of sinh: infinite radius
            own = np.where(near, ELEMENTARY * size**2, ELEMENTARY * (size + 2 + np.abs(decay) / np.abs(1 - decay)))
            coth = np.abs((1 + decay) / (1 - decay)) * (1 + ELEMENTARY)
        # near 0 the derivative coth(x) - 1/x is below |x|/2; farther out the two parts are bounded separately
        inside = x.rad * (size + x.rad)
        outside = _log_error(np.where(x.rad < 0.5, coth * np.sinh(np.minimum(x.rad, 1)) + x.rad**2, np.inf))
        outside = outside + _log_error(x.rad / np.maximum(size, 1))
        return Discs(mid, (np.where(near & (x.rad < 0.1), inside, outside) + own) * INFLATE)

    def tanhc_gap(self, x: Discs) -> Discs:
        """``1 - tanh(x)/x``."""
        size = np.abs(x.mid)
        near = size < 0.5
        small = np.where(near, x.mid, 0)
        far = np.where(near, 1, x.mid)
        square = small**2
        tanh = np.tanh(x.mid)
        mid = np.where(near, square * _series(square, _TANHC_GAP) / np.cosh(small), 1 - tanh / far)
        own = np.where(near, ELEMENTARY * size**2, ELEMENTARY * (1 + np.abs(tanh) / np.maximum(size, 0.5)))
        # near 0 the derivative is below |x|; farther out it is that of tanh, over x, and tanh over x^2
        inside = x.rad * (size + x.rad)
        room = np.maximum(size - x.rad, 0.25)
        outside = np.where(x.rad < 0.25, (_tanh_error(x, tanh) + np.abs(tanh) * x.rad / room) / room, np.inf)
        return Discs(mid, (np.where(near & (x.rad < 0.1), inside, outside) + own) * INFLATE)

    def exp(self, x: Discs) -> Discs:
        """Exponential."""
        mid = np.exp(x.mid)
        return Discs(mid, (np.expm1(x.rad) + ELEMENTARY) * np.abs(mid) * INFLATE)

    def log_normal_mean(self, function: Callable[[Discs], Discs]) -> Discs:
        """Not available: the quadrature and its bound belong to :mod:`logphi.quadrature.mixtures.mixture_trapezoid`."""
        raise NotImplementedError(
            "logphi.quadrature.mixtures.mixture_trapezoid takes normal means of floats, with a bound of its error"
        )

    def integral(self, function: Callable[[Discs], Discs], low: Discs, high: Discs | None) -> Discs:
        """Not available: the quadrature and its bound belong to :mod:`logphi.quadrature.curves.gauss_legendre`."""
        raise NotImplementedError("floats integrate by logphi.quadrature.curves.gauss_legendre, which bounds the quadrature")

    def log_normal_sum(self, variance: Discs, at: Discs) -> Discs:
        """Not available: the series and their remainders belong to :mod:`logphi.laws.atomic.integers`."""
        raise NotImplementedError("floats take normal sums by logphi.laws.atomic.integers, which bounds the series")

    def log_power_sum(self, p: Sequence[float] | Array, q: Sequence[float] | Array, z: Discs) -> Discs:
        """``log(sum(p**(1 + z) * q**(-z)))``, scaled by its largest term."""
        log_p, log_q = np.log(np.asarray(p)), np.log(np.asarray(q))
        loss = log_p - log_q
        weight = log_p + z.mid.real[..., None] * loss
        top = weight.max(axis=-1)
        terms = np.exp(weight - top[..., None])
        total = terms.sum(axis=-1)
        if np.iscomplexobj(z.mid):
            rotated = (terms * np.exp(1j * z.mid.imag[..., None] * loss)).sum(axis=-1)
        else:
            rotated = total
        # each loss carries the rounding of two logarithms and of two parameters, each exponent |z| times that
        loss_error = ELEMENTARY * (3 + np.abs(log_p) + np.abs(log_q))
        exponent = loss_error + np.abs(z.mid)[..., None] * loss_error + z.rad[..., None] * np.abs(loss)
        wrong = (terms * np.expm1(np.minimum(exponent + len(log_p) * ULP, 700.0))).sum(axis=-1) * (1 + 1e-9)
        with np.errstate(divide="ignore"):  # a zero of the sum: infinite radius
            error = _log_error(wrong / np.abs(rotated))
            mid = top + np.log(rotated)
        return Discs(mid, (error + ELEMENTARY * (np.abs(top) + 1)) * INFLATE)


def _log_error(relative: Array) -> Array:
    """A bound of the error of log from the relative error of its argument; infinite from one on."""
    inside = relative < 1
    return np.where(inside, -np.log1p(-np.where(inside, relative, 0)), np.inf)


def _tanh_error(x: Discs, tanh: NDArray[Any]) -> Array:
    """Bound of |tanh(x + d) - tanh(x)| = |sinh d| / |cosh(x + d) cosh(x)| over |d| <= rad."""
    slope = np.abs(1 - tanh**2) + ELEMENTARY * (1 + np.abs(tanh) ** 2)
    if not np.iscomplexobj(x.mid):
        return np.minimum(x.rad, 2.0)  # on the real line the slope is at most one
    by_argument = np.abs(tanh) * np.sinh(np.minimum(x.rad, 1)) + x.rad**2
    room = np.where((x.rad < 1) & (by_argument < 1), 1 - by_argument, 0)
    with np.errstate(divide="ignore"):  # no room: infinite radius
        return np.where(x.rad > 0, np.sinh(np.minimum(x.rad, 1)) * slope / room, 0.0)


def _series(square: NDArray[Any], coefficients: Array) -> NDArray[Any]:
    result = np.full_like(square, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result = result * square + coefficient
    return result


# derived: k! for k = 0 .. 29
_FACTORIAL = np.cumprod(np.concatenate([[1.0], np.arange(1.0, 30.0)]))
# derived: sinh(x)/x - 1 = sum over k >= 1 of x^2k / (2k+1)!; 12 terms leave less than 1e-25 for |x| < 1
SINHC = np.concatenate([[0.0], 1 / _FACTORIAL[3:27:2]])
# derived: atanh(w) - w = w (w^2/3 + w^4/5 + ...); 11 terms leave less than 1e-20 w^2 for |w| < 1/7
_ATANH = np.concatenate([[0.0], 1 / np.arange(3.0, 25.0, 2)])
# derived: (x cosh x - sinh x) / x^3 = sum over k >= 1 of x^(2k-2) 2k / (2k+1)!; 11 terms leave less than 2e-24 for |x| < 1
_TANHC_GAP = np.arange(2.0, 24.0, 2) / _FACTORIAL[3:25:2]

FLOATS = Floats()
