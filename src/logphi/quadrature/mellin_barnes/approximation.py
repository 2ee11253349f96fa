"""Approximate moments of a mixture of likelihood ratios at real points.

Notation of :mod:`logphi.quadrature.mellin_barnes.transform`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, gammasgn, loggamma

from logphi.arrays import Array
from logphi.quadrature.mellin_barnes.lines import MixedRatio
from logphi.quadrature.mellin_barnes.series import Series
from logphi.quadrature.values import Line

# measured: the distance of two nodes
_STEP = 0.22
# measured: the number of nodes
_NODES = 40
# measured: if more digits than this are lost, in units of e, the large losses alone are more accurate
_DIGITS = 9.0
# chosen: the largest number of terms
_MOST = 400
# derived: a sum of terms with logarithms up to this is a double
_IN_RANGE = 300.0


def approximate(mixing: MixedRatio, a: Array) -> Array:
    """The logarithm log E[b^{a+1}] at real points, to some digits unless it is near zero or large."""
    first = np.clip(np.ceil(a + 1), 1.0, _MOST)
    found = np.empty(a.shape)
    for one in np.unique(first):
        chosen = first == one
        found[chosen] = _approximate(mixing, a[chosen], int(one))
    return found


def _approximate(mixing: MixedRatio, a: Array, last: int) -> Array:
    """The logarithm log E[b^{a+1}] from the terms up to j = J, at points a + 1 <= J."""
    log_a, log_b = math.log1p(-mixing.rate), math.log(mixing.rate)
    w, c = a + 1, last + 0.5
    y = _STEP * np.arange(_NODES)
    known = mixing.base.on_line(Line(c - 1, _STEP, _NODES)).mid
    j = np.arange(2, last + 1)
    moments = mixing.base.approximate(j - 1.0) if j.size else np.zeros(0)
    if not (np.isfinite(known[0]) and np.isfinite(moments).all()):
        return np.full(a.shape, np.inf)
    w = np.asarray(w)
    weights = loggamma(-c - 1j * y) + (c + 1j * y) * (log_b - log_a) + np.where(np.isfinite(known), known, -1e3)
    logs = weights + loggamma(c - w[:, None] + 1j * y)
    factor = w * log_a - gammaln(-w)
    terms = gammaln(w[:, None] + 1) - gammaln(w[:, None] - j + 1) - gammaln(j + 1)
    terms = terms + (w[:, None] - j) * log_a + j * log_b + moments
    sign = gammasgn(w[:, None] + 1) * gammasgn(w[:, None] - j + 1)
    largest = logs.real.max(axis=1) + factor
    top = np.maximum(np.maximum(largest, terms.max(axis=1, initial=0.0)), 0.0)
    top = np.where(top > _IN_RANGE, top, 0.0)
    with np.errstate(all="ignore"):  # values that are not finite are replaced by the largest losses below
        values = np.exp(logs + (factor - top)[:, None])
        integral = _STEP / math.pi * gammasgn(-w) * (values.sum(axis=1) - values[:, 0] / 2).real
        # at integers the integral vanishes
        integral = np.where(np.isfinite(factor), integral, 0.0)
        total = (sign * np.exp(terms - top[:, None])).sum(axis=1) + integral
        start, _ = Series(mixing, 0.0, c, 1).constant(np.asarray(a, complex), 1.0)
        total = total + start.real * np.exp(-top)
        found = np.where(top > 0, top + np.log(total + np.exp(-top)), np.log1p(total))
    far = np.maximum(mixing.base.approximate(a) + w * log_b, 0.0)
    unresolved = largest - _DIGITS > np.where(np.isfinite(found), found, -np.inf)
    return np.where(np.isnan(found) | (unresolved & (far > 0)), far, found)
