"""Strategy matrices of correlated noise: how far one record moves C x, whose noise is independent.

x has a row for each step, the sum of the clipped contributions of its batch. A training run that adds the noise C^-1 Z to its
sums releases what follows from C x + Z. ``lp.matrix_mechanism`` makes a mechanism of a strategy, ``lp.banded_dp_sgd`` one that
is amplified by sampling; both take arrays too.
"""

from __future__ import annotations

from typing import Any

from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.strategies.known import binary_tree, square_root
from logphi.strategies.matrix import Matrix, strategy_of
from logphi.strategies.participation import Participation
from logphi.strategies.strategy import Sensitivity, Strategy
from logphi.strategies.toeplitz import Toeplitz

__all__ = ["Matrix", "Sensitivity", "Strategy", "Toeplitz", "binary_tree", "sensitivity", "square_root"]


@guided(
    k="participations=",
    max_participations="participations=",
    min_sep="separation=",
    b="separation=",
)
def sensitivity(strategy: Any, *, participations: Scalar | None = None, separation: Scalar = 1) -> Sensitivity:
    """How far one record moves C x: the largest Frobenius norm of sum_i C[:, i] u_i over its steps i and rows u_i, norms <= 1.

    Its square is at most the sum of |<C[:, i], C[:, j]>| over all pairs of steps of the record, and exactly that where the
    signs of some rows agree with those of the products: always if C has no negative entries, or columns that far apart have no
    row in common.

    Parameters
    ----------
    strategy
        C, an array with a column for each step, or one of the strategies of this module.
    participations
        In how many steps a record takes part at most; by default in as many as the separation admits.
    separation
        How many steps lie between the beginnings of two participations at least: with 1 it may take part in any step.

    Returns
    -------
    Sensitivity
        Bounds of it, rounded outward, and the steps of a record that attains the lower one.

    Raises
    ------
    ValueError, TypeError
        If the matrix or a number is none, or the matrix is too large.

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
    return matrix.under(Participation.of(matrix.steps, participations, separation))


def __dir__() -> list[str]:
    return __all__
