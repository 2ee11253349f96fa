"""K of a sum of counted laws at real points, to some digits: laws that have nodes share a grid if there are many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arrays import Array
from logphi.laws.transform import Terms
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.sums.approximate_sums import ApproximateSums

# measured: fewer laws are as quick one by one
_MANY = 12


def approximate_sum(terms: Terms) -> Approximation:
    """The approximation of a sum of counted laws; many laws that have nodes share a grid."""
    whole = _Sum(terms)
    return Approximation(whole.at, terms_on_line=whole.terms_on_line)


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of counted laws, for approximate values."""

    terms: Terms

    def terms_on_line(self, abscissa: float, top: float) -> float:
        """The summands of all laws."""
        return sum(law.approximate.terms_on_line(abscissa, top) for law, _ in self.terms)

    def at(self, c: Array) -> Array:
        """K at real points; infinite on overflow."""
        batched, members, others = self._sums
        if batched is None:
            return _one_by_one(self.terms, c)
        points = c.ravel()
        found, known = batched.at(points)
        found += _one_by_one(others, points)
        # laws that the grid does not serve at every point
        for number in np.flatnonzero(~known.all(axis=1)).tolist():
            missing = ~known[number]
            found[missing] += _one_by_one(members[number : number + 1], points[missing])
        return found.reshape(c.shape)

    @cached_property
    def _sums(self) -> tuple[ApproximateSums | None, Terms, Terms]:
        """Many terms that have nodes on a common grid, these terms, and the others."""
        if len(self.terms) < _MANY:
            return None, (), self.terms
        each = [(law.approximate.nodes(), law, own) for law, own in self.terms]
        having = [(nodes, law, own) for nodes, law, own in each if nodes is not None]
        batched = ApproximateSums.of([(nodes, own) for nodes, _, own in having]) if len(having) >= _MANY else None
        members = tuple((law, own) for _, law, own in having)
        return batched, members, tuple((law, own) for nodes, law, own in each if nodes is None)


def _one_by_one(terms: Terms, c: Array) -> Array:
    total = np.zeros(c.shape)
    with np.errstate(over="ignore"):  # infinite on overflow
        for law, own in terms:
            total += own * law.approximate(c)
    return total
