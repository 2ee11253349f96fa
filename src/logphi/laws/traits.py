"""What can be said of a transform as a whole by yes or no."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Traits:
    """Yes or no, each the same for the reflected law; ``no`` to the first two if unknown.

    ``symmetric``: K(-1 - z) = K(z). ``continuous``: the formula is continuous on the strip, so that it gives K itself and not K
    up to 2 pi i. ``estimated``: the errors of the transform are estimates, as the law is known by samples of a function only.
    A sum is symmetric and continuous if all terms are, and estimated if any is.
    """

    symmetric: bool = False
    continuous: bool = False
    estimated: bool = False

    def __add__(self, other: Traits) -> Traits:
        return Traits(
            self.symmetric and other.symmetric, self.continuous and other.continuous, self.estimated or other.estimated
        )


# of the zero function, to which sums add
CONSTANT = Traits(symmetric=True, continuous=True)
