"""A Gaussian mechanism that dominates mechanisms of bounded ranges, whichever are picked, in whatever order.

notation: G_V is the profile of a Gaussian loss of variance V, and T_w replaces a profile by the largest one after one more pick
of range w = 2s: the supremum of its chords of that width (:mod:`logphi.convex.widest_chords`). Phi and phi are the normal
distribution and density.

**Theorem.** T_w G_V <= G_V', where sqrt(V') = sqrt(V) (phi(a) + a (Phi(a) - 1/2)) / phi(0), a = s / sqrt(V).

* *Narrow ranges.* Without the drift of the loss, let G_1(x) = E(N - x)_+, and let its chord from x - a to x + a have the slope
  -p and the intercept A. Let N be restricted to this interval, with the mean x - eta and the variance v, or v_0 for x = 0. The
  best chord touches the supremum at x + eta. At a fixed p, d log A / da is at most that of p = 1/2, if and only if

      v - v_0 <= (eta / a)^2 (1 - v_0).

  This holds: v <= v_0 by the inequality of Griffiths, Hurst and Sherman for even laws with a convex logarithmic slope (Ellis,
  Monroe & Newman 1976), and v_0 <= 1. For G_V' the logarithm of the intercept has the same derivative at every p. At a = 0
  they are equal. So at every slope the chords' line is below the tangent of G_V'. For p = 1/2 both are equal: no V' is smaller.
* *All ranges.* With B a Brownian motion, tau its exit from an interval of length w and f(r) = e^{-cr - r^2/2V}, c = x/V, the
  claim is E int_0^tau f(B_b) e^{-b/8} db <= E int_0^{V'-V} f(B_b) e^{-b/8} db, and without e^{-b/8} it is that of narrow
  ranges. The difference of the integrands' expectations changes its sign once, from below, so that a decreasing factor keeps
  the inequality.
* *Many.* By series V' <= V + s^2 + s^4 / 6V for V >= 0.4 s^2. This map increases there, and of two ranges the wider one is
  better taken first: for A >= B the two orders differ by a positive multiple of (A - B) and positive terms. So the widest first
  is the worst order, from V = 0.41 s^2 for the widest s, as (1 - u)_+ <= G_V. Equal ones sum to a logarithm.
* *With others.* T_w of a mean of shifted profiles is at most the mean of T_w of each. So other releases, and ranges that are
  composed exactly, may come before, after and in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from logphi.algebra.release import Mechanism
from logphi.arith.floats import ULP
from logphi.inputs.adjacency import Adjacency
from logphi.mechanisms.gaussian import Gaussian

# measured: of wider ranges, whose losses have far smaller tails than normal ones, this is not sharp
WIDEST = 1.0
# derived: above 1 / sqrt(6), so that the map increases, in units of the first s^2
_START = 0.409


def gaussian_above(ranges: Iterable[tuple[float, int]], adjacency: Adjacency) -> Mechanism:
    """The Gaussian mechanism for ranges and their counts, as many equal ones where its variance is large."""
    variance = variance_above(ranges)
    copies = max(1, math.ceil(variance))
    return copies * Gaussian(1.0, math.sqrt(variance / copies) * (1 + 4 * ULP), adjacency)


def variance_above(ranges: Iterable[tuple[float, int]]) -> float:
    """The variance of its loss, rounded up."""
    ordered = sorted(ranges, reverse=True)
    variance = _START * ordered[0][0] ** 2 / 4
    for epsilon, count in ordered:
        square = epsilon**2 / 4
        # the first one by itself, as the sum of the others is sharper further from zero
        for own in (1, count - 1) if count > 1 else (1,):
            share = square / variance
            variance += own * square + square / 6 * (share + math.log1p((own - 1) * share))
    return variance * (1 + 32 * ULP * (1 + len(ordered)))
