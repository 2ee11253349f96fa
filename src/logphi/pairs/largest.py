"""The largest of many normal outputs, one of which depends on the record: what an attack on shuffled batches observes.

notation: T outputs of unit width, one of which has the mean a under P and b < a under Q, and all others the mean 0. The
largest is at most x with probability F_a(x) = Phi(x - a) Phi(x)^{T - 1}, whichever output it is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from logphi.arith.floats import FLOATS, ULP
from logphi.arrays import Array
from logphi.normal.tails import log_masses
from logphi.pairs.finite import FinitePair

# chosen: about the logarithm of the mass in the first cell
_LOWEST = -40.0
# chosen: how far above the larger mean the last cell begins
_FARTHEST = 20.0
# derived: the least mass, that of N(0, 1) above twenty plus this shift, is 1e-285 and a normal double; larger shifts leak more
_MOST = 16.0


@lru_cache(maxsize=32)
def largest_output(shift: Any, means: tuple[int, int], outputs: int, cells: int) -> FinitePair:
    """The cell that contains the largest of ``outputs`` normal outputs; the means are multiples of a shift.

    All cells have one width but the first and the last, which are unbounded. A shift above 16 counts as 16: outputs for the
    larger shift, scaled down and with more noise, are those for 16.
    """
    m = shift.under(FLOATS)
    mid, rad = (float(m.mid), float(m.rad)) if m.mid < _MOST else (_MOST, 0.0)
    top = max(means) * mid
    places = np.linspace(-_FARTHEST, top + _FARTHEST, cells)
    low = places[np.searchsorted(_log_below(places, top, outputs)[0], _LOWEST)]
    ends = np.linspace(low, top + _FARTHEST, cells)
    (p, p_error), (q, q_error) = (_masses(ends, mean * mid, mean * rad, outputs) for mean in means)
    return FinitePair(tuple(p.tolist()), tuple(q.tolist()), max(p_error, q_error))


def _log_below(x: Array, mean: float, outputs: int) -> tuple[Array, Array]:
    """The logarithm of F_a(x), and a bound of its error apart from that of x - a."""
    total, wrong = np.zeros(x.shape), np.zeros(x.shape)
    for place, count in ((x - mean, 1), (x, outputs - 1)):
        above, own = log_masses(place, np.full(x.shape, np.inf))
        below, other = log_masses(-place, np.full(x.shape, np.inf))
        # a probability near one comes from its complement, whose relative error matters little
        near = place > 0
        log_mass = np.where(near, np.log1p(-np.exp(np.where(near, above, -1.0))), below)
        error = np.where(
            near, 2 * np.exp(above) * (own + 4 * ULP) + 4 * ULP * np.abs(log_mass), other + 4 * ULP * np.abs(below)
        )
        total, wrong = total + count * log_mass, wrong + count * error
    return total, wrong + 4 * ULP * np.abs(total)


def _masses(ends: Array, mean: float, mean_error: float, outputs: int) -> tuple[Array, float]:
    """The masses of the cells between the ends and of the two unbounded ones, with a bound of their relative errors.

    From x to y, each output multiplies F by 1 + (Phi(y - a) - Phi(x - a)) / Phi(x - a), which loses no digits.
    """
    log_below, wrong = _log_below(ends, mean, outputs)
    growth, error = np.zeros(ends.size - 1), np.zeros(ends.size - 1)
    for place, count in ((ends - mean, 1), (ends, outputs - 1)):
        inside, own = log_masses(place[:-1], place[1:])
        below, other = log_masses(-place[:-1], np.full(place.size - 1, np.inf))
        growth += count * np.log1p(np.exp(inside - below))
        error = np.maximum(error, own + other + 8 * ULP * (1 + np.abs(inside) + np.abs(below)))
    between = np.exp(log_below[:-1]) * np.expm1(growth)
    masses = np.concatenate([[np.exp(log_below[0])], between, [-np.expm1(log_below[-1])]])
    # the ends of a cell move by half an ulp of the mean and of the places, and so does its width
    far = float(np.abs(ends).max() + abs(mean))
    moved = 2 * ULP * far / float(np.diff(ends).min()) + (1 + far) * (4 * ULP * far + mean_error)
    last = float(wrong[-1] / -np.expm1(log_below[-1]))
    return masses, float(max(wrong.max() + ((1 + growth) * error).max() + 16 * ULP, last)) * 1.01 + 2 * moved
