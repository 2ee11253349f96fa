"""Dominating pairs (P, Q): the output laws with and without the record ([AFA] Definition 7)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from logphi.arith.protocol import Parameter, Plain
from logphi.core.logphi import LogPhi
from logphi.numerics.laws.finite import Cells, Finite, Mixed
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal


class Pair(ABC):
    """Two laws on one space; the loss is log(p/q) under P."""

    @abstractmethod
    def loss(self) -> LogPhi:
        """The loss of P against Q."""

    @abstractmethod
    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of (1 - rate) Q + rate P against Q, for a rate strictly between 0 and 1."""


@dataclass(frozen=True)
class NormalShift(Pair):
    """N(m, 1) against N(0, 1)."""

    shift: Parameter

    def loss(self) -> LogPhi:
        """Normal with mean m^2/2 and variance m^2."""
        return LogPhi.of([(Normal(self.shift), 1)])

    def mixed_loss(self, rate: float) -> LogPhi:
        """No closed form: an integral."""
        return LogPhi.of([(MixedNormal(self.shift, Plain(rate)), 1)])


@dataclass(frozen=True)
class FinitePair(Pair):
    """Two probability vectors on the same cells; a cell with q = 0 is mass at infinity.

    ``blur`` bounds the relative error of each probability beside its own half ulp. ``exact`` gives the probabilities as
    formulas of the parameters, where every cell has mass under both laws. ``stray`` bounds the mass of either law on cells
    that are left out, far below one half: they count as infinite losses in upper bounds and not at all in lower ones.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    blur: float = 0.0
    exact: Cells | None = None
    stray: float = 0.0

    def loss(self) -> LogPhi:
        """A finite law on the common support."""
        common = [(a, b) for a, b in zip(self.p, self.q, strict=True) if a > 0 and b > 0]
        lost_p = math.fsum(a for a, b in zip(self.p, self.q, strict=True) if b == 0)
        lost_q = math.fsum(b for a, b in zip(self.p, self.q, strict=True) if a == 0)
        p, q = tuple(a for a, _ in common), tuple(b for _, b in common)
        return LogPhi.of([(Finite(p, q, lost_p, lost_q, self.blur, self.exact, self.stray), 1)])

    def mixed_loss(self, rate: float) -> LogPhi:
        """Cell by cell."""
        mixture = tuple((1 - rate) * b + rate * a for a, b in zip(self.p, self.q, strict=True))
        # half an ulp of the rate, which 1 - rate inherits
        exact = None if self.exact is None else Mixed(self.exact, rate)
        return FinitePair(mixture, self.q, self.blur + 2.0**-53 * (rate / (1 - rate) + 4), exact, self.stray).loss()
