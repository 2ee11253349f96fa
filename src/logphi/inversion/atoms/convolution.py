"""Convolutions of laws that are atoms and flat parts, sorted by the number of flat parts."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, lgamma, log

import numpy as np

from logphi.arrays import Array
from logphi.laws.support import Pieces
from logphi.laws.transform import Terms

# derived: sums of up to this many locations, added one after another, err by two ulps of the largest for each of them
_ONE_BY_ONE = 5


@dataclass(frozen=True)
class Atoms:
    """Locations and logarithms of tilted weights, with errors of the latter in addition to those of whole groups."""

    location: Array
    log_weight: Array
    log_error: Array

    def __len__(self) -> int:
        return self.location.size

    def convolve(self, other: Atoms) -> Atoms:
        """All sums of two locations."""
        location = np.add.outer(self.location, other.location).ravel()
        log_error = np.add.outer(self.log_error, other.log_error).ravel()
        return Atoms(location, np.add.outer(self.log_weight, other.log_weight).ravel(), log_error)

    @staticmethod
    def known(location: Array, log_weight: Array) -> Atoms:
        """Atoms without errors of their own."""
        return Atoms(location, log_weight, np.zeros(location.size))


NOTHING = Atoms.known(np.zeros(1), np.zeros(1))


def power(pieces: Pieces, count: int) -> Atoms:
    """The atoms of the count-fold convolution of the atomic part, equal sums once: a multinomial law."""
    if count == 0:
        return NOTHING
    weights = np.array(pieces.log_weights)
    if weights.size == 0:
        return Atoms.known(np.zeros(0), np.zeros(0))
    if count == 1:
        return Atoms.known(np.array(pieces.locations), weights)
    if count <= _ONE_BY_ONE and count < weights.size:
        return _drawn(np.array(pieces.locations), weights, count)
    picks = np.zeros((1, 0), dtype=np.int64)
    for _ in range(weights.size - 1):
        left = count - picks.sum(axis=1)
        picks = np.concatenate(
            [np.repeat(picks, left + 1, axis=0), np.concatenate([np.arange(k + 1) for k in left])[:, None]], axis=1
        )
    picks = np.concatenate([picks, count - picks.sum(axis=1, keepdims=True)], axis=1)
    ways = log_factorial(count)[count] - log_factorial(count)[picks].sum(axis=1)
    return Atoms.known(picks @ np.array(pieces.locations), ways + picks @ weights)


def _drawn(locations: Array, log_weights: Array, count: int) -> Atoms:
    """The atoms of the convolution by one draw after another, each of the same kind as the one before or of a later one."""
    kind = np.arange(locations.size)
    total, log_weight, run = locations, log_weights + log_factorial(count)[count], np.ones(locations.size)
    for _ in range(count - 1):
        before = np.repeat(np.arange(kind.size), locations.size - kind)
        first = np.cumsum(locations.size - kind) - (locations.size - kind)
        following = np.arange(before.size) - first[before] + kind[before]
        # a kind that is drawn k times has the factor 1 / k!
        run = np.where(following == kind[before], run[before] + 1, 1.0)
        total = total[before] + locations[following]
        log_weight = log_weight[before] + log_weights[following] - np.log(run)
        kind = following
    return Atoms.known(total, log_weight)


def log_factorial(top: int) -> Array:
    """``log(k!)`` for k = 0 .. top."""
    return np.array([lgamma(k + 1) for k in range(top + 1)])


@dataclass(frozen=True)
class Group:
    """A part of the convolution: atoms convolved with flat parts, given as pairs of half-length and count."""

    atoms: Atoms
    flats: tuple[tuple[float, int], ...]
    log_factor: float
    location_error: float = 0.0
    relative_error: float = 0.0

    @property
    def order(self) -> int:
        """The number of flat parts."""
        return sum(m for _, m in self.flats)

    @property
    def half_diagonal(self) -> float:
        """Half the diagonal extent of the box of flat parts."""
        return sum(width * m for width, m in self.flats)


EMPTY = Group(NOTHING, (), 0.0)


def groups(terms: Terms, most: int, other: Group = EMPTY) -> list[Group]:
    """The parts with at most ``most`` flat parts, convolved with another group of atoms."""
    found = [other]
    for law, count in terms:
        pieces = law.support.pieces
        if pieces is None:
            raise ValueError("the law is not made of atoms and flat parts")
        flat = pieces.width > 0
        powers = {m: power(pieces, count - m) for m in range(min(count, most) + 1 if flat else 1)}
        found = [
            Group(
                group.atoms.convolve(atoms),
                (*group.flats, (pieces.width, m)) if m else group.flats,
                group.log_factor + (m * pieces.log_density + log(comb(count, m)) if m else 0.0),
                group.location_error + (count - m) * pieces.location_error,
                group.relative_error + (count - m) * pieces.relative_error,
            )
            for group in found
            for m, atoms in powers.items()
            if len(atoms) and group.order + m <= most
        ]
    return found
