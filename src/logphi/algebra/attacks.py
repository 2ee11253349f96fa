"""Attacks on mechanisms that need not attain their pair: releases that these dominate."""

from __future__ import annotations

from logphi.algebra.known_pair import KnownPair
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.inputs import check


class Attack(KnownPair):
    """The pair of what an attacker sees of one release."""

    _undescribed = "it is one of many attacks"


def attacks(release: Mechanism, *, sampled: bool = False) -> list[Mechanism]:
    """The attacks on a composition that need not attain its pair.

    The i-th one composes the i-th attacks on all parts, or their last ones. Parts that need not attain their pair, and have no
    attack, are left out.
    """
    if not release._need_not_attain:
        return []
    parts = [(one._attacks(sampled=sampled) if one._need_not_attain else [one], count) for one, count in release.counted()]
    known = [(some, count) for some, count in parts if some]
    most = max((len(some) for some, _ in known), default=0)
    return [compose(_repeated(some[min(place, len(some) - 1)], count) for some, count in known) for place in range(most)]


def attained(one: Mechanism, count: int, *, sampled: bool = False) -> list[Mechanism]:
    """The copies of a mechanism as far as they are attained: by the first attack, if it need not attain its pair."""
    return [_repeated(own, count) for own in (one._attacks(sampled=sampled)[:1] if one._need_not_attain else [one])]


def _repeated(one: Mechanism, count: int) -> Mechanism:
    """So many copies, or as many as there may be: fewer leak less."""
    most = max((number for _, number in one.counted()), default=1)
    return min(count, check.LARGEST_COUNT // most) * one


def attained_part(release: Mechanism, *, sampled: bool = False) -> Mechanism:
    """One release that a composition dominates: itself, with the first attacks on parts that need not attain their pair."""
    if not release._need_not_attain:
        return release
    parts = [part for one, count in release.counted() for part in attained(one, count, sampled=sampled)]
    return compose(parts) if parts else Composition((), release.adjacency)
