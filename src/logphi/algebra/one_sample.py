"""Several releases on one sample: many such samples lie between those of two finite pairs.

Numerics that a first answer does not need are imported where they are used.
"""

from __future__ import annotations

from functools import lru_cache

from logphi.algebra.bracket_end import BracketEnd
from logphi.algebra.families import family_of
from logphi.algebra.release import Mechanism
from logphi.pairs.pair import Joint

# measured: with fewer participations on average the transform decays too slowly
_OFTEN = 3.0
# measured: a normal part of the loss with a larger shift takes too long; without a normal part the transform decays too slowly
_LARGEST_SHIFT = 0.62


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


def finite_ends(base: Mechanism) -> tuple[Mechanism, Mechanism] | None:
    """The ends of a base that may have them, both one where its pair is finite; None where doubles do not resolve its loss."""
    from logphi.pairs.between import NotBetweenError, between

    loss = base.pair().loss()
    try:
        below, above = between(loss)
    except NotBetweenError:
        return None
    # both ends are one mechanism where they are one pair
    return BracketEnd(between, (loss,), below is above, base.adjacency), BracketEnd(between, (loss,), True, base.adjacency)


def has_sharp_loss(base: Mechanism, participations: float) -> bool:
    """Whether the loss of many samples, in which a record takes part so often, is known more sharply than by finite pairs."""
    from logphi.laws.combined.sampled_envelope import normal_part

    return participations >= _OFTEN and 0 < normal_part(base.pair().loss()) <= _LARGEST_SHIFT
