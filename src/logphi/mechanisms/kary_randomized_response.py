"""Randomized response with k symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.arith.protocol import Arithmetic, Number
from logphi.inputs import check
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import REPLACE, Real, Relation, Whole, frozen
from logphi.laws.atomic.cells import Cells
from logphi.pairs.disjoint import DISJOINT
from logphi.pairs.equal import EQUAL
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair

# derived: larger neighbouring integers share a double
MOST_SYMBOLS = 2**53
# derived: smaller probabilities lose digits
LEAST_REPORT = 1e-300


@frozen
class KaryRandomizedResponse(Primitive):
    """Reports one of k symbols: with probability p a uniformly random one, otherwise the truth.

    With t = 1 - p + p/k the probability of the truth and f = p/k that of each other symbol:

    * ``"replace"``, the record takes another value. Pair, over the old truth, the new one and all other symbols:
      (t, f, (k-2) f) against (f, t, (k-2) f). log-phi: M(z) = t^{1+z} f^{-z} + f^{1+z} t^{-z} + (k-2) f, symmetric; a
      lattice of span log(t/f).
    * ``"replace_special"``, the record takes the value "nothing", for which a uniformly random symbol is reported. Pair,
      over the truth and all other symbols: (t, (k-1) f) against (1/k, (k-1)/k). log-phi: with r = k t = k - (k-1) p,
      M(z) = (r^{1+z} + (k-1) p^{1+z}) / k. Direction remove is the truth against "nothing", add the reverse.

    Parameters
    ----------
    k
        Number of symbols, 1 or more. With one symbol nothing leaks.
    p
        Probability of a random report (which may still be the truth), in [0, 1]. At 1 nothing leaks. At 0 the report is true:
        under ``"replace"`` everything leaks; under ``"replace_special"`` a random symbol may still be the truth, so that in
        direction remove the loss is log k.
    adjacency
        ``"replace"`` or ``"replace_special"``.

    Raises
    ------
    ValueError, TypeError
        If k is not an integer from 1 to 2^53, p is not in [0, 1] or positive and below 1e-300 k, or another
        relation is named.

    References
    ----------
    [PLD] section 3.6 (randomized response under both relations).

    Examples
    --------
    >>> round(KaryRandomizedResponse(k=4, p=0.5).delta(0.5).value, 9)
    0.41890984
    """

    k: Whole
    p: Real
    adjacency: Relation = REPLACE
    _one_formula: ClassVar = True
    _responds: ClassVar = True

    def __post_init__(self) -> None:
        self._settle(k=check.whole("k", self.k, 1, MOST_SYMBOLS), p=check.probability("p", self.p))
        if self.p and self.p / self.k < LEAST_REPORT:
            raise ValueError(
                f"p must be 0 or at least {LEAST_REPORT:g} k, got p={self.p!r} with k={self.k}: the probability of a symbol "
                "would be too small for a double"
            )
        if self.adjacency not in (Adjacency.REPLACE, Adjacency.REPLACE_SPECIAL):
            raise ValueError(
                f"adjacency must be 'replace' or 'replace_special' for a KaryRandomizedResponse, got {self.adjacency.value!r}: "
                "without a record there is no report; for a record that may be absent take 'replace_special', which reports "
                "a random symbol then"
            )

    @property
    def _extreme(self) -> Pair | None:
        """Always a uniform symbol, or always the truth."""
        if self.k == 1 or self.p == 1:
            return EQUAL
        if self.p > 0:
            return None
        special = self.adjacency is Adjacency.REPLACE_SPECIAL
        # two quotients, and their sum
        return FinitePair((1.0, 0.0), (1 / self.k, (self.k - 1) / self.k), 2.0**-51) if special else DISJOINT

    def pair(self) -> Pair:
        """The report of the record against that of another value, or of "nothing"."""
        if extreme := self._extreme:
            return extreme
        f, odd = self.p / self.k, self.k - 1
        t = (1 - self.p) + f
        # half an ulp of p, which 1 - p inherits, and five roundings
        relative_error = 2.0**-53 * (self.p * (odd / self.k) / t + 6)
        exact = _Reports(self.k, self.p, self.adjacency)
        if self.adjacency is Adjacency.REPLACE_SPECIAL:
            return FinitePair((t, odd * f), (1 / self.k, odd / self.k), relative_error, exact)
        if self.k == 2:
            return FinitePair((t, f), (f, t), relative_error, exact)
        rest = (self.k - 2) * f
        return FinitePair((t, f, rest), (f, t, rest), relative_error, exact)


@dataclass(frozen=True)
class _Reports(Cells):
    k: int
    p: float
    adjacency: Adjacency

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Both true symbols and all others; or the true symbol and all others."""
        k, p = arith.constant(self.k), arith.constant(self.p)
        f = p / k
        t = 1 - p + f
        if self.adjacency is Adjacency.REPLACE_SPECIAL:
            return (t, (k - 1) * f), (1 / k, (k - 1) / k)
        others = ((k - 2) * f,) if self.k > 2 else ()
        return (t, f, *others), (f, t, *others)
