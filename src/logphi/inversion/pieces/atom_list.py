"""The atoms of a sum of laws: their locations and masses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arrays import Array
from logphi.inversion.atoms.convolution import groups
from logphi.inversion.pieces.box_sums import BoxSums
from logphi.inversion.pieces.term_counts import atom_count, made_of_pieces
from logphi.laws.transform import Terms

# measured: a table of this many rows is formed in a tenth of a second
MOST_ATOMS = 1 << 16


@dataclass(frozen=True)
class ListedAtoms:
    """Atoms in order: locations, each within ``location_error``, and enclosures of the masses."""

    locations: Array
    lower: Array
    upper: Array
    location_error: float

    def __len__(self) -> int:
        return self.locations.size


def atom_list(terms: Terms) -> ListedAtoms:
    """All atoms of a sum; atoms closer than their location error count as one.

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
        raise ValueError(f"the atoms of {unknown!r} are not known one by one; ask for probabilities instead")
    number = atom_count(terms)
    if number > MOST_ATOMS:
        raise ValueError(
            f"there are about {number:.3g} atoms, and at most {MOST_ATOMS} are listed; ask for probabilities instead"
        )
    table = BoxSums.of(groups(terms, 0))
    order = np.argsort(table.location, kind="stable")
    location, log_mass = table.location[order], table.log_weight[order]
    location_error = 2 * float(table.location_error.max(initial=0.0))
    wrong = table.weight_error[order] + ELEMENTARY * (1 + np.abs(log_mass))
    starts = np.flatnonzero(np.append(True, np.diff(location) > location_error))
    # a sum of masses has the largest relative error of its summands, and the rounding of the additions
    errors = np.maximum.reduceat(wrong, starts) + ULP * np.diff(np.append(starts, location.size))
    mass = np.add.reduceat(np.exp(log_mass), starts)
    return ListedAtoms(location[starts], mass * (1 - errors), mass * np.exp(errors), 2 * location_error)
