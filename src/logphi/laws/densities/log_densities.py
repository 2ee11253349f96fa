"""Logarithms of densities on the line, as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from logphi.arrays import Array

# the logarithm of a density, of an array
LogDensity = Callable[[Array], Array]


@dataclass(frozen=True)
class NormalLog:
    """The logarithm of a normal density."""

    mean: float
    sigma: float

    def __call__(self, x: Array) -> Array:
        """At each x."""
        return np.asarray(-(((x - self.mean) / self.sigma) ** 2) / 2 - np.log(self.sigma) - np.log(2 * np.pi) / 2)


@dataclass(frozen=True)
class MixtureLog:
    """log((1 - rate) q + rate p) for two densities given by their logarithms."""

    log_p: LogDensity
    log_q: LogDensity
    rate: float

    def __call__(self, x: Array) -> Array:
        """At each x."""
        return _log_mixture(self.log_p(x), self.log_q(x), self.rate)


@dataclass(frozen=True)
class SplicedLog:
    """log((1 - rate) q + rate p) where p is above q, log p elsewhere, for two densities given by their logarithms."""

    log_p: LogDensity
    log_q: LogDensity
    rate: float

    def __call__(self, x: Array) -> Array:
        """At each x."""
        p, q = self.log_p(x), self.log_q(x)
        return np.where(p > q, _log_mixture(p, q, self.rate), p)


@dataclass(frozen=True)
class NormalsLog:
    """The logarithm of a mixture of normal densities of width one."""

    means: tuple[float, ...]
    log_weights: tuple[float, ...]

    def __call__(self, x: Array) -> Array:
        """At each x."""
        parts = (weight + NormalLog(mean, 1.0)(x) for mean, weight in zip(self.means, self.log_weights, strict=True))
        return reduce(np.logaddexp, parts)


def _log_mixture(log_p: Array, log_q: Array, rate: float) -> Array:
    return np.asarray(np.logaddexp(np.log1p(-rate) + log_q, np.log(rate) + log_p))
