"""Outputs cut into cells with known masses under both laws and known ranges of the loss: a finite pair below, and one above.

notation: r = p/q is the likelihood ratio. Of a cell with masses P and Q, on which a <= r <= b, no more is known.

* Below: the cell of an output is a post-processing of it, so that its pair is dominated.
* Above: if each cell is two outcomes instead, with ratios at most a and at least b and the same masses in all, every excess
  E_Q (r - c)_+ grows, as it is convex in r: a pair that dominates.

The ratios of both are equally spaced nodes, as logarithms. Above, the two outcomes of a cell are the nodes next to it. Below,
cells in the order of their ratios, of which one may be divided, are joined until their masses have the ratio of a node. Where
there are only few losses, cells of the same one are joined instead, and no nodes are needed.

The pairs hold masses that are rounded; their errors bound the distance of each from that of a pair as described.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.pairs.finite import FinitePair, listed

# chosen: nodes whose relative error is larger are left out
_VAGUE = 1e-6
# chosen: losses within this share of a step of a node are on it
_ON_NODE = 1e-9
# chosen: hidden mass is less than e^-28 = 1e-12 of the mass that it is joined to
_HIDDEN = 28.0
# chosen: a constant loss with so much mass is best on a node
_HEAVY = 1e-3
# chosen: a loss that varies by no more counts as constant
_CONSTANT = 1e-9
# chosen: more constant losses are better joined
_FEW = 256
# derived: far above the rounding of a ratio, relative to its logarithm
_ROUNDED = 64 * ULP


@dataclass(frozen=True, eq=False)
class LossCells:
    """For each of at least one cell the positive masses of P and Q, with their relative errors, and bounds of the loss.

    ``only`` are the masses of P and Q where the other density is zero, with their relative errors ``only_error``. ``vague`` are
    those where only a bound of the other's mass is known, which is at most ``hidden`` in all. ``omitted`` bounds the mass of
    either law that is left out, there and anywhere. ``step`` is about the distance of the nodes, which are its multiples if
    ``on_multiples``.
    """

    p: Array
    q: Array
    p_error: Array
    q_error: Array
    low: Array
    high: Array
    only: tuple[float, float]
    only_error: tuple[float, float]
    vague: tuple[float, float]
    vague_error: tuple[float, float]
    hidden: float
    omitted: float
    step: float
    on_multiples: bool = False

    @cached_property
    def nodes(self) -> tuple[float, float]:
        """One node and the distance of two, such that the smallest and the largest losses are near nodes."""
        if self.on_multiples:
            return 0.0, self.step
        loss = np.log(self.p) - np.log(self.q)
        ends = [self._mean_near(np.abs(loss - extreme)) for extreme in (loss.min(), loss.max())]
        number = round((ends[1] - ends[0]) / self.step)
        return ends[0], (ends[1] - ends[0]) / number if number else self.step

    def _mean_near(self, distance: Array) -> float:
        """The loss of the nearest cells together: of those on one loss, if they have much mass, or within half a step."""
        near = (distance <= _ON_NODE * self.step) & (self.high - self.low <= 1e3 * _ON_NODE * self.step)
        if self.p[near].sum() + self.q[near].sum() < _HEAVY:
            near = distance <= self.step / 2
        return math.log(math.fsum(self.p[near].tolist())) - math.log(math.fsum(self.q[near].tolist()))

    def above(self) -> FinitePair:
        """A pair on the nodes that dominates: the mass of each cell goes to the nodes below and above all its losses."""
        origin, h = self.nodes
        first, last = np.floor((self.low - origin) / h + _ON_NODE), np.ceil((self.high - origin) / h - _ON_NODE)
        rounding = 8 * ULP * ((np.abs(first) + np.abs(last)) * h + abs(origin))
        # a loss that is on a node but for rounding counts as on it
        outside = np.maximum(origin + first * h - self.low, 0.0) + np.maximum(self.high - (origin + last * h), 0.0)
        outside += np.where(outside > 0, rounding, 0.0)
        width = (last - first) * h
        log_p, log_q = np.log(self.p), np.log(self.q)
        doubt = self.p_error + self.q_error + 2 * ELEMENTARY * (1 + np.abs(log_p) + np.abs(log_q)) + outside + rounding
        # on one node there is no share
        share = np.expm1(log_p - log_q - (origin + first * h)) / np.expm1(np.maximum(width, h))
        share = np.where(width > 0, np.clip(share, 0.0, 1.0), 0.0)
        share_error = np.where(width > 0, doubt / np.maximum(width, h) * np.exp(width + doubt), 0.0) + 16 * ULP * share
        index = np.concatenate([first, last]).astype(np.int64)
        start = int(index.min())
        masses = np.concatenate([self.q * (1 - share), self.q * share])
        errors = masses * np.tile(self.q_error + 8 * ULP, 2) + np.tile(self.q * share_error, 2) * 1.01
        q = np.asarray(np.bincount(index - start, masses), float)
        error = np.bincount(index - start, errors) + 2 * ULP * np.bincount(index - start) * q
        of_ratio = np.zeros(q.size)
        np.maximum.at(of_ratio, index - start, np.tile(outside, 2))
        loss = origin + (np.arange(q.size) + start) * h
        held, vague = (q > 0) | (error > 0), error > _VAGUE * q
        lost = ((q + error) * np.maximum(1.0, np.exp(loss)))[held & vague]
        kept = held & ~vague
        q, loss = q[kept], loss[kept]
        p = q * np.exp(loss)
        of_ratio = 2 * of_ratio[kept] + _ROUNDED * (1 + np.abs(loss))
        of_q = error[kept] / q * 1.01
        only = self.only[0] + self.vague[0], self.only[1] + self.vague[1]
        only_error = max(self.only_error[0], self.vague_error[0]), max(self.only_error[1], self.vague_error[1])
        omitted = self.omitted + math.fsum(lost.tolist()) * 1.01
        return listed([p, q, of_q + of_ratio, of_q, of_ratio], only, only_error, omitted)

    def below(self) -> FinitePair:
        """A pair that is dominated, as cells are joined: those of one loss, if losses are few, or such that nodes are met."""
        groups, lost, few = list[_Group](), 0.0, None if self.on_multiples else _of_few_losses(self)
        for one in _joined(self) if few is None else few:
            least = min(one.p, one.q)
            # what is left out of one law alone is an error of the mass of the group
            one.error = (one.error + 8 * ULP * one.count + (self.hidden / least if one.vague and least > 0 else 0.0)) * 1.01
            if least > 0 and one.error < _VAGUE:
                groups.append(one)
            else:
                lost += max(one.p, one.q) * 1.01
        p, q, error = (np.array([getattr(one, name) for one in groups]) for name in ("p", "q", "error"))
        log_p, log_q, node = np.log(p), np.log(q), np.array([one.node for one in groups])
        off_node = np.abs(log_p - log_q - (self.nodes[0] + self.nodes[1] * node)) if few is None else 0.0
        of_ratio = off_node + 2 * error + _ROUNDED * (1 + np.abs(log_p) + np.abs(log_q))
        return listed([p, q, error, error, of_ratio], self.only, self.only_error, self.omitted + lost)


@dataclass
class _Group:
    """Joined cells: their masses, the largest relative error of one, how many there are, and the node of their ratio."""

    p: float = 0.0
    q: float = 0.0
    error: float = 0.0
    count: int = 0
    node: int = 0
    vague: bool = False

    def add(self, p: float, q: float, error: float, count: int = 1) -> None:
        """Join more."""
        self.p, self.q, self.error, self.count = self.p + p, self.q + q, max(self.error, error), self.count + count

    def give(self, share: float) -> tuple[float, float, float, int]:
        """Part with a share of both masses."""
        given = share * self.p, share * self.q
        # the rounding of the rest is that of one more cell
        self.p, self.q, self.count = self.p * (1 - share), self.q * (1 - share), self.count + 1
        return (*given, self.error, self.count)


def _of_few_losses(cells: LossCells) -> list[_Group] | None:
    """The cells of each loss, if all are constant and few are different."""
    if any(cells.vague) or (cells.high - cells.low > _CONSTANT).any():
        return None
    loss = np.log(cells.p) - np.log(cells.q)
    order = np.argsort(loss, kind="stable")
    starts = np.flatnonzero(np.diff(loss[order], prepend=-math.inf) > _CONSTANT)
    if starts.size > _FEW:
        return None
    p, q = (np.add.reduceat(mass[order], starts).tolist() for mass in (cells.p, cells.q))
    error = np.maximum.reduceat(np.maximum(cells.p_error, cells.q_error)[order], starts).tolist()
    count = np.diff(starts, append=loss.size).tolist()
    return [_Group(*one) for one in zip(p, q, error, count, strict=True)]


def _joined(cells: LossCells) -> list[_Group]:
    """Groups of cells, of which some are divided, each with the ratio of a node."""
    (origin, h), loss = cells.nodes, np.log(cells.p) - np.log(cells.q)
    order = np.argsort(loss, kind="stable")
    bottom, top = (math.floor((loss[order[end]] - origin) / h + _ON_NODE) for end in (0, -1))
    done, group = list[_Group](), _Group()
    if cells.vague[1] > 0:
        if cells.hidden > 0:
            bottom = max(bottom, math.ceil((math.log(cells.hidden / cells.vague[1]) + _HIDDEN - origin) / h))
        # below all other losses; what P has there is left out, which is an error of the mass of the group
        group = _Group(0.0, cells.vague[1], cells.vague_error[1], 1, bottom, True)
    target = math.exp(origin + bottom * h)
    error = np.maximum(cells.p_error, cells.q_error)
    for p, q, e in zip(cells.p[order].tolist(), cells.q[order].tolist(), error[order].tolist(), strict=True):
        part = _Group(p, q, e, 1)
        while part.p > 0 and part.q > 0:
            if not group.count:
                # the first node above these losses
                group.node = math.ceil((math.log(part.p / part.q) - origin) / h - _ON_NODE)
                target = math.exp(origin + group.node * h)
            lacking, excess = target * group.q - group.p, part.p - target * part.q
            if excess <= 0 or excess < lacking:
                group.add(part.p, part.q, part.error, part.count)
                break
            if not group.count:
                # on its node but for rounding: a group by itself
                group.add(*part.give(1.0))
            elif lacking > 0:
                group.add(*part.give(lacking / excess))
            if not group.p > 0:
                break
            done.append(group)
            group = _Group()
    if cells.vague[0] > 0:
        if cells.hidden > 0:
            top = min(top, math.floor((math.log(cells.vague[0] / cells.hidden) - _HIDDEN - origin) / h))
        group.add(cells.vague[0], 0.0, cells.vague_error[0])
        group.vague = True
    if group.count:
        _lower(done, group, top, origin, h)
    return done


def _lower(done: list[_Group], rest: _Group, top: int, origin: float, h: float) -> None:
    """Join to the last cells parts of the groups before them, down to the ratio of a node."""
    if rest.q > 0:
        top = min(top, math.floor((math.log(rest.p / rest.q) - origin) / h + _ON_NODE))
    rest.node, target = top, math.exp(origin + top * h)
    for group in reversed(done):
        lacking = rest.p - target * rest.q
        if not lacking > 0:
            break
        room = target * group.q - group.p
        if room > 0 and group.node < top:
            rest.add(*group.give(min(lacking / room, 1.0)))
    done.append(rest)
