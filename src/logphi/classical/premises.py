"""The premises of composition theorems: guarantees, and divergences of integer orders, of the parts of a release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.release import Mechanism
from logphi.algebra.sampled import PoissonSampled
from logphi.classical.composition import Guarantee
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.renyi_curve import LossCurve
from logphi.classical.sampled_renyi import sampled_curve
from logphi.engine.directions import Loss
from logphi.engine.log_probability import masses
from logphi.inputs.adjacency import Adjacency
from logphi.pairs.pair import UnsupportedError
from logphi.questions.epsilon import epsilon

ESTIMATED = "a loss is known by samples of its densities only: its errors are estimates, and nothing could be proved with them"

# measured: each unbounded part costs an exact epsilon, each sampled one a table of sums
MOST_PARTS = 64
# chosen: the tolerance for the epsilon of a part; its upper end is used, so that any width is valid
_RTOL = 1e-6
# chosen: the orders that common accountants use
LARGEST_ORDER = 64


def pure(one: Questions, both: bool = False) -> Guarantee | None:
    """The largest loss and the probability of an infinite one, if losses are bounded; ``both`` as in :func:`guarantees`."""
    laws = [law for _, law in _loss(one, both).orders(None)]
    top = max(law.support.upper for law in laws)
    if not math.isfinite(top):
        return None
    return Guarantee(max(top, 0.0), min(1.0, max(masses(law)[0][1] for law in laws)))


def _loss(one: Questions, both: bool) -> Loss:
    return Loss(one.loss_law(), Adjacency.ADD_REMOVE if both else one.adjacency)


def guarantees(mechanism: Mechanism, both: bool = False) -> Callable[[float], list[Guarantee]]:
    """The guarantees of the parts, with counts, as a function of the delta that each release of unbounded losses spends.

    The guarantee of a part with bounded losses is its largest loss and the probability of an infinite one. The guarantee of any
    other part is its exact epsilon at that delta.

    Basic composition holds for each direction of a pair alone, so that a relation with one direction needs only that one.
    Advanced composition rests on randomized response, which dominates only a guarantee for ``both`` orders: a loss that is at
    most eps in one direction may always equal eps.

    Raises an UnsupportedError if more than 64 distinct parts have unbounded losses, as choosing a delta for each takes long, or
    if a loss is known by samples only.
    """
    if mechanism.loss_law().traits.estimated:
        raise UnsupportedError(ESTIMATED)
    known = [(one, count, pure(one, both)) for one, count in mechanism.counted()]
    if sum(own is None for _, _, own in known) > MOST_PARTS:
        raise UnsupportedError(f"more than {MOST_PARTS} distinct parts have no guarantee of their own with delta = 0")

    def at(delta: float) -> list[Guarantee]:
        return [replace(own or _spending(one, delta, both), count=count) for one, count, own in known]

    return at


def _spending(one: Mechanism, delta: float, both: bool) -> Guarantee:
    """The guarantee of one release by its exact epsilon at delta."""
    least = epsilon(_loss(one, both), delta, rtol=_RTOL)
    if not math.isfinite(least.upper):
        raise UnsupportedError(f"{one!r} has no finite epsilon at delta = {delta:.3g}")
    return Guarantee(least.upper, delta)


def unbounded_releases(mechanism: Mechanism, both: bool = False) -> int:
    """The number of releases with unbounded losses."""
    return sum(count for one, count in mechanism.counted() if pure(one, both) is None)


def bounded_mass(mechanism: Mechanism, both: bool = False) -> float:
    """The sum of the deltas of the other parts."""
    own = ((pure(one, both), count) for one, count in mechanism.counted())
    return sum(count * float(guarantee.delta) for guarantee, count in own if guarantee is not None)


def whole_order_curve(mechanism: Mechanism) -> DivergenceCurve:
    """Divergences at the integer orders 2 to 64: of sampled parts by the theorem on sampling, of other parts the exact ones.

    Raises an UnsupportedError if a loss is infinite with positive probability, or there are more than 64 distinct parts.
    """
    parts = mechanism.counted()
    if len(parts) > MOST_PARTS:
        raise UnsupportedError(f"there are more than {MOST_PARTS} distinct parts")
    total: DivergenceCurve | None = None
    for one, count in parts:
        curve = count * _integer_orders(one)
        total = curve if total is None else total + curve
    if total is None:
        raise UnsupportedError("nothing is released")
    return total


# a curve of questions needs the same divergences of each step
@lru_cache(maxsize=32)
def _integer_orders(one: Mechanism) -> DivergenceCurve:
    if isinstance(one, PoissonSampled) and one.group_size == 1 and one.adjacency is not Adjacency.REPLACE:
        return sampled_curve(_divergence(one.base), one.rate, LARGEST_ORDER)
    orders = [float(order) for order in range(2, LARGEST_ORDER + 1)]
    divergence = _divergence(one)
    return DivergenceCurve.at(orders, [divergence(order) for order in orders])


def _divergence(one: Questions) -> Callable[[float], float]:
    """The larger of D_a(P||Q) and D_a(Q||P)."""
    curves = [LossCurve(law) for law in {one.loss_law(), one.loss_law().reflected()}]
    if any(curve.infinite_mass[1] > 0 for curve in curves):
        raise UnsupportedError(f"losses of {one!r} are infinite with positive probability, and so is every divergence")
    if not all(curve.proved for curve in curves):
        raise UnsupportedError(ESTIMATED)

    def at(order: float) -> float:
        z = np.array([order - 1])
        return max(float((curve.limit(z) / z)[0]) for curve in curves) * (1 + 4e-16)

    return at
