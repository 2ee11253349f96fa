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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.boxes import DENSITY, EXCESS, Payoff, factorials
from logphi.inversion.demand import Demand
from logphi.inversion.half_line import Density, Step
from logphi.inversion.kernels import Kernel, Smooth
from logphi.inversion.line_sum import Contour, plan
from logphi.inversion.saddle import RIGHT, saddle
from logphi.laws.log_phi import LogPhi
from logphi.laws.support import Pieces
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line, Values

Terms = Sequence[tuple[LossTransform, int]]

# measured: with six flat parts the rest decays fast enough, and the alternating sums still lose few digits
FLAT_PARTS = 6
# measured: about a second
MAX_TERMS = 1 << 21
# derived: the product of an abscissa with a location must be known to much better than one
SHARP = 1e-3
# rows at a time: bounds the memory
BLOCK = 1 << 14


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
    if count == 1:
        return Atoms(np.array(pieces.locations), weights)
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


# beyond its exponential, sums are out of the question
_ENDLESS = 200.0
# derived: up to here logarithms of factorials differ by what their difference should be, to several digits
_COUNTED = 10**9


def atom_count(terms: Terms) -> float:
    """How many atoms the purely atomic part of a sum has, in units of what few kinds of them cost."""
    total = 1.0
    for law, count in terms:
        pieces = law.pieces
        kinds = 0 if pieces is None else len(pieces.locations)
        # to draw more than one from many kinds takes a table of as many columns
        if kinds:
            # of the large numbers of draws nothing would be left in the difference
            rise = lgamma(count + kinds) - lgamma(count + 1) if count < _COUNTED else (kinds - 1) * log(count)
            log_ways = rise - lgamma(kinds)
            total *= exp(min(log_ways, _ENDLESS)) * (max(kinds / 8, 1.0) if count > 1 else 1.0)
    return total


@dataclass(frozen=True)
class Group:
    """A part of the convolution: atoms, and how many flat parts of which width go with them."""

    atoms: Atoms
    flats: tuple[tuple[float, int], ...]
    log_factor: float
    slip: float = 0.0
    blur: float = 0.0

    @property
    def order(self) -> int:
        """How many flat parts there are."""
        return sum(m for _, m in self.flats)

    @property
    def reach(self) -> float:
        """Half the diagonal extent of the box of flat parts."""
        return sum(width * m for width, m in self.flats)


def groups(terms: Terms, most: int) -> list[Group]:
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
                group.slip + (count - m) * pieces.location_error,
                group.blur + (count - m) * pieces.relative_error,
            )
            for group in found
            for m, atoms in powers.items()
            if len(atoms) and group.order + m <= most
        ]
    return found


@dataclass(frozen=True, eq=False)
class Table:
    """The parts of a convolution laid out in arrays, a row for each atom, a column for each corner of its box.

    The excess at x is the sum over the rows of e^log_weight times H(location - x), with H(y) = 2 G(y) e^{-(y + reach)/2}:
    nothing here depends on x. ``half_extent`` is half of what a corner lies below the highest one.
    """

    location: Array
    reach: Array
    log_weight: Array
    log_box: Array
    noise: Array
    place: Array
    group: NDArray[np.intp]
    order: NDArray[np.intp]
    kinds: NDArray[np.intp]
    multiplicity: Array
    half_extent: Array

    @staticmethod
    def of(parts: Sequence[Group]) -> Table:
        """The table of some parts, or of none."""
        sizes = [len(part.atoms) for part in parts]

        def rows(values: Sequence[float]) -> Array:
            return np.repeat(np.array(values, dtype=float), sizes)

        location = np.concatenate([np.zeros(0), *(part.atoms.location for part in parts)])
        log_tilted = np.concatenate([np.zeros(0), *(part.atoms.log_weight for part in parts)])
        reach, log_factor = rows([part.reach for part in parts]), rows([part.log_factor for part in parts])
        log_box = [sum(m * (w / 2 + float(np.log(-2 * np.expm1(-w)))) for w, m in part.flats) for part in parts]
        corners = [_corners(part.flats) for part in parts]
        columns = max((signs.size for signs, _ in corners), default=0)
        padded = [np.array([np.pad(one[i], (0, columns - one[i].size)) for one in corners]) for i in range(2)]
        farthest = [float(np.abs(part.atoms.location).max(initial=0)) for part in parts]
        return Table(
            location,
            reach,
            log_tilted + log_factor + (location + reach) / 2,
            rows(log_box),
            # of the logarithm of the weight
            ELEMENTARY * (4 + np.abs(log_tilted) + np.abs(log_factor) + np.abs(location) + reach)
            + rows([p.blur for p in parts]),
            # a location errs by a few ulps of the sums it was formed from
            rows([ULP * (8 + 2 * len(p.flats)) * (p.reach + far) + p.slip for p, far in zip(parts, farthest, strict=True)]),
            np.repeat(np.arange(len(parts)), sizes),
            np.array([part.order for part in parts], dtype=np.intp),
            np.array([len(part.flats) for part in parts], dtype=np.intp),
            padded[0],
            padded[1],
        )

    def total(self, x: float, payoff: Payoff) -> Scaled | None:
        """The mean of the payoff at x over all parts, None where it is zero; the rounding counts half an ulp of x."""
        y = self.location - x
        place = self.place + ULP * (8 + 2 * self.kinds[self.group]) * abs(x)
        paying = np.flatnonzero(y > -self.reach - place)
        if paying.size == 0:
            return None
        log_scale = float(self.log_weight[paying].max())
        total = error = 0.0
        for rows in np.split(paying, range(BLOCK, paying.size, BLOCK)):
            inside = y[rows] < self.reach[rows]
            low, high = rows[inside], rows[~inside]
            value, noise = np.empty(rows.size), np.empty(rows.size)
            value[inside], noise[inside] = self._partly(low, y[low], payoff)
            value[~inside], noise[~inside] = self._wholly(high, y[high], payoff)
            weight = np.exp(self.log_weight[rows] - log_scale)
            log_noise = self.noise[rows] + ELEMENTARY * (np.abs(y[rows]) + abs(log_scale))
            total += float((weight * value).sum())
            noise += value * log_noise + self._slope(rows, y[rows] + place[rows], payoff) * place[rows]
            # the end of a box, or an atom, that may be on either side of a jump
            jumping = self.order[self.group[rows]] + payoff.smoothness == 0
            noise += np.where(jumping & (np.abs(np.abs(y[rows]) - self.reach[rows]) <= place[rows]), 1.0, 0.0)
            error += float((weight * noise).sum())
        # the sums, and what underflows beside the unit
        return Scaled(log_scale, total, rounding=1.01 * error + ULP * (40 + paying.size / BLOCK) * total + 1e-290)

    def _slope(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> Array:
        """A bound of the slope up to y, over e^{(y + reach)/2}.

        It is at most that of the whole box, and at most what the box's corner above the threshold allows.
        """
        order = self.order[self.group[rows]]
        corner = np.maximum(y + self.reach[rows], 0.0)
        whole = np.exp(self.log_box[rows] - self.reach[rows] / 2)
        # a payoff that falls is not bounded by what it pays on the whole box
        bound: Array = np.minimum(2 * whole if payoff.rises else np.inf, corner**order / factorials(order))
        if payoff.smoothness < 1:
            # the face of the box that passes the threshold
            face = order + payoff.smoothness - 1
            at_least = np.maximum(face, 0)
            bound += np.where(face < 0, 0.0, corner**at_least / factorials(at_least) * np.exp(-corner / 2))
        return np.where(order == 0, 2.0, bound)

    def _wholly(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> tuple[Array, Array]:
        """The payoff where the whole box is above the threshold, and its rounding error."""
        log_box, reach = self.log_box[rows], self.reach[rows]
        value = payoff.whole(y) * np.exp(log_box - reach / 2)
        return value, ELEMENTARY * (2 + np.abs(log_box) + reach) * value

    def _partly(self, rows: NDArray[np.intp], y: Array, payoff: Payoff) -> tuple[Array, Array]:
        """The payoff as the alternating sum over the corners, and its rounding error."""
        group, reach = self.group[rows], self.reach[rows]
        order, kinds = self.order[group][:, None], self.kinds[group][:, None]
        signed, below = self.multiplicity[group], self.half_extent[group]
        half = ((y + reach) / 2)[:, None] - below
        factor = 2.0 ** (order + payoff.smoothness) * signed * np.exp(-below)
        part = factor * payoff.series(np.maximum(half, 0.0), order)
        # the corner's own place, beside the common one: its slope is at most one, and at most that of the first term
        place = ULP * (2 + 2 * kinds) * (np.abs(y + reach)[:, None] + below)
        first = np.maximum(order + payoff.smoothness - 1, 0)
        slope = np.minimum(1.0, np.maximum(half + place, 0.0) ** first / factorials(first))
        noise = (8 + order) * ELEMENTARY * (1 + below / 16) * np.abs(part) + np.abs(factor) * slope * place
        return np.maximum(part.sum(axis=1), 0.0), noise.sum(axis=1)


def _corners(flats: tuple[tuple[float, int], ...]) -> tuple[Array, Array]:
    """Signed multiplicities of the corners of the box, and half of what each lies below the highest."""
    signs, below = np.ones(1), np.zeros(1)
    for width, m in flats:
        own = np.array([(-1.0) ** j * comb(m, j) for j in range(m + 1)])
        signs = np.multiply.outer(signs, own).ravel()
        below = np.add.outer(below, width * np.arange(m + 1)).ravel()
    return signs, below


@dataclass(frozen=True)
class Rest(LossTransform):
    """What a sum of laws is beside its parts with fewer than ``most`` flat parts: a measure, smaller than the whole.

    Its transform on a line is formed by subtraction, with errors relative to that of the whole.
    """

    whole: LossTransform
    terms: tuple[tuple[LossTransform, int], ...]
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
        known, scale = np.isfinite(whole.mid), float(whole.mid[0].real)
        repeats = sum(own for _, own in self.terms)
        turn = (abs(line.abscissa) + 1 + line.heights) * max((law.support.upper for law, _ in self.terms), default=0.0)
        if not known[0]:
            return Values(whole.mid, np.full(line.size, np.inf), np.zeros(line.size))
        full, low = np.exp(np.where(known, whole.mid, scale) - scale), self._low(line.points, scale)
        difference = full - low
        # the low parts err relative to their sum on the real axis, where all terms have one sign
        # both what is known of the whole and the whole itself are at most about M(c)
        noise = np.minimum(np.expm1(np.minimum(whole.radius, 700.0)) * np.abs(full), np.abs(full) + 1.01)
        noise += repeats * ULP * (8 + 2 * turn) * abs(low[0])
        # and what underflows
        noise = noise + ELEMENTARY * (1 + abs(scale)) * (np.abs(full) + abs(low[0])) + 1e-290
        # below its own noise the difference is only known to be small: a number larger than that, wrong by as much
        drowned = np.abs(difference) < 4 * noise
        mid = scale + np.log(np.where(drowned, 16 * noise, difference))
        wrong = np.log1p(np.where(drowned, 21 / 16, noise / np.maximum(np.abs(difference), 4 * noise)))
        return Values(mid, np.where(known, wrong, np.inf), np.zeros(line.size))

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
        # each law in units of about its own mass on the real axis, so that no factor is large
        shares = [float(law.approximate(z[:1].real)[0]) for law, _ in self.terms]
        total[0] = np.exp(sum(share * count for share, (_, count) in zip(shares, self.terms, strict=True)) - log_scale)
        for share, (law, count) in zip(shares, self.terms, strict=True):
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


@dataclass(frozen=True, eq=False)
class Prepared:
    """What the mean of a payoff is formed from near one threshold; every bound holds for any threshold."""

    near: float
    payoff: Payoff
    law: LossTransform
    table: Table
    rest: Contour | None

    def serves(self, x: float) -> bool:
        """Whether laying it out afresh at x would hardly gain: the integrand has not grown or shrunk by much."""
        return self.rest is None or self.rest.abscissa * abs(x - self.near) <= 1

    def at(self, x: float) -> Scaled:
        """The mean at x."""
        amount = self.table.total(x, self.payoff)
        if self.rest is None:
            return amount or Scaled(0.0, 0.0)
        rest = self.rest.integral(x, _kernel(self.payoff, self.law, x))
        return rest if amount is None else amount + rest


def prepare(law: LogPhi, x: float, demand: Demand, payoff: Payoff = EXCESS) -> Prepared | None:
    """Lay out the mean of a payoff of a sum of laws near x; None if no line could be laid for the rest."""
    terms = law.terms
    table = Table.of(groups(terms, FLAT_PARTS - 1))
    if flat_count(terms) < FLAT_PARTS:
        return Prepared(x, payoff, law, table, None)
    farthest = SHARP / (sum(count * law.support.upper for law, count in terms) * ULP)
    rest = Rest(law, terms)
    kernel = _kernel(payoff, rest, x, farthest)
    contour = plan(rest, saddle(law, kernel, RIGHT).abscissa, kernel, demand.rtol)
    return None if contour is None else Prepared(x, payoff, rest, table, contour)


def _kernel(payoff: Payoff, law: LossTransform, x: float, farthest: float = np.inf) -> Kernel:
    if payoff is EXCESS:
        return Smooth(x, farthest=farthest)
    if payoff is DENSITY:
        return replace(Density.at(law, x), farthest=farthest)
    return Step(x, payoff.pole, farthest=farthest)


def flat_count(terms: Terms) -> int:
    """How many flat parts a sum may have at the most."""
    return sum(count for law, count in terms if (pieces := law.pieces) is not None and pieces.width > 0)


def made_of_pieces(terms: Terms) -> bool:
    """Whether every law is atoms and a flat part."""
    return all(law.pieces is not None for law, _ in terms)


def served(terms: Terms) -> bool:
    """Whether the sum of these laws is made of few enough atoms and flat parts."""
    return made_of_pieces(terms) and cost(terms) <= MAX_TERMS


@dataclass(frozen=True)
class Places:
    """Atoms in order: places, each wrong by at most ``slip``, and enclosures of their masses."""

    locations: Array
    lower: Array
    upper: Array
    slip: float

    def __len__(self) -> int:
        return self.locations.size


# measured: a table of so many rows is formed in a tenth of a second
MOST_PLACES = 1 << 16


def places(terms: Terms) -> Places:
    """All atoms of a sum; places that rounding does not tell apart are one.

    Raises
    ------
    ValueError
        If there are too many, or a law does not tell its atoms.
    """
    if any(law.support.atomless or ((own := law.pieces) is not None and not own.locations) for law, _ in terms):
        nothing = np.zeros(0)
        return Places(nothing, nothing, nothing, 0.0)
    if not made_of_pieces(terms):
        unknown = next(law for law, _ in terms if law.pieces is None)
        raise ValueError(f"the atoms of {unknown!r} are not known by place; ask for probabilities instead")
    number = atom_count(terms)
    if number > MOST_PLACES:
        raise ValueError(
            f"there are about {number:.3g} atoms, and at most {MOST_PLACES} are listed; ask for probabilities instead"
        )
    table = Table.of(groups(terms, 0))
    order = np.argsort(table.location, kind="stable")
    location, log_mass = table.location[order], table.log_weight[order]
    slip = 2 * float(table.place.max(initial=0.0))
    wrong = table.noise[order] + ELEMENTARY * (1 + np.abs(log_mass))
    starts = np.flatnonzero(np.append(True, np.diff(location) > slip))
    # a sum of masses errs no more than each, and by the additions
    errors = np.maximum.reduceat(wrong, starts) + ULP * np.diff(np.append(starts, location.size))
    mass = np.add.reduceat(np.exp(log_mass), starts)
    return Places(location[starts], mass * (1 - errors), mass * np.exp(errors), 2 * slip)


def cost(terms: Terms, most: int = FLAT_PARTS) -> float:
    """About how many terms one excess takes."""
    kinds = sum(1 for law, _ in terms if (pieces := law.pieces) is not None and pieces.width > 0)
    flats = min(most - 1, flat_count(terms))
    knots = min(2.0**flats, (flats / max(kinds, 1) + 1.0) ** kinds)
    return float(atom_count(terms) * comb(kinds + flats, flats) * knots)
