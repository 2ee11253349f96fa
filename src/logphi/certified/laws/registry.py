"""The class that answers for each law: every class lists its laws."""

from __future__ import annotations

from logphi.certified.laws import atoms, finite, normal, normal_pair, sampled_flat, spliced_normal, uniform
from logphi.certified.laws.law import CountedInBalls, LawInBalls
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform, Reflected

_FILES = (atoms, finite, normal, normal_pair, sampled_flat, spliced_normal, uniform)
_CLASSES = (one for file in _FILES for one in vars(file).values() if isinstance(one, type) and issubclass(one, LawInBalls))
_KNOWN = {kind: one for one in _CLASSES for kind in one.kinds}


def in_balls(law: LossTransform) -> LawInBalls:
    """A law in balls; one that refuses all questions if no class lists it, as for a subclass of a listed law."""
    plain, reflected = (law.law, True) if isinstance(law, Reflected) else (law, False)
    return _KNOWN.get(type(plain), LawInBalls)(plain, reflected)


def terms_of(loss: LogPhi) -> CountedInBalls:
    """The terms of a composition."""
    return [(in_balls(law), count) for law, count in loss.terms]
