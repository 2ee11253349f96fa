"""Integer noise shifted by an integer: all outcomes are listed."""

from __future__ import annotations

from abc import abstractmethod

from logphi.algebra.release import Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.finite import FinitePair

# measured: of noise with a larger variance there are too many outcomes, as they are atoms without a lattice
LARGEST_VARIANCE = 62_500.0
# derived: doubles above e^-706 have all their digits
DEEPEST = 706.0
# chosen: of a shift, outcomes to this many times as far are listed
_FARTHER = 3


def reaches(noise: tuple[float, ...], shift: int) -> bool:
    """Whether enough outcomes are listed for a shift."""
    return _FARTHER * shift < len(noise)


@frozen
class ListedShift(Primitive):
    """Noise with a symmetric, log-concave law, shifted by an integer, against the noise."""

    shift: int
    adjacency: Adjacency
    # z (z + 1) times half of this bounds K
    growth: float
    _undescribed = "it is a part of another release"

    @abstractmethod
    def noise(self) -> tuple[tuple[float, ...], float]:
        """The probabilities of 0, 1, 2, ..., above e^-706, with a bound of their relative errors."""

    def pair(self) -> FinitePair:
        """The outcomes whose probabilities are doubles under both laws; the omitted mass is far below every relevant delta."""
        (noise, error), s = self.noise(), self.shift
        reach = len(noise) - 1
        # the noise outside of the ends, or within a shift of them: at most a geometric series, as the law is log-concave
        first = reach - s + 1
        omitted = 4 * noise[first] / (1 - noise[first] / noise[first - 1])
        places = range(s - reach, reach + 1)
        p, q = (tuple(noise[abs(x - moved)] for x in places) for moved in (s, 0))
        return FinitePair(p, q, error, None, omitted, self.growth)
