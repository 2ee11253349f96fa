"""Whether a law is symmetric, its formula continuous, its errors estimates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """Properties that a law shares with its reflection; false for the first two if unknown.

    ``symmetric``: K(-1 - z) = K(z). ``continuous``: the formula is continuous on the strip, so that it gives K itself and not K
    up to 2 pi i. ``estimated``: the errors of the transform are estimates, as the law is known by samples of a function only.
    ``lognormal``: e^X, or that of the reflected law, is a mean of lognormal variables; not known of sums.
    A sum is symmetric and continuous if all terms are, and estimated if any is.
    """

    symmetric: bool = False
    continuous: bool = False
    estimated: bool = False
    lognormal: bool = False

    def __add__(self, other: Traits) -> Traits:
        return Traits(
            self.symmetric and other.symmetric, self.continuous and other.continuous, self.estimated or other.estimated
        )


# the traits of the zero function, the neutral element of sums
CONSTANT = Traits(symmetric=True, continuous=True)
