"""Exponential sums: M on equally spaced nodes of a vertical line, for laws that are sums over points."""

from __future__ import annotations

import math
from typing import Any

from flint import acb, acb_mat, arb

from logphi.checker.arithmetic.work import EXP, STORED, spend


def exponential_sums(weights: list[Any], losses: list[Any], step: Any, nodes: int) -> list[Any]:
    """The sums of w e^{i k step l} over the points (w, l), for k = 0 .. nodes - 1, as one product of matrices.

    With k = m a + b, rows hold w e^{i m a step l} and columns e^{i b step l}. Each of them is computed as an exponential:
    repeated products with e^{i step l} would have ever larger errors.
    """
    if nodes == 1:
        return [acb(sum(weights, arb(0)))]
    m = math.isqrt(nodes) + 1
    spend(len(weights) * (2 * m * (EXP + STORED) + nodes))
    rows = [
        [weight * (acb(0, a * m * step) * loss).exp() for weight, loss in zip(weights, losses, strict=True)] for a in range(m)
    ]
    columns = [[(acb(0, b * step) * loss).exp() for b in range(m)] for loss in losses]
    return (acb_mat(rows) * acb_mat(columns)).entries()[:nodes]
