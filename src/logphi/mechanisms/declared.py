"""The family of all mechanisms whose Renyi divergences are below a declared curve, and what the curve implies.

In a composition the declared curves are summed, and the sum is converted once. With other releases there are two bounds, of
which the sharper one is the answer: the converted pair composed with the others, and the pair that the divergences of all
releases imply.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.by_others import ByOthers, between
from logphi.algebra.divergences import moments_above
from logphi.algebra.families import Representative
from logphi.algebra.family import CountedReleases, Family
from logphi.algebra.hull import hull
from logphi.algebra.known_pair import KnownPair
from logphi.algebra.release import Mechanism, Primitive, compose
from logphi.answers.bound import Bound
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.inputs.adjacency import ONE_ORDER, Adjacency
from logphi.inputs.arguments import frozen
from logphi.mechanisms.declared_curves import Curve, Summed
from logphi.mechanisms.gaussian import Gaussian
from logphi.pairs.equal import EQUAL
from logphi.pairs.implied import FAIR, FEW, LARGEST_EXPONENT, MANY, epsilon_of_one_order, implied, implied_near
from logphi.pairs.pair import Pair

# chosen: the number of orders for a curve that is known at all orders
_ORDERS = 1600
# chosen: K at the first of these orders
_LEAST_EXPONENT = 1e-6
# measured: with this many orders the divergences of other releases take some tenths of a second; those with a smaller K, where
# it loses its digits, take longer, and count for large deltas only
_WITH_OTHERS, _SMALL_EXPONENT = 320, 1e-3
# chosen: a larger rho is useless
_LEAST_PRIVATE = 1e6
# derived: halvings that find an exponent to a few digits
_HALVINGS = 60
# chosen: the number of refinements of an epsilon
_TRIES = 2
# chosen: relative width of bounds of divergences, far below what the conversion loses
_NARROW = 1e-6
# questions that one point of the profile answers
_CLOSELY = ("delta", "log_delta", "epsilon")
# what attains the lower ends, and what proves the upper ones
_PROOFS = ("a mechanism that satisfies what is declared", "the pair that the declared curve implies")


def orders(curve: Curve, most: int, least: float = _LEAST_EXPONENT) -> Array:
    """The z to use: the declared ones and some between, or those from a small to a large K."""
    known = curve.listed
    if known:
        between = [np.linspace(a, b, 6)[1:-1] for a, b in zip((0.0, *known[:-1]), known, strict=True)]
        return np.unique(np.concatenate([known, *between]))
    ends: list[float] = []
    for level in (least, LARGEST_EXPONENT):
        low, high = -50.0, 100.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if curve.bound(np.exp([middle]))[0] < level else (low, middle)
        ends.append(low)
    at: Array = np.exp(np.linspace(ends[0], ends[1], most))
    return at


def of_both_orders(adjacency: Adjacency) -> Adjacency:
    """The relation, if both directions count under it."""
    relation = Adjacency.of(adjacency)
    if relation in ONE_ORDER:
        raise ValueError(
            f"divergences under {relation.value!r} alone bound one direction, and both are needed: state them "
            "under 'add_remove' if they hold in both"
        )
    return relation


@lru_cache(maxsize=64)
def converted(curve: Curve, sharp: bool = False) -> Pair:
    """The pair that the curve implies in both directions, with a few hundred outcomes, or some thousand if ``sharp``."""
    if curve.mean == 0:
        return EQUAL
    z = orders(curve, _ORDERS)
    bounds = curve.bound(z)
    return implied(z, bounds, bounds, MANY if sharp else FEW)


@frozen
class Declared(Representative, Primitive):
    """All declared releases of a composition, by the sum of their curves."""

    curve: Curve
    adjacency: Adjacency
    _undescribed = "it is a bound of a composition"

    def family(self) -> Family | None:
        """All mechanisms that satisfy the curve."""
        return WithinCurve(self, self.curve, self.adjacency) if self.curve.mean else None

    def pair(self) -> Pair:
        """The pair that the curve implies."""
        return converted(self.curve, sharp=True)


@frozen
class DeclaredOnly(ByOthers, Primitive):
    """A composition of declared releases only; at a single epsilon or delta, its bounds are refined."""

    declared: Declared
    member: Mechanism
    adjacency: Adjacency
    _undescribed = "it is a bound of a composition"

    def pair(self) -> Pair:
        """The pair that the curve implies."""
        return self.declared.pair()

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        curve = self.declared.curve
        below = getattr(self.member, name)(*arguments, **options)
        if name not in _CLOSELY or curve.listed or not isinstance(below, Bound):
            return between([getattr(Questions, name)(self, *arguments, **options)], below, proofs=_PROOFS)
        return between(_closely(curve.bound, orders(curve, _ORDERS), self, name, arguments, options), below, proofs=_PROOFS)


def _closely(
    bound: Callable[[Array], Array],
    z: Array,
    asked_of: Mechanism,
    name: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> list[Bound]:
    """Answers to a question about one point, by pairs that are refined near it."""
    asked = float(arguments[0] if arguments else options["delta" if name == "epsilon" else "epsilon"])
    places = [epsilon_of_one_order(bound, z, asked) if name == "epsilon" else asked]
    covers: list[Bound] = []
    while len(covers) < (_TRIES if name == "epsilon" else 1):
        near = Implied(implied_near(bound, z, places[-1]), asked_of.adjacency)
        covers.append(getattr(near, name)(*arguments, **options))
        places.append(covers[-1].upper)
    return covers


@frozen
class OfFamilies(ByOthers, Primitive):
    """A composition of declared releases and steps of other families, by the sum of their divergences, which are formulas."""

    curve: Curve
    others: tuple[tuple[Family, int], ...]
    adjacency: Adjacency
    _undescribed = "it is a bound of a composition"

    def pair(self) -> Pair:
        """The pair that the divergences imply."""
        return _of_families(self.curve, self.others)

    def _by_others(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        asked: Any = arguments[0] if arguments else options.get("delta" if name == "epsilon" else "epsilon")
        if name not in _CLOSELY or np.ndim(asked) or self.curve.listed:
            return None
        z = orders(self.curve, _ORDERS)
        covers = _closely(lambda at: _sum_of(self.curve, self.others, at), z, self, name, arguments, options)
        return min(covers, key=lambda one: one.upper)


@lru_cache(maxsize=16)
def _of_families(curve: Curve, others: tuple[tuple[Family, int], ...]) -> Pair:
    z = orders(curve, _ORDERS)
    bounds = _sum_of(curve, others, z)
    return implied(z, bounds, bounds, FAIR)


def _sum_of(curve: Curve, others: tuple[tuple[Family, int], ...], z: Array) -> Array:
    total: Array = curve.bound(z)
    for family, count in others:
        known = family.moments_above(z)
        total = total + (np.inf if known is None else count * known)
    return total * (1 + 2 * ULP * (1 + len(others)))


@lru_cache(maxsize=16)
def _of_all(curve: Curve, terms: CountedReleases) -> Pair | None:
    """The pair that the divergences of all releases imply, at orders near those of a declared curve."""
    at = orders(curve, _WITH_OTHERS, _SMALL_EXPONENT)
    z = (1 + at[at > ULP]) - 1
    remove, *add = moments_above(terms, z, _NARROW)
    return implied(z, remove, add[0] if add else remove, FAIR) if np.isfinite(remove).any() else None


class Implied(KnownPair):
    """A mechanism with an implied pair, of a composition or of a curve near one epsilon."""

    _undescribed = "it is a bound of a composition"


@dataclass(frozen=True)
class WithinCurve(Family):
    """All mechanisms that satisfy a curve."""

    release: Mechanism
    curve: Curve
    adjacency: Adjacency

    # no member attains the whole profile
    attained = False

    def merged(self, terms: CountedReleases) -> tuple[Mechanism, Family]:
        """All declared releases as one."""
        summed = Summed(tuple((family.curve, count) for _, family, count in terms if isinstance(family, WithinCurve)))
        joined = Declared(summed, self.adjacency)
        return joined, WithinCurve(joined, summed, self.adjacency)

    def alone(self, count: int, rtol: float | None = None) -> Mechanism:
        """Bounds by the implied pair and by a Gaussian mechanism in the family."""
        return DeclaredOnly(Declared(self._of(count), self.adjacency), self.fixed(count), self.adjacency)

    def above(self, count: int) -> Mechanism:
        """The pair that the curve implies."""
        return hull(Declared(self._of(count), self.adjacency))

    def joint_bounds(self, terms: CountedReleases) -> list[Mechanism]:
        """The pair that the divergences of all releases imply."""
        if all(family is self for _, family, _ in terms):
            return []
        families = tuple((family, count) for _, family, count in terms if family is not None and family is not self)
        if len(families) == len(terms) - 1 and all(family.divergence(1.0) for family, _ in families):
            return [OfFamilies(self.curve, families, self.adjacency)]
        pair = _of_all(self.curve, tuple(terms))
        return [] if pair is None else [Implied(pair, self.adjacency)]

    def below(self, count: int, skew: float = 0.5) -> Mechanism:
        """A release that satisfies the curve."""
        return self.fixed(count, skew)

    def fixed(self, count: int, skew: float = 0.5) -> Mechanism:
        """A Gaussian mechanism that satisfies the curve, with other members of the family."""
        # with less noise the bound is useless
        curve = self._of(count)
        rho = min(curve.gaussian, _LEAST_PRIVATE)
        members = [own * one for one, own in curve.members]
        if rho or not members:
            members.append(Gaussian(math.sqrt(0.5 / rho) * (1 + 4 * ULP) if rho else 1.0, 1.0 if rho else 0.0, self.adjacency))
        return compose(members)

    def nearly(self) -> tuple[Mechanism, Mechanism] | None:
        """The two parts that the curve knows, if any."""
        return self.curve.nearly

    def size(self) -> float:
        """A tiny weight: a member of this family is tried only if there is no other family."""
        return math.sqrt(math.ulp(0.0))

    def divergence(self, order: float) -> tuple[float, float]:
        """The declared divergence; orders below one have at most that of order one. The lower end is that of members."""
        if order < 0:
            factor = order / (1 - order) if math.isfinite(order) else -1.0
            ends = sorted(factor * end for end in self.divergence(1 - order))
            return ends[0] * (1 + 2 * ULP), ends[1] * (1 - 2 * ULP)
        mean = self.curve.mean
        low = self.curve.gaussian * order + sum(count * one.renyi(order).lower for one, count in self.curve.members)
        if order <= 1:
            share = min(1.0, order / (1 - order)) if order < 1 else 1.0
            return low * (1 - 2 * ULP), max(low, mean * share * (1 + 2 * ULP))
        if math.isinf(order):
            # unbounded divergences
            return math.inf, math.inf
        z = order - 1
        high = float(self.curve.bound(np.array([z]))[0]) / z if z else mean
        return low * (1 - 2 * ULP), max(low, high * (1 + 2 * ULP))

    def moments_above(self, z: Array) -> Array:
        """The curve."""
        return self.curve.bound(z)

    def rho(self) -> float:
        """The declared rho."""
        return self.curve.rho

    def line(self) -> tuple[float, float]:
        """The declared xi and rho."""
        return self.curve.line

    def _of(self, count: int) -> Curve:
        return self.curve if count == 1 else Summed(((self.curve, count),))
