"""The points at which the checks evaluate a law, their tolerances, and their failures."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.answers.bound import Bounds
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.engine.directions import Loss
from logphi.inputs.adjacency import Adjacency
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import SIZE_ONLY, Values
from logphi.questions.delta import delta

# chosen: the rounding of a comparison of sums of doubles
ROUNDING = 1e-12
# chosen: estimated errors are multiplied by this
_ESTIMATE_FACTOR = 10.0
# chosen: estimated errors are then increased by this
_ESTIMATE_FLOOR = 1e-9
# chosen: the tolerance of profiles from estimates
_ESTIMATE_PROFILE = 1e-6
# chosen: thresholds in units of the spread of the loss
_THRESHOLDS = np.array([-2.0, -0.8, -0.25, 0.0, 0.25, 0.8, 2.0])
# chosen: the largest unit
_LARGEST_SPREAD = 20.0
# chosen: more than all checks of a mechanism ask, several of them at the same thresholds
_REMEMBERED = 128


def convexity_gap_of(law: LossTransform) -> float:
    """How far K(-1/2) lies below the mean of K(0) and K(-1): zero for a loss of one value."""
    middle, zero, one = law.log_transform(np.array([-0.5, 0.0, -1.0])).mid.real
    dip = float((zero + one) / 2 - middle)
    return dip if 1e-300 < dip < np.inf else 0.0


def spread_of(law: LossTransform) -> float:
    """The standard deviation of a normal law of this convexity gap, limited so that exponentials are doubles."""
    return min(max(math.sqrt(8 * convexity_gap_of(law)), 1e-3), 300.0) if convexity_gap_of(law) else 1.0


def abscissas_of(law: LossTransform) -> Array:
    """Real points inside the strip, at which K is known."""
    low, high = law.strip
    far = min(3 / spread_of(law), 1e3)
    steps = np.array([0.15, 0.4, 1.0])
    right = steps * (far if np.isinf(high) else min(far, 0.6 * high))
    left = -1 - steps * (far if np.isinf(low) else min(far, 0.6 * (-1 - low)))
    points = np.unique(np.concatenate([left, [-1.0, -0.7, -0.5, -0.2, 0.0], right]))
    values = law.log_transform(points)
    known: Array = points[np.isfinite(values.radius)]
    require(-0.5 in known, "K is not known at -1/2")
    return known


def points_of(law: LossTransform) -> NDArray[np.complex128]:
    """Complex points inside the strip, at which K is known."""
    heights = np.array([0.0, 0.4, 1.5, 5.0]) / spread_of(law)
    points = (abscissas_of(law)[:, None] + 1j * heights).ravel()
    values = law.log_transform(points)
    return points[np.isfinite(values.radius)]


def values_at(law: LossTransform, z: NDArray[Any]) -> Values:
    """K with the errors that the checks allow; where it is unknown, the radius is infinite."""
    values = law.log_transform(z)
    radius = np.broadcast_to(values.radius, z.shape)
    require(~np.isnan(values.mid) & ~np.isnan(radius), "K is not a number", z=z)
    return Values(np.where(np.isfinite(radius), values.mid, 0.0), allowed_radius(law, radius), np.zeros(z.shape))


def allowed_radius(law: LossTransform, radius: Array) -> Array:
    """The errors that the checks allow: those that the law declares, or larger ones where these are estimates."""
    return _ESTIMATE_FACTOR * radius + _ESTIMATE_FLOOR if law.traits.estimated else radius


def thresholds_of(loss: LogPhi) -> Array:
    """Epsilons at which the profile is neither trivial nor tiny."""
    spread = spread_of(loss)
    points: Array = _THRESHOLDS * min(spread, _LARGEST_SPREAD)
    return points


def profile_tolerance(loss: LogPhi) -> float:
    """The relative distance that disjoint bounds of a profile may have."""
    return _ESTIMATE_PROFILE if loss.traits.estimated else 0.0


def profile_of(loss: LogPhi, at: Array, direction: Direction) -> tuple[Array, Array]:
    """Bounds of the profile of one direction."""
    order = np.argsort(at)
    found, back = _deltas(loss, tuple(at[order].tolist()), direction), np.argsort(order)
    return np.asarray(found.lower)[back], np.asarray(found.upper)[back]


@lru_cache(maxsize=_REMEMBERED)
def _deltas(loss: LogPhi, at: tuple[float, ...], direction: Direction) -> Bounds:
    # an array shares the work of its points
    found = delta(Loss(loss, Adjacency.ADD_REMOVE), at, direction=direction)
    assert isinstance(found, Bounds)
    return found


def require(holds: Any, text: str, **places: Any) -> None:
    """Raise an AssertionError that names the first place at which a condition does not hold."""
    holds = np.asarray(holds)
    if holds.all():
        return
    first = np.unravel_index(int(np.argmin(holds)), holds.shape)
    shown = ", ".join(f"{name}={np.asarray(values)[first]:.10g}" for name, values in places.items())
    raise AssertionError(f"{text}{' at ' if shown else ''}{shown}")


def require_equal(text: str, z: Any, one: Any, other: Any, room: Any) -> None:
    """Raise unless logarithms agree up to multiples of 2 pi i and ``room``, the error of both; from log 3 on it allows all."""
    gap = np.asarray(one - other, dtype=complex)
    gap = np.abs(gap - 2j * np.pi * np.round(gap.imag / (2 * np.pi)))
    allowed = room + 4e-16 * (np.abs(one) + np.abs(other))
    require((gap <= allowed) | (room >= SIZE_ONLY), text, z=z, gap=gap, allowed=allowed)
