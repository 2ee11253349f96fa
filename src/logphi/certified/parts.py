"""Which part of a contour each law is."""

from __future__ import annotations

from logphi.certified.atomic import Atomic
from logphi.certified.closed import Closed, Falling, Flat
from logphi.certified.mixture import Mixture, NormalRatio
from logphi.certified.normal_mixture import NormalMixtures, mixtures_of
from logphi.certified.part import Part
from logphi.certified.reals import constant, real
from logphi.certified.route import NotCertifiedError
from logphi.certified.spliced import Spliced
from logphi.laws.blended_normal import BlendedNormal
from logphi.laws.curved_normal import ReplacedNormal, SplicedNormal
from logphi.laws.finite import Finite, Thinned
from logphi.laws.integers import NormalOnIntegers, NormalSteps
from logphi.laws.ladder import GeometricShift
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import Normal
from logphi.laws.normal_pair import NormalPair
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.two_point import TwoPoint
from logphi.laws.uniform import Uniform, UniformWithAtoms

_LEVEL = (TwoPoint, Thinned, GeometricShift, NormalSteps, NormalOnIntegers)


def part_of(law: LossTransform) -> Part:
    """What a contour needs of a law.

    Raises
    ------
    NotCertifiedError
        If the law is none of those whose errors are all known.
    """
    plain = law.law if isinstance(law, Reflected) else law
    if isinstance(plain, (MixedNormal, BlendedNormal, ReplacedNormal)):
        return _ratio(mixtures_of(law))
    if isinstance(plain, SplicedNormal):
        return Spliced(real(plain.shift), constant(plain.rate))
    if isinstance(plain, (Normal, NormalPair)):
        return Falling(law)
    if isinstance(plain, (Uniform, UniformWithAtoms)):
        return Flat(plain, real(plain.width))
    if isinstance(law, Finite):
        return Atomic(law)
    if isinstance(plain, _LEVEL):
        return Closed(law)
    raise NotCertifiedError(refusal(law))


def refusal(law: LossTransform) -> str:
    """Why a law is not certified."""
    plain = law.law if isinstance(law, Reflected) else law
    if plain.estimated:
        return (
            "the errors of this loss are estimates, as of densities, expressions and samples of a GaussianPair: ask without a "
            "certificate"
        )
    if isinstance(plain, (MixedFlat, SplicedFlat)):
        return (
            "a sampled Laplace or exponential mechanism is certified as a single release only, as its transform is an "
            "integral that has no proof in balls: leave the sampling out, which is an upper bound, or ask without a "
            "certificate"
        )
    return (
        "the errors of this loss are not all enclosed in balls, as of truncated noise, of pairs of mixtures of Gaussians and "
        "of several releases on one sample: ask without a certificate"
    )


def _ratio(laws: NormalMixtures) -> NormalRatio:
    up = Mixture(tuple(one.weight for one in laws.p), tuple(one.centre for one in laws.p))
    return NormalRatio(up, Mixture(tuple(one.weight for one in laws.q), tuple(-one.centre for one in laws.q)))
