"""Characteristic functions as sums over cells: lower and upper laws, and the double quadrature.

notation: X a monotone function l(Y) of a variable Y whose distribution function is known. Over the cells between the
edges y_0 < ... < y_N the law of X is replaced by the atoms of

* X rounded down (up) to its value at the lower (upper) end of the cell, with the exact mass of the cell: a
  stochastically smaller (larger) law. D(x) = E[(1 - e^{x-X})_+] increases with X, and rounding all terms of a sum
  rounds the sum, so that D lies between the two answers (Zhu, Dong & Wang 2022, Algorithm 2 and Theorem 44). The
  source rounds the law and its tilt apart; here the tilt is that of the rounded law, which is never wider to first
  order and keeps the bounds.
* a Gauss-Legendre rule for the density of Y: the source's double quadrature, whose error is an estimate.

The rounded laws have atoms, and Lévy's integral would converge only conditionally. They are therefore moved once more
in the same direction by an independent sum of uniform variables (a spline density) of about the total width of the
rounding: the bounds stay bounds and the integral has an end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, FLOATS, ULP, Discs, complex_log1p
from logphi.arith.protocol import Arithmetic, Number
from logphi.numerics.enclosure import Scaled
from logphi.numerics.law import Law, Reflected, Values
from logphi.numerics.laws.blended_normal import BlendedNormal
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.levy import MAX_PANELS, NODES, ORDER, RADIANS, TRUNCATION, WEIGHTS, farthest, prepare
from logphi.numerics.tails import log_smooth_envelope

# derived: a normal variable is beyond this many standard deviations with probability below 1e-20
REACH = 9.4
# measured: the order of the spline whose transform is negligible soonest
SPLINE = 28
# estimates that differ by less, relative to M, agree
AGREEMENT = 1e-15
# the most nodes of an inner rule
MAX_INNER = 1 << 14
# entries of a matrix of angles: bounds the memory
BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class Cells:
    """A law cut into cells: losses at the N + 1 edges in ascending order, the N masses, and those of the tilt.

    The first and last edge may be infinite. ``wrong`` and ``tilted_wrong`` bound the errors of the distribution
    functions at the edges, which telescope; ``slip`` bounds those of the losses at the edges.
    """

    edges: NDArray[np.float64]
    mass: NDArray[np.float64]
    tilted: NDArray[np.float64]
    wrong: NDArray[np.float64]
    tilted_wrong: NDArray[np.float64]
    slip: NDArray[np.float64]

    def reflected(self) -> Cells:
        """The cells of the tilt, turned around."""
        flipped = (self.tilted, self.mass, self.tilted_wrong, self.wrong, self.slip)
        return Cells(-self.edges[::-1], *(part[::-1] for part in flipped))

    @property
    def width(self) -> float:
        """The mean distance between rounding down and up, over the cells with two ends."""
        finite = np.isfinite(self.edges[:-1]) & np.isfinite(self.edges[1:])
        return float((np.diff(np.where(np.isfinite(self.edges), self.edges, 0.0)) * self.mass)[finite].sum())

    def rounded(self, up: bool) -> Discrete:
        """The law with every cell rounded to one of its ends; mass at an infinite end is lost."""
        loss, slip = (self.edges[1:], self.slip[1:]) if up else (self.edges[:-1], self.slip[:-1])
        kept = np.isfinite(loss)
        at = np.where(kept, loss, loss[kept][-1 if up else 0])
        # summation by parts: a wrong distribution function at an edge moves mass between neighbouring atoms
        jump = np.append(0.0, np.append(np.diff(at) * self.wrong[1:-1], 0.0))
        error = self.mass * (np.abs(at) * (8 * ELEMENTARY + 48 * ULP) + slip) + jump[:-1] + jump[1:]
        return Discrete(loss[kept], self.mass[kept], error[kept], float(self.mass[~kept].sum()))


@singledispatch
def cells_of(law: Law, size: int) -> Cells | None:
    """The law cut into cells, equally wide in the variable that the loss is a function of; None if unknown."""
    return None


@cells_of.register
def _(law: Reflected, size: int) -> Cells | None:
    own = cells_of(law.law, size)
    return None if own is None else own.reflected()


@cells_of.register
def _(law: Normal, size: int) -> Cells:
    m = abs(float(law.shift.under(FLOATS).mid))
    y = np.linspace(-REACH - m, REACH, size - 1)
    loss = m * (y + m / 2)
    (mass, wrong), (tilted, tilted_wrong) = _normal_masses(y, 0.0, m), _normal_masses(y + m, m, m)
    edges = np.concatenate([[-np.inf], loss, [np.inf]])
    return Cells(edges, mass, tilted, wrong, tilted_wrong, _padded(ELEMENTARY * m * (np.abs(y) + m)))


@cells_of.register
def _(law: MixedNormal, size: int) -> Cells:
    m, q = law.constants
    y = np.linspace(-REACH, REACH + m, size - 1)
    loss, slip = _mixed(law, y)
    (null, null_wrong), (moved, moved_wrong) = _normal_masses(y, 0.0, m), _normal_masses(y - m, m, m)
    edges = np.concatenate([[np.log1p(-q)], loss, [np.inf]])
    wrong = (1 - q) * null_wrong + q * moved_wrong
    # the bottom of the support stands in for the first edge, with the relative error of a logarithm
    bottom = _padded(slip)
    bottom[0] = ELEMENTARY * (1 + q / (1 - q))
    return Cells(edges, (1 - q) * null + q * moved, null, wrong, null_wrong, bottom)


def _mixed(law: MixedNormal | BlendedNormal, y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The log-ratio and its absolute error, with those of the parameters."""
    loss = law.curve.on(y)
    return loss[0], 2 * ELEMENTARY * (np.abs(loss) + law.curve.moved(y, loss))[0]


def _normal_masses(y: NDArray[np.float64], centre: float, m: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Normal probabilities of the cells between the points, both tails included, and errors at all edges."""
    from scipy.special import ndtr

    # from the nearer tail, so that far cells keep their relative accuracy
    tail = ndtr(-np.abs(y))
    signed = np.concatenate([[0.0], np.where(y < 0, tail, -tail), [0.0]])
    mass = np.diff(signed)
    mass[np.searchsorted(y, 0.0)] += 1.0
    return mass, _padded(ELEMENTARY * (4 + (1 + np.abs(y)) * (np.abs(y) + centre + m)) * tail)


def _padded(inside: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([[0.0], inside, [0.0]])


class _Numeric(Law):
    """A law that is known in doubles only."""

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """Not available."""
        raise NotImplementedError("a law of sums over cells is known in doubles only")

    def log_masses(self) -> tuple[Values, Values]:
        """K(0) and K(-1), as any other value."""
        at_zero, at_minus_one = (self.log_transform(np.array([c])) for c in (0.0, -1.0))
        return at_zero, at_minus_one


@dataclass(frozen=True, eq=False)
class Discrete(_Numeric):
    """Atoms that make up a probability with what is ``lost`` at infinity: M(z) = 1 - lost + sum p_j (e^{z l_j} - 1).

    ``error`` bounds, for each atom, what the rounding of its mass and place does to M, over |z| max(1, e^{l_j Re z}).
    """

    loss: NDArray[np.float64]
    mass: NDArray[np.float64]
    error: NDArray[np.float64]
    lost: float = 0.0

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points; equal heights on several lines share their sines.

        Where M is smaller than its error, K is not known but M is: the value is then the logarithm of what |M| is
        below, with a radius so large that the disc, and its powers, contain zero.
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
        wrong += ELEMENTARY * (self.lost + np.abs(moved))
        mid = complex_log1p(moved - self.lost)
        size = np.exp(mid.real)
        known = wrong < 0.5 * size
        mid = np.where(known, mid, np.log(size + wrong + 1e-300))
        radius = np.where(known, 1.5 * wrong / np.where(known, size, 1.0), 1.1)
        mid = mid if np.iscomplexobj(z) else mid.real
        return Values(mid.reshape(z.shape), radius.reshape(z.shape), np.zeros(z.shape))


@dataclass(frozen=True)
class Shove(_Numeric):
    """A uniform variable on [0, v], or on [v, 0] for a negative v: M(z) = e^{zv/2} sinh(zv/2) / (zv/2)."""

    length: float

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points."""
        half = Discs.exact(np.asarray(z)) * (self.length / 2)
        return Values.of(FLOATS.log_sinhc(half) + half)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """From the total variation of the tilted density, twice its largest value: u / (1 - e^{-u}) <= 1 + u."""
        length = abs(self.length)
        return log_smooth_envelope(2 * (1 + abs(abscissa) * length) / length, heights)


@dataclass(frozen=True, eq=False)
class Convolution(_Numeric):
    """The sum of independent variables, each with a count."""

    terms: tuple[tuple[Law, int], ...]

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """The sum of the terms, each times its count."""
        z = np.asarray(z)
        total = Values(np.zeros(z.shape), np.zeros(z.shape), np.zeros(z.shape))
        for law, own in self.terms:
            total = total + law.log_transform(z, count * own).times(own)
        return total

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """The sum of the envelopes."""
        return np.sum([own * law.log_envelope(abscissa, heights, end) for law, own in self.terms], axis=0)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class DoubleQuadrature(_Numeric):
    """The law of a normal mixture whose K is a plain Gauss-Legendre rule, doubled until two answers agree.

    It takes the place of the law in :func:`logphi.numerics.levy.excess`: Zhu, Dong & Wang's double quadrature. The
    error that it declares as ``inner`` is an *estimate*, unlike that of the law itself. Known for -1 <= Re z <= 0 only.
    """

    law: MixedNormal | BlendedNormal

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K, infinite where the rules do not agree or the abscissa is outside."""
        z = np.asarray(z)
        unknown = np.full(z.shape, np.inf)
        if z.size == 0 or not ((z.real >= -1) & (z.real <= 0)).all():
            return Values(unknown, unknown, unknown)
        low, high = -REACH, REACH + float(self.law.curve.shift[0])
        # the loss is monotone in y: what it turns over is what there is to resolve
        turn = float(np.abs(z.imag).max()) * float(np.ptp(self.law.curve.on(np.array([low, high]))))
        if not 2 * ORDER * turn / RADIANS < MAX_INNER:
            return Values(unknown, unknown, unknown)
        panels = max(2, int(np.ceil(turn / RADIANS)), int(np.ceil((high - low) / 8)))
        coarse, fine = (self._rule(low, high, panels * k).log_transform(z) for k in (1, 2))
        while (change := self._change(coarse, fine)).max() > AGREEMENT and 4 * panels * ORDER <= MAX_INNER:
            panels *= 2
            coarse, fine = fine, self._rule(low, high, panels * 2).log_transform(z)
        # half an ulp in m and q is in the rule's own rounding; the tails beyond the ends weigh less than 1e-19
        inner = np.where(change < 0.5, 3 * change + 1e-19 * np.exp(-fine.mid.real), np.inf)
        return replace(fine, inner=inner)

    @staticmethod
    def _change(coarse: Values, fine: Values) -> NDArray[np.float64]:
        # through the exponential: logarithms may differ by a multiple of 2 pi i
        return np.abs(np.expm1(coarse.mid - fine.mid))  # type: ignore[no-any-return]

    def _rule(self, low: float, high: float, panels: int) -> Discrete:
        """The Gauss-Legendre rule on equal panels, as a law."""
        width = (high - low) / panels
        y = (low + width * (np.arange(panels)[:, None] + (1 + NODES) / 2)).ravel()
        loss, slip = _mixed(self.law, y)
        mass = np.tile(WEIGHTS, panels) * (width / 2 / np.sqrt(2 * np.pi)) * np.exp(loss - y * y / 2)
        error = mass * (np.abs(loss) * (ELEMENTARY * (8 + y * y) + 48 * ULP + slip) + slip)
        return Discrete(loss, mass, error)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """That of the law, which may leave it to the class that computes many together."""
        return (self.law.together([(self.law, 1)]) or self.law).log_envelope(abscissa, heights, end)


@singledispatch
def double_quadrature(law: Law) -> Law | None:
    """The law with its K by a plain quadrature; None if its K is not an integral."""
    return None


@double_quadrature.register
def _(law: Reflected) -> Law | None:
    own = double_quadrature(law.law)
    return None if own is None else own.reflected()


# a union is understood from Python 3.11 on
@double_quadrature.register(MixedNormal)
@double_quadrature.register(BlendedNormal)
def _(law: MixedNormal | BlendedNormal) -> Law:
    return DoubleQuadrature(law)


def excess_by_sums(
    terms: Sequence[tuple[Law, int]], x: float, cells: int = 512, most: int = 4 * MAX_PANELS
) -> tuple[Scaled, Scaled]:
    """D(x) = E[(1 - e^{x-X})_+] from both sides, by rounding (Zhu, Dong & Wang 2022, Algorithm 2, Theorem 44).

    Parameters
    ----------
    terms
        Laws with their counts; X is the sum. Those that :func:`cells_of` knows are rounded, the others enter as they
        are.
    x
        The threshold, any finite real.
    cells
        Number of cells of each law that is rounded; the gap is proportional to its inverse times the count, but not
        below what the number of panels allows.
    most
        Number of panels, as in :func:`logphi.numerics.levy.excess`; it sets the width of the spline that is
        negligible within reach. The work is proportional to both numbers.

    Returns
    -------
    tuple of Scaled
        D of a stochastically smaller and of a larger law, each with the absolute errors of
        :func:`logphi.numerics.levy.excess`: D(x) is between ``low`` of the first and ``high`` of the second, as
        far as the estimate of the outer quadrature is right. Mass that was rounded up to infinity is in the second.

    Raises
    ------
    ValueError
        If no term has known cells, if there are fewer than 8, or as for :func:`logphi.numerics.levy.excess`.

    Examples
    --------
    >>> from logphi.arith.protocol import Plain
    >>> low, high = excess_by_sums([(MixedNormal(Plain(1.0), Plain(0.1)), 10)], 0.5)
    >>> round(low.value, 3), round(high.value, 3)
    (0.029, 0.04)
    """
    return prepare_sums(terms, cells, most)(x)


def prepare_sums(
    terms: Sequence[tuple[Law, int]], cells: int = 512, most: int = 4 * MAX_PANELS
) -> Callable[[float], tuple[Scaled, Scaled]]:
    """:func:`excess_by_sums` as a function of the threshold alone; arguments and errors are the same."""
    if cells < 8:
        raise ValueError(f"cells must be at least 8, got {cells!r}")
    cut = [(cells_of(law, cells), law, count) for law, count in terms]
    width = sum(count * own.width for own, _, count in cut if own is not None)
    if all(own is None for own, _, _ in cut):
        raise ValueError("no term has known cells, so there is nothing to round: invert the transform as it is")
    # the spline of width w is negligible from about this height times 1/w on; it must be within reach
    needed = 2 * SPLINE * TRUNCATION[-1] ** (-1 / SPLINE)
    whole = Convolution(tuple(terms))
    # mass at infinity after rounding up
    lost = -np.expm1(sum(count * np.log1p(-own.rounded(True).lost) for own, _, count in cut if own is not None))

    @lru_cache(maxsize=2)
    def excesses(width: float) -> list[Callable[[float], Scaled]]:
        found = []
        for up in (False, True):
            rounded = [(law if own is None else own.rounded(up), count) for own, law, count in cut]
            shove = Shove((width if up else -width) / SPLINE)
            found.append(prepare(Convolution((*rounded, (shove, SPLINE))), most))
        return found

    def at(x: float) -> tuple[Scaled, Scaled]:
        reached = 1.5 * needed / farthest(whole, x, most)
        # few different widths, so that neighbouring thresholds share their laws
        low, high = (one(x) for one in excesses(max(width, 2.0 ** (np.ceil(8 * np.log2(reached)) / 8))))
        return low, replace(high, value=high.value + float(lost), rounding=high.rounding + 1e-9 * float(lost))

    return at


def between(low: Scaled, high: Scaled) -> Scaled:
    """One answer from those of a smaller and of a larger law: half their distance is added to ``discretization``."""
    errors = {name: max(getattr(low, name), getattr(high, name)) for name in ("truncation", "inner", "rounding")}
    gap = max(high.value - low.value, 0.0) / 2 + max(low.discretization, high.discretization)
    return Scaled(0.0, (low.value + high.value) / 2, discretization=gap, **errors)
