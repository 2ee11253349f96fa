"""Many laws of one kind, whose transforms are computed together on common panels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.laws.approximate_sum import approximate_sum
from logphi.laws.transform import LossTransform, Terms
from logphi.quadrature.approximation import Approximation, constant_terms
from logphi.quadrature.curves.common_panels import BatchNodes, ChebyshevMoments, Powers
from logphi.quadrature.values import Line, Values

# measured: at most this many laws are computed one by one where no panels serve them all; more are split in two
_FEW = 16
# chosen: nodes that are sorted at once
_AT_ONCE = 1 << 18
# measured: the logarithm of the ratio of the largest abscissa to the smallest that one set of panels serves
_LOG_RATIO = 1.5


@dataclass(frozen=True, eq=False)
class Batched(LossTransform):
    """The sum of counted laws that have nodes, in an order in which neighbours are similar."""

    terms: Terms

    @abstractmethod
    def nodes(self, part: slice, powers: Powers) -> BatchNodes | None:
        """Nodes of the laws in ``part`` that serve the powers; None if there are none."""

    @property
    @abstractmethod
    def sizes(self) -> Array:
        """About how many nodes each law has."""

    @cached_property
    def counts(self) -> Array:
        """The count of each law."""
        return np.array([float(count) for _, count in self.terms])

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        return sum((count * law.formula(arith, z) for law, count in self.terms), 0 * z)

    @cached_property
    def approximate(self) -> Approximation:
        """The laws on a common grid; on a line, about one summand for each: all share a few panels."""
        return replace(approximate_sum(self.terms), terms_on_line=partial(constant_terms, float(len(self.terms))))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, in groups of similar size: panels for large points are inaccurate at small ones."""
        points = np.asarray(z).ravel()
        level = np.floor(np.log(np.maximum(np.abs(points.real), 1.0)) / _LOG_RATIO)
        parts = np.full((3, points.size), np.inf, dtype=points.dtype)
        for one in np.unique(level):
            those = np.flatnonzero(level == one)
            found = self._at(points[those])
            parts[:, those] = np.stack([found.mid if np.iscomplexobj(points) else found.mid.real, found.rounding, found.inner])
        mid, rounding, inner = parts.reshape((3, *np.shape(z)))
        return Values(mid, rounding.real, inner.real)

    def _at(self, points: NDArray[Any]) -> Values:
        a = points + 1
        powers = Powers(float(a.real.min()), float(a.real.max()), float(np.abs(a.imag).max()))
        return self._sum(powers, a, lambda law, count: law.log_transform(points, count))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        powers = Powers(line.abscissa + 1, line.abscissa + 1, line.step * line.size)
        return self._sum(powers, line.points + 1, lambda law, own: law.on_line(line, own))

    def _sum(self, powers: Powers, a: NDArray[Any], alone: Callable[[LossTransform, int], Values]) -> Values:
        """K at points; laws that no panels serve are computed one by one."""
        parts: list[Values] = []
        for part, moments in self.moments(powers):
            if moments is None:
                parts += [alone(law, count).times(count) for law, count in self.terms[part]]
            else:
                parts.append(moments.total(a))
        return reduce(add, parts)

    def moments(self, powers: Powers) -> Iterator[tuple[slice, ChebyshevMoments | None]]:
        """Slices of the terms with their moments; None for laws that no panels serve."""
        groups = np.flatnonzero(np.diff(np.floor(np.cumsum(self.sizes) / _AT_ONCE))) + 1
        ends = [0, *groups.tolist(), len(self.terms)]
        waiting = [slice(first, last) for first, last in pairwise(ends)]
        while waiting:
            part = waiting.pop()
            nodes = self.nodes(part, powers)
            found = None if nodes is None else ChebyshevMoments.of(nodes, powers)
            if found is None and part.stop - part.start > _FEW:
                middle = (part.start + part.stop) // 2
                waiting += [slice(part.start, middle), slice(middle, part.stop)]
            else:
                yield part, found
