"""Atoms on a lattice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.summation import log_sum
from logphi.arrays import Array
from logphi.grid.lattice_law import Grid, LatticeLaw, placed
from logphi.laws.ladder import Ladder

# measured: of so many atoms, bases and steps are not worth trying
_MANY = 24


@dataclass(frozen=True)
class Points:
    """Atoms at ``locations`` with logarithms of their P-masses; ``slack`` bounds the error of either."""

    locations: tuple[float, ...]
    log_p: tuple[float, ...]
    slack: float

    @staticmethod
    def of(law: Any) -> Points:
        """A finite law: every location is the difference of two logarithms."""
        log_p, log_q = np.log(np.asarray(law.p)), np.log(np.asarray(law.q))
        slack = ELEMENTARY * (2 + float(np.abs(log_p).max() + np.abs(log_q).max())) + 2 * law.relative_error
        return Points(tuple((log_p - log_q).tolist()), tuple(log_p.tolist()), slack)

    @staticmethod
    def rungs(law: Ladder) -> Points:
        """The atoms of a ladder."""
        locations, log_weights, location_error, relative_error = law.atoms()
        log_p = log_weights + locations / 2
        slack = location_error + relative_error + 4 * ULP * (1 + float(np.abs(log_weights).max()) + law.support.upper)
        return Points(tuple(locations.tolist()), tuple(log_p.tolist()), slack)

    @property
    def top(self) -> float:
        """The highest atom."""
        return max(self.locations) + self.slack

    @property
    def endless(self) -> bool:
        """No."""
        return False

    def misfit(self, steps: Array, tilt: float) -> Array:
        """How far the lower law's tilted mean is moved, per step; the base is the best atom."""
        least: Array = self._misfits(steps, tilt).min(axis=0)
        return least

    def _misfits(self, steps: Array, tilt: float) -> Array:
        """How far the lower law's tilted mean is moved, per base and step."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        weight = np.exp(log_p + tilt * r - (log_p + tilt * r).max())
        if r.size > _MANY:
            # no base fits better than another
            return np.broadcast_to(steps / 2, (r.size, steps.size))
        position = (r[:, None] - r)[:, :, None] / steps
        nearest = np.rint(position)
        hit = np.abs(position - nearest) <= 16 * ULP * (1 + np.abs(position))
        missed = np.where(hit, 0.0, position - np.floor(position))
        moved: Array = (weight[:, None] * missed.transpose(1, 0, 2)).sum(axis=1) / weight.sum() * steps
        return moved

    @property
    def spans(self) -> Array:
        """Distances that the step may divide."""
        r = np.unique(self.locations)
        if r.size > _MANY:
            return np.zeros(0)
        return np.unique(r[1:] - r[0])

    def approximate(self, u: Array, cut: float) -> Array:
        """A sum over the atoms."""
        return log_sum(np.asarray(self.log_p) + u[:, None] * np.asarray(self.locations))

    def on(self, grid: Grid) -> LatticeLaw:
        """Split over the neighbours, or rounded down, from the base that fits best."""
        r, log_p = np.asarray(self.locations), np.asarray(self.log_p)
        base = int(np.argmin(self._misfits(np.array([grid.step]), grid.tilt)[:, 0]))
        return placed(grid, r - r[base], log_p, float(r[base]), self.slack)
