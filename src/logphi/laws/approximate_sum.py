"""Sums of counted laws at real points to some digits: of many that have nodes, on a common grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arrays import Array
from logphi.laws.transform import Terms
from logphi.quadrature.approximate_sums import ApproximateSums

# measured: of fewer laws, each is as quick by itself
_MANY = 12


@dataclass(frozen=True, eq=False)
class ApproximateSum:
    """The terms of a sum."""

    terms: Terms

    def approximate(self, c: Array, count: int = 1) -> Array:
        """K at real points; infinite where it is beyond every double."""
        together, members, apart = self._sums
        if together is None:
            return _one_by_one(self.terms, c, count)
        points = c.ravel()
        found, known = together.at(points)
        found += _one_by_one(apart, points, count)
        # the laws that the grid does not serve everywhere
        for number in np.flatnonzero(~known.all(axis=1)).tolist():
            missing = ~known[number]
            found[missing] += _one_by_one(members[number : number + 1], points[missing], count)
        return found.reshape(c.shape)

    @cached_property
    def _sums(self) -> tuple[ApproximateSums | None, Terms, Terms]:
        """Many terms that have nodes on a common grid, these terms, and the others."""
        if len(self.terms) < _MANY:
            return None, (), self.terms
        each = [(law.approximate_nodes, law, own) for law, own in self.terms]
        having = [(nodes, law, own) for nodes, law, own in each if nodes is not None]
        together = ApproximateSums.of([(nodes, own) for nodes, _, own in having]) if len(having) >= _MANY else None
        members = tuple((law, own) for _, law, own in having)
        return together, members, tuple((law, own) for nodes, law, own in each if nodes is None)


def _one_by_one(terms: Terms, c: Array, count: int) -> Array:
    total = np.zeros(c.shape)
    with np.errstate(over="ignore"):  # infinite where it is beyond every double
        for law, own in terms:
            total += own * law.approximate(c, count * own)
    return total
