"""Two laws that agree, so that every loss is zero."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@dataclass(frozen=True)
class Equal(Pair):
    """The same law twice: the loss is zero, and no sample leaks more."""

    def loss(self) -> LogPhi:
        """Nothing."""
        return LogPhi()

    def reversed(self) -> Equal:
        """The same."""
        return self

    def doubled(self) -> Equal:
        """The same."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """Nothing."""
        return LogPhi()

    def allocated_loss(self, batches: int) -> LogPhi:
        """Nothing."""
        return LogPhi()

    def spliced_loss(self, rate: float) -> LogPhi:
        """Nothing."""
        return LogPhi()

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """Nothing."""
        return LogPhi()

    def replaced_loss(self, rate: float) -> LogPhi:
        """Nothing."""
        return LogPhi()


EQUAL = Equal()
