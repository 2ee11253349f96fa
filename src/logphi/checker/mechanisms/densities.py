"""Pairs of densities given by formulas of log p and log q on intervals, each up to a constant; histograms with normal noise.

P and Q are e^{log p} and e^{log q}, divided by their integrals. Of outputs outside of all panels, only their mass is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from logphi.checker.arithmetic.balls import between, cached, normal_tail
from logphi.checker.arithmetic.work import STORED, demand, spend
from logphi.checker.entries import listed, number, require
from logphi.checker.formulas.formula import Formula, Piece, written
from logphi.checker.laws.law import Law
from logphi.checker.laws.panels import Panel, panels_of
from logphi.checker.mechanisms.kind import POSITIVE, REAL, Demands, Kind, Node, many, probabilities

# chosen: formulas of more terms take too long
MOST_TERMS = 100
# chosen: more intervals are refused
MOST_PIECES = 100


@dataclass(frozen=True)
class _Prepared:
    """At one precision: the panels, bounds of the integrals outside of them, and the integrals of both densities.

    ``shift`` is what these integrals add to the loss; ``finite`` are the masses of P and Q where the loss is finite.
    """

    panels: tuple[Panel, ...]
    outside: tuple[Any, Any]
    totals: tuple[Any, Any]
    shift: Any
    finite: tuple[Any, Any]


class Densities(Law):
    """A pair by a function that gives, at the precision in force, the pieces and bounds of both integrals outside of them."""

    def __init__(self, source: Callable[[], tuple[Sequence[Piece], list[Any]]]) -> None:
        self._source = source
        self.known = cached(self._prepared)

    def infinite(self) -> Any:
        """P of the outputs where q is zero."""
        return 1 - self.known().finite[0]

    def unreached(self) -> Any:
        """Q of the outputs where p is zero."""
        return 1 - self.known().finite[1]

    def tails(self, epsilon: Any) -> tuple[Any, Any]:
        """The masses of the parts with a larger loss, and between none and all of those whose loss is not known."""
        above, unknown = self._above(epsilon)
        known = self.known()
        found = [
            (above[side] + between(0, sum((own[side] for own, _ in unknown), known.outside[side]))) / known.totals[side]
            for side in (0, 1)
        ]
        return found[0], found[1]

    def single_excess(self, epsilon: Any) -> Any:
        """A part whose loss is not known adds between 0 and p - e^eps q, which is at most p (1 - e^{eps - L})."""
        (p, q), unknown = self._above(epsilon)
        known = self.known()
        lost = sum((own[0] * -(epsilon - loss).expm1().min(arb(0)) for own, loss in unknown), known.outside[0])
        return (p + between(0, lost)) / known.totals[0] - epsilon.exp() * q / known.totals[1]

    def _above(self, epsilon: Any) -> tuple[list[Any], list[tuple[list[Any], Any]]]:
        """The integrals where the loss is above epsilon, and those of each part where that is not known, with its loss."""
        known, unknown = self.known(), []
        found, level = [arb(0), arb(0)], epsilon - known.shift
        for panel in known.panels:
            spend(STORED / 4)
            if not panel.both or panel.loss < level:
                continue
            if panel.loss > level:
                found = [one + more for one, more in zip(found, panel.whole, strict=True)]
                continue
            for low, high, above in panel.parts(level, panel.low, panel.high):
                own = panel.masses(low, high)
                if above is True:
                    found = [one + more for one, more in zip(found, own, strict=True)]
                elif above is not False:
                    unknown.append(([one.abs_upper() for one in own], above + known.shift))
        return found, unknown

    def _prepared(self) -> _Prepared:
        panels = list[Panel]()
        pieces, outside = self._source()
        for piece in pieces:
            own, lost = panels_of(piece)
            panels += own
            outside = [one + more for one, more in zip(outside, lost, strict=True)]
        whole = [between(0, one) for one in outside]
        finite = [between(0, one) for one in outside]
        for panel in panels:
            for side, mass in enumerate(panel.whole):
                whole[side] += mass
                finite[side] += mass if panel.both else 0
        demand(all(one > 0 for one in (*whole, *finite)), "the two densities share no mass")
        alone = any(not panel.both for panel in panels)
        shares = [one / all_of_it if alone else arb(1) for one, all_of_it in zip(finite, whole, strict=True)]
        shift = whole[1].log() - whole[0].log()
        return _Prepared(tuple(panels), (outside[0], outside[1]), (whole[0], whole[1]), shift, (shares[0], shares[1]))


def histograms(places: Sequence[Fraction], p: Sequence[Fraction], q: Sequence[Fraction]) -> Densities:
    """The sum of p_i N(c_i, 1) against the sum of q_i N(c_i, 1): histograms with noise. Their ratio need not be monotone."""
    demand(len(places) <= MOST_TERMS, "a pair of histograms has more values than this checker takes")
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


def _densities(*_: Any, pieces: list[Piece]) -> Law:
    """Two densities, each divided by its integral."""
    return Densities(lambda: (pieces, [arb(0), arb(0)]))


def _histograms(*_: Any, sigma: Fraction, values: list[Fraction], p: list[Fraction], q: list[Fraction]) -> Law | None:
    """The sum of p_i N(v_i, sigma^2) against the sum of q_i N(v_i, sigma^2)."""
    return histograms([v / sigma for v in values], p, q) if p != q else None


def _pieces(value: Any, name: str) -> list[Piece]:
    """Intervals from left to right, each with one formula or two; the first and the last one may be infinite."""
    pieces = []
    for one in listed(value, name, MOST_PIECES):
        fits = isinstance(one, list) and len(one) == 4 and one[2:] != [None, None] and "" not in one[2:]
        require(fits, f"each of {name} must be a list of two ends, log p and log q")
        low, high = (None if end == far else number(end, name) for end, far in zip(one, ("-oo", "oo"), strict=False))
        require(low is None or high is None or low < high, f"{name} must have a low end below the high one")
        pieces.append(Piece(low, high, *(log and written("x")(log, name) for log in one[2:])))
    apart = all(None not in (one.high, other.low) and one.high <= other.low for one, other in pairwise(pieces))  # type: ignore[operator]
    require(apart, f"{name} must be intervals from left to right that do not overlap")
    both = any(one.log_p for one in pieces) and any(one.log_q for one in pieces)
    require(both, f"{name} must have formulas of both densities")
    return pieces


def _demands(node: Node) -> Demands:
    values, p, q = (node.parameters[name] for name in ("values", "p", "q"))
    yield len(values) == len(p) == len(q), "needs as many values as p and q"


KINDS = {
    "FromDensities": Kind({"pieces": _pieces}, _densities),
    "GaussianMixturePair": Kind(
        {"sigma": POSITIVE, "values": many(REAL), "p": probabilities, "q": probabilities}, _histograms, _demands
    ),
}
