"""Laws with finitely many atoms.

The file is longer than others because a finite law overrides nearly every optional member.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arith.summation import error_of_log
from logphi.arrays import Array
from logphi.laws.atomic.batched_finite import batched
from logphi.laws.atomic.cells import Cells, Chosen, Exchanged, Given
from logphi.laws.atomic.tilted_atoms import TiltedAtoms
from logphi.laws.closed_form import ClosedForm
from logphi.laws.spans import common_span
from logphi.laws.support import Lattice, LogMasses, Omitted, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T, Terms, apart
from logphi.laws.visitor import LawVisitor, ListedMasses
from logphi.laws.zero_or_infinite import log_complement
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes
from logphi.quadrature.values import Line, Values

# derived: with this much infinite mass, K is not near zero
_MOSTLY = 0.1
# derived: the logarithm of a number within the range of doubles
_IN_RANGE = 700.0
# chosen: with more atoms, neighbours are merged for approximate values
_MANY = 2048


@dataclass(frozen=True)
class Finite(LossTransform):
    """Mass p_j at log(p_j / q_j) over the common support: K(z) = log( sum of p_j^{1+z} q_j^{-z} ).

    ``infinite_p`` and ``infinite_q`` are the two masses outside it. ``relative_error`` bounds the relative error of each
    probability, in addition to half an ulp; ``cell_errors``, where given, are sharper: the relative errors of all p_j, and the
    errors of all log-ratios. ``exact`` has the formulas of the probabilities, if they are not the parameters themselves.
    ``omitted_mass`` bounds the mass that either law has at unknown losses; with this mass included, K(z) of either law is at
    most z (z + 1) ``omitted_growth`` / 2 for z >= 0. ``known_lattice`` is the lattice of a law that has all these atoms, if it
    is known already.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    infinite_p: float = 0.0
    infinite_q: float = 0.0
    relative_error: float = 0.0
    exact: Cells | None = None
    omitted_mass: float = 0.0
    omitted_growth: float = math.inf
    cell_errors: tuple[tuple[float, ...], ...] = ()
    known_lattice: tuple[Lattice | None, ...] = field(default=(), compare=False)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: vectors may be long, and sums of laws compare their terms."""
        return hash((self.p, self.q, self.infinite_p, self.infinite_q, self.relative_error, self.omitted_mass))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        if arith is FLOATS:
            return FLOATS.log_power_sum(*self._arrays, z)
        return arith.log_power_sum(*self.cells.under(arith), z)

    def _error_of_sums(self, z: NDArray[Any]) -> Array:
        """Bounds of the relative error of the sums of the |p_j^{1+z} q_j^{-z}| by the errors of the probabilities."""
        size = np.abs(z)
        if not self.cell_errors:
            return np.asarray(np.expm1(np.minimum(self.relative_error + 2 * self.relative_error * size, 1.0)))
        of_p, of_loss = self._cell_errors
        abscissas, back = np.unique(z.real, return_inverse=True)
        exponent = self._logs[0] + abscissas[:, None] * self._loss
        share = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean_of_p, mean_of_loss = ((share @ one)[back].reshape(z.shape) for one in (of_p, of_loss))
        largest = np.minimum(of_p.max() + size * of_loss.max(), 1.0)
        # e^x - 1 is at most x e^x; the shares are known to far less than a millionth
        wrong: Array = (mean_of_p + size * mean_of_loss) * np.exp(largest) * (1 + 1e-6)
        return np.where(largest < 1, wrong, np.expm1(1.0))

    @property
    def cells(self) -> Cells:
        """The probabilities on the common support, if no mass is omitted."""
        return self.exact or Given(self.p, self.q, self.relative_error)

    @cached_property
    def traits(self) -> Traits:
        """Symmetric if one vector of doubles is a permutation of the other."""
        same = self.infinite_p == self.infinite_q
        return Traits(same and sorted(zip(self.p, self.q, strict=True)) == sorted(zip(self.q, self.p, strict=True)))

    @cached_property
    def support(self) -> Support:
        """From the smallest log-ratio to the largest, each with the error of two logarithms, doubled."""
        losses, size = self.losses, 1 + self._log_size
        room = 1e-15 * size + self._ratio_error
        return Support(
            min(losses) - room,
            max(losses) + room,
            4e-15 * size + 2 * self._ratio_error,
            pieces=self._pieces(losses, size),
            lattice=self._lattice(losses, size),
            omitted=Omitted(self.omitted_mass, self.omitted_growth),
            masses=LogMasses(self._log_mass(self.p, self.infinite_p), self._log_mass(self.q, self.infinite_q)),
        )

    @cached_property
    def _ratio_error(self) -> float:
        """The error of every log-ratio in addition to the half ulps of the two probabilities."""
        return float(self._cell_errors[1].max()) if self.cell_errors else 2 * self.relative_error

    def _pieces(self, losses: tuple[float, ...], size: float) -> Pieces:
        """The atoms, with tilted weights (p_j q_j)^{1/2}."""
        log_p, log_q = self._logs
        weights = tuple(((log_p + log_q) / 2).tolist())
        location_error = 4e-16 * size + self._ratio_error
        return Pieces(losses, weights, location_error=location_error, relative_error=self.relative_error)

    def _lattice(self, losses: tuple[float, ...], size: float) -> Lattice | None:
        """The common span of the distances between losses, if there is one."""
        if self.known_lattice:
            return self.known_lattice[0]
        points = np.unique(losses)
        gaps = points[1:] - points[0]
        own = 4e-16 * size + self._ratio_error
        # points within rounding of the first count as equal to it
        close = float(gaps[gaps <= 4 * own].max(initial=0.0))
        common = common_span([(float(gap), own) for gap in gaps if gap > 4 * own])
        return None if common is None else Lattice(float(points[0]), common[0], common[1] + own + close)

    @property
    def closed_form(self) -> ClosedForm:
        """Sums over the atoms."""
        return ClosedForm(partial_masses=self.partial_masses)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K; the errors of the probabilities count relative to the sum of absolute terms."""
        values = super().log_transform(z, count)
        if self.relative_error == 0:
            return values
        sizes = values.mid.real if not np.iscomplexobj(z) else super().log_transform(np.asarray(z).real).mid
        known = np.isfinite(values.mid) & np.isfinite(sizes)
        ratio = np.exp(np.minimum(np.where(known, sizes, 0.0) - np.where(known, values.mid.real, 0.0), 700.0))
        relative = ratio * self._error_of_sums(np.asarray(z))
        spread = np.where(known, error_of_log(relative), np.inf)
        return Values(values.mid, values.rounding + spread, values.inner)

    @property
    def approximate(self) -> Approximation:
        """From the atoms, merged if there are many, each a summand on a line; of much omitted mass, from ``log_transform``."""
        if max(self.infinite_p, self.infinite_q) > _MOSTLY:
            return super().approximate
        return Approximation.of(self._merged, summands=len(self.p))

    @cached_property
    def _merged(self) -> ApproximateNodes:
        return ApproximateNodes(self._loss, self._logs[1], (self.infinite_p, self.infinite_q)).merged(_MANY)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, from the relevant atoms under the tilt."""
        return self._tilted(line.abscissa).on_line(line)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """From sums over the relevant atoms under the tilt, and from their mean deviation."""
        return self._tilted(abscissa).log_block(abscissa, centres, radius, self.support.width)

    @staticmethod
    def batched(terms: Terms, *, coarse: bool = False) -> Terms:
        """Many finite laws as one term."""
        return terms if coarse else batched([(law, law, count) for law, count in terms if isinstance(law, Finite)])

    @property
    def atoms_under_q(self) -> Array:
        """Rows of losses, Q-masses, relative errors of these, and errors of the losses."""
        _, loss_error = self._errors
        mass_error = self._cell_errors.sum(axis=0) if self.cell_errors else np.full(loss_error.size, self.relative_error)
        return np.stack([self._loss, self._arrays[1], mass_error + ULP, loss_error])

    @property
    def infinite_masses(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The masses of P and Q at infinite losses, and bounds of their errors, which contain the omitted mass."""
        own = self.relative_error + (float(self._cell_errors.sum(axis=0).max()) if self.cell_errors else 0.0)
        masses = (self.infinite_p, self.infinite_q)
        first, second = (2 * own * mass + self.omitted_mass for mass in masses)
        return masses, (first, second)

    def _tilted(self, abscissa: float) -> TiltedAtoms:
        return TiltedAtoms.of(self._logs[0], self._loss, self._errors, abscissa)

    def _log_mass(self, kept: Sequence[float], infinite_mass: float) -> Values:
        """From the smaller of the finite mass and its complement."""
        if infinite_mass <= 0.5:
            return log_complement(infinite_mass, self.relative_error, self.omitted_mass)
        # the complement of a mass near one has few digits
        total = math.fsum(kept)
        value = np.array([math.log(total)])
        return Values(
            value, 2 * ULP * (2 + np.abs(value)) + 2 * self.relative_error + 2 * self.omitted_mass / total, np.zeros(1)
        )

    @cached_property
    def losses(self) -> tuple[float, ...]:
        """log(p_j / q_j), each with at most the rounding of two logarithms."""
        return tuple(self._loss.tolist())

    @cached_property
    def _logs(self) -> tuple[Array, Array]:
        p, q = self._arrays
        return np.log(p), np.log(q)

    @cached_property
    def _cell_errors(self) -> Array:
        """A row of errors of the p_j, and one of log-ratios; no rows if they are not given."""
        return np.array(self.cell_errors)

    @cached_property
    def _arrays(self) -> tuple[Array, Array]:
        """Both vectors."""
        return np.array(self.p), np.array(self.q)

    @cached_property
    def _loss(self) -> Array:
        """The losses, relatively accurate near zero, where p - q is exact."""
        p, q = self._arrays
        near = (p < 2 * q) & (q < 2 * p)
        log_p, log_q = self._logs
        # the logarithm of a quotient has fewer roundings than a difference of two large logarithms
        quotient = np.divide(p, q, out=np.ones_like(p), where=self._has_quotient)
        far = np.where(self._has_quotient, np.log(quotient), log_p - log_q)
        return np.where(near, np.log1p(np.where(near, p - q, 0.0) / q), far)

    @cached_property
    def _has_quotient(self) -> NDArray[np.bool_]:
        """Whether p_j / q_j is within the range of doubles."""
        log_p, log_q = self._logs
        return np.asarray(np.abs(log_p - log_q) < _IN_RANGE)

    @cached_property
    def _errors(self) -> tuple[Array, Array]:
        """The relative errors of the p_j, and the errors of the losses."""
        log_p, log_q = self._logs
        far = np.abs(self._loss) > 0.6
        size = np.where(self._has_quotient, np.abs(self._loss), np.abs(log_p) + np.abs(log_q))
        rounding = np.where(far, ELEMENTARY * size, 0.0) + 3 * ULP
        if self.cell_errors:
            weight_error, of_loss = self._cell_errors
        else:
            weight_error, of_loss = (share * np.full(log_p.shape, self.relative_error) for share in (1, 2))
        return weight_error + ULP, of_loss + rounding

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Sums over the atoms on either side; the omitted mass may lie on either."""
        found = self._masses_of_pieces(x, tilted=tilted)
        omitted = Scaled(0.0, 0.0, truncation=self.omitted_mass)
        return found and (found[0] + omitted, found[1] + omitted)

    @cached_property
    def _log_size(self) -> float:
        return max(float(np.abs(part).max()) for part in self._logs)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The atoms."""
        return visitor.atoms(self._atoms)

    def _atoms(self) -> ListedMasses:
        log_p, _ = self._logs
        weight_error, of_loss = self._errors
        # a logarithm has its own rounding and the relative error of its argument
        of_logarithm = -np.log1p(-np.minimum(weight_error, 0.5)) + ELEMENTARY * np.abs(log_p) / 2 + ULP
        return self._loss, log_p, of_loss, of_logarithm

    def reflected(self) -> LossTransform:
        """The law with p and q exchanged."""
        if self.traits.symmetric:
            return self
        exact = None if self.exact is None else Exchanged(self.exact)
        # the errors of q follow from those of p and of the log-ratio
        errors = (tuple(self._cell_errors.sum(axis=0).tolist()), self.cell_errors[1]) if self.cell_errors else ()
        return Finite(
            self.q,
            self.p,
            self.infinite_q,
            self.infinite_p,
            self.relative_error,
            exact,
            self.omitted_mass,
            self.omitted_growth,
            errors,
        )

    def capped(self, cap: float) -> Finite:
        """The law with the atoms above a cap removed from both measures; itself if that removes all or none."""
        if self._loss.max() <= cap or self._loss.min() > cap:
            return self
        below = self._loss <= cap
        kept = np.flatnonzero(below).tolist()
        lost_p, lost_q = (math.fsum(numbers[~below].tolist()) for numbers in self._arrays)
        p, q = (tuple(numbers[below].tolist()) for numbers in self._arrays)
        return replace(
            self,
            p=p,
            q=q,
            infinite_p=self.infinite_p + lost_p,
            infinite_q=self.infinite_q + lost_q,
            exact=None if self.exact is None else Chosen(self.exact, tuple(kept)),
            cell_errors=tuple(tuple(one[below].tolist()) for one in self._cell_errors),
            known_lattice=(self.support.lattice,),
        )

    def _log_mass_above(self, cap: float) -> float:
        """The logarithm of an upper bound of the mass that :meth:`capped` removes; minus infinity if it removes none."""
        losses, masses = self._upper_masses
        omitted = float(masses[np.searchsorted(losses, cap, side="right")])
        return math.log(omitted) + 2 * self.relative_error + 1e-9 if omitted > 0 and losses[0] <= cap else -math.inf

    def without_rare(self, most: float) -> tuple[Finite, float]:
        """The law without its highest atoms, of a P-mass up to ``most`` altogether, and a bound of that mass."""
        losses, masses = self._upper_masses
        lowest = max(int(np.argmax(masses <= most)), 1)
        if lowest == losses.size:
            return self, 0.0
        cap = float(losses[lowest - 1])
        return self.capped(cap), math.exp(self._log_mass_above(cap))

    @cached_property
    def _upper_masses(self) -> tuple[Array, Array]:
        """The losses in order, and for each the sum of the p_j from there on."""
        order = np.argsort(self._loss)
        return self._loss[order], np.append(np.cumsum(self._arrays[0][order][::-1])[::-1], 0.0)


CountedFinite = tuple[tuple[Finite, int], ...]


def finite_laws(terms: Terms) -> tuple[CountedFinite, Terms]:
    """The laws of this file among counted laws, and the others."""
    return apart(terms, Finite)
