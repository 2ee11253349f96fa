"""Finite pairs with so many outcomes that those with nearly the same loss become one: a post-processing."""

from __future__ import annotations

import numpy as np

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.pairs.finite import FinitePair

# measured: the number of cells from zero to the largest loss, each of which becomes one outcome; delta(0) is smaller by less
# than 2e-3 of it
_CELLS = 512
# chosen: the largest loss is that of outcomes which are likelier under one law, but at least the largest of all over _LARGER
_NOT_RARE, _LARGER = 1e-9, 8
# chosen: outcomes that are rarer under both laws are left out
_RARE = 1e-60
# chosen: cells with larger relative errors are left out
_VAGUE = 1e-7


def merged(p: Array, q: Array, error: float, omitted: float = 0.0, absolute: float = 0.0) -> FinitePair:
    """A pair that the pair with these probabilities dominates; they have these relative and absolute errors.

    ``omitted`` bounds the mass of either law that was left out before. All that is left out is joined to the likeliest cell, if
    that hardly changes its mass.
    """
    kept = (np.maximum(p, q) > _RARE) & (np.minimum(p, q) > 0)
    omitted += float(np.maximum(p, q)[~kept].sum()) * 1.01 + p.size * absolute
    p, q = p[kept], q[kept]
    losses = np.log(p) - np.log(q)
    usual = np.abs(losses[np.maximum(p, q) > _NOT_RARE]).max(initial=0.0)
    step = float(max(usual, np.abs(losses).max() / _LARGER, ULP)) / _CELLS
    _, cell, terms = np.unique(np.rint(losses / step), return_inverse=True, return_counts=True)
    p, q = (np.bincount(cell, one).astype(np.float64) for one in (p, q))
    # a sum of n terms has an error of at most n half ulps
    of_p, of_q = (error + terms * (ULP + absolute / one) for one in (p, q))
    known = np.maximum(of_p, of_q) < _VAGUE
    omitted += float(np.maximum(p, q)[~known].sum()) * 1.01
    p, q, of_p, of_q = (one[known] for one in (p, q, of_p, of_q))
    likeliest = int(np.argmax(np.minimum(p, q)))
    more = omitted / min(p[likeliest], q[likeliest])
    if more < _VAGUE:
        of_p[likeliest], of_q[likeliest], omitted = of_p[likeliest] + more, of_q[likeliest] + more, 0.0
    errors = tuple(tuple(one.tolist()) for one in (of_p, of_q, of_p + of_q))
    largest = float(max(of_p.max(), of_q.max()))
    return FinitePair(tuple(p.tolist()), tuple(q.tolist()), largest, omitted_mass=omitted, cell_errors=errors)
