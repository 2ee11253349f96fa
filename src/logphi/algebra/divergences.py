"""The largest Renyi divergences of compositions with steps of a family: at each order, the divergences of the best members add.

The best member at an order does not depend on earlier outcomes: whatever they were, a step multiplies E e^{zL} by the same
factor. So the divergences of the steps add to those of all other releases; and K, a supremum of convex functions, is convex.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from logphi.algebra.asking import Questions
from logphi.algebra.by_others import METHOD, OF_FAMILY, between
from logphi.algebra.family import CountedReleases
from logphi.algebra.release import Composition, Mechanism, compose
from logphi.answers.bound import Bound, Bounds
from logphi.answers.ledger import Entry, Ledger
from logphi.answers.status import Status
from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.engine.answer import relatively
from logphi.engine.log_moment import log_moments_above
from logphi.inputs import check
from logphi.pairs.pair import UnsupportedError
from logphi.questions.zcdp import chord_tops

# chosen: the orders, less one, at which the search for rho begins
_FIRST = 2.0 ** np.arange(-26.0, 20.0)
# derived: bounds that are closer, relatively, differ by rounding only
_ROUNDED = 1e-13
# measured: how often the intervals that may hold rho are halved
_ROUNDS = 12


def largest(terms: CountedReleases, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The answer to ``name``, the question of a divergence or of zCDP, for a composition."""
    if name == "zcdp":
        return _Rho(terms, options.pop("direction", None)).smallest(*arguments, **options)
    fixed = {"kl_divergence": (1.0,), "max_divergence": (math.inf,)}.get(name, arguments)
    return _renyi(terms, *fixed, **options)


def _renyi(terms: CountedReleases, order: Any, **options: Any) -> Any:
    if np.iscomplexobj(order) and np.any(np.imag(order)):
        raise UnsupportedError(
            "at a complex order there is no largest divergence over all mechanisms of a bounded range: ask at a real order"
        )
    others = _others(terms, "renyi", (order.real if isinstance(order, complex) else order,), options)
    if not isinstance(others, Bounds):
        return _sum(terms, others, float(np.real(order)))
    answers, orders = np.empty(others.shape, dtype=object), np.asarray(order, dtype=float)
    for place in np.ndindex(others.shape):
        answers[place] = _sum(terms, others[place], float(orders[place]))
    return Bounds(answers)


def _sum(terms: CountedReleases, others: Bound, order: float) -> Bound:
    """The divergence of all other releases, plus those of the steps."""
    found = [(step, count) for _, family, count in terms if family and (step := family.divergence(order))]
    low, high = (sum(count * step[side] for step, count in found) for side in (0, 1))
    room = 4 * ULP * (1 + len(found))
    ends = [
        end + sign * room * (abs(end) + abs(step)) if math.isfinite(end) else end
        for end, sign, step in ((others.lower + low, -1, low), (others.upper + high, 1, high))
    ]
    lower, upper = ends
    value = min(max(others.value + (low + high) / 2, lower), upper)
    width = upper - lower - others.width if math.isfinite(lower + upper) else 0.0
    rounding = others.ledger.rounding + Entry(max(width, 0.0))
    answer = replace(others, lower=lower, value=value, upper=upper, ledger=replace(others.ledger, rounding=rounding))
    if math.isinf(lower):
        return replace(answer, status=Status.DIVERGENT)
    # the divergence of the best member is known, or lies in a bracket
    return (
        answer
        if high - low <= _ROUNDED * abs(high)
        else replace(answer, status=Status.BRACKET, method=METHOD, proofs=OF_FAMILY)
    )


def moments_above(terms: CountedReleases, z: Array, rtol: float) -> list[Array]:
    """Upper bounds of K(z) = z D_{1+z} of a composition at several z > 0, by orders of the pair; once if both agree."""
    rest: list[Mechanism] = []
    total = np.zeros(z.size)
    for one, family, count in terms:
        known = None if family is None else family.moments_above(z)
        if known is None:
            rest.append(count * one)
        else:
            total = total + count * known
    laws = [law.with_omitted_mass() for _, law in compose(rest)._loss().orders(None)] if rest else []
    found = [total + log_moments_above(law, z, rtol) for law in laws] or [total]
    return [np.asarray(one * (1 + 4 * ULP * (1 + len(terms)))) for one in found]


def _others(terms: CountedReleases, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The answer for all releases whose largest divergences are not known: between fixed members and the hulls."""
    rest = [(one, family, count) for one, family, count in terms if family is None or family.divergence(1.0) is None]
    question = getattr(Questions, name)
    if not rest:
        return question(Composition((), terms[0][0].adjacency), *arguments, **options)
    above = question(compose(count * one for one, _, count in rest), *arguments, **options)
    if all(family is None for _, family, _ in rest):
        return above
    fixed = compose(count * one if family is None else family.fixed(count) for one, family, count in rest)
    return between([above], getattr(fixed, name)(*arguments, **options), proofs=OF_FAMILY)


class _Rho:
    """The supremum of (D_a - xi)/a over a > 1, from chords of K, which is convex."""

    def __init__(self, terms: CountedReleases, direction: Any) -> None:
        self._terms, self._options = terms, {"direction": direction}

    def smallest(self, xi: float = 0.0, *, rtol: float = 1e-6) -> Bound:
        """The smallest rho, between bounds."""
        xi, rtol = check.nonnegative("xi", xi), check.tolerance("rtol", rtol)
        others = _others(self._terms, "zcdp", (xi,), {**self._options, "rtol": rtol})
        known = [one for one in self._terms if one[1] and one[1].divergence(1.0)]
        if not known or not math.isfinite(others.upper):
            return others  # type: ignore[no-any-return]
        # above the last order, the divergences of the steps are bounded by their largest losses, and by lines
        end = float(_renyi(known, math.inf).upper)
        lines = [(count, family.line()) for _, family, count in known if family]
        offset, slope = (sum(count * line[k] for count, line in lines) * (1 + 4 * ULP) for k in (0, 1))
        # others may have used up xi
        offset = max(offset - xi, 0.0) if len(known) == len(self._terms) else offset
        z, lows, highs = np.zeros(0), np.zeros(0), np.zeros(0)
        mean = self._at(np.zeros(1))
        fresh, lower, upper = _FIRST, max(float(mean[0][0]) - xi, others.lower, 0.0), math.inf
        for _ in range(_ROUNDS):
            low, high = self._at(fresh)
            order = np.argsort(np.append(z, fresh))
            z, lows, highs = (np.append(*pair)[order] for pair in ((z, fresh), (lows, low), (highs, high)))
            lower = max(lower, float(np.max((lows - xi) / (z + 1))))
            tops = chord_tops(z, highs * z, xi)
            last = others.upper + min(end / (z[-1] + 1), slope + offset / (z[-1] + 1))
            upper = min(max(float(highs[0]) - xi, float(tops.max()), last, 0.0), others.upper + slope + offset)
            # where the lower and the upper end are those of different members, more chords bring them no closer
            least = max(lower, float(np.max((highs - xi) / (z + 1))))
            halved = tops > least * (1 + rtol / 2)
            fresh = ((z[1:] + z[:-1]) / 2)[halved]
            if not fresh.size or upper <= least * (1 + rtol / 2) or math.isinf(upper):
                break
        lower, upper = lower * (1 - 16 * ULP), upper * (1 + 16 * ULP)
        found = replace(others, lower=lower, value=lower + (upper - lower) / 2, upper=upper, method="chords")
        return relatively(replace(found, ledger=Ledger(truncation=Entry(upper - lower))), rtol)

    def _at(self, z: Array) -> tuple[Array, Array]:
        found = _renyi(self._terms, 1 + z, **self._options)
        return found.lower, found.upper
