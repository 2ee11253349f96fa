"""The parameters of losses of a few kinds of sampled normal pairs, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import mixed_normals

if TYPE_CHECKING:
    from logphi.inversion.bent.clipped_ceiling import SampledPairs

# measured: the largest number of laws, each of which has an inner integral of its own
_MOST = 8


def sampled_terms(loss: LogPhi) -> tuple[SampledPairs, bool] | None:
    """Shifts, rates, their errors and counts of sampled normal pairs, and whether all are reflected; None for other losses."""
    for reflected in (False, True):
        own, others = mixed_normals((loss.reflected() if reflected else loss).terms)
        if 0 < len(own) <= _MOST and not others:
            return tuple((*law.constants, *law.relative_errors, count) for law, count in own), reflected
    return None
