"""Where a line lies, and how fine its nodes are, for a relative tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.inversion.kernels import Kernel
from logphi.laws.transform import LossTransform

# measured: the aliasing and truncation that are aimed at, each as a share of the requested relative tolerance
SHARE = 1e-3
# derived: as many deviations from the mean of a normal law leave a share of e^-40
_REACH = 9.0
# measured: distances to the neighbours that bound the aliasing, relative to where a normal law would have them
_SHIFTS = np.geomspace(1 / 32, 2, 7)
# measured: distances of the points that tell the curvature, relative to the room
_TRIALS = np.array([0.0, 1e-3, -1e-3, 0.1, -0.1])
# measured: abscissas that compete, as distances to the left of the saddle, in the same unit
_LEFT = np.array([0.0, 0.2])


@dataclass(frozen=True)
class Layout:
    """Where a line lies and how fine it is, the logarithm of the error to aim at over M(c) e^{-cx}, and about K''(c)."""

    abscissa: float
    shift: float
    step: float
    log_target: float
    curvature: float


def layout(law: LossTransform, saddle_at: float, kernel: Kernel, log_rtol: float) -> Layout | None:
    """The layout for a saddle and the logarithm of a relative tolerance, however small; None where K is out of reach.

    Towards the right a tilted law may grow a second mode (a few large steps among many small ones), which costs a small
    step; so abscissas a little left of the saddle compete, at a price for what they give away.
    """
    x, outside = kernel.anchor, saddle_at > kernel.poles[-1]
    room = float(_rooms(law, kernel, np.array([saddle_at]))[0])
    rough = law.approximate(saddle_at + room * _TRIALS).tolist()
    if not math.isfinite(rough[0]):
        return None
    # the wider difference is the better one unless higher terms have taken over
    bends = [above + below - 2 * rough[0] for above, below in zip(rough[1::2], rough[2::2], strict=True)]
    usable = [bend / (room * trial) ** 2 for bend, trial in zip(bends, _TRIALS[1::2], strict=True) if 0 < bend < 1]
    reach = max(_REACH, math.sqrt(max(-2 * log_rtol, 0.0)))
    scale = min(room, reach / math.sqrt(usable[-1])) if usable else room
    moved = saddle_at - (scale * _LEFT if outside else _LEFT[:1])
    # the ends themselves are poles of nothing: a shift as large as the room is allowed, where the bound is the total mass
    shifts = np.minimum(scale * _SHIFTS, _rooms(law, kernel, moved)[:, None])
    c, count = moved[:, None], _SHIFTS.size
    points = np.concatenate([c, c + shifts, c - shifts], axis=1)
    values = law.approximate(points.ravel()).reshape(points.shape)
    middle, above, below = values[:, :1], values[:, 1 : count + 1], values[:, count + 1 :]
    size = kernel.log_real(moved)
    # unknown values of K, or a step of zero: such abscissas are given up below
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = (above[:, 2] + below[:, 2] - 2 * middle[:, 0]) / shifts[:, 2] ** 2
        curvature = np.where((bend > 0) & (bend < np.inf), bend, 0.0)
        log_value = size - 0.5 * np.log(2 * np.pi * (curvature + sum((moved - pole) ** -2 for pole in kernel.poles)))
        log_target = log_value + math.log(SHARE) + log_rtol
        beside = (values + kernel.log_chernoff(points) - points * x)[:, 1:]
        neighbours = np.logaddexp(beside[:, :count], beside[:, count:]) - (middle - c * x)
        finite = np.isfinite(neighbours)
        # where the neighbours are far below the target, any step would do
        turns = np.maximum(np.logaddexp(0.0, np.where(finite, neighbours, 0.0) - log_target[:, None]), SHARE)
        steps = np.where(finite, 2 * np.pi * shifts / turns, 0.0)
        heights = middle[:, 0] - moved * x + size
        known = np.isfinite(heights)
        # where the first is unknown the others are not worse
        given_away = np.where(known, np.where(known, heights, 0.0) - (heights[0] if known[0] else np.inf), np.inf)
        score = np.log(steps.max(axis=1)) - 0.7 * np.maximum(given_away, 0.0)
    best = int(np.argmax(np.where(np.isnan(score), -np.inf, score)))
    pick = int(np.argmax(steps[best]))
    if not steps[best, pick] > 0:
        return None
    settled, shift = settle(float(moved[best])), float(shifts[best, pick])
    exact = settle(settled + shift) - settled
    shift = exact if abs(exact - shift) < 1e-6 * shift else shift
    step = short(float(steps[best, pick]))
    return Layout(settled, shift, step, float(log_target[best]), float(curvature[best]))


def _rooms(law: LossTransform, kernel: Kernel, abscissas: Array) -> Array:
    """How far each abscissa is from the nearest pole and the ends of the strip."""
    low, high = law.strip
    room = np.minimum(high - abscissas, abscissas - low)
    for pole in kernel.poles:
        room = np.minimum(room, np.abs(abscissas - pole))
    return room


def settle(abscissa: float) -> float:
    """The nearest abscissa for which -1 - c is exact, unless c is tiny: then a reflection adds no rounding."""
    near = (1 + abscissa) - 1
    return near if abs(near - abscissa) < 1e-6 * abs(abscissa) else abscissa


def settle_each(abscissas: Array) -> Array:
    """The same of many."""
    near = (1 + abscissas) - 1
    return np.where(np.abs(near - abscissas) < 1e-6 * np.abs(abscissas), near, abscissas)


def short(step: float) -> float:
    """The step rounded down to 26 bits, so that its multiples are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2.0**26), exponent - 26)
