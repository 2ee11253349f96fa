"""The forms that a law may have, for those who need more of it than its transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.laws.weights import Weights
from logphi.quadrature.curve import Curve

T = TypeVar("T")


class Forms(Generic[T]):
    """A function of laws: one method for each form, which a law calls with its own parameters; None where it is unknown."""

    def reflected(self, own: T) -> T | None:
        """For the law with K(-1 - z), from the value for the law."""
        return None

    def normal(self, shift: Parameter) -> T | None:
        """The log-ratio of N(m, 1) to N(0, 1)."""
        return None

    def mixture(self, shift: Parameter, rate: Parameter) -> T | None:
        """The log-ratio of (1 - q) N(0, 1) + q N(m, 1) to N(0, 1)."""
        return None

    def mixtures(self, shifts: tuple[Parameter, ...], weights: Weights) -> T | None:
        """The log-ratio of the sum of p_i N(c_i, 1) to N(0, 1)."""
        return None

    def flat(self, width: Parameter, constants: Callable[[float], tuple[float, float]]) -> T | None:
        """Uniform on [-w, w] once tilted by e^{-x/2}, with atoms at both ends: a function of :mod:`flat_constants`."""
        return None

    def curve(self, curve_at: Callable[[bool], Curve]) -> T | None:
        """A curve, as a function of whether its profile shall be above or below that of the law."""
        return None

    def atoms(self, locations: Array, log_p: Array, error: float) -> T | None:
        """Finitely many atoms with the logarithms of their P-masses; ``error`` is that of either."""
        return None

    def samples(self, loss: Array, log_p: Array) -> T | None:
        """The nodes of a quadrature, in ascending order, with the logarithms of their P-masses: an estimate."""
        return None
