"""Binary randomized response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Arithmetic, LogOdds, Number
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, frozen
from logphi.laws.atomic.cells import Cells
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.log_phi import LogPhi
from logphi.pairs.disjoint import DISJOINT
from logphi.pairs.equal import EQUAL
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair
from logphi.text.written import exact

# derived: 1 - p is accurate to 2^-52
_LEAST = 4e-16


@frozen
class RandomizedResponse(Primitive):
    """Tells the truth with probability p and the opposite otherwise.

    Pair: (p, 1-p) against (1-p, p). log-phi, with r = p/(1-p): M(z) = p r^z + (1-p) r^{-z}; a lattice of span 2 log r.

    Parameters
    ----------
    p
        Probability of the truth, in [0, 1]. At 0 and 1 everything leaks, at 1/2 nothing does.
    adjacency
        The relation under which one answer changes.

    Raises
    ------
    ValueError, TypeError
        If p is not a number in [0, 1], or is within 4e-16 of 1 but not 1.

    References
    ----------
    [AFA] Table 2.

    Examples
    --------
    >>> round(RandomizedResponse(p=0.75).delta(0.5).value, 9)
    0.337819682
    """

    p: Real
    adjacency: Relation = ADD_REMOVE
    _one_formula: ClassVar = True
    _responds: ClassVar = True
    _hints: ClassVar = {"epsilon": "p=math.exp(epsilon) / (1 + math.exp(epsilon))"}

    def __post_init__(self) -> None:
        p = check.probability("p", self.p)
        if 0 < 1 - p < _LEAST:
            raise ValueError(
                f"p must be 1 or at most 1 - 4e-16, got {p!r}: doubles keep no digit of 1 - p, nor of the largest loss"
            )
        self._settle(p=p)

    @property
    def _extreme(self) -> Pair | None:
        """Always the truth, or always the opposite."""
        return DISJOINT if self.p in (0, 1) else None

    def pair(self) -> Pair:
        """The two answers with and without the record's true value."""
        if extreme := self._extreme:
            return extreme
        if exact(self.p) == Fraction(1, 2):
            return EQUAL
        # half an ulp of p, which 1 - p inherits
        relative_error = 2.0**-53 * (self.p / (1 - self.p) + 2)
        return FinitePair((self.p, 1 - self.p), (1 - self.p, self.p), relative_error, _Answers(self.p))

    def loss_law(self) -> LogPhi:
        """Two opposite atoms, unless they coincide or the answer is certain."""
        if self._extreme or exact(self.p) == Fraction(1, 2):
            return self.pair().loss()
        return LogPhi.of([(TwoPoint(LogOdds(self.p)), 1)])


@dataclass(frozen=True)
class _Answers(Cells):
    p: float

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """The truth and the opposite."""
        truth = arith.constant(self.p)
        lie = 1 - truth
        return (truth, lie), (lie, truth)
