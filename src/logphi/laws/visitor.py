"""A visitor of laws: computes from a law, by its form, what its transform does not tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.laws.flat_constants import Constants
from logphi.laws.weights import Weights
from logphi.quadrature.curves.curve import Curve

T = TypeVar("T")
# locations of atoms, logarithms of their masses, and the errors of both
ListedMasses = tuple[Array, Array, Array, Array]
Law = TypeVar("Law")


class LawVisitor(Generic[T, Law]):
    """A function from laws to T with one method for each form; a law calls the one for its own form, which may return None.

    ``Law`` is the class of the laws that a form is made of. Arguments that take time to compute are passed as functions. A law
    with two forms calls the second method if the first returns None.
    """

    def reflected(self, own: T) -> T | None:
        """The value for the reflected law, K(-1 - z), from that for the law."""
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

    def sampled(self, base: Law, rate: Parameter) -> T | None:
        """The law of log(1 - q + q e^L), where L is the log-ratio of a base law: its likelihood ratio is mixed with one."""
        return None

    def combination(self, parts: tuple[Law, ...], weights: Weights) -> T | None:
        """The sum of w_i mu_i, each mu_i a sum of laws."""
        return None

    def flat(self, width: Parameter, constants: Constants) -> T | None:
        """Uniform on [-w, w] after tilting by e^{-x/2}, with atoms at both ends: a function of :mod:`flat_constants`."""
        return None

    def curve(self, curve: Curve, curve_at: Callable[[bool], Curve]) -> T | None:
        """A curve with the errors of its parameters, and curves of exact parameters with a profile above or below."""
        return None

    def normal_on_integers(self, sigma: float, shift: int) -> T | None:
        """The log-ratio of a normal law on the integers to the same law, shifted."""
        return None

    def atoms(self, known: Callable[[], ListedMasses]) -> T | None:
        """Finitely many atoms: locations, logarithms of P-masses, the errors of the locations and those of the logarithms."""
        return None

    def samples(self, nodes: Callable[[], tuple[Array, Array]]) -> T | None:
        """The nodes of a quadrature, in ascending order, with the logarithms of their P-masses: an estimate."""
        return None
