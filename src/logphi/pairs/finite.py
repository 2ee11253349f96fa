"""Pairs of finite probability vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from logphi.arith.floats import FLOATS
from logphi.arrays import Array
from logphi.laws.always_infinite import AlwaysInfinite
from logphi.laws.atomic.cells import Cells, Chosen, Exchanged, Given, Mixed, Spliced
from logphi.laws.atomic.finite import Finite
from logphi.laws.atomic.products import OneOfMany, Powers, Products
from logphi.laws.log_phi import LogPhi
from logphi.laws.support import Lattice
from logphi.pairs.pair import Pair, UnsupportedError
from logphi.text.written import exactly

if TYPE_CHECKING:  # numerics that a first answer does not need
    from logphi.grid.ratio_laws import Ratios

# measured: a product of so many cells takes a tenth of a second
MOST_CELLS = 4096
# derived: below it, products lose their digits
LEAST_PRODUCT = 1e-250


@dataclass(frozen=True)
class FinitePair(Pair):
    """Two probability vectors on the same cells; the loss is infinite on a cell with q = 0.

    ``relative_error`` bounds that of each probability, besides half an ulp. ``cell_errors``, where given, are sharper: by cell
    the relative errors of p, those of q, and those of their ratio. ``exact`` gives the probabilities as formulas of parameters;
    without it they are parameters themselves or, with a ``relative_error``, not known as formulas. ``omitted_mass`` bounds the
    mass of either law on cells that are left out, far below one half: they count as infinite losses in upper bounds, and not at
    all in lower ones. If ``omitted_growth`` v is finite, no loss on these cells is infinite, and the whole pair has
    K(z) <= z (z + 1) v / 2 for z >= 0, in both orders. Mixing and splicing keep this, as p^{1+z} q^{-z} is convex in both
    arguments, and as neither makes a profile larger. ``lattice`` carries all losses, where it is known.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    relative_error: float = 0.0
    exact: Cells | None = None
    omitted_mass: float = 0.0
    omitted_growth: float = math.inf
    cell_errors: tuple[tuple[float, ...], ...] = ()
    lattice: Lattice | None = None

    @staticmethod
    def of(cells: Cells) -> FinitePair:
        """The pair whose probabilities are formulas; its error is their rounding, with half an ulp of every parameter.

        Raises
        ------
        ValueError
            If a probability is not positive beyond its rounding, or a vector does not sum to one within it.
        """
        p, q = cells.under(FLOATS)
        for name, vector in (("p", p), ("q", q)):
            if not all(0 <= disc.rad < disc.mid / 2 for disc in vector):
                raise ValueError(f"every cell needs a positive probability under {name}: leave out cells that have none")
            total, room = math.fsum(float(disc.mid) for disc in vector), math.fsum(float(disc.rad) for disc in vector)
            if abs(total - 1) > room + 1e-15 * len(vector):
                raise ValueError(f"the formulas of {name} must sum to one, got {total!r}")
        return FinitePair._enclosed(cells)

    @staticmethod
    def _enclosed(
        cells: Cells, relative_error: float = 0.0, omitted_mass: float = 0.0, omitted_growth: float = math.inf
    ) -> FinitePair:
        """The doubles at the centres of the formulas; the relative error grows by twice their relative radius."""
        p, q = cells.under(FLOATS)
        radius = max(float(disc.rad) / float(disc.mid) for disc in (*p, *q) if disc.mid) * (1 + 1e-9)
        mid_p, mid_q = (tuple(float(disc.mid) for disc in vector) for vector in (p, q))
        # formulas of uncertain inputs are not exact
        exact = None if relative_error else cells
        return FinitePair(mid_p, mid_q, relative_error + 2 * radius, exact, omitted_mass, omitted_growth)

    def loss(self) -> LogPhi:
        """A finite law on the common support; always infinite if that is empty, the empty sum if both vectors agree."""
        if self._equal:
            return LogPhi()
        p, q = np.array(self.p), np.array(self.q)
        both = (p > 0) & (q > 0)
        if not both.any():
            return LogPhi.of([(AlwaysInfinite(), 1)])
        infinite_p, infinite_q = math.fsum(p[q == 0].tolist()), math.fsum(q[p == 0].tolist())
        exact = self._cells if self._cells is None or both.all() else Chosen(self._cells, tuple(np.flatnonzero(both).tolist()))
        errors = tuple(tuple(np.array(one)[both].tolist()) for one in self.cell_errors[::2])
        law = Finite(
            tuple(p[both].tolist()),
            tuple(q[both].tolist()),
            infinite_p,
            infinite_q,
            self.relative_error,
            exact,
            self.omitted_mass,
            self.omitted_growth,
            errors,
            () if self.lattice is None else (self.lattice,),
        )
        return LogPhi.of([(law, 1)])

    def reversed(self) -> FinitePair:
        """The vectors exchanged."""
        exact = None if self.exact is None else Exchanged(self.exact)
        errors = (self.cell_errors[1], self.cell_errors[0], *self.cell_errors[2:]) if self.cell_errors else ()
        lattice = self.lattice and self.lattice.reflected()
        return FinitePair(self.q, self.p, self.relative_error, exact, self.omitted_mass, self.omitted_growth, errors, lattice)

    def repeated(self, count: int) -> Pair:
        """The counts of each cell in ``count`` draws, if there are few such vectors of counts."""
        if count == 1 or self._log_least * count < math.log(LEAST_PRODUCT):
            return super().repeated(count)
        if math.comb(count + len(self.p) - 1, count) > MOST_CELLS:
            return super().repeated(count)
        relative_error = math.expm1(count * math.log1p(self._formula_error))
        return FinitePair._enclosed(
            Powers(self._formulas, count), relative_error, count * self.omitted_mass, count * self.omitted_growth
        )

    def allocated_loss(self, batches: int) -> LogPhi:
        """The counts of each cell in all batches, if there are few such vectors of counts.

        Raises
        ------
        UnsupportedError
            If there are many, or the smallest probability is too small for a double.
        """
        if self._equal:
            return LogPhi()
        few = math.comb(batches + len(self.p) - 1, batches) <= MOST_CELLS
        if not few or self._log_least * batches < math.log(LEAST_PRODUCT):
            raise UnsupportedError(
                f"random allocation of a mechanism with {len(self.p)} outcomes to {batches} batches has too many combinations "
                "of outcomes, or too rare ones: take fewer batches; m.fixed_order(batches) is an upper bound"
            )
        relative_error = math.expm1(batches * math.log1p(self._formula_error))
        cells = OneOfMany(self._formulas, batches)
        return FinitePair._enclosed(cells, relative_error, batches * self.omitted_mass, self.omitted_growth).loss()

    def ratios(self, cells: int) -> Ratios:
        """The law of the ratios of the cells."""
        import numpy as np

        from logphi.grid.ratio_laws import of_outcomes

        return of_outcomes(np.array(self.p), np.array(self.q), cells, self.relative_error, self.omitted_mass)

    def product_with(self, other: Pair) -> Pair:
        """The product of the two pairs, if it has few cells."""
        if not isinstance(other, FinitePair) or len(self.p) * len(other.p) > MOST_CELLS:
            return super().product_with(other)
        if self._log_least + other._log_least < math.log(LEAST_PRODUCT):
            return super().product_with(other)
        relative_error = math.expm1(math.log1p(self._formula_error) + math.log1p(other._formula_error))
        cells = Products(self._formulas, other._formulas)
        return FinitePair._enclosed(
            cells, relative_error, self.omitted_mass + other.omitted_mass, self.omitted_growth + other.omitted_growth
        )

    @property
    def _formulas(self) -> Cells:
        """The probabilities as formulas, or as the doubles that stand for them."""
        return self.exact or Given(self.p, self.q, self.relative_error)

    @property
    def _formula_error(self) -> float:
        """The relative error that the formulas do not account for."""
        return self.relative_error if self.exact is None else 0.0

    @property
    def _log_least(self) -> float:
        return math.log(min(number for number in self.p + self.q if number))

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixed probabilities, cell by cell."""
        if self._equal:
            return LogPhi()
        p = rate * np.array(self.p)
        mixed = (1 - rate) * np.array(self.q) + p
        # half an ulp of the rate, which 1 - rate inherits
        exact = None if self._cells is None else Mixed(self._cells, rate)
        own = 2.0**-53 * (rate / (1 - rate) + 4)
        errors: tuple[tuple[float, ...], ...] = ()
        if self.cell_errors:
            of_p, of_q, of_ratio = np.array(self.cell_errors)
            found = _mixed_errors(p / np.where(mixed > 0, mixed, 1.0), of_p, of_q, of_ratio, own)
            errors = tuple(tuple(part.tolist()) for part in found)
        vectors = tuple(mixed.tolist()), self.q
        return FinitePair(*vectors, self.relative_error + own, exact, self.omitted_mass, self.omitted_growth, errors).loss()

    def spliced_loss(self, rate: float) -> LogPhi:
        """The cells where P is larger, those where Q is larger, and one cell for the rest."""
        if self._equal:
            return LogPhi()
        pairs = list(zip(self.p, self.q, strict=True))
        higher = tuple(i for i, (a, b) in enumerate(pairs) if a > b)
        lower = tuple(i for i, (a, b) in enumerate(pairs) if a < b)
        above = [((1 - rate) * pairs[i][1] + rate * pairs[i][0], pairs[i][1]) for i in higher]
        below = [(pairs[i][0], (1 - rate) * pairs[i][0] + rate * pairs[i][1]) for i in lower]
        # both laws have the same mass left
        rest = math.fsum([*(a for a, b in pairs if a == b), *((1 - rate) * (a - b) for a, b in pairs if a > b)])
        kept = [*above, *below, *([(rest, rest)] if rest > 0 else [])]
        # half an ulp of the rate also affects 1 - rate; a difference of two probabilities loses digits
        cancellation = math.fsum(a for a, b in pairs if a > b) / max(rest, 1e-300) if rest > 0 else 0.0
        own = 2.0**-53 * (rate / (1 - rate) + 6)
        relative_error = (self.relative_error + own) * max(1.0, 2 * cancellation)
        exact = None if self._cells is None else Spliced(self._cells, rate, higher, lower, rest > 0)
        above_and_below = tuple(a for a, _ in kept), tuple(b for _, b in kept)
        errors: list[tuple[float, float, float]] = []
        if self.cell_errors:
            given = list(zip(*self.cell_errors, strict=True))
            for (a, _), i in zip(above, higher, strict=True):
                of_p, of_q, of_ratio = given[i]
                of_mixed, _, of_loss = _mixed_errors(rate * pairs[i][0] / a, of_p, of_q, of_ratio, own)
                errors.append((float(of_mixed), of_q, float(of_loss)))
            for (_, b), i in zip(below, lower, strict=True):
                of_p, of_q, of_ratio = given[i]
                of_mixed, _, of_loss = _mixed_errors(rate * pairs[i][1] / b, of_q, of_p, of_ratio, own)
                errors.append((of_p, float(of_mixed), float(of_loss)))
            # the rest is one number under both laws
            errors += [(relative_error, relative_error, 0.0)] * (rest > 0)
        by_kind = tuple(zip(*errors, strict=True))
        return FinitePair(*above_and_below, relative_error, exact, self.omitted_mass, self.omitted_growth, by_kind).loss()

    @property
    def _equal(self) -> bool:
        """Whether the two vectors are known to be equal."""
        return not self.relative_error and self.exact is None and self.p == self.q and exactly(self.p) == exactly(self.q)

    @property
    def _cells(self) -> Cells | None:
        """The formulas of the probabilities, if there are any."""
        return Given(self.p, self.q) if self.exact is None and self.relative_error == 0 else self.exact


def _mixed_errors(share: Any, of_p: Any, of_q: Any, of_ratio: Any, own: float) -> tuple[Any, Any, Any]:
    """Errors of a cell of (1 - rate) Q + rate P, of Q, and of their ratio.

    P contributes a ``share`` of the mixture; ``own`` is the error of forming it.
    """
    share = np.minimum(share * (1 + 1e-9), 1.0)
    return share * of_p + (1 - share + 1e-9) * of_q + own, of_q, share * of_ratio + own


def listed(columns: Sequence[Array], only: tuple[float, float], only_error: tuple[float, float], omitted: float) -> FinitePair:
    """The pair with the ``columns`` p, q, and the relative errors of p, of q and of their ratios, one row for each outcome.

    One more outcome has the mass ``only[0]`` under P alone, and another ``only[1]`` under Q alone, with relative errors.

    Raises
    ------
    ValueError
        If there are no outcomes.
    """
    if not columns[0].size:
        raise ValueError("no mass under both laws is known well enough")
    for side in (0, 1):
        if only[side] > 0:
            more = [0.0, 0.0, only_error[side], only_error[side], 0.0]
            more[side] = only[side]
            columns = [np.append(column, one) for column, one in zip(columns, more, strict=True)]
    p, q, *errors = (tuple(column.tolist()) for column in columns)
    return FinitePair(p, q, max(*errors[0], *errors[1]), None, omitted, math.inf, tuple(errors))
