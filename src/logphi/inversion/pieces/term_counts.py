"""About how many terms a sum in real space takes: which laws it serves, and whether it is quick."""

from __future__ import annotations

from math import comb, exp, lgamma, log

from logphi.inversion.atoms import atoms
from logphi.inversion.atoms.atomic import atomic
from logphi.laws.transform import LossTransform, Terms

# measured: with six flat parts the rest decays fast enough, and the alternating sums still lose few digits
FLAT_PARTS = 6
# measured: this number of terms takes about fifty milliseconds, and hundreds of megabytes
MAX_TERMS = 1 << 23
# measured: this number of terms takes a few milliseconds
_FEW_TERMS = 1 << 13
# derived: a sum of e^_ENDLESS terms is never computed
_ENDLESS = 200.0
# derived: for counts up to this, differences of logarithms of factorials keep several digits
_COUNTED = 10**9


def atom_count(terms: Terms) -> float:
    """The number of atoms of the purely atomic part of a sum, weighted by the cost of each for laws with many atoms."""
    total = 1.0
    for law, count in terms:
        pieces = law.support.pieces
        kinds = 0 if pieces is None else len(pieces.locations)
        # more than one draw from many atoms takes a table of as many columns
        if kinds:
            # for larger counts the difference of logarithms has no digits
            rise = lgamma(count + kinds) - lgamma(count + 1) if count < _COUNTED else (kinds - 1) * log(count)
            log_ways = rise - lgamma(kinds)
            total *= exp(min(log_ways, _ENDLESS)) * (max(kinds / 8, 1.0) if count > 1 else 1.0)
    return total


def by_kind(terms: Terms) -> tuple[Terms, Terms]:
    """The laws with a flat part, and the atomic laws."""
    kinds = [_is_flat(law) for law, _ in terms]
    flat, others = ([term for term, flat in zip(terms, kinds, strict=True) if flat is kind] for kind in (True, False))
    return flat, others


def _is_flat(law: LossTransform) -> bool:
    pieces = law.support.pieces
    return pieces is not None and pieces.width > 0


def flat_count(terms: Terms) -> int:
    """The largest number of flat factors in a sum."""
    return sum(count for law, count in terms if _is_flat(law))


def made_of_pieces(terms: Terms) -> bool:
    """Whether every law is made of atoms and a flat part."""
    return all(law.support.pieces is not None for law, _ in terms)


def listed(terms: Terms) -> bool:
    """Whether the sum of these laws has few enough atoms and flat parts, with known locations."""
    return made_of_pieces(terms) and cost(terms) <= MAX_TERMS


def quick(terms: Terms) -> bool:
    """Whether the terms of the sum are computed in a few milliseconds."""
    return made_of_pieces(terms) and cost(terms) <= _FEW_TERMS


def served(terms: Terms) -> bool:
    """Whether sums in real space serve these laws, up to atoms of negligible weight."""
    if listed(terms):
        return True
    flat, others = by_kind(terms)
    return bool(flat) and all(atomic(law) is not None for law, _ in others) and atoms.count_of(others) * cost(flat) <= MAX_TERMS


def cost(terms: Terms, most: int = FLAT_PARTS) -> float:
    """An estimate of the number of terms of one excess."""
    kinds = sum(1 for law, _ in terms if _is_flat(law))
    flats = min(most - 1, flat_count(terms))
    knots = min(2.0**flats, (flats / max(kinds, 1) + 1.0) ** kinds)
    return float(atom_count(terms) * comb(kinds + flats, flats) * knots)
