"""Pairs whose loss is tilted uniform: its density is proportional to e^{x/2} on an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Parameter
from logphi.laws.flat.flat_pair import FlatPair
from logphi.laws.flat.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.flat.uniform import Uniform, UniformWithAtoms
from logphi.laws.log_phi import LogPhi
from logphi.laws.zero_or_infinite import ZeroOrInfinite
from logphi.pairs.pair import Pair, UnsupportedError

if TYPE_CHECKING:  # numerics that a first answer does not need
    from logphi.grid.ratio_laws import Ratios

# derived: limits within which e^{loss} times a rate, and products of both, are normal doubles
LEAST_WIDTH, LARGEST_WIDTH = 1e-50, 600.0


@dataclass(frozen=True)
class TiltedUniform(Pair):
    """A loss with a density proportional to e^{x/2} on [-w, w], with atoms at both ends or without.

    With probability ``failure`` the loss is infinite.
    """

    width: Parameter
    with_atoms: bool
    failure: float = 0.0

    def loss(self) -> LogPhi:
        """The loss, in closed form."""
        failing = [(ZeroOrInfinite(self.failure), 1)] if self.failure else []
        return LogPhi.of([((UniformWithAtoms if self.with_atoms else Uniform)(self.width), 1), *failing])

    def reversed(self) -> TiltedUniform:
        """The same pair: its loss is symmetric."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture, an integral."""
        return LogPhi.of([(MixedFlat(self._base(), rate), 1)])

    def spliced_loss(self, rate: float) -> LogPhi:
        """The loss of the spliced pair, an integral."""
        return LogPhi.of([(SplicedFlat(self._base(), rate), 1)])

    def ratios(self, cells: int) -> Ratios:
        """The law of the ratio: a density proportional to its power -3/2, and two atoms if the loss has atoms."""
        if self.failure:
            raise UnsupportedError("a law of all zero or infinite losses has no ratio on nodes")
        from logphi.grid.ratio_laws import of_flat

        return of_flat(self.width, cells, atoms=self.with_atoms)

    def _base(self) -> FlatPair:
        size = float(self.width.under(FLOATS).mid)
        if not LEAST_WIDTH <= size <= LARGEST_WIDTH:
            raise UnsupportedError(
                f"a largest loss below {LEAST_WIDTH:g} or above {LARGEST_WIDTH:g} cannot be sampled, got {size!r}; "
                "state the release without sampling"
            )
        return FlatPair(self.width, self.with_atoms, self.failure)
