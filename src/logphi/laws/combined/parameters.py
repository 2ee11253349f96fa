"""The parameters of a law, for laws of two common forms."""

from __future__ import annotations

from logphi.arith.protocol import Parameter
from logphi.laws.normal.normal import Normal
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor

Mixture = tuple[LossTransform, Parameter]


def normal_shift(law: LossTransform) -> Parameter | None:
    """The m of a law that is the log-ratio of N(m, 1) to N(0, 1) under the former; None for any other law."""
    return law.accept(_NormalShift())


def as_mixture(law: LossTransform) -> Mixture | None:
    """``(base, q)`` if the likelihood ratio is 1 - q + q times that of a base law; None for any other law."""
    return law.accept(_Mixtures())


class _NormalShift(LawVisitor[Parameter, LossTransform]):
    """The shift of a normal law."""

    def normal(self, shift: Parameter) -> Parameter:
        """The shift."""
        return shift


class _Mixtures(LawVisitor[Mixture, LossTransform]):
    """The base and the rate of a mixture; None for reflected laws."""

    def mixture(self, shift: Parameter, rate: Parameter) -> Mixture:
        """The normal law of the shift."""
        return Normal(shift), rate

    def sampled(self, base: LossTransform, rate: Parameter) -> Mixture:
        """The base itself."""
        return base, rate
