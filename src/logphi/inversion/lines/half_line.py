"""Probabilities of half-lines, and densities: the contour with other payoffs.

notation: mu a law with transform M = e^K. For an abscissa c > p inside the strip

    (1/2 pi i) * integral over Re z = c of  e^{K(z) - zx} / (z - p) dz  =  E[e^{p (X - x)}; X > x],     p = 0 or -1:

the mass above x, and that of the measure e^{x-X} mu(dX). Without the denominator it is the density at x. All trapezoidal
sums err to the large side, as in :mod:`logphi.inversion.lines.contour`: their Poisson sums have positive terms only.

These factors are not integrable along the line. So the answer is averaged over thresholds within a width w far below the
spacing of doubles: once for the steps, twice for the density. That divides the factor by wt/2 or its square far up the line,
and changes nothing elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.demand import Demand
from logphi.inversion.lines.kernels import Kernel
from logphi.inversion.lines.lattice import PeriodicStep, at_or_above, reserve_at
from logphi.inversion.lines.line_sum import Contour, plan
from logphi.inversion.lines.saddle import Interval, saddle
from logphi.inversion.lines.truncation import log_integral
from logphi.laws.support import Lattice
from logphi.laws.transform import LossTransform

# derived: w for steps, in nats; the bound of the tail depends on its logarithm only
_WIDTH = 1e-250
# derived: w for densities, over their spread: 1e-4 ulps
_SHARE = 1e-20
# derived: products of larger thresholds with abscissas overflow
_FARTHEST = 1e200


@dataclass(frozen=True)
class Step:
    """1 / (z - p): the payoff e^{p (X - anchor)} above the anchor."""

    anchor: float
    pole: float
    period: float = np.inf
    farthest: float = np.inf

    @property
    def poles(self) -> tuple[float, ...]:
        """P."""
        return (self.pole,)

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor."""
        factor = 1 / (z - self.pole)
        return factor, ELEMENTARY * np.abs(factor)

    def log_real(self, c: Array) -> Array:
        """-log (c - p)."""
        return np.asarray(-np.log(np.maximum(np.abs(c - self.pole), 1e-300)))

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """-log |z - p|."""
        return np.asarray(-np.log(np.hypot(heights, abscissa - self.pole))) + 1e-14

    def log_rest(self, height: float, abscissa: float) -> float:
        """The integral of 1/t up to 2/w, and of 2/(w t^2) above."""
        return math.log(max(math.log(2 / _WIDTH) - math.log(height), 0.0) + 1) + 1e-14

    def log_chernoff(self, u: Array) -> Array:
        """The constant for a payoff of at most e^{u (X - y)}."""
        return np.zeros_like(u)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """The change of the factor by averaging over thresholds."""
        return _WIDTH * share * float((np.abs(factor) * np.abs(z)).sum())


@dataclass(frozen=True)
class Density:
    """The factor 1, for the density of one law. It has no pole; ``poles`` is where the line of the reflected law begins."""

    anchor: float
    law: LossTransform
    width: float
    period: float = np.inf
    farthest: float = np.inf
    poles: tuple[float, ...] = (-1.0,)

    @staticmethod
    def at(law: LossTransform, x: float) -> Density:
        """The kernel for a threshold."""
        return Density(x, law, _SHARE * spread(law))

    def __call__(self, z: NDArray[np.complex128]) -> tuple[NDArray[np.complex128], Array]:
        """The factor."""
        return np.ones_like(z), np.zeros(z.shape)

    def log_real(self, c: Array) -> Array:
        """Zero."""
        return np.zeros_like(c)

    def log_size(self, heights: Array, abscissa: float) -> Array:
        """Zero."""
        return np.zeros_like(heights)

    def log_rest(self, height: float, abscissa: float) -> float:
        """The integral of 1 up to 2/w, and of 4/(w t)^2 above."""
        return math.log(4 / self.width)

    def log_chernoff(self, u: Array) -> Array:
        """The density at y is at most e^{-uy} M(u) times the integral of the envelope on that line, over pi."""
        spread = self.width / _SHARE
        return np.array([log_integral(self.law, float(one), self, spread**2) for one in u.ravel()]).reshape(u.shape)

    def position_error(self, z: NDArray[np.complex128], factor: NDArray[np.complex128], share: float) -> float:
        """The change of the factor at the nodes by averaging over thresholds."""
        return 2 * self.width * share * float(np.abs(z).sum())


@dataclass(frozen=True)
class Half:
    """A contour for the mass on one side of one threshold; its bounds hold at every threshold."""

    above: bool
    contour: Contour
    lattice: Lattice | None

    def at(self, x: float) -> Scaled:
        """P(X > x) or P(X <= x); on a lattice P(X >= x) or P(X < x), x being no lattice point itself."""
        if self.above:
            kernel = _step(x, 0.0, self.lattice)
            return self.contour.integral(kernel.anchor, kernel)
        # the law of -X under e^{-X} mu(dX), and the payoff e^{-(-X)}
        reflected = None if self.lattice is None else self.lattice.reflected()
        kernel = _step(-x, -1.0, reflected)
        return self.contour.integral(kernel.anchor, kernel).times_exp(-kernel.anchor)


def prepare(law: LossTransform, x: float, demand: Demand, lattice: Lattice | None = None) -> Half | None:
    """Lay out a contour for the smaller of the masses above and below x, from which the other follows without cancellation.

    On a lattice thresholds must keep a distance of :func:`logphi.inversion.lines.lattice.reserve_at` from its points. None if
    no abscissa was found at which the transform is known, or if it does not decay enough.
    """
    sides = (law, x, 0.0, lattice), (law.reflected(), -x, -1.0, None if lattice is None else lattice.reflected())
    kernels = [_step(own_x, pole, own) for _, own_x, pole, own in sides]
    found = [saddle(one, kernel, Interval(pole, math.inf)) for (one, _, pole, _), kernel in zip(sides, kernels, strict=True)]
    # approximate Chernoff bounds
    sizes = [
        one.value + math.log(max(one.abscissa - kernel.poles[0], 1e-300)) for one, kernel in zip(found, kernels, strict=True)
    ]
    sizes[1] -= kernels[1].anchor
    best = 0 if sizes[0] <= sizes[1] else 1
    if not math.isfinite(sizes[best]):
        return None
    contour = plan(sides[best][0], found[best].abscissa, kernels[best], demand.rtol, decaying=lattice is None)
    return None if contour is None else Half(best == 0, contour, lattice)


def density(law: LossTransform, x: float, rtol: float) -> Scaled | None:
    """The density at x; None if the transform does not decay fast enough, or is unknown, or x is out of reach."""
    if abs(x) > _FARTHEST:
        return None
    low, high = law.approximate(np.array([-0.75, -0.25])).tolist()
    reflected = x < 2 * (high - low)
    # the density at x is e^x times that of the reflected law at -x
    own, own_x = (law.reflected(), -x) if reflected else (law, x)
    kernel = Density.at(own, own_x)
    found = saddle(own, kernel, Interval(kernel.poles[0], math.inf))
    contour = plan(own, found.abscissa, kernel, rtol, decaying=True) if math.isfinite(found.value) else None
    if contour is None:
        return None
    amount = contour.integral(own_x, kernel)
    return amount.times_exp(x) if reflected else amount


def _step(x: float, pole: float, lattice: Lattice | None) -> Kernel:
    if lattice is None:
        return Step(x, pole)
    return PeriodicStep(at_or_above(lattice, x), lattice.span, reserve_at(lattice, x), pole)


def centre(law: LossTransform) -> float:
    """An estimate of the mean of the law tilted by e^{-X/2}."""
    low, high = law.approximate(np.array([-0.75, -0.25])).tolist()
    return 2 * (high - low) if math.isfinite(high - low) else 0.0


def spread(law: LossTransform) -> float:
    """An estimate of the standard deviation of the law tilted by e^{-X/2}."""
    low, middle, high = law.approximate(np.array([-0.75, -0.5, -0.25])).tolist()
    variance = (low + high - 2 * middle) * 16
    return math.sqrt(variance) if 0 < variance < math.inf else 1.0
