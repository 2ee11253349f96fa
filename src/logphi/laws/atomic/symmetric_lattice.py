"""Equally spaced atoms whose weights are symmetric after tilting by e^{-x/2}."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.support import Lattice, LogMasses, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor, ListedMasses
from logphi.quadrature.values import CERTAIN, Values

# chosen: entries of the intermediate arrays
_BLOCK = 1 << 18
# measured: with more atoms, a contour is faster than a sum
_FEW = 64


class SymmetricLattice(LossTransform):
    """Atoms at l_j = D (j - m/2), j = 0 .. m, of tilted weights a_j = a_{m-j}: K(z) = log( sum of a_j e^{u l_j} ), u = z + 1/2.

    The mass M(0) = M(-1) is known, so that K may be computed from M(z) - M(0), the sum over l_j > 0 of
    4 a_j sinh((z + 1) l_j / 2) sinh(z l_j / 2): for small spans a small K keeps its digits.
    """

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number m of spans between the outermost atoms."""

    @abstractmethod
    def span_under(self, arith: Arithmetic) -> Number:
        """The span D in an arithmetic."""

    @abstractmethod
    def log_weights_at(self, distances: Array) -> tuple[Array, Array]:
        """The log a_j at given distances (j - m/2) >= 0 from the centre, with bounds of their errors."""

    @property
    def log_mass(self) -> Values:
        """The logarithm of M(0) = M(-1); zero unless some loss is infinite."""
        return CERTAIN

    # K is even in z + 1/2
    traits = Traits(symmetric=True)

    @cached_property
    def span(self) -> tuple[float, float]:
        """D, and a bound of its relative error."""
        disc: Discs = self.span_under(FLOATS)
        size = float(disc.mid)
        return size, float(disc.rad) / size * (1 + 4 * ULP)

    @cached_property
    def support(self) -> Support:
        """From the lowest atom to the highest, on a lattice with an uncertain common factor."""
        size, error = self.span
        pieces = None
        if self.steps < _FEW:
            locations, log_weights, location_error, relative_error = self.atoms()
            distances, weights = tuple(locations.tolist()), tuple(log_weights.tolist())
            pieces = Pieces(distances, weights, location_error=location_error, relative_error=relative_error)
        lattice = Lattice(-self.steps / 2 * size, size, scale_error=error + 2 * ULP) if self.steps else Lattice(0.0, np.inf)
        masses = LogMasses(self.log_mass, self.log_mass)
        return Support.within(self._top, 2 * self._top * (error + 4 * ULP), pieces=pieces, lattice=lattice, masses=masses)

    @property
    def _top(self) -> float:
        """The highest atom, rounded up."""
        size, error = self.span
        return self.steps / 2 * size * (1 + error + 4 * ULP)

    @property
    def closed_form(self) -> ClosedForm:
        """Sums over the atoms."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses)

    def atoms(self) -> tuple[Array, Array, float, float]:
        """All locations, logarithms of tilted weights, and the largest errors of both."""
        distances: Array = np.arange(self.steps + 1, dtype=np.float64) - self.steps / 2
        size, error = self.span
        log_weights, errors = self.log_weights_at(np.abs(distances))
        return distances * size, log_weights, self._top * (error + 2 * ULP), float(errors.max())

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The atoms."""
        return visitor.atoms(self._atoms_under_p)

    def _atoms_under_p(self) -> ListedMasses:
        locations, log_weights, location_error, relative_error = self.atoms()
        error = location_error + relative_error + 4 * ULP * (1 + float(np.abs(log_weights).max()) + self._top)
        errors = np.full(locations.shape, error)
        return locations, log_weights + locations / 2, errors, errors

    def excess(self, x: float) -> Scaled:
        """The sum over the atoms above x."""
        return self._one_sided_excess(x, 1.0)

    def reversed_excess(self, x: float) -> Scaled:
        """The sum over the atoms below x."""
        return self._one_sided_excess(x, -1.0)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled]:
        """Sums over the atoms on either side."""
        from logphi.laws.partial_masses import atom_masses

        return atom_masses(*self.atoms(), x, tilted=tilted)

    def _one_sided_excess(self, x: float, side: float) -> Scaled:
        """The sum of P-mass times |1 - e^{x - l}| over the atoms on one side of x."""
        locations, log_weights, location_error, relative_error = self.atoms()
        room = location_error + 2 * ULP * (abs(x) + self.support.upper)
        # an atom that may lie on the other side of x contributes at most the error of its location
        counted = side * (locations - x) > -room
        loss, log_a = locations[counted], log_weights[counted]
        if loss.size == 0:
            return Scaled(0.0, 0.0)
        exponent = log_a + (loss / 2 if side > 0 else x - loss / 2)
        scale = float(exponent.max())
        weight = np.exp(exponent - scale)
        terms = weight * -np.expm1(-np.maximum(side * (loss - x), 0.0))
        relative = relative_error + room + ULP * (64 + 2 * float(np.abs(exponent).max()) + 2 * abs(scale)) + self._rounding
        rounding = float((terms * relative + weight * room).sum()) * (1 + 1e-9)
        return Scaled(scale, float(terms.sum()), rounding=rounding)

    @cached_property
    def _upper(self) -> tuple[Array, Array, Array]:
        """Locations, log-weights and errors of the atoms at or above zero; half of an atom at zero."""
        distances: Array = np.arange((self.steps + 1) // 2, self.steps + 1, dtype=np.float64) - self.steps / 2
        log_weights, errors = self.log_weights_at(distances)
        return distances * self.span[0], log_weights - np.where(distances == 0, np.log(2), 0.0), errors + ULP

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K, from the difference to M(0) for small z, and from the sum over the atoms elsewhere."""
        z = np.asarray(z)
        points = z.ravel()
        near = (np.abs(points) + 1) * self.support.upper <= 2
        mid = np.empty(points.shape, dtype=points.dtype if np.iscomplexobj(points) else float)
        radius = np.empty(points.shape)
        rows = max(_BLOCK // self._upper[0].size, 1)
        for kind, those in ((self._near, np.flatnonzero(near)), (self._far, np.flatnonzero(~near))):
            for part in np.split(those, range(rows, those.size, rows)):
                if part.size:
                    mid[part], radius[part] = kind(points[part])
        known = np.isfinite(mid) & np.isfinite(radius)
        mid, radius = np.where(known, mid, np.inf), np.where(known, radius, np.inf)
        return Values(mid.reshape(z.shape), radius.reshape(z.shape), np.zeros(z.shape))

    def _near(self, z: NDArray[Any]) -> tuple[NDArray[Any], Array]:
        upper, log_weight, error = self._upper
        own = self.log_mass
        part = 4 * np.exp(log_weight) * np.sinh((z[:, None] + 1) * (upper / 2)) * np.sinh(z[:, None] * (upper / 2))
        rise = part.sum(axis=-1) * np.exp(-own.mid[0])
        # arguments are at most one, where |x coth x| is below 3/2; each has the error of the span and three roundings
        relative = error + 3 * (self.span[1] + 4 * ULP) + 4 * ELEMENTARY + self._rounding + float(own.radius[0])
        error = (np.abs(part) * relative).sum(axis=-1) * float(np.exp(-own.mid[0])) * (1 + 1e-9)
        log_rise = FLOATS.log1p(Discs(rise, error))
        return log_rise.mid + own.mid[0], log_rise.rad + own.radius[0] + ULP * np.abs(own.mid[0])

    def _far(self, z: NDArray[Any]) -> tuple[NDArray[Any], Array]:
        upper, log_weight, error = self._upper
        u = np.abs(z.real + 0.5)[:, None]
        exponent = log_weight + u * upper
        top = exponent.max(axis=-1)
        up = np.exp(exponent - top[:, None])
        down = up * np.exp(-2 * u * upper)
        if np.iscomplexobj(z):
            turn = np.where(z.real < -0.5, -z.imag, z.imag)[:, None] * upper
            total = ((up + down) * np.cos(turn)).sum(axis=-1) + 1j * ((up - down) * np.sin(turn)).sum(axis=-1)
        else:
            total = (up + down).sum(axis=-1)
        # each exponent has the error of its weight, and |u| times that of its location with roundings
        size = (np.abs(z) + 1)[:, None] * upper
        relative = error + size * (self.span[1] + 4 * ULP) + ULP * (np.abs(log_weight) + 2 * np.abs(top)[:, None])
        relative = np.minimum(relative + 4 * ELEMENTARY + self._rounding, 700.0)
        error = ((up + down) * np.expm1(relative)).sum(axis=-1) * (1 + 1e-9)
        found = Values.logarithm(total, error, top)
        return found.mid, found.rounding

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """|chi(t)|^2 = 1 - sum of p_j p_k (1 - cos((l_j - l_k) t)) over all pairs; neighbours bound it up to t D = pi."""
        span = self.span[0]
        if self.steps == 0 or end * span > np.pi * (1 + 1e-9):
            return np.zeros_like(heights)
        locations, log_weights, _, _ = self.atoms()
        tilted = np.exp(log_weights + (abscissa + 0.5) * locations - (log_weights + (abscissa + 0.5) * locations).max())
        tilted /= tilted.sum()
        share = 4 * float((tilted[1:] * tilted[:-1]).sum())
        # the factor exceeds the effect of rounding and of angles slightly above pi
        angle = np.minimum(heights * span, np.pi) / 2
        bound: Array = 0.5 * np.log1p(-share * np.sin(angle) ** 2 * (1 - 1e-6))
        return bound

    @property
    def _rounding(self) -> float:
        """The rounding of a sum over the atoms, relative to the absolute terms: NumPy sums pairwise, in runs of 128."""
        return ULP * (32 + 2 * float(np.log2(self.steps + 2)))


@dataclass(frozen=True)
class GeometricShift(SymmetricLattice):
    """The log-ratio of a two-sided geometric law, proportional to e^{-|x| / scale}, to the same law shifted by an integer s.

    With a = 1/scale, r = e^{-a} and u = z + 1/2, M(z) = e^{-as/2} [ 2 cosh(u a s) / (1 + r)
    + tanh(a/2) sinh(u a (s - 1)) / sinh(u a) ]: the atoms at the ends are the two tails.
    """

    scale: float
    shift: int

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        a = 1 / arith.constant(self.scale)
        u, s = (2 * z + 1) / 2, self.shift
        ends = 2 * arith.exp(arith.log_cosh(u * a * s)) / (1 + arith.exp(-a))
        ratio = (s - 1) * arith.exp(arith.log_sinhc(u * a * (s - 1)) - arith.log_sinhc(u * a)) if s > 1 else 0
        return arith.log(ends + arith.tanh(a / 2) * ratio) - a * s / 2

    @property
    def steps(self) -> int:
        """The shift."""
        return self.shift

    def span_under(self, arith: Arithmetic) -> Number:
        """2 / scale."""
        return 2 / arith.constant(self.scale)

    def log_weights_at(self, distances: Array) -> tuple[Array, Array]:
        """The two tails at the ends, and the single points between them."""
        a = 1 / self.scale
        base = a * self.shift / 2
        end, inner = -float(np.log1p(np.exp(-a))), float(np.log(np.tanh(a / 2)))
        log_weights = np.where(distances == self.shift / 2, end, inner) - base
        # a relative change of a moves the logarithm of tanh(a/2) by at most as much
        own = ELEMENTARY * (3 + abs(inner)) + (self.span[1] + ULP) * (base + 1) + 2 * ULP * base
        return log_weights, np.full(distances.shape, own)
