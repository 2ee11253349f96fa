"""The characteristic function of the privacy loss: phi(t) = E[e^{itL}; |L| < inf] and its logarithm K(it).

notation: z = it = c + is, c = -Im t, s = Re t; M = e^K. On the real axis of t |phi| is at most the mass of the finite losses.

The file is longer than others because ``help()`` explains phi and log-phi for numbers, names and symbols.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bound, Bounds
from logphi.answers.complex_bound import ComplexBound, ComplexBounds
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction
from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array, Complex
from logphi.engine.answer import status_of
from logphi.engine.cumulants import estimated
from logphi.engine.directions import HasLoss, Loss, direction_of
from logphi.engine.log_moment import on_vertical
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inversion.lines.moments import centre, proved
from logphi.laws.log_phi import LogPhi
from logphi.progress import shown
from logphi.quadrature.values import Values

if TYPE_CHECKING:
    import sympy


# derived: for larger radii, |phi| <= M(c) is sharper than an error of e^{radius} - 1
_WIDEST = 1.0
# derived: above the smallest normal double
TINY = 1e-300


@overload
def log_phi(
    self: HasLoss,
    alpha: str | sympy.Basic | None = None,
    *,
    direction: DirectionLike = Direction.REMOVE,
    rtol: float = 1e-9,
) -> sympy.Expr: ...
@overload
def log_phi(
    self: HasLoss, alpha: complex | Number, *, direction: DirectionLike = Direction.REMOVE, rtol: float = 1e-9
) -> ComplexBound: ...
@overload
def log_phi(
    self: HasLoss,
    alpha: Sequence[complex | Number] | Numbers,
    *,
    direction: DirectionLike = Direction.REMOVE,
    rtol: float = 1e-9,
) -> ComplexBounds: ...
def log_phi(
    self: HasLoss, alpha: Any = None, *, direction: DirectionLike = Direction.REMOVE, rtol: float = 1e-9
) -> sympy.Expr | ComplexBound | ComplexBounds:
    r"""The log-characteristic function log phi(alpha) = K(i alpha) of the finite part of the loss ([AFA] Definition 12).

    phi(alpha) = E[e^{i alpha L}; L finite], L = log(p/q) under P. The logarithm is the branch that is continuous along lines
    parallel to the real axis of alpha and real where alpha is imaginary, so that n releases have n times the K of one; at 0 it
    is log(1 - P(L = inf)), which is 0 unless the loss may be infinite.

    Parameters
    ----------
    alpha
        A SymPy symbol or expression, a name as text, or nothing for a real symbol ``alpha``: the answer is an expression. Or
        numbers, one or an array of any shape, real or complex: the answer is a number with bounds. Complex numbers must lie
        where the expectation converges, -Im alpha in the strip of K. Many numbers are answered faster if they lie on few lines
        parallel to the real axis.
    direction
        ``"remove"`` for log(p/q) under P, ``"add"`` for log(q/p) under Q: K(-1 - i alpha), phi' of the paper.
    rtol
        Requested width of the bounds relative to the modulus of the value. Wider answers are valid and say so in their status.

    Returns
    -------
    sympy.Expr, ComplexBound or ComplexBounds
        The expression holds equal terms once, with their counts, and an unevaluated ``Integral`` or ``Sum`` where there is no
        closed form. ``sympy.N``, ``evalf`` and ``lambdify`` evaluate all of it, to ten digits and more, without bounds.
        A ComplexBound for a number, ComplexBounds of its shape for an array: real and imaginary part are enclosed.
        Where |phi| is too small to determine its phase, the imaginary part is unresolved.

    Raises
    ------
    ValueError, TypeError
        If alpha is of another type, not finite or outside the strip, or the direction is unknown.
    NotImplementedError
        If an expression is requested and the release has none.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> release = 2 * Gaussian(sigma=1)
    >>> release.log_phi("t")
    I*t*(I*t + 1)
    >>> print(release.log_phi(0.5).value)
    (-0.25+0.5j)
    """
    check.tolerance("rtol", rtol)
    law = _of(self._loss(), direction)
    if alpha is None or isinstance(alpha, str) or getattr(alpha, "free_symbols", None):
        return expression(law, alpha)
    law = law.with_omitted_mass()
    return _answered("alpha", alpha, law, direction, lambda t: _log_boxes(law, t, rtol))


@overload
def phi(
    self: HasLoss, t: complex | Number, *, direction: DirectionLike = Direction.REMOVE, rtol: float = 1e-9
) -> ComplexBound: ...
@overload
def phi(
    self: HasLoss,
    t: Sequence[complex | Number] | Numbers,
    *,
    direction: DirectionLike = Direction.REMOVE,
    rtol: float = 1e-9,
) -> ComplexBounds: ...
def phi(
    self: HasLoss, t: Any, *, direction: DirectionLike = Direction.REMOVE, rtol: float = 1e-9
) -> ComplexBound | ComplexBounds:
    """The characteristic function phi(t) = E[e^{itL}; L finite] of the privacy loss ([AFA] Definition 12).

    Infinite losses are left out: phi(0) = 1 - P(L = inf).

    Parameters
    ----------
    t
        Numbers, one or an array of any shape, per nat; complex ones where the expectation converges, -Im t in the strip of K.
    direction
        ``"remove"`` for log(p/q) under P, ``"add"`` for log(q/p) under Q.
    rtol
        Requested width of the bounds relative to phi(i Im t), the largest modulus on the line, which is 1 or less for real t.

    Returns
    -------
    ComplexBound or ComplexBounds
        Of the shape of ``t``. A value below the smallest double, as of many releases, is 0 with its bound.

    Raises
    ------
    ValueError, TypeError
        If t is not finite or outside the strip, or the direction is unknown.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> Gaussian(sigma=1).phi([0.0, 1.0]).value.round(6)
    array([1.      +0.j      , 0.532281+0.290786j])
    """
    check.tolerance("rtol", rtol)
    law = _of(self._loss(), direction).with_omitted_mass()
    return _answered("t", t, law, direction, lambda at: _boxes(law, at, rtol))


def expression(law: LogPhi, alpha: Any) -> sympy.Expr:
    """K(i alpha) in SymPy; alpha is an expression, a name, or None."""
    import sympy

    from logphi.arith.symbolic import SYMBOLIC

    if isinstance(alpha, str) and not alpha.strip("\\").isidentifier():
        raise ValueError(f"alpha must be a name such as 't', a symbol, or numbers that are not text, got {alpha!r}")
    at = sympy.Symbol(alpha or "alpha", real=True) if alpha is None or isinstance(alpha, str) else alpha
    return sympy.sympify(law.formula(SYMBOLIC, sympy.I * at))


def _of(loss: Loss, direction: Direction | str) -> LogPhi:
    return loss.remove.reflected() if direction_of(direction) is Direction.ADD else loss.remove


def _answered(
    name: str, given: Any, law: LogPhi, direction: Direction | str, answer: Callable[[Complex], ComplexBounds]
) -> ComplexBound | ComplexBounds:
    """Answers point by point in one array, after all points are checked to lie in the strip."""
    points = _numbers(name, given)
    low, high = law.growth.strip
    outside = (-points.imag < low) | (-points.imag > high)
    if outside.any():
        left, right = law.strip
        raise ValueError(
            f"Im {name} must lie between {0.0 - right:.6g} and {0.0 - left:.6g}, where E[exp(i {name} L)] converges, got "
            f"{name} = {complex(points[outside].flat[0])!r}; "
            f"direction={'remove' if direction_of(direction) is Direction.ADD else 'add'!r} turns the strip around"
        )
    # extreme points overflow: the answer is then unknown
    with np.errstate(all="ignore"):
        found = answer(points.ravel())
    return found[0] if points.ndim == 0 else found.reshape(points.shape)


def _numbers(name: str, given: Any) -> Complex:
    array = check.plain_array(name, given, "numbers, a symbol or a name", "iufcO")
    entries = array.ravel().tolist() if array.dtype == object else []
    if not all(_number(one) for one in entries):
        raise TypeError(f"{name} must be numbers, a symbol or a name, got {given!r}")
    try:
        array = array.astype(complex)
    except OverflowError:
        raise ValueError(f"{name} must be in the range of doubles") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite and not NaN, got {given!r}")
    return array


def _number(one: Any) -> bool:
    return isinstance(one, (numbers.Number, Decimal)) and not isinstance(one, bool)


def _log_boxes(law: LogPhi, t: Complex, rtol: float) -> ComplexBounds:
    mid, rounding, inner = np.zeros(t.size, complex), np.zeros(t.size), np.zeros(t.size)
    lines, line = _lines(t)
    for number in shown(range(lines.size), "lines"):
        own = np.flatnonzero(line == number)
        found = on_vertical(law, float(lines[number]), t[own].real)
        mid[own], rounding[own], inner[own] = found.mid, found.rounding, found.inner
    wrong = (rounding + inner) * (1 + 1e-12) + ULP * np.abs(mid)
    known = np.isfinite(wrong) & np.isfinite(mid)
    mid, wrong = np.where(known, mid, 0.0), np.where(known, wrong, np.inf)
    met = known & (2 * wrong <= rtol * np.abs(mid))
    real, imag = _Part.of(mid.real, wrong), _Part.of(mid.imag, wrong)
    if not known.all():
        # the modulus does not need the branch
        values = law.log_transform(1j * t)
        radius = sum(proved(values)) * (1 + 1e-12) + ULP * np.abs(values.mid)
        known_modulus = np.isfinite(radius) & np.isfinite(values.mid)
        size = np.where(known_modulus, values.mid.real, 0.0)
        modulus = _Part.of(size, np.where(known_modulus, radius, np.inf)).below(_log_most(law, t) + _fallen(law, t, ~known))
        real = _Part(*(np.where(known, one, other) for one, other in zip(real, modulus, strict=True)))
    return _bounds(law, real, imag, met, np.where(known, inner, 0.0))


def _boxes(law: LogPhi, t: Complex, rtol: float) -> ComplexBounds:
    if law.empty:
        # no loss is finite
        zero = _Part.of(np.zeros(t.size), np.zeros(t.size))
        return _bounds(law, zero, zero, np.ones(t.size, bool), np.zeros(t.size))
    values, mass = law.log_transform(1j * t), centre(law)
    parts = zip((values.mid, values.rounding, values.inner), (mass.mid, mass.rounding, mass.inner), strict=True)
    values = Values(*(np.where(t == 0, at_zero, other) for other, at_zero in parts))
    most = np.exp(_log_most(law, t)) * (1 + 2 * ELEMENTARY)
    known = np.isfinite(values.mid) & (values.radius < _WIDEST)
    mid = np.exp(np.where(known, values.mid, 0.0))
    known &= np.isfinite(mid)
    mid = np.where(known, mid, 0.0)
    relative = np.expm1(np.where(known, values.radius, 0.0)) + np.where(values.mid == 0, 0.0, ELEMENTARY)
    # the relative error of an exponential is unknown for subnormal doubles
    underflow = np.where(values.mid == 0, 0.0, TINY)
    wrong = np.where(known, np.abs(mid) * relative * (1 + 1e-12) + underflow, np.inf)
    modulus = most * np.exp(_fallen(law, t, ~known)) * (1 + 2 * ELEMENTARY)
    real, imag = (_Part.of(one, wrong).below(modulus).above(-modulus) for one in (mid.real, mid.imag))
    met = 2 * np.minimum(wrong, modulus) <= rtol * most
    return _bounds(law, real, imag, met, np.where(known, values.inner * np.abs(mid), 0.0))


def _lines(t: Complex) -> tuple[Array, NDArray[np.intp]]:
    """The distinct abscissas -Im t, and the index of the abscissa of each point."""
    lines, line = np.unique(0.0 - t.imag, return_inverse=True)
    return lines, line.ravel()


def _log_most(law: LogPhi, t: Complex) -> Array:
    """A bound of K(c), the largest log |phi| on the line through each point."""
    lines, line = _lines(t)
    values = law.log_transform(lines)
    radius = sum(proved(values)) * (1 + 1e-12) + ULP * np.abs(values.mid)
    most = np.where(np.isfinite(radius) & np.isfinite(values.mid), values.mid.real + radius, np.inf)
    # masses are at most one, and K is convex
    most = np.where((lines >= -1) & (lines <= 0), np.minimum(most, 0.0), most)
    return np.asarray(most[line])


def _fallen(law: LogPhi, t: Complex, where: NDArray[np.bool_]) -> Array:
    """A bound of log |phi| - K(c) at some of the points, zero at the others."""
    fallen = np.zeros(t.size)
    lines, line = _lines(t)
    for number in np.unique(line[where]):
        own = np.flatnonzero(where & (line == number))
        heights, order = np.unique(np.abs(t[own].real), return_inverse=True)
        fallen[own] = law.log_envelope(float(lines[number]), heights)[order.ravel()]
    return np.where(np.isfinite(fallen), fallen, 0.0)


class _Part(NamedTuple):
    """Real or imaginary parts: lower ends, best values, upper ends."""

    lower: Array
    value: Array
    upper: Array

    @staticmethod
    def of(value: Array, wrong: Array) -> _Part:
        """The parts of a value with an absolute error, the ends rounded outward."""
        ends = np.nextafter(value - wrong, -np.inf), np.nextafter(value + wrong, np.inf)
        return _Part(
            *(np.where(wrong > 0, one, other) for one, other in zip((ends[0], value, ends[1]), (value,) * 3, strict=True))
        )

    def below(self, most: Array) -> _Part:
        """The parts that may be at most ``most``."""
        return _Part(*(np.minimum(one, most) for one in self))

    def above(self, least: Array) -> _Part:
        """The parts that may be at least ``least``."""
        return _Part(*(np.maximum(one, least) for one in self))


def _bounds(law: LogPhi, real: _Part, imag: _Part, met: NDArray[np.bool_], inner: Array) -> ComplexBounds:
    def bound(lower: float, value: float, upper: float, met: bool, inner: float) -> Bound:
        width = upper - lower if lower < upper else 0.0
        ledger = Ledger(inner=Entry(inner), rounding=Entry(width if width < np.inf else 0.0))
        ledger = estimated(ledger) if law.traits.estimated else ledger
        status = status_of(met, not law.traits.estimated, trivial=width == np.inf)
        return Bound(lower, value, upper, status, "log-phi", ledger=ledger)

    def bounds(part: _Part) -> Bounds:
        columns = (one.tolist() for one in (*part, met, inner))
        return Bounds([bound(*row) for row in zip(*columns, strict=True)])

    return ComplexBounds(bounds(real), bounds(imag))
