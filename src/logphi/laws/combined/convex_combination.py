"""Convex combinations of laws: one of several measures, chosen at random.

notation: mu = sum of w_i mu_i with positive weights that sum to one, M = sum of w_i M_i, K = log M.

The file is longer than others because each member of a law has its own rule of combination.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_expm1
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm, Sides
from logphi.laws.growth import Growth, OneSided
from logphi.laws.log_phi import LogPhi
from logphi.laws.partial_masses import partial_masses
from logphi.laws.support import Lattice, LogMasses, Omitted, Pieces, Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.laws.visitor import LawVisitor
from logphi.laws.weights import Listed, Weight, Weights
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.values import SIZE_ONLY, Line, Values, log_one_plus

# the empty sum is one atom at zero
_AT_ZERO = Pieces((0.0,), (0.0,))
# its closed form
_FORM_AT_ZERO = ClosedForm(partial_masses=partial(partial_masses, _AT_ZERO))


@dataclass(frozen=True)
class ConvexCombination(LossTransform):
    """The law sum of w_i mu_i of two or more sums of laws: K(z) = log(sum of w_i e^{K_i(z)}).

    With S = sum of w_i (e^{K_i} - 1), K = log(1 + S) keeps the relative accuracy of small K_i.
    """

    parts: tuple[LogPhi, ...]
    weights: Weights

    @staticmethod
    def of(parts: Sequence[LogPhi], weights: Sequence[float]) -> LogPhi:
        """The combination, with equal parts collected and parts of weight zero dropped; a single part is returned as it is."""
        groups: dict[LogPhi, list[float]] = {}
        for part, weight in zip(parts, weights, strict=True):
            if weight > 0:
                groups.setdefault(part, []).append(weight)
        if len(groups) == 1:
            return next(iter(groups))
        return LogPhi.of([(ConvexCombination(tuple(groups), Listed(tuple(map(tuple, groups.values())))), 1)])

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z); a part of the zero measure has no term."""
        weights = zip(self.parts, self.weights.under(arith), strict=True)
        return arith.log(reduce(add, (w * arith.exp(part.formula(arith, z)) for part, w in weights if not part.empty)))

    @property
    def _finite(self) -> tuple[LogPhi, ...]:
        """The parts that are not the zero measure."""
        return tuple(part for part in self.parts if not part.empty)

    @property
    def strip(self) -> tuple[float, float]:
        """The intersection of the strips of the parts."""
        strips = [part.strip for part in self._finite]
        return (max(low for low, _ in strips), min(high for _, high in strips))

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at an array of points."""
        z = np.asarray(z)
        return self._mean(self._each(lambda part: part.log_transform(z, count), z.shape))

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line."""
        return self._mean(self._each(lambda part: _resolved(part, line, count), (line.size,)))

    @property
    def approximate(self) -> Approximation:
        """The mean of the approximations of the parts."""
        return Approximation(self._mean_of_approximations)

    def _mean_of_approximations(self, c: Array) -> Array:
        zero = np.zeros(c.shape)
        found = self._each(lambda part: Values(part.approximate(c), zero, zero), c.shape)
        return np.asarray(self._mean(found).mid.real)

    def _each(self, values_of: Callable[[LogPhi], Values], shape: tuple[int, ...]) -> list[Values]:
        nothing = Values(np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape))
        return [nothing if part.empty else values_of(part) for part in self.parts]

    def _mean(self, values: Sequence[Values]) -> Values:
        """The logarithm of the sum of w_i e^{K_i}; a K_i is minus infinity for a zero measure.

        By the sum of w_i (e^{K_i - s} - 1): with s = 0 as long as all w_i e^{K_i} are of order one at most, and the largest is.
        """
        weights = self.weights.table()
        tops = np.max([one.mid.real + weight.log for one, weight in zip(values, weights, strict=True)], axis=0)
        known = np.isfinite(tops) & np.isfinite(sum(one.radius for one in values))
        scale = np.where(known & (np.abs(tops) > 1), tops, 0.0)
        total: NDArray[Any] = np.zeros(scale.shape)
        rounded, inner = np.zeros(scale.shape), np.zeros(scale.shape)
        for weight, one in zip(weights, values, strict=True):
            mid = np.where(known, one.mid, 0.0) - scale
            size, near = np.exp(mid.real + weight.log), np.abs(mid) < 1
            far = np.exp(np.where(near, 0.0, mid) + weight.log) - weight.value
            change = np.where(near, weight.value * complex_expm1(np.where(near, mid, 0.0)), far)
            own, other = (np.where(known, error, 0.0) for error in (one.rounding, one.inner))
            # each sum of exponents errs by an ulp of its parts; an empty sum is exact
            exponent = np.where(size > 0, np.abs(mid), 0.0) + np.where(near, 0.0, abs(weight.log)) + 2 * np.abs(scale)
            shifted = np.where(near & (scale == 0), 0.0, ULP * exponent)
            wrong = np.where(near, np.abs(change), size + weight.value)
            total = total + change
            rounded += wrong * (2 * ELEMENTARY + weight.relative_error + len(values) * ULP)
            rounded += size * (_growth(own + other) - _growth(other) + shifted)
            inner += size * _growth(other)
        return log_one_plus(total, rounded, inner, scale, known)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The sum of w_i M_i(c), each term reduced by the envelope of its part, over the sum itself."""
        return self._fallen(abscissa, lambda part: part.log_envelope(abscissa, heights, end), heights)

    def log_block(self, abscissa: float, centres: Array, radius: float, enough: float = -np.inf) -> Array:
        """The sum of w_i M_i(c), each term reduced by the bound of its part on a block, over the sum itself."""
        return self._fallen(abscissa, lambda part: part.log_block(abscissa, centres, radius), centres)

    def _fallen(self, abscissa: float, fall: Callable[[LogPhi], Array], heights: Array) -> Array:
        at = np.array([abscissa])
        each = self._each(lambda part: part.log_transform(at), at.shape)
        whole = self._mean(each)
        top = float(whole.mid[0].real + whole.radius[0])
        if not math.isfinite(top):
            return np.zeros_like(heights)
        decrease, left = np.zeros_like(heights), np.full_like(heights, -np.inf)
        for part, weight, values in zip(self.parts, self.weights.table(), each, strict=True):
            if part.empty:
                continue
            falls, doubt = fall(part), weight.relative_error + 8 * ULP * (1 + abs(weight.log) + abs(top))
            share = weight.log + float(values.mid[0].real) - top
            # bounded with the smallest possible share of the parts that decay and the largest of those that do not
            decrease += math.exp(min(share - float(values.radius[0]) - doubt, 0.0)) * np.expm1(falls)
            most = share + float(values.radius[0] + 2 * whole.radius[0]) + doubt
            left = np.logaddexp(left, most + falls)
        near = np.log1p(np.maximum(decrease, -0.5)) * (1 - 8 * ULP)
        return np.minimum(np.minimum(near, left + 8 * ULP * (1 + np.abs(left))), 0.0)

    @cached_property
    def support(self) -> Support:
        """The hull of the supports of the parts; with pieces or a lattice if all parts have them; masses are averaged."""
        supports = [part.support for part in self._finite]
        omitted = [one.omitted for one in supports if one.omitted.mass]
        return Support(
            min(one.lower for one in supports),
            max(one.upper for one in supports),
            max(one.error for one in supports),
            all(one.atomless for one in supports),
            self._pieces(),
            Lattice.of_union(
                (_lattice_of(part), one.lower, one.upper) for part, one in zip(self._finite, supports, strict=True)
            ),
            Omitted(max(one.mass for one in omitted), self._omitted_growth()) if omitted else Omitted(),
            LogMasses(*(self._mean(side) for side in zip(*(part.support.masses for part in self.parts), strict=True))),
        )

    def _omitted_growth(self) -> float:
        """A bound of 2 K(z) / (z (z + 1)) for both laws, if every part has one."""
        return max(one.support.omitted.growth if one.support.omitted.mass else _quadratic(one.growth) for one in self.parts)

    def _pieces(self) -> Pieces | None:
        """The atoms and flat parts of all laws, if at most one law has a flat part."""
        known = [
            (pieces, weight)
            for part, weight in zip(self.parts, self.weights.table(), strict=True)
            if not part.empty
            for pieces in [_pieces_of(part)]
        ]
        if any(pieces is None for pieces, _ in known):
            return None
        held = [(pieces, weight) for pieces, weight in known if pieces is not None]
        flat = [(pieces, weight) for pieces, weight in held if pieces.width > 0]
        if len(flat) > 1:
            return None
        width, log_density = (flat[0][0].width, flat[0][0].log_density + flat[0][1].log) if flat else (0.0, -math.inf)
        atoms = sorted(
            (location, log_weight + weight.log)
            for pieces, weight in held
            for location, log_weight in zip(pieces.locations, pieces.log_weights, strict=True)
        )
        largest = max((abs(log_weight) for _, log_weight in atoms), default=0.0)
        return Pieces(
            tuple(location for location, _ in atoms),
            tuple(log_weight for _, log_weight in atoms),
            width,
            log_density,
            max(pieces.location_error for pieces, _ in held),
            max(pieces.relative_error + weight.relative_error for pieces, weight in held) + 4 * ULP * (1 + largest),
        )

    @property
    def growth(self) -> Growth:
        """The growth of the fastest part; a mixture of mu-GDP pairs is mu-GDP."""
        known = [part.growth for part in self._finite]
        right, left = (_fastest([getattr(one, side) for one in known]) for side in ("right", "left"))
        shift = max(one.shift for one in known) if len(known) == len(self.parts) else math.inf
        return Growth(right, left, shift)

    @property
    def closed_form(self) -> ClosedForm:
        """Weighted sums of the masses and densities of the parts; the profile is that of the parts, by any route."""
        forms = [part.closed_form if part.terms else _FORM_AT_ZERO for part in self._finite]
        weights = [weight for part, weight in zip(self.parts, self.weights.table(), strict=True) if not part.empty]

        def total(amounts: Iterable[Scaled | None]) -> Scaled | None:
            found = Scaled(0.0, 0.0)
            for amount, weight in zip(amounts, weights, strict=True):
                if amount is None:
                    return None
                found = found + _times(amount, weight)
            return found

        def masses(x: float, *, tilted: bool = False) -> Sides | None:
            each = [form.partial_masses(x, tilted=tilted) for form in forms]
            above, below = (total(sides and sides[i] for sides in each) for i in (0, 1))
            return None if above is None or below is None else (above, below)

        return ClosedForm(partial_masses=masses, density=lambda x: total(form.density(x) for form in forms))

    @cached_property
    def traits(self) -> Traits:
        """Symmetric if all parts are, estimated if one is."""
        traits = [part.traits for part in self.parts]
        return Traits(symmetric=all(one.symmetric for one in traits), estimated=any(one.estimated for one in traits))

    def reflected(self) -> LossTransform:
        """The reflected parts with the same weights."""
        if self.traits.symmetric:
            return self
        return ConvexCombination(tuple(part.reflected() for part in self.parts), self.weights)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The combination, or its atoms if the visitor knows no combinations."""
        found = visitor.combination(self.parts, self.weights)
        if found is not None:
            return found
        pieces = self.support.pieces
        if pieces is None or pieces.width > 0 or self.support.omitted.mass:
            return None
        locations, weights = np.asarray(pieces.locations), np.asarray(pieces.log_weights)
        error = np.full(
            locations.shape, pieces.location_error + pieces.relative_error + 4 * ULP * (1 + float(np.abs(locations).max()))
        )
        return visitor.atoms(lambda: (locations, weights + locations / 2, error, error))


def _resolved(part: LogPhi, line: Line, count: int) -> Values:
    """K of a part on a line; where rounding hides M_i, the bound |M_i(c + it)| <= M_i(c) instead.

    A rare part with large losses is computed from terms far larger than its value. Weighted, it is far below the other parts.
    """
    found = part.on_line(line, count)
    hidden = ~(found.radius <= SIZE_ONLY)
    if not hidden.any():
        return found
    top = part.log_transform(np.array([line.abscissa]), count)
    size = np.fmin(found.mid.real + found.radius, float(top.mid[0].real + top.radius[0]))
    return Values(
        np.where(hidden, size, found.mid), np.where(hidden, SIZE_ONLY, found.rounding), np.where(hidden, 0.0, found.inner)
    )


def _growth(radius: Array) -> Array:
    """``e^r - 1`` without overflow: of a part with so large a radius nothing is known."""
    return np.asarray(np.expm1(np.minimum(radius, 600.0)) * (1 + 4 * ULP))


def _fastest(sides: Sequence[OneSided]) -> OneSided:
    """A bound of log of a mean of transforms: the largest of each bound, and the nearest end."""
    return OneSided(
        max(one.least for one in sides),
        max(one.most for one in sides),
        max(one.offset for one in sides),
        min(one.end for one in sides),
    )


def _quadratic(growth: Growth) -> float:
    """A v with K(z) <= z (z + 1) v / 2 on the right, for the law and its reflection; infinite if none is known."""
    sides = (growth.right, growth.left)
    return max(one.most for one in sides) if all(one.offset <= 0 for one in sides) else math.inf


def _alone(part: LogPhi) -> LossTransform | None:
    """The law of a sum with one term; None for a longer sum."""
    return part.terms[0][0] if len(part.terms) == 1 and part.terms[0][1] == 1 else None


def _pieces_of(part: LogPhi) -> Pieces | None:
    law = _alone(part)
    return law.support.pieces if law is not None else None if part.terms else _AT_ZERO


def _lattice_of(part: LogPhi) -> Lattice | None:
    return part.support.lattice if part.terms else Lattice(0.0, math.inf)


def _times(amount: Scaled, weight: Weight) -> Scaled:
    """The amount times a weight, with the errors of both and of the sum of two logarithms."""
    relative = weight.relative_error + 4 * ULP * (1 + abs(amount.log_scale) + abs(weight.log))
    return replace(amount, log_scale=amount.log_scale + weight.log, rounding=amount.rounding + relative * amount.high)
