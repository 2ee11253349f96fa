"""Two mixtures of unit normal laws at the same places: as histograms with noise. Their ratio need not be monotone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from logphi.checker.balls import normal_tail
from logphi.checker.densities import Densities
from logphi.checker.formula import Formula, Piece
from logphi.checker.work import Undecided

# chosen: formulas of more terms take too long
MOST_TERMS = 100


def histograms(places: Sequence[Fraction], p: Sequence[Fraction], q: Sequence[Fraction]) -> Densities:
    """The sum of p_i N(c_i, 1) against the sum of q_i N(c_i, 1)."""
    if len(places) > MOST_TERMS:
        raise Undecided("a pair of histograms has more values than this checker takes")
    formulas = [_mixture(places, weights) for weights in (p, q)]

    def source() -> tuple[list[Piece], list[Any]]:
        far = math.ceil(math.sqrt(2 * math.log(2) * ctx.prec))
        piece = Piece(min(places) - far, max(places) + far, *formulas)
        # both densities lack the factor 1 / sqrt(2 pi)
        outside = 2 * (2 * arb.pi()).sqrt() * normal_tail(arb(far))
        return [piece], [outside, outside]

    return Densities(source)


def _mixture(places: Sequence[Fraction], weights: Sequence[Fraction]) -> Formula:
    """The logarithm of the sum of w_i e^{-(x - c_i)^2 / 2}, as -x^2/2 + log of the sum of w_i e^{c_i x - c_i^2 / 2}."""
    steps: list[tuple[str, Any]] = []
    for place, weight in zip(places, weights, strict=True):
        if not weight:
            continue
        joined = [("+", None)] if steps else []
        steps += [("number", weight), ("variable", None), ("number", place), ("*", None), ("number", place**2 / 2)]
        steps += [("-", None), ("exp", None), ("*", None), *joined]
    square = [("variable", None), ("power", Fraction(2)), ("number", Fraction(1, 2)), ("*", None), ("-", None)]
    return Formula("", (*steps, ("log", None), *square))
