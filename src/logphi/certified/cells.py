"""The atoms of a finite law as balls of the present precision, at exact places where these are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import flint

from logphi.certified.places import Exact, Place, Unit
from logphi.certified.reals import ball, balls, constant, real
from logphi.certified.route import NotCertifiedError, NotThisRouteError
from logphi.laws.finite import Finite, Thinned
from logphi.laws.integers import NormalSteps
from logphi.laws.ladder import GeometricShift, Ladder
from logphi.laws.transform import LossTransform
from logphi.laws.two_point import TwoPoint


@dataclass(frozen=True)
class Atoms:
    """Masses p and q of the two laws on their common outcomes, and the places log(p/q) of the loss.

    ``lost`` is P(L = inf); ``omitted_mass`` bounds the mass that P has on common outcomes that are left out.
    """

    p: tuple[Any, ...]
    q: tuple[Any, ...]
    places: tuple[Place, ...]
    lost: Any
    omitted_mass: float = 0.0

    @property
    def tilted(self) -> tuple[Any, ...]:
        """The weights (p q)^{1/2}."""
        return tuple((a * b).sqrt() for a, b in zip(self.p, self.q, strict=True))


@singledispatch
def atoms_of(law: LossTransform) -> Atoms:
    """The atoms of a law.

    Raises
    ------
    NotCertifiedError
        If the law has other parts, or its probabilities are known to some digits only.
    """
    raise NotThisRouteError("this loss is not a sum of atoms and flat parts")


@atoms_of.register
def _(law: TwoPoint) -> Atoms:
    high = real(law.point)
    p, place = 1 / (1 + (-high).exp()), Place.of(law.point.under(Exact()))
    q = 1 / (1 + high.exp())
    return Atoms((p, q), (q, p), (place, -place), flint.arb(0))


@atoms_of.register
def _(law: Thinned) -> Atoms:
    lost = constant(law.failure)
    return Atoms((1 - lost,), (1 - lost,), (Place(),), lost)


@atoms_of.register
def _(law: GeometricShift) -> Atoms:
    rate, shift = 1 / constant(law.scale), law.shift
    end, inner = 1 / (1 + (-rate).exp()), (rate / 2).tanh()
    p = [(-rate * shift).exp() * end, *(inner * (-rate * (shift - j)).exp() for j in range(1, shift)), end]
    return Atoms(tuple(p), tuple(reversed(p)), _rungs(law), flint.arb(0))


@atoms_of.register
def _(law: NormalSteps) -> Atoms:
    sigma = constant(law.sigma)
    twice, most = 2 * sigma * sigma, law.most
    weights = [(-flint.arb(x * x) / twice).exp() for x in range(-most, most + 1)]
    total = sum(weights, flint.arb(0))
    common = [weight / total for weight in weights[: law.steps + 1]]
    lost = sum(weights[law.steps + 1 :], flint.arb(0)) / total
    return Atoms(tuple(common), tuple(reversed(common)), _rungs(law), lost)


def _rungs(law: Ladder) -> tuple[Place, ...]:
    """Equally spaced places around zero."""
    gap = law.gap(Exact())
    return tuple(Place(gap * (2 * j - law.steps) / 2) for j in range(law.steps + 1))


@atoms_of.register
def _(law: Finite) -> Atoms:
    if law.exact is None and law.relative_error:
        raise NotCertifiedError(
            "the probabilities of a finite law are known to some digits only, as its mechanism makes them: a certificate needs "
            "formulas of the parameters; state it as a Discrete, whose probabilities are what is written"
        )
    if law.omitted_mass and not math.isfinite(law.omitted_growth):
        raise NotCertifiedError(
            "a truncated law is cut off once more before it is sampled, and what is left out may be infinite losses: leave the "
            "truncation out, or the sampling"
        )
    if law.exact is None and (law.infinite_p or law.infinite_q):
        raise NotCertifiedError(
            "the infinite losses of a finite law are known as doubles only: state it as a Discrete, with all its outcomes"
        )
    cells = law.cells
    try:
        p, q = cells.under(Exact())
    except NotImplementedError:
        try:
            p, q = ([cell.value.real for cell in side] for side in cells.under(balls()))
        except NotImplementedError as reason:
            raise NotCertifiedError(str(reason)) from None
        units = [Unit((cells, j), (a / b).log()) for j, (a, b) in enumerate(zip(p, q, strict=True))]
        places = [Place(units=((unit, 1),)) for unit in units]
        lost = 1 - sum(p, flint.arb(0)) if law.infinite_p else flint.arb(0)
        return Atoms(tuple(p), tuple(q), tuple(places), lost, law.omitted_mass)
    places = [Place(ratio=a / b) for a, b in zip(p, q, strict=True)]
    return Atoms(tuple(map(ball, p)), tuple(map(ball, q)), tuple(places), ball(1 - sum(p, Fraction(0))), law.omitted_mass)
