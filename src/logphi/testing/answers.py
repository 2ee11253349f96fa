"""Checks of answers: profiles have the properties of profiles, and routes agree."""

from __future__ import annotations

import math

import numpy as np

from logphi.algebra.release import Mechanism
from logphi.answers.bound import single
from logphi.answers.status import Direction
from logphi.arrays import Array
from logphi.engine.directions import directions_under
from logphi.engine.routes.registry import ROUTES
from logphi.engine.routes.route import NotApplicableError
from logphi.laws.log_phi import LogPhi
from logphi.testing.probes import (
    ROUNDING,
    abscissas_of,
    convexity_gap_of,
    points_of,
    profile_of,
    profile_tolerance,
    require,
    require_equal,
    spread_of,
    thresholds_of,
    values_at,
)

# chosen: for larger x chords in e^x are too coarse for a bound
_LARGEST_CHORD = 300.0


def check_profile(mechanism: Mechanism) -> None:
    """Each profile falls, is convex in e^eps, and lies between max(1 - e^eps, P(L = inf)) and 1; delta is the larger."""
    loss = mechanism.loss_law()
    at, room = thresholds_of(loss), profile_tolerance(loss)
    for direction in (Direction.REMOVE, Direction.ADD):
        low, high = profile_of(loss, at, direction)
        own = loss if direction is Direction.REMOVE else loss.reflected()
        mass = own.support.masses.own
        infinite = -math.expm1(min(float(mass.mid[0].real + mass.radius[0]), 0.0))
        here = f"delta in direction {direction.value!r}"
        require(
            (low <= high) & (high <= 1) & (low >= 0), f"{here} is no bound of a probability", epsilon=at, lower=low, upper=high
        )
        floor = np.maximum(-np.expm1(at), infinite)
        require(high * (1 + room) >= floor * (1 - 1e-15), f"{here} is below max(1 - e^eps, P(L = inf))", epsilon=at, upper=high)
        require(low[1:] <= high[:-1] * (1 + room), f"{here} increases", epsilon=at[1:], lower=low[1:], before=high[:-1])
        a = np.exp(at)
        share = (a[2:] - a[1:-1]) / (a[2:] - a[:-2])
        chord = share * high[:-2] + (1 - share) * high[2:]
        require(low[1:-1] <= chord * (1 + room + 1e-13), f"{here} is not convex in e^eps", epsilon=at[1:-1], lower=low[1:-1])
    for epsilon in at[[2, 5]]:
        both, largest = (
            mechanism.delta(float(epsilon)),
            [mechanism.delta(float(epsilon), direction=one) for one in directions_under(mechanism.adjacency)],
        )
        lower, upper = (max(getattr(one, end) for one in largest) for end in ("lower", "upper"))
        agree = both.lower <= upper * (1 + room) and lower <= both.upper * (1 + room)
        require(agree, f"delta({epsilon:g}) is {both}, the larger direction is between {lower!r} and {upper!r}")


def check_duality(mechanism: Mechanism) -> None:
    """The profile of one direction determines the other: delta_add(eps) = 1 - e^eps + e^eps delta_remove(-eps)."""
    loss = mechanism.loss_law()
    at, room = thresholds_of(loss), profile_tolerance(loss)
    added = profile_of(loss, at, Direction.ADD)
    # also for a symmetric loss: then both sides are the same function, at eps and at -eps
    low, high = (-np.expm1(at) + np.exp(at) * side for side in profile_of(loss, -at, Direction.REMOVE))
    slack = 1e-14 * (1 + np.exp(at)) + room * np.exp(np.abs(at))
    require(
        (added[0] <= high + slack) & (low <= added[1] + slack),
        "delta_add(eps) is not 1 - e^eps + e^eps delta_remove(-eps)",
        epsilon=at, added=added[0], dual=low,
    )  # fmt: skip


def check_divergence(mechanism: Mechanism) -> None:
    """K'(0) M(0) is the divergence E[L; |L| < inf], an integral of the profile that chords bound from above and below.

    E[L] = int_0^inf D(x) dx + int_0^inf e^{-x} D'(x) dx + M(0) - M(-1), D' that of the reversed pair (Sason & Verdú 2016,
    Proposition 3, for masses below one). The first integrand is convex in e^x, the second in e^{-x}.
    """
    loss = mechanism.loss_law()
    spread = spread_of(loss)
    high_end = loss.strip[1]
    if not (high_end > 0 and convexity_gap_of(loss) > 0):
        # at the end of the strip the slope may be infinite; for a loss that is always zero there is nothing to check
        return
    h = 1e-4 * min(1 / spread, 1.0, high_end)
    values = values_at(loss, np.array([-h, 0.0, h, -1.0]))
    k, radius = values.mid.real, values.radius
    mass, dual_mass = math.exp(k[1]), math.exp(k[3])
    # K is convex: its slope at zero is between those of two chords
    slopes = sorted([mass * (k[1] - k[0]) / h, mass * (k[2] - k[1]) / h])
    wrong = mass * 2 * radius.max() / h + 2 * radius.max()
    low, high = mass - dual_mass, mass - dual_mass
    for own, sign in ((loss, 1.0), (loss.reflected(), -1.0)):
        x, rest = _range(own, sign, max(slopes[1], 1e-300))
        if x[-1] > _LARGEST_CHORD:
            return
        direction = Direction.REMOVE if sign > 0 else Direction.ADD
        infinite = -math.expm1(min(float(own.support.masses.own.mid[0].real), 0.0))
        bottom, top = (side - infinite for side in profile_of(loss, x, direction))
        weight = np.exp(np.minimum(sign - 1, 0.0) * x / 2)
        bounds = _chords(np.exp(sign * x), np.maximum(bottom * weight, 0.0), np.maximum(top * weight, 0.0))
        low, high = low + bounds[0], high + bounds[1] + rest
    room = wrong + 1e-7 * (abs(high) + 1e-9) + profile_tolerance(loss)
    require(
        slopes[0] - room <= high and low <= slopes[1] + room,
        f"K'(0) M(0) is between {slopes[0]:.9g} and {slopes[1]:.9g}, "
        f"the divergence by the profile between {low:.9g} and {high:.9g}",
    )


def check_inverse(mechanism: Mechanism) -> None:
    """Epsilon inverts delta."""
    loss = mechanism.loss_law()
    at = float(thresholds_of(loss)[5])
    found, room = single(mechanism.delta(at)), profile_tolerance(loss)
    if found.lower > 0 and found.upper < 1:
        least = single(mechanism.epsilon(min(found.upper * (1 + room + 1e-12), 1.0)))
        most = single(mechanism.epsilon(found.lower * (1 - room - 1e-12)))
        agree = least.lower <= at and at <= most.upper
        require(agree, f"delta({at!r}) is {found}, but epsilon of its ends is {least} and {most}")


def check_repetition(mechanism: Mechanism) -> None:
    """2 m equals m + m, and has twice the K of m."""
    twice, sum_ = 2 * mechanism, mechanism + mechanism
    require(twice == sum_ and hash(twice) == hash(sum_), "2 * m and m + m are different values")
    loss, double = mechanism.loss_law(), twice.loss_law()
    z = points_of(loss)
    one, two = values_at(loss, z), values_at(double, z)
    require_equal("K of 2 m is not 2 K", z, 2 * one.mid, two.mid, 2 * one.radius + two.radius + ROUNDING)


def check_routes(mechanism: Mechanism) -> None:
    """Bounds of a single release by all quick routes that apply overlap, and so do those of the threefold composition."""
    room = profile_tolerance(mechanism.loss_law())
    for count, place in ((1, 4), (3, 5)):
        release = count * mechanism
        at = float(thresholds_of(release.loss_law())[place])
        found = single(release.delta(at))
        for route in (one for one in ROUTES.values() if not one.slow):
            try:
                other = single(release.delta(at, method=route, rtol=1e-3))
            except NotApplicableError:
                continue
            agree = found.lower <= other.upper * (1 + room) and other.lower <= found.upper * (1 + room)
            require(agree, f"{count} m at epsilon {at:g}: {found.method} says {found}, {other.method} says {other}")


def _range(own: LogPhi, sign: float, size: float) -> tuple[Array, float]:
    """Thresholds from 0 to where the rest of an integral is below a thousandth of ``size``, by Chernoff; and that rest."""
    c = np.array([one for one in abscissas_of(own) if one > 0])
    # kappa(c) <= 1; the second integrand carries e^{-x}
    speed, log_height = c + (sign < 0), own.log_transform(c).mid.real
    ends = (log_height - np.log(speed * 1e-3 * size)) / speed
    end, rest = max(float(ends.min()), 0.0) + 1e-300, 1e-3 * size
    if own.support.upper <= end:
        end, rest = max(own.support.upper, 1e-300), 0.0
    return end * np.linspace(0.0, 1.0, 14) ** 1.4, rest


def _chords(a: Array, low: Array, high: Array) -> tuple[float, float]:
    """Bounds of the integral of a convex function over da/a, from its chords and, below, from their extensions."""
    order = np.argsort(a)
    a, low, high = a[order], low[order], high[order]
    # measured: interpolation changes the lower bound by less than 1e-7, near its kinks
    fine = a[:-1] * np.exp(np.linspace(0.0, 1.0, 1025)[:, None] * np.diff(np.log(a)))
    fine[-1] = a[1:]
    above = high[:-1] + (fine - a[:-1]) * np.diff(high) / np.diff(a)
    # slopes are bounded outward, by the errors of their ends
    left = (high[1:] - low[:-1]) / np.diff(a)
    right = (low[1:] - high[:-1]) / np.diff(a)
    below = np.zeros_like(fine)
    below[:, 1:] = np.maximum(below[:, 1:], low[1:-1] + (fine[:, 1:] - a[1:-1]) * right[:-1])
    below[:, :-1] = np.maximum(below[:, :-1], low[1:-1] - (a[1:-1] - fine[:, :-1]) * left[1:])
    steps, growth = np.diff(fine, axis=0), np.log(fine[1:] / fine[:-1])
    steps = np.where(steps > 0, steps, 1.0)  # nothing is gained over an interval of rounding
    low_total, high_total = (
        # the integral of a linear function over da/a: its value at zero times that of da/a, and its rise
        float(((side[:-1] - fine[:-1] * np.diff(side, axis=0) / steps) * growth + np.diff(side, axis=0)).sum())
        for side in (below, above)
    )
    return low_total, high_total
