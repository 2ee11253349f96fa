"""A test of the distance to instability before a release (propose, test, release)."""

from __future__ import annotations

import math
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Shortened
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency, AdjacencyLike
from logphi.inputs.arguments import RealLike, frozen
from logphi.laws.log_phi import LogPhi
from logphi.mechanisms.pure_dp import guarantee_loss, guarantee_pair
from logphi.pairs.flat import TiltedUniform
from logphi.pairs.pair import Pair

# derived: closer to one, the width of the loss is the difference of nearly equal numbers
LARGEST_FAILURE = 0.999


@frozen
class DistanceToInstability(Primitive):
    """Releases an answer if its noisy distance to instability is large (propose, test, release).

    The distance, of sensitivity 1, gets Laplace noise of scale 1/epsilon, and is tested against log(1/delta)/epsilon. For a
    stable answer the distance alone leaks; an unstable answer is released with probability delta. So the profile is the larger
    of 1 - e^{(x - eps)/2} and delta for x >= 0, which is convex in e^x.

    Pair: with probability delta the outcome reveals everything, otherwise it is that of a Laplace mechanism of scale 1/w,
    w = eps + 2 log(1 - delta). log-phi, with u = z + 1/2:
    M(z) = (1 - delta) e^{-w/2} [cosh(u w) + sinh(u w) / (2u)]; P(L = inf) = delta.

    Parameters
    ----------
    epsilon
        Guarantee of the noisy distance, in nats; zero or more.
    delta
        Probability of releasing an unstable answer, in [0, 0.999 (1 - e^{-eps/2})]; or 1, where everything leaks. For eps = 0
        any probability; nothing else leaks then.
    adjacency
        The relation under which the distance has sensitivity 1.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range.

    References
    ----------
    [AFA] Examples 14 and 16; Dwork & Lei 2009 (propose-test-release).

    Examples
    --------
    >>> round(DistanceToInstability(epsilon=1, delta=1e-3).delta(0.4).value, 9)
    0.259181779
    """

    test_epsilon: float
    test_delta: float
    adjacency: Adjacency
    _dominating: ClassVar = True
    _stored: ClassVar = {"epsilon": "test_epsilon", "delta": "test_delta"}

    def __init__(self, epsilon: RealLike, delta: RealLike, adjacency: AdjacencyLike = Adjacency.ADD_REMOVE) -> None:
        kept = {"test_epsilon": check.moderate_or_zero("epsilon", epsilon), "test_delta": check.probability("delta", delta)}
        self._settle(**kept, adjacency=adjacency)
        if not self._extreme and self.test_delta > -LARGEST_FAILURE * math.expm1(-self.test_epsilon / 2):
            raise ValueError(
                f"delta must be at most {LARGEST_FAILURE:g} (1 - e^(-epsilon/2)), got delta={self.test_delta!r} "
                f"with epsilon={self.test_epsilon!r}: a larger failure leaks more than the test; "
                "such a release is an ApproximateDP(epsilon=0, delta=delta)"
            )

    @property
    def width(self) -> Shortened:
        """The largest finite loss."""
        return Shortened(self.test_epsilon, self.test_delta)

    @property
    def _extreme(self) -> Pair | None:
        """The pair of the failure alone, where there is no test or it always fails."""
        return guarantee_pair(0.0, self.test_delta) if self.test_epsilon == 0 or self.test_delta == 1 else None

    def pair(self) -> Pair:
        """The pair of a Laplace mechanism, with failures."""
        if extreme := self._extreme:
            return extreme
        return TiltedUniform(self.width, with_atoms=True, failure=self.test_delta)

    def loss_law(self) -> LogPhi:
        """The loss of the Laplace mechanism, finite with probability 1 - delta."""
        return guarantee_loss(0.0, self.test_delta) if self._extreme else self.pair().loss()
