"""The known laws on a lattice: two discrete laws whose excess lies above and below that of the exact one.

notation: a law X has two measures, P(dx) = mu(dx) and Q(dx) = e^{-x} mu(dx); l = e^X is their density ratio, and
with a = e^x the excess E[(1 - e^{x-X})_+] is D(a) = integral of (l - a)_+ dQ: convex in a, and additive over the
pieces of the measure. The lattice has nodes x_k = origin + k h, a_k = e^{x_k}, d_k = a_{k+1} - a_k; cell k lies
between nodes k and k + 1.

* Above: the Q-mass A of a cell, whose mean of l lies at the share s of the cell, goes to both ends as A (1 - s) and
  A s. That chord of D keeps both masses (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, *Connect the Dots*).
* Below: the chord lies above D by at most G = max(dQ/da) d^2 / 8 within a cell. Lowering the vertices by D_k, the
  larger G of the two cells that meet there, gives a piecewise linear function below D, with its kinks on the lattice
  too. Its Q-masses are those of the chord minus the second differences of D_k; nearly always they are positive. A
  deficit is taken from the next node above, and cells near the top are rounded down entirely: both lower D. Where the
  support ends, all mass below some point may become one atom at its mean, which is a tangent of D.
* Reversal exchanges P with Q and x with -x. It turns chords into chords and keeps the order, so a turned law is the
  lattice law of the straight one, read backwards: only the direction of "up" changes.

All profiles grow with the parameters of the laws below: half an ulp of a parameter is taken outward in the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from logphi.arith.floats import ULP
from logphi.grid.atoms import Points
from logphi.grid.curve_cells import Bent
from logphi.grid.discretizer import Ends, Piece
from logphi.grid.flat_cells import Flat
from logphi.grid.mixture_cells import Bell
from logphi.grid.rounded import Rounded
from logphi.grid.samples import Samples
from logphi.laws import flat_constants
from logphi.laws.blended_normal import BlendedNormal
from logphi.laws.curved_normal import ReplacedNormal, SplicedNormal
from logphi.laws.densities import Densities
from logphi.laws.finite import Finite
from logphi.laws.integers import NormalSteps
from logphi.laws.ladder import GeometricShift
from logphi.laws.mixed_flat import MixedFlat, SplicedFlat
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import Normal
from logphi.laws.thinned import Thinned
from logphi.laws.transform import LossTransform, Reflected
from logphi.laws.truncated import MixedTruncated, SplicedTruncated, TruncatedLoss
from logphi.laws.two_point import TwoPoint
from logphi.laws.uniform import Uniform, UniformWithAtoms


def pieces(terms: Iterable[tuple[LossTransform, int]]) -> tuple[tuple[tuple[Piece, int], ...], Ends]:
    """The laws as pieces with counts, and the logarithm of the constant factor; all normals become one.

    Raises
    ------
    ValueError
        If a law is none of those whose cell masses are known.
    """
    result: list[tuple[Piece, int]] = []
    log_factor, wrong, low, high, normals = 0.0, 0.0, 0.0, 0.0, 0
    for law, count in terms:
        if isinstance(law, Thinned):
            log_factor += count * float(np.log1p(-law.failure))
            wrong += 8 * ULP * count * law.failure / (1 - law.failure)
        elif isinstance(law, Normal):
            ends = Ends.of(law.shift)
            low, high, normals = low + count * ends.low**2, high + count * ends.high**2, normals + 1
        else:
            result.append((piece_of(law), count))
    if normals:
        room = 1 + (normals + 4) * ULP
        result.append((Bell((Ends(np.sqrt(low) / room, np.sqrt(high) * room),), (Ends(1.0, 1.0),), False), 1))
    return tuple(result), Ends(log_factor - wrong, log_factor + wrong)


def piece_of(law: LossTransform) -> Piece:
    """One law as a piece.

    Raises
    ------
    ValueError
        If its cell masses are not known.
    """
    make = _MAKERS.get((type(law.law), True) if isinstance(law, Reflected) else (type(law), False))
    if make is None:
        raise ValueError(
            "no cell masses are known of some loss: discretisation serves Gaussian, Laplace, exponential, truncated and finite "
            "mechanisms, sampled or not, and densities"
        )
    return make(law)


def rounded(terms: Iterable[tuple[LossTransform, int]], dots: bool) -> tuple[tuple[tuple[Rounded, int], ...], Ends]:
    """The laws as pieces that are put on multiples of the step, each by itself; and the logarithm of the constant factor.

    Raises
    ------
    ValueError
        If a law is none of those whose cell masses are known.
    """
    held = list(terms)
    thinned = [(law, count) for law, count in held if isinstance(law, Thinned)]
    factor = pieces(thinned)[1]
    return tuple((Rounded(law, piece_of(law), dots), count) for law, count in held if not isinstance(law, Thinned)), factor


def _normal(law: Any) -> Bell:
    return Bell((Ends.of(law.shift),), (Ends(1.0, 1.0),), False)


def _bell(law: Any) -> Bell:
    turned = isinstance(law, Reflected)
    base: Any = law.law if isinstance(law, Reflected) else law
    return Bell((Ends.of(base.shift),), (Ends.of(base.rate),), turned)


# measured: each shift takes a pass over the lattice
_MOST_SHIFTS = 64


def _bells(law: Any) -> Bell:
    turned = isinstance(law, Reflected)
    base: Any = law.law if isinstance(law, Reflected) else law
    ratio = base.ratio
    if ratio.shifts.size > _MOST_SHIFTS or float(ratio.weights.min()) < _LEAST:
        raise ValueError(f"discretisation serves mixtures of at most {_MOST_SHIFTS} shifts, none too rare, not {base!r}")
    shifts = tuple(Ends.of(shift) for shift in base.shifts if Ends.of(shift).high > 0)
    # a weight may be off by its rounding, and its logarithm's
    blur = float(max(ratio.weight_error.max(), ratio.rest_error)) + 4 * ULP * (1 + float(np.abs(ratio.log_weights).max()))
    return Bell(shifts, tuple(Ends(p, p) for p in ratio.weights.tolist()), turned, ratio.log_rest, blur)


# below it, weights lose their digits
_LEAST = 1e-290


def _bent(law: Any) -> Bent:
    turned = isinstance(law, Reflected)
    base: Any = law.law if isinstance(law, Reflected) else law
    return Bent(base.curve_at, turned)


# which laws are known, and whether turned by Reflected
_MAKERS: dict[tuple[type[LossTransform], bool], Callable[[Any], Piece]] = {
    (Normal, False): _normal,
    (MixedNormal, False): _bell,
    (MixedNormal, True): _bell,
    (BlendedNormal, False): _bells,
    (BlendedNormal, True): _bells,
    (Uniform, False): lambda law: Flat(Ends.of(law.width), flat_constants.uniform),
    (MixedFlat, False): _bent,
    (MixedFlat, True): _bent,
    (SplicedFlat, False): _bent,
    (SplicedNormal, False): _bent,
    (ReplacedNormal, False): _bent,
    (MixedTruncated, False): _bent,
    (MixedTruncated, True): _bent,
    (SplicedTruncated, False): _bent,
    (TruncatedLoss, False): _bent,
    (UniformWithAtoms, False): lambda law: Flat(Ends.of(law.width), flat_constants.with_atoms),
    (TwoPoint, False): lambda law: Flat(Ends.of(law.point).size, flat_constants.two_point),
    (Finite, False): Points.of,
    (GeometricShift, False): Points.rungs,
    (NormalSteps, False): Points.rungs,
    (Densities, False): Samples.of,
}
