"""A loss with all its Gaussian mechanisms as one, and what is kept where some releases fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint

from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.certified.reals import constant
from logphi.laws.finite import Thinned
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal import Normal
from logphi.laws.transform import LossTransform


@dataclass(frozen=True)
class Root(Parameter):
    """The root of a sum of counted squares: the shift of independent normal losses together."""

    parts: tuple[tuple[Parameter, int], ...]

    def under(self, arith: Arithmetic) -> Number:
        """The root, formed in the arithmetic."""
        squares = [count * one * one for part, count in self.parts for one in [part.under(arith)]]
        return arith.exp(arith.log(sum(squares[1:], squares[0])) / 2)


def gathered(loss: LogPhi) -> tuple[list[LossTransform], Any]:
    """The releases that are left, at most three of them, and the share that is kept, as a ball of the present precision."""
    kept, normal, laws = flint.arb(1), [], []
    for law, count in loss.terms:
        if isinstance(law, Thinned):
            kept *= (1 - constant(law.failure)) ** count
        elif isinstance(law, Normal):
            normal.append((law.shift, count))
        else:
            laws += [law] * min(count, 3)
    if normal:
        alone = len(normal) == 1 == normal[0][1]
        laws.insert(0, Normal(normal[0][0] if alone else Root(tuple(normal))))
    return laws[:3], kept
