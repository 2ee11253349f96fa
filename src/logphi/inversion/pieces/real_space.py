"""Sums of laws made of atoms and flat parts once tilted by e^{-x/2}: sums in real space, and a contour for the rest.

notation: e^{-x/2} mu(dx) = A + C per law, A its atoms, C its flat part. The n-fold convolution is the sum over m of
binomial(n, m) A^{n-m} C^m. With Y an atom of A^{n-m} of weight a_Y and C^m the convolution of m flat parts of
half-lengths w_i and heights b_i, the excess at x is

    2 e^{x/2} sum over Y of a_Y prod(b_i) G(Y - x),
    G(y) = integral of sinh((y + v)/2)_+ over v in prod [-w_i, w_i] = sum over signs of prod(s_i) F_m(y + s.w),

F_m the m-fold integral of sinh(y/2)_+, 2^m (y/2)^{m+1} times a power series: no term is negative but for the signs. All
m below a bound are summed in this way; the transform of the rest decays like t^{-m-2}, and a contour integral gives its part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.inversion.atoms import atoms
from logphi.inversion.atoms.convolution import EMPTY, Group, groups
from logphi.inversion.demand import Demand
from logphi.inversion.lines.half_line import Density, Step
from logphi.inversion.lines.kernels import Kernel, Smooth, log_kappa
from logphi.inversion.lines.layout import layout
from logphi.inversion.lines.line_sum import Contour, extent, lay_out
from logphi.inversion.lines.saddle import RIGHT, saddle
from logphi.inversion.pieces.box_sums import BoxSums
from logphi.inversion.pieces.flat_shares import first_negligible, flat_shares, log_tail
from logphi.inversion.pieces.payoffs import DENSITY, EXCESS, Payoff
from logphi.inversion.pieces.term_counts import FLAT_PARTS, MAX_TERMS, by_kind, cost, flat_count, listed, made_of_pieces
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform, Terms
from logphi.quadrature.values import Line, Values

# measured: a node of the contour takes as long as this many terms of a sum
_NODE = 300.0
# derived: the product of an abscissa with a location must be known to much better than one
SHARP = 1e-3


@dataclass(frozen=True)
class Rest(LossTransform):
    """A sum of laws less its parts with fewer than ``most`` flat factors: a measure below that of the sum.

    ``unlisted`` are the laws of the sum without flat parts whose atoms are not listed, ``terms`` the others. The transform on a
    line is a difference, with errors relative to the transform of the whole.
    """

    whole: LossTransform
    terms: tuple[tuple[LossTransform, int], ...]
    unlisted: LogPhi
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
        beside = self.unlisted.on_line(line)
        known &= np.isfinite(beside.mid)
        full = np.exp(np.where(known, whole.mid, scale) - scale)
        low = self._low(line.points, scale, np.where(known, beside.mid, 0.0))
        difference = full - low
        # the error of the low parts is relative to their sum on the real axis, where all terms have one sign; the transform of
        # the whole, and its bounds, are at most about M(c)
        noise = np.minimum(np.expm1(np.minimum(whole.radius, 700.0)) * np.abs(full), np.abs(full) + 1.01)
        noise += (repeats * ULP * (8 + 2 * turn) + np.expm1(np.minimum(beside.radius, 1.0))) * abs(low[0])
        # 1e-290 exceeds the effect of underflow
        noise = noise + ELEMENTARY * (1 + abs(scale)) * (np.abs(full) + abs(low[0])) + 1e-290
        # where the difference is within four errors of zero, the value becomes a disc of 16 errors, which contains zero
        drowned = np.abs(difference) < 4 * noise
        mid = scale + np.log(np.where(drowned, 16 * noise, difference))
        wrong = np.log1p(np.where(drowned, 21 / 16, noise / np.maximum(np.abs(difference), 4 * noise)))
        return Values(mid, np.where(known, wrong, np.inf), np.zeros(line.size))

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """The transform of each flat factor is at most its total variation over t."""
        rate = abs(abscissa + 0.5)
        widths = [pieces.width for law, _ in self.terms if (pieces := law.support.pieces) is not None and pieces.width > 0]
        variation = max(2 * rate / -np.expm1(-2 * rate * w) if rate * w > 1e-8 else 1.01 / w for w in widths)
        bound: Array = np.minimum(self.most * np.log(variation * (1 + 1e-9) / heights), 0.0)
        return bound

    def _low(self, z: NDArray[np.complex128], log_scale: float, beside: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """The transform of the parts with fewer flat factors, over e^log_scale: a truncated product of binomials."""
        u = z + 0.5
        total = np.zeros((self.most, z.size), dtype=complex)
        # each law is in units of about its mass on the real axis, so that no factor is large
        shares = [float(law.approximate(z[:1].real)[0]) for law, _ in self.terms]
        total[0] = np.exp(beside + sum(share * count for share, (_, count) in zip(shares, self.terms, strict=True)) - log_scale)
        for share, (law, count) in zip(shares, self.terms, strict=True):
            pieces = law.support.pieces
            assert pieces is not None, "made_of_pieces was checked"
            steps = np.zeros_like(z)
            for x, weight in zip(pieces.locations, pieces.log_weights, strict=True):
                steps += np.exp(u * x + (weight - share))
            flat = np.zeros_like(z)
            if pieces.width > 0:
                ends = [np.exp(sign * u * pieces.width + (pieces.log_density - share)) for sign in (1, -1)]
                flat = (ends[0] - ends[1]) / u
            own = [comb(count, m) * steps ** (count - m) * flat**m for m in range(min(self.most, count + 1))]
            total = np.array([sum(total[k - m] * part for m, part in enumerate(own[: k + 1])) for k in range(self.most)])
        result: NDArray[np.complex128] = total.sum(axis=0)
        return result


@dataclass(frozen=True, eq=False)
class Prepared:
    """The mean of a payoff, prepared near one threshold; its bounds hold at every threshold.

    The parts that are neither in the table nor on the contour add at most e^{log_omitted - tilt x} at x.
    """

    near: float
    payoff: Payoff
    law: LossTransform
    table: BoxSums
    rest: Contour | None
    tilt: float = 0.0
    log_omitted: float = -math.inf

    def serves(self, x: float) -> bool:
        """Whether the integrand at x has changed by at most a factor e, so that a new preparation would hardly be better."""
        return self.tilt * abs(x - self.near) <= 1

    def at(self, x: float) -> Scaled:
        """The mean at x."""
        found = self.table.total(x, self.payoff) or Scaled(0.0, 0.0)
        if self.log_omitted > -math.inf:
            found = found + Scaled(self.log_omitted - self.tilt * x, 0.0, truncation=1.0)
        return found if self.rest is None else found + self.rest.integral(x, _kernel(self.payoff, self.law, x))


@dataclass(frozen=True, eq=False)
class Draft:
    """About how many terms a preparation takes, and the function that makes it; None if the transform is unknown."""

    terms: float
    laid: Callable[[], Prepared | None]


def prepare(law: LogPhi, x: float, demand: Demand, payoff: Payoff = EXCESS) -> Prepared | None:
    """Prepare the mean of a payoff of a sum of laws near x; None if the rest has no contour, or there are too many atoms."""
    found = draft(law, x, demand, payoff)
    return None if found is None else found.laid()


def draft(law: LogPhi, x: float, demand: Demand, payoff: Payoff = EXCESS) -> Draft | None:
    """The draft of a preparation; None as in :func:`prepare`.

    Parts with many flat factors are left out if their share is negligible, unless a contour is quicker.
    """
    few = flat_count(law.terms) < FLAT_PARTS
    if few and listed(law.terms):
        return Draft(cost(law.terms), lambda: Prepared(x, payoff, law, BoxSums.of(groups(law.terms, FLAT_PARTS - 1)), None))
    farthest_place = sum(count * own.support.upper for own, count in law.terms if own.support.pieces is not None)
    farthest = SHARP / max(farthest_place * ULP, 1e-100)
    tilt = saddle(law, _kernel(payoff, law, x, farthest), RIGHT).abscissa
    found = _parted(law, tilt, payoff)
    if found is None:
        return None
    terms, beside, own, share = found
    # no part is left out of a density, as nothing would bound its share
    most = None if few or payoff is DENSITY else first_negligible(terms, tilt, demand.rtol)
    rest = Rest(law, tuple(terms), beside)
    kernel = _kernel(payoff, rest, x, farthest)
    line = None if few else layout(rest, tilt, kernel, math.log(demand.rtol))
    found_extent = None if line is None else extent(rest, line, kernel)
    of_contour = math.inf if found_extent is None else cost(terms) + _NODE * found_extent.size

    def by_sums() -> Prepared | None:
        table = BoxSums.of(groups(terms, (most or FLAT_PARTS) - 1, own))
        left = share if most is None else share + math.exp(log_tail(flat_shares(terms, tilt), most))
        log_omitted = _log_omitted(law, tilt, payoff, left)
        # where the transform overflows, nothing bounds the parts left out
        return Prepared(x, payoff, law, table, None, tilt, log_omitted) if log_omitted < math.inf else None

    if few or (most is not None and cost(terms, most) <= min(of_contour, MAX_TERMS)):
        return Draft(cost(terms, most or FLAT_PARTS), by_sums)
    if line is None or found_extent is None:
        return None

    def by_contour() -> Prepared | None:
        contour = lay_out(rest, line, found_extent, kernel)
        if contour is None:
            return None
        table = BoxSums.of(groups(terms, FLAT_PARTS - 1, own))
        return Prepared(x, payoff, rest, table, contour, tilt, _log_omitted(law, tilt, payoff, share))

    return Draft(of_contour, by_contour)


def _parted(law: LogPhi, tilt: float, payoff: Payoff) -> tuple[Terms, LogPhi, Group, float] | None:
    """The laws with flat parts; the other laws, a group of their atoms, and the share that this group leaves out."""
    if listed(law.terms):
        return law.terms, LogPhi(), EMPTY, 0.0
    terms, others = by_kind(law.terms)
    # no atom is left out of a density, as nothing would bound its share
    if payoff is DENSITY or not made_of_pieces(terms):
        return None
    found = atoms.listed(others, tilt, MAX_TERMS / cost(terms))
    return None if found is None else (terms, LogPhi(tuple(others)), found.untilted(tilt), found.omitted)


def _log_omitted(law: LossTransform, tilt: float, payoff: Payoff, share: float) -> float:
    """The logarithm of a bound of the mean payoff at x of what has a share of E[e^{cX}]; the bound is in units of e^{-cx}."""
    if not share:
        return -math.inf
    values, c = law.log_transform(np.array([tilt])), np.array([tilt])
    constant = float(log_kappa(c)[0]) if payoff is EXCESS else 0.0
    return float((values.mid.real + values.radius)[0]) + constant + math.log(share) + 1e-9


def _kernel(payoff: Payoff, law: LossTransform, x: float, farthest: float = np.inf) -> Kernel:
    if payoff is EXCESS:
        return Smooth(x, farthest=farthest)
    if payoff is DENSITY:
        return replace(Density.at(law, x), farthest=farthest)
    return Step(x, payoff.pole, farthest=farthest)
