"""The saddle-point approximation of the privacy profile: one evaluation of K and its derivatives, without an error bound.

notation: F(t) = K(t) - t eps - log t - log(1 + t), convex for t > 0, smallest at t0; delta(eps) - w is the integral of
e^{F(z)} / (2 pi i) over Re z = t0, and the method of steepest descent gives e^{F(t0)} / sqrt(2 pi F''(t0)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from logphi.answers.approximation import Approximation
from logphi.arrays import Array
from logphi.classical.best_order import best_order
from logphi.classical.crossing import crossing
from logphi.classical.renyi_curve import LossCurve
from logphi.engine.log_probability import masses
from logphi.inputs import check
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import UnsupportedError

# measured: the step of the first differences; its unit is a quarter of the distance from the saddle point to zero or to the end
# of the strip, whichever is nearer
_STEP = 0.01
# measured: the step of the second differences, relative to the width of the saddle
_SHARE = 0.1
# derived: weights of seven points for the derivatives, by their orders
_WEIGHTS = {
    2: np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180,
    3: np.array([1.0, -8.0, 13.0, 0.0, -13.0, 8.0, -1.0]) / 8,
    4: np.array([-1.0, 12.0, -39.0, 56.0, -39.0, 12.0, -1.0]) / 6,
}


def saddle_point_delta(law: LogPhi, epsilon: float, *, corrected: bool = True) -> Approximation:
    """About delta(eps), by the method of steepest descent.

    Parameters
    ----------
    law
        The log-phi of one direction of the pair.
    epsilon
        Any real, in nats.
    corrected
        Whether to take the next term of the expansion, 1 + F''''/(8 F''^2) - 5 F'''^2/(24 F''^3), too.

    Raises
    ------
    ValueError
        If epsilon is not finite; an UnsupportedError if the strip of K has no positive part to put a saddle in.

    References
    ----------
    Alghamdi, Gomez, Asoodeh, Calmon, Kosut & Sankar 2023, *The Saddle-Point Method in Differential Privacy*.
    """
    eps, mass, method = check.real("epsilon", epsilon), sum(masses(law)[0]) / 2, "saddle point"

    def exponent(t: Array) -> Array:
        values: Array = law.approximate(t) - t * eps - np.log(t) - np.log1p(t)
        return values

    saddle = best_order(exponent, LossCurve(law))
    if saddle is None:
        raise UnsupportedError(
            "the saddle-point approximation needs a Renyi divergence of an order above 1: this loss has none"
        )
    room = min(saddle, law.strip[1] - saddle) / 4
    found = _expansion(exponent, saddle, _STEP * room)
    # the derivatives are scaled by the width of the saddle point
    found = found and _expansion(exponent, saddle, min(_SHARE / math.sqrt(found[1]), room))
    if found is None:
        return Approximation(min(1.0, mass), method)
    top, second, third, fourth = found
    size = math.exp(min(top, 700.0)) / math.sqrt(2 * math.pi * second)
    if corrected:
        size *= max(0.0, 1 + fourth / (8 * second**2) - 5 * third**2 / (24 * second**3))
    return Approximation(min(1.0, mass + size), method)


def _expansion(exponent: Callable[[Array], Array], saddle: float, step: float) -> tuple[float, float, float, float] | None:
    """F and its derivatives of order 2, 3, 4 by differences; None near the largest loss, where the saddle point diverges."""
    values = exponent(saddle + step * np.arange(-3.0, 4.0))
    if not np.isfinite(values).all():
        return None
    top = float(values[3])
    second, third, fourth = (float(weights @ (values - top)) / step**n for n, weights in _WEIGHTS.items())
    return (top, second, third, fourth) if second > 0 else None


def saddle_point_epsilon(law: LogPhi, delta: float, *, corrected: bool = True) -> Approximation:
    """The smallest eps >= 0 at which :func:`saddle_point_delta` is at most delta."""
    level = check.unit("delta", delta)
    at = crossing(lambda eps: saddle_point_delta(law, eps, corrected=corrected).value <= level)
    return Approximation(at[1], "saddle point")
