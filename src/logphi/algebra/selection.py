"""The best of a random number of runs, as in tuning: an upper bound with its proof, and an attack.

notation: K runs, K independent of the data, f(x) = E x^K; (P, Q) the pair of one run, T its trade-off function, delta its
profile. Each output has a score, which is a function of it; of all K outputs the one with the best score is released. Ties are
broken at random, as if each output came with a random number, so that no two scores are equal.

Theorem. With r the supremum over x of f'(1 - T(x)) / f'(x),

    delta_selected(eps) <= f'(1) delta(eps - log r),     f'(1) = E K.

Proof. Let F be the probability under P that a run has a lower score than an output y, G that under Q. y is the best of k with
the density k p(y) F^{k-1}, so that the selected output has the density p f'(F) under P and q f'(G) under Q. "Lower than y" is a
test of P against Q, hence F <= 1 - T(G), and f'(F) <= f'(1 - T(G)) <= r f'(G), as f' grows. So

    p f'(F) - e^eps q f'(G) <= f'(F) (p - e^{eps - log r} q) <= f'(1) (p - e^{eps - log r} q)_+ ,

and the integral of the positive part is the claim. Where K = 0 nothing is released, as likely under P as under Q, which adds
P(K = 0) (1 - e^eps) where that is positive: for Poisson laws the claim holds at eps >= 0. The same holds with P and Q
exchanged, where T is the trade-off function of that order.

r. Of the truncated negative binomial law f'(1 - T) / f'(x) is ((1 - c x) / (gamma + c T))^{eta + 1}, c = 1 - gamma, which is at
most e^{s (eta + 1)} for all x where T(x) >= (e^{-s} (1 - c x) - gamma) / c, a line of slope -e^{-s}. The best such line below T
is 1 - delta(-s) - e^{-s} x, and with delta(-s) = 1 - e^{-s} + e^{-s} delta_reversed(s) the condition is

    delta_reversed(s) <= (e^s - 1) gamma / (1 - gamma):

any such s >= 0 will do, and the least is the best. Of the Poisson law log r = (E K) sup(1 - T(x) - x) = (E K) delta(0).

The claims of both directions bound the profile, so that the hull of such points is the profile of a dominating pair, and these
compose. The bound need not be attained. The lower end is an attack: runs whose score is their own log(p/q). The events that the
selected score is above y have the probabilities 1 - f(T(x)) under P and 1 - f(1 - x) under Q.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np

from logphi.algebra.attacks import attained_part
from logphi.algebra.bracketed import Bracketed
from logphi.algebra.by_others import Proofs
from logphi.algebra.families import lower, terms_of
from logphi.algebra.profile_points import FARTHEST, lower_and_upper_profile, places, upper_profile
from logphi.algebra.release import Mechanism, Primitive, operand
from logphi.algebra.selected_divergences import ORDERS, SelectedDivergences
from logphi.answers.status import Direction
from logphi.arith.floats import ULP
from logphi.convex.hull import Hull, exponential
from logphi.convex.lower_hull import hull_below
from logphi.inputs.adjacency import Adjacency
from logphi.inputs.arguments import Real, frozen
from logphi.pairs.finite import FinitePair
from logphi.pairs.pair import Pair
from logphi.pairs.pair_above import MASS_ERROR, Point, pair_above
from logphi.sampling.repetitions import Repetitions
from logphi.text.description import node, numbers_in

# measured: this number of points adds less than 1e-5 to epsilon, in a second or two
_POINTS = 4096
# measured: with this number of tests, the epsilon of the attack agrees with that of all tests to four digits
_TESTS = 1024
# chosen: far above the rounding of ratios of likelihoods, relatively
_TIED = 1 + Fraction(1, 10**9)
# derived: far above the rounding of places and bounds
_MARGIN = Fraction(1, 10**15)
# chosen: the search raises log r by less than 1e-7 of t
_HALVINGS = 24
# both orders of a pair
_BOTH = (Direction.REMOVE, Direction.ADD)


@frozen
class Selected(Bracketed, Primitive):
    """The best of a random number of runs; made by :meth:`Mechanism.repeat_and_select`."""

    base: Mechanism
    mean: Real
    shape: Real
    adjacency: Adjacency
    _no_pair = (
        "the best of many runs on one sample is not known: sample the run that is repeated, "
        "m.poisson(rate).repeat_and_select(...)"
    )

    @cached_property
    def cover(self) -> Mechanism:
        """A mechanism with the bounds of the theorem."""
        return SelectionCover(self.base, self.mean, self.shape, self.adjacency)

    @cached_property
    def attack(self) -> Mechanism:
        """The selection whose score is the likelihood ratio."""
        return SelectionAttack(self.base, self.mean, self.shape, self.adjacency)

    def _moment_above(self, name: str, asked: float, direction: Direction) -> float:
        """From the moments of one run, for orders above 0."""
        known = self._divergences[direction]
        if name == "zcdp":
            return known.smallest_rho(asked)
        return known.at(asked, float(self.base.renyi(asked, direction=direction).upper))

    @cached_property
    def _divergences(self) -> dict[Direction, SelectedDivergences]:
        runs, found = Repetitions.of(float(self.mean), float(self.shape)), {}
        for order, reverse in (_BOTH, _BOTH[::-1]):
            of_run = np.asarray(self.base.renyi(ORDERS, direction=order).upper)
            rho = float(self.base.zcdp(direction=order).upper)
            found[order] = SelectedDivergences(runs, _log_ratio(self.base, runs, order, reverse), of_run, rho)
        return found

    @property
    def _proofs(self) -> Proofs:
        return "the selection whose score is the likelihood ratio", "the hull of upper bounds of the profile"

    @property
    def _unanswered(self) -> str:
        return "the loss of the best of many runs is not known"

    def _text(self, spell: Callable[[Any], str]) -> str:
        shape = f", shape={spell(self.shape)}" if self.shape != 1 else ""
        return f"{operand(self.base, spell)}.repeat_and_select({spell(self.mean)}{shape})"

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        given = {"mean": self.mean, "shape": self.shape}
        return node("repeat_and_select", self.adjacency.value, given, write, self.base._data(write))

    def _numbers(self) -> Iterator[float]:
        return chain(numbers_in([self.mean, self.shape]), self.base._numbers())

    def _parts(self) -> tuple[Mechanism, ...]:
        return (self.base,)

    def _assumptions(self) -> Iterator[str]:
        yield (
            "That the number of runs is drawn as stated, whatever the data are, and that of all runs only the best output is "
            "released, by a score that depends on the output alone."
        )

    def _grouped(self, size: int) -> Mechanism:
        grouped: Mechanism = self.base.group(size).repeat_and_select(self.mean, self.shape)
        return grouped

    def _uncertified(self) -> str:
        return next((why for one, _ in self.base.counted() if (why := one._uncertified())), "")


@frozen
class _SelectionPair(Primitive):
    """A mechanism whose pair dominates the best of many runs, or is dominated by it."""

    base: Mechanism
    mean: Real
    shape: Real
    adjacency: Adjacency

    def pair(self) -> Pair:
        """The pair, which is computed once."""
        return self._pair

    @cached_property
    def _pair(self) -> Pair:
        return self._pair_of(Repetitions.of(float(self.mean), float(self.shape)))

    @abstractmethod
    def _pair_of(self, runs: Repetitions) -> Pair: ...


class SelectionCover(_SelectionPair):
    """A mechanism that dominates the best of a random number of runs, by the hull of the bounds of both directions."""

    _undescribed = "it is a hull of upper bounds"

    def _pair_of(self, runs: Repetitions) -> Pair:
        points = self._points(runs, Direction.REMOVE, Direction.ADD)
        same = not self.base._bracketed and self.base.loss_law().traits.symmetric
        added = points if same else self._points(runs, Direction.ADD, Direction.REMOVE)
        return pair_above(points, added)

    def _points(self, runs: Repetitions, order: Direction, reverse: Direction) -> list[Point]:
        """Places e^eps, and bounds of the profile of the selected output there."""
        shift = _log_ratio(self.base, runs, order, reverse)
        # at smaller epsilons the bound does not hold, or is at least the mean times 1 - e^eps, which is one or more
        first = -shift if runs.poisson else max(math.log1p(-1 / runs.mean), -FARTHEST / 4) if runs.mean > 1 else -FARTHEST / 4
        tried = places(self.base, first, order, _POINTS)
        # sums round half an ulp
        epsilons = (tried + shift) + 2 * ULP * (np.abs(tried) + shift)
        deltas = upper_profile(self.base, tried, order)
        mean = Fraction(runs.mean) * (1 + Fraction(1, 2**50))
        return [
            (exponential(Fraction(epsilon)), mean * Fraction(delta))
            for epsilon, delta in zip(epsilons.tolist(), deltas.tolist(), strict=True)
            if delta * runs.mean < 1 and epsilon < FARTHEST and (epsilon >= 0 or not runs.poisson)
        ]


def _log_ratio(base: Mechanism, runs: Repetitions, order: Direction, reverse: Direction) -> float:
    """An upper bound of log r."""
    if runs.poisson:
        return runs.mean * float(base.delta(0.0, direction=order).upper) * (1 + 4 * ULP)
    low, high = 0.0, runs.high
    for _ in range(_HALVINGS):
        s = (low + high) / 2
        allowed = math.expm1(s) / math.expm1(runs.high) * (1 - 16 * ULP)
        low, high = (low, s) if upper_profile(base, np.array([s]), reverse)[0] <= allowed else (s, high)
    # s = t, where the search begins, always satisfies the condition: e^t - 1 is (1 - gamma) / gamma, and no delta exceeds one
    return high * (runs.shape + 1) * (1 + 8 * ULP)


class SelectionAttack(_SelectionPair):
    """The best run by its own log(p/q): the pair with a trade-off curve through the errors of a few tests."""

    _undescribed = "it is one of many attacks"

    def _pair_of(self, runs: Repetitions) -> Pair:
        power, chance = (np.array([float(one) for one in tails]) for tails in self._tests())
        power, chance = runs.selected(power, upper=False), runs.selected(chance, upper=True)
        points = [(Fraction(x), 1 - Fraction(y)) for x, y in zip(chance.tolist(), power.tolist(), strict=True)]
        vertices = Hull.of([*points, (Fraction(1), Fraction(0))]).vertices
        p = [float(here[1] - there[1]) for here, there in pairwise(vertices)]
        q = [float(there[0] - here[0]) for here, there in pairwise(vertices)]
        return FinitePair((*p, 0.0), (*q, float(1 - vertices[-1][0])), MASS_ERROR)

    def _tests(self) -> tuple[list[Fraction], list[Fraction]]:
        """Probabilities under P and Q that log(p/q) of one run is large, for a pair that the run dominates."""
        order, terms = Direction.REMOVE, terms_of(self.base)
        # no single member of a family attains the whole profile, and no single attack does
        base = lower(terms)[0] if any(family is not None for _, family, _ in terms) else attained_part(self.base)
        tried = places(base, -FARTHEST / 4, order, _TESTS)
        lows, highs = lower_and_upper_profile(base, tried, order)
        known = [
            # a^eps is rounded up in its sixtieth digit, which the margin covers
            (exponential(Fraction(place)), max(Fraction(low) * (1 - _MARGIN) - _MARGIN**3, Fraction(0)), Fraction(high))
            for place, low, high in zip(tried.tolist(), lows.tolist(), highs.tolist(), strict=True)
        ]
        p, q = (mass[::-1] for mass in hull_below(known, Fraction(0), Fraction(1)).pair())
        # outcomes whose ratios agree but for rounding are one: a test between them would break ties by a number of its own
        ends = [place for place in range(len(p) - 1) if p[place] * q[place + 1] > p[place + 1] * q[place] * _TIED]
        power, chance = (list(accumulate(mass)) for mass in (p, q))
        return [power[end] for end in (*ends, -1)], [chance[end] for end in (*ends, -1)]
