"""Laws of finitely many atoms in balls: their masses, and exact losses where these are known."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import flint

from logphi.arith.protocol import Arithmetic, Number
from logphi.certified.exponential_polynomials import ExponentialPolynomial, Points, TwoExponentials
from logphi.certified.laws.formula import Formula
from logphi.certified.laws.law import LawInBalls
from logphi.certified.locations import Exact, Location
from logphi.certified.reals import constant, real
from logphi.certified.transform import Transform
from logphi.laws.atomic.integers import TruncatedNormalOnIntegers
from logphi.laws.atomic.symmetric_lattice import GeometricShift
from logphi.laws.flat.two_point import TwoPoint
from logphi.laws.zero_or_infinite import ZeroOrInfinite


@dataclass(frozen=True)
class Atoms:
    """Masses p and q of the two laws on their common outcomes, and the losses log(p/q) as exact numbers.

    ``infinite`` is P(L = inf); ``omitted`` bounds the mass that P has on common outcomes that are left out.
    """

    p: tuple[Any, ...]
    q: tuple[Any, ...]
    places: tuple[Location, ...]
    infinite: Any
    omitted: float = 0.0

    @property
    def tilted(self) -> tuple[Any, ...]:
        """The tilted weights (p q)^{1/2}."""
        return tuple((a * b).sqrt() for a, b in zip(self.p, self.q, strict=True))


class AtomicInBalls(LawInBalls):
    """A law of atoms; by default one with a formula, and without decay along a line."""

    @abstractmethod
    def atoms(self) -> Atoms:
        """The atoms.

        Raises
        ------
        NotCertifiedError
            If its probabilities are known to some digits only.
        """

    def infinite_mass(self) -> Any:
        """The infinite mass of the atoms."""
        return self.atoms().infinite

    def transform(self) -> Transform:
        """By the formula."""
        return Formula(self.law)

    def exponential_polynomial(self) -> ExponentialPolynomial:
        """One exponential for each atom."""
        atoms = self.atoms()
        values = [(a / b).log() for a, b in zip(atoms.p, atoms.q, strict=True)]
        from_top = sorted(zip(values, atoms.tilted, atoms.places, strict=True), key=lambda atom: -float(atom[0].mid()))
        places, sizes, at = (tuple(atom[i] for atom in from_top) for i in (2, 1, 0))
        return (TwoExponentials if len(places) == 2 else Points)(places, sizes, at, atoms.omitted)


class TwoPointInBalls(AtomicInBalls):
    """Two opposite losses."""

    kinds = (TwoPoint,)

    def atoms(self) -> Atoms:
        """Two atoms whose odds are the exponential of the loss."""
        high = real(self.law.point)
        p, place = 1 / (1 + (-high).exp()), Location.of(self.law.point.under(Exact()))
        q = 1 / (1 + high.exp())
        return Atoms((p, q), (q, p), (place, -place), flint.arb(0))

    def lattice(self, arith: Arithmetic) -> tuple[Number, int]:
        """Two atoms, twice the loss apart."""
        return 2 * self.law.point.under(arith), 1


class FailureInBalls(AtomicInBalls):
    """A loss that is zero or infinite."""

    kinds = (ZeroOrInfinite,)

    @property
    def zero_or_infinite(self) -> bool:
        """Yes: the loss is zero or infinite."""
        return True

    def atoms(self) -> Atoms:
        """A single atom at zero."""
        infinite = constant(self.law.failure)
        return Atoms((1 - infinite,), (1 - infinite,), (Location(),), infinite)


class _EquallySpacedInBalls(AtomicInBalls):
    """Equally spaced losses, symmetric around zero."""

    def lattice(self, arith: Arithmetic) -> tuple[Number, int]:
        """The gap of the law."""
        return self.law.span_under(arith), self.law.steps

    def _places(self) -> tuple[Location, ...]:
        gap = self.law.span_under(Exact())
        return tuple(Location(gap * (2 * j - self.law.steps) / 2) for j in range(self.law.steps + 1))


class GeometricShiftInBalls(_EquallySpacedInBalls):
    """Two two-sided geometric laws on the integers, some steps apart."""

    kinds = (GeometricShift,)

    def atoms(self) -> Atoms:
        """One atom for each tail, and one for each integer between the centres."""
        rate, shift = 1 / constant(self.law.scale), self.law.shift
        end, inner = 1 / (1 + (-rate).exp()), (rate / 2).tanh()
        p = [(-rate * shift).exp() * end, *(inner * (-rate * (shift - j)).exp() for j in range(1, shift)), end]
        return Atoms(tuple(p), tuple(reversed(p)), self._places(), flint.arb(0))


class TruncatedNormalOnIntegersInBalls(_EquallySpacedInBalls):
    """Two normal laws on finitely many integers, some steps apart."""

    kinds = (TruncatedNormalOnIntegers,)

    def atoms(self) -> Atoms:
        """The outcomes of both laws; those of one law only are infinite losses."""
        sigma, most = constant(self.law.sigma), self.law.most
        twice = 2 * sigma * sigma
        weights = [(-flint.arb(x * x) / twice).exp() for x in range(-most, most + 1)]
        total = sum(weights, flint.arb(0))
        common = [weight / total for weight in weights[: self.law.steps + 1]]
        infinite = sum(weights[self.law.steps + 1 :], flint.arb(0)) / total
        return Atoms(tuple(common), tuple(reversed(common)), self._places(), infinite)
