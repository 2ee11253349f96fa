"""E (S - k)_+ for the mean S of lognormal variables, by Laplace inversion along the branch cut of its transform.

notation: S the mean of t independent Y = e^{mX - m^2/2}, phi(w) = E e^{-wY}, F(u) = phi(u/t)^t e^{uk} / u^2. Laplace's formula
for E (k - S)_+ integrates F over a vertical line on the right. Its upper half is moved to the upper side of the cut (-inf, 0],
up to -r0, and goes up from there. The pole at 0 leaves E (k - S)_+ - E (S - k)_+ = k - 1, so that

    E (S - k)_+ = -(1/pi) int_0^r0 Im[phi(-r/t)^t] e^{-rk} r^{-2} dr + (1/pi) int_0^inf Re F(-r0 + iy) dy.

The first integral is due to one large variable, the second to all of them. r0 is about a saddle point of F, so that neither
cancels the other; a line on which both are one integral loses the digits of the smaller one. The nodes do not depend on k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.cut.layout import LOG_PI, TARGET, Bounds, Nodes, Plan
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.allocated_normal import AllocatedNormal
from logphi.quadrature.curves.panels import halved
from logphi.quadrature.lognormal.mean import LognormalMean
from logphi.quadrature.lognormal.modulus import LARGEST, modulus

# measured: the first panels, in units of m and of the whole way up, and the most of them
_FIRST_PANEL, _FIRST_UP, _MOST_PANELS = 1.5, 6, 160
# measured: the shifts for which it is quick
LEAST_SHIFT, LARGEST_SHIFT = 0.02, 8.0
# derived: of larger errors of the shift the squares count
_LARGEST_ERROR = 0.01


class Sums(NamedTuple):
    """Values at several thresholds, and their errors by kind, in units of e^log_scale."""

    log_scale: Array
    value: Array
    truncation: Array
    inner: Array
    rounding: Array

    def at(self, i: int) -> Scaled:
        """One of them."""
        scale, value, truncation, inner, rounding = (float(part[i]) for part in self)
        return Scaled(scale, value, truncation=truncation, inner=inner, rounding=rounding)


@dataclass(frozen=True)
class Integral:
    """E (S - k)_+ as a function of k: nodes, and errors of the sums and of what is left out."""

    shift: float
    relative_error: float
    count: int
    end: float
    along: Nodes | None
    up: Nodes | None
    along_bounds: Bounds | None
    up_bounds: Bounds | None
    start: float
    log_near_zero: tuple[float, ...]
    log_above: float
    log_seam: float
    log_density_above: float

    def at(self, x: float) -> Scaled:
        """The value at k = e^x."""
        found = self.sums(np.array([x]), density=False).at(0)
        return found if self.relative_error == 0 else shifted(found, self.shift, self.relative_error, self.count, 1)

    def density_at(self, x: float) -> Scaled:
        """The density of S at k = e^x, the second derivative in k; without the error of the shift."""
        return self.sums(np.array([x]), density=True).at(0)

    def sums(self, x: Array, *, density: bool) -> Sums:
        """Values at all k = e^x, or the same with a factor of u^2 in both integrals; without the error of the shift."""
        k = np.exp(x)
        # with a rounding of x
        of_k = ULP * (8 + 4 * np.abs(x))
        parts = [part(k[:, None], of_k[:, None], density) for part in (self._along, self._up)]
        near_zero = np.maximum(self.log_near_zero[0], self.log_near_zero[1] - self.start * k)
        omitted = [near_zero, self.log_above - self.end * k, self.log_seam - self.end * k]
        if density:
            # below the start, r^2 is at most its square
            omitted[0] = near_zero + 2 * math.log(self.start) + 1e-9
            omitted[1] = self.log_density_above - self.end * k
            omitted[2] = omitted[2] + 2 * math.log(self.end) + 1e-9
        both = [bounds for bounds in (self.along_bounds, self.up_bounds) if bounds]
        errors = np.column_stack([*omitted, *(one.log_errors(k[:, None, None, None], density=density) for one in both)])
        unknown = ~(errors < np.inf).all(axis=1)
        errors[unknown] = 0.0
        found = [part for part in parts if part is not None]
        sizes = [(exponent + np.log(np.abs(terms) + 1e-300)).max(axis=1) for exponent, terms, *_ in found]
        scale = np.max([errors.max(axis=1), *sizes], axis=0)
        value, inner = np.zeros(x.size), np.zeros(x.size)
        # what underflows relative to the largest term
        rounding = np.full(x.size, 1e-300)
        for exponent, terms, inner_error, rounding_error in found:
            size = np.exp(np.minimum(exponent - scale[:, None], LARGEST))
            value += (size * terms).sum(axis=1)
            inner += (size * inner_error).sum(axis=1)
            rounding += (size * rounding_error).sum(axis=1)
            rounding += (size * np.abs(terms)).sum(axis=1) * ULP * (8 + size.shape[1] + 4 * np.abs(scale))
        # with the rounding of large exponents that cancel
        truncation = np.exp(errors - scale[:, None]).sum(axis=1) * (1 + 100 * ULP * (np.abs(scale) + self.end * k))
        truncation[unknown] = np.inf
        return Sums(scale, value, truncation * (1 + 1e-9), inner * (1 + 1e-9), rounding * (1 + 1e-9))

    def _along(self, k: Array, of_k: Array, density: bool) -> tuple[Array, Array, Array, Array] | None:
        """Exponents, terms and their errors: a row for each k."""
        if self.along is None:
            return None
        one, t = self.along, self.count
        r = -one.u
        own, power = np.log(one.weight * r if density else one.weight / r), t * one.log.real
        angle = t * one.log.imag
        sine = np.abs(np.sin(angle))
        of_size = ULP * 12 * (np.abs(power) + np.abs(own) + 4) + (r * k + 1) * (one.wrong + of_k)
        known, raised, wrong, of_size = one.doubt(t, of_size)
        inner = np.where(known, sine * wrong + np.minimum(2.0, t * one.angle_error) * (1 + wrong), 2.0)
        rounding = (sine * of_size + ULP * 16 * np.abs(angle)) * (1 + wrong)
        return power + own + raised - r * k, -np.sin(angle), inner, rounding

    def _up(self, k: Array, of_k: Array, density: bool) -> tuple[Array, Array, Array, Array] | None:
        if self.up is None:
            return None
        one, t = self.up, self.count
        power, own = t * one.log, np.log(one.weight) - (0 if density else 2 * np.log(one.u))
        exponent = power + own + one.u * k
        of_value = ULP * 12 * (np.abs(power) + np.abs(own) + 4) + (np.abs(one.u) * k + 2) * (one.wrong + of_k)
        known, raised, wrong, of_value = one.doubt(t, of_value)
        return exponent.real + raised, np.cos(exponent.imag), np.where(known, wrong, 2.0), of_value * (1 + wrong)


def shifted(found: Scaled, shift: float, relative_error: float, count: int, epochs: int) -> Scaled:
    """The same with the error of the shift, for means of ``count`` variables in all, in a number of epochs.

    A shift m(1 + e) is m under a normal law of mean -m e (1 + e/2) and deviation 1 + e. The density of t such variables is
    between e^{-eD} and e^{eD} times that of t standard ones, D = 2 sum X^2 + t (1 + m^2), a little more than is needed. The
    sum of squares exceeds B = 2 (t + 2 sqrt(t a) + 2 a) + 2 n m^2 with a probability of at most e^{-a}, also if the laws of n
    variables are moved by m, as by the factors S of n epochs (Laurent & Massart 2000, Lemma 1).
    """
    t, m = count, shift
    if not found.high > 0:
        return found
    a = 50.0 + abs(found.log_scale + math.log(found.high))
    most = 2 * (2 * (t + 2 * math.sqrt(t * a) + 2 * a) + 2 * epochs * m * m) + t * (1 + m * m)
    if relative_error > _LARGEST_ERROR or relative_error * most > LARGEST / 2:
        # nothing is known
        return Scaled(0.0, 0.5, rounding=0.5)
    share = math.expm1(1.1 * relative_error * most) + 4e-20
    return replace(found, rounding=found.rounding + share * found.high)


def mean_of(loss: LogPhi) -> LognormalMean | None:
    """The lognormal mean whose logarithm is the loss, if it is one and the integral along its cut is quick."""
    law = loss.terms[0][0] if len(loss.terms) == 1 and loss.terms[0][1] == 1 else None
    if not isinstance(law, AllocatedNormal) or not LEAST_SHIFT <= law.mean.shift <= LARGEST_SHIFT:
        return None
    return law.mean


def prepare(mean: LognormalMean, x: float, guess: float | None = None, *, quickly: bool = False) -> Integral | None:
    """The integral near k = e^x, with panels fit for an answer of about e^guess; None where it would be long.

    ``quickly`` may lose digits of the density.
    """
    shift, count = mean.shift, mean.count
    plan = Plan(modulus(shift), count, math.exp(x))
    end, about = plan.end(guess)
    end = plan.quickest(end, about) if quickly else end
    goal = about + TARGET
    start = plan.start(end, goal)
    along = along_bounds = None
    # the panels begin within rounding of the start
    start_above = start * (1 + 1e-9)
    near_zero = tuple(float(one[0]) for one in plan.log_near_zero(np.array([start_above])))
    if start < end:
        edges = np.linspace(
            math.log(start), math.log(end), max(2, math.ceil(math.log(end / start) / (_FIRST_PANEL * shift)) + 1)
        )
        panels = halved(edges, lambda low, high: plan.along(low, high).log_errors(plan.k), goal - 3, _MOST_PANELS)
        if panels is None:
            return None
        along, along_bounds = plan.nodes_along(panels[0], panels[1]), plan.along(panels[0], panels[1])
    # the modulus falls on the way up
    log_size = float(plan.log_on_line(end, np.zeros(1))[1][0])
    log_above = log_size - math.log(2 * end)
    # between the end of the panels of log r and r0 there is a rounding of both
    log_seam = log_size - math.log(end) + math.log(ULP * (8 + 4 * abs(math.log(end))))
    up = up_bounds = None
    heights = end * np.geomspace(0.1, 1e5, 41)
    on_line = plan.log_on_line(end, heights)[1]
    at = -1
    if not log_above - end * plan.k < goal:
        tails = on_line - np.log(heights) - LOG_PI
        enough = tails - end * plan.k < goal
        if not enough.any():
            return None
        at = int(enough.argmax())
        log_above = float(tails[at])
        panels = halved(
            np.linspace(0.0, heights[at], _FIRST_UP + 1),
            lambda low, high: plan.up(end, low, high).log_errors(plan.k),
            goal - 3,
            _MOST_PANELS,
        )
        if panels is None:
            return None
        up, up_bounds = plan.nodes_up(end, panels[0], panels[1]), plan.up(end, panels[0], panels[1])
    # the bounds of the modulus fall
    cells = np.log(np.diff(heights)) + on_line[:-1]
    density_above = [*cells[max(at, 0) :], plan.log_beyond(end, float(heights[-1]))]
    if at < 0:
        density_above.append(log_size + math.log(heights[0]))
    log_density_above = float(np.logaddexp.reduce(density_above)) - LOG_PI + 1e-9
    return Integral(
        shift,
        mean.relative_error,
        count,
        end,
        along,
        up,
        along_bounds,
        up_bounds,
        start_above,
        near_zero,
        log_above,
        log_seam,
        log_density_above,
    )
