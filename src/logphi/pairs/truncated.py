"""Pairs of shifted and unshifted bounded noise."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.laws.densities.truncated import MixedTruncated, SplicedTruncated, TruncatedLoss
from logphi.laws.densities.truncated_noise import Noise
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class ShiftedNoise(Pair):
    """Noise on an interval, shifted by the sensitivity, against the noise itself."""

    noise: Noise

    def loss(self) -> LogPhi:
        """A loss that is bounded where it is finite, and infinite with some probability."""
        return LogPhi.of([(TruncatedLoss(self.noise), 1)])

    def reversed(self) -> ShiftedNoise:
        """The same pair: its loss is symmetric."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture, an integral."""
        return LogPhi.of([(MixedTruncated(self.noise, rate), 1)])

    def spliced_loss(self, rate: float) -> LogPhi:
        """The loss of the spliced pair, an integral over half of the support."""
        return LogPhi.of([(SplicedTruncated(self.noise, rate), 1)])
