"""The square root of the matrix of prefix sums."""

from __future__ import annotations

import numpy as np

from logphi.inputs import check
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided
from logphi.strategies.toeplitz import Toeplitz


@guided(n="steps", bandwidth="bands=", b="bands=")
def square_root(steps: Scalar, *, bands: Scalar | None = None) -> Toeplitz:
    """The square root of the matrix of prefix sums: a lower-triangular Toeplitz matrix with coefficients binom(2 j, j) / 4^j.

    The squared norm of its first column grows as log(steps)/pi, plus a bounded term.

    Parameters
    ----------
    steps
        The number of steps.
    bands
        The number of coefficients that are kept; all by default. With few bands, the noise needs few of its previous values.

    Returns
    -------
    Toeplitz
        Its ``coefficients`` are rounded to doubles: generate the noise from these.

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
