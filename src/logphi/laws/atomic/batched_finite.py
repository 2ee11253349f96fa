"""Many finite laws, computed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.laws.block_sum import log_block_of_sum
from logphi.laws.curves.batched import Batched
from logphi.laws.transform import LossTransform, Terms
from logphi.quadrature.curves.common_panels import MANY, BatchNodes, Powers


class Atoms(Protocol):
    """What is known of one finite law: rows of losses, Q-masses, relative errors of these, and errors of the losses."""

    @property
    def atoms_under_q(self) -> Array:
        """The four rows."""

    @property
    def infinite_masses(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The masses of P and Q at infinite losses, and bounds of their errors, which contain omitted masses."""


@dataclass(frozen=True, eq=False)
class BatchedFinite(Batched):
    """The sum of counted finite laws."""

    atoms: tuple[Atoms, ...]

    def nodes(self, part: slice, powers: Powers) -> BatchNodes:
        """The atoms: no quadrature errs."""
        each = [law.atoms_under_q for law in self.atoms[part]]
        loss, mass, mass_error, loss_error = np.concatenate(each, axis=1)
        infinite, infinite_error = np.array([law.infinite_masses for law in self.atoms[part]]).swapaxes(0, 1)
        size = len(each)
        return BatchNodes(
            self.counts[part],
            np.repeat(np.arange(size), [one.shape[1] for one in each]),
            loss,
            mass,
            mass_error,
            loss_error,
            np.zeros(size),
            np.zeros(size),
            infinite,
            infinite_error + 8 * ULP * infinite,
        )

    @cached_property
    def sizes(self) -> Array:
        """The number of atoms of each law."""
        return np.array([float(law.atoms_under_q.shape[1]) for law in self.atoms])

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The sum of the bounds of as many laws as suffice."""
        return log_block_of_sum(self.terms, abscissa, centres, radius, enough)


def batched(terms: Sequence[tuple[LossTransform, Atoms, int]]) -> Terms:
    """Counted laws with their atoms, as one term if there are many."""
    counted = tuple((law, count) for law, _, count in terms)
    return counted if len(terms) < MANY else ((BatchedFinite(counted, tuple(atoms for _, atoms, _ in terms)), 1),)
