"""A release with a smooth loss on an interval, which composes as laws do."""

from __future__ import annotations

from dataclasses import dataclass

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.extend import Primitive
from logphi.pairs.flat import TiltedUniform


@dataclass(frozen=True, repr=False)
class Flat(Primitive):
    """Density proportional to e^{x/2} on [-w, w]: the hull of an exponential mechanism, taken for itself."""

    width: float
    adjacency: lp.Adjacency = lp.Adjacency.ADD_REMOVE

    def pair(self) -> TiltedUniform:
        return TiltedUniform(Plain(self.width), with_atoms=False)
