"""Laws of which only values of the transform are known: all errors are estimates."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array, Complex
from logphi.laws.support import WHOLE_LINE, LogMasses, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# chosen: a mass this close to one counts as one
_WHOLE = 1e-12
# chosen: the distance between two samples, times the standard deviation
_SPACING = 0.05
# derived: what a peak between two samples may add to log |M|, (0.025 r)^2 / 2 for losses within r = 10 standard deviations
_BETWEEN = 0.032


class Estimated(LossTransform):
    """A law whose K is a function of complex arrays. All errors are estimates."""

    @abstractmethod
    def evaluated(self, z: Complex) -> tuple[Complex, Array]:
        """K at points of the strip, with an estimate of its error; not finite where K is unknown."""

    def estimate(self, z: Complex) -> Complex:
        """K alone."""
        return self.evaluated(z)[0]

    traits = Traits(estimated=True)

    def asymmetry(self, z: Complex) -> Complex:
        """K(z) minus the conjugate of K at the conjugate of z, modulo 2 pi i: zero for a real loss."""
        difference = self.estimate(z) - self.estimate(z.conj()).conj()
        return np.asarray(difference - 2j * np.pi * np.round(difference.imag / (2 * np.pi)))

    @property
    def samples(self) -> int:
        """The number of values of K that determine its decay along a line: 20 per standard deviation."""
        return 4000

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K; infinite outside the strip."""
        z = np.asarray(z)
        low, high = self.strip
        inside = (z.real > low) & (z.real < high)
        mid, radius = self.evaluated(np.where(inside, z, _middle(low, high)).ravel().astype(complex))
        known = inside & np.isfinite(mid).reshape(z.shape) & np.isfinite(radius).reshape(z.shape)
        mid = np.where(known, mid.reshape(z.shape), np.inf)
        return Values(
            mid if np.iscomplexobj(z) else mid.real,
            np.where(known, radius.reshape(z.shape), np.inf),
            np.where(known, radius.reshape(z.shape), 0.0),
        )

    @cached_property
    def support(self) -> Support:
        """The whole line; a mass counts as one if K(0) or K(-1) is zero within rounding."""
        mid, radius = self.evaluated(np.array([0j, -1 + 0j]))
        if (np.abs(mid) < _WHOLE).all():
            return WHOLE_LINE
        ends = np.where(np.abs(mid) < _WHOLE, 0.0, np.minimum(mid.real, 0.0))
        return Support(masses=LogMasses(*(Values(ends[k : k + 1], radius[k : k + 1], np.zeros(1)) for k in (0, 1))))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """An estimate: sampled; the largest value further up, and constant after the last sample."""
        tabulated, sampled = _decay(self, abscissa)
        return np.asarray(sampled[np.searchsorted(tabulated, heights, side="right") - 1])


def _middle(low: float, high: float) -> float:
    """An abscissa inside a strip."""
    return -0.5 if low < -0.5 < high else low + min(1.0, (high - low) / 2) if np.isfinite(low) else high - 1.0


@lru_cache(maxsize=32)
def _decay(law: Estimated, abscissa: float) -> tuple[Array, Array]:
    """Heights from zero on, and the largest Re K(c + it) - K(c) from each of them on."""
    low, high = law.strip
    step = min(1e-3 * (1 + abs(abscissa)), (abscissa - low) / 4, (high - abscissa) / 4)
    near = law.estimate(np.asarray(abscissa + step * np.array([-1.0, 0.0, 1.0]), complex)).real
    spread = np.sqrt(max(float(near[0] + near[2] - 2 * near[1]) / step**2, 1e-300))
    heights = _SPACING / spread * np.arange(law.samples)
    values = law.estimate(np.asarray(abscissa + 1j * heights, complex)).real - near[1]
    values = np.where(np.isfinite(values), np.minimum(values + _BETWEEN, 0.0), 0.0)
    # above the last sample, the largest value of the upper half
    values[law.samples // 2 :] = values[law.samples // 2 :].max()
    return heights, np.maximum.accumulate(values[::-1])[::-1]


def slopes_apart(left: Complex, mid: Complex, right: Complex) -> Array:
    """The size of second differences modulo 2 pi i, which over a small step show the noise of a smooth function."""
    difference = left + right - 2 * mid
    return np.abs(difference - 2j * np.pi * np.round(difference.imag / (2 * np.pi)))
