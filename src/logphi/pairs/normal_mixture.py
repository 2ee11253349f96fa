"""Pairs of a mixture of normal laws of one width and a normal law."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Parameter, Plain
from logphi.laws.densities.log_densities import NormalsLog
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.weights import SampledWeights, Weights
from logphi.pairs.densities import DensityPair
from logphi.pairs.normal import NormalShift
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class NormalMixture(Pair):
    """The sum of p_i N(c_i, 1) against N(0, 1); the shifts are distinct and increasing, ``None`` stands for zero."""

    shifts: tuple[Parameter | None, ...]
    weights: Weights

    @staticmethod
    def of(shifts: tuple[Parameter | None, ...], weights: Weights) -> Pair:
        """The mixture, or a single shift if there is only one component."""
        if len(shifts) == 1 and shifts[0] is not None:
            return NormalShift(shifts[0])
        return NormalMixture(shifts, weights)

    def loss(self) -> LogPhi:
        """The loss, an integral."""
        first, *others = self.shifts
        rate = self.weights.second
        if first is None and rate is not None and others[0] is not None:
            return LogPhi.of([(MixedNormal(others[0], rate), 1)])
        return LogPhi.of([(MixtureOfShifts(tuple(shift or Plain(0.0) for shift in self.shifts), self.weights), 1)])

    def reversed(self) -> NormalAgainstMixture:
        """The laws exchanged."""
        return NormalAgainstMixture(self)

    def spliced_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        return self.densities.spliced_loss(rate)

    @property
    def densities(self) -> DensityPair:
        """The same two laws, by their densities."""
        means = tuple(float(shift.under(FLOATS).mid) if shift else 0.0 for shift in self.shifts)
        p = NormalsLog(means, tuple(weight.log for weight in self.weights.table()))
        return DensityPair.of_mixtures(p, NormalsLog((0.0,), (0.0,)))

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of a mixture with more weight at zero."""
        alone = self.shifts[0] is not None
        shifts = (None, *self.shifts) if alone else self.shifts
        return NormalMixture(shifts, SampledWeights(self.weights, rate, alone)).loss()


@dataclass(frozen=True)
class NormalAgainstMixture(Pair):
    """N(0, 1) against the sum of p_i N(c_i, 1)."""

    mixture: NormalMixture

    def loss(self) -> LogPhi:
        """The reflected loss of the mixture."""
        return self.mixture.loss().reflected()

    def reversed(self) -> NormalMixture:
        """The pair with the mixture first."""
        return self.mixture

    def mixed_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates: both laws are mixtures."""
        return self.mixture.densities.reversed().mixed_loss(rate)

    def spliced_loss(self, rate: float) -> LogPhi:
        """The reflected spliced loss of the mixture."""
        return self.mixture.spliced_loss(rate).reflected()
