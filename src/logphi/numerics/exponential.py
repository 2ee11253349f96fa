"""Sums of laws that are atoms and flat parts once tilted by e^{-x/2}: exact in real space, with a contour for the rest.

notation: e^{-x/2} mu(dx) = A + C per law, A its atoms, C its flat part. The n-fold convolution is the sum over m of
binomial(n, m) A^{n-m} C^m. With Y an atom of A^{n-m} of weight a_Y and C^m the convolution of m flat parts of
half-lengths w_i and heights b_i, the excess at x is

    2 e^{x/2} sum over Y of a_Y prod(b_i) G(Y - x),
    G(y) = integral of sinh((y + v)/2)_+ over v in prod [-w_i, w_i] = sum over signs of prod(s_i) F_m(y + s.w),

F_m the m-fold integral of sinh(y/2)_+, 2^m (y/2)^{m+1} times a power series: no term is negative but for the signs. All
m below a bound are summed so; what is left decays like t^{-m-2}, and the contour of :mod:`contour` takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, factorial, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.numerics.contour import RIGHT, Smooth, log_ceiling, plan, saddle
from logphi.numerics.enclosure import Scaled
from logphi.numerics.law import Law, Line, Pieces, Values

Array = NDArray[np.float64]
Terms = Sequence[tuple[Law, int]]

# measured: with six flat parts the rest decays fast enough, and the alternating sums still lose few digits
FLAT_PARTS = 6
# measured: about a second
MAX_TERMS = 1 << 21


@dataclass(frozen=True)
class Atoms:
    """Locations and logarithms of tilted weights."""

    location: Array
    log_weight: Array

    def __len__(self) -> int:
        return self.location.size

    def convolve(self, other: Atoms) -> Atoms:
        """All sums of two locations."""
        location = np.add.outer(self.location, other.location).ravel()
        return Atoms(location, np.add.outer(self.log_weight, other.log_weight).ravel())


NOTHING = Atoms(np.zeros(1), np.zeros(1))


def power(pieces: Pieces, count: int) -> Atoms:
    """The atoms of the count-fold convolution of the atomic part, equal sums once: a multinomial law."""
    if count == 0:
        return NOTHING
    weights = np.array(pieces.log_weights)
    if weights.size == 0:
        return Atoms(np.zeros(0), np.zeros(0))
    picks = np.zeros((1, 0), dtype=np.int64)
    for _ in range(weights.size - 1):
        left = count - picks.sum(axis=1)
        picks = np.concatenate(
            [np.repeat(picks, left + 1, axis=0), np.concatenate([np.arange(k + 1) for k in left])[:, None]], axis=1
        )
    picks = np.concatenate([picks, count - picks.sum(axis=1, keepdims=True)], axis=1)
    ways = log_factorial(count)[count] - log_factorial(count)[picks].sum(axis=1)
    return Atoms(picks @ np.array(pieces.locations), ways + picks @ weights)


def log_factorial(top: int) -> Array:
    """``log(k!)`` for k = 0 .. top."""
    return np.array([lgamma(k + 1) for k in range(top + 1)])


def atom_count(terms: Terms) -> float:
    """How many atoms the purely atomic part of a sum has."""
    total = 1.0
    for law, count in terms:
        pieces = law.pieces
        total *= 1.0 if pieces is None else float(comb(count + len(pieces.locations) - 1, count)) if pieces.locations else 1.0
    return total


@dataclass(frozen=True)
class Group:
    """A part of the convolution: atoms, and how many flat parts of which width go with them."""

    atoms: Atoms
    flats: tuple[tuple[float, int], ...]
    log_factor: float
    slip: float = 0.0
    blur: float = 0.0


def groups(terms: Terms, most: int) -> Iterator[Group]:
    """The parts with at most ``most`` flat parts."""
    found = [Group(NOTHING, (), 0.0)]
    for law, count in terms:
        pieces = law.pieces
        if pieces is None:
            raise ValueError("the law is not made of atoms and flat parts")
        flat = pieces.width > 0
        powers = {m: power(pieces, count - m) for m in range(min(count, most) + 1 if flat else 1)}
        found = [
            Group(
                group.atoms.convolve(atoms),
                (*group.flats, (pieces.width, m)) if m else group.flats,
                group.log_factor + (m * pieces.log_density + float(np.log(comb(count, m))) if m else 0.0),
                group.slip + (count - m) * pieces.slip,
                group.blur + (count - m) * pieces.blur,
            )
            for group in found
            for m, atoms in powers.items()
            if len(atoms) and sum(k for _, k in group.flats) + m <= most
        ]
    yield from found


def excess_of(group: Group, x: float, log_scale: float) -> tuple[float, float]:
    """The excess of one part at x and its rounding error, in units of e^log_scale."""
    reach = sum(width * m for width, m in group.flats)
    y = group.atoms.location - x
    # a location errs by a few ulps of the sums it was formed from, and moves the payoff by at most its slope
    farthest = float(np.abs(group.atoms.location).max(initial=0))
    place = ULP * (8 + 2 * len(group.flats)) * (abs(x) + reach + farthest) + group.slip
    paying = y > -reach - place
    y, log_weight = y[paying], group.atoms.log_weight[paying]
    if y.size == 0:
        return 0.0, 0.0
    order = sum(m for _, m in group.flats)
    # everything in units of e^{(y + reach)/2}, the largest exponential that occurs
    log_unit = log_weight + group.log_factor + (y + reach) / 2 + x / 2 - log_scale
    inside = y < reach
    value = np.empty_like(y)
    noise = np.empty_like(y)
    far = y[~inside]
    log_product = sum(m * (width / 2 + float(np.log(-2 * np.expm1(-width)))) for width, m in group.flats)
    value[~inside] = -np.expm1(-far) * np.exp(log_product - reach / 2)
    noise[~inside] = ELEMENTARY * (2 + abs(log_product) + reach) * value[~inside]
    if inside.any():
        total, size = np.zeros(inside.sum()), np.zeros(inside.sum())
        for sign, shift in _knots(group.flats):
            # twice the m-fold integral of sinh, at the knot, over the common exponential
            part = sign * _integrated_sinh(np.maximum(y[inside] + shift, 0.0), order, (y[inside] + reach) / 2)
            total += part
            size += np.abs(part)
        value[inside], noise[inside] = np.maximum(total, 0.0), (8 + order) * ELEMENTARY * size
    weight = np.exp(log_unit)
    # the slope is at most that of the whole box, and half the volume of the box's corner above the threshold
    slope = np.full_like(y, 2 * np.exp(log_product - reach / 2))
    if order:
        slope = np.minimum(slope, (np.maximum(y + reach, 0.0) + place) ** order / factorial(order))
    log_noise = ELEMENTARY * (4 + np.abs(log_weight) + abs(group.log_factor) + np.abs(y) + abs(x) + abs(log_scale) + reach)
    error = float((weight * (noise + value * (log_noise + group.blur) + slope * place)).sum()) + ULP * 32 * float(
        (weight * value).sum()
    )
    # what underflows beside the unit
    return float((weight * value).sum()), error + 1e-290


def _knots(flats: tuple[tuple[float, int], ...]) -> list[tuple[float, float]]:
    """Signed multiplicities and places of the corners of the box."""
    knots = [(1.0, 0.0)]
    for width, m in flats:
        own = [((-1.0) ** j * comb(m, j), (m - 2 * j) * width) for j in range(m + 1)]
        knots = [(sign * s, place + p) for sign, place in knots for s, p in own]
    return knots


def _integrated_sinh(y: Array, order: int, log_unit: Array) -> Array:
    """``2 F_m(y) e^{-log_unit}`` for y >= 0, F_m the m-fold integral of sinh(y/2) from 0.

    F_m(y) = 2^m times the sum over r >= 0 of (y/2)^{m+1+2r} / (m+1+2r)!, summed for small y; for large y the series is an
    exponential less its first terms.
    """
    k, half = order + 1, y / 2
    result = np.zeros_like(y)
    near = half <= 2 * k + 8
    small = half[near]
    series = np.ones_like(small)
    for r in range(2 * k + 30, 0, -1):
        series = 1 + small * small / ((k + 2 * r) * (k + 2 * r - 1)) * series
    with np.errstate(divide="ignore"):  # log 0 at the knot itself: the term is exactly zero
        log_first = k * np.log(small) - lgamma(k + 1)
    result[near] = np.exp(log_first + np.log(series) - log_unit[near])
    large, unit = half[~near], log_unit[~near]
    lost = np.zeros_like(large)
    for j in range(k - 2, -1, -2):
        lost = lost + np.exp(j * np.log(large) - lgamma(j + 1) - unit)
    result[~near] = 0.5 * np.exp(large - unit) * (1 + (-1.0) ** k * np.exp(-2 * large)) - lost
    scaled: Array = 2.0 ** (order + 1) * result
    return scaled


@dataclass(frozen=True)
class Rest(Law):
    """What a sum of laws is beside its parts with fewer than ``most`` flat parts: a measure, smaller than the whole.

    Its transform on a line is formed by subtraction, with errors relative to that of the whole.
    """

    whole: Law
    terms: tuple[tuple[Law, int], ...]
    most: int = FLAT_PARTS

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K of the whole, an upper bound on the real axis."""
        return self.whole.formula(arith, z)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K of the whole, an upper bound on the real axis."""
        return self.whole.log_transform(z, count)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """The logarithm of the difference."""
        whole = self.whole.on_line(line)
        scale = float(whole.mid[0].real)
        full, low = np.exp(whole.mid - scale), self._low(line.points, scale)
        difference = full - low
        repeats = sum(own for _, own in self.terms)
        turn = (abs(line.abscissa) + 1 + line.heights) * max((law.supremum for law, _ in self.terms), default=0.0)
        # the low parts err relative to their sum on the real axis, where all terms have one sign
        noise = np.expm1(np.minimum(whole.radius, 1.0)) * np.abs(full) + repeats * ULP * (8 + 2 * turn) * abs(low[0])
        noise = noise + ELEMENTARY * (1 + abs(scale)) * (np.abs(full) + abs(low[0]))
        # below its own noise the difference is only known to be small: a number larger than that, wrong by as much
        drowned = np.abs(difference) < 4 * noise
        mid = scale + np.log(np.where(drowned, 16 * noise, difference))
        wrong = np.log1p(np.where(drowned, 21 / 16, noise / np.maximum(np.abs(difference), 4 * noise)))
        return Values(mid, wrong, np.zeros(line.size))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """Each of the flat parts is at most its total variation over t."""
        rate = abs(abscissa + 0.5)
        widths = [pieces.width for law, _ in self.terms if (pieces := law.pieces) is not None and pieces.width > 0]
        variation = max(2 * rate / -np.expm1(-2 * rate * w) if rate * w > 1e-8 else 1.01 / w for w in widths)
        bound: Array = np.minimum(self.most * np.log(variation * (1 + 1e-9) / heights), 0.0)
        return bound

    def _low(self, z: NDArray[np.complex128], log_scale: float) -> NDArray[np.complex128]:
        """The transform of the parts with fewer flat parts, over e^log_scale: a truncated product of binomials."""
        u = z + 0.5
        total = np.zeros((self.most, z.size), dtype=complex)
        total[0] = 1.0
        share = log_scale / sum(count for _, count in self.terms)
        for law, count in self.terms:
            pieces = law.pieces
            assert pieces is not None, "made_of_pieces was checked"
            atoms = np.zeros_like(z)
            for x, weight in zip(pieces.locations, pieces.log_weights, strict=True):
                atoms += np.exp(u * x + (weight - share))
            flat = np.zeros_like(z)
            if pieces.width > 0:
                ends = [np.exp(sign * u * pieces.width + (pieces.log_density - share)) for sign in (1, -1)]
                flat = (ends[0] - ends[1]) / u
            own = [comb(count, m) * atoms ** (count - m) * flat**m for m in range(min(self.most, count + 1))]
            total = np.array([sum(total[k - m] * part for m, part in enumerate(own[: k + 1])) for k in range(self.most)])
        result: NDArray[np.complex128] = total.sum(axis=0)
        return result


def excess(law: Law, terms: Terms, x: float, rtol: float, most: int = FLAT_PARTS) -> Scaled | None:
    """The excess at x of the sum ``law`` of ``terms``; None if no line could be laid for the rest."""
    kernel = Smooth(x)
    log_scale = log_ceiling(law, x)
    total = Scaled(log_scale, 0.0)
    if flat_count(terms) >= most:
        rest = Rest(law, tuple(terms), most)
        contour = plan(rest, saddle(law, kernel, RIGHT).abscissa, kernel, rtol)
        if contour is None:
            return None
        total = total + contour.integral(x, kernel)
    for group in groups(terms, most - 1):
        value, noise = excess_of(group, x, total.log_scale)
        total = total + Scaled(total.log_scale, value, rounding=noise * 1.01 + 8 * ULP * value)
    return total


def flat_count(terms: Terms) -> int:
    """How many flat parts a sum may have at the most."""
    return sum(count for law, count in terms if (pieces := law.pieces) is not None and pieces.width > 0)


def made_of_pieces(terms: Terms) -> bool:
    """Whether every law is atoms and a flat part."""
    return all(law.pieces is not None for law, _ in terms)


def cost(terms: Terms, most: int = FLAT_PARTS) -> float:
    """About how many evaluations :func:`excess` takes."""
    kinds = sum(1 for law, _ in terms if (pieces := law.pieces) is not None and pieces.width > 0)
    flats = min(most - 1, flat_count(terms))
    knots = min(2.0**flats, (flats / max(kinds, 1) + 1.0) ** kinds)
    return float(atom_count(terms) * comb(kinds + flats, flats) * knots)
