"""The curve of a loss: a sum of log-ratios as a function of a variable with a normal or exponential density.

notation: s the variable, w_k = 1 - q_k + q_k e^{Y_k} with Y_k = kappa_k s + o_k, l the sum of +-log w_k (the loss), and
Q(ds) = e^{g(s)} ds times some of the w_k, with g a polynomial of degree two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.quadrature.mixtures.log_ratio import ExponentialMixture


@dataclass(frozen=True)
class Factor(ExponentialMixture):
    """One factor w, with the power ``sign`` in e^l and the power ``own`` in the density of Q."""

    sign: int = 1
    own: int = 0

    @cached_property
    def rises(self) -> bool:
        """Whether w, or each of many, grows with s."""
        return bool(np.min(self.slope) > 0)

    def error(self, s: Array, size: Array, parameter_error: float) -> Array:
        """A bound of the error of log w.

        The variable s is known to a few ulps of ``size``, the rate to half an ulp, kappa and o to a relative
        ``parameter_error``.
        """
        value = self.value(s)
        wrong = (size * abs(self.slope) + abs(self.offset)) * (2 * parameter_error + 8 * ULP)
        return np.asarray(ELEMENTARY * np.abs(value) + self.relative_error(s, value, wrong * (1 + wrong)))


@dataclass(frozen=True)
class Curve:
    """A law as an increasing loss l(s), ``start`` <= s <= ``end``, with Q-density e^{g(s)}, g = g0 + g1 s + g2 s^2, g2 <= 0.

    ``atoms`` are values of s (-inf allowed) with logarithms of Q-masses. A ``symmetric`` curve covers l > 0 only: below zero
    the law is its mirror image, with P and Q exchanged. ``rest`` is the mass at l = 0, under P and Q; ``omitted`` are the
    masses of P and Q at other losses, with a relative error of ``omitted_error`` and a few ulps. All parameters but rates have
    a relative error of ``error`` and a few ulps.
    """

    factors: tuple[Factor, ...]
    start: float
    end: float
    density: tuple[float, float, float]
    atoms: tuple[tuple[float, float], ...] = ()
    symmetric: bool = False
    rest: float = 0.0
    omitted: tuple[float, float] = (0.0, 0.0)
    error: float = 0.0
    omitted_error: float = 0.0

    def loss(self, s: Array) -> Array:
        """The loss l(s)."""
        return np.asarray(sum(factor.sign * factor.value(s) for factor in self.factors))

    def loss_error(self, s: Array, size: Array) -> Array:
        """A bound of the error of l(s), where s is known to a few ulps of ``size``."""
        return np.asarray(sum((factor.error(s, size, self.error) for factor in self.factors), np.zeros(s.shape)))

    def log_density(self, s: Array) -> Array:
        """The logarithm of the density of Q."""
        g0, g1, g2 = self.density
        own = sum(factor.own * factor.value(s) for factor in self.factors if factor.own)
        return np.asarray(g0 + s * (g1 + g2 * s) + own)

    def highest(self, low: Array, high: Array) -> Array:
        """The largest g on an interval."""
        g0, g1, g2 = self.density
        peak = np.clip(-g1 / (2 * g2), low, high) if g2 else np.where(g1 > 0, high, low)
        return np.asarray(g0 + peak * (g1 + g2 * peak))

    def highest_beside(self, low: Array, high: Array, v: Array) -> Array:
        """A bound of the logarithm of the density within v of an interval, off the real line."""
        return self.highest(low, high) + self.bend * v * v

    def density_error(self, s: Array, size: Array) -> Array | float:
        """The relative error of what else is in the density."""
        return 0.0

    def log_slope(self, s: Array) -> Array:
        """The derivative of g, which does not rise."""
        g1, g2 = self.density[1:]
        return g1 + 2 * g2 * s

    @property
    def bend(self) -> float:
        """The density of s + iv is at most e^{bend v^2} times that of s."""
        return -self.density[2]

    def inverse(self, loss: Array) -> Array:
        """The s at which the loss of one factor, or of a symmetric pair of factors, has a given value, to some ulps."""
        first = self.factors[0]
        return first.inverse(loss) if len(self.factors) == 1 else symmetric_inverse(first, loss)

    @property
    def steepness(self) -> float:
        """A bound of the slope of the loss."""
        return float(sum(abs(factor.slope) for factor in self.factors))

    @property
    def slope_left(self) -> float:
        """A bound of the slope of the loss left of zero."""
        at = np.zeros(1)
        parts = (abs(one.slope) * (float(one.share(at, one.value(at))[0]) if one.rises else 1.0) for one in self.factors)
        return float(sum(parts))

    def within(self, left: float, right: float) -> tuple[float, float]:
        """About the ends of what counts under tilts that move a normal law by less than ``left`` or ``right``."""
        return max(self.start, -left), min(self.end, right)

    def tail_slopes(self, end: Array, outward: int) -> tuple[Array, Array]:
        """Bounds of the slopes outward from an end: of the absolute loss, and of the factors in the density."""
        of_loss, of_density = np.zeros(end.shape), np.zeros(end.shape)
        for factor in self.factors:
            # a decreasing factor gets flatter
            rises = factor.slope * outward > 0
            of_loss += abs(factor.slope) * (np.ones(end.shape) if rises else factor.share(end, factor.value(end)))
            of_density += factor.own * abs(factor.slope) * rises
        return of_loss, of_density


def symmetric_inverse(factor: Factor, loss: Array, correction: Array | float = 0.0) -> Array:
    """The s at which log w(s) - log w(-s) has a given value, from sinh(kappa s - l/2) = (1 - q)/q e^{-o} sinh(l/2).

    ``correction`` is added to the logarithm of the right-hand side, to allow for its errors.
    """
    half, q = np.abs(loss) / 2, factor.rate
    log_sinh = np.log1p(-q) - np.log(q) - factor.offset + half + np.log(-np.expm1(-2 * half) / 2 + 1e-300) + correction
    # arcsinh(A) exceeds log(2 A) by at most 1/(4 A^2), below every double there
    distance = np.where(log_sinh < 300, np.arcsinh(np.exp(np.minimum(log_sinh, 300.0))), log_sinh + np.log(2))
    return np.asarray(np.sign(loss) * (half + distance) / factor.slope)
