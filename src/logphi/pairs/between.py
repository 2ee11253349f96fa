"""Several releases on one sample, between two finite pairs: one that their joint pair dominates, and one that dominates it.

Where there are few losses, both are the joint pair itself. Otherwise the loss of each release is put on the multiples of one
step, above and below (:mod:`logphi.pairs.loss_cells`). A product of pairs dominates, or is dominated, factor by factor, and its
masses are convolutions: sums of positive numbers, relatively accurate far into the tails.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.grid.atoms import Atoms
from logphi.grid.cell_masses import CellMasses
from logphi.grid.discretization import discretizer_of, without_constants, without_normals
from logphi.grid.discretizer import Discretizer
from logphi.grid.mixture_cells import MixtureCells
from logphi.inversion.chernoff import tail_end
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform
from logphi.pairs.common_step import BESIDE, common_step
from logphi.pairs.few_atoms import FewAtoms, ManyAtomsError
from logphi.pairs.finite import FinitePair, listed
from logphi.pairs.loss_cells import LossCells
from logphi.pairs.outcomes import Outcomes, product

# measured: direct convolutions of so many nodes take half a second
_NODES = 1 << 14
# chosen: how many times fewer nodes are tried
_COARSER = (1, 8, 64)
# derived: the least step that doubles resolve, and the distance of two losses, on either side of zero, with exponentials in
# the range of doubles
_FINEST, _LARGEST = 1e-12, 1200.0
# chosen: the logarithm of the mass that is left out of an unbounded loss, on each side
_DEEP = -75.0
# chosen: nodes whose relative error is larger are left out
_VAGUE = 1e-6
# chosen: rarer nodes are left out
_RARE = 1e-60


class NotBetweenError(ValueError):
    """No finite pairs are known."""


@dataclass(frozen=True, eq=False)
class _Nodes(Outcomes):
    """Masses of P and Q on the multiples ``first``, ``first + 1``, .. of a step, with upper bounds of them (``most_p``, ..).

    ``only`` are the masses of either law where the other has none, with a relative error ``only_error``; ``of_ratio`` bounds
    the error of every log-ratio, and ``omitted`` the mass of either law that is left out.
    """

    first: int
    p: Array
    q: Array
    most_p: Array
    most_q: Array
    only: tuple[float, float]
    only_error: float
    of_ratio: float
    omitted: float

    @staticmethod
    def of(pair: FinitePair, step: float) -> _Nodes:
        """The nodes of a pair all of whose losses are on them."""
        p, q, errors = np.array(pair.p), np.array(pair.q), np.array(pair.cell_errors)
        both = (p > 0) & (q > 0)
        index = np.rint((np.log(p[both]) - np.log(q[both])) / step).astype(np.int64)
        first = int(index.min())
        # of a node that several cells have, the sum is rounded
        growth = 1 + errors[:2, both] + 2 * ULP * index.size
        of_p, of_q = (np.bincount(index - first, mass[both]).astype(np.float64) for mass in (p, q))
        most_p, most_q = (
            np.bincount(index - first, mass[both] * more).astype(np.float64) for mass, more in zip((p, q), growth, strict=True)
        )
        only = float(p[q == 0].sum()), float(q[p == 0].sum())
        only_error = float(errors[:2, ~both].max(initial=0.0)) + 2 * ULP
        return _Nodes(first, of_p, of_q, most_p, most_q, only, only_error, float(errors[2, both].max()), pair.omitted_mass)

    def __mul__(self, other: _Nodes) -> _Nodes:
        rounding = (min(self.p.size, other.p.size) + 8) * ULP
        p, q = np.convolve(self.p, other.p), np.convolve(self.q, other.q)
        most_p, most_q = (
            np.convolve(mine, theirs) * (1 + 2 * rounding)
            for mine, theirs in ((self.most_p, other.most_p), (self.most_q, other.most_q))
        )
        # products of rare masses lose their digits
        rare = (p < _RARE) | (q < _RARE)
        omitted = self.omitted + other.omitted + float(np.maximum(most_p, most_q)[rare].sum()) + rare.size * _RARE
        held = np.flatnonzero(~rare)
        kept = slice(int(held[0]), int(held[-1]) + 1)
        p, q, most_p, most_q = (np.where(rare[kept], 0.0, mass[kept]) for mass in (p, q, most_p, most_q))
        # the sums have the errors of their terms
        sums = [
            float(most.sum() / held.sum())
            for most, held in ((self.most_p, self.p), (other.most_p, other.p), (self.most_q, self.q), (other.most_q, other.q))
        ]
        only_error = (1 + self.only_error) * (1 + other.only_error) * max(sums) ** 2 * (1 + rare.size * ULP) - 1
        of_ratio = self.of_ratio + other.of_ratio + 2 * rounding
        first = self.first + other.first + kept.start
        return _Nodes(first, p, q, most_p, most_q, self._alone(other), only_error, of_ratio, omitted)

    def pair(self) -> FinitePair:
        """The finite pair."""
        there = (self.p > 0) & (self.q > 0)
        p, q, most_p, most_q = (mass[there] for mass in (self.p, self.q, self.most_p, self.most_q))
        of_p, of_q = (most_p / p - 1) * 1.01 + 4 * ULP, (most_q / q - 1) * 1.01 + 4 * ULP
        vague = np.maximum(of_p, of_q) > _VAGUE
        omitted = (self.omitted + float(np.maximum(most_p, most_q)[vague].sum())) * (1 + 1e-9)
        p, q, of_p, of_q = (part[~vague] for part in (p, q, of_p, of_q))
        columns = [p, q, of_p, of_q, np.full(p.size, self.of_ratio)]
        return listed(columns, self.only, (self.only_error, self.only_error), omitted)


@lru_cache(maxsize=16)
def between(loss: LogPhi, nodes: int = _NODES) -> tuple[FinitePair, FinitePair]:
    """A finite pair that the pair of a loss dominates, and one that dominates it; both are the pair itself if that is known.

    Raises
    ------
    NotBetweenError
        If cell masses are not known, a loss has no bounded range, or doubles do not resolve it.
    """
    parts = parts_of(loss)
    few = _of_few_atoms(parts)
    if few is not None:
        return few, few
    length = sum(count * (part.high - part.low) for part, count in parts)
    ends = [end for part, _ in parts if not any(part.beyond) for end in (part.low, part.high)]
    why = "the losses are too large or too small"
    for coarser in _COARSER:
        if not nodes / coarser * _FINEST < length < _LARGEST:
            continue
        step = common_step(ends, length * coarser / nodes)
        try:
            below, above = (
                product([(part.nodes(step, upper=upper), count) for part, count in parts]).pair() for upper in (False, True)
            )
        except (ValueError, ArithmeticError) as unknown:
            why = str(unknown)
        else:
            return below, above
    raise NotBetweenError(why)


def _of_few_atoms(parts: Sequence[tuple[Part, int]]) -> FinitePair | None:
    """The pair itself, if it has few losses."""
    factors = [
        (FewAtoms.of(part.cells, part.only, part.only_error), count) for part, count in parts if isinstance(part.cells, Atoms)
    ]
    with suppress(ManyAtomsError):
        return product(factors).pair() if len(factors) == len(parts) else None
    return None


@lru_cache(maxsize=64)
def is_known(loss: LogPhi) -> bool:
    """Whether :func:`between` knows pairs."""
    with suppress(NotBetweenError):
        parts_of(loss)
        return True
    return False


@dataclass(frozen=True)
class Part:
    """One release: its cells, the range of its loss, what P has above it and Q below, and the masses where one law has none.

    ``only`` are the latter, of P and of Q, with a relative error.
    """

    cells: Discretizer
    low: float
    high: float
    beyond: tuple[float, float]
    only: tuple[float, float]
    only_error: float

    def nodes(self, step: float, *, upper: bool) -> _Nodes:
        """Its loss on the multiples of a step, from above or from below."""
        first, last = math.floor(self.low / step), math.ceil(self.high / step)
        cells = _loss_cells(self.cells.cells(first, max(last, first + 1), step, upper), self, step)
        return _Nodes.of(cells.above() if upper else cells.below(), step)


def _loss_cells(found: CellMasses, part: Part, step: float) -> LossCells:
    x = found.index * step
    q = np.exp(found.log_mass)
    grown = 1 + found.share * math.expm1(step)
    p = np.exp(found.log_mass + x) * grown
    size = ULP * (16 + 4 * (np.abs(found.log_mass) + np.abs(x)))
    q_error = found.error + size
    p_error = q_error + math.expm1(step) * found.share_error / grown + 2 * found.location_error + 4 * ULP
    low, high = x - found.location_error, x + np.where(found.share > 0, step, 0.0) + found.location_error
    # mass beside a node is spread further: the small share of the node beyond it would not be known well
    beside = np.maximum(BESIDE if isinstance(part.cells, Atoms) else 0.0, 8 * (p_error + q_error) / (step * _VAGUE))
    low = low - np.where((found.share > 0) & (found.share < beside), step, 0.0)
    high = high + np.where(found.share > 1 - beside, step, 0.0)
    # a cell of which only a sliver is in the range of the loss is not known well
    kept = (p > _RARE) & (q > _RARE) & (np.maximum(p_error, q_error) < _VAGUE)
    lost = float(np.maximum(p * (1 + p_error), q * (1 + q_error))[~kept].sum()) * 1.01
    if not kept.any():
        raise ValueError("no loss has enough mass under both laws")
    p, q, p_error, q_error, low, high = (one[kept] for one in (p, q, p_error, q_error, low, high))
    none, omitted = (0.0, 0.0), lost + sum(part.beyond)
    only_error = part.only_error, part.only_error
    return LossCells(
        p, q, p_error, q_error, low, high, part.only, only_error, none, none, 0.0, omitted, step, on_multiples=True
    )


def parts_of(loss: LogPhi) -> list[tuple[Part, int]]:
    """The releases of a loss and how often they occur.

    Raises
    ------
    NotBetweenError
        If cell masses of one are not known.
    """
    if len(without_constants(loss.terms)[0]) < len(loss.terms):
        raise NotBetweenError("a part of the loss is constant")
    others, shift = without_normals(loss.terms)
    parts = [(_of_law(law), count) for law, count in others]
    if shift is not None:
        # P(X > s^2/2 + z s) and Q(X < -s^2/2 - z s) are at most e^{-z^2/2}
        reach = shift.high * math.sqrt(-2 * _DEEP) + shift.high**2 / 2
        parts.append((Part(MixtureCells.normal(shift), -reach, reach, (math.exp(_DEEP),) * 2, (0.0, 0.0), 0.0), 1))
    return parts


def _of_law(law: LossTransform) -> Part:
    try:
        cells = discretizer_of(law)
    except ValueError as unknown:
        raise NotBetweenError(str(unknown)) from unknown
    support = law.support
    masses = support.masses
    only, only_error = [0.0, 0.0], 0.0
    if not masses.certain:
        for side, log_mass in enumerate((masses.own, masses.tilted)):
            mid, radius = float(log_mass.mid[0].real), float(log_mass.radius[0])
            only[side] = -math.expm1(mid)
            if only[side] > 0:
                only_error = max(only_error, 1.01 * radius * math.exp(mid) / only[side] + 4 * ULP)
    low, high, beyond = support.lower - support.error, support.upper + support.error, [0.0, 0.0]
    if math.isinf(high):
        high = _end(law)
        beyond[0] = math.exp(_DEEP)
    if math.isinf(low):
        low = -_end(law.reflected())
        beyond[1] = math.exp(_DEEP)
    return Part(cells, low, high, (beyond[0], beyond[1]), (only[0], only[1]), only_error)


def _end(law: LossTransform) -> float:
    """A loss above which P has mass e^-75 at most."""
    end = tail_end(law, _DEEP, 1)
    if math.isinf(end):
        raise NotBetweenError("the tail of a loss is not known")
    return end
