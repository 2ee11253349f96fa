"""The best of a random number K of runs, K independent of the data: a bound of its profile, from above, by that of one run.

notation: f(x) = E x^K, T the trade-off function of one run (P, Q), delta its profile. K has a truncated negative binomial law,
for which f'(x) / f'(1) = (gamma / (1 - c x))^{eta + 1}, c = 1 - gamma; or a Poisson law, f(x) = e^{mean (x - 1)}.

Of all outputs the one with the best score is released. Let F and G be the probabilities under P and Q that a run has a lower
score than an output y. The selected output has the densities p f'(F) and q f'(G). "Lower than y" is a test, so that
F <= 1 - T(G), and f'(F) <= r f'(G) with r = sup_x f'(1 - T(x)) / f'(x), as f' grows. Hence

    p f'(F) - e^eps q f'(G) <= f'(1) (p - e^{eps - log r} q)_+ ,     delta_selected(eps) <= f'(1) delta(eps - log r).

f'(1) is the mean of K. Where K = 0 nothing is released under both laws, which adds to delta at a negative eps: for a Poisson
law the points at eps >= 0 are taken, and log r = mean sup(1 - T(x) - x) = mean delta(0). Otherwise log r <= s (eta + 1) if
1 - c x <= e^s (gamma + c T(x)) for all x. As T(x) >= 1 - delta(-s) - e^{-s} x = e^{-s} (1 - delta_reversed(s)) - e^{-s} x, that
follows from

    delta_reversed(s) <= (e^s - 1) / (e^t - 1),   t = log(1 / gamma),   mean = eta (e^t - 1) / (1 - e^{-eta t}),

which holds for s = t. The mean grows with t, as it is the ratio of the integrals of e^u and e^{-eta u} up to t. A larger t is
on the safe side. In the other direction P and Q change places.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, precision, upper
from logphi.checker.arithmetic.work import EXP, demand, spend
from logphi.checker.laws.composition import Composition
from logphi.checker.laws.law import Law
from logphi.checker.mechanisms.above import BITS, Bound, places, profile, with_pair
from logphi.checker.mechanisms.hulls import Place, of_profile
from logphi.checker.mechanisms.kind import LARGE, Demands, Kind, Node, Stated, real
from logphi.checker.mechanisms.pairs import composed

# derived: halvings in the searches for t and s
HALVINGS = 40
# chosen: the largest t
LARGEST = 1024


def _law(node: Node, stated: Stated, *, mean: Fraction, shape: Fraction | None) -> Law | None:
    """The hull of the bounds of both directions; a ``shape`` of None is the Poisson law."""
    run = composed(node.parts[0], stated)
    if not run.terms:
        return None
    with precision(BITS):
        run = with_pair(run, stated)
        directions = (run,) if run.symmetric else (run, run.reversed())
        given = [stated(one) for one in directions]
        demand(all(given), "it states no points of the profile of one run")
        bounds = [profile(one, numbers[1:]) for one, numbers in zip(directions, given, strict=True)]
        ratios = [_log_ratio(bound, mean, shape) for bound in bounds]
        # the ratio of one direction follows from the profile of the other, or from delta(0), which is the same in both
        found = [
            _points(one, bound, numbers[0], log_ratio, mean, shape is None)
            for one, bound, numbers, log_ratio in zip(directions, bounds, given, ratios[::-1], strict=True)
        ]
        return of_profile(found[0], found[-1])


def _points(run: Composition, bound: Bound, last: Fraction, log_ratio: Fraction, mean: Fraction, poisson: bool) -> list[Place]:
    """Epsilons, and bounds of the profile of the selected output there."""
    # at smaller epsilons the bound does not hold, or is one or more
    first = -log_ratio if poisson else Fraction(math.log1p(-1 / float(mean)))
    known = [(epsilon + log_ratio, mean * delta) for epsilon, delta in places(run, bound, last, first)]
    return [(epsilon, delta) for epsilon, delta in known if delta < 1 and (epsilon >= 0 or not poisson)]


def _log_ratio(bound: Bound, mean: Fraction, shape: Fraction | None) -> Fraction:
    """An upper bound of log r, by the profile of the reversed pair."""
    if shape is None:
        return mean * upper(bound(arb(0)))
    high = _exponent(mean, shape)
    low, most = Fraction(0), ball(high).expm1()
    spend(10 * EXP * HALVINGS)
    for _ in range(HALVINGS):
        s = (low + high) / 2
        low, high = (low, s) if bound(ball(s)) * most <= ball(s).expm1() else (s, high)
    return high * (shape + 1)


def _exponent(mean: Fraction, shape: Fraction) -> Fraction:
    """A number that t does not exceed."""
    low, high = Fraction(0), Fraction(1)
    spend(4 * EXP * HALVINGS)
    while not _mean(high, shape) >= ball(mean):
        low, high = high, 2 * high
        demand(high <= LARGEST, "the number of runs is nearly always one, and otherwise larger than this checker counts")
    for _ in range(HALVINGS):
        t = (low + high) / 2
        low, high = (low, t) if _mean(t, shape) >= ball(mean) else (t, high)
    return high


def _mean(t: Fraction, shape: Fraction) -> Any:
    fall = -ball(-shape * t).expm1() / ball(shape) if shape else ball(t)
    return ball(t).expm1() / fall


def _shape(value: Any, name: str) -> Fraction | None:
    """A number, or "oo" for a Poisson law."""
    return None if value == "oo" else real(lambda x: -1 < x <= 10**6)(value, name)


def _demands(node: Node) -> Demands:
    yield not node.one_direction, "bounds both directions"
    given = node.parameters
    yield given["shape"] is None or given["mean"] > 1, "needs a mean above 1, as there is always one run"
    yield all(one.adjacency == node.adjacency for _, one in node.within()), "needs mechanisms under its own adjacency"


KINDS = {
    "repeat_and_select": Kind(
        {"mean": LARGE, "shape": _shape},
        _law,
        _demands,
        upper_only=True,
        base="composition",
        not_within=(
            frozenset({"poisson", "subset", "RandomChoice", "allocation", "repeat_and_select"}),
            "the best of many runs is not known as a part of another mechanism",
        ),
    )
}
