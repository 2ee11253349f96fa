"""The sparse vector technique: which of many queries are above a noisy threshold.

notation: s the sensitivity; r the noise of the threshold, drawn once; b the scale of the Laplace noise of each query. "Above"
is answered where query + noise >= threshold + r, up to c times.

Theorem. For queries a under P and a' under Q that differ by at most s, chosen in advance or by earlier answers, the answers are
dominated by the pair of r + s and r, composed with c of the pairs of :mod:`logphi.pairs.answers_above` of shift 2s/b.

Proof. Let the adversary also see r + s under P, and r under Q: two laws that are s apart. Given this number z, a query is
answered by "above" where its noise is at least threshold + z - s - a under P, and threshold + z - a' under Q. The former is
smaller by a - a' + s, which is between 0 and 2s. So P's query is the larger one, by at most 2s, and adaptive composition ([AFA]
Theorem 10) gives the claim. It also holds with P and Q exchanged, so that every profile is below this one and below its
reversal, and hence below their hull.

Monotone: if a' <= a <= a' + s for all queries, the adversary sees r itself in both cases, and the shift is s/b: only the c
pairs are left. In the other direction it sees r + s with Q's queries, and threshold + z - s - a' <= threshold + z - a: the
shift is at most s/b again, and the pair of the threshold noise remains.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from logphi.algebra.attacks import Attack
from logphi.algebra.families import Dominated
from logphi.algebra.profile_points import FARTHEST, places, upper_profile
from logphi.algebra.release import Mechanism, Primitive
from logphi.answers.status import Direction
from logphi.arith.floats import ULP
from logphi.convex.hull import exponential
from logphi.inputs import check
from logphi.inputs.adjacency import PRESENCE
from logphi.inputs.arguments import ADD_REMOVE, Real, RealOrNone, Relation, Whole, default, frozen
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.laplace import Laplace
from logphi.pairs.answers_above import answer_above
from logphi.pairs.extremes import noisy
from logphi.pairs.pair import Pair
from logphi.pairs.pair_above import Point, pair_above
from logphi.pairs.threshold_questions import LARGEST_MOVE, Threshold, split, survival
from logphi.text.written import meant

# measured: with so many points, epsilon is larger by less than 1e-3 of it
_POINTS = 160
# chosen: a tenth of that, relative to delta
_RTOL = 1e-4
# measured: down to this delta it is
_DEEPEST = 1e-20
# chosen: for monotone queries the points reach from minus the epsilon of this delta
_LEFT = 1e-12
# measured: numbers of tests of attacks that are sharp at deltas from 1e-2 to 1e-8
_TESTS = (4, 16)
# measured: where that is normal, as many at a level of so many scales of the queries' noise are sharper at 1e-6
_LEVEL = 2.0
# chosen: more answers are no longer sparse
_MOST_ANSWERS = 10**6


@frozen
class SparseVector(Dominated):
    """Answers which queries are above a noisy threshold, until c of them are (sparse vector, AboveThreshold): an upper bound.

    The threshold gets noise once, Laplace or Gaussian; each query gets fresh Laplace noise. Any number of queries may be asked,
    each chosen after earlier answers, with any public threshold. Answers are "above" or "below", and end with the c-th "above".
    If a number is released with an answer, that is a release of its own.

    Pair: that of the threshold noise, shifted by s, composed with c pairs of the worst questions until one answer "above", in
    which P's query is larger by at most 2s, or s for monotone queries. As the bound holds in both directions, the pair is the
    hull of its profile and of the reversed one, rounded up to a few hundred outcomes. Losses are at most
    s / (threshold scale) + 2 c s / (query scale), or with c s for monotone queries: the pure guarantee of Lyu, Su & Li, on
    which this profile improves. The technique need not attain the pair, which also shows the noisy threshold: answers are
    brackets, whose lower ends known queries attain (:mod:`logphi.pairs.threshold_questions`). For one answer "above" epsilon
    is nearly attained at a delta of 1e-6, and a fifth to a half of it at 1e-2; for many answers, a quarter to a half.
    Where the threshold noise is Gaussian, deltas below 1e-20 are less sharp.

    Parameters
    ----------
    query_scale
        Scale of the Laplace noise of each query; at 0, without noise, everything leaks.
    threshold_scale
        Scale of the Laplace noise of the threshold; or give
    threshold_sigma
        the standard deviation of its Gaussian noise.
    sensitivity
        Sensitivity s of each query; at 0 nothing leaks.
    answers
        The number c of answers "above" after which it stops, from 1 to 10^6. If the threshold gets fresh noise after each of
        them, it is ``c * SparseVector(..., answers=1)``.
    monotone
        True if no query is smaller with the record than without it, as for counts. Under relations in which a record takes
        another value: if a change of one record changes all queries in the same direction.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or not exactly one noise of the threshold is given.

    References
    ----------
    Lyu, Su & Li 2017, *Understanding the Sparse Vector Technique for Differential Privacy* (the pure guarantee); Zhu & Wang
    2020, *Improving Sparse Vector Technique with Renyi Differential Privacy* (Gaussian noise).

    Examples
    --------
    >>> counts = SparseVector(query_scale=20, threshold_scale=10, answers=30, monotone=True)
    >>> print(f"{counts.epsilon(0).upper:.4f} {counts.epsilon(1e-6).upper:.4f}")
    1.6000 1.2822
    """

    query_scale: Real
    threshold_scale: RealOrNone = default(None)
    threshold_sigma: RealOrNone = default(None)
    sensitivity: Real = default(1.0)
    answers: Whole = default(1)
    monotone: bool = False
    adjacency: Relation = ADD_REMOVE
    _grows: ClassVar = ("sensitivity",)
    _hints: ClassVar = {
        "scale": "query_scale= and threshold_scale=",
        "c": "answers=",
        "epsilon": "threshold_scale=sensitivity/epsilon_1 and query_scale=2*answers*sensitivity/epsilon_2",
    }

    def __post_init__(self) -> None:
        given = {
            "query_scale": self.query_scale,
            "threshold_scale": self.threshold_scale,
            "threshold_sigma": self.threshold_sigma,
        }
        widths = {name: None if one is None else check.nonnegative(name, one) for name, one in given.items()}
        if (widths["threshold_scale"] is None) is (widths["threshold_sigma"] is None):
            raise ValueError(
                "exactly one of threshold_scale and threshold_sigma must be given, got "
                f"threshold_scale={self.threshold_scale!r} and threshold_sigma={self.threshold_sigma!r}: the noise of the "
                "threshold is Laplace or Gaussian; without noise of its own everything leaks"
            )
        self._settle(
            **widths,
            sensitivity=check.nonnegative("sensitivity", self.sensitivity),
            answers=check.whole("answers", self.answers, 1, _MOST_ANSWERS),
            monotone=check.flag("monotone", self.monotone),
        )
        if not self._extreme:
            for name, width in widths.items():
                if width is not None:
                    check.moderate(f"sensitivity / {name}", float(self.sensitivity) / width)

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise, or of queries with sensitivity zero."""
        widths = (self.query_scale, self.threshold_scale, self.threshold_sigma)
        return noisy(self.sensitivity, min(one for one in widths if one is not None))

    def pair(self) -> Pair:
        """The hull of the bounds of both directions."""
        if extreme := self._extreme:
            return extreme
        moves = meant(self.sensitivity) / meant(self.query_scale) * (1 if self.monotone else 2)
        noise = self._threshold_noise()
        return _hull(float(moves) * (1 + ULP), noise, self.answers, self.monotone and self.adjacency in PRESENCE)

    def _attacks(self, *, sampled: bool = False) -> list[Mechanism]:
        """Those of :mod:`logphi.pairs.threshold_questions`: the queries depend on the one record only."""
        # a query that moves by less is allowed, too
        size = min(float(meant(self.sensitivity) / meant(self.query_scale)) * (1 - ULP), LARGEST_MOVE)
        width = (self.threshold_sigma if self.threshold_scale is None else self.threshold_scale) or 0.0
        noise = Threshold(float(meant(width) / meant(self.query_scale)), self.threshold_scale is None)
        moves = [(0.0, size), (size, 0.0)] if self.monotone else [(-size, size)]
        found = [split(noise, one, self.answers) for one in moves] if self.answers > 1 else []
        tests = [(number, 0.0) for number in _TESTS] + ([(_TESTS[-1], _LEVEL)] if noise.normal else [])
        found += [survival(noise, one, self.answers, *how) for how in tests for one in moves]
        if not self.monotone or self.adjacency not in PRESENCE:
            # with and without the record may be exchanged
            found += [pair.reversed() for pair in found]
        return [Attack(pair, self.adjacency) for pair in found]

    def _threshold_noise(self) -> Mechanism:
        if self.threshold_scale is None:
            return Gaussian(self.threshold_sigma, self.sensitivity)  # type: ignore[arg-type]
        return Laplace(self.threshold_scale, self.sensitivity)


@frozen
class AnswerAbove(Primitive):
    """The questions until one answer "above", as a mechanism."""

    shift: Real
    adjacency: Relation = ADD_REMOVE
    _undescribed: ClassVar = "it is a bound of another release"

    def pair(self) -> Pair:
        """The pair of the worst questions."""
        return answer_above(self.shift)


@lru_cache(maxsize=64)
def _hull(shift: float, noise: Mechanism, answers: int, oriented: bool) -> Pair:
    """The pair below the bounds of both directions; ``oriented`` if in one of them the threshold noise does not count."""
    alone = answers * AnswerAbove(shift)
    both = noise + alone
    if not oriented:
        # at negative epsilons the bound of the reversed pair is smaller
        points = _points(both, 0.0)
        return pair_above(points, points)
    first = -min(float(both.epsilon(_LEFT, direction=Direction.REMOVE).upper), FARTHEST / 4)
    return pair_above(_points(alone, first), _points(both, first))


def _points(release: Mechanism, first: float) -> list[Point]:
    """Points of the profile in direction remove."""
    tried = places(release, first, Direction.REMOVE, _POINTS, _DEEPEST)
    bounds = upper_profile(release, tried, Direction.REMOVE, _RTOL)
    found = zip(tried.tolist(), bounds.tolist(), strict=True)
    return [(exponential(Fraction(x)), Fraction(bound)) for x, bound in found if bound < 1 and x < FARTHEST]
