"""Renyi divergences of a release: D_a(P||Q) = K(a - 1)/(a - 1) ([LT] Theorem 3.2).

Orders below 1/2 are computed for the reversed pair, K(a - 1) = K~(-a), so that no difference rounds. K itself comes from
:mod:`logphi.engine.log_moment`.

The file is longer than others because ``help()`` explains each of its four questions in full.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from logphi.answers.bound import Bound, Bounds
from logphi.answers.complex_bound import ComplexBound
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Direction, Status
from logphi.arith.floats import ULP
from logphi.engine.answer import judged, status_of, unresolved, worst
from logphi.engine.cumulants import cumulant, estimated
from logphi.engine.directions import HasLoss
from logphi.engine.log_moment import below_the_end, complex_log_moment, log_moment
from logphi.engine.log_probability import masses
from logphi.inputs import check
from logphi.inputs.arguments import DirectionLike, Number, Numbers
from logphi.inputs.guesses import guided
from logphi.laws.log_phi import LogPhi
from logphi.questions.pointwise import pointwise


@overload
def renyi(self: HasLoss, order: Number, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound: ...
@overload
def renyi(  # a real number is a complex one to type checkers: theirs is the first that fits
    self: HasLoss, order: complex, *, direction: DirectionLike | None = None, rtol: float = 1e-9
) -> ComplexBound: ...
@overload
def renyi(self: HasLoss, order: Numbers, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bounds: ...
@guided()
def renyi(
    self: HasLoss, order: Any, *, direction: DirectionLike | None = None, rtol: float = 1e-9
) -> Bound | Bounds | ComplexBound:
    """The Renyi divergence D_a(P||Q) = log(E_P[e^{(a-1) L}])/(a - 1), the larger of both directions ([LT] Theorem 3.2).

    Parameters
    ----------
    order
        Any real order a, an array of them, or one complex order. 1 is the Kullback-Leibler divergence, infinity the largest
        loss, 0 is -log Q(p > 0), and negative orders obey D_a(P||Q) = a/(1-a) D_{1-a}(Q||P). For a complex order it is the
        branch that is continuous from the real axis along the vertical line. Orders are taken as exact doubles.
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default. Complex numbers have no
        maximum: a complex order that is not real needs a direction, unless both agree.
    rtol
        Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

    Returns
    -------
    Bound, Bounds or ComplexBound
        In nats: of the shape of ``order``, a ComplexBound for a complex one. ``float`` gives the upper end. If the integral
        diverges the answer is infinite (minus infinity for negative orders), with a status that says so; if it is not known
        whether it does, the upper end is infinite.

    Raises
    ------
    ValueError, TypeError
        If an order is NaN or no number, complex orders come in an array, or the direction does not apply.

    Examples
    --------
    >>> import logphi as lp
    >>> round((3 * lp.Gaussian(sigma=2)).renyi(32.5).value, 9)
    12.1875
    """
    rtol = check.tolerance("rtol", rtol)
    laws = [(name, law.with_omitted_mass()) for name, law in self._loss().orders(direction)]
    asked = _orders(order)
    # extreme orders overflow: the answer is then unknown
    with np.errstate(all="ignore"):
        if np.iscomplexobj(asked):
            return _at_complex(laws, complex(asked), rtol)
        return pointwise(asked, lambda at: _largest(laws, at, rtol))


@guided()
def renyi_orders(self: HasLoss, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> tuple[float, float]:
    """The open interval of real parts of the orders at which the Renyi divergence converges.

    It always contains (0, 1); for the maximum over a relation it is the intersection. With infinite losses under P it ends
    at 1, with outcomes that P never has it begins at 0. For laws known by samples the ends are estimates.

    Parameters
    ----------
    direction
        ``"remove"`` or ``"add"`` for one direction only; both by default.
    rtol
        As in every question. The ends are known to a few ulps, so that any tolerance is met.

    Returns
    -------
    tuple of float
        Both ends of the interval, which may be infinite.

    Raises
    ------
    ValueError, TypeError
        If the direction does not apply, or the tolerance is not positive.

    Examples
    --------
    >>> import logphi as lp
    >>> lp.ApproximateDP(epsilon=1, delta=1e-5).renyi_orders()
    (0.0, 1.0)
    """
    check.tolerance("rtol", rtol)
    ends = [_interval(law.with_omitted_mass()) for _, law in self._loss().orders(direction)]
    return max(low for low, _ in ends), min(high for _, high in ends)


@guided()
def kl_divergence(self: HasLoss, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound:
    """The Kullback-Leibler divergence D(P||Q) = E_P[L]: the mean of the loss, the Renyi divergence of order 1.

    Parameters
    ----------
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

    Returns
    -------
    Bound
        In nats; ``float`` gives the upper end. Infinite if the loss may be infinite.

    Raises
    ------
    ValueError, TypeError
        If the direction does not apply, or the tolerance is not positive.

    Examples
    --------
    >>> import logphi as lp
    >>> round((3 * lp.Gaussian(sigma=2)).kl_divergence().value, 9)
    0.375
    """
    return renyi(self, 1.0, direction=direction, rtol=rtol)


@guided()
def max_divergence(self: HasLoss, *, direction: DirectionLike | None = None, rtol: float = 1e-9) -> Bound:
    """The largest loss: the Renyi divergence of infinite order, the epsilon of pure differential privacy.

    Parameters
    ----------
    direction
        ``"remove"`` or ``"add"`` for one direction only; the maximum of both by default.
    rtol
        Requested ``upper - lower`` relative to the value. Wider answers are valid and say so in their status.

    Returns
    -------
    Bound
        In nats; ``float`` gives the upper end. Infinite if losses are unbounded.

    Raises
    ------
    ValueError, TypeError
        If the direction does not apply, or the tolerance is not positive.

    Examples
    --------
    >>> import logphi as lp
    >>> round((10 * lp.Laplace(scale=5)).max_divergence().value, 9)
    2.0
    """
    return renyi(self, math.inf, direction=direction, rtol=rtol)


def _orders(order: Any) -> Any:
    """One complex order, or an array of real ones."""
    array = check.plain_array("order", order, "a number, real or complex, or an array of real ones", "iufc")
    if array.dtype.kind == "c":
        if array.ndim:
            raise TypeError(f"complex orders are asked for one at a time, got an array of shape {array.shape}; loop over it")
        if not cmath.isfinite(complex(array)):
            raise ValueError(f"a complex order must be finite and not NaN, got {order!r}; order inf is real")
        return array
    if np.isnan(array).any():
        raise ValueError(f"order must not be NaN, got {order!r}")
    return array


def _interval(law: LogPhi) -> tuple[float, float]:
    """The interval of convergence for one direction of the pair."""
    right, left = (0.0 if masses(one)[0][1] > 0 else one.strip[1] for one in (law, law.reflected()))
    return 0.0 - left, 1 + right


def _largest(laws: list[tuple[Direction, LogPhi]], order: float, rtol: float) -> Bound:
    """The maximum over the orders of the pair, of each of the two ends."""
    return largest([replace(one_order(law, order, rtol), direction=name) for name, law in laws], rtol)


def largest(found: Sequence[Bound], rtol: float) -> Bound:
    """The largest divergence over the orders of the pair, with its status."""
    return _judged(worst(found), rtol)


def _judged(found: Bound, rtol: float) -> Bound:
    """A divergence with its status; infinite if its integral diverges."""
    if found.lower == found.upper and math.isinf(found.lower):
        return replace(found, status=Status.DIVERGENT)
    # only the sign is known
    trivial = math.isinf(found.width) and found.lower in (0.0, -math.inf) and found.upper in (0.0, math.inf)
    return judged(found, rtol * abs(found.value), trivial=trivial)


def one_order(law: LogPhi, order: float, rtol: float) -> Bound:
    """D_a of one direction of the pair, for any real or infinite a."""
    if math.isinf(order):
        return _end(law if order > 0 else law.reflected(), order)
    if order == 1:
        return _divergence(law)
    if order >= 0.5:
        # exact up to 2^53
        z = order - 1
        found = log_moment(law, z, rtol)
        ends = sorted((found.lower / z, found.upper / z))
        value, scale = found.value / z, abs(z)
    else:
        found = log_moment(law.reflected(), -order, rtol)
        scale = 1 - order
        ends, value = [-found.upper / scale, -found.lower / scale], -found.value / scale
    lower, upper = (
        end + sign * 4 * ULP * abs(end) if math.isfinite(end) else end for end, sign in zip(ends, (-1, 1), strict=True)
    )
    # never negative for positive orders, never positive for negative ones
    lower, upper = (max(lower, 0.0) + 0.0, max(upper, 0.0) + 0.0) if order >= 0 else (min(lower, 0.0), min(upper, 0.0))
    value = min(max(value, lower), upper) + 0.0
    return _judged(Bound(lower, value, upper, method=found.method, ledger=found.ledger.scaled(1 / scale)), rtol)


def _divergence(law: LogPhi) -> Bound:
    """The divergence of order 1: the mean of the loss."""
    infinite = masses(law)[0]
    if infinite[0] > 0:
        return Bound(math.inf, math.inf, math.inf, Status.DIVERGENT)
    mean = cumulant(law, 1)
    lower = max(mean.lower, 0.0)
    if infinite[1] > 0:
        return Bound(lower, max(mean.value, lower), math.inf, method=mean.method)
    return replace(mean, lower=lower, value=max(mean.value, lower), upper=max(mean.upper, lower))


def _end(law: LogPhi, order: float) -> Bound:
    """The largest loss; for order minus infinity, the smallest one, from the largest of the reversed pair."""
    infinite, growth = masses(law)[0], law.growth.right
    unbounded = infinite[0] > 0 or growth.least > 0 or math.isfinite(growth.end)
    top = law.support.upper
    if unbounded:
        least = top = math.inf
    elif math.isfinite(top):
        # both measures are probabilities, so that some loss is nonnegative
        least = max(top - law.support.error - 1e-14 * abs(top), 0.0)
        top = math.inf if infinite[1] > 0 else max(top, 0.0)
    else:
        least = max(below_the_end(law), 0.0)
    ledger = Ledger(rounding=Entry(0.0 if least == top else top - least, proved=not law.traits.estimated))
    value = top if math.isfinite(law.support.upper) else least
    ends = (least, min(max(value, least), top), top) if order > 0 else (-top, -min(max(value, least), top), -least)
    # the end of the support is accurate to its error
    return _judged(Bound(*ends, ledger=ledger), 1e-9)


def _at_complex(laws: list[tuple[Direction, LogPhi]], order: complex, rtol: float) -> ComplexBound:
    """D_a of a complex order; one with imaginary part zero is real."""
    if order.imag == 0:
        real = _largest(laws, order.real, rtol)
        return ComplexBound(real, Bound(0.0, 0.0, 0.0, method=real.method, direction=real.direction))
    if len(laws) > 1:
        raise ValueError(
            f"order {order!r} has no largest divergence over both directions, as complex numbers have no maximum: "
            "name one, direction='remove' or direction='add'"
        )
    (name, law), own, z = laws[0], laws[0][1], order - 1
    if order.real < 0.5:
        own, z = law.reflected(), -order
    infinite = masses(own)[0]
    if own.empty or z.real > own.growth.right.end or (z.real >= 0 and infinite[0] > 0):
        ends = Bound(math.inf, math.inf, math.inf, Status.DIVERGENT), Bound(-math.inf, 0.0, math.inf, Status.DIVERGENT)
        return ComplexBound(*(replace(end, method="log-phi", direction=name) for end in ends))
    found = complex_log_moment(own, z) if z.real < 0 or infinite[1] == 0 else None
    if found is None:
        unknown = replace(unresolved(-math.inf, 0.0, math.inf, "log-phi"), direction=name)
        return ComplexBound(unknown, unknown)
    over = z if order.real >= 0.5 else order - 1
    value, scale = found[0] / over, abs(over)
    # the division rounds, and so may a - 1
    wrong = found[1].error / scale * (1 + 1e-12) + 16 * ULP * abs(value)
    ledger = Ledger(aliasing=Entry(found[1].aliasing), inner=Entry(found[1].inner), rounding=Entry(found[1].error))
    ledger = (estimated(ledger) if own.traits.estimated else ledger).scaled(1 / scale)
    status = status_of(2 * wrong <= rtol * abs(value), ledger.proved)
    return ComplexBound(*(Bound(x - wrong, x, x + wrong, status, "log-phi", name, ledger) for x in (value.real, value.imag)))
