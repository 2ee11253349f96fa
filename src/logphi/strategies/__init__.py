"""Strategy matrices C of correlated noise, and their sensitivity: how much one record changes C x.

x has a row for each step: the sum of the clipped contributions of its batch. A training run that adds the noise C^-1 Z to these
sums is a post-processing of C x + Z, with independent noise Z. ``lp.matrix_mechanism`` makes a mechanism of a strategy, and
``lp.banded_dp_sgd`` one that is amplified by sampling; both also take arrays.
"""

from __future__ import annotations

from typing import Any

from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.strategies.matrix import Matrix, strategy_of
from logphi.strategies.participation import Participation
from logphi.strategies.square_root import square_root
from logphi.strategies.strategy import Sensitivity, Strategy
from logphi.strategies.toeplitz import Toeplitz
from logphi.strategies.tree import BinaryTree

__all__ = ["BinaryTree", "Matrix", "Sensitivity", "Strategy", "Toeplitz", "sensitivity", "square_root"]


@guided(
    k="participations=",
    max_participations="participations=",
    min_sep="separation=",
    b="separation=",
)
def sensitivity(
    strategy: Any,
    *,
    participations: Scalar | None = None,
    separation: Scalar | None = None,
    period: Scalar | None = None,
) -> Sensitivity:
    """How much one record changes C x: the largest Frobenius norm of sum_i C[:, i] u_i over its steps i, rows u_i of norm <= 1.

    Its square is at most the sum of |<C[:, i], C[:, j]>| over all pairs of steps i, j of the record. It equals that sum if some
    signs of the rows match those of the inner products: always if C has no negative entries, or if the columns of the record's
    steps have no row in common.

    Parameters
    ----------
    strategy
        C: an array with a column for each step, or one of the strategies of this module.
    participations
        The largest number of steps in which a record takes part; by default as many as the separation allows.
    separation
        The smallest distance of two of these steps; by default 1, so that a record may take part in every step.
    period
        Instead of both: a record takes part once in each epoch of so many steps, always at the same place.

    Returns
    -------
    Sensitivity
        Bounds of the norm, rounded outward, and the steps of a record that attains the lower one.

    Raises
    ------
    ValueError, TypeError
        If the matrix or a number is invalid, numbers contradict each other, or the matrix is too large.

    References
    ----------
    Choquette-Choo et al. 2023, *Multi-Epoch Matrix Factorization Mechanisms for Private Machine Learning* and *(Amplified)
    Banded Matrix Factorization*; Kalinin & Lampert 2024 (Toeplitz matrices).

    Examples
    --------
    >>> from logphi.strategies import sensitivity, square_root
    >>> found = sensitivity(square_root(1000), participations=3, separation=300)
    >>> f"{found.lower:.9f} {found.upper:.9f} {found.steps}"
    '3.624208602 3.624208602 (0, 300, 600)'
    """
    matrix = strategy_of(strategy)
    return matrix.under(Participation.of(matrix.steps, participations, separation, period))


def __dir__() -> list[str]:
    return __all__
