"""Several releases on one sample: many such samples lie between those of two finite pairs.

Numerics that a first answer does not need are imported where they are used.
"""

from __future__ import annotations

from functools import lru_cache

from logphi.algebra.families import family_of
from logphi.algebra.release import Mechanism, Primitive
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import frozen
from logphi.pairs.pair import Joint, Pair

# measured: with fewer participations on average the transform decays too slowly
_OFTEN = 3.0
# measured: a normal part of the loss with a larger shift takes too long; without a normal part the transform decays too slowly
_LARGEST_SHIFT = 0.62


@frozen
class FiniteEnd(Primitive):
    """A finite pair that dominates the pair of a release if ``upper``, and otherwise one that it dominates."""

    base: Mechanism
    upper: bool
    adjacency: Adjacency
    _undescribed = "it is one end of a bracket"

    def pair(self) -> Pair:
        """The losses of all releases on the multiples of one step."""
        from logphi.pairs.between import between

        return between(self.base.pair().loss())[self.upper]


@lru_cache(maxsize=256)
def has_finite_ends(base: Mechanism) -> bool:
    """Whether only the loss of the joint pair is known, and finite pairs on both sides of it."""
    if any(family_of(one) is not None for one, _ in base.counted()):
        return False
    pair = base.pair()
    if not isinstance(pair, Joint):
        return False
    from logphi.pairs.between import is_known

    return is_known(pair.loss())


def finite_ends(base: Mechanism) -> tuple[FiniteEnd, FiniteEnd] | None:
    """The ends of a base that may have them, both one where its pair is finite; None where doubles do not resolve its loss."""
    from logphi.pairs.between import NotBetweenError, between

    try:
        below, above = between(base.pair().loss())
    except NotBetweenError:
        return None
    return FiniteEnd(base, below is above, base.adjacency), FiniteEnd(base, True, base.adjacency)


def has_sharp_loss(base: Mechanism, participations: float) -> bool:
    """Whether the loss of many samples, in which a record takes part so often, is known more sharply than by finite pairs."""
    from logphi.laws.sampled_envelope import normal_part

    return participations >= _OFTEN and 0 < normal_part(base.pair().loss()) <= _LARGEST_SHIFT
