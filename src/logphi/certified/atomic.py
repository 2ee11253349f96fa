"""Finite laws on a line: sums of turned exponentials."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import acb, arb

from logphi.certified.cells import atoms_of
from logphi.certified.part import Part
from logphi.certified.powers import turned_sums
from logphi.laws.finite import Finite


@dataclass(frozen=True, eq=False)
class Atomic(Part):
    """Masses at the logarithms of the ratios of two probability vectors; nothing of it falls."""

    law: Finite

    @cached_property
    def _atoms(self) -> list[tuple[Any, Any]]:
        """Masses and places."""
        atoms = atoms_of(self.law)
        return [(p, (p / q).log()) for p, q in zip(atoms.p, atoms.q, strict=True)]

    @property
    def omitted_mass(self) -> float:
        """Of the law."""
        return self.law.omitted_mass

    def on_line(self, c: Any, step: Any, size: int) -> list[Any]:
        """Atom by atom."""
        weights = [p * (c * place).exp() for p, place in self._atoms]
        if size == 1:
            return [acb(sum(weights, arb(0)))]
        first, *others = turned_sums(weights, [acb(0, step * place).exp() for _, place in self._atoms], size)
        return [acb(first.real), *others]
