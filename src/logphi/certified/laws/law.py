"""One law in balls: all questions of the certified routes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from flint import arb

from logphi.arith.protocol import Arithmetic, Number
from logphi.certified.exponential_polynomials import ExponentialPolynomial
from logphi.certified.normal_mixtures import ExplicitRoot, NormalMixtures
from logphi.certified.pair_exponent import PairExponent
from logphi.certified.route import Excess, NotCertifiedError, NotThisRouteError
from logphi.certified.transform import Transform
from logphi.laws.transform import LossTransform

_ESTIMATED = (
    "the errors of this loss are estimates, as for densities, expressions and samples of a GaussianPair: ask without a "
    "certificate"
)
_OPEN = (
    "the errors of this loss are not all enclosed in balls, as for pairs of mixtures of Gaussians, several releases from one "
    "sample and the far tails of random allocation: ask without a certificate"
)


@dataclass(frozen=True)
class LawInBalls:
    """A law, or its reflection if ``reflected``. This base class refuses most questions; subclasses answer more of them.

    Balls are formed at the precision in force whenever they are asked for.
    """

    law: Any
    reflected: bool = False

    # the laws that a class answers for; subclasses of these do not count
    kinds: ClassVar[tuple[type[LossTransform], ...]] = ()

    @property
    def refusal(self) -> str:
        """The reason why a composition with this law has no certificate."""
        return _ESTIMATED if self.law.traits.estimated else _OPEN

    @property
    def symmetric(self) -> bool:
        """Whether K(-1 - z) = K(z) exactly, and not only for the parameters as doubles."""
        return bool(self.law.traits.symmetric)

    @property
    def omitted(self) -> float:
        """A bound of the omitted mass, for which the loss is unknown."""
        return 0.0

    @property
    def zero_or_infinite(self) -> bool:
        """Whether every finite loss is zero."""
        return False

    def infinite_mass(self) -> Any:
        """P(L = inf), relatively accurate.

        Raises
        ------
        NotCertifiedError
            If it is not known.
        """
        raise NotCertifiedError(self.refusal)

    def transform(self) -> Transform:
        """M on a vertical line.

        Raises
        ------
        NotCertifiedError
            If its errors are not all enclosed.
        """
        raise NotCertifiedError(self.refusal)

    def exponential_polynomial(self) -> ExponentialPolynomial:
        """The law as a sum of exponentials times polynomials.

        Raises
        ------
        NotThisRouteError
            If it has no such form.
        """
        raise NotThisRouteError("this loss is not a sum of atoms and flat parts")

    def mixtures(self) -> NormalMixtures:
        """The two mixtures of unit normal laws of which the loss is the log-ratio.

        Raises
        ------
        NotThisRouteError
            If it is not such a ratio.
        """
        raise NotThisRouteError("no closed form of the profile is known")

    def closed_form(self) -> Excess:
        """The excess of one release in closed form; by default that of normal mixtures.

        Raises
        ------
        NotThisRouteError
            If none is known.
        """
        return self.mixtures().excess

    def explicit_root(self) -> ExplicitRoot | None:
        """The law as a ratio of normal mixtures with an explicit root; None otherwise."""
        return None

    def pair_exponent(self) -> PairExponent | None:
        """K of two normal laws of different widths; None for other laws."""
        return None

    def lattice(self, arith: Arithmetic) -> tuple[Number, int] | None:
        """The distance of neighbouring atoms, and twice the offset of some atom in units of it; None without a lattice."""
        return None


class FiniteLossInBalls(LawInBalls):
    """A law whose loss is always finite."""

    def infinite_mass(self) -> Any:
        """Zero."""
        return arb(0)


def halves(above: Excess, below: Excess) -> Excess:
    """One profile from zero on and another below: [AFA] Proposition 30."""
    return lambda epsilon: (above if epsilon >= 0 else below)(epsilon)


# counted laws of a composition
CountedInBalls = Sequence[tuple[LawInBalls, int]]
