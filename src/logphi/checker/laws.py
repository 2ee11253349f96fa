"""From a mechanism to its laws: the pair that dominates it, in the direction remove, P with the record against Q without it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.balls import ZERO, Real, Undecided, ball, exactly
from logphi.checker.cells import MOST_OUTCOMES, Cells, Ladder, Whole
from logphi.checker.closed import Flat, Normal, Widths
from logphi.checker.normals import Normals
from logphi.checker.reading import Node, total
from logphi.checker.sampled import Sampled, Spliced

NONE = (exactly(1), Fraction(0))


def terms(counted: tuple[tuple[int, Node], ...]) -> list[tuple[Any, int]]:
    """The laws of a composition with their counts; normal ones are put together, as their squares add."""
    found: list[tuple[Any, int]] = []
    squares: list[tuple[Real, int]] = []
    for count, node in counted:
        law = law_of(node)
        if law is None:
            continue
        if isinstance(law, Normal):
            squares.append((law.square, count))
        else:
            found.append((law, count))
    if squares:
        found.append((Normal(lambda: sum((count * square() for square, count in squares), arb(0))), 1))
    return found


def turned(laws: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """Those of the other direction; the same list if all are symmetric."""
    others = [(law.reversed(), count) for law, count in laws]
    return laws if all(one is other for (one, _), (other, _) in zip(laws, others, strict=True)) else others


def law_of(node: Node) -> Any:
    """The law of one release; None if its loss is always zero."""
    if node.name in _SAMPLERS:
        return _SAMPLERS[node.name](node)
    return _LAWS[node.name](node.parameters, node.adjacency)


def _normal(shift: Fraction) -> Normal | None:
    return Normal(exactly(shift**2), abs(shift)) if shift else None


def _gaussian(given: Mapping[str, Any], _: str) -> Any:
    """N(s/sigma, 1) against N(0, 1)."""
    return _normal(given["sensitivity"] / given["sigma"])


def _gaussian_mixture(given: Mapping[str, Any], _: str) -> Any:
    """The sum of p_i N(c_i/sigma, 1) against N(0, 1)."""
    whole, shares = total(given["probabilities"]), dict[Fraction, Fraction]()
    for shift, share in zip(given["sensitivities"], given["probabilities"], strict=True):
        if share:
            shares[shift / given["sigma"]] = shares.get(shift / given["sigma"], 0) + share / whole
    if len(shares) == 1:
        return _normal(*shares)
    return Normals(tuple((exactly(share), shift) for shift, share in shares.items()), (NONE,))


def _gaussian_pair(given: Mapping[str, Any], _: str) -> Any:
    """N(m_p, s_p^2) against N(m_q, s_q^2)."""
    ratio, shift = given["sigma_p"] / given["sigma_q"], (given["mean_p"] - given["mean_q"]) / given["sigma_q"]
    if ratio == 1:
        return _normal(shift)
    return Widths(ratio, shift**2)


def _laplace(given: Mapping[str, Any], _: str) -> Any:
    """Lap(w, 1) against Lap(0, 1)."""
    return Flat(exactly(given["sensitivity"] / given["scale"]), atoms=True)


def _distance(given: Mapping[str, Any], _: str) -> Any:
    """With probability delta the outcome tells everything, otherwise it is that of Laplace with w = eps + 2 log(1 - delta)."""
    epsilon, delta = exactly(given["epsilon"]), exactly(given["delta"])
    return Flat(lambda: epsilon() + 2 * (-delta()).log1p(), atoms=True, infinite=delta)


def _exponential(given: Mapping[str, Any], _: str) -> Any:
    """A loss with density proportional to e^{x/2} on [-eps, eps]."""
    return Flat(exactly(given["epsilon"]), atoms=False)


def _cells(p: list[Real], q: list[Real], ladder: Ladder | None) -> Cells:
    return Cells(lambda: [(a(), b()) for a, b in zip(p, q, strict=True)], ladder)


def _response(given: Mapping[str, Any], _: str) -> Any:
    """The truth and its opposite."""
    p = given["p"]
    return _exact([p, 1 - p], [1 - p, p])


def _kary(given: Mapping[str, Any], adjacency: str) -> Any:
    """The old truth, the new one and all other symbols; or the truth and all others, against uniform symbols."""
    k, p = given["k"], given["p"]
    false = p / k
    true = 1 - p + false
    if adjacency == "replace":
        return _exact([true, false, (k - 2) * false], [false, true, (k - 2) * false])
    return _exact([true, (k - 1) * false], [Fraction(1, k), Fraction(k - 1, k)])


def _discrete(given: Mapping[str, Any], _: str) -> Any:
    """The two vectors, each divided by its sum."""
    whole_p, whole_q = total(given["p"]), total(given["q"])
    return _exact([a / whole_p for a in given["p"]], [b / whole_q for b in given["q"]])


def _exact(p: list[Fraction], q: list[Fraction]) -> Cells | None:
    """A pair of rational vectors; outcomes of one likelihood ratio are put together."""
    merged: dict[Fraction | None, list[Fraction]] = {}
    for a, b in zip(p, q, strict=True):
        ours = merged.setdefault(a / b if b else None, [Fraction(0), Fraction(0)])
        ours[0] += a
        ours[1] += b
    ratios = [ratio for ratio in merged if ratio]
    if set(merged) == {1}:
        return None
    ladder, top = None, max(*ratios, 1 / min(ratios))
    if set(ratios) <= {top, 1, 1 / top}:
        powers: dict[Fraction | int, int] = {top: 1, 1: 0, 1 / top: -1} if top != 1 else {1: 0}
        ladder = Ladder(("log", top), lambda: ball(top).log(), tuple(Fraction(powers[ratio]) for ratio in ratios))
    elif len(ratios) == 2:
        first, second = ratios
        unit = ("log", max(second / first, first / second))
        sign = 1 if second > first else -1
        ladder = Ladder(unit, lambda: ball(unit[1]).log(), (Fraction(0), Fraction(sign)), lambda: ball(first).log())
    masses = list(merged.values())
    return _cells([exactly(a) for a, _ in masses], [exactly(b) for _, b in masses], ladder)


def _guarantee(given: Mapping[str, Any], _: str) -> Any:
    """Randomized response with odds e^eps; with probability delta the outcome tells everything."""
    epsilon, delta = given["epsilon"], given.get("delta", Fraction(0))
    if epsilon == 0:
        return _exact([delta, 1 - delta, Fraction(0)], [Fraction(0), 1 - delta, delta])
    kept, odds = exactly(1 - delta), exactly(epsilon)
    truth: Real = lambda: kept() / (1 + (-odds()).exp())  # noqa: E731
    lie: Real = lambda: kept() / (1 + odds().exp())  # noqa: E731
    ladder = Ladder("one", exactly(1), (epsilon, -epsilon))
    return _cells([exactly(delta), truth, lie, ZERO], [ZERO, lie, truth, exactly(delta)], ladder)


def _discrete_laplace(given: Mapping[str, Any], _: str) -> Any:
    """At most 0, each whole number between, at least s: losses (2x - s) / scale."""
    rate, s = 1 / given["scale"], given["sensitivity"]

    def outcomes() -> list[tuple[Any, Any]]:
        a = ball(rate)
        end = 1 / (1 + (-a).exp())
        q = [end, *((a / 2).tanh() * (-a * x).exp() for x in range(1, s)), (-a * s).exp() * end]
        return list(zip(q[::-1], q, strict=True))

    return Cells(outcomes, Ladder("one", exactly(1), tuple((2 * x - s) * rate for x in range(s + 1))))


def _discrete_gaussian(given: Mapping[str, Any], _: str) -> Any:
    """Noise of weights e^{-x^2 / (2 sigma^2)}, moved by s against itself: losses (x - s/2) s / sigma^2."""
    sigma, s, far = given["sigma"], given["sensitivity"], given["truncation"]
    if far is None:
        return Whole(sigma, s)
    if far + s > MOST_OUTCOMES:
        raise Undecided("a truncation so far out is more than this checker lists")

    def outcomes() -> list[tuple[Any, Any]]:
        weights = {x: (-ball(Fraction(x * x) / (2 * sigma**2))).exp() for x in range(-far, far + 1)}
        whole, none = sum(weights.values(), arb(0)), arb(0)
        return [(weights.get(x - s, none) / whole, weights.get(x, none) / whole) for x in range(-far, far + s + 1)]

    step = s / sigma**2
    return Cells(outcomes, Ladder("one", exactly(1), tuple((x - Fraction(s, 2)) * step for x in range(s - far, far + 1))))


def _poisson(node: Node) -> Any:
    """((1-q) Q + q P, Q) ([AFA] Theorem 11.1); for groups, by how many records take part; under replace, by both shifts."""
    base, rate, size = law_of(_base(node)), node.parameters["rate"], node.parameters["group_size"]
    if rate == 0 or base is None:
        return None
    if node.adjacency == "replace" or size > 1:
        return _several(base.shift, rate, size, node.adjacency == "replace")
    return base if rate == 1 else _mixed(base, rate)


def _several(shift: Fraction, rate: Fraction, size: int, replaced: bool) -> Any:
    """A binomial number of shifts against none, or one at this rate against the opposite one."""
    if rate == 1:
        return _normal(shift * (2 if replaced else size))
    shifts = tuple((_binomial(size, k, rate), k * shift) for k in range(size + 1))
    return Normals(shifts, tuple((weight, -move) for weight, move in shifts) if replaced else (NONE,))


def _binomial(size: int, k: int, rate: Fraction) -> Real:
    return lambda: math.comb(size, k) * ball(rate) ** k * ball(1 - rate) ** (size - k)


def _subset(node: Node) -> Any:
    """((1-g) P + g Q, P) under add/remove ([AFA] Theorem 11.2), spliced under replace (Proposition 30, Corollary 32)."""
    base, rate = law_of(_base(node)), node.parameters["rate"]
    if rate == 0 or base is None:
        return None
    if node.adjacency == "replace":
        return base if rate == 1 else _spliced(base, rate)
    return base.reversed() if rate == 1 else _mixed(base.reversed(), rate)


def _base(node: Node) -> Node:
    assert node.base is not None, "a sample has a base"
    return node.base


def _mixed(base: Any, rate: Fraction) -> Any:
    """((1-rate) Q + rate P, Q), for 0 < rate < 1."""
    if isinstance(base, Normal) and base.shift is not None:
        return Normals(((exactly(1 - rate), Fraction(0)), (exactly(rate), base.shift)), (NONE,))
    if isinstance(base, Normals) and base.q == (NONE,):
        taking = tuple((_times(weight, rate), c) for weight, c in base.p)
        return Normals(((exactly(1 - rate), Fraction(0)), *taking), base.q)
    g = exactly(rate)
    if isinstance(base, Cells):
        return _own(lambda: [((1 - g()) * q + g() * p, q) for p, q in base.outcomes()], base.beyond)
    if isinstance(base, Whole):
        return Cells(lambda: [((1 - g()) * q + g() * p, q) for p, q in base.near()[0]], None, lambda: base.near()[1])
    if isinstance(base, Flat):
        return Sampled(base, rate)
    raise Undecided("this sample is of a kind that this checker does not know")


def _times(weight: Real, rate: Fraction) -> Real:
    return lambda: weight() * ball(rate)


def _own(outcomes: Callable[[], list[tuple[Any, Any]]], beyond: Real = ZERO) -> Cells:
    """Outcomes without a common unit of losses, but for two, whose difference is one."""
    free = Cells(outcomes, None, beyond)
    if len(free.shared()) != 2:
        return free
    unit: Real = lambda: free.losses()[1] - free.losses()[0]  # noqa: E731
    return Cells(outcomes, Ladder(free, unit, (Fraction(0), Fraction(1)), lambda: free.losses()[0]), beyond)


def _spliced(base: Any, rate: Fraction) -> Any:
    """The loss of ((1-g) Q + g P, Q) where it is positive, of (P, (1-g) P + g Q) where it is negative, and zero otherwise."""
    if isinstance(base, Normal) and base.shift is not None:
        return Spliced(base.shift, rate)
    if not isinstance(base, Cells) or base.ladder is None:
        raise Undecided("this subset is of a kind that this checker does not know")
    g, signs = exactly(rate), base.ladder.steps
    if not base.infinite().is_zero() or not base.ladder.base().is_zero():
        raise Undecided("this subset is of a kind that this checker does not know")

    def outcomes() -> list[tuple[Any, Any]]:
        signed = list(zip(signs, base.outcomes(), strict=True))
        above = [((1 - g()) * q + g() * p, q) for sign, (p, q) in signed if sign > 0]
        below = [(p, (1 - g()) * p + g() * q) for sign, (p, q) in signed if sign < 0]
        # what is left has the same mass under both
        rest = sum((p for sign, (p, _) in signed if sign == 0), arb(0))
        rest += (1 - g()) * sum((p - q for sign, (p, q) in signed if sign > 0), arb(0))
        return [*above, *below, (rest, rest)]

    return _own(outcomes)


_LAWS = {
    "Gaussian": _gaussian,
    "GaussianMixture": _gaussian_mixture,
    "GaussianPair": _gaussian_pair,
    "Laplace": _laplace,
    "DistanceToInstability": _distance,
    "ExponentialMechanism": _exponential,
    "RandomizedResponse": _response,
    "KaryRandomizedResponse": _kary,
    "Discrete": _discrete,
    "PureDP": _guarantee,
    "ApproximateDP": _guarantee,
    "DiscreteLaplace": _discrete_laplace,
    "DiscreteGaussian": _discrete_gaussian,
}
_SAMPLERS = {"poisson": _poisson, "subset": _subset}
