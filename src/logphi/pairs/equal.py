"""A law against itself: every loss is zero."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class Equal(Pair):
    """A law against itself: the loss is zero, and so is that of every sample."""

    def loss(self) -> LogPhi:
        """The empty sum."""
        return LogPhi()

    def reversed(self) -> Equal:
        """The same pair."""
        return self

    def doubled(self) -> Equal:
        """The same pair."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """The empty sum."""
        return LogPhi()

    def allocated_loss(self, batches: int) -> LogPhi:
        """The empty sum."""
        return LogPhi()

    def spliced_loss(self, rate: float) -> LogPhi:
        """The empty sum."""
        return LogPhi()

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The empty sum."""
        return LogPhi()

    def replaced_loss(self, rate: float) -> LogPhi:
        """The empty sum."""
        return LogPhi()


EQUAL = Equal()
