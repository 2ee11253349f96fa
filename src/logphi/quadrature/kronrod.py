"""Adaptive Gauss-Kronrod quadrature of two functions on the real line: panels are bisected until the integrals converge.

Each panel carries the 21-point Gauss-Kronrod rule; every second of its points is a point of the 10-point Gauss rule. The
difference of the two rules estimates the error on the panel. For a smooth integrand the error is far smaller (Piessens, de
Doncker-Kapenga, Überhuber & Kahaner 1983, *QUADPACK*). It is an estimate, never a proof: peaks between the points go unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array

# the logarithms of both functions at the points of an array
Logs = Callable[[Array], tuple[Array, Array]]

# from QUADPACK: nodes from the outermost inward, weights of the 21-point rule, weights of the 10-point rule
_RULE = (
    (0.9956571630258081, 0.011694638867371874, 0.0),
    (0.9739065285171717, 0.032558162307964725, 0.06667134430868814),
    (0.9301574913557082, 0.054755896574351995, 0.0),
    (0.8650633666889845, 0.07503967481091996, 0.1494513491505806),
    (0.7808177265864169, 0.09312545458369761, 0.0),
    (0.6794095682990244, 0.10938715880229764, 0.21908636251598204),
    (0.5627571346686047, 0.12349197626206584, 0.0),
    (0.4333953941292472, 0.13470921731147334, 0.26926671930999635),
    (0.2943928627014602, 0.14277593857706009, 0.0),
    (0.14887433898163122, 0.1477391049013385, 0.29552422471475287),
    (0.0, 0.14944555400291692, 0.0),
)
# the half of the rule up to its middle
_NODES, _KRONROD, _GAUSS = np.array(_RULE).T
# the nodes on [-1, 1]
NODES = np.concatenate([-_NODES, _NODES[-2::-1]])
# the weights of both rules
KRONROD, GAUSS = (np.concatenate([half, half[-2::-1]]) for half in (_KRONROD, _GAUSS))
# derived: the rule on the eleven nodes that the Gauss rule leaves out which integrates polynomials up to degree 10 exactly
_OTHERS = np.zeros(21)
_OTHERS[::2] = np.linalg.solve(np.polynomial.legendre.legvander(NODES[::2], 10).T, 2.0 * (np.arange(11) == 0))

# measured: a jump takes 39 rounds of bisection for thirteen digits
_ROUNDS = 60
# measured: the largest number of panels, over which a round takes 3 ms for two exponential functions
_MOST = 6000
# chosen: distances from a centre at which functions are sampled, from 1e-18 to 1e18
_DISTANCES = 2.0 ** np.arange(-60, 61)
# chosen: more than enough; derived: each zoom narrows the neighbourhood of a mode sixteenfold, so that eight reach nine digits
_ZOOMS = 40
# chosen: panels grow by this factor away from a centre, from 4^-14 of the scale to 4^20 times it
_GROWTH, _INWARD, _OUTWARD = 4.0, 14, 20


@dataclass(frozen=True)
class Table:
    """Panels, and both functions at their nodes; each array has one row per panel.

    A panel covers low <= s <= high, where x = origin + s, or x = origin + 1/s if ``far``. ``x``, ``width`` (dx/ds times half
    the length), ``log_p`` and ``log_q`` have one column per node.
    """

    low: Array
    high: Array
    origin: Array
    far: NDArray[np.bool_]
    x: Array
    width: Array
    log_p: Array
    log_q: Array

    @staticmethod
    def of(low: Array, high: Array, origin: Array, far: NDArray[np.bool_], logs: Logs) -> Table:
        """Tabulate two functions on given panels."""
        half = (high - low)[:, None] / 2
        s = (high + low)[:, None] / 2 + half * NODES
        inverse = np.where(far[:, None], s, 1.0)
        x = origin[:, None] + np.where(far[:, None], 1 / inverse, s)
        width = np.where(far[:, None], half / inverse**2, half)
        log_p, log_q = logs(x.ravel())
        return Table(low, high, origin, far, x, width, log_p.reshape(x.shape), log_q.reshape(x.shape))

    def pick(self, which: NDArray[np.bool_]) -> Table:
        """A selection of the panels."""
        return Table(*(getattr(self, part.name)[which] for part in fields(self)))

    def bisected(self, which: NDArray[np.bool_], logs: Logs) -> Table:
        """The table with some panels halved; the halves come last."""
        old, rest = self.pick(which), self.pick(~which)
        middle = (old.low + old.high) / 2
        low, high = np.concatenate([old.low, middle]), np.concatenate([middle, old.high])
        fresh = Table.of(low, high, np.tile(old.origin, 2), np.tile(old.far, 2), logs)
        return rest.joined(fresh)

    def joined(self, other: Table) -> Table:
        """The panels of both."""
        return Table(*(np.concatenate([getattr(part, one.name) for part in (self, other)]) for one in fields(self)))


# for each integrand and each panel: about the integral of the modulus, and the estimated error
Report = Callable[[Table], tuple[Array, Array]]


def settled(table: Table, logs: Logs, report: Report, tolerance: float) -> Table:
    """Bisect until the error estimates of each integrand sum to ``tolerance`` times its integral, or no panel improves.

    ``report`` gives arrays of shape (integrands, panels).
    """
    for _ in range(_ROUNDS):
        size, doubt = report(table)
        total = size.sum(axis=1, keepdims=True)
        # a panel of length zero cannot be bisected
        open_ones = (table.high - table.low) > 1e-15 * (np.abs(table.low) + np.abs(table.high))
        bad = (doubt > tolerance * total / (2 * table.low.size)).any(axis=0) & open_ones
        if not bad.any() or (doubt.sum(axis=1) <= tolerance * total[:, 0]).all() or table.low.size + bad.sum() > _MOST:
            return table
        table = table.bisected(bad, logs)
    return table


def doubts(values: NDArray[Any]) -> Array:
    """Estimated errors of the 21-point rule on each panel (the last axis runs over the nodes).

    At a kink the Gauss rule may agree with the Kronrod rule by accident. The rule on the other eleven nodes then disagrees, so
    the larger of two estimates counts. The second is the relative difference of that rule to the power 3/2, which is below
    the first where the integrand is smooth. The factor 3 is a margin.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # the integrand overflows: its error is infinite
        size = np.abs(values) @ KRONROD
        share = np.abs(values @ (KRONROD - _OTHERS)) / np.maximum(size, 1e-300)
        found = 3 * np.maximum(np.abs(values @ (KRONROD - GAUSS)), size * share**1.5)
    return np.where(np.isnan(found), np.inf, found)


def above_noise(doubt: Array, noise: Array) -> Array:
    """The errors that exceed the rounding noise, which more panels reduce; zero elsewhere."""
    return np.where(doubt > noise, doubt, 0.0)


def divided(table: Table, parts: Array, logs: Logs) -> Table:
    """The table with each panel divided into the given number of equal parts."""
    repeats = np.maximum(parts.astype(int), 1)
    index = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    low, length = np.repeat(table.low, repeats), np.repeat((table.high - table.low) / repeats, repeats)
    low = low + index * length
    return Table.of(low, low + length, np.repeat(table.origin, repeats), np.repeat(table.far, repeats), logs)


def first_table(support: tuple[float, float], breakpoints: tuple[float, ...], logs: Logs) -> Table:
    """Panels that grow geometrically away from breakpoints, finite ends and the modes of both functions."""
    low, high = support
    fixed = {end for end in (*breakpoints, low, high) if np.isfinite(end)}
    modes = {mode for mode in _modes(support, breakpoints, logs) if all(abs(mode - one) > 1e-6 * abs(mode) for one in fixed)}
    centres = sorted(fixed | modes) or [0.0]
    parts: list[tuple[Array, float, bool]] = []
    for a, b in pairwise(centres):
        grades = (b - a) / 2 * _GROWTH ** -np.arange(_INWARD + 1.0)
        edges = np.append(grades, 0.0)[::-1]
        parts += [(edges, a, False), (-edges[::-1], b, False)]
    for end, centre, sign in ((low, centres[0], -1.0), (high, centres[-1], 1.0)):
        if np.isinf(end):
            scale = _scale(centre, sign, logs)
            near = np.append(scale * _GROWTH ** -np.arange(_INWARD + 1.0), 0.0)[::-1]
            outward = np.append(_GROWTH ** -np.arange(_OUTWARD + 1.0) / scale, 0.0)[::-1]
            parts += [(np.sort(sign * near), centre, False), (np.sort(sign * outward), centre, True)]
    return Table.of(
        np.concatenate([edges[:-1] for edges, _, _ in parts]),
        np.concatenate([edges[1:] for edges, _, _ in parts]),
        np.concatenate([np.full(edges.size - 1, origin) for edges, origin, _ in parts]),
        np.concatenate([np.full(edges.size - 1, far) for edges, _, far in parts]),
        logs,
    )


def spread(support: tuple[float, float], breakpoints: tuple[float, ...]) -> Array:
    """Points inside the support, at geometrically growing distances from breakpoints and finite ends."""
    centres = sorted({end for end in (*breakpoints, *support) if np.isfinite(end)} or {0.0})
    around = np.concatenate([[centre, *(centre - _DISTANCES), *(centre + _DISTANCES)] for centre in centres])
    if np.isfinite(support).all():
        around = np.append(around, np.linspace(*support, 66))
    return np.unique(around[(around > support[0]) & (around < support[1]) & ~np.isin(around, breakpoints)])


def _modes(support: tuple[float, float], breakpoints: tuple[float, ...], logs: Logs) -> list[float]:
    """Approximate maxima of the functions: the best sampled point, refined. A peak between the samples is missed."""
    inside, found = spread(support, breakpoints), []
    for own in (0, 1):
        x = inside
        for _ in range(_ZOOMS):
            best = int(np.argmax(logs(x)[own]))
            left, right = x[max(best - 1, 0)], x[min(best + 1, x.size - 1)]
            if not right - left > 1e-9 * (abs(left) + abs(right)):
                break
            x = np.unique(np.linspace(left, right, 33))
        found.append(float(x[x.size // 2]))
    return found


def _scale(centre: float, sign: float, logs: Logs) -> float:
    """The distance from a centre at which one of the logarithms has first fallen by a half; one if none does."""
    x = centre + sign * np.concatenate([[0.0], _DISTANCES])
    with np.errstate(invalid="ignore"):  # the difference of infinities counts as no fall
        fallen = [(log[0] - log[1:]) > 0.5 for log in logs(x)]
    first = np.flatnonzero(fallen[0] | fallen[1])
    return float(_DISTANCES[first[0]]) if first.size else 1.0
