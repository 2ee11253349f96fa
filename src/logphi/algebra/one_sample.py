"""Several releases on one sample: many such samples lie between those of two finite pairs.

Numerics that a first answer does not need are imported where they are used.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from logphi.algebra.bracket_end import BracketEnd
from logphi.algebra.families import family_of
from logphi.algebra.release import Mechanism
from logphi.laws.log_phi import LogPhi
from logphi.pairs.pair import Joint
from logphi.quadrature.values import Line, exact_step

# measured: with fewer participations on average the transform decays too slowly
_OFTEN = 3.0
# measured: a normal part of the loss with a larger shift takes too long; without a normal part the transform decays too slowly
_LARGEST_SHIFT = 0.62
# chosen: the distance of the two orders between which a variance is taken
_ASIDE = 1e-3
# measured: along lines on which a normal law would fall less, some transforms that are not resolved seem to be
_FALL = 59.0
# chosen: minus the logarithm of a small profile
_DEPTH = 8.0
# chosen: the number of nodes above the real axis
_LINE = 64
# measured: where the answer is not sharp, the largest error is above it
_RESOLVED = 1e-5


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
    """Whether the loss of many samples, in which a record takes part so often, may be sharper than finite pairs."""
    from logphi.laws.combined.sampled_envelope import normal_part

    return participations >= _OFTEN and 0 < normal_part(base.pair().loss()) <= _LARGEST_SHIFT


def variance_of(loss: LogPhi) -> float:
    """About the variance of a loss, between P and Q."""
    low, middle, high = loss.approximate(-0.5 + _ASIDE * np.array([-1.0, 0.0, 1.0]))
    return float(high + low - 2 * middle) / _ASIDE**2


@lru_cache(maxsize=256)
def is_resolved(loss: LogPhi, count: int, variance: float) -> bool:
    """Whether doubles resolve the transform of so many samples on a line; ``variance`` is about that of the whole loss.

    The line is long enough, and near the saddle of a small profile, for a normal law of this variance. It is one to the left,
    where the terms of the Mellin-Barnes integral grow faster with the height than to the right. To the right the bounds of its
    decay grow faster.
    """
    if not 0 < variance < math.inf:
        return False
    height, order = (math.sqrt(2 * fall / variance) for fall in (_FALL, _DEPTH))
    from logphi.laws.combined.sampled_loss import SampledLoss

    if not all(law.has_envelope(order) for law, _ in loss.terms if isinstance(law, SampledLoss)):
        return False
    line = Line(-1 - order, exact_step(height / _LINE), _LINE + 1)
    return bool((count * loss.on_line(line).radius <= _RESOLVED).all())
