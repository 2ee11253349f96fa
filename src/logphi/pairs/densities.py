"""Pairs of densities on the line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from logphi.laws.densities.density_ratio import Densities
from logphi.laws.densities.log_densities import LogDensity, MixtureLog, NormalLog, NormalsLog, SplicedLog
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal_pair import NormalPair
from logphi.pairs.pair import Pair

# measured: breakpoints at this spacing, in units of the width, find every part of a mixture
_APART = 4.0


@dataclass(frozen=True)
class NormalLaws(Pair):
    """N(m_p, s_p^2) against N(m_q, s_q^2), with different widths or equal in both parameters."""

    mean_p: float
    sigma_p: float
    mean_q: float
    sigma_q: float

    def loss(self) -> LogPhi:
        """A quadratic in a normal variable; the empty sum if both laws agree."""
        if self.sigma_p == self.sigma_q:
            return LogPhi()
        return LogPhi.of([(NormalPair(self.mean_p, self.sigma_p, self.mean_q, self.sigma_q), 1)])

    def reversed(self) -> NormalLaws:
        """The laws exchanged."""
        return NormalLaws(self.mean_q, self.sigma_q, self.mean_p, self.sigma_p)

    def mixed_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        return LogPhi() if self._equal else self._densities.mixed_loss(rate)

    def spliced_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        return LogPhi() if self._equal else self._densities.spliced_loss(rate)

    @property
    def _equal(self) -> bool:
        return (self.mean_p, self.sigma_p) == (self.mean_q, self.sigma_q)

    @property
    def _densities(self) -> DensityPair:
        p, q = NormalLog(self.mean_p, self.sigma_p), NormalLog(self.mean_q, self.sigma_q)
        return DensityPair(p, q, (-math.inf, math.inf))


@dataclass(frozen=True)
class DensityPair(Pair):
    """Two densities on an interval, given by their logarithms and the points where these are not smooth."""

    log_p: LogDensity
    log_q: LogDensity
    support: tuple[float, float]
    breakpoints: tuple[float, ...] = ()

    @staticmethod
    def of_mixtures(p: NormalsLog, q: NormalsLog) -> DensityPair:
        """Two mixtures of unit normal laws, with a breakpoint near every mean, so that no part is missed."""
        near = sorted({_APART * round(mean / _APART) for mean in p.means + q.means})
        return DensityPair(p, q, (-math.inf, math.inf), tuple(near))

    @property
    def law(self) -> Densities:
        """The law of the loss."""
        return Densities(self.log_p, self.log_q, self.support, self.breakpoints)

    def loss(self) -> LogPhi:
        """By quadrature."""
        return LogPhi.of([(self.law, 1)])

    def reversed(self) -> DensityPair:
        """The densities exchanged."""
        return DensityPair(self.log_q, self.log_p, self.support, self.breakpoints)

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture of both densities to the second."""
        return DensityPair(MixtureLog(self.log_p, self.log_q, rate), self.log_q, self.support, self.breakpoints).loss()

    def spliced_loss(self, rate: float) -> LogPhi:
        """The spliced densities, above and below a ratio of one; the rest of their masses is an atom at zero."""
        (_, infinite_mass), higher = self.law.totals()[0], self.law.excess(0.0)
        rest = (1 - rate) * (infinite_mass + math.exp(higher.log_scale) * higher.value)
        p, q = SplicedLog(self.log_p, self.log_q, rate), SplicedLog(self.log_q, self.log_p, rate)
        return LogPhi.of([(Densities(p, q, self.support, self.breakpoints, rest), 1)])
