"""Pairs of mixtures of normal laws of one width."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from logphi.laws.densities.log_densities import NormalsLog
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixture_pair import MixturePair
from logphi.pairs.densities import DensityPair
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class NormalMixtures(Pair):
    """The sum of p_i N(v_i, s^2) against that of q_i N(v_i, s^2)."""

    law: MixturePair

    def loss(self) -> LogPhi:
        """The loss, an integral; the empty sum if both laws agree."""
        return LogPhi() if self.law.p == self.law.q else LogPhi.of([(self.law, 1)])

    def reversed(self) -> NormalMixtures:
        """The mixtures exchanged."""
        return NormalMixtures(replace(self.law, p=self.law.q, q=self.law.p))

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of another pair of mixtures."""
        return NormalMixtures(replace(self.law, rate=rate)).loss()

    def spliced_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        if self.law.p == self.law.q:
            return LogPhi()
        p, q = (self._components(weights) for weights in (self.law.p, self.law.q))
        return DensityPair.of_mixtures(p, q).spliced_loss(rate)

    def _components(self, weights: tuple[float, ...]) -> NormalsLog:
        """The normal laws of positive weight, in units of their width."""
        total = math.fsum(weights)
        kept = [(v / self.law.width, math.log(w / total)) for v, w in zip(self.law.values, weights, strict=True) if w > 0]
        means, logs = zip(*kept, strict=True)
        return NormalsLog(means, logs)
