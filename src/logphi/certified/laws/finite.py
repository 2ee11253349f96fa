"""Finite laws in balls: two probability vectors, of exact numbers or of formulas of the parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import acb, arb

from logphi.certified.exponential_sums import exponential_sums
from logphi.certified.laws.atoms import AtomicInBalls, Atoms
from logphi.certified.locations import Exact, Location, Unit
from logphi.certified.reals import ball, balls
from logphi.certified.route import NotCertifiedError
from logphi.certified.transform import Transform
from logphi.laws.atomic.cells import same_exchanged
from logphi.laws.atomic.finite import Finite


class FiniteInBalls(AtomicInBalls):
    """Masses at the logarithms of the ratios of two probability vectors."""

    kinds = (Finite,)

    @property
    def symmetric(self) -> bool:
        """Whether the formulas of one vector are a permutation of those of the other."""
        return bool(self.law.traits.symmetric) and same_exchanged(self.law.cells)

    @property
    def omitted(self) -> float:
        """The omitted mass of the law."""
        return float(self.law.omitted_mass)

    def transform(self) -> Transform:
        """The sum over the atoms."""
        return AtomSum(self)

    def atoms(self) -> Atoms:
        """Exact numbers if the probabilities are exact, otherwise balls."""
        law = self.law
        if law.exact is None and law.relative_error:
            raise NotCertifiedError(
                "a mechanism gives the probabilities of a finite law to some digits only, and a certificate needs formulas "
                "of the parameters: state it as a Discrete, whose probabilities are exactly those written"
            )
        if law.omitted_mass and not math.isfinite(law.omitted_growth):
            raise NotCertifiedError(
                "a truncated law loses outcomes of small probability before it is sampled, and their losses may be infinite: "
                "leave out the truncation, or the sampling"
            )
        if law.exact is None and (law.infinite_p or law.infinite_q):
            raise NotCertifiedError(
                "the infinite losses of a finite law are known as doubles only: state it as a Discrete, with all its outcomes"
            )
        cells = law.cells
        try:
            p, q = cells.under(Exact())
        except NotImplementedError:
            try:
                p, q = ([cell.value.real for cell in side] for side in cells.under(balls()))
            except NotImplementedError as reason:
                raise NotCertifiedError(str(reason)) from None
            units = [Unit((cells, j), (a / b).log()) for j, (a, b) in enumerate(zip(p, q, strict=True))]
            places = [Location(units=((unit, 1),)) for unit in units]
            infinite = 1 - sum(p, arb(0)) if law.infinite_p else arb(0)
            return Atoms(tuple(p), tuple(q), tuple(places), infinite, law.omitted_mass)
        places = [Location(ratio=a / b) for a, b in zip(p, q, strict=True)]
        return Atoms(tuple(map(ball, p)), tuple(map(ball, q)), tuple(places), ball(1 - sum(p, Fraction(0))), law.omitted_mass)


@dataclass(frozen=True, eq=False)
class AtomSum(Transform):
    """The sum over the atoms, which does not decay."""

    law: FiniteInBalls

    @cached_property
    def _atoms(self) -> list[tuple[Any, Any]]:
        """Masses and losses."""
        atoms = self.law.atoms()
        return [(p, (p / q).log()) for p, q in zip(atoms.p, atoms.q, strict=True)]

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """The sums over the atoms."""
        weights = [p * (c * place).exp() for p, place in self._atoms]
        if size == 1:
            return [acb(sum(weights, arb(0)))]
        first, *others = exponential_sums(weights, [acb(0, step * place).exp() for _, place in self._atoms], size)
        return [acb(first.real), *others]
