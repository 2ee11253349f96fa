"""The density of the loss of one random allocation and its profile, each value along the branch cut.

notation as in :mod:`logphi.inversion.several_epochs`. An :class:`Epoch` keeps the integrals that it has prepared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.branch_cut import Integral, prepare
from logphi.quadrature.lognormal_mean import LognormalMean

# measured: the relative error of a value near which an integral was prepared; more integrals take seconds
_SHARP, _MOST_INTEGRALS = math.log(6e-11), 30
# measured: below zero the first three integrals that are not long, at these standard deviations, serve all values relative to
# the largest of them
_BELOW, _MOST_BELOW = (-6.0, -3.0, -1.0, -0.5, -0.2, -0.1), 3


@dataclass(frozen=True)
class Values:
    """Logarithms of values and of their errors."""

    log: Array
    log_error: Array


class Epoch:
    """One epoch, of an exact shift; each value is of an integral prepared nearby."""

    def __init__(self, mean: LognormalMean) -> None:
        self.mean, self.relative_error = replace(mean, relative_error=0.0), mean.relative_error
        self.variance = math.expm1(mean.shift**2) / mean.count
        self.decay = (mean.shift * (1 - 1e-14)) ** 2 / mean.count
        self._prepared: list[tuple[float, Integral]] = []

    @cached_property
    def _below(self) -> list[Integral]:
        found = (prepare(self.mean, place * math.sqrt(self.variance)) for place in _BELOW)
        return list(islice((one for one in found if one is not None), _MOST_BELOW))

    def log_transform(self, c: Array) -> Array:
        """Upper bounds of log M(c) for real c."""
        return np.array([self.mean.log_moment_bound(1 + one) for one in c.tolist()])

    def log_density(self, x: Array, log_needed: Array) -> Values:
        """The density; errors below what is needed are as good as those that are sharp."""
        b = np.concatenate([positive_orders([self]), negative_orders([self])])
        most = (self.log_transform(b) - x[:, None] * b).min(axis=1) - 0.5 * math.log(2 * math.pi * self.decay) + 1e-9
        # under Q, S has the density p(log k) / k^2
        unknown, moved = np.full(x.size, -np.inf), 2 * x
        found = self._resolved(x, unknown, most - moved, log_needed - moved, lambda one, at: one.density_at(at))
        return Values(found.log + moved, np.logaddexp(found.log_error, found.log + np.log(8 * ULP * (1 + np.abs(x)))) + moved)

    def log_profile(self, x: Array) -> Values:
        """The profile: one less e^x far below zero, where E (k - S)_+ is negligible."""
        a = -1 - negative_orders([self])
        put = (self.log_transform(-1 - a) + x[:, None] * (1 + a)).min(axis=1) + 1e-9
        below = x < 0
        with np.errstate(divide="ignore"):  # minus infinity stands for zero
            log = np.log(np.where(below, -np.expm1(np.minimum(x, 0.0)), 0.0))
        error = np.where(below, np.logaddexp(put, log + math.log(8 * ULP)), 0.0)
        return self._resolved(x, log, error, np.full(x.size, -np.inf), lambda one, at: one.at(at))

    def _resolved(self, x: Array, log: Array, error: Array, needed: Array, at: Callable[[Integral, float], Scaled]) -> Values:
        """Values at increasing x, with as few integrals as needed; those that are given hold in any case."""
        log, error = log.copy(), error.copy()
        tried = np.zeros(x.size, bool)

        def sharp(i: int) -> bool:
            return bool(error[i] <= max(needed[i], log[i] + _SHARP))

        def improve(integral: Integral, i: int) -> bool:
            found = at(integral, float(x[i]))
            spread = found.spread + found.excess
            if math.isfinite(spread):
                # no value is negative
                positive = max(found.value, 0.0)
                value = found.log_scale + math.log(positive) if positive else -math.inf
                # with the rounding of the logarithms
                rounding = 8 * ULP * (2 + abs(found.log_scale) + abs(value)) * positive if positive else 0.0
                own = found.log_scale + math.log(spread + rounding + 1e-300)
                if own < error[i]:
                    log[i], error[i] = value, own
            return sharp(i)

        def outward(near: float, integral: Integral) -> None:
            middle = int(np.searchsorted(x, near))
            for order in (range(middle, x.size), range(middle - 1, -1, -1)):
                for i in order:
                    if not sharp(i) and not improve(integral, i):
                        break

        below = [i for i in range(x.size) if x[i] < 0 and not sharp(i)]
        for integral in self._below if below else ():
            for i in below:
                if not sharp(i):
                    improve(integral, i)
        for near, integral in self._prepared:
            outward(near, integral)
        while len(self._prepared) < _MOST_INTEGRALS:
            open_ = np.flatnonzero([x[i] >= 0 and not (tried[i] or sharp(i)) for i in range(x.size)])
            if not open_.size:
                break
            runs = np.split(open_, np.flatnonzero(np.diff(open_) > 1) + 1)
            longest = max(runs, key=len)
            i = int(longest[longest.size // 2])
            tried[i] = True
            near = float(x[i])
            found = prepare(self.mean, near)
            if found is not None:
                self._prepared.append((near, found))
                improve(found, i)
                outward(near, found)
        return Values(log, error)


def positive_orders(epochs: Sequence[Epoch]) -> Array:
    """Positive c at which all transforms are known."""
    top = min(one.mean.order for one in epochs) - 1.0
    return np.concatenate([[0.1, 0.3], np.linspace(0.0, top, 61)[1:]])


def negative_orders(epochs: Sequence[Epoch]) -> Array:
    """Negative c, up to where the transforms are largest for losses far below zero."""
    return -np.geomspace(1.5, 100 / math.sqrt(min(one.decay for one in epochs)) + 100, 60)
