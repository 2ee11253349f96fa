"""The log-ratio of two normal densities of different widths: a quadratic in a normal variable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Distance, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import Growth
from logphi.laws.normal.quadratic import Quadratic
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Values

# measured: for larger differences of widths, the logarithm of their ratio is sharper than its remainder after the linear term
_FAR = 0.5


@dataclass(frozen=True)
class NormalPair(LossTransform):
    """log(p/q) under P for P = N(m_p, s_p^2), Q = N(m_q, s_q^2) of different widths.

    With r = s_p/s_q, v = 1 - r^2, d = |m_p - m_q|/s_q and g(x) = x - log(1 + x),

        K(z) = -z log r - log(1 + z v)/2 + z (z + 1) d^2 / (2 (1 + z v)),     1 + z v > 0;

    where r is near one, the two logarithms are written as [z g(-v) + g(z v)]/2, as their linear terms cancel.
    """

    mean_p: float
    sigma_p: float
    mean_q: float
    sigma_q: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        shift = Distance(self.mean_p, self.mean_q, self.sigma_q).under(arith)
        curvature = self._curvature(arith)
        if abs(self.sigma_p / self.sigma_q - 1) < _FAR:
            logs = z * arith.log1p_gap(-curvature) + arith.log1p_gap(z * curvature)
        else:
            ratio = arith.constant(self.sigma_p) / arith.constant(self.sigma_q)
            logs = -2 * z * arith.log(ratio) - arith.log1p(z * curvature)
        return logs / 2 + z * (z + 1) * (shift * shift) / (2 * (1 + z * curvature))

    def _curvature(self, arith: Arithmetic) -> Number:
        p, q = arith.constant(self.sigma_p), arith.constant(self.sigma_q)
        return (q - p) / q * ((q + p) / q)

    @cached_property
    def quadratic(self) -> Quadratic:
        """The loss as a quadratic in the normal variable of Q."""
        p, q = FLOATS.constant(self.sigma_p), FLOATS.constant(self.sigma_q)
        curvature = self._curvature(FLOATS)
        near = abs(self.sigma_p / self.sigma_q - 1) < _FAR
        log_ratio = FLOATS.log1p(-curvature) / 2 if near else FLOATS.log(p / q)
        return Quadratic(Distance(self.mean_p, self.mean_q, self.sigma_q).under(FLOATS), p / q, curvature, log_ratio)

    @cached_property
    def strip(self) -> tuple[float, float]:
        """The z with 1 + z v > 0."""
        curvature = self.quadratic.curvature
        end = float(1 / (np.abs(curvature.mid) + curvature.rad)) * (1 - 8 * ULP)
        return (-np.inf, end) if curvature.mid < 0 else (min(-end, -1.0), np.inf)

    # 1 + z v has a positive real part on the strip, where the principal logarithm is continuous
    traits = Traits(continuous=True)

    @cached_property
    def support(self) -> Support:
        """The losses up to the vertex if P is narrower than Q, and from the vertex on if P is wider."""
        vertex = self.quadratic.vertex
        mid, rad = float(vertex.mid), float(vertex.rad)
        if self.quadratic.opens_upward:
            return Support(mid - rad, error=2 * rad, atomless=True)
        return Support(upper=mid + rad, error=2 * rad, atomless=True)

    @cached_property
    def growth(self) -> Growth:
        """Bounded on the side of the vertex; on the other side K is infinite outside of the strip, rounded outward."""
        curvature = self.quadratic.curvature
        room = float(np.abs(curvature.mid) - curvature.rad)
        end = (1 + 8 * ULP) / room if room > 0 else np.inf
        return Growth.on(self.support, (-np.inf, end) if curvature.mid < 0 else (-end, np.inf))

    @property
    def closed_form(self) -> ClosedForm:
        """Normal masses of an interval and of its outside."""
        return ClosedForm(self.excess, partial_masses=self.partial_masses, density=self.density)

    def excess(self, x: float) -> Scaled | None:
        """From normal masses of an interval or of its complement."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.laws.normal.normal_regions import excess

        return excess(self.quadratic, x)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Normal masses of an interval and of its complement."""
        from logphi.laws.normal.normal_regions import partial_masses

        return partial_masses(self.quadratic, x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """The normal density at the two roots, over the slope of the loss there."""
        from logphi.laws.normal.normal_regions import density

        return density(self.quadratic, x)

    def reflected(self) -> NormalPair:
        """The pair with P and Q exchanged."""
        return NormalPair(self.mean_q, self.sigma_q, self.mean_p, self.sigma_p)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K on the strip; infinite outside of it."""
        low, high = self.strip
        real = np.asarray(z).real
        inside = (real > low) & (real < high)
        values = super().log_transform(np.where(inside, z, 0), count)
        return Values(np.where(inside, values.mid, np.inf), np.where(inside, values.rounding, np.inf), values.inner)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """Exactly -log(1 + t^2 v^2/D^2)/4 - d^2 r^2 t^2 / (2 D (D^2 + t^2 v^2)), D = 1 + c v."""
        d, r, v = self.quadratic.shift, self.quadratic.ratio, self.quadratic.curvature
        least, most = (np.maximum(np.abs(v.mid) + sign * v.rad, 0.0) for sign in (-1, 1))
        base = 1 + abscissa * v.mid + np.abs(abscissa) * v.rad + 4 * ULP * (1 + np.abs(abscissa) * most)
        shift = np.maximum(d.mid - d.rad, 0.0) * (r.mid - r.rad)
        # relative to the base nothing overflows
        t = heights / base
        decay = np.log1p((t * least) ** 2) / 4 + shift**2 / (2 * base) * (t**2 / (1 + (t * most) ** 2))
        return -(1 - 1e-13) * np.asarray(decay)
