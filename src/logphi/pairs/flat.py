"""Pairs whose loss is uniform after tilting by e^{-x/2}."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Parameter
from logphi.laws.flat_pair import FlatPair
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.uniform import Uniform, UniformWithAtoms
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from logphi.pairs.pair import Pair, UnsupportedError

# derived: limits within which e^{loss} times a rate, and products of both, are normal doubles
LEAST_WIDTH, LARGEST_WIDTH = 1e-50, 600.0


@dataclass(frozen=True)
class TiltedFlat(Pair):
    """A loss that is uniform on [-w, w] after tilting by e^{-x/2}, with or without atoms at the ends.

    With probability ``failure`` the loss is infinite.
    """

    width: Parameter
    with_atoms: bool
    failure: float = 0.0

    def loss(self) -> LogPhi:
        """The loss, in closed form."""
        failing = [(ZeroOrInfinite(self.failure), 1)] if self.failure else []
        return LogPhi.of([((UniformWithAtoms if self.with_atoms else Uniform)(self.width), 1), *failing])

    def reversed(self) -> TiltedFlat:
        """The same pair: its loss is symmetric."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture, an integral."""
        return LogPhi.of([(MixedFlat(self._base(), rate), 1)])

    def spliced_loss(self, rate: float) -> LogPhi:
        """The loss of the spliced pair, an integral."""
        return LogPhi.of([(SplicedFlat(self._base(), rate), 1)])

    def _base(self) -> FlatPair:
        size = float(self.width.under(FLOATS).mid)
        if not LEAST_WIDTH <= size <= LARGEST_WIDTH:
            raise UnsupportedError(
                f"a largest loss below {LEAST_WIDTH:g} or above {LARGEST_WIDTH:g} cannot be sampled, got {size!r}; "
                "state the release without sampling"
            )
        return FlatPair(self.width, self.with_atoms, self.failure)
