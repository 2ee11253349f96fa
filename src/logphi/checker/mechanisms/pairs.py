"""From mechanisms to laws: the dominating pair of each constructor, P with the record against Q without it.

The file is longer than others because it states in one place all that is assumed about the constructors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from flint import arb

from logphi.checker.allocation.allocated import Allocated, counted
from logphi.checker.arithmetic.balls import Real, ball, cached, exactly
from logphi.checker.arithmetic.work import EXP, STORED, Undecided, demand, spend
from logphi.checker.laws.choice import Choice
from logphi.checker.laws.composition import Composition, Terms
from logphi.checker.laws.declared import Declared
from logphi.checker.laws.densities import Densities, histograms
from logphi.checker.laws.finite import MOST_OUTCOMES, DiscreteGaussian, Finite
from logphi.checker.laws.law import Law, Spacing
from logphi.checker.laws.normal import Normal
from logphi.checker.laws.normal_mixtures import AT_ZERO, NormalMixtures
from logphi.checker.laws.normal_pair import NormalPair
from logphi.checker.laws.sampled import Sampled, SubsetSampled
from logphi.checker.laws.transform import Transform
from logphi.checker.laws.truncated_normal import TruncatedNormal
from logphi.checker.laws.uniform import bounded_range, laplace, truncated_laplace
from logphi.checker.mechanisms.above import Stated, law_above, with_pair
from logphi.checker.mechanisms.hulls import of_profile, of_tradeoff
from logphi.checker.mechanisms.new_partitions import new_partitions
from logphi.checker.mechanisms.selection import selected
from logphi.checker.mechanisms.sparse_vector import sparse_vector
from logphi.checker.mechanisms.whole_vectors import discrete_gaussians, skellam
from logphi.checker.text.reading import PRESENCE, Node

# chosen: about ten thousand outcomes
MOST_REPORTS = 140


def composed(given: tuple[tuple[int, Node], ...], stated: Stated) -> Composition:
    """The law of a composition, in which the normal laws become one, because squared shifts add."""
    known = [term for count, node in given for term in _factors(node, count, stated)]
    squares = [(law.squared_shift, count) for law, count in known if law.squared_shift is not None]
    found = [(law, count) for law, count in known if law.squared_shift is None]
    if squares:
        found.append((Normal(cached(lambda: sum((count * square() for square, count in squares), arb(0)))), 1))
    return Composition(found)


def _factors(node: Node, count: int, stated: Stated) -> Terms:
    """The laws of releases of one kind."""
    if node.name == "StabilityThreshold":
        return _stability_threshold(count, **node.parameters)
    if node.name == "VectorDiscreteGaussian":
        return [(law, count) for law, _ in discrete_gaussians(**node.parameters)]
    law = law_of(node, stated)
    return [] if law is None else [(law, count)]


def law_of(node: Node, stated: Stated) -> Law | None:
    """The law of one release; None if its loss is always zero."""
    if node.base is not None and node.base.parts:
        return law_of(_each(node, node.base), stated)
    if node.name in _WITH_HULLS:
        return _WITH_HULLS[node.name](node, stated, **node.parameters)
    return _LAWS[node.name](node, **node.parameters)


def _normal(shift: Fraction) -> Normal | None:
    return Normal(exactly(shift**2), abs(shift)) if shift else None


def _gaussian_mixture(_: Node, sigma: Fraction, sensitivities: list[Fraction], probabilities: list[Fraction]) -> Law | None:
    """The sum of p_i N(c_i/sigma, 1) against N(0, 1)."""
    shares = dict[Fraction, Fraction]()
    for shift, share in zip(sensitivities, probabilities, strict=True):
        if share:
            shares[shift / sigma] = shares.get(shift / sigma, 0) + share
    if len(shares) == 1:
        return _normal(*shares)
    return NormalMixtures(tuple((exactly(share), shift) for shift, share in shares.items()), AT_ZERO)


def _gaussian_pair(_: Node, mean_p: Fraction, sigma_p: Fraction, mean_q: Fraction, sigma_q: Fraction) -> Law | None:
    """N(m_p, s_p^2) against N(m_q, s_q^2)."""
    ratio, shift = sigma_p / sigma_q, (mean_p - mean_q) / sigma_q
    if ratio == 1:
        return _normal(shift)
    return NormalPair(ratio, shift**2)


def _distance(_: Node, epsilon: Fraction, delta: Fraction) -> Law | None:
    """With probability delta the loss is infinite, otherwise it is that of Laplace with w = eps + 2 log(1 - delta)."""
    width: Real = lambda: ball(epsilon) + 2 * (-ball(delta)).log1p()  # noqa: E731
    demand(width() > 0, "a DistanceToInstability that fails so often leaks more by its failures than by its test")
    return laplace(width, exactly(delta))


def _kary(node: Node, k: int, p: Fraction) -> Law | None:
    """Under replace, both true symbols and all others; else the true symbol and all others, against uniform symbols."""
    false = p / k
    true = 1 - p + false
    if node.adjacency == "replace":
        return _exact([true, false, (k - 2) * false], [false, true, (k - 2) * false])
    return _exact([true, (k - 1) * false], [Fraction(1, k), Fraction(k - 1, k)])


def _exact(p: list[Fraction], q: list[Fraction]) -> Finite | None:
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


def _guarantee(_: Node, epsilon: Fraction, delta: Fraction = Fraction(0)) -> Law | None:
    """With probability delta the loss is infinite, otherwise it is that of randomized response with odds e^eps."""
    if epsilon == 0:
        return _exact([delta, 1 - delta, Fraction(0)], [Fraction(0), 1 - delta, delta])

    def outcomes() -> list[tuple[Any, Any]]:
        truth, lie = (ball(1 - delta) / (1 + ball(sign * epsilon).exp()) for sign in (-1, 1))
        return [(ball(delta), arb(0)), (truth, lie), (lie, truth), (arb(0), ball(delta))]

    return Finite(outcomes, Spacing("one", exactly(1), (epsilon, -epsilon)))


def _discrete_laplace(_: Node, scale: Fraction, sensitivity: int) -> Law | None:
    """Outcomes at most 0, each integer between 0 and s, and at least s: losses (2x - s) / scale."""
    rate, s = 1 / scale, sensitivity
    spend(4 * STORED * s)

    def outcomes() -> list[tuple[Any, Any]]:
        a = ball(rate)
        end = 1 / (1 + (-a).exp())
        q = [end, *((a / 2).tanh() * (-a * x).exp() for x in range(1, s)), (-a * s).exp() * end]
        return list(zip(q[::-1], q, strict=True))

    return Finite(cached(outcomes), Spacing("one", exactly(1), tuple((2 * x - s) * rate for x in range(s + 1))))


def _discrete_gaussian(_: Node, sigma: Fraction, sensitivity: int, truncation: int | None) -> Law | None:
    """Noise of weights e^{-x^2 / (2 sigma^2)}, shifted by s against itself: losses (x - s/2) s / sigma^2."""
    s, far = sensitivity, truncation
    if far is None:
        return DiscreteGaussian(sigma, s)
    demand(far + s <= MOST_OUTCOMES, "the truncated noise has more outcomes than this checker lists")
    spend(4 * STORED * (far + s))

    def outcomes() -> list[tuple[Any, Any]]:
        spend((2 * EXP + STORED) * (far + s))
        weights = {x: (-ball(Fraction(x * x) / (2 * sigma**2))).exp() for x in range(-far, far + 1)}
        whole, none = sum(weights.values(), arb(0)), arb(0)
        return [(weights.get(x - s, none) / whole, weights.get(x, none) / whole) for x in range(-far, far + s + 1)]

    steps = tuple((x - Fraction(s, 2)) * s / sigma**2 for x in range(s - far, far + 1))
    return Finite(cached(outcomes), Spacing("one", exactly(1), steps))


def _poisson(node: Node, stated: Stated, rate: Fraction, group_size: int) -> Law | None:
    """((1-q) Q + q P, Q) ([AFA] Theorem 11.1); for a Gaussian also groups, and under replace."""
    base = _sampled(node, stated, rate)
    if base is None:
        return None
    if node.adjacency != "replace" and group_size == 1:
        return base if rate == 1 else base.sampled(rate) or Sampled(base, rate)
    if not isinstance(base, Normal) or base.shift is None:
        raise Undecided("groups and replacement in a Poisson sample are known for the Gaussian only")
    if rate == 1:
        return _normal(group_size * base.shift * (2 if node.adjacency == "replace" else 1))
    # a binomial number of shifts against none or, under replace, against one of shifts in the opposite direction
    shifts = tuple((_binomial(group_size, k, rate), k * base.shift) for k in range(group_size + 1))
    return NormalMixtures(shifts, tuple((p, -shift) for p, shift in shifts) if node.adjacency == "replace" else AT_ZERO)


def _binomial(size: int, k: int, rate: Fraction) -> Real:
    return cached(lambda: math.comb(size, k) * ball(rate) ** k * ball(1 - rate) ** (size - k))


def _tradeoff(node: Node, type_one_errors: list[Fraction], type_two_errors: list[Fraction]) -> Law | None:
    """The curve is that of the order remove; under the relation add, that of the order add."""
    p, q = of_tradeoff(type_one_errors, type_two_errors)
    proper = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    found = _exact([a for a, _ in proper], [b for _, b in proper])
    return found.reversed() if found is not None and node.adjacency == "add" else found


def _profile(node: Node, epsilons: list[Fraction], deltas: list[Fraction]) -> Law | None:
    """Under add and under remove the points hold in that order, elsewhere in both."""
    points = list(zip(epsilons, deltas, strict=True))
    found = of_profile(points, () if node.adjacency in ("add", "remove") else points)
    return found.reversed() if node.adjacency == "add" else found


def _stability_threshold(
    count: int,
    threshold: Fraction,
    scale: Fraction | None,
    sigma: Fraction | None,
    truncation: Fraction | None,
    sensitivity: Fraction,
    partitions: int,
) -> Terms:
    """For each partition the noise moved by s, and whether a partition that only one record has is seen.

    A partition has other records, or none: both pairs together dominate either.
    """
    width, number = scale or sigma or Fraction(0), count * partitions
    far = None if truncation is None else truncation / width
    seen = new_partitions((threshold - sensitivity) / width, far, scale is None, number)
    return [(_noise(sensitivity / width, far, scale is None), number), *([] if seen is None else [(seen, 1)])]


def _sparse_vector(
    node: Node,
    stated: Stated,
    query_scale: Fraction,
    threshold_scale: Fraction | None,
    threshold_sigma: Fraction | None,
    sensitivity: Fraction,
    answers: int,
    monotone: int,
) -> Law | None:
    """The hull of bounds of both orders."""
    move = sensitivity / (threshold_scale or threshold_sigma or Fraction(0))
    shift = sensitivity / query_scale * (1 if monotone else 2)
    noise, end = _noise(move, None, threshold_scale is None), None if threshold_scale is None else move
    return sparse_vector(shift, noise, end, answers, bool(monotone) and node.adjacency in PRESENCE, stated)


def _noise(move: Fraction, far: Fraction | None, normal: bool) -> Law:
    """Noise of unit width that is moved, within [-far, far] if there is an end."""
    if far is None:
        return Normal(exactly(move**2), move) if normal else laplace(exactly(move))
    return TruncatedNormal(move, far) if normal else truncated_laplace(move, far)


def _renyi(_: Node, orders: list[Fraction], epsilons: list[Fraction]) -> Law | None:
    """D_a at some orders a; if one is zero, P and Q are equal."""
    points = sorted((a - 1, (a - 1) * e) for a, e in zip(orders, epsilons, strict=True))
    return Declared(points=tuple(points)) if all(epsilons) else None


def _reports(_: Node, local_epsilon: Fraction, records: int) -> Law | None:
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


def _choice(node: Node, stated: Stated, probabilities: list[Fraction]) -> Law | None:
    """A public random choice of one of several compositions."""
    kept = [
        (weight, with_pair(composed(part, stated), stated))
        for weight, part in zip(probabilities, node.parts, strict=True)
        if weight
    ]
    return Choice(tuple(kept)) if any(part.terms for _, part in kept) else None


def _allocation(node: Node, stated: Stated, batches: int) -> Law | None:
    """One of the batches, drawn uniformly, has P of the base, all others Q (Chua et al. 2024, *Balls-and-Bins Sampling*)."""
    base = composed(node.parts[0], stated)
    if not base.terms:
        return None
    law = base.alone
    if law is None:
        raise Undecided("of several releases that are allocated together, this checker knows those of Gaussian noise")
    demand(law.omitted().is_zero(), "this checker does not allocate releases whose outcomes it does not list all")
    return counted(law.listed(), batches) if law.atomic else Allocated(law, batches)


def _selected(node: Node, stated: Stated, mean: Fraction, shape: Fraction | None) -> Law | None:
    """The best of a random number of runs."""
    run = composed(node.parts[0], stated)
    return selected(run, mean, shape, stated) if run.terms else None


def _each(node: Node, choice: Node) -> Node:
    """A sample of a random choice, as a random choice of samples: the choice is public, so each pair is mixed separately."""
    if not all([count for count, _ in part] == [1] for part in choice.parts):
        raise Undecided("this checker does not know several releases from one sample")
    parts = tuple(((1, replace(node, base=part[0][1])),) for part in choice.parts)
    return replace(choice, adjacency=node.adjacency, parts=parts)


def _subset(node: Node, stated: Stated, rate: Fraction) -> Law | None:
    """((1-g) P + g Q, P) under add/remove ([AFA] Theorem 11.2), and :meth:`Law.subset` under replace."""
    base = _sampled(node, stated, rate)
    if base is None:
        return None
    if node.adjacency == "replace":
        return base if rate == 1 else base.subset(rate) or SubsetSampled(base, rate, base.symmetric)
    turned = base.reversed()
    return turned if rate == 1 else turned.sampled(rate) or Sampled(turned, rate)


def _sampled(node: Node, stated: Stated, rate: Fraction) -> Law | None:
    """The law of what is sampled, or of one above it that is a single release; None if a sample of it has no loss."""
    assert node.base is not None, "a sample has a base"
    if not rate:
        return None
    if node.base.name in ("StabilityThreshold", "VectorDiscreteGaussian"):
        return law_above(composed(((1, node.base),), stated), stated)
    law = law_of(node.base, stated)
    return law_above(Composition([(law, 1)]), stated) if isinstance(law, Declared) else law


# by the node and its parameters
_LAWS: dict[str, Callable[..., Law | None]] = {
    # N(s/sigma, 1) against N(0, 1)
    "Gaussian": lambda _, sigma, sensitivity: _normal(sensitivity / sigma),
    "GaussianMixture": _gaussian_mixture,
    "GaussianPair": _gaussian_pair,
    # Lap(s/b, 1) against Lap(0, 1)
    "Laplace": lambda _, scale, sensitivity: laplace(exactly(sensitivity / scale)),
    "DistanceToInstability": _distance,
    # a loss with density proportional to e^{x/2} on [-eps, eps]
    "ExponentialMechanism": lambda _, epsilon: bounded_range(exactly(epsilon)),
    # the true bit has probability p, the other 1 - p
    "RandomizedResponse": lambda _, p: _exact([p, 1 - p], [1 - p, p]),
    "KaryRandomizedResponse": _kary,
    "Discrete": lambda _, p, q: _exact(p, q),
    "PureDP": _guarantee,
    "ApproximateDP": _guarantee,
    "DiscreteLaplace": _discrete_laplace,
    "DiscreteGaussian": _discrete_gaussian,
    # noise within [-T, T]
    "TruncatedGaussian": lambda _, sigma, truncation, sensitivity: _noise(sensitivity / sigma, truncation / sigma, True),
    "TruncatedLaplace": lambda _, scale, truncation, sensitivity: _noise(sensitivity / scale, truncation / scale, False),
    "FromTradeoff": _tradeoff,
    "FromProfile": _profile,
    # D_a <= xi + rho a
    "ZCDP": lambda _, rho, xi: Declared(((rho, xi),)) if rho or xi else None,
    "RenyiDP": _renyi,
    # the sum of p_i N(v_i, sigma^2) against the sum of q_i N(v_i, sigma^2)
    "GaussianMixturePair": lambda _, sigma, values, p, q: histograms([v / sigma for v in values], p, q) if p != q else None,
    # two densities by formulas, each divided by its integral
    "FromDensities": lambda _, pieces: Densities(lambda: (pieces, [arb(0), arb(0)])),
    # the law with this transform
    "FromLogPhi": lambda _, transform: Transform(transform),
    "ShuffledReports": _reports,
    "Skellam": lambda _, **given: skellam(**given),
}
# those for whose hulls the certificate may state numbers
_WITH_HULLS: dict[str, Callable[..., Law | None]] = {
    "SparseVector": _sparse_vector,
    "RandomChoice": _choice,
    "poisson": _poisson,
    "subset": _subset,
    "allocation": _allocation,
    "repeat_and_select": _selected,
}
