"""Pairs of mixtures of normal laws of one width."""

from __future__ import annotations

from dataclasses import dataclass, replace

from logphi.core.logphi import LogPhi
from logphi.core.pair import Pair
from logphi.numerics.laws.mixture_pair import MixturePair


@dataclass(frozen=True)
class NormalMixtures(Pair):
    """The sum of p_i N(v_i, s^2) against that of q_i N(v_i, s^2)."""

    law: MixturePair

    def loss(self) -> LogPhi:
        """No closed form: an integral; nothing where both laws agree."""
        return LogPhi() if self.law.p == self.law.q else LogPhi.of([(self.law, 1)])

    def reversed(self) -> NormalMixtures:
        """The mixtures exchanged."""
        return NormalMixtures(replace(self.law, p=self.law.q, q=self.law.p))

    def mixed_loss(self, rate: float) -> LogPhi:
        """A pair of mixtures again."""
        return NormalMixtures(replace(self.law, rate=rate)).loss()
