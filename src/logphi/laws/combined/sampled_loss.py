"""The loss of a mixture of two measures, from the transform of their log-ratio.

notation: L the loss of (P, Q); the law is that of log b, b = 1 - q + q e^L, under (1 - q) Q + q P.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arrays import Array
from logphi.laws.combined.sampled_envelope import Envelope
from logphi.laws.curves import log_mixture
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import PROBABILITIES, LogMasses, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.mellin_barnes.transform import MixedMoments, Moments
from logphi.quadrature.values import Line, Values, log_one_plus


class NotAnsweredError(ValueError):
    """A question to a law that has values but no formula; the message names a question that it answers."""


@dataclass(frozen=True)
class SampledLoss(LossTransform):
    """The law of log(1 - q + q e^L) under (1 - q) Q + q P, for the loss L of any pair (P, Q): K(z) = log E_Q[b^{z+1}].

    The transform is an integral over that of the base (:mod:`logphi.quadrature.mellin_barnes.transform`). One such law has the
    excess q D(log(1 + (e^x - 1)/q)), D that of the base ([LT] Theorem 5.1).

    Mixing never raises a profile, so that K is at most the larger of zero and the K of the base, and the pair is mu-GDP if the
    base is. The loss is at least log(1 - q).
    """

    base: LossTransform
    rate: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> NoReturn:
        """Not known.

        Raises
        ------
        NotAnsweredError
            Always.
        """
        raise NotAnsweredError(
            "one sample of several releases, or of one known by its log-phi only, has no formula of its log-phi: only "
            "Gaussians or small finite mechanisms on one sample have one; numbers are known, as m.log_phi(0.5)"
        )

    @cached_property
    def _mixing(self) -> MixedMoments:
        return MixedMoments(self.base, *self._rate)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points, those with one real part together."""
        z = np.asarray(z)
        points, found = z.ravel(), Values.unknown(z.size)
        mid, rounding, inner = found.mid.astype(z.dtype if np.iscomplexobj(z) else float), found.rounding, found.inner
        for a in np.unique(points.real):
            chosen = np.flatnonzero(points.real == a)
            heights, back = np.unique(np.abs(points[chosen].imag), return_inverse=True)
            values = _values(self._mixing.at(float(a), heights, count))
            at = values.mid[back.ravel()]
            at = np.where(points[chosen].imag < 0, at.conj(), at) if np.iscomplexobj(z) else at.real
            mid[chosen], rounding[chosen], inner[chosen] = at, values.rounding[back.ravel()], values.inner[back.ravel()]
        return Values(mid.reshape(z.shape), rounding.reshape(z.shape), inner.reshape(z.shape))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, at all nodes together."""
        return _values(self._mixing.at(line.abscissa, line.heights, count, line.step))

    @property
    def approximate(self) -> Approximation:
        """K at real points, from residues."""
        return Approximation(self._in_strip)

    def _in_strip(self, c: Array) -> Array:
        low, high = self.strip
        inside = (c > low) & (c < high)
        found = np.full(np.shape(c), np.inf)
        found[inside] = self._mixing.approximate(np.asarray(c, dtype=float)[inside])
        return found

    @property
    def strip(self) -> tuple[float, float]:
        """Right: the strip of the base; left: no end, as the loss is bounded below."""
        return (-math.inf, self.base.strip[1])

    @cached_property
    def support(self) -> Support:
        """From the ends of the base; the map has slopes up to one, so that errors do not grow."""
        base = self.base.support
        tilted = base.masses.tilted
        whole = float(tilted.mid[0]) == 0 == float(tilted.radius[0])
        # where only Q has mass the loss is log(1 - q)
        ends = [log_mixture.value(end, *self._rate) for end in (base.lower if whole else -math.inf, base.upper)]
        room = max((high - low for low, high in ends if math.isfinite(low)), default=0.0)
        return Support(ends[0][0], ends[1][1], base.error + room, base.atomless and whole, masses=self._masses)

    @property
    def growth(self) -> Growth:
        """Right: the larger of zero and the growth of the base; left: from the lower end of the support."""
        base = self.base.growth
        right = replace(base.right, offset=max(base.right.offset, 0.0))
        left = OneSided.bounded(-self.support.lower)
        return Growth(right, left, base.shift)

    @property
    def traits(self) -> Traits:
        """Estimated if the base is; not known to be symmetric or continuous."""
        return Traits(estimated=self.base.traits.estimated)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The sampled base law."""
        return visitor.sampled(self.base, self.rate)

    @property
    def _masses(self) -> LogMasses:
        """log(1 - q P(L = inf)), and zero: where only Q has mass the loss is log(1 - q), which is finite."""
        masses = self.base.support.masses
        if masses.certain:
            return PROBABILITIES
        q, rate_error = self._rate
        at_zero = masses.own
        # log(1 - q + q M): its slope in log M is at most one
        value = np.log1p(q * np.expm1(at_zero.mid.real))
        radius = at_zero.radius + 4 * ULP * np.abs(value) + rate_error * -np.expm1(at_zero.mid.real) / np.exp(value)
        return LogMasses(Values(value, radius, np.zeros(1)))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From values of K on blocks and, high up, from the normal component of the base; zero without one."""
        return self._envelope.at(abscissa, heights)

    def has_envelope(self, abscissa: float) -> bool:
        """Whether the decay along a line is known, far quicker than the envelope."""
        return self._envelope.is_known(abscissa)

    @cached_property
    def _envelope(self) -> Envelope:
        return Envelope(self.base, self._mixing)

    @property
    def _rate(self) -> tuple[float, float]:
        disc = self.rate.under(FLOATS)
        return float(disc.mid), float(disc.rad)


def _values(found: Moments) -> Values:
    """K from the moments less one."""
    known = np.isfinite(found.rounding) & np.isfinite(found.inner)
    total = np.where(known, found.excess + (math.expm1(-found.scale) if found.scale else 0.0), 0.0)
    rounding, inner = np.where(known, found.rounding, 0.0), np.where(known, found.inner, 0.0)
    rounding = rounding + (2 * ULP if found.scale else 0.0)
    return log_one_plus(total, rounding, inner, np.full(total.shape, found.scale), known)
