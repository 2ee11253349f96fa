"""Which class answers for which law: the one table of laws in balls."""

from __future__ import annotations

from logphi.certified.laws.atoms import FailureInBalls, GeometricShiftInBalls, NormalStepsInBalls, TwoPointInBalls
from logphi.certified.laws.finite import FiniteInBalls
from logphi.certified.laws.law import LawInBalls, Terms
from logphi.certified.laws.normal import (
    BlendedNormalInBalls,
    MixedNormalInBalls,
    NormalInBalls,
    NormalOnIntegersInBalls,
    ReplacedNormalInBalls,
)
from logphi.certified.laws.normal_pair import NormalPairInBalls
from logphi.certified.laws.sampled_flat import MixedFlatInBalls, SplicedFlatInBalls
from logphi.certified.laws.spliced_normal import SplicedNormalInBalls
from logphi.certified.laws.uniform import FlatInBalls
from logphi.laws.blended_normal import BlendedNormal
from logphi.laws.curved_normal import ReplacedNormal, SplicedNormal
from logphi.laws.finite import Finite
from logphi.laws.integers import NormalOnIntegers, NormalSteps
from logphi.laws.ladder import GeometricShift
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import Normal
from logphi.laws.normal_pair import NormalPair
from logphi.laws.thinned import Thinned
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.two_point import TwoPoint
from logphi.laws.uniform import Uniform, UniformWithAtoms

_KNOWN: dict[type[LossTransform], type[LawInBalls]] = {
    BlendedNormal: BlendedNormalInBalls,
    Finite: FiniteInBalls,
    GeometricShift: GeometricShiftInBalls,
    MixedFlat: MixedFlatInBalls,
    MixedNormal: MixedNormalInBalls,
    Normal: NormalInBalls,
    NormalOnIntegers: NormalOnIntegersInBalls,
    NormalPair: NormalPairInBalls,
    NormalSteps: NormalStepsInBalls,
    ReplacedNormal: ReplacedNormalInBalls,
    SplicedFlat: SplicedFlatInBalls,
    SplicedNormal: SplicedNormalInBalls,
    Thinned: FailureInBalls,
    TwoPoint: TwoPointInBalls,
    Uniform: FlatInBalls,
    UniformWithAtoms: FlatInBalls,
}


def in_balls(law: LossTransform) -> LawInBalls:
    """A law as certificates see it; one that knows nothing if it is not in the table."""
    plain, reflected = (law.law, True) if isinstance(law, Reflected) else (law, False)
    return _KNOWN.get(type(plain), LawInBalls)(plain, reflected)


def terms_of(loss: LogPhi) -> Terms:
    """The terms of a composition."""
    return [(in_balls(law), count) for law, count in loss.terms]
