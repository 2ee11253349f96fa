"""Lower-triangular Toeplitz strategies: every column has the same coefficients from the diagonal down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from logphi.arrays import Array
from logphi.inputs import check
from logphi.strategies.matrix import LARGEST, Matrix
from logphi.strategies.outward import EPS, exact_squares, root_above, root_below, scaled, unrounded
from logphi.strategies.participation import Participation, Places
from logphi.strategies.strategy import Sensitivity, Strategy

# chosen: the most steps of one run
_MOST_STEPS = 10**7


@dataclass(frozen=True, eq=False)
class Toeplitz(Strategy):
    """The lower-triangular Toeplitz matrix with C[i, j] = coefficients[i - j], without a table of its entries.

    Column norms do not increase. So a record with separation b changes most if it takes part at steps 0, b, 2 b, ...: if
    columns that far apart have no row in common, and also if the coefficients are non-negative and non-increasing (Kalinin &
    Lampert 2024). Proof of the latter: the inner product of columns i < j is sum_l c_l c_{l + j - i}, l up to n - 1 - j. It
    falls when j grows, and when i lies farther before j. Hence the heaviest predecessors of a step are the nearest ones, and
    they are heaviest at the earliest step that has so many.

    Other coefficients make a :class:`Matrix`; if that is too large, the coefficients are replaced by the smallest
    non-increasing ones that are at least as large in absolute value, for an upper bound.

    Parameters
    ----------
    coefficients
        The first column, from the diagonal down; missing ones at the end are zero.
    steps
        The number of steps.

    Raises
    ------
    ValueError, TypeError
        If there are no coefficients, more of them than steps, or one is not a finite number.

    Examples
    --------
    >>> from logphi.strategies import Toeplitz, sensitivity
    >>> sensitivity(Toeplitz([1, 0.5], steps=1000), participations=1).upper
    1.118033988749896
    """

    coefficients: Array
    steps: int
    _whole: bool = field(init=False, repr=False)

    if TYPE_CHECKING:  # numbers become an array

        def __init__(self, coefficients: Array | Sequence[float | Fraction], steps: int) -> None: ...

    def __post_init__(self) -> None:
        array = check.real_array("coefficients", self.coefficients)
        if array.ndim != 1 or not array.size:
            raise ValueError(f"coefficients must be a non-empty list of numbers, got an array of shape {array.shape}")
        steps = check.whole("steps", self.steps, 1, _MOST_STEPS)
        if len(array) > steps:
            raise ValueError(f"there must not be more coefficients than steps={steps}, got {len(array)}: a column has no more")
        check.moderate_or_zero("the largest coefficient", float(np.max(np.abs(array))))
        array.flags.writeable = False
        whole = unrounded(self.coefficients) and exact_squares(array, steps)
        for name, value in (("coefficients", array), ("steps", steps), ("_whole", whole)):
            object.__setattr__(self, name, value)

    @property
    def bands(self) -> int:
        """The smallest distance at which no two columns have a row in common."""
        return int(np.max(np.nonzero(self.coefficients)[0], initial=0)) + 1

    @property
    def diagonals(self) -> int:
        """The same number, as the matrix is lower triangular."""
        return self.bands

    def array(self) -> Array:
        """The matrix, a table of steps^2 numbers."""
        lag = np.arange(self.steps)[:, None] - np.arange(self.steps)
        column = np.zeros(self.steps)
        column[: len(self.coefficients)] = self.coefficients
        return np.where(lag >= 0, column[lag], 0.0)

    def under(self, participation: Participation) -> Sensitivity:
        """See :class:`Strategy`."""
        if not self.coefficients.any():
            return Sensitivity(0.0, 0.0, (0,))
        apart = participation.most == 1 or self.bands <= participation.separation
        attained = apart or bool(np.all(self.coefficients >= 0) and np.all(np.diff(self.coefficients) <= 0))
        if not attained and self.steps <= LARGEST:
            return Matrix(self.array()).under(participation)
        magnitudes = np.abs(self.coefficients)
        if not attained:
            magnitudes = np.maximum.accumulate(magnitudes[::-1])[::-1]
        column, exponent = scaled(magnitudes)
        early = participation.earliest()
        # derived: each row is a sum over the pattern, of coefficients that may be read as decimals
        lost = 0.0 if self._whole else (len(early) + 8) * EPS
        square = self._square(column, early)
        if attained:
            low, places = square * (1 - lost), early
        else:
            low, places = self._square(np.ldexp(self.coefficients, -exponent), early[:1]) * (1 - 9 * EPS), early[:1]
        return Sensitivity(root_below(low, exponent), root_above(square * (1 + lost), exponent), tuple(places.tolist()))

    def _square(self, column: Array, early: Places) -> float:
        """The squared norm of the sum of the columns at the earliest places."""
        apart = int(early[1]) if len(early) > 1 else self.steps
        padded = np.zeros(-(-self.steps // apart) * apart)
        padded[: len(column)] = column
        if len(early) == len(padded) // apart:
            # the pattern fills all steps: each row sums all coefficients at multiples of the separation before it
            total = np.cumsum(padded.reshape(-1, apart), axis=0).ravel()
        else:
            total = padded.copy()
            for place in early[1:]:
                total[place:] += padded[: len(padded) - place]
        return math.fsum(total[: self.steps] ** 2)
