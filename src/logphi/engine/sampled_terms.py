"""The parameters of losses of a few kinds of sampled normal pairs, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.transform import Reflected

if TYPE_CHECKING:
    from logphi.inversion.clipped_ceiling import Terms

# measured: the largest number of laws, each of which has an inner integral of its own
_MOST = 8


def terms_of(loss: LogPhi) -> tuple[Terms, bool] | None:
    """Shifts, rates, their errors and counts of sampled normal pairs, and whether all are reflected; None for other losses."""
    reflected = all(isinstance(law, Reflected) for law, _ in loss.terms)
    terms = []
    for law, count in loss.terms:
        own = law.reflected() if reflected else law
        if not isinstance(own, MixedNormal):
            return None
        m, q = own.discs
        terms.append((*own.constants, float(m.rad / m.mid), float(q.rad / q.mid), count))
    return (tuple(terms), reflected) if 0 < len(terms) <= _MOST else None
