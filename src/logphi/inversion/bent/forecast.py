"""The forecast of a bent contour: vertex, ends, heights and angle, chosen by sums without bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import complex_log1p
from logphi.arrays import Array
from logphi.inversion.bent.clipped_ceiling import SampledPairs
from logphi.inversion.bent.contour import CountedHalfLine, Hyperbola, Plan
from logphi.inversion.bent.guess import TriedVertices
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Part
from logphi.quadrature.half_lines.shifted_half_line import STRIP, ShiftedHalfLine

# measured: the logarithm of the integrand at a trial vertex exceeds its minimum by no more than this
_WORTH = 12.0
# measured: the number of trial vertices
_TRIED = 8
# measured: heights eta and angles m eta that are tried, and angles of the asymptote
_CHOICES = np.array([(height, turn) for height in (0.5, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0) for turn in (0.8, 1.3, 2.1)])
_ANGLES = np.array([0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.27, 0.36, 0.45, 0.55, 0.7, 0.9, 1.1])
_LIMITS = np.full(_CHOICES.shape[0], math.inf)
# measured: where shifted lines exceed the transform by less than e^_MANY, the integrand hardly rises
_MANY = 50.0
# measured: the ratio of an angle that is tried to the one before
_LOWER = 0.8
# derived: on a strip up to a right angle |w| is at least 1 - q
_RIGHT_ANGLE = math.pi / 2 / (1 + STRIP)
# measured: the rate at which the integrand must fall far out, as a share of its best rate
_RATE = 0.05
# measured: the logarithm of the largest growth of the integrand from the vertex to where the neighbours meet the axis
GROWTH = 6.0
# measured: the growth that is assumed where the sums overflow
_STEEPEST = 1e5
# measured: the longest arc, in u
_ARC = 0.12
# measured: the longest arc, relative to its distance from the origin
_SHORT = 0.25
# measured: minus the logarithm of the share of the tolerance for each of half a dozen errors; a tolerance above _COARSEST saves
# next to nothing and is often missed; minus the logarithm of an integrand that is negligible
_MARGIN = math.log(30.0)
_COARSEST = 1e-5
_LOW_ENOUGH = 10.0
# measured: relative rounding of the sum, and of the inner sums for each repetition
_NOISE = 2e-14, 2e-15
# measured: wider bounds are of no use; so many terms take about a second
_WIDEST = 1e-6
MOST_WORK = 3e7
# derived: below these exponents nothing overflows
_LARGE = 600.0


@dataclass(frozen=True)
class Forecast:
    """A plan, logarithms of a guess of the answer and of the target error, and guesses of the relative width and the terms.

    ``log_height`` is about the logarithm of the integrand at the vertex, and ``lower`` has limits of the angle for every
    choice of heights, by which this plan is left out.
    """

    plan: Plan
    log_answer: float
    log_target: float
    width: float
    work: float
    log_height: float
    lower: Array

    @property
    def worthwhile(self) -> bool:
        """Whether the sum is neither too long nor too wide."""
        return self.work < MOST_WORK and self.width < _WIDEST

    @property
    def many(self) -> bool:
        """Whether shifted lines of so many repetitions may exceed the transform by far."""
        return _repeats(self.plan.laws) >= _MANY


def forecast(
    terms: SampledPairs, x: float, demand: Demand, log_answer: float | None = None, limits: Array = _LIMITS
) -> Forecast | None:
    """Choose a contour for a threshold; None if there is none. ``log_answer`` is the logarithm of the answer, if known.

    ``limits`` are the largest angles that are tried, one for each choice of heights.
    """
    rtol = min(demand.rtol, _COARSEST)
    tried = TriedVertices.of(terms, x)
    if tried is None:
        return None
    depth, distance, vertices, kernel, laws = tried.depth, tried.distance, tried.vertices, tried.kernel, tried.laws
    reverse = x <= 0
    log_answer = max(tried.log_answer if log_answer is None else log_answer, demand.least)
    if not math.isfinite(log_answer):
        return None
    log_target = log_answer + math.log(rtol) - _MARGIN

    height, ends, rows = kernel.copy(), [], np.arange(vertices.size)
    for one in laws:
        good = np.broadcast_to(one.log_q_mass + x <= log_target, one.tilted.shape)
        if not reverse:
            # the factors by which the vertical segment at the end is multiplied: the kernel and the other laws
            others = np.maximum(kernel - np.log(np.minimum(distance, 1.0)), log_answer)[:, None] + 3
            good = (one.log_p_mass <= log_target) & (one.log_farther + others <= log_target)
        good = good & (one.x > 1.0)
        place = good.argmax(axis=1)
        height += np.where(good.any(axis=1), one.log_c[rows, place], np.inf)
        ends.append(one.x[place])
    # a lower integrand is no better
    height = np.maximum(np.where(np.isnan(height), np.inf, height), log_target - _LOW_ENOUGH)
    if not np.isfinite(height).any():
        return None
    # vertices nearer to the pole lose digits but allow wider angles
    rows = np.flatnonzero(height[: int(np.argmin(height)) + 1] <= height.min() + _WORTH)
    # the last vertex has no neighbour farther out
    rows = rows[rows < vertices.size - 1]
    if not rows.size:
        return None
    rows = rows[np.linspace(0, rows.size - 1, min(rows.size, _TRIED)).round().astype(int)]
    fields = [
        _field(
            terms,
            [float(end[row]) for end in ends],
            x,
            depth,
            float(height[row]) - log_answer,
            float(distance[row]),
            rtol,
            limits,
        )
        for row in rows
    ]
    first = min(range(rows.size), key=lambda i: fields[i].cost)
    field, best = fields[first], int(rows[first])
    if not math.isfinite(field.cost):
        return None
    curve = _curve(float(vertices[best]), field.angle, distance[best:], height[best:], reverse)
    repeats = _repeats(field.laws)
    log_share = float(height[best]) - log_target
    # the distance after which the tail is negligible
    far = (1.2 * (log_share + 10 + repeats) / field.rate + abs(curve.centre)) / (curve.radius * math.sin(field.angle / 3))
    edges = _edges(curve, math.acosh(max(far, 4.0)) + 0.5)
    plan = Plan(Part.REVERSED if reverse else Part.EXCESS, curve, field.angle / 3, field.laws, edges)
    step = 2 * math.pi * plan.spread / max(log_share + 3, 1.0)
    nodes = 3 * edges.size + float(edges[-1]) / step
    work = nodes * sum(one.law.size(one.count) for one in field.laws)
    lower = np.where(field.repeats >= repeats * (1 - 1e-9), np.minimum(limits, _LOWER * field.angle), limits)
    return Forecast(plan, log_answer, log_target, field.width, work, float(height[best]), lower)


def _repeats(laws: tuple[CountedHalfLine, ...]) -> float:
    """The logarithm of the product of all powers of e^{eta^2/2}, by which shifted lines may exceed the transform."""
    return sum(one.count * one.law.height**2 / 2 for one in laws)


def _curve(vertex: float, angle: float, distance: Array, height: Array, reverse: bool) -> Hyperbola:
    """The hyperbola between those of a third of the angle and of the angle, as wide as poles and growth on the axis allow.

    ``distance`` and ``height`` are those of the vertex and of vertices farther from the pole.
    """
    middle, spread = angle * 2 / 3, angle / 3
    wider, narrower = math.sin(angle) - math.sin(middle), math.sin(middle) - math.sin(middle - spread)
    # the logarithm of the integrand is taken for a parabola
    growth = height[1:] - height[0]
    steep = int(np.argmax(growth > GROWTH)) if (growth > GROWTH).any() else growth.size - 1
    excess = min(max(float(growth[steep]), GROWTH), _STEEPEST)
    room = float(distance[1 + steep] - distance[0]) * math.sqrt(GROWTH / excess)
    # neither neighbour may reach a pole
    if reverse:
        radius = min(0.6 * float(distance[0]) / wider, room / narrower)
    else:
        radius = min(0.95 * float(distance[0]) / math.sin(middle), room / wider)
    return Hyperbola(vertex, radius, middle, middle)


def _edges(curve: Hyperbola, last: float) -> Array:
    """Ends of arcs that are short compared with their distance from the poles."""
    edges = [0.0]
    while edges[-1] < last:
        here = np.array(edges[-1:])
        edges.append(edges[-1] + min(_ARC, _SHORT * float(np.abs(curve.at(here) / curve.slope(here))[0])))
    return np.array(edges)


@dataclass(frozen=True)
class _Field:
    """Shifted half-lines, the largest angle that they allow, the rate of decay there, and guesses of width and cost.

    ``repeats`` holds :func:`_repeats` for every choice of heights.
    """

    laws: tuple[CountedHalfLine, ...]
    angle: float
    rate: float
    width: float
    cost: float
    repeats: Array


def _field(
    terms: SampledPairs, ends: list[float], x: float, depth: float, log_lost: float, distance: float, rtol: float, limits: Array
) -> _Field:
    """The heights of least cost for given ends; the cost is infinite if the integrand falls at no angle within the limits."""
    tangents = np.tan(_ANGLES)
    rates, turns = np.zeros((_CHOICES.shape[0], tangents.size)), []
    work, noise, repeats = (np.zeros(_CHOICES.shape[0]) for _ in range(3))
    for (m, q, _, _, n), end in zip(terms, ends, strict=True):
        # negative powers of w must not grow on the strip
        turn = np.minimum(_CHOICES[:, 0] * m, np.minimum(_CHOICES[:, 1], _RIGHT_ANGLE if x <= 0 else math.pi))
        places = np.linspace(-8.0, end, 40)
        growth = q * np.exp(np.minimum(m * places - m * m / 2, _LARGE))
        # the lower end of the strip that the inner sum needs
        log_w = complex_log1p(growth * np.exp(1j * (1 - STRIP) * turn)[:, None] - q)
        slope = (tangents[:, None] * log_w.real[:, None] - log_w.imag[:, None]).max(axis=2)
        rates += n * np.maximum(slope, tangents * math.log1p(-q))
        turns.append(turn)
        work += (end + 10) * m / turn
        repeats += n * (turn / m) ** 2 / 2
        noise += n * np.exp((turn / m) ** 2 / 2) * min(1.0, 30 * distance * q)
    falls = x - rates / tangents
    good = (falls >= _RATE * depth) & (limits[:, None] >= _ANGLES)
    angle = np.where(good, _ANGLES, 0.0).max(axis=1)
    width = (_NOISE[0] + _NOISE[1] * noise) * math.exp(min(log_lost, _LARGE))
    with np.errstate(divide="ignore"):  # no angle
        cost = work / angle * math.log1p(100 / (depth * distance)) * (1 + 8 * width / rtol)
    best = int(cost.argmin())
    laws = tuple(
        CountedHalfLine(ShiftedHalfLine(*term[:4], end, float(turn[best]), linear=x > 0), term[4])
        for term, end, turn in zip(terms, ends, turns, strict=True)
    )
    return _Field(
        laws,
        float(angle[best]),
        float(falls[best].min(where=good[best], initial=np.inf)),
        float(width[best]),
        float(cost[best]),
        repeats,
    )
