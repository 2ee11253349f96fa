"""Laws on a lattice: two discrete laws whose excess lies above and below that of the exact one.

notation: a law X has two measures, P(dx) = mu(dx) and Q(dx) = e^{-x} mu(dx); l = e^X is their density ratio, and
with a = e^x the excess E[(1 - e^{x-X})_+] is D(a) = integral of (l - a)_+ dQ: convex in a, and additive over the
parts of the measure. The lattice has nodes x_k = origin + k h, a_k = e^{x_k}, d_k = a_{k+1} - a_k; cell k lies
between nodes k and k + 1.

* Above: the Q-mass A of a cell, whose mean of l lies at the share s of the cell, goes to both ends as A (1 - s) and
  A s. That chord of D keeps both masses (Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, *Connect the Dots*).
* Below: the chord lies above D by at most G = max(dQ/da) d^2 / 8 within a cell. Lowering the vertices by D_k, the
  larger G of the two cells that meet there, gives a piecewise linear function below D, with its kinks on the lattice
  too. Its Q-masses are those of the chord minus the second differences of D_k, and are nearly always positive. A
  negative mass is taken from the next node above, and cells near the top are rounded down entirely: both lower D. At the
  end of the support, all mass below some point may become one atom at its mean, which is a tangent of D.
* Reversal exchanges P with Q and x with -x. It maps chords to chords and keeps the order, so the lattice law of
  the reflected law is that of the law in reverse order, with the opposite direction of rounding.

All profiles grow with the parameters of the laws below: half an ulp of a parameter is taken outward in the parameter.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from logphi.arith.floats import ULP
from logphi.arith.protocol import Parameter
from logphi.arrays import Array
from logphi.grid.atoms import Atoms
from logphi.grid.curve_cells import CurveCells
from logphi.grid.discretizer import Discretizer, DoubleInterval
from logphi.grid.flat_cells import FlatCells
from logphi.grid.mixture_cells import MixtureCells
from logphi.grid.samples import Samples
from logphi.laws.combined.parameters import normal_shift
from logphi.laws.flat_constants import Constants
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.transform import LossTransform, Terms
from logphi.laws.visitor import LawVisitor, ListedMasses
from logphi.laws.weights import Weights
from logphi.quadrature.curves.curve import Curve

Discretizers = tuple[tuple[Discretizer, int], ...]

# measured: the largest number of shifts, each of which takes a pass over the lattice
_MOST_SHIFTS = 64
# derived: smaller weights are near the smallest normal double, and lose digits
_LEAST = 1e-290


def discretizers(terms: Terms) -> tuple[Discretizers, DoubleInterval]:
    """The discretizer of each law with its count, and the logarithm of the constant factor; all normal laws become one.

    Raises
    ------
    ValueError
        If the cell masses of a law are not known.
    """
    moving, log_factor = without_constants(terms)
    others, shift = without_normals(moving)
    result = [(discretizer_of(law), count) for law, count in others]
    if shift is not None:
        result.append((MixtureCells.normal(shift), 1))
    return tuple(result), log_factor


def without_normals(terms: Terms) -> tuple[Terms, DoubleInterval | None]:
    """The laws that are not normal, and the shift of the normal law that all others are together, if there are any."""
    shifts = [(DoubleInterval.of(shift), count) for law, count in terms if (shift := normal_shift(law)) is not None]
    if not shifts:
        return terms, None
    room = 1 + (len(shifts) + 4) * ULP
    low, high = (math.sqrt(sum(count * shift.at(side) ** 2 for shift, count in shifts)) for side in (False, True))
    return [(law, count) for law, count in terms if normal_shift(law) is None], DoubleInterval(low / room, high * room)


def without_constants(terms: Terms) -> tuple[Terms, DoubleInterval]:
    """The laws whose loss is not always zero, and the logarithm of the product of the masses of the others."""
    constant = [law.support.lower == law.support.upper == 0 for law, _ in terms]
    low = high = 0.0
    for (law, count), known in zip(terms, constant, strict=True):
        if known:
            log_mass = law.support.masses.own
            mid, radius = float(log_mass.mid[0].real), float(log_mass.radius[0])
            wrong = count * (radius + 4 * ULP * abs(mid))
            low, high = low + count * mid - wrong, high + count * mid + wrong
    return [term for term, known in zip(terms, constant, strict=True) if not known], DoubleInterval(low, high)


def discretizer_of(law: LossTransform) -> Discretizer:
    """The discretizer of one law.

    Raises
    ------
    ValueError
        If its cell masses are not known.
    """
    found = law.accept(_Discretizers())
    if found is None:
        raise ValueError(
            "the probabilities of grid cells of some loss are not known: 'discretized' supports Gaussian, Laplace, "
            "exponential, truncated and finite mechanisms, sampled or not, and densities"
        )
    return found


class _Discretizers(LawVisitor[Discretizer, LossTransform]):
    """The discretizer of a law, by its form."""

    def reflected(self, own: Discretizer) -> Discretizer | None:
        """The discretizer's own reflection."""
        return own.reflected()

    def normal(self, shift: Parameter) -> Discretizer:
        """The mixture with this single component."""
        return MixtureCells.normal(DoubleInterval.of(shift))

    def mixture(self, shift: Parameter, rate: Parameter) -> Discretizer:
        """The mixture with both parameters rounded outward."""
        return MixtureCells((DoubleInterval.of(shift),), (DoubleInterval.of(rate),))

    def mixtures(self, shifts: tuple[Parameter, ...], weights: Weights) -> Discretizer:
        """The mixture with its shifts rounded outward, and its weights with their errors."""
        law = MixtureOfShifts(shifts, weights)
        ratio = law.ratio
        if ratio.shifts.size > _MOST_SHIFTS or float(ratio.weights.min()) < _LEAST:
            raise ValueError(f"'discretized' supports mixtures of at most {_MOST_SHIFTS} shifts, none too rare, not {law!r}")
        ends = tuple(end for shift in shifts if (end := DoubleInterval.of(shift)).high > 0)
        # the error of a weight and of its logarithm
        weight_error = float(max(ratio.weight_error.max(), ratio.rest_error)) + 4 * ULP * (
            1 + float(np.abs(ratio.log_weights).max())
        )
        return MixtureCells(
            ends, tuple(DoubleInterval(p, p) for p in ratio.weights.tolist()), False, ratio.log_rest, weight_error
        )

    def flat(self, width: Parameter, constants: Constants) -> Discretizer:
        """The flat law with its width rounded outward."""
        return FlatCells(DoubleInterval.of(width).size, constants)

    def curve(self, curve: Curve, curve_at: Callable[[bool], Curve]) -> Discretizer:
        """The cells of the curve."""
        return CurveCells(curve_at)

    def atoms(self, known: Callable[[], ListedMasses]) -> Discretizer:
        """The atoms."""
        locations, log_p, of_locations, of_masses = known()
        return Atoms(tuple(locations.tolist()), tuple(log_p.tolist()), float(max(of_locations.max(), of_masses.max())))

    def samples(self, nodes: Callable[[], tuple[Array, Array]]) -> Discretizer:
        """The nodes as atoms."""
        return Samples(*nodes())
