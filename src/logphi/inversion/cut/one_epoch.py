"""The density of the loss of one random allocation and its profile, each value along the branch cut.

notation as in :mod:`logphi.inversion.cut.several_epochs`. Integrals are kept for later questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inversion.cut.branch_cut import Integral, Sums, prepare
from logphi.quadrature.lognormal.mean import LognormalMean

# measured: the relative error up to which an integral serves a value; answers for few epochs err by less than half of it, as
# few values err by so much, and those for many by hardly more than with a smaller one; more integrals take seconds
_SHARP, _MOST_INTEGRALS = math.log(5e-10), 30
# measured, in standard deviations: below zero the first of these integrals that is not long, and where that is the first, two
# more, serve all values relative to the largest of them
_JUST_BELOW, _BELOW = (-1.0, -0.5, -0.2, -0.1), (-3.0, -6.0)
# measured, in standard deviations: above zero integrals are prepared somewhat above a value, as they serve more values above;
# first at places far apart, which questions share, then nearby
_AHEAD, _APART, _NEAR = 0.25, 1.0, 0.125
# measured: the number of values that are summed at once, for tables of some megabytes
_AT_ONCE = 128


@dataclass(frozen=True)
class Values:
    """Logarithms of values and of their errors."""

    log: Array
    log_error: Array


@dataclass(frozen=True)
class Epoch:
    """One epoch, of an exact shift; each value is of an integral prepared nearby."""

    own: LognormalMean

    @cached_property
    def mean(self) -> LognormalMean:
        """The mean of an exact shift."""
        return replace(self.own, relative_error=0.0)

    @property
    def relative_error(self) -> float:
        """That of the shift."""
        return self.own.relative_error

    @property
    def variance(self) -> float:
        """About that of the loss."""
        return math.expm1(self.own.shift**2) / self.own.count

    @property
    def decay(self) -> float:
        """The rate a of the decay of the transform, rounded down."""
        return (self.own.shift * (1 - 1e-14)) ** 2 / self.own.count

    def log_transform(self, c: Array) -> Array:
        """Upper bounds of log M(c) for real c."""
        return np.array([self.mean.log_moment_bound(1 + one) for one in c.tolist()])

    def log_density(self, x: Array, log_needed: Array) -> Values:
        """The density; errors below what is needed are as good as those that are sharp."""
        b = np.concatenate([positive_orders([self]), negative_orders([self])])
        most = (self.log_transform(b) - x[:, None] * b).min(axis=1) - 0.5 * math.log(2 * math.pi * self.decay) + 1e-9
        # under Q, S has the density p(log k) / k^2
        unknown, moved = np.full(x.size, -np.inf), 2 * x
        found = self._resolved(x, unknown, most - moved, log_needed - moved, _SHARP, density=True)
        return Values(found.log + moved, np.logaddexp(found.log_error, found.log + np.log(8 * ULP * (1 + np.abs(x)))) + moved)

    def log_profile(self, x: Array, log_needed: Array, log_sharp: float = _SHARP) -> Values:
        """The profile: one less e^x far below zero, where E (k - S)_+ is negligible; errors as of the density.

        ``log_sharp`` is the logarithm of a relative error that is enough.
        """
        a = -1 - negative_orders([self])
        put = (self.log_transform(-1 - a) + x[:, None] * (1 + a)).min(axis=1) + 1e-9
        c = positive_orders([self])
        most = np.minimum((self.log_transform(c) - x[:, None] * c).min(axis=1) + 1e-9, 0.0)
        below = x < 0
        with np.errstate(divide="ignore"):  # minus infinity stands for zero
            log = np.log(np.where(below, -np.expm1(np.minimum(x, 0.0)), 0.0))
        error = np.where(below, np.logaddexp(put, log + math.log(8 * ULP)), most)
        return self._resolved(x, log, error, log_needed, log_sharp, density=False)

    def _resolved(self, x: Array, log: Array, error: Array, needed: Array, log_sharp: float, *, density: bool) -> Values:
        """Values at increasing x, with as few integrals as needed; those that are given hold in any case."""
        log, error = log.copy(), error.copy()

        def wide(those: NDArray[np.intp]) -> NDArray[np.intp]:
            return those[~(error[those] <= np.maximum(needed[those], log[those] + log_sharp))]

        def improve(integral: Integral, those: NDArray[np.intp]) -> NDArray[np.intp]:
            for some in np.array_split(those, math.ceil(those.size / _AT_ONCE)):
                found = _logarithms(integral.sums(x[some], density=density))
                better = found.log_error < error[some]
                log[some[better]], error[some[better]] = found.log[better], found.log_error[better]
            return wide(those)

        left = wide(np.flatnonzero(x < 0))
        for one in self._below if left.size else ():
            left = improve(one, left)
            if not left.size:
                break
        sd, count = math.sqrt(self.variance), 0
        left = wide(np.flatnonzero(x >= 0))
        while left.size and count < _MOST_INTEGRALS:
            first = float(x[left[0]])
            for ahead, apart in ((_AHEAD * sd, _APART * sd), (0.0, _NEAR * sd)):
                integral, count = _integral(self.mean, apart * round((first + ahead) / apart)), count + 1
                left = left if integral is None else improve(integral, left)
                if not left.size or x[left[0]] > first:
                    break
            else:
                # near values are no sharper
                left = left[x[left] > first + _AHEAD * sd]
        return Values(log, error)

    @property
    def _below(self) -> Iterator[Integral]:
        sd = math.sqrt(self.variance)
        near = next((place for place in _JUST_BELOW if _integral(self.mean, place * sd) is not None), None)
        for place in (near, *_BELOW) if near == _JUST_BELOW[0] else (near,):
            found = None if place is None else _integral(self.mean, place * sd)
            if found is not None:
                yield found


class Kind(NamedTuple):
    """An epoch and how often it occurs."""

    epoch: Epoch
    number: int


@lru_cache(maxsize=256)
def _integral(mean: LognormalMean, place: float) -> Integral | None:
    """The integral prepared near a place, for all questions."""
    return prepare(mean, place)


def _logarithms(found: Sums) -> Values:
    """The logarithms, with the rounding of these; no value is negative."""
    positive = np.maximum(found.value, 0.0)
    with np.errstate(divide="ignore"):  # minus infinity stands for zero
        log = np.log(positive)
    rounding = 8 * ULP * (2 + np.abs(found.log_scale) + np.where(positive > 0, np.abs(log), 0.0)) * positive
    spread = (found.truncation + found.inner + found.rounding) * (1 + 1e-14)
    return Values(found.log_scale + log, found.log_scale + np.log(spread + rounding + 1e-300))


def positive_orders(epochs: Sequence[Epoch]) -> Array:
    """Positive c at which all transforms are known."""
    top = min(one.mean.order for one in epochs) - 1.0
    return np.concatenate([[0.1, 0.3], np.linspace(0.0, top, 61)[1:]])


def negative_orders(epochs: Sequence[Epoch]) -> Array:
    """Negative c, up to where the transforms are largest for losses far below zero."""
    return -np.geomspace(1.5, 100 / math.sqrt(min(one.decay for one in epochs)) + 100, 60)
