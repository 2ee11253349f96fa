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

from logphi.checker.allocated import Allocated, counted
from logphi.checker.balls import Real, ball, cached, exactly
from logphi.checker.choice import Choice
from logphi.checker.composition import Composition, Terms
from logphi.checker.declared import Declared
from logphi.checker.densities import Densities
from logphi.checker.finite import MOST_OUTCOMES, DiscreteGaussian, Finite
from logphi.checker.histograms import histograms
from logphi.checker.hulls import of_profile, of_tradeoff
from logphi.checker.law import Law, Spacing
from logphi.checker.new_partitions import new_partitions
from logphi.checker.normal import Normal
from logphi.checker.normal_mixtures import AT_ZERO, NormalMixtures
from logphi.checker.normal_pair import NormalPair
from logphi.checker.reading import PRESENCE, Node, total
from logphi.checker.sampled import sample, subset
from logphi.checker.sparse_vector import sparse_vector
from logphi.checker.transform import Transform
from logphi.checker.truncated_normal import TruncatedNormal
from logphi.checker.uniform import bounded_range, laplace, truncated_laplace
from logphi.checker.work import EXP, STORED, Undecided, spend

# chosen: about ten thousand outcomes
MOST_REPORTS = 140


def composed(given: tuple[tuple[int, Node], ...]) -> Composition:
    """The law of a composition, in which the normal laws become one, because squared shifts add."""
    known = [term for count, node in given for term in _factors(node, count)]
    squares = [(law.squared_shift, count) for law, count in known if law.squared_shift is not None]
    found = [(law, count) for law, count in known if law.squared_shift is None]
    if squares:
        found.append((Normal(cached(lambda: sum((count * square() for square, count in squares), arb(0)))), 1))
    return Composition(found)


def _factors(node: Node, count: int) -> Terms:
    """The laws of releases of one kind."""
    if node.name == "StabilityThreshold":
        return _stability_threshold(node, count)
    law = law_of(node)
    return [] if law is None else [(law, count)]


def law_of(node: Node) -> Law | None:
    """The law of one release; None if its loss is always zero."""
    return _LAWS[node.name](node)


def _normal(shift: Fraction) -> Normal | None:
    return Normal(exactly(shift**2), abs(shift)) if shift else None


def _gaussian(node: Node) -> Law | None:
    """N(s/sigma, 1) against N(0, 1)."""
    given = node.parameters
    return _normal(given["sensitivity"] / given["sigma"])


def _gaussian_mixture(node: Node) -> Law | None:
    """The sum of p_i N(c_i/sigma, 1) against N(0, 1)."""
    given = node.parameters
    whole, shares = total(given["probabilities"]), dict[Fraction, Fraction]()
    for shift, share in zip(given["sensitivities"], given["probabilities"], strict=True):
        if share:
            shares[shift / given["sigma"]] = shares.get(shift / given["sigma"], 0) + share / whole
    if len(shares) == 1:
        return _normal(*shares)
    return NormalMixtures(tuple((exactly(share), shift) for shift, share in shares.items()), AT_ZERO)


def _gaussian_pair(node: Node) -> Law | None:
    """N(m_p, s_p^2) against N(m_q, s_q^2)."""
    given = node.parameters
    ratio, shift = given["sigma_p"] / given["sigma_q"], (given["mean_p"] - given["mean_q"]) / given["sigma_q"]
    if ratio == 1:
        return _normal(shift)
    return NormalPair(ratio, shift**2)


def _laplace(node: Node) -> Law | None:
    """Lap(w, 1) against Lap(0, 1)."""
    return laplace(exactly(node.parameters["sensitivity"] / node.parameters["scale"]))


def _distance(node: Node) -> Law | None:
    """With probability delta the loss is infinite, otherwise it is that of Laplace with w = eps + 2 log(1 - delta)."""
    given = node.parameters
    epsilon, delta = exactly(given["epsilon"]), exactly(given["delta"])
    width: Real = lambda: epsilon() + 2 * (-delta()).log1p()  # noqa: E731
    if not width() > 0:
        raise Undecided("a DistanceToInstability that fails so often leaks more by its failures than by its test")
    return laplace(width, delta)


def _exponential(node: Node) -> Law | None:
    """A loss with density proportional to e^{x/2} on [-eps, eps]."""
    return bounded_range(exactly(node.parameters["epsilon"]))


def _response(node: Node) -> Law | None:
    """The true bit has probability p, the other 1 - p."""
    p = node.parameters["p"]
    return _exact([p, 1 - p], [1 - p, p])


def _kary(node: Node) -> Law | None:
    """Under replace, both true symbols and all others; else the true symbol and all others, against uniform symbols."""
    k, p = node.parameters["k"], node.parameters["p"]
    false = p / k
    true = 1 - p + false
    if node.adjacency == "replace":
        return _exact([true, false, (k - 2) * false], [false, true, (k - 2) * false])
    return _exact([true, (k - 1) * false], [Fraction(1, k), Fraction(k - 1, k)])


def _discrete(node: Node) -> Law | None:
    """Two vectors of probabilities, each divided by its sum."""
    given = node.parameters
    whole_p, whole_q = total(given["p"]), total(given["q"])
    return _exact([a / whole_p for a in given["p"]], [b / whole_q for b in given["q"]])


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
    signs = tuple((ratio > 1) - (ratio < 1) for ratio in ratios)
    return Finite(cached(lambda: [(ball(a), ball(b)) for a, b in merged.values()]), spacing, signs=signs)


def _guarantee(node: Node) -> Law | None:
    """With probability delta the loss is infinite, otherwise it is that of randomized response with odds e^eps."""
    given = node.parameters
    epsilon, delta = given["epsilon"], given.get("delta", Fraction(0))
    if epsilon == 0:
        return _exact([delta, 1 - delta, Fraction(0)], [Fraction(0), 1 - delta, delta])

    def outcomes() -> list[tuple[Any, Any]]:
        truth, lie = (ball(1 - delta) / (1 + ball(sign * epsilon).exp()) for sign in (-1, 1))
        return [(ball(delta), arb(0)), (truth, lie), (lie, truth), (arb(0), ball(delta))]

    return Finite(outcomes, Spacing("one", exactly(1), (epsilon, -epsilon)))


def _discrete_laplace(node: Node) -> Law | None:
    """Outcomes at most 0, each whole number between 0 and s, and at least s: losses (2x - s) / scale."""
    given = node.parameters
    rate, s = 1 / given["scale"], given["sensitivity"]
    spend(4 * STORED * s)

    def outcomes() -> list[tuple[Any, Any]]:
        a = ball(rate)
        end = 1 / (1 + (-a).exp())
        q = [end, *((a / 2).tanh() * (-a * x).exp() for x in range(1, s)), (-a * s).exp() * end]
        return list(zip(q[::-1], q, strict=True))

    return Finite(cached(outcomes), Spacing("one", exactly(1), tuple((2 * x - s) * rate for x in range(s + 1))))


def _discrete_gaussian(node: Node) -> Law | None:
    """Noise of weights e^{-x^2 / (2 sigma^2)}, shifted by s against itself: losses (x - s/2) s / sigma^2."""
    given = node.parameters
    sigma, s, far = given["sigma"], given["sensitivity"], given["truncation"]
    if far is None:
        return DiscreteGaussian(sigma, s)
    if far + s > MOST_OUTCOMES:
        raise Undecided("the truncated noise has more outcomes than this checker lists")
    spend(4 * STORED * (far + s))

    def outcomes() -> list[tuple[Any, Any]]:
        spend((2 * EXP + STORED) * (far + s))
        weights = {x: (-ball(Fraction(x * x) / (2 * sigma**2))).exp() for x in range(-far, far + 1)}
        whole, none = sum(weights.values(), arb(0)), arb(0)
        return [(weights.get(x - s, none) / whole, weights.get(x, none) / whole) for x in range(-far, far + s + 1)]

    steps = tuple((x - Fraction(s, 2)) * s / sigma**2 for x in range(s - far, far + 1))
    return Finite(cached(outcomes), Spacing("one", exactly(1), steps))


def _poisson(node: Node) -> Law | None:
    """((1-q) Q + q P, Q) ([AFA] Theorem 11.1); for a Gaussian also groups, and under replace."""
    if _base(node).parts:
        return _choice(_each(node))
    base, rate, size = law_of(_base(node)), node.parameters["rate"], node.parameters["group_size"]
    if rate == 0 or base is None:
        return None
    if node.adjacency != "replace" and size == 1:
        return base if rate == 1 else sample(base, rate)
    if not isinstance(base, Normal) or base.shift is None:
        raise Undecided("groups and replacement in a Poisson sample are known for the Gaussian only")
    if rate == 1:
        return _normal(size * base.shift * (2 if node.adjacency == "replace" else 1))
    # a binomial number of shifts against none or, under replace, against one of shifts in the opposite direction
    shifts = tuple((_binomial(size, k, rate), k * base.shift) for k in range(size + 1))
    return NormalMixtures(shifts, tuple((p, -shift) for p, shift in shifts) if node.adjacency == "replace" else AT_ZERO)


def _truncated_gaussian(node: Node) -> Law | None:
    """N(0, sigma^2) within [-T, T]."""
    given = node.parameters
    return TruncatedNormal(given["sensitivity"] / given["sigma"], given["truncation"] / given["sigma"])


def _truncated_laplace(node: Node) -> Law | None:
    """Laplace noise within [-T, T]."""
    given = node.parameters
    return truncated_laplace(given["sensitivity"] / given["scale"], given["truncation"] / given["scale"])


def _tradeoff(node: Node) -> Law | None:
    """The curve is that of the order remove; under the relation add, that of the order add."""
    p, q = of_tradeoff(node.parameters["type_one_errors"], node.parameters["type_two_errors"])
    proper = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    found = _exact([a for a, _ in proper], [b for _, b in proper])
    return found.reversed() if found is not None and node.adjacency == "add" else found


def _profile(node: Node) -> Law | None:
    """Under add and under remove the points hold in that order, elsewhere in both."""
    found = of_profile(node.parameters["epsilons"], node.parameters["deltas"], node.adjacency not in ("add", "remove"))
    return found.reversed() if node.adjacency == "add" else found


def _stability_threshold(node: Node, count: int) -> Terms:
    """For each partition the noise moved by s, and whether a partition that only one record has is seen.

    A partition has other records, or none: both pairs together dominate either.
    """
    given = node.parameters
    s, normal, far, number = given["sensitivity"], given["scale"] is None, given["truncation"], count * given["partitions"]
    width = given["sigma"] if normal else given["scale"]
    seen = new_partitions((given["threshold"] - s) / width, None if far is None else far / width, normal, number)
    return [(_noise(s / width, None if far is None else far / width, normal), number), *([] if seen is None else [(seen, 1)])]


def _sparse_vector(node: Node) -> Law | None:
    """The hull of bounds of both orders."""
    given = node.parameters
    s, normal = given["sensitivity"], given["threshold_scale"] is None
    move = s / (given["threshold_sigma"] if normal else given["threshold_scale"])
    shift = s / given["query_scale"] * (1 if given["monotone"] else 2)
    return sparse_vector(
        shift,
        _noise(move, None, normal),
        None if normal else move,
        given["answers"],
        bool(given["monotone"]) and node.adjacency in PRESENCE,
    )


def _noise(move: Fraction, far: Fraction | None, normal: bool) -> Law:
    """Noise of unit width that is moved, within [-far, far] if there is an end."""
    if far is None:
        return Normal(exactly(move**2), move) if normal else laplace(exactly(move))
    return TruncatedNormal(move, far) if normal else truncated_laplace(move, far)


def _zcdp(node: Node) -> Law | None:
    """D_a <= xi + rho a."""
    given = node.parameters
    return Declared(given["rho"], given["xi"]) if given["rho"] or given["xi"] else None


def _renyi(node: Node) -> Law | None:
    """D_a at some orders a; if one is zero, P and Q are equal."""
    orders, epsilons = node.parameters["orders"], node.parameters["epsilons"]
    points = sorted((a - 1, (a - 1) * e) for a, e in zip(orders, epsilons, strict=True))
    return Declared(points=tuple(points)) if all(epsilons) else None


def _densities(node: Node) -> Law | None:
    """Two densities by formulas, each divided by its integral."""
    pieces = node.parameters["pieces"]
    return Densities(lambda: (pieces, [arb(0), arb(0)]))


def _log_phi(node: Node) -> Law | None:
    """The law with this transform."""
    return Transform(node.parameters["transform"])


def _gaussian_mixture_pair(node: Node) -> Law | None:
    """The sum of p_i N(v_i, sigma^2) against the sum of q_i N(v_i, sigma^2)."""
    given = node.parameters
    shares = [[one / total(given[name]) for one in given[name]] for name in ("p", "q")]
    return histograms([v / given["sigma"] for v in given["values"]], *shares) if shares[0] != shares[1] else None


def _reports(node: Node) -> Law | None:
    """Counts of clones (Feldman, McMillan & Talwar 2021): a + b = C + 1 reports, C ~ Bin(n - 1, e^-eps).

    P(a, b) = P(C) Bin(C + 1, 1/2)(a) 2 (a + e^-eps b) / ((1 + e^-eps) (C + 1)), and Q with a and b exchanged.
    """
    epsilon, records = node.parameters["local_epsilon"], node.parameters["records"]
    if epsilon == 0:
        return None
    if records > MOST_REPORTS:
        raise Undecided("so many shuffled reports have more outcomes than this checker lists")

    def outcomes() -> list[tuple[Any, Any]]:
        e, found = (-ball(epsilon)).exp(), []
        spend((2 * EXP + 2 * STORED) * records * (records + 3))
        for m in range(1, records + 1):
            clones = math.comb(records - 1, m - 1) * e ** (m - 1) * (1 - e) ** (records - m)
            scale = 2 * clones / ((1 + e) * m * arb(2) ** m)
            found += [
                (scale * math.comb(m, a) * (a + e * (m - a)), scale * math.comb(m, a) * (e * a + m - a)) for a in range(m + 1)
            ]
        return found

    return Finite(cached(outcomes), None)


def _choice(node: Node) -> Law | None:
    """A public random choice of one of several compositions."""
    weights = node.parameters["probabilities"]
    whole = total(weights)
    kept = [(weight / whole, composed(part)) for weight, part in zip(weights, node.parts, strict=True) if weight]
    return Choice(tuple(kept)) if any(part.terms for _, part in kept) else None


def _allocation(node: Node) -> Law | None:
    """One of the batches, drawn uniformly, has P of the base, all others Q (Chua et al. 2024, *Balls-and-Bins Sampling*)."""
    base, batches = composed(node.parts[0]), node.parameters["batches"]
    if not base.terms:
        return None
    law = base.alone
    if law is None:
        raise Undecided("of several releases that are allocated together, this checker knows those of Gaussian noise")
    if not law.omitted().is_zero():
        raise Undecided("this checker does not allocate releases whose outcomes it does not list all")
    return counted(law.as_finite(), batches) if law.atomic else Allocated(law, batches)


def _each(node: Node) -> Node:
    """A sample of a random choice, as a random choice of samples: the choice is public, so each pair is mixed separately."""
    base = _base(node)
    if not all([count for count, _ in part] == [1] for part in base.parts):
        raise Undecided("this checker does not know several releases from one sample")
    parts = tuple(((1, replace(node, base=part[0][1])),) for part in base.parts)
    return replace(base, adjacency=node.adjacency, parts=parts)


def _binomial(size: int, k: int, rate: Fraction) -> Real:
    return cached(lambda: math.comb(size, k) * ball(rate) ** k * ball(1 - rate) ** (size - k))


def _subset(node: Node) -> Law | None:
    """((1-g) P + g Q, P) under add/remove ([AFA] Theorem 11.2), and :meth:`Law.subset` under replace."""
    if _base(node).parts:
        return _choice(_each(node))
    base, rate = law_of(_base(node)), node.parameters["rate"]
    if rate == 0 or base is None:
        return None
    if node.adjacency == "replace":
        return base if rate == 1 else subset(base, rate)
    return base.reversed() if rate == 1 else sample(base.reversed(), rate)


def _base(node: Node) -> Node:
    assert node.base is not None, "a sample has a base"
    return node.base


_LAWS: dict[str, Callable[[Node], Law | None]] = {
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
    "TruncatedGaussian": _truncated_gaussian,
    "TruncatedLaplace": _truncated_laplace,
    "FromTradeoff": _tradeoff,
    "FromProfile": _profile,
    "ZCDP": _zcdp,
    "RenyiDP": _renyi,
    "GaussianMixturePair": _gaussian_mixture_pair,
    "FromDensities": _densities,
    "FromLogPhi": _log_phi,
    "ShuffledReports": _reports,
    "SparseVector": _sparse_vector,
    "RandomChoice": _choice,
    "poisson": _poisson,
    "subset": _subset,
    "allocation": _allocation,
}
