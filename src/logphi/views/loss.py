"""The distribution of the privacy loss L = log(p/q) under P, and how often it exceeds epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi import check
from logphi.bound import Bound, Bounds, Direction, Ledger, Side, Status
from logphi.core.logphi import LogPhi
from logphi.numerics import exponential, halfline
from logphi.numerics.roots import crossing
from logphi.views import moments
from logphi.views.delta import each
from logphi.views.directions import Loss
from logphi.views.profile import LogDelta, enclosed, ledger_of, masses
from logphi.views.tail import LARGEST, above, below


@dataclass(frozen=True)
class Atoms:
    """Places of positive probability, in order, with enclosures of their probabilities; places err by ``place_error``."""

    locations: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    place_error: float

    def __len__(self) -> int:
        return self.locations.size


@dataclass(frozen=True)
class LossDistribution:
    """The law of L = log(p/q) under P, whose finite part has the transform M(z) = e^{K(z)}.

    All probabilities are those of the finite part, not divided by its mass: ``cdf(x) + sf(x) = 1 - infinite_mass``. An atom
    within rounding of a threshold may be on either side of it: the bounds then contain both, and say that they are wide.

    Parameters
    ----------
    law
        K of the loss.
    direction
        The order of the pair.

    Examples
    --------
    >>> from logphi.mechanisms.gaussian import Gaussian
    >>> loss = (10 * Gaussian(sigma=3)).loss
    >>> round(loss.cdf(0.5).value, 9), round(loss.mean.value, 9), round(loss.quantile(0.99).value, 9)
    (0.478983626, 0.555555556, 3.007786133)
    """

    law: LogPhi
    direction: Direction

    def cdf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(L <= x), of the shape of x; relatively accurate in the left tail. ``float`` gives the lower end.

        Raises
        ------
        ValueError, TypeError
            If x is NaN or no number.
        """
        check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._probability(self._tail(at, below, rtol), rtol, Side.LOWER), infinite=True)

    def sf(self, x: Any, *, rtol: float = 1e-9) -> Bound | Bounds:
        """P(x < L < inf), of the shape of x; relatively accurate in the right tail. ``float`` gives the upper end.

        Raises
        ------
        ValueError, TypeError
            If x is NaN or no number.
        """
        check.tolerance("rtol", rtol)
        return each("x", x, lambda at: self._probability(self._tail(at, above, rtol), rtol, Side.UPPER), infinite=True)
