"""The best output of many runs of a mechanism."""

from __future__ import annotations

import math

from logphi.algebra.operations import done_by
from logphi.algebra.release import Mechanism
from logphi.inputs import check
from logphi.inputs.adjacency import ONE_ORDER
from logphi.inputs.arguments import Scalar
from logphi.pairs.pair import UnsupportedError

# chosen: for larger values no bound is better than that of releasing all outputs
LARGEST_MEAN, LARGEST_SHAPE = 1e9, 1e6


@done_by
def repeat_and_select(base: Mechanism, mean: Scalar, shape: Scalar) -> Mechanism:
    """See :meth:`Operations.repeat_and_select`."""
    law = check.positive("mean", mean), shape if shape == math.inf else check.real("shape", shape)
    if not law[0] <= LARGEST_MEAN:
        raise ValueError(f"mean must be at most {LARGEST_MEAN:g}, got {law[0]!r}: so many runs leave nothing private")
    if law[1] != math.inf and not -1 < law[1] <= LARGEST_SHAPE:
        raise ValueError(
            f"shape must lie above -1 and be at most {LARGEST_SHAPE:g}, or be infinite, got {law[1]!r}: 1 is the geometric law"
        )
    if law[0] < 1 and law[1] != math.inf:
        raise ValueError(f"mean must be at least 1 unless shape=inf, got {law[0]!r}: there is always one run")
    if base.adjacency in ONE_ORDER:
        raise UnsupportedError(
            f"the best of many runs is not known under {base.adjacency.value!r} alone, as its bound needs both directions: "
            "state the mechanism under 'add_remove'"
        )
    if not base._bracketed:
        loss = base.loss_law()
        if loss.traits.estimated:
            raise UnsupportedError(
                "the best of many runs is known only for mechanisms whose errors are proved; those of this one are estimates"
            )
        if loss.empty or not loss.terms:
            return base
    if law[0] == 1 and law[1] != math.inf:
        return base
    from logphi.algebra.selection import Selected
    from logphi.sampling.repetitions import Repetitions

    Repetitions.of(*map(float, law))
    return Selected(base, *law, base.adjacency)
