"""Several releases with few outcomes on one sample, as one finite pair: all products, but for rare ones.

Outcomes of the same loss are joined, which changes no profile. What is rare is left out, so that the products of all others
keep their digits, whatever the tails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.grid.atoms import Atoms
from logphi.pairs.finite import MOST_CELLS, FinitePair, listed
from logphi.pairs.outcomes import Outcomes

# chosen: outcomes with less mass under both laws are left out
_RARE = 1e-60
# derived: outcomes with less mass under one law are left out, as products would underflow
_LEAST = 1e-140
# measured: so many products take a tenth of a second
_MOST_PRODUCTS = 1 << 20
# derived: far above the rounding of a loss, relative to its size
_SAME = 1e-12


class ManyAtomsError(ValueError):
    """There are too many different losses."""


@dataclass(frozen=True, eq=False)
class FewAtoms(Outcomes):
    """Losses with the masses of P and Q and their relative errors; ``of_loss`` bounds the error of every loss.

    ``only`` are the masses of either law where the other has none, with a relative error ``only_error``, and ``omitted`` bounds
    the mass of either law that is left out.
    """

    loss: Array
    p: Array
    q: Array
    of_p: Array
    of_q: Array
    of_loss: float
    only: tuple[float, float]
    only_error: float
    omitted: float

    @staticmethod
    def of(atoms: Atoms, only: tuple[float, float], only_error: float) -> FewAtoms:
        """One release."""
        loss, log_p = np.array(atoms.locations), np.array(atoms.log_p)
        log_q = log_p - loss
        of_p, of_q = (
            np.expm1(error + ELEMENTARY * (1 + np.abs(log_p) + np.abs(loss)))
            for error in (atoms.location_error, 2 * atoms.location_error)
        )
        whole = FewAtoms(loss, np.exp(log_p), np.exp(log_q), of_p, of_q, atoms.location_error, only, only_error, 0.0)
        return whole._without_rare()

    def __mul__(self, other: FewAtoms) -> FewAtoms:
        if self.p.size * other.p.size > _MOST_PRODUCTS:
            raise ManyAtomsError("there are too many outcomes")
        loss = np.add.outer(self.loss, other.loss).ravel()
        p, q = (np.multiply.outer(mine, theirs).ravel() for mine, theirs in ((self.p, other.p), (self.q, other.q)))
        of_p, of_q = (
            np.add.outer(mine, theirs).ravel() + np.multiply.outer(mine, theirs).ravel() + 2 * ULP
            for mine, theirs in ((self.of_p, other.of_p), (self.of_q, other.of_q))
        )
        largest = max(float(one.max()) for one in (self.of_p, self.of_q, other.of_p, other.of_q))
        only_error = (1 + max(self.only_error, largest)) * (1 + max(other.only_error, largest)) * (1 + p.size * ULP) - 1
        of_loss = self.of_loss + other.of_loss + ULP * float(np.abs(loss).max())
        omitted = (self.omitted + other.omitted) * (1 + 2 * ULP)
        return FewAtoms(loss, p, q, of_p, of_q, of_loss, self._alone(other), only_error, omitted)._joined()._without_rare()

    def _joined(self) -> FewAtoms:
        """One outcome for each loss."""
        order = np.argsort(self.loss, kind="stable")
        loss = self.loss[order]
        starts = np.flatnonzero(np.diff(loss, prepend=-np.inf) > _SAME * (1 + np.abs(loss)))
        if starts.size > MOST_CELLS:
            raise ManyAtomsError("there are too many losses")
        ends = np.append(starts[1:], loss.size) - 1
        p, q = (np.add.reduceat(mass[order], starts) for mass in (self.p, self.q))
        rounding = ULP * float((ends - starts + 1).max())
        of_p, of_q = (np.maximum.reduceat(error[order], starts) + rounding for error in (self.of_p, self.of_q))
        # the ratio of joined outcomes lies between theirs
        of_loss = self.of_loss + float((loss[ends] - loss[starts]).max())
        return FewAtoms(loss[starts], p, q, of_p, of_q, of_loss, self.only, self.only_error, self.omitted)

    def _without_rare(self) -> FewAtoms:
        rare = (np.maximum(self.p, self.q) < _RARE) | (np.minimum(self.p, self.q) < _LEAST)
        lost = float(np.maximum(self.p * (1 + self.of_p), self.q * (1 + self.of_q))[rare].sum()) * (1 + 1e-9)
        loss, p, q, of_p, of_q = (part[~rare] for part in (self.loss, self.p, self.q, self.of_p, self.of_q))
        if not loss.size:
            raise ManyAtomsError("all outcomes are rare")
        # masses may have underflowed
        omitted = self.omitted + lost + float(rare.sum()) * 1e-300
        return FewAtoms(loss, p, q, of_p, of_q, self.of_loss, self.only, self.only_error, omitted)

    def pair(self) -> FinitePair:
        """The finite pair."""
        p, q = self.p, self.p * np.exp(-self.loss)
        of_ratio = self.of_loss + ELEMENTARY * (1 + np.abs(self.loss))
        of_q = self.of_p + np.expm1(of_ratio) * (1 + self.of_p) + 4 * ULP
        errors = (self.only_error, self.only_error)
        return listed([p, q, self.of_p, of_q, of_ratio], self.only, errors, self.omitted)
