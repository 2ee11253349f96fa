"""The sparse vector technique: which of many queries are above a noisy threshold, until c of them were. A bound from above.

notation: e the largest move of a query, in scales of its Laplace noise: 2s/b, or s/b if all queries move to one side; R = e^e.

The pair also shows a number: the noise of the threshold under Q, and that noise moved by s under P. Given it, P's query is
the larger one, by at most the move, so that the answers until the first "above" are those of a game. A question is
answered by "above" with probabilities (q, p) under Q and P between the diagonal and the curve p = R q up to q = 1/(2R),
p = 1 - 1/(4Rq) up to 1/2, p = 1 - (1-q)/R; its tangents meet at points of a polygon that contains all of these. With V(x) the
supremum of E_Q (x p/q - 1)_+ over all ways to ask, V is convex, V(x) = 0 for x <= 1/R, and

    V(x) = sup of (x p - q)_+ + (1 - q) V(x (1-p) / (1-q)) over the vertices (q, p), and x - 1,

because the right side is convex in (q, p). Each "below" makes x smaller, so that bounds of V at x_j = e^{j step} / R follow
from left to right, by chords of those further left. The profile of the game at a = e^eps is a V(1/a). All c games and the noise
of the threshold compose (the next question may depend on all answers), and this bounds both directions. Where
queries move to one side, the number shown in the direction remove is the noise of the threshold unmoved: only the c games leak.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, rough, upper
from logphi.checker.arithmetic.work import EXP, demand, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.finite import Finite
from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.above import points, profile
from logphi.checker.mechanisms.hulls import of_profile
from logphi.checker.mechanisms.kind import COUNT, POSITIVE, PRESENCE, Demands, Kind, Node, Stated, integer, optional
from logphi.checker.mechanisms.noise import noise

# chosen: the precision, far more than the grids below need
BITS = 160
# measured: with these epsilon grows by less than a thousandth of it: tangents of the curve, steps of x in the smaller of the
# move and the fall of x, and points of the profile of the composition
TANGENTS, STEPS, POINTS = 64, 48, 240
# chosen: how far x goes up, in moves and at most
FAR, FARTHEST = 30, 60
# chosen: the moves of queries that are taken
SMALLEST, LARGEST = Fraction(1, 10**6), 50
ASIDE = Fraction(1, 2**30)


def _law(
    node: Node,
    stated: Stated,
    *,
    query_scale: Fraction,
    threshold_scale: Fraction | None,
    threshold_sigma: Fraction | None,
    sensitivity: Fraction,
    answers: int,
    monotone: int,
) -> Law:
    """The hull of bounds of both directions."""
    move, shift = sensitivity / (threshold_scale or threshold_sigma or 1), sensitivity / query_scale * (1 if monotone else 2)
    with precision(BITS):
        game = Composition([(answer_above(shift), answers)])
        whole = Composition([(noise(move, None, threshold_scale is None), 1), *game.terms])
        farthest, *laid = stated(whole)
        both = profile(whole, laid)
        # the largest loss, if there is one
        last = [] if threshold_scale is None else [(move + answers * shift, Fraction(0))]
        if not (monotone and node.adjacency in PRESENCE):
            found = [*points(both, Fraction(0), farthest, POINTS), *last]
            return of_profile(found, found)
        alone = profile(game, stated(game)[1:])
        kept = [*points(alone, -farthest, min(farthest, answers * shift), POINTS), (answers * shift, Fraction(0))]
        return of_profile(kept, [*points(both, -farthest, farthest, POINTS), *last])


def answer_above(shift: Fraction) -> Finite:
    """The pair of one game."""
    demand(SMALLEST <= shift <= LARGEST, "the queries move too little or too much, in scales of their noise, for this checker")
    largest = ball(shift).exp()
    vertices = _vertices(shift, largest)
    fall = -math.log(max(rough((1 - p) / (1 - q)) for q, p in vertices))
    number = math.ceil(STEPS * max(1.0, float(shift) / fall))
    step = shift / number
    grown = ball(step).exp()
    count = math.ceil(min(FAR * float(shift), FARTHEST) / float(step)) + number
    spend((count + EXP) * len(vertices) * 10)
    moves = [_move(q, p, grown, float(step)) for q, p in vertices]
    found, v = [(shift, Fraction(0))], [arb(0)]
    for j in range(1, count + 1):
        x = (j * ball(step)).exp() / largest
        best = (x - 1).max(arb(0))
        for q, p, back, near, far in moves:
            rest = near * v[j - back] + far * v[j - back - 1] if j > back else arb(0)
            best = best.max((x * p - q).max(arb(0)) + rest)
        v.append(best.upper())
        found.append((shift - j * step, upper(v[j] / x)))
    return of_profile(found)


def _vertices(shift: Fraction, largest: Any) -> list[tuple[Any, Any]]:
    """Where neighbours of the tangents at q from 1/(2R) to 1/2 meet: at 2 q q' / (q + q'), where 1 - p = 1 / (2R (q + q'))."""
    touching = [(ball(shift * (k - TANGENTS) / TANGENTS)).exp() / 2 for k in range(TANGENTS + 1)]
    return [(2 * one * other / (one + other), 1 - 1 / (2 * largest * (one + other))) for one, other in pairwise(touching)]


def _move(q: Any, p: Any, grown: Any, step: float) -> tuple[Any, Any, int, Any, Any]:
    """A vertex, how many steps x goes back, and the weights of V there and one step further, times 1 - q.

    V rises, so that x may be larger: by ``ASIDE``, which separates an integer of steps from the next one.
    """
    ratio = (1 - p) / (1 - q) * (1 + ball(ASIDE))
    back = math.floor(-math.log(rough(ratio)) / step)
    share = (ratio * grown ** (back + 1) - 1) / (grown - 1)
    demand(back >= 1 and 0 <= share <= 1, "the precision does not separate neighbours on the grid of likelihood ratios")
    return q, p, back, (1 - q) * share, (1 - q) * (1 - share)


def _demands(node: Node) -> Demands:
    scale, sigma = node.parameters["threshold_scale"], node.parameters["threshold_sigma"]
    yield (scale is None) is not (sigma is None), "needs a scale or a sigma of its threshold"


KINDS = {
    "SparseVector": Kind(
        {
            "query_scale": POSITIVE,
            "threshold_scale": optional(POSITIVE),
            "threshold_sigma": optional(POSITIVE),
            "sensitivity": POSITIVE,
            "answers": COUNT,
            "monotone": integer(0, 1),
        },
        _law,
        _demands,
        upper_only=True,
    )
}
