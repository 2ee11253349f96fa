"""Laws cut into cells of the output: the losses at the edges, and the masses between them under both laws of the pair.

notation: X = l(Y), a monotone function of an output Y whose distribution function is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, FLOATS
from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.mixtures.log_ratio import LogRatio

# derived: a normal variable is beyond this many standard deviations with probability below 1e-20
REACH = 9.4
# derived: from here on a normal density is below the smallest double, and cells may be empty
_FAR = 40.0


@dataclass(frozen=True, eq=False)
class Cells:
    """A law cut into cells: losses at the N + 1 edges in ascending order, the N masses of the law, and the N of its tilt.

    The first and last edge may be infinite. ``mass_error`` and ``tilted_error`` bound the errors of the distribution
    functions at the edges, which telescope; ``edge_error`` bounds those of the losses at the edges.
    """

    edges: Array
    mass: Array
    tilted: Array
    mass_error: Array
    tilted_error: Array
    edge_error: Array

    def reflected(self) -> Cells:
        """The cells of the reflected law: of the tilt, with the sign of the loss changed."""
        flipped = (self.tilted, self.mass, self.tilted_error, self.mass_error, self.edge_error)
        return Cells(-self.edges[::-1], *(part[::-1] for part in flipped))


def cells_of(law: LossTransform, size: int, reach: float | None = None) -> Cells | None:
    """The law cut into cells of equal width in the output; None if its output is unknown.

    The two outermost cells are unbounded. The others lie between -S and S for a reach of S, in units of the distance
    between the two means and centred at that of Q; by default they contain all but 1e-20 of the mass of both laws of the pair.
    """
    return law.accept(_OutputCells(size, reach))


@dataclass(frozen=True)
class _OutputCells(LawVisitor[Cells, LossTransform]):
    """The cells of normal laws and of mixtures of two normal laws."""

    size: int
    reach: float | None

    def reflected(self, own: Cells) -> Cells:
        """The cells of the reflected law."""
        return own.reflected()

    def normal(self, shift: Parameter) -> Cells:
        """The cells of a normal law: its masses under both means."""
        m = abs(float(shift.under(FLOATS).mid))
        # the output less the mean under P, in standard deviations
        y = self._edges(m) - m
        loss = m * (y + m / 2)
        (mass, mass_error), (tilted, tilted_error) = _normal_masses(y, 0.0, m), _normal_masses(y + m, m, m)
        edges = np.concatenate([[-np.inf], loss, [np.inf]])
        return Cells(edges, mass, tilted, mass_error, tilted_error, _padded(ELEMENTARY * m * (np.abs(y) + m)))

    def mixture(self, shift: Parameter, rate: Parameter) -> Cells:
        """The cells of a mixture of two normal laws."""
        law = MixedNormal(shift, rate)
        m, q = law.constants
        y = self._edges(m)
        loss, loss_error = mixed_loss(law.ratio, y)
        (null, null_wrong), (moved, moved_wrong) = _normal_masses(y, 0.0, m), _normal_masses(y - m, m, m)
        edges = np.concatenate([[np.log1p(-q)], loss, [np.inf]])
        mass_error = (1 - q) * null_wrong + q * moved_wrong
        # the bottom of the support stands in for the first edge, with the relative error of a logarithm
        edge_error = _padded(loss_error)
        edge_error[0] = ELEMENTARY * (1 + q / (1 - q))
        return Cells(edges, (1 - q) * null + q * moved, null, mass_error, null_wrong, edge_error)

    def _edges(self, m: float) -> Array:
        """The inner edges minus the mean under Q, in standard deviations."""
        low, high = (-REACH, REACH + m) if self.reach is None else (-m * self.reach, m * self.reach)
        return np.clip(np.linspace(low, high, self.size - 1), -_FAR, _FAR + m)


def mixed_loss(ratio: LogRatio, y: Array) -> tuple[Array, Array]:
    """The log-ratio and its absolute error, that of the parameters included."""
    loss = ratio.value(y)
    return loss[0], 2 * ratio.error(y, loss)[0]


def _normal_masses(y: Array, centre: float, m: float) -> tuple[Array, Array]:
    """Normal probabilities of the cells between the points, both tails included, and errors at all edges."""
    from scipy.special import ndtr

    # from the nearer tail, so that far cells keep their relative accuracy
    tail = ndtr(-np.abs(y))
    signed = np.concatenate([[0.0], np.where(y < 0, tail, -tail), [0.0]])
    mass = np.diff(signed)
    mass[np.searchsorted(y, 0.0)] += 1.0
    return mass, _padded(ELEMENTARY * (4 + (1 + np.abs(y)) * (np.abs(y) + centre + m)) * tail)


def _padded(inside: Array) -> Array:
    return np.concatenate([[0.0], inside, [0.0]])
