"""Sums of rotating terms: M along a vertical line, for laws that are sums over points or are integrated by one."""

from __future__ import annotations

import math
from typing import Any

from flint import acb, acb_mat, arb, ctx

from logphi.checker.balls import Undecided

# in multiplications of short balls, of which a second holds a few million
LARGEST_WORK = 1e8


class Work:
    """What a verdict has cost so far: an altered count makes another computation, never an endless one."""

    def __init__(self) -> None:
        self.done = 0.0

    def spend(self, operations: float) -> None:
        """Count ``operations`` at the precision in force, before they are done; refuse where they are too many."""
        cost = operations * (1 + (ctx.prec / 700) ** 1.5)
        if not self.done + cost <= LARGEST_WORK:
            raise Undecided("the claim needs more work than this checker does")
        self.done += cost


def sweep(weights: list[Any], losses: list[Any], step: Any, nodes: int) -> list[Any]:
    """The sums of w e^{i k step l} over the points, for k = 0 .. nodes - 1, as one product of matrices.

    With k = m a + b, rows hold the turns by m a and columns those by b, each by an exponential of its own: balls that are
    turned again and again grow.
    """
    if nodes == 1:
        return [acb(sum(weights, arb(0)))]
    m = math.isqrt(nodes) + 1
    rows = [
        [weight * (acb(0, a * m * step) * loss).exp() for weight, loss in zip(weights, losses, strict=True)] for a in range(m)
    ]
    columns = [[(acb(0, b * step) * loss).exp() for b in range(m)] for loss in losses]
    return (acb_mat(rows) * acb_mat(columns)).entries()[:nodes]
