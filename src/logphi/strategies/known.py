"""Strategies of the literature for prefix sums, which is what a model is after so many steps."""

from __future__ import annotations

import numpy as np

from logphi.inputs import check
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.strategies.matrix import LARGEST, Matrix
from logphi.strategies.toeplitz import Toeplitz


@guided(n="steps", bandwidth="bands=", b="bands=")
def square_root(steps: Scalar, *, bands: Scalar | None = None) -> Toeplitz:
    """The square root of the matrix of prefix sums, a lower-triangular Toeplitz matrix with binom(2 j, j) / 4^j.

    Its columns have squared norms up to 1 + log(steps)/pi and a bounded rest.

    Parameters
    ----------
    steps
        How many steps there are.
    bands
        How many coefficients are kept; all by default. The noise of a matrix with few bands needs as few of its last values.

    Returns
    -------
    Toeplitz
        Of the doubles nearest to these coefficients or next to them: make the noise of its own ``coefficients``.

    Raises
    ------
    ValueError, TypeError
        If a number is not whole, or there are more bands than steps.

    References
    ----------
    Fichtenberger, Henzinger & Upadhyay 2023, *Constant Matters: Fine-grained Error Bound on Differentially Private Continual
    Observation*; with bands Kalinin & Lampert 2024, *Banded Square Root Matrix Factorization for Differentially Private Model
    Training*.

    Examples
    --------
    >>> from logphi.strategies import square_root
    >>> square_root(1000, bands=3).coefficients.tolist()
    [1.0, 0.5, 0.375]
    """
    number = check.whole("steps", steps, 1, 10**7)
    kept = number if bands is None else check.whole("bands", bands, 1, number)
    lags = np.arange(1, kept)
    return Toeplitz(np.cumprod(np.append(1.0, (2 * lags - 1) / (2 * lags))), number)


@guided(n="steps", leaves="steps")
def binary_tree(steps: Scalar) -> Matrix:
    """The binary tree of partial sums: a row for each aligned block of 1, 2, 4, ... steps, of those that are complete.

    A step is in floor(log2(steps)) + 1 of the blocks at most, the square of the sensitivity to one participation. A tree that
    is begun anew in every epoch is a release of its own: ``epochs * lp.matrix_mechanism(binary_tree(steps), sigma, ...)``.

    Parameters
    ----------
    steps
        Leaves of the tree: a power of two, or any number.

    Returns
    -------
    Matrix
        Blocks of one size after those of half of it, in the order of steps.

    Raises
    ------
    ValueError, TypeError
        If the number is not whole, or too large for a table.

    References
    ----------
    Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011 (the tree); Kairouz et al. 2021, *Practical and Private (Deep)
    Learning without Sampling or Shuffling* (training with it).

    Examples
    --------
    >>> from logphi.strategies import binary_tree
    >>> binary_tree(4).array().astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    """
    number = check.whole("steps", steps, 1, LARGEST)
    blocks = [np.repeat(np.eye(number >> level), 1 << level, axis=1) for level in range(number.bit_length())]
    return Matrix(np.vstack([np.pad(block, ((0, 0), (0, number - block.shape[1]))) for block in blocks]))
