"""Transforms on a long vertical line: a law that is an integral becomes one sum over nodes, for all heights together.

notation: K(z) = log E_Q[e^{al}], a = z + 1, z = c + it. The nodes are those of Gauss-Legendre panels that serve all heights of
the line (:mod:`logphi.quadrature.curves.panels`), or the atoms of the law; :mod:`logphi.quadrature.sums.spread_sums` computes
their sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI, ULP
from logphi.arith.protocol import Parameter
from logphi.laws.log_phi import LogPhi, terms_of
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor, ListedMasses
from logphi.quadrature.curves.curve import Curve, Factor
from logphi.quadrature.curves.gauss_legendre import Masses, nodes_of, whole_law
from logphi.quadrature.curves.panels import log_errors, panels
from logphi.quadrature.sums.exponential_sums import exponential_sums
from logphi.quadrature.sums.spread_sums import spread_sums
from logphi.quadrature.values import Line, SparseLine, Values

# measured: on shorter lines a matrix product is as quick
_LONG = 1 << 10
# measured: more panels than this have more nodes than a long line has heights
_PANELS = 1 << 14
# derived: the sum of the nodes this far below the largest, as a logarithm, is bounded by their mass
_NEGLIGIBLE = 42.0
# derived: larger angles have no correct digits, because of the rounding of a loss
_LARGEST_ANGLE = 2.0**53


@dataclass(frozen=True)
class Sum:
    """Nodes whose sum of e^{al} is M(z) up to e^log_error, for one real part of a and all heights up to a limit."""

    nodes: Masses
    log_error: float

    def exchanged(self) -> Sum:
        """The same integral with P and Q exchanged, at 1 - a."""
        own = self.nodes
        mass = own.log_mass + own.loss
        wrong = own.relative_error + own.loss_error + 2 * ULP * (np.abs(mass) + np.abs(own.loss))
        return Sum(replace(own, loss=-own.loss, log_mass=mass, relative_error=wrong), self.log_error)


# a function that gives the nodes for a real part of a and heights up to a limit; None if there would be too many
SumAt = Callable[[float, float], Sum | None]


def values_on(law: LossTransform, line: Line | SparseLine) -> Values:
    """K on a line, term by term."""
    terms, sparse = terms_of(law), isinstance(line, SparseLine)
    sums = [(term.accept(_Sums()) if sparse or line.size >= _LONG else None, count) for term, count in terms]
    others = LogPhi.of(term for term, (sum_at, _) in zip(terms, sums, strict=True) if sum_at is None)
    whole = others.log_transform(line.points) if isinstance(line, SparseLine) else others.on_line(line)
    return reduce(add, (_on_line(sum_at, line).times(count) for sum_at, count in sums if sum_at is not None), whole)


def _on_line(sum_at: SumAt, line: Line | SparseLine) -> Values:
    heights = line.heights
    a, top = line.abscissa + 1, float(heights[-1])
    found = sum_at(a, top)
    if found is None:
        return Values.unknown(line.size)
    own = found.nodes
    with np.errstate(over="ignore"):  # infinite: unknown
        exponent = own.log_mass + a * own.loss
    peak = float(exponent.max())
    if not abs(peak) * ULP < 1:
        # an angle above the limit has no fractional digits
        return Values.unknown(line.size)
    weight = np.exp(exponent - peak)
    whole = float(weight.sum())
    size = np.abs(own.log_mass) + 2 * np.abs(a * own.loss) + abs(peak)
    wrong = np.expm1(np.minimum(own.relative_error + abs(a) * own.loss_error + 8 * ULP + ULP * size, 700.0))
    # negligible terms are bounded, not summed
    kept = exponent > peak - _NEGLIGIBLE
    if top * float(np.abs(own.loss[kept]).max()) > _LARGEST_ANGLE:
        return Values.unknown(line.size)
    weights = weight[kept] / whole
    if isinstance(line, SparseLine):
        sums = exponential_sums(weights, own.loss[kept], line)
        sum_error = np.full(line.size, 2 * (5 + weights.size) * ULP)
    else:
        sums, sum_error = spread_sums(own.loss[kept], weights, line.step, line.size)
    constant = (
        float((weight * wrong).sum() + weight[~kept].sum()) / whole + math.exp(min(found.log_error - peak, 700.0)) / whole
    )
    moved = float((weight * (own.loss_error + 6 * ULP * np.abs(own.loss))).sum()) / whole
    error = (sum_error + constant + moved * heights) * (1 + 1e-9) + 2 * ULP
    return Values.logarithm(sums, error, peak + math.log(whole))


class _Sums(LawVisitor[SumAt, LossTransform]):
    """The nodes of a law that is an integral or a sum of atoms, by its form."""

    def reflected(self, own: SumAt) -> SumAt:
        """The nodes with P and Q exchanged."""

        def sum_at(a: float, top: float) -> Sum | None:
            found = own(1 - a, top)
            return found and found.exchanged()

        return sum_at

    def mixture(self, shift: Parameter, rate: Parameter) -> SumAt:
        """The nodes of the curve over the normal variable of Q."""
        disc, own = shift.under(FLOATS), rate.under(FLOATS)
        m, q = abs(float(disc.mid)), float(own.mid)
        error = float(disc.rad) / m + float(own.rad) / q + 4 * ULP
        density = (-LOG_ROOT_TWO_PI, 0.0, -0.5)
        return self.curve(Curve((Factor(q, m, -m * m / 2),), -math.inf, math.inf, density, error=error), None)

    def curve(self, curve: Curve, curve_at: object) -> SumAt:
        """The nodes of Gauss-Legendre panels, with the atoms, mirror image and rest of the curve."""

        def sum_at(a: float, top: float) -> Sum | None:
            powers = np.array([a])
            found = panels(curve, powers, top, _PANELS, near_one=False)
            if found is None:
                return None
            _, plain = log_errors(curve, found, powers, top)
            return Sum(whole_law(curve, nodes_of(curve, found.low, found.high)), float(plain[0]))

        return sum_at

    def atoms(self, known: Callable[[], ListedMasses]) -> SumAt:
        """The atoms themselves."""

        def sum_at(a: float, top: float) -> Sum:
            locations, log_p, of_locations, of_masses = known()
            wrong = of_locations + of_masses + ULP * (np.abs(log_p) + np.abs(locations))
            return Sum(Masses(locations, log_p - locations, wrong, of_locations), -math.inf)

        return sum_at
