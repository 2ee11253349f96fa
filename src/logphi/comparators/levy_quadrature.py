"""The double quadrature of Zhu, Dong & Wang (2022), appendix E: the characteristic function is a Gauss-Legendre rule itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, complex_log1p
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.arrays import Array
from logphi.comparators.levy import NODES, ORDER, RADIANS, WEIGHTS
from logphi.comparators.output_cells import REACH, mixed_loss
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
from logphi.laws.support import LogMasses, Support
from logphi.laws.transform import LossTransform
from logphi.laws.visitor import LawVisitor
from logphi.laws.weights import Weights
from logphi.quadrature.values import Values

# chosen: two estimates agree when they differ by less than this, relative to M
AGREEMENT = 1e-15
# chosen: the largest number of nodes of an inner rule
MAX_INNER = 1 << 14
# chosen: entries of a matrix of angles: bounds the memory
BLOCK = 1 << 21


class _Numeric(LossTransform):
    """A law whose transform is a sum in doubles, without a closed form."""

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """Not available."""
        raise NotImplementedError("a law of sums over cells is known in doubles only")

    @cached_property
    def support(self) -> Support:
        """The whole line, with K(0) and K(-1) computed like any other value."""
        return Support(masses=LogMasses(*(self.log_transform(np.array([c])) for c in (0.0, -1.0))))


@dataclass(frozen=True, eq=False)
class Discrete(_Numeric):
    """Atoms of masses p_j at l_j that sum to 1 - ``omitted``: M(z) = 1 - omitted + sum p_j (e^{z l_j} - 1).

    ``error`` bounds, for each atom, the error in M due to the rounding of p_j and l_j, divided by |z| max(1, e^{l_j Re z}).
    """

    loss: Array
    mass: Array
    error: Array
    omitted: float = 0.0

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points; points of equal height on several lines share their sines.

        Where M is smaller than its error, K is not known but |M| is bounded: the value is then the logarithm of the bound,
        with a radius so large that the disc, and its powers, contain zero.
        """
        z = np.asarray(z)
        points = z.ravel().astype(complex)
        heights, height = np.unique(points.imag, return_inverse=True)
        abscissas, abscissa = np.unique(points.real, return_inverse=True)
        exponent = np.minimum(abscissas[:, None] * self.loss, 700.0)
        growth = np.exp(exponent)
        weights = self.mass * growth
        turned = np.empty((abscissas.size, heights.size), dtype=complex)
        for block in np.array_split(np.arange(heights.size), -(-heights.size * self.loss.size // BLOCK)):
            half = np.outer(heights[block], self.loss / 2)
            sine = np.sin(half)
            square, product = sine * sine, sine * np.cos(half)
            for row, weight in zip(turned, weights, strict=True):
                row.real[block] = -2 * (square * weight).sum(axis=1)
                row.imag[block] = 2 * (product * weight).sum(axis=1)
        still = (self.mass * np.expm1(exponent)).sum(axis=1)
        moved = still[abscissa] + turned[abscissa, height]
        wrong = np.abs(points) * (self.error * np.maximum(growth, 1.0)).sum(axis=1)[abscissa]
        wrong += ELEMENTARY * (self.omitted + np.abs(moved))
        mid = complex_log1p(moved - self.omitted)
        size = np.exp(mid.real)
        known = wrong < 0.5 * size
        mid = np.where(known, mid, np.log(size + wrong + 1e-300))
        radius = np.where(known, 1.5 * wrong / np.where(known, size, 1.0), 1.1)
        mid = mid if np.iscomplexobj(z) else mid.real
        return Values(mid.reshape(z.shape), radius.reshape(z.shape), np.zeros(z.shape))


@dataclass(frozen=True)
class DoubleQuadrature(_Numeric):
    """A normal mixture whose K is computed by a plain Gauss-Legendre rule, doubled until two answers agree.

    It replaces the law in :func:`logphi.comparators.levy.excess`, which is then the double quadrature of Zhu, Dong & Wang. The
    error that it declares as ``inner`` is an *estimate*, unlike that of the law itself. K is known for -1 <= Re z <= 0 only.
    """

    law: MixedNormal | MixtureOfShifts

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K; infinite where the rules do not agree or the abscissa is outside [-1, 0]."""
        z = np.asarray(z)
        unknown = np.full(z.shape, np.inf)
        if z.size == 0 or not ((z.real >= -1) & (z.real <= 0)).all():
            return Values(unknown, unknown, unknown)
        low, high = -REACH, REACH + float(self.law.ratio.shift[0])
        # the loss is monotone in y: its range times the height is the phase to resolve
        phase = float(np.abs(z.imag).max()) * float(np.ptp(self.law.ratio.value(np.array([low, high]))))
        if not 2 * ORDER * phase / RADIANS < MAX_INNER:
            return Values(unknown, unknown, unknown)
        panels = max(2, int(np.ceil(phase / RADIANS)), int(np.ceil((high - low) / 8)))
        coarse, fine = (self._rule(low, high, panels * k).log_transform(z) for k in (1, 2))
        while (change := self._change(coarse, fine)).max() > AGREEMENT and 4 * panels * ORDER <= MAX_INNER:
            panels *= 2
            coarse, fine = fine, self._rule(low, high, panels * 2).log_transform(z)
        # the rounding of m and q is part of the rule's own; the tails outside [low, high] have mass below 1e-19
        inner = np.where(change < 0.5, 3 * change + 1e-19 * np.exp(-fine.mid.real), np.inf)
        return replace(fine, inner=inner)

    @staticmethod
    def _change(coarse: Values, fine: Values) -> Array:
        # through the exponential: logarithms may differ by a multiple of 2 pi i
        return np.abs(np.expm1(coarse.mid - fine.mid))  # type: ignore[no-any-return]

    def _rule(self, low: float, high: float, panels: int) -> Discrete:
        """The Gauss-Legendre rule on equal panels, as a law."""
        width = (high - low) / panels
        y = (low + width * (np.arange(panels)[:, None] + (1 + NODES) / 2)).ravel()
        loss, loss_error = mixed_loss(self.law.ratio, y)
        mass = np.tile(WEIGHTS, panels) * (width / 2 / np.sqrt(2 * np.pi)) * np.exp(loss - y * y / 2)
        error = mass * (np.abs(loss) * (ELEMENTARY * (8 + y * y) + 48 * ULP + loss_error) + loss_error)
        return Discrete(loss, mass, error)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The envelope of the law itself."""
        return LogPhi(((self.law, 1),)).log_envelope(abscissa, heights, end)


def double_quadrature(law: LossTransform) -> LossTransform | None:
    """The law with K computed by a plain quadrature; None if the law is not a normal mixture."""
    return law.accept(_DoubleQuadratures())


class _DoubleQuadratures(LawVisitor[LossTransform, LossTransform]):
    """A double quadrature for each mixture."""

    def reflected(self, own: LossTransform) -> LossTransform:
        """The double quadrature of the reflected law."""
        return own.reflected()

    def mixture(self, shift: Parameter, rate: Parameter) -> LossTransform:
        """The double quadrature of a mixture of two components."""
        return DoubleQuadrature(MixedNormal(shift, rate))

    def mixtures(self, shifts: tuple[Parameter, ...], weights: Weights) -> LossTransform:
        """The double quadrature of a mixture of many components."""
        return DoubleQuadrature(MixtureOfShifts(shifts, weights))
