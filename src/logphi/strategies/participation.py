"""In which steps one record takes part: at most so many, any two of them so many steps apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.inputs import check

Places = NDArray[np.intp]

# chosen: numbers held at once while patterns are listed
_MOST_LISTED = 5_000_000


@dataclass(frozen=True)
class Participation:
    """Patterns of at most ``most`` steps out of ``steps``, any two at least ``separation`` apart.

    ``most`` is never larger than what fits. The three methods look for the pattern with the largest sum of non-negative
    weights, each of a step or of a pair of them; they give that sum, or a bound of it, and a pattern.
    """

    steps: int
    most: int
    separation: int

    @classmethod
    def of(cls, steps: int, participations: Any, separation: Any) -> Participation:
        """Checked; without a number of participations, as many as the separation admits."""
        apart = check.whole("separation", separation, 1, 10**9)
        fitting = -(-steps // apart)
        if participations is None:
            return cls(steps, fitting, apart)
        return cls(steps, min(check.whole("participations", participations, 1, 10**9), fitting), apart)

    def earliest(self) -> Places:
        """The first step, and every further one as soon as it may be."""
        return np.arange(self.most) * self.separation

    def of_steps(self, weights: Array) -> tuple[float, Places]:
        """The largest sum of the weights of steps, by dynamic programming over the number of participations."""
        return self._chain([weights] * self.most)

    def of_pairs(self, gram: Array) -> tuple[float, Places] | None:
        """The largest sum of a symmetric matrix over the pairs of a pattern, each taken twice; None if there are too many."""
        rows, sums = np.arange(self.steps)[:, None], np.diag(gram).copy()
        best, places, listed = float(np.max(sums)), rows[np.argmax(sums)], self.steps
        for taken in range(1, self.most):
            last = rows[:, -1]
            room = np.maximum(self.steps - self.separation - last, 0)
            listed += int(room.sum()) * (taken + 1)
            if listed > _MOST_LISTED:
                return None
            source = np.repeat(np.arange(len(rows)), room)
            if not len(source):
                break
            within = np.arange(len(source)) - np.repeat(np.cumsum(room) - room, room)
            place = last[source] + self.separation + within
            sums = sums[source] + gram[place, place] + 2 * gram[rows[source], place[:, None]].sum(axis=1)
            rows = np.column_stack([rows[source], place])
            if np.max(sums) > best:
                best, places = float(np.max(sums)), rows[np.argmax(sums)]
        return best, places

    def of_pairs_at_most(self, gram: Array) -> tuple[float, Places]:
        """A bound of the same sum, and a pattern near it.

        The step that is t-th in a pattern has t - 1 before it, whose pairs with it weigh at most as much as the heaviest
        t - 1 before it do, whichever the pattern. With this as the weight of step and place, sums over steps remain. It is the
        answer where the heaviest predecessors are always the nearest ones, and these weigh most at the first step.
        """
        apart, diagonal = self.separation, np.diag(gram)
        weights, before = [diagonal], np.zeros_like(gram)
        late = np.arange(apart, self.steps)
        for _ in range(1, self.most):
            # the heaviest predecessors of each row's step, at most as many as the round and none after the column's
            taken = gram.copy()
            taken[:, apart:] += before[:, :-apart]
            before = np.maximum.accumulate(taken, axis=1)
            weight = diagonal.copy()
            weight[apart:] += 2 * before[late, late - apart]
            weights.append(weight)
        return self._chain(weights)

    def _chain(self, weights: list[Array]) -> tuple[float, Places]:
        """The largest sum of the t-th weight of the t-th step of a pattern, over its steps."""
        sums, best, found, origins = weights[0], -np.inf, (0, 0), []
        for place, weight in enumerate(weights):
            if place:
                leading = np.maximum.accumulate(sums)
                origin = np.maximum.accumulate(np.where(sums == leading, np.arange(self.steps), 0))
                origins.append(origin)
                sums = np.full(self.steps, -np.inf)
                sums[self.separation :] = weight[self.separation :] + leading[: -self.separation]
            if np.max(sums) > best:
                best, found = float(np.max(sums)), (place, int(np.argmax(sums)))
        place, step = found
        places = [step]
        for origin in reversed(origins[:place]):
            places.append(int(origin[places[-1] - self.separation]))
        return best, np.array(places[::-1])
