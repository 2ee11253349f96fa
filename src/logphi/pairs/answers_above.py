r"""The pair of questions to a sparse vector until the first answer "above", where the noisy threshold is known.

notation: e the shift of a query over the scale of its Laplace noise, R = e^e. A question is answered by "above" with
probability p under P and q under Q, by "below" with 1 - p and 1 - q. Here P's query is the larger one, by at most the shift.
So (q, p) lies in the convex set C between the diagonal and the curve p = 1 - f(q), f the trade-off function of Laplace noise.

Let V(x) be the supremum of E_Q (x p/q - 1)_+ over everything that may be asked until the first "above", p/q the likelihood
ratio of all answers: the profile of the pair is H(a) = a V(1/a). It obeys

    V(x) = sup over (q, p) in C of  (x p - q)_+ + (1 - q) V(x (1 - p)/(1 - q)),

where (0, 0) asks nothing and (1, 1) stops. V is a supremum of convex functions of x, hence convex, (1 - q) V(x (1 - p)/(1 -
q)) is convex in (q, p), and so is the sum: the supremum over any convex polygon is attained at a vertex. C is a chord, the
curve p = 1 - 1/(4 R q) between q = 1/(2 R) and 1/2, and tangents of it to (0, 0) and (1, 1); the polygon of more tangents
contains it. V is zero up to 1/R, as no answer has a ratio above R, and each "below" lowers x by a factor of at least 2 - 1/R.
So V is bounded from left to right: at each node by the vertices, with chords of what was found further left.

The bound holds whatever was answered before, so that it composes over several answers "above".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair_above import pair_above

# measured: the number of tangents, and of nodes; epsilon exceeds that with twice as many by less than 1e-5 of it
_TANGENTS, _NODES = 64, 64
# chosen: at larger nodes another question adds at most a probability of 2^-60
_QUESTIONS = 60.0
# chosen: the largest logarithm of a node
_FARTHEST = 100.0
# derived: for smaller shifts V has no digits, and for larger ones every epsilon is out of range
LEAST_SHIFT, LARGEST_SHIFT = 1e-6, 50.0
# derived: the error of a sum of a few products whose factors have errors of a few ulps
_ROUNDED = 64 * ULP


@lru_cache(maxsize=64)
def answer_above(shift: float) -> FinitePair:
    """The pair, rounded up; outside of the range of shifts, every answer has the largest loss."""
    if not LEAST_SHIFT <= shift <= LARGEST_SHIFT:
        return _largest_loss(shift)
    x, bounds = _supremum(shift)
    end = Fraction(math.exp(shift) * (1 + _ROUNDED * (1 + shift)))
    # by the profile H(a) = a V(1/a)
    points = [(1 / Fraction(a), Fraction(b) / Fraction(a)) for a, b in zip(x.tolist(), bounds.tolist(), strict=True)]
    return pair_above([(end, Fraction(0)), *points])


def _largest_loss(shift: float) -> FinitePair:
    """P has one outcome, of probability e^-shift under Q."""
    least = math.exp(-shift)
    return FinitePair((1.0, 0.0), (least, -math.expm1(-shift)), (4 + shift) * ULP)


def _supremum(shift: float) -> tuple[Array, Array]:
    """Nodes x, and upper bounds of V there."""
    largest = math.exp(shift) * (1 + _ROUNDED)
    touching = np.exp(np.linspace(-math.log(2 * largest), -math.log(2), _TANGENTS + 1))
    here, there = touching[:-1], touching[1:]
    # where two neighbouring tangents meet
    q, below = 2 * here * there / (here + there), 1 / (2 * largest * (here + there))
    p, ratio = 1 - below, below / (1 - q)
    fall = -math.log(float(ratio.max()))
    step = min(shift, fall) / _NODES
    x = np.exp(np.arange(-math.ceil(shift / step) - 1, math.ceil(min(_QUESTIONS * shift, _FARTHEST) / step) + 1) * step)
    bounds = np.zeros(x.size)
    # the bounds at so many consecutive nodes depend on earlier nodes only
    block = max(1, math.floor(fall / step) - 2)
    first = int(np.searchsorted(x * largest, 1 - _ROUNDED))
    for begin in range(first, x.size, block):
        at = x[begin : begin + block, None]
        further = np.interp(at * ratio, x[:begin], bounds[:begin])
        found = np.maximum(at * p - q, 0) + (1 - q) * further
        bounds[begin : begin + block] = np.maximum(found.max(axis=1), at[:, 0] - 1) + _ROUNDED * (1 + at[:, 0])
    return x, bounds
