"""Mechanisms of few outcomes: responses, guarantees, and the counts of shuffled reports."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.arithmetic.balls import ball, cached, exactly
from logphi.checker.arithmetic.work import EXP, STORED, demand, spend
from logphi.checker.laws.finite import Finite
from logphi.checker.laws.law import Law, Spacing
from logphi.checker.mechanisms.kind import BELOW_ONE, NONNEGATIVE, OPEN_SHARE, Demands, Kind, Node, integer, probabilities

# chosen: about ten thousand outcomes
MOST_REPORTS = 140


def exact(p: list[Fraction], q: list[Fraction]) -> Finite | None:
    """A pair of rational vectors; outcomes with equal likelihood ratios are merged."""
    merged: dict[Fraction | None, list[Fraction]] = {}
    for a, b in zip(p, q, strict=True):
        ours = merged.setdefault(a / b if b else None, [Fraction(0), Fraction(0)])
        ours[0] += a
        ours[1] += b
    ratios = [ratio for ratio in merged if ratio]
    if set(merged) == {1}:
        return None
    spacing, top = None, max(*ratios, 1 / min(ratios))
    if set(ratios) <= {top, 1, 1 / top}:
        powers: dict[Fraction | int, int] = {top: 1, 1: 0, 1 / top: -1} if top != 1 else {1: 0}
        spacing = Spacing(("log", top), lambda: ball(top).log(), tuple(Fraction(powers[ratio]) for ratio in ratios))
    elif len(ratios) == 2:
        first, second = ratios
        unit = ("log", max(second / first, first / second))
        sign = 1 if second > first else -1
        spacing = Spacing(unit, lambda: ball(unit[1]).log(), (Fraction(0), Fraction(sign)), lambda: ball(first).log())
    losses = cached(lambda: [ball(ratio).log() for ratio in ratios])
    return Finite(cached(lambda: [(ball(a), ball(b)) for a, b in merged.values()]), spacing, known=losses)


def _response(*_: Any, p: Fraction) -> Law | None:
    """The true bit has probability p, the other 1 - p."""
    return exact([p, 1 - p], [1 - p, p])


def _kary(node: Node, *_: Any, k: int, p: Fraction) -> Law | None:
    """Under replace, both true symbols and all others; else the true symbol and all others, against uniform symbols."""
    false = p / k
    true = 1 - p + false
    if node.adjacency == "replace":
        return exact([true, false, (k - 2) * false], [false, true, (k - 2) * false])
    return exact([true, (k - 1) * false], [Fraction(1, k), Fraction(k - 1, k)])


def _discrete(*_: Any, p: list[Fraction], q: list[Fraction]) -> Law | None:
    return exact(p, q)


def _guarantee(*_: Any, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Law | None:
    """With probability delta the loss is infinite, otherwise it is that of randomized response with odds e^eps."""
    if epsilon == 0:
        return exact([delta, 1 - delta, Fraction(0)], [Fraction(0), 1 - delta, delta])

    def outcomes() -> list[tuple[Any, Any]]:
        truth, lie = (ball(1 - delta) / (1 + ball(sign * epsilon).exp()) for sign in (-1, 1))
        return [(ball(delta), arb(0)), (truth, lie), (lie, truth), (arb(0), ball(delta))]

    return Finite(outcomes, Spacing("one", exactly(1), (epsilon, -epsilon)))


def _reports(*_: Any, local_epsilon: Fraction, records: int) -> Law | None:
    """Counts of clones (Feldman, McMillan & Talwar 2021): a + b = C + 1 reports, C ~ Bin(n - 1, e^-eps).

    P(a, b) = P(C) Bin(C + 1, 1/2)(a) 2 (a + e^-eps b) / ((1 + e^-eps) (C + 1)), and Q with a and b exchanged.
    """
    if local_epsilon == 0:
        return None
    demand(records <= MOST_REPORTS, "so many shuffled reports have more outcomes than this checker lists")

    def outcomes() -> list[tuple[Any, Any]]:
        e, found = (-ball(local_epsilon)).exp(), []
        spend((2 * EXP + 2 * STORED) * records * (records + 3))
        for m in range(1, records + 1):
            clones = math.comb(records - 1, m - 1) * e ** (m - 1) * (1 - e) ** (records - m)
            scale = 2 * clones / ((1 + e) * m * arb(2) ** m)
            found += [
                (scale * math.comb(m, a) * (a + e * (m - a)), scale * math.comb(m, a) * (e * a + m - a)) for a in range(m + 1)
            ]
        return found

    return Finite(cached(outcomes), None)


def _demands_of_kary(node: Node) -> Demands:
    yield node.adjacency in ("replace", "replace_special"), "is stated under replace or replace_special"


def _demands_of_discrete(node: Node) -> Demands:
    p, q = node.parameters["p"], node.parameters["q"]
    yield len(p) == len(q), "needs as many p as q"
    yield any(a and b for a, b in zip(p, q, strict=True)), "needs an outcome that both laws reach"


def _both_directions(node: Node) -> Demands:
    yield not node.one_direction, "is a guarantee in both directions"


KINDS = {
    "RandomizedResponse": Kind({"p": OPEN_SHARE}, _response),
    "KaryRandomizedResponse": Kind({"k": integer(2, 2**53), "p": OPEN_SHARE}, _kary, _demands_of_kary),
    "Discrete": Kind({"p": probabilities, "q": probabilities}, _discrete, _demands_of_discrete),
    "PureDP": Kind({"epsilon": NONNEGATIVE}, _guarantee, _both_directions),
    "ApproximateDP": Kind({"epsilon": NONNEGATIVE, "delta": BELOW_ONE}, _guarantee, _both_directions),
    "ShuffledReports": Kind(
        {"local_epsilon": NONNEGATIVE, "records": integer(1, 10**9)},
        _reports,
        upper_only=True,
        not_within=(frozenset({"poisson", "subset"}), "a ShuffledReports is not known on a sample"),
    ),
}
