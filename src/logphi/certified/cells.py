"""The atoms of a finite law as balls of the present precision, at exact places where these are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import flint

from logphi.arith.ball import Balls
from logphi.certified.places import Exact, Place, Unit, ball_of
from logphi.certified.route import NotCertifiedError
from logphi.numerics.law import Law, Reflected
from logphi.numerics.laws.blended_normal import BlendedNormal
from logphi.numerics.laws.curved import MixedFlat, ReplacedNormal, SplicedFlat, SplicedNormal
from logphi.numerics.laws.finite import Finite, Given, Thinned
from logphi.numerics.laws.integers import NormalOnIntegers, NormalSteps
from logphi.numerics.laws.ladder import GeometricShift, Ladder
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.laws.normal_pair import NormalPair
from logphi.numerics.laws.two_point import TwoPoint
from logphi.numerics.laws.uniform import Uniform, UniformWithAtoms


@dataclass(frozen=True)
class Atoms:
    """Masses p and q of the two laws on their common outcomes, and the places log(p/q) of the loss.

    ``lost`` is P(L = inf); ``stray`` bounds the mass that P has on common outcomes that are left out.
    """

    p: tuple[Any, ...]
    q: tuple[Any, ...]
    places: tuple[Place, ...]
    lost: Any
    stray: float = 0.0

    @property
    def tilted(self) -> tuple[Any, ...]:
        """The weights (p q)^{1/2}."""
        return tuple((a * b).sqrt() for a, b in zip(self.p, self.q, strict=True))


def balls() -> Balls:
    """The arithmetic of the present precision, in which a parameter is what was written, or its double."""
    return Balls(flint.ctx.prec, doubles=True)


@singledispatch
def atoms_of(law: Law) -> Atoms:
    """The atoms of a law.

    Raises
    ------
    NotCertifiedError
        If the law has other parts, or its probabilities are known to some digits only.
    """
    raise NotCertifiedError(
        f"a loss of the kind {type(law).__name__} is not a sum of atoms and flat parts: certify it alone, or ask without "
        "certificate"
    )


@atoms_of.register
def _(law: TwoPoint) -> Atoms:
    high = law.point.under(balls()).value.real
    p, place = 1 / (1 + (-high).exp()), Place.of(law.point.under(Exact()))
    q = 1 / (1 + high.exp())
    return Atoms((p, q), (q, p), (place, -place), flint.arb(0))


@atoms_of.register
def _(law: Thinned) -> Atoms:
    lost = balls().constant(law.failure).value.real
    return Atoms((1 - lost,), (1 - lost,), (Place(),), lost)


@atoms_of.register
def _(law: GeometricShift) -> Atoms:
    rate, shift = 1 / balls().constant(law.scale).value.real, law.shift
    end, inner = 1 / (1 + (-rate).exp()), (rate / 2).tanh()
    p = [(-rate * shift).exp() * end, *(inner * (-rate * (shift - j)).exp() for j in range(1, shift)), end]
    return Atoms(tuple(p), tuple(reversed(p)), _rungs(law), flint.arb(0))


@atoms_of.register
def _(law: NormalSteps) -> Atoms:
    sigma = balls().constant(law.sigma).value.real
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
    if law.exact is None and law.blur:
        raise NotCertifiedError(
            "the probabilities of a finite law are known to some digits only, as its mechanism makes them: a certificate needs "
            "formulas of the parameters; state it as a Discrete, whose probabilities are what is written"
        )
    if law.stray and not math.isfinite(law.stray_growth):
        raise NotCertifiedError(
            "a truncated law is cut off once more before it is sampled, and what is left out may be infinite losses: leave the "
            "truncation out, or the sampling"
        )
    cells = law.exact or Given(law.p, law.q)
    try:
        p, q = cells.under(Exact())
    except NotImplementedError:
        p, q = ([cell.value.real for cell in side] for side in cells.under(balls()))
        units = [Unit((cells, j), (a / b).log()) for j, (a, b) in enumerate(zip(p, q, strict=True))]
        places = [Place(units=((unit, 1),)) for unit in units]
        lost = 1 - sum(p, flint.arb(0)) if law.lost_p else flint.arb(0)
        return Atoms(tuple(p), tuple(q), tuple(places), lost, law.stray)
    if law.exact is None and not (law.lost_p or law.lost_q):
        # vectors of doubles miss one by an ulp
        p, q = ([part / sum(side) for part in side] for side in (p, q))
    places = [Place(ratio=a / b) for a, b in zip(p, q, strict=True)]
    return Atoms(tuple(map(ball_of, p)), tuple(map(ball_of, q)), tuple(places), ball_of(1 - sum(p, Fraction(0))), law.stray)


@singledispatch
def lost_of(law: Law) -> Any:
    """P(L = inf) of a law as a ball: that of a finite one.

    Raises
    ------
    NotCertifiedError
        If it is not known.
    """
    return atoms_of(law).lost


@lost_of.register(Normal)
@lost_of.register(MixedNormal)
@lost_of.register(BlendedNormal)
@lost_of.register(ReplacedNormal)
@lost_of.register(SplicedNormal)
@lost_of.register(NormalPair)
@lost_of.register(NormalOnIntegers)
@lost_of.register(Uniform)
@lost_of.register(UniformWithAtoms)
def _(law: Law) -> Any:
    return flint.arb(0)


@lost_of.register(MixedFlat)
@lost_of.register(SplicedFlat)
def _(law: MixedFlat | SplicedFlat) -> Any:
    return (balls().constant(law.rate) * balls().constant(law.base.failure)).value.real


@lost_of.register
def _(law: Reflected) -> Any:
    # Q against a mixture of both, or normal laws
    return flint.arb(0) if isinstance(law.law, (MixedFlat, MixedNormal, BlendedNormal)) else atoms_of(law).lost
