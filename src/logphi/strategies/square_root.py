"""The square root of prefix sums."""

from __future__ import annotations

import numpy as np

from logphi.inputs import check
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
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
