"""Upper bounds of the Renyi divergences of the best of a random number of runs, and of their zCDP.

notation: as in :mod:`logphi.algebra.selection`, with D_a the Renyi divergence of one run, z = a - 1, and ||g||_s the norm
(int_0^1 |g(x)|^s dx)^{1/s}.

Theorem. For all orders b >= a > 1, with s = (b - 1) / (b - a),

    D_a(selected) <= log r + log ||f'||_s / (a - 1) + D_b.

Proof. The selected output has the densities p f'(F) and q f'(G), with f'(F) <= r f'(G). So its E e^{zL} is the integral of

    (p f'(F))^{1+z} (q f'(G))^{-z} <= r^z f'(F) p (p/q)^z.

By Hoelder's inequality the integral is at most r^z ||f'(F)||_s e^{K(z t)/t} with 1/s + 1/t = 1, norms under P, under which F is
uniform, as scores have no ties. With t = (b - 1)/(a - 1), K(z t)/t = z D_b. A Poisson law releases nothing with probability
e^{-mean}, under P as under Q, and this is added to E e^{zL}.

For b = a the norm is the largest value f'(1) = E K; for orders near one, a larger b is better. Any b is valid, and so a few are
tried. D_a grows with a, so that orders below the least one have its bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.questions.zcdp import chord_tops
from logphi.sampling.repetitions import Repetitions

# measured: orders of one run: with more of them bounds are lower by less than a percent
ORDERS = 1 + 2.0 ** np.arange(-6.0, 12.25, 0.25)
# derived: at smaller orders less one, norms would lose too many digits
_LEAST = 1e-4
# derived: above the errors of the formulas, relative to their terms
_ROOM = 64 * ULP
# derived: the exponential of a larger number overflows
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, eq=False)
class SelectedDivergences:
    """Bounds for one direction, from an upper bound of log r.

    ``run`` are upper bounds of the divergences of one run at all ORDERS, and ``rho`` is one of its zCDP.
    """

    runs: Repetitions
    log_ratio: float
    run: Array
    rho: float

    def at(self, order: float, run: float = math.inf) -> float:
        """The bound at an order, at which the divergence of one run is at most ``run``."""
        if math.isinf(order):
            return (self.log_ratio + run) * (1 + _ROOM)
        z, log_mean = max(order - 1, _LEAST), math.log(self.runs.mean)
        far = z < (ORDERS - 1) * (1 - 1e-9)
        found = (self.run[far] + self._log_norms(z, ORDERS[far] - 1) / z).tolist()
        if order - 1 == z:
            found.append(run + (log_mean + _ROOM * abs(log_mean)) / z)
        best = min(found)
        return self._or_none(self.log_ratio + best + _ROOM * (self.log_ratio + abs(best)), z)

    def smallest_rho(self, xi: float) -> float:
        """An upper bound of the smallest rho: from chords of K, which is convex, and from the rho of one run."""
        z = ORDERS - 1
        bounds = np.array([self.at(*both) for both in zip(ORDERS.tolist(), self.run.tolist(), strict=True)])
        tops = chord_tops(z, z * bounds * (1 + _ROOM), xi)
        # E e^{zL} of no run is at most that of one
        most = math.log(self.runs.mean + (math.exp(-self.runs.mean) if self.runs.poisson else 0.0))
        last = self.rho + max(self.log_ratio + most / float(z[-1]) - xi, 0.0) / float(ORDERS[-1])
        return max(float(bounds[0]) - xi, float(tops.max()), last, 0.0) * (1 + _ROOM)

    def _or_none(self, bound: float, z: float) -> float:
        """The bound, with the chance that there is no run."""
        if not self.runs.poisson:
            return bound
        if z * bound > _LARGEST_EXPONENT:
            # e^{-mean} adds less than a rounding to so large an expectation
            return bound * (1 + _ROOM)
        with_none = math.exp(-self.runs.mean) + math.exp(z * bound)
        return max(math.log(with_none) + _ROOM * (1 + abs(z * bound)), 0.0) / z

    def _log_norms(self, z: float, far: Array) -> Array:
        """Upper bounds of log ||f'||_s, s = far / (far - z)."""
        share, log_mean = 1 - z / far, math.log(self.runs.mean)
        if self.runs.poisson:
            powers = np.log(_decay(self.runs.mean / share))
        else:
            # f'(x) / f'(1) = (1 + (e^t - 1) (1 - x))^{-(eta + 1)} falls with t, and this is s (eta + 1) - 1
            excess = (self.runs.shape + z / far) / share
            powers = np.log(_decay(excess * self.runs.low) / _decay(np.array(-self.runs.low)))
        return np.asarray(log_mean + share * powers + _ROOM * (1 + abs(log_mean) + np.abs(powers)))


def _decay(x: Array) -> Array:
    """(1 - e^-x) / x."""
    x = np.where(x == 0, 1e-300, x)
    return np.asarray(-np.expm1(-x) / x)
