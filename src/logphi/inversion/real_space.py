"""Sums of laws that are atoms and flat parts once tilted by e^{-x/2}: exact in real space, with a contour for the rest.

notation: e^{-x/2} mu(dx) = A + C per law, A its atoms, C its flat part. The n-fold convolution is the sum over m of
binomial(n, m) A^{n-m} C^m. With Y an atom of A^{n-m} of weight a_Y and C^m the convolution of m flat parts of
half-lengths w_i and heights b_i, the excess at x is

    2 e^{x/2} sum over Y of a_Y prod(b_i) G(Y - x),
    G(y) = integral of sinh((y + v)/2)_+ over v in prod [-w_i, w_i] = sum over signs of prod(s_i) F_m(y + s.w),

F_m the m-fold integral of sinh(y/2)_+, 2^m (y/2)^{m+1} times a power series: no term is negative but for the signs. All
m below a bound are summed so; what is left decays like t^{-m-2}, and a contour integral takes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, exp, lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.box_sums import BoxSums
from logphi.inversion.convolution import Terms, groups
from logphi.inversion.demand import Demand
from logphi.inversion.half_line import Density, Step
from logphi.inversion.kernels import Kernel, Smooth
from logphi.inversion.line_sum import Contour, plan
from logphi.inversion.payoffs import DENSITY, EXCESS, Payoff
from logphi.inversion.saddle import RIGHT, saddle
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.quadrature.values import Line, Values

# measured: with six flat parts the rest decays fast enough, and the alternating sums still lose few digits
FLAT_PARTS = 6
# measured: about a second
MAX_TERMS = 1 << 21
# derived: the product of an abscissa with a location must be known to much better than one
SHARP = 1e-3


# e to this power is more terms than can be summed
_ENDLESS = 200.0
# derived: up to here differences of logarithms of factorials keep several digits
_COUNTED = 10**9


def atom_count(terms: Terms) -> float:
    """How many atoms the purely atomic part of a sum has, in units of what few kinds of them cost."""
    total = 1.0
    for law, count in terms:
        pieces = law.support.pieces
        kinds = 0 if pieces is None else len(pieces.locations)
        # to draw more than one from many kinds takes a table of as many columns
        if kinds:
            # of the large numbers of draws nothing would be left in the difference
            rise = lgamma(count + kinds) - lgamma(count + 1) if count < _COUNTED else (kinds - 1) * log(count)
            log_ways = rise - lgamma(kinds)
            total *= exp(min(log_ways, _ENDLESS)) * (max(kinds / 8, 1.0) if count > 1 else 1.0)
    return total


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
        # 1e-290 covers underflow
        noise = noise + ELEMENTARY * (1 + abs(scale)) * (np.abs(full) + abs(low[0])) + 1e-290
        # a difference below its own error is only known to be small: 16 errors, with a disc that contains zero
        drowned = np.abs(difference) < 4 * noise
        mid = scale + np.log(np.where(drowned, 16 * noise, difference))
        wrong = np.log1p(np.where(drowned, 21 / 16, noise / np.maximum(np.abs(difference), 4 * noise)))
        return Values(mid, np.where(known, wrong, np.inf), np.zeros(line.size))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """Each of the flat parts is at most its total variation over t."""
        rate = abs(abscissa + 0.5)
        widths = [pieces.width for law, _ in self.terms if (pieces := law.support.pieces) is not None and pieces.width > 0]
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
            pieces = law.support.pieces
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
    """The mean of a payoff, prepared near one threshold; its bounds hold at every threshold."""

    near: float
    payoff: Payoff
    law: LossTransform
    table: BoxSums
    rest: Contour | None

    def serves(self, x: float) -> bool:
        """Whether a new line at x would hardly be better: the integrand has changed by a factor e at most."""
        return self.rest is None or self.rest.abscissa * abs(x - self.near) <= 1

    def at(self, x: float) -> Scaled:
        """The mean at x."""
        amount = self.table.total(x, self.payoff)
        if self.rest is None:
            return amount or Scaled(0.0, 0.0)
        rest = self.rest.integral(x, _kernel(self.payoff, self.law, x))
        return rest if amount is None else amount + rest


def prepare(law: LogPhi, x: float, demand: Demand, payoff: Payoff = EXCESS) -> Prepared | None:
    """Prepare the mean of a payoff of a sum of laws near x; None where the rest has no contour."""
    terms = law.terms
    table = BoxSums.of(groups(terms, FLAT_PARTS - 1))
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
    return sum(count for law, count in terms if (pieces := law.support.pieces) is not None and pieces.width > 0)


def made_of_pieces(terms: Terms) -> bool:
    """Whether every law is atoms and a flat part."""
    return all(law.support.pieces is not None for law, _ in terms)


def served(terms: Terms) -> bool:
    """Whether the sum of these laws is made of few enough atoms and flat parts."""
    return made_of_pieces(terms) and cost(terms) <= MAX_TERMS


@dataclass(frozen=True)
class ListedAtoms:
    """Atoms in order: places, each wrong by at most ``location_error``, and enclosures of their masses."""

    locations: Array
    lower: Array
    upper: Array
    location_error: float

    def __len__(self) -> int:
        return self.locations.size


# measured: a table of so many rows is formed in a tenth of a second
MOST_PLACES = 1 << 16


def places(terms: Terms) -> ListedAtoms:
    """All atoms of a sum; atoms closer than their location error are one.

    Raises
    ------
    ValueError
        If there are too many, or the atoms of a law are not known.
    """
    if any(law.support.atomless or ((own := law.support.pieces) is not None and not own.locations) for law, _ in terms):
        nothing = np.zeros(0)
        return ListedAtoms(nothing, nothing, nothing, 0.0)
    if not made_of_pieces(terms):
        unknown = next(law for law, _ in terms if law.support.pieces is None)
        raise ValueError(f"the atoms of {unknown!r} are not known by place; ask for probabilities instead")
    number = atom_count(terms)
    if number > MOST_PLACES:
        raise ValueError(
            f"there are about {number:.3g} atoms, and at most {MOST_PLACES} are listed; ask for probabilities instead"
        )
    table = BoxSums.of(groups(terms, 0))
    order = np.argsort(table.location, kind="stable")
    location, log_mass = table.location[order], table.log_weight[order]
    location_error = 2 * float(table.location_error.max(initial=0.0))
    wrong = table.weight_error[order] + ELEMENTARY * (1 + np.abs(log_mass))
    starts = np.flatnonzero(np.append(True, np.diff(location) > location_error))
    # a sum of masses errs no more than each, and by the additions
    errors = np.maximum.reduceat(wrong, starts) + ULP * np.diff(np.append(starts, location.size))
    mass = np.add.reduceat(np.exp(log_mass), starts)
    return ListedAtoms(location[starts], mass * (1 - errors), mass * np.exp(errors), 2 * location_error)


def cost(terms: Terms) -> float:
    """About how many terms one excess takes."""
    kinds = sum(1 for law, _ in terms if (pieces := law.support.pieces) is not None and pieces.width > 0)
    flats = min(FLAT_PARTS - 1, flat_count(terms))
    knots = min(2.0**flats, (flats / max(kinds, 1) + 1.0) ** kinds)
    return float(atom_count(terms) * comb(kinds + flats, flats) * knots)
