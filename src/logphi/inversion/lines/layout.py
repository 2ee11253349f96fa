"""The abscissa and the step of a vertical line, for a relative tolerance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.inversion.lines.kernels import Kernel
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import exact_step

# measured: the target for aliasing and for truncation, as a share of the requested relative tolerance
SHARE = 1e-3
# derived: this many standard deviations from its mean, a normal law has a tail of e^-40
_DEVIATIONS = 9.0
# measured: distances to the neighbours that bound the aliasing, relative to the best distance for a normal law
_SHIFTS = np.geomspace(1 / 32, 2, 7)
# measured: distances of the points from which the curvature is computed, relative to the room around the saddle
_TRIALS = np.array([0.0, 1e-3, -1e-3, 0.1, -0.1])
# measured: abscissas that are tried, as distances to the left of the saddle, relative to that room
_LEFT = np.array([0.0, 0.2])


@dataclass(frozen=True)
class Layout:
    """Abscissa and step of a line, the distance of its neighbours, log of the target error over M(c) e^{-cx}, about K''(c)."""

    abscissa: float
    shift: float
    step: float
    log_target: float
    curvature: float


def layout(law: LossTransform, saddle_at: float, kernel: Kernel, log_rtol: float) -> Layout | None:
    """The layout for a saddle and the logarithm of a relative tolerance, however small; None if K is unknown.

    Right of the saddle a tilted law may have a second mode (a few large losses among many small ones), which requires a small
    step. So abscissas a little left of the saddle are tried too, with a penalty for the larger integrand.
    """
    x, outside = kernel.anchor, saddle_at > kernel.poles[-1]
    room = float(_rooms(law, kernel, np.array([saddle_at]))[0])
    rough = law.approximate(saddle_at + room * _TRIALS).tolist()
    if not math.isfinite(rough[0]):
        return None
    # the wider difference is more accurate unless higher terms dominate it
    bends = [above + below - 2 * rough[0] for above, below in zip(rough[1::2], rough[2::2], strict=True)]
    usable = [bend / (room * trial) ** 2 for bend, trial in zip(bends, _TRIALS[1::2], strict=True) if 0 < bend < 1]
    width = max(_DEVIATIONS, math.sqrt(max(-2 * log_rtol, 0.0)))
    scale = min(room, width / math.sqrt(usable[-1])) if usable else room
    moved = saddle_at - (scale * _LEFT if outside else _LEFT[:1])
    # the neighbours may lie at the ends of the room, where the bound is the total mass
    shifts = np.minimum(scale * _SHIFTS, _rooms(law, kernel, moved)[:, None])
    c, count = moved[:, None], _SHIFTS.size
    points = np.concatenate([c, c + shifts, c - shifts], axis=1)
    values = law.approximate(points.ravel()).reshape(points.shape)
    middle, above, below = values[:, :1], values[:, 1 : count + 1], values[:, count + 1 :]
    size = kernel.log_real(moved)
    # unknown values of K, or a step of zero: such abscissas are rejected below
    with np.errstate(invalid="ignore", divide="ignore"):
        bend = (above[:, 2] + below[:, 2] - 2 * middle[:, 0]) / shifts[:, 2] ** 2
        curvature = np.where((bend > 0) & (bend < np.inf), bend, 0.0)
        log_value = size - 0.5 * np.log(2 * np.pi * (curvature + sum((moved - pole) ** -2 for pole in kernel.poles)))
        log_target = log_value + math.log(SHARE) + log_rtol
        beside = (values + kernel.log_chernoff(points) - points * x)[:, 1:]
        neighbours = np.logaddexp(beside[:, :count], beside[:, count:]) - (middle - c * x)
        finite = np.isfinite(neighbours)
        # where the neighbours are far below the target, any step suffices
        turns = np.maximum(np.logaddexp(0.0, np.where(finite, neighbours, 0.0) - log_target[:, None]), SHARE)
        steps = np.where(finite, 2 * np.pi * shifts / turns, 0.0)
        heights = middle[:, 0] - moved * x + size
        known = np.isfinite(heights)
        # where the first is unknown the others are no worse
        given_away = np.where(known, np.where(known, heights, 0.0) - (heights[0] if known[0] else np.inf), np.inf)
        score = np.log(steps.max(axis=1)) - 0.7 * np.maximum(given_away, 0.0)
    best = int(np.argmax(np.where(np.isnan(score), -np.inf, score)))
    pick = int(np.argmax(steps[best]))
    if not steps[best, pick] > 0:
        return None
    settled, shift = exactly_reflectable(float(moved[best])), float(shifts[best, pick])
    exact = exactly_reflectable(settled + shift) - settled
    shift = exact if abs(exact - shift) < 1e-6 * shift else shift
    step = exact_step(float(steps[best, pick]))
    return Layout(settled, shift, step, float(log_target[best]), float(curvature[best]))


def _rooms(law: LossTransform, kernel: Kernel, abscissas: Array) -> Array:
    """The distance of each abscissa from the nearest pole or end of the strip."""
    low, high = law.strip
    room = np.minimum(high - abscissas, abscissas - low)
    for pole in kernel.poles:
        room = np.minimum(room, np.abs(abscissas - pole))
    return room


def exactly_reflectable(abscissa: float) -> float:
    """The nearest abscissa for which -1 - c is exact, so that a reflection adds no rounding; c itself if it is tiny."""
    near = (1 + abscissa) - 1
    return near if abs(near - abscissa) < 1e-6 * abs(abscissa) else abscissa


def exactly_reflectable_each(abscissas: Array) -> Array:
    """The nearest abscissas for which -1 - c is exact; tiny c are unchanged."""
    near = (1 + abscissas) - 1
    return np.where(np.abs(near - abscissas) < 1e-6 * np.abs(abscissas), near, abscissas)
