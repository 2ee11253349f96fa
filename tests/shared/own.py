"""A mechanism of a user's own: the catalogue does not know it, and its loss is any law."""

from dataclasses import dataclass

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.extend import LogPhi, Primitive
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import LossTransform

NORMAL = Normal(Plain(1.0))


@dataclass(frozen=True, repr=False)
class Own(Primitive):
    """A mechanism whose loss has this law."""

    law: LossTransform = NORMAL
    adjacency: lp.Adjacency = lp.Adjacency.ADD_REMOVE

    def loss_law(self) -> LogPhi:
        return LogPhi.of([(self.law, 1)])
