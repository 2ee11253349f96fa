"""The log-characteristic function of a sum of losses, from which every question is answered.

notation: K(z) = log E_P[e^{zL}; |L| < inf], L = log(p/q); phi(alpha) = e^{K(i alpha)} and
phi'(alpha) = e^{K(-1 - i alpha)} in [AFA] Definition 12; composition adds K ([AFA] Proposition 13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.protocol import Arithmetic, Number
from logphi.arrays import Array
from logphi.laws.always_infinite import ALWAYS_INFINITE
from logphi.laws.approximate_sum import approximate_sum
from logphi.laws.block_sum import log_block_of_sum
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import ZERO_GROWTH, Growth
from logphi.laws.support import Support
from logphi.laws.traits import CONSTANT, Traits
from logphi.laws.transform import LossTransform, Reflected, Terms
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import Line, Values


@dataclass(frozen=True)
class LogPhi(LossTransform):
    """A sum of counted terms, each the K of one loss.

    Sums add and strips intersect; ``reflected()`` is K(-1 - z), term by term; ``K(0)`` and ``K(-1)`` are the logarithms
    of the finite masses and never positive. Equal terms are held once, so the cost of a question depends on how many
    terms are distinct and not on the counts.
    """

    terms: tuple[tuple[LossTransform, int], ...] = ()
    # the loss of the reversed pair, of which this one is the reflection: both share the batched terms
    reversed_loss: LogPhi | None = field(default=None, compare=False, repr=False)

    @staticmethod
    def of(terms: Iterable[tuple[LossTransform, int]]) -> LogPhi:
        """The sum with equal terms collected, sums expanded, counts of zero dropped; a zero measure absorbs all other terms."""
        counts: Counter[LossTransform] = Counter()
        for law, count in terms:
            for part, own in terms_of(law):
                counts[part] += own * count
        if counts[ALWAYS_INFINITE]:
            return LogPhi(((ALWAYS_INFINITE, 1),))
        return LogPhi(tuple((law, count) for law, count in counts.items() if count))

    def __add__(self, other: LogPhi) -> LogPhi:
        return LogPhi.of(self.terms + other.terms)

    def __mul__(self, count: int) -> LogPhi:
        return LogPhi.of((law, count * own) for law, own in self.terms)

    __rmul__ = __mul__

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """The sum of the terms, each times its count."""
        return reduce(add, (count * law.formula(arith, z) for law, count in self.terms), 0 * z)

    @property
    def empty(self) -> bool:
        """Whether the only term is the zero measure: no loss is finite."""
        return bool(self.terms) and self.terms[0][0] == ALWAYS_INFINITE

    @cached_property
    def traits(self) -> Traits:
        """The traits of the terms combined."""
        return reduce(add, (law.traits for law, _ in self.terms), CONSTANT)

    @cached_property
    def strip(self) -> tuple[float, float]:
        """The intersection of the strips."""
        strips = [law.strip for law, _ in self.terms]
        return (max((low for low, _ in strips), default=-np.inf), min((high for _, high in strips), default=np.inf))

    @cached_property
    def support(self) -> Support:
        """The supports of the terms, added."""
        return Support.of_sum((law.support, count) for law, count in self.terms)

    @cached_property
    def growth(self) -> Growth:
        """The growths of the terms, added."""
        return reduce(add, (law.growth * count for law, count in self.terms), ZERO_GROWTH)

    @property
    def closed_form(self) -> ClosedForm:
        """The closed form of a single law, where all normal terms count as one; other sums have none."""
        for terms in (self.terms, self._parts):
            if len(terms) == 1 and terms[0][1] == 1:
                return terms[0][0].closed_form
        return ClosedForm()

    def with_omitted_mass(self) -> LogPhi:
        """The sum with the masses that its transforms omit; itself if they omit none."""
        if not self.support.omitted.mass:
            return self
        from logphi.laws.with_omitted_mass import WithOmittedMass

        return LogPhi(tuple((WithOmittedMass(law) if law.support.omitted.mass else law, count) for law, count in self.terms))

    def reflected(self) -> LogPhi:
        """The loss of the reversed pair (Q, P)."""
        return self if self.traits.symmetric else LogPhi(_reflected(self.terms), self)

    def _batched(self, *, coarse: bool) -> Terms:
        """The terms of each class batched, reflected ones separately."""
        kinds: dict[tuple[type[LossTransform], bool], list[tuple[LossTransform, int]]] = {}
        for law, count in self.terms:
            reflected = isinstance(law, Reflected)
            original = law.reflected() if reflected else law
            kinds.setdefault((type(original), reflected), []).append((original, count))
        return tuple(
            (law.reflected() if reflected else law, count)
            for (kind, reflected), members in kinds.items()
            for law, count in kind.batched(members, coarse=coarse)
        )

    @cached_property
    def _parts(self) -> Terms:
        """The batched terms, from which values are computed."""
        other = self.reversed_loss
        return self._batched(coarse=False) if other is None else _reflected(other._parts)

    @cached_property
    def coarsened(self) -> LogPhi:
        """An approximation of the sum with fewer terms, for choosing where to compute; never for an answer."""
        other = self.reversed_loss
        if other is not None:
            return self if other.coarsened is other else other.coarsened.reflected()
        terms = tuple(self._batched(coarse=True))
        return self if len(terms) == len(self.terms) else LogPhi(terms)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points."""
        z = np.asarray(z)
        return self._total((law.log_transform(z, count * own).times(own) for law, own in self._parts), z.shape)

    @cached_property
    def approximate(self) -> Approximation:
        """The sum of the approximations of the batched terms."""
        return approximate_sum(self._parts)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self._total((law.on_line(line, count * own).times(own) for law, own in self._parts), (line.size,))

    def on_line_and_real(self, line: Line, real_points: Array, count: int = 1) -> tuple[Values, Values]:
        """K on a vertical line, and at its abscissa and at other real points, term by term."""
        found = [(law.on_line_and_real(line, real_points, count * own), own) for law, own in self._parts]
        values = self._total((pair[0].times(own) for pair, own in found), (line.size,))
        return values, self._total((pair[1].times(own) for pair, own in found), (1 + real_points.size,))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The sum of the envelopes."""
        total = np.zeros_like(heights)
        for law, count in self._parts:
            with np.errstate(over="ignore"):  # minus infinity: less than any double
                total += count * law.log_envelope(abscissa, heights, end)
        return total

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The sum of the bounds of as many terms as suffice."""
        return log_block_of_sum(self._parts, abscissa, centres, radius, enough)

    def _total(self, parts: Iterable[Values], shape: tuple[int, ...]) -> Values:
        known = list(parts)
        if known and np.isfinite((total := reduce(add, known)).mid).all():
            return total
        # a sum marks unknown values by infinite radii; a single term may not
        return reduce(add, known, Values(*np.zeros((3, *shape))))


def _reflected(terms: Terms) -> tuple[tuple[LossTransform, int], ...]:
    """The terms of the reversed pair."""
    return tuple((law.reflected(), count) for law, count in terms)


def terms_of(law: LossTransform) -> Terms:
    """The counted laws of a sum; any other law, once."""
    return law.terms if isinstance(law, LogPhi) else ((law, 1),)
