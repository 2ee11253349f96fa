"""Laws with finitely many atoms, and constant factors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from logphi.arith.balls import Balls
from logphi.arith.floats import ELEMENTARY, FLOATS, ULP
from logphi.arith.names import Names
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import ClosedForm
from logphi.laws.exponential_sums import turned_sums
from logphi.laws.growth import Growth, OneSided
from logphi.laws.spans import common_span
from logphi.laws.support import Lattice, Pieces, Support
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line, Values
from logphi.written import meant

# derived: bits that tell exponentials and mixtures of doubles apart unless they agree to three hundred digits
_ORDERING = 1024


class Cells(Protocol):
    """Two probability vectors as formulas of the parameters that they came from."""

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Both as numbers of an arithmetic, cell by cell.

        Probabilities that are equal for all parameters are best written as one formula: only then are they known to be equal.
        """


@dataclass(frozen=True)
class Finite(LossTransform):
    """Mass p_j at log(p_j / q_j) over the common support: K(z) = log( sum of p_j^{1+z} q_j^{-z} ).

    ``infinite_p`` and ``infinite_q`` are what the two probabilities hold outside it; ``relative_error`` bounds that of each
    probability beside its own half ulp. ``exact`` is where the probabilities came from, if they are not the parameters
    themselves. ``omitted_mass`` bounds the mass that either law has elsewhere, where the loss may be anything; with it K(z) is
    at most z (z + 1) v / 2 for z >= 0, v = ``omitted_growth``, of either law.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    infinite_p: float = 0.0
    infinite_q: float = 0.0
    relative_error: float = 0.0
    exact: Cells | None = None
    omitted_mass: float = 0.0
    omitted_growth: float = math.inf

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        if arith is FLOATS or (self.exact is None and not self.relative_error):
            return arith.log_power_sum(self.p, self.q, z)
        cells = zip(*self.cells.under(arith), strict=True)
        return arith.log(reduce(add, (a * arith.exp(z * arith.log(a / b)) for a, b in cells)))

    @property
    def cells(self) -> Cells:
        """The probabilities over the common support; a law with omitted mass has more."""
        return self.exact or Given(self.p, self.q, self.relative_error)

    @cached_property
    def exactly_symmetric(self) -> bool:
        """The formulas of the vectors are the same in another order."""
        return self.symmetric and _same_exchanged(self.cells)

    @cached_property
    def symmetric(self) -> bool:
        """Whether the two vectors are one in another order."""
        same = self.infinite_p == self.infinite_q
        return same and sorted(zip(self.p, self.q, strict=True)) == sorted(zip(self.q, self.p, strict=True))

    @cached_property
    def support(self) -> Support:
        """From the smallest log-ratio to the largest; their errors are those of two logarithms, twice."""
        losses, size = self.losses, 1 + self._log_size
        room = 1e-15 * size + 2 * self.relative_error
        return Support(min(losses) - room, max(losses) + room, 4e-15 * size + 4 * self.relative_error)

    @property
    def closed_form(self) -> ClosedForm:
        """Sums over the atoms."""
        return ClosedForm(partial_masses=self.partial_masses)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K, with the error of the probabilities counted relative to the sum of the sizes of the terms."""
        values = super().log_transform(z, count)
        if self.relative_error == 0:
            return values
        sizes = values.mid.real if not np.iscomplexobj(z) else super().log_transform(np.asarray(z).real).mid
        known = np.isfinite(values.mid) & np.isfinite(sizes)
        ratio = np.exp(np.minimum(np.where(known, sizes, 0.0) - np.where(known, values.mid.real, 0.0), 700.0))
        relative = ratio * np.expm1(np.minimum(self.relative_error + 2 * self.relative_error * np.abs(z), 1.0))
        spread = np.where(known & (relative < 0.5), -np.log1p(-np.minimum(relative, 0.5)), np.inf)
        return Values(values.mid, values.rounding + spread, values.inner)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as a matrix product; its errors at a few sizes of z, with which they grow."""
        log_p, log_q = np.log(np.asarray(self.p)), np.log(np.asarray(self.q))
        loss = log_p - log_q
        weight = log_p + line.abscissa * loss
        top = float(weight.max())
        terms = np.exp(weight - top)
        turned = turned_sums(terms, loss, line)
        sharp = ELEMENTARY * (3 + np.abs(log_p) + np.abs(log_q)) + 2 * self.relative_error
        level = np.ceil(4 * np.log2(np.abs(line.points) + 1)).astype(int)
        sizes = 2.0 ** (np.arange(level.max() + 1) / 4)
        exponent = sharp * sizes[:, None] + (len(self.p) + 16) * ULP
        wrong = (terms * np.expm1(np.minimum(exponent, 700.0))).sum(axis=1) * (1 + 1e-9)
        return Values.logarithm(turned, wrong[level], top)

    def log_masses(self) -> tuple[Values, Values]:
        """From the smaller of what lies on the common support and what lies outside."""
        return self._log_mass(self.p, self.infinite_p), self._log_mass(self.q, self.infinite_q)

    def _log_mass(self, kept: Sequence[float], infinite_mass: float) -> Values:
        if infinite_mass <= 0.5:
            return log_complement(infinite_mass, self.relative_error, self.omitted_mass)
        # the complement of what is nearly one has few digits
        total = math.fsum(kept)
        value = np.array([math.log(total)])
        return Values(
            value, 2 * ULP * (2 + np.abs(value)) + 2 * self.relative_error + 2 * self.omitted_mass / total, np.zeros(1)
        )

    @property
    def losses(self) -> tuple[float, ...]:
        """log(p_j / q_j), each with the rounding of two logarithms."""
        return tuple(math.log(a) - math.log(b) for a, b in zip(self.p, self.q, strict=True))

    @property
    def pieces(self) -> Pieces:
        """Tilted weights (p_j q_j)^{1/2}."""
        weights = tuple((math.log(a) + math.log(b)) / 2 for a, b in zip(self.p, self.q, strict=True))
        return Pieces(
            self.losses,
            weights,
            location_error=4e-16 * (1 + self._log_size) + 2 * self.relative_error,
            relative_error=self.relative_error,
        )

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Sums over the atoms on either side; what is elsewhere may be on both."""
        found = self._masses_of_pieces(x, tilted=tilted)
        elsewhere = Scaled(0.0, 0.0, truncation=self.omitted_mass)
        return found and (found[0] + elsewhere, found[1] + elsewhere)

    @property
    def lattice(self) -> Lattice | None:
        """The common span of the gaps between losses, if they have one."""
        points = np.unique(self.losses)
        gaps = points[1:] - points[0]
        own = 4e-16 * (1 + self._log_size) + 2 * self.relative_error
        # points that rounding does not tell from the first are taken to be there
        close = float(gaps[gaps <= 4 * own].max(initial=0.0))
        common = common_span([(float(gap), own) for gap in gaps if gap > 4 * own])
        return None if common is None else Lattice(float(points[0]), common[0], common[1] + own + close)

    @property
    def _log_size(self) -> float:
        return max(abs(math.log(number)) for number in self.p + self.q)

    def reflected(self) -> LossTransform:
        """The roles of p and q exchanged."""
        if self.symmetric:
            return self
        exact = None if self.exact is None else Turned(self.exact)
        return Finite(
            self.q, self.p, self.infinite_q, self.infinite_p, self.relative_error, exact, self.omitted_mass, self.omitted_growth
        )

    def with_omitted_mass(self) -> LossTransform:
        """The law with its omitted mass, if it has any."""
        return WithOmittedMass(self) if self.omitted_mass else self


@dataclass(frozen=True)
class WithOmittedMass(LossTransform):
    """A finite law and its omitted mass e: transforms of the whole, to within what the latter may add.

    It adds at most e on [-1, 0]. If K(z) <= z (z + 1) v / 2 for the whole, it adds at most e^{1/2} e^{c (2c + 1) v / 2} at
    c > 0, by Cauchy's inequality E[e^{cX}; A]^2 <= P(A) M(2c), and as much at -1 - c; else nothing is known beyond [-1, 0].
    """

    law: Finite

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """Of the finite part."""
        return self.law.formula(arith, z)

    @property
    def symmetric(self) -> bool:
        """As the finite part is."""
        return self.law.symmetric

    @property
    def exactly_symmetric(self) -> bool:
        """As the finite part is."""
        return self.law.exactly_symmetric

    @property
    def growth(self) -> Growth:
        """As for the whole."""
        return Growth.both(OneSided(0.0, self.law.omitted_growth, 0.0))

    def reflected(self) -> LossTransform:
        """The finite part turned around, with as much elsewhere."""
        return self if self.symmetric else WithOmittedMass(self.law.reflected())  # type: ignore[arg-type]

    def log_masses(self) -> tuple[Values, Values] | None:
        """Certain, if no loss is infinite."""
        law = self.law
        return None if np.isfinite(law.omitted_growth) and law.infinite_p == law.infinite_q == 0 else law.log_masses()

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K of the finite part, to within what the rest may add."""
        z = np.asarray(z)
        values, c = self.law.log_transform(z, count), z.real
        beyond = np.maximum(np.maximum(c, -1 - c), 0.0)
        log_omitted = math.log(self.law.omitted_mass)
        with np.errstate(invalid="ignore", over="ignore"):  # zero times an infinite growth: not used; nothing is known far out
            grown = log_omitted / 2 + beyond * (2 * beyond + 1) * self.law.omitted_growth / 2
        log_added = np.where(beyond > 0, grown, log_omitted) - values.mid.real + values.radius
        added = np.exp(np.minimum(np.where(np.isfinite(values.mid), log_added, np.inf), 0.0)) * (1 + 1e-9)
        spread = np.where(added < 0.5, -np.log1p(-np.minimum(added, 0.5)), np.inf)
        return Values(values.mid, values.rounding, values.inner + spread)


@dataclass(frozen=True)
class Given(Cells):
    """Vectors that are parameters themselves, each over its sum, as doubles miss a sum of one by an ulp.

    With a ``relative_error`` they are the doubles nearest to probabilities that are not known.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    relative_error: float = 0.0

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """As they were written.

        Raises
        ------
        NotImplementedError
            If all errors are to be enclosed and there is a relative error.
        """
        if self.relative_error and _proving(arith):
            raise NotImplementedError(
                "the probabilities of this law are known to doubles only, not as formulas of its parameters: no ball holds them"
            )
        numbers = {meant(one): arith.constant(one) for one in self.p + self.q}
        vectors = [[meant(one) for one in vector] for vector in (self.p, self.q)]
        if self.relative_error:
            p, q = ([numbers[one] for one in vector] for vector in vectors)
            return p, q

        def shares(vector: Sequence[Fraction]) -> dict[Fraction, Number]:
            total = reduce(add, (numbers[one] for one in vector))
            return {one: numbers[one] / total for one in vector}

        p, q = vectors
        of_p = shares(p)
        of_q = of_p if sorted(p) == sorted(q) else shares(q)
        return [of_p[one] for one in p], [of_q[one] for one in q]


@dataclass(frozen=True)
class Chosen(Cells):
    """Some of the cells."""

    cells: Cells
    places: tuple[int, ...]

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Those at the places."""
        p, q = self.cells.under(arith)
        return [p[i] for i in self.places], [q[i] for i in self.places]


@dataclass(frozen=True)
class Turned(Cells):
    """The two vectors exchanged."""

    cells: Cells

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Both, in the other order."""
        p, q = self.cells.under(arith)
        return q, p


@dataclass(frozen=True)
class Mixed(Cells):
    """(1 - rate) Q + rate P beside Q."""

    cells: Cells
    rate: float

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Cell by cell."""
        rate = arith.constant(self.rate)
        p, q = self.cells.under(arith)
        return [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)], q


@dataclass(frozen=True)
class Spliced(Cells):
    """(1 - rate) Q + rate P beside Q in the cells ``above``, P beside (1 - rate) P + rate Q ``below``, and the rest.

    Which cells these are was read off doubles; where nothing is to be rounded, it is proved.
    """

    cells: Cells
    rate: float
    above: tuple[int, ...]
    below: tuple[int, ...]
    rest: bool

    def under(self, arith: Arithmetic) -> tuple[Sequence[Number], Sequence[Number]]:
        """Those above, those below, and one cell for the rest.

        Raises
        ------
        NotImplementedError
            If nothing is to be rounded, and two probabilities are too close to each other to tell which is larger.
        """
        p, q = self.cells.under(arith)
        if (_proving(arith) or isinstance(p[0], Fraction)) and not self._ordered:
            raise NotImplementedError(
                "two probabilities of the sampled pair are so close to each other that it is not known which is larger; "
                "leave the sampling out, which is an upper bound"
            )
        rate = arith.constant(self.rate)
        high = [((1 - rate) * q[i] + rate * p[i], q[i]) for i in self.above]
        low = [(p[i], (1 - rate) * p[i] + rate * q[i]) for i in self.below]
        rest = [1 - reduce(add, (a for a, _ in high + low), 0)] if self.rest else []
        return [*(a for a, _ in high + low), *rest], [*(b for _, b in high + low), *rest]

    @cached_property
    def _ordered(self) -> bool:
        """Whether P is larger above, smaller below and the same elsewhere."""
        p, q = self.cells.under(Balls(_ORDERING, proving=True))
        same = [a == b for a, b in _named(self.cells)]
        sides = {**dict.fromkeys(self.above, 1), **dict.fromkeys(self.below, -1)}
        return all(same[i] if i not in sides else bool((sides[i] * (p[i] - q[i])).value.real > 0) for i in range(len(p)))


def _same_exchanged(cells: Cells) -> bool:
    """Whether the pair (Q, P) is (P, Q) in another order of its cells, whatever the parameters."""
    pairs = _named(cells)
    return Counter(pairs) == Counter((b, a) for a, b in pairs)


def _named(cells: Cells) -> list[tuple[Number, Number]]:
    """The names of the formulas of both vectors, cell by cell."""
    return list(zip(*cells.under(Names()), strict=True))


def _proving(arith: Arithmetic) -> bool:
    return isinstance(arith, Balls) and arith.proving


@dataclass(frozen=True)
class Thinned(LossTransform):
    """A loss of zero that survives with probability 1 - failure: K(z) = log(1 - failure)."""

    failure: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z), a constant."""
        return arith.log1p(-arith.constant(self.failure)) + 0 * z

    @property
    def continuous(self) -> bool:
        """A constant is."""
        return True

    def log_masses(self) -> tuple[Values, Values]:
        """Equal."""
        return log_complement(self.failure), log_complement(self.failure)

    @property
    def symmetric(self) -> bool:
        """K is constant."""
        return True

    @property
    def support(self) -> Support:
        """Zero."""
        return Support.within(0.0)

    @property
    def pieces(self) -> Pieces:
        """One atom."""
        return Pieces((0.0,), (math.log1p(-self.failure),))

    @property
    def lattice(self) -> Lattice:
        """One atom: any span will do."""
        return Lattice(0.0, math.inf)


def log_complement(infinite_mass: float, relative_error: float = 0.0, omitted_mass: float = 0.0) -> Values:
    """``log(1 - infinite_mass)`` to a few ulps of itself and half an ulp of the mass, with what its other errors add."""
    value = np.array([math.log1p(-infinite_mass)])
    elsewhere = 2 * omitted_mass / (1 - infinite_mass)
    return Values(value, (8e-16 + (2 * relative_error + ULP) / (1 - infinite_mass)) * np.abs(value) + elsewhere, np.zeros(1))
