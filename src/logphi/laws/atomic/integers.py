"""Log-ratios of a normal law on the integers, or of its part between two ends, to the same law, shifted.

notation: weights e^{-x^2 / (2 sigma^2)}, shifted by s; Theta(a) = sum over x of e^{-(x - a)^2 / (2 sigma^2)} has period 1, and
by Poisson summation is sigma (2 pi)^{1/2} theta(a), theta(a) = 1 + 2 sum over k > 0 of Q^{k^2} cos(2 pi k a),
Q = e^{-2 pi^2 sigma^2}. Completing the square, M(z) = e^{z (z + 1) s^2 / (2 sigma^2)} Theta((1 + z) s) / Theta(0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.laws.atomic.symmetric_lattice import SymmetricLattice
from logphi.laws.block_envelope import MARGIN
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import Lattice, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.values import Values

# derived: from this sigma on Q < 3e-9, and the remainder after three terms of theta is below 1e-100 within half a period
_SMOOTH = 1.0
# chosen: the number of points that are computed at a time, which bounds the memory
_ROWS = 1 << 13


def _span(sigma: float, shift: int, arith: Arithmetic) -> Number:
    """The span s / sigma^2."""
    own = arith.constant(sigma)
    return shift / (own * own)


def _log_wrapped(sigma: float, heights: Array) -> Array:
    """A bound of log |M(c + it)| / M(c), v = t s / sigma: a wrapped normal density over that at 0, falling to v = pi sigma."""
    turns = np.arange(-2, 3) * 2 * np.pi * sigma
    v = np.minimum(heights, np.pi * sigma)[:, None]
    log_sum = np.log(np.exp(-((v - turns) ** 2) / 2 + v**2 / 2).sum(axis=1)) - v[:, 0] ** 2 / 2
    bound: Array = np.minimum(log_sum - np.log1p(-2.1 * np.exp(-2 * np.pi**2 * sigma**2)) + 1e-9, 0.0)
    return bound


@dataclass(frozen=True)
class NormalOnIntegers(LossTransform):
    """The law on all integers: K(z) = z (z + 1) s^2 / (2 sigma^2) + log( Theta((1 + z) s) / Theta(0) )."""

    sigma: float
    shift: int

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        sigma, s = arith.constant(self.sigma), self.shift
        variance = sigma * sigma
        rest = arith.log_normal_sum(variance, (1 + z) * s) - arith.log_normal_sum(variance, 0 * z)
        return z * (z + 1) * s * s / (2 * variance) + rest

    # Theta is even and has period 1
    traits = Traits(symmetric=True)

    @property
    def growth(self) -> Growth:
        """The growth of a normal law: Theta is largest at zero, and equal there at all integers."""
        return Growth.both(OneSided.normal((self.shift / self.sigma) ** 2, 4 * ULP))

    def span_under(self, arith: Arithmetic) -> Number:
        """The distance s / sigma^2 of neighbouring atoms."""
        return _span(self.sigma, self.shift, arith)

    @cached_property
    def span(self) -> float:
        """The distance of neighbouring atoms as a double."""
        return float(self.span_under(FLOATS).mid)

    @cached_property
    def support(self) -> Support:
        """The atoms (x - s/2) s / sigma^2 of whole x."""
        return Support(lattice=Lattice(-self.shift / 2 * self.span, self.span, scale_error=4 * ULP))

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The normal law on the integers."""
        return visitor.normal_on_integers(self.sigma, self.shift)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K, by the dual series for wide laws and by the direct sum for narrow ones."""
        z = np.asarray(z)
        points = z.ravel()
        parts = [points[i : i + _ROWS] for i in range(0, points.size, _ROWS)]
        with np.errstate(over="ignore", invalid="ignore"):  # overflow: the radius below marks the value as unknown
            found = [self._wide(part) if self.sigma >= _SMOOTH else self._narrow(part) for part in parts]
        mid = np.concatenate([np.asarray(one.mid) for one in found]).reshape(z.shape)
        rad = np.concatenate([np.broadcast_to(one.rad, one.mid.shape) for one in found]).reshape(z.shape)
        known = np.isfinite(mid) & np.isfinite(rad)
        return Values(np.where(known, mid, np.inf), np.where(known, rad, np.inf), np.zeros(z.shape))

    def _wide(self, z: NDArray[Any]) -> Discs:
        sigma, s = self.sigma, self.shift
        # the square of sigma has an error of two half ulps, and three roundings follow
        half = Discs(np.float64(s * self.span / 2), np.float64(4 * ULP * s * self.span / 2))  # type: ignore[arg-type]
        own, half_turns, moved = z, 0.0 * z.real, np.zeros(z.shape)
        if np.iscomplexobj(z):
            # M(z + i P) = (-1)^s M(z) with P = 2 pi sigma^2 / s
            period = 2 * np.pi / self.span
            turns = np.rint(z.imag / period)
            own = z.real + 1j * (z.imag - turns * period)
            half_turns, moved = np.mod(turns * (s % 2), 2.0), 16 * ULP * np.abs(turns) * period
        disc = Discs(own, moved)
        square = disc * (disc + 1) * half
        k = np.arange(1, 4)
        argument = 2 * np.pi * s * own[:, None] * k
        log_weight = -2 * np.pi**2 * sigma**2 * k**2
        lift = np.abs(argument.imag) if np.iscomplexobj(own) else np.zeros(argument.shape)
        # cos is the sum of two exponentials that include the weight, so that nothing overflows
        if np.iscomplexobj(own):
            terms = np.exp(log_weight + 1j * argument) + np.exp(log_weight - 1j * argument)
        else:
            terms = 2 * np.exp(log_weight) * np.cos(argument)
        sizes = 2 * np.exp(log_weight + lift)
        relative = (
            8 * ULP * np.abs(argument) + 8 * ULP * np.abs(log_weight) + 2 * np.pi * s * k * moved[:, None] + 4 * ELEMENTARY
        )
        wrong = (sizes * np.expm1(np.minimum(relative, 700.0))).sum(axis=-1) + 8 * ULP * sizes.sum(axis=-1) + 1e-100
        theta = FLOATS.log1p(Discs(terms.sum(axis=-1), wrong))
        at_zero = 2 * np.exp(log_weight)
        wrong_zero = (at_zero * (8 * ULP * np.abs(log_weight) + 2 * ELEMENTARY)).sum() + 1e-100
        result = square + theta - FLOATS.log1p(Discs(np.asarray(at_zero.sum()), np.asarray(wrong_zero)))
        return Discs(result.mid + 1j * np.pi * half_turns, result.rad + 8 * ULP * half_turns) if np.iscomplexobj(z) else result

    def _narrow(self, z: NDArray[Any]) -> Discs:
        variance, s = self.sigma**2, self.shift
        c, t = z.real, (z.imag if np.iscomplexobj(z) else np.zeros(z.shape))
        a = (1 + c) * s
        rounding = 4 * ULP * (np.abs(a) + s)
        # derived: the omitted terms sum to less than 1e-19 of the nearest one
        half_range = int(np.ceil(9.5 * self.sigma + 2))
        x = np.rint(a)[:, None] + np.arange(-half_range, half_range + 1)
        away = x - a[:, None]
        exponent = -(away**2) / (2 * variance)
        top = exponent.max(axis=-1)
        sizes = np.exp(exponent - top[:, None])
        turn = (t * s / variance)[:, None] * away
        total = (sizes * np.exp(1j * turn)).sum(axis=-1) if np.iscomplexobj(z) else sizes.sum(axis=-1)
        moved = rounding[:, None] * (np.abs(away) + rounding[:, None] + np.abs(t * s)[:, None]) / variance
        relative = moved + 8 * ULP * (np.abs(exponent) + np.abs(turn) + np.abs(top)[:, None]) + 4 * ELEMENTARY + 64 * ULP
        wrong = (sizes * np.expm1(np.minimum(relative, 700.0))).sum(axis=-1) * (1 + 1e-9) + 1e-18 * sizes.sum(axis=-1)
        log_total = FLOATS.log(Discs(total, wrong))
        at_zero = np.exp(-(np.arange(-half_range, half_range + 1.0) ** 2) / (2 * variance)).sum()
        half = s * self.span / 2
        real = half * c * (c + 1) + top - np.log(at_zero)
        phase = half * t * (2 * c + 1)
        rad = 12 * ULP * (half * np.abs(c) * (np.abs(c) + 1) + half * np.abs(t) * (2 * np.abs(c) + 1) + np.abs(top) + 8)
        mid = log_total.mid + real + (1j * phase if np.iscomplexobj(z) else 0)
        return Discs(mid, log_total.rad + rad + 2 * ELEMENTARY * (1 + np.abs(mid)))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The envelope of a wrapped normal law up to half a period; zero above."""
        if self.sigma < _SMOOTH or end * self.span > np.pi * (1 + 1e-9):
            return np.zeros_like(heights)
        return _log_wrapped(self.sigma, heights * (self.shift / self.sigma) * (1 - 1e-12))

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The envelope at the least distance of the block from a multiple of the period."""
        if self.sigma < _SMOOTH:
            return np.zeros_like(centres)
        scale, period = self.shift / self.sigma, 2 * np.pi * self.sigma
        distance = np.abs(np.remainder(centres * scale + period / 2, period) - period / 2)
        # a distance errs by the rounding of the height, of its scale and of the multiples of the period
        nearest = distance - radius * scale * (1 + MARGIN) - 16 * ULP * (centres * scale + period)
        return _log_wrapped(self.sigma, np.maximum(nearest, 0.0))


@dataclass(frozen=True)
class TruncatedNormalOnIntegers(SymmetricLattice):
    """Between the ends -T and T: atoms (x - s/2) s / sigma^2 for x = s - T .. T, and the mass of T - s < x <= T at infinity."""

    sigma: float
    shift: int
    most: int

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        twice = 2 * arith.constant(self.sigma) * arith.constant(self.sigma)
        s, whole = self.shift, range(-self.most, self.most + 1)
        # (1 + z)(x - s)^2 - z x^2
        tilted = (arith.exp(-((x - s) ** 2 - z * (2 * x * s - s * s)) / twice) for x in range(s - self.most, self.most + 1))
        return arith.log(reduce(add, tilted)) - arith.log(reduce(add, (arith.exp(-(x * x) / twice) for x in whole)))

    @property
    def steps(self) -> int:
        """2 T - s."""
        return 2 * self.most - self.shift

    def span_under(self, arith: Arithmetic) -> Number:
        """The distance s / sigma^2 of neighbouring atoms."""
        return _span(self.sigma, self.shift, arith)

    @cached_property
    def _whole(self) -> tuple[float, float]:
        """The logarithm of the sum of all weights, and the share of those that the shifted law does not have."""
        weights = np.exp(-((np.arange(-self.most, self.most + 1.0) / self.sigma) ** 2) / 2)
        return float(np.log(weights.sum())), float(weights[2 * self.most + 1 - self.shift :].sum() / weights.sum())

    @property
    def infinite_mass(self) -> float:
        """The infinite mass; less than one."""
        return self._whole[1]

    @property
    def log_mass(self) -> Values:
        """From the infinite mass."""
        infinite_mass = self.infinite_mass
        relative = 8 * ULP * ((self.most / self.sigma) ** 2 / 2 + 32)
        wrong = (infinite_mass * relative + 1e-323 * (self.shift + 4)) / (1 - infinite_mass)
        value = np.array([np.log1p(-infinite_mass)])
        return Values(value, wrong + 8e-16 * np.abs(value), np.zeros(1))

    def log_weights_at(self, distances: Array) -> tuple[Array, Array]:
        """-(k^2 + s^2/4) / (2 sigma^2), less the logarithm of the sum of all weights."""
        square = (distances**2 + self.shift**2 / 4) / (2 * self.sigma**2)
        # in the sum of all weights, exponents have relative errors of a few ulps, and are below one on average
        return -square - self._whole[0], 8 * ULP * square + 4 * ELEMENTARY + 64 * ULP + ULP * abs(self._whole[0])

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From the unbounded law, less its tails, relative to the mass between the ends."""
        bound = super().log_envelope(abscissa, heights, end)
        size, sigma, centre = self.span[0], self.sigma, (1 + abscissa) * self.shift
        ends = np.array([self.most + 1 - centre, centre - (self.shift - self.most) + 1])
        if sigma < _SMOOTH or end * size > np.pi * (1 + 1e-9) or ends.min() <= 1e-6 * sigma**2:
            return bound
        tails = np.exp(-(ends**2) / (2 * sigma**2)) / -np.expm1(-ends / sigma**2)
        share = float(tails.sum()) / (sigma * np.sqrt(2 * np.pi)) * (1 + 1e-6)
        if share >= 0.5:
            return bound
        whole = _log_wrapped(sigma, heights * (self.shift / sigma) * (1 - 1e-12))
        own: Array = np.log(np.exp(whole) + share + 1e-300) - np.log1p(-share) + 1e-12
        return np.minimum(np.minimum(own, bound), 0.0)
