"""One of several pairs, by a public coin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logphi.laws.combined.convex_combination import ConvexCombination
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class ChosenPair(Pair):
    """Pair i with probability w_i, where the output shows i: the sum of w_i P_i against that of w_i Q_i on disjoint spaces.

    Mixing P with Q mixes every P_i with its Q_i, so that the loss of a sample is the convex combination of those of the pairs.
    """

    pairs: tuple[Pair, ...]
    weights: tuple[float, ...]

    def loss(self) -> LogPhi:
        """The convex combination of the losses."""
        return self._combined(lambda pair: pair.loss())

    def reversed(self) -> ChosenPair:
        """The choice among the reversed pairs."""
        return ChosenPair(tuple(pair.reversed() for pair in self.pairs), self.weights)

    def doubled(self) -> ChosenPair:
        """The choice among the doubled pairs."""
        return ChosenPair(tuple(pair.doubled() for pair in self.pairs), self.weights)

    def mixed_loss(self, rate: float) -> LogPhi:
        """The combination of the mixed losses, at the same rate."""
        return self._combined(lambda pair: pair.mixed_loss(rate))

    def spliced_loss(self, rate: float) -> LogPhi:
        """The combination of the spliced losses, as the profile of a spliced pair is linear in the pair."""
        return self._combined(lambda pair: pair.spliced_loss(rate))

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The combination of the grouped losses."""
        return self._combined(lambda pair: pair.grouped_loss(rate, size))

    def replaced_loss(self, rate: float) -> LogPhi:
        """The combination of the replaced losses."""
        return self._combined(lambda pair: pair.replaced_loss(rate))

    def _combined(self, loss_of: Callable[[Pair], LogPhi]) -> LogPhi:
        return ConvexCombination.of([loss_of(pair) for pair in self.pairs], self.weights)
