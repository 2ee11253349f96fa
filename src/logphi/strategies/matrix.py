"""Any strategy matrix, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from logphi.arrays import Array
from logphi.inputs import check
from logphi.strategies.outward import EPS, TINY, exact_squares, root_above, root_below, scaled, unrounded
from logphi.strategies.participation import Participation, Places
from logphi.strategies.strategy import Sensitivity, Strategy

# chosen: the most columns; a table of their pairs takes some hundreds of megabytes
LARGEST = 4096


@dataclass(frozen=True, eq=False)
class Matrix(Strategy):
    """A strategy matrix by its entries: a row for each number released, a column for each step.

    If the columns of a record's steps have no row in common, the squared sensitivity is the largest sum of their squared norms.
    Otherwise it is the largest sum of absolute inner products over all pairs of these columns (Choquette-Choo et al. 2023):
    over all patterns if these can be listed, and bounded by ``Participation.of_pairs_at_most`` if not.

    The bounds hold whether entries are read as doubles or as their shortest decimals.

    Parameters
    ----------
    entries
        The matrix, an array of two dimensions.

    Raises
    ------
    ValueError, TypeError
        If it has not two dimensions, or an entry is not a finite number.

    Examples
    --------
    >>> from logphi.strategies import Matrix
    >>> Matrix([[1, 0], [1, 1]]).bands
    2
    """

    entries: Array
    _whole: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        array = check.real_array("the strategy matrix", self.entries)
        if array.ndim != 2 or not array.size:
            raise ValueError(
                f"the strategy matrix must have two dimensions, a column for each step, got an array of shape {array.shape}; "
                "for a lower-triangular Toeplitz matrix give lp.strategies.Toeplitz(coefficients, steps)"
            )
        check.moderate_or_zero("the largest entry of the strategy matrix", float(np.max(np.abs(array))))
        array.flags.writeable = False
        whole = unrounded(self.entries) and exact_squares(array)
        object.__setattr__(self, "entries", array)
        object.__setattr__(self, "_whole", whole)

    @property
    def steps(self) -> int:  # type: ignore[override]
        """The number of columns."""
        return int(self.entries.shape[1])

    @property
    def bands(self) -> int:
        """The smallest distance at which no two columns have a row in common."""
        support = self.entries != 0
        first, last = support.argmax(axis=1), self.steps - 1 - support[:, ::-1].argmax(axis=1)
        return int(np.max(np.where(support.any(axis=1), last - first, 0))) + 1

    @property
    def diagonals(self) -> int | None:
        """The number of nonzero diagonals of a square, lower-triangular matrix; None for any other."""
        row, column = np.nonzero(self.entries)
        triangular = len(self.entries) == self.steps and np.all(row >= column)
        return int(np.max(row - column, initial=0)) + 1 if triangular else None

    def array(self) -> Array:
        """The entries."""
        return self.entries

    def under(self, participation: Participation) -> Sensitivity:
        """See :class:`Strategy`.

        Raises
        ------
        ValueError
            If there are too many columns for a table of their pairs.
        """
        if not self.entries.any():
            return Sensitivity(0.0, 0.0, (0,))
        matrix, exponent = scaled(self.entries)
        rows = len(matrix)
        if participation.most == 1 or self.bands <= participation.separation:
            square, places = participation.of_steps(np.sum(matrix**2, axis=0) * self._rounded(rows))
        else:
            square, places = self._overlapping(matrix, participation)
        # derived: each term of the sum over a pattern takes part in fewer additions than this
        above = square * self._rounded(2 * -(-self.steps // participation.separation) + 16)
        low = below(matrix, places, self._whole)
        return Sensitivity(root_below(low, exponent), root_above(above, exponent), tuple(places.tolist()))

    def _rounded(self, operations: int) -> float:
        """1 plus the relative error of a sum of so many products, and of reading entries as decimals; 1 for integers."""
        return 1.0 if self._whole else 1 + (operations + 8) * EPS

    def _overlapping(self, matrix: Array, participation: Participation) -> tuple[float, Places]:
        if self.steps > LARGEST:
            raise ValueError(
                f"a strategy matrix of {self.steps} columns is too large for a table of their pairs, {LARGEST} at most; give "
                f"lp.strategies.Toeplitz(coefficients, steps) if it is one, or a separation of at least {self.bands} steps, at "
                "which columns have no row in common"
            )
        magnitudes = np.abs(matrix)
        bounds = magnitudes.T @ magnitudes
        if not self._whole:
            inner = bounds if np.all(matrix >= 0) else np.abs(matrix.T @ matrix)
            bounds = inner + (len(matrix) + 8) * EPS * bounds + len(matrix) * TINY
        elif np.any(matrix < 0):
            bounds = np.abs(matrix.T @ matrix)
        listed = participation.of_pairs(bounds)
        if listed is not None:
            return listed
        # from both ends, as either gives a bound
        forward = participation.of_pairs_at_most(bounds)
        back, places = participation.of_pairs_at_most(bounds[::-1, ::-1])
        return min(forward, (back, self.steps - 1 - places[::-1]), key=lambda one: one[0])


def strategy_of(given: Any) -> Strategy:
    """The strategy itself, or that of an array."""
    return given if isinstance(given, Strategy) else Matrix(given)


def below(matrix: Array, places: Places, whole: bool) -> float:
    """A lower bound of the squared change by a record that takes part at ``places``, with signs chosen greedily."""
    total, size = np.zeros(len(matrix)), np.zeros(len(matrix))
    for column in matrix[:, places].T:
        total = total + (column if column @ total >= 0 else -column)
        size += np.abs(column)
    if whole:
        return float(np.sum(total**2))
    # derived: sums round once for each column, entries may be read as decimals, and squares round once for each row
    least = np.maximum(np.abs(total) - (len(places) + 4) * EPS * size, 0)
    return float(np.sum(least**2)) * max(1 - (len(matrix) + 8) * EPS, 0)
