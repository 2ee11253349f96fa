"""The mass that tells everything, P(L = inf), of each law in balls."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from flint import arb

from logphi.certified.cells import atoms_of
from logphi.certified.parts import refusal
from logphi.certified.reals import constant
from logphi.certified.route import NotCertifiedError, NotThisRouteError
from logphi.laws.blended_normal import BlendedNormal
from logphi.laws.curved_normal import ReplacedNormal, SplicedNormal
from logphi.laws.integers import NormalOnIntegers
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import Normal
from logphi.laws.normal_pair import NormalPair
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.uniform import Uniform, UniformWithAtoms

# everywhere both densities are positive, or neither
_EQUIVALENT = (
    Normal,
    MixedNormal,
    BlendedNormal,
    ReplacedNormal,
    SplicedNormal,
    NormalPair,
    NormalOnIntegers,
    Uniform,
    UniformWithAtoms,
)


def infinite_mass(loss: LogPhi) -> Any:
    """P(L = inf), one less the product of the finite masses; relatively accurate, and zero only if nothing is lost.

    Raises
    ------
    NotCertifiedError
        If that of a law is not known.
    """
    return -sum((count * (-_known(law)).log1p() for law, count in loss.terms), arb(0)).expm1()


def _known(law: LossTransform) -> Any:
    try:
        return lost_of(law)
    except NotThisRouteError:
        raise NotCertifiedError(refusal(law)) from None


@singledispatch
def lost_of(law: LossTransform) -> Any:
    """That of one law: of a finite one, unless it is another kind.

    Raises
    ------
    NotCertifiedError
        If it is not known.
    """
    return arb(0) if isinstance(law, _EQUIVALENT) else atoms_of(law).lost


@lost_of.register(MixedFlat)
@lost_of.register(SplicedFlat)
def _(law: MixedFlat | SplicedFlat) -> Any:
    return constant(law.rate) * constant(law.base.failure)


@lost_of.register
def _(law: Reflected) -> Any:
    # whatever Q reaches, a mixture with Q reaches too
    return arb(0) if isinstance(law.law, (MixedFlat, *_EQUIVALENT)) else atoms_of(law).lost
