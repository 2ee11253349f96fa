"""The pair of a release as a mechanism of its own."""

from __future__ import annotations

from logphi.algebra.release import Mechanism, Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Pair


@frozen
class Hull(Primitive):
    """A mechanism that has the pair of a release, and stands for no family."""

    base: Mechanism
    adjacency: Adjacency
    _undescribed = "it is a bound of another release"

    def loss_law(self) -> LogPhi:
        """That of the release."""
        return self.base.loss_law()

    def pair(self) -> Pair:
        """That of the release."""
        return self.base.pair()


def hull(release: Mechanism) -> Mechanism:
    """A mechanism that has the pair of a release, and stands for no family."""
    return Hull(release, release.adjacency)
