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
# chosen: operations while predecessors are counted, some seconds
_MOST_COUNTED = 100_000_000
# chosen: no number of steps is larger
_LARGEST = 10**9


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
    def of(cls, steps: int, participations: Any, separation: Any, period: Any = None) -> Participation:
        """Checked; without a number of participations, as many as the separation admits, and without that, of any steps.

        Raises
        ------
        ValueError, TypeError
            If a number is not whole and positive, or a period is given beside another.
        """
        if period is not None:
            if participations is not None or separation is not None:
                raise ValueError(
                    f"give period alone, got participations={participations!r} and separation={separation!r} beside "
                    f"period={period!r}: it says in which steps a record takes part, once a period"
                )
            # one place of every epoch, of which longer ones have no more
            apart = min(check.whole("period", period, 1, _LARGEST), steps)
            return Periodic(steps, -(-steps // apart), apart)
        apart = 1 if separation is None else check.whole("separation", separation, 1, _LARGEST)
        most = _LARGEST if participations is None else check.whole("participations", participations, 1, _LARGEST)
        return cls(steps, min(most, -(-steps // apart)), apart)

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
        answer where the heaviest predecessors are always the nearest ones, and these weigh most at the first step. Where it
        takes long to count them, as many are let in as the separation admits.
        """
        diagonal = np.diag(gram)
        late = np.arange(self.separation, self.steps)

        def weight(before: Array) -> Array:
            heavy = diagonal.copy()
            heavy[self.separation :] += 2 * before[late, late - self.separation]
            return heavy

        if self.most * gram.size > _MOST_COUNTED:
            return self._chain([weight(self._heaviest(gram))] * self.most)
        weights, before = [diagonal], np.zeros_like(gram)
        for _ in range(1, self.most):
            # each row's heaviest steps, none after the column's, at most as many as the round
            taken = gram.copy()
            taken[:, self.separation :] += before[:, : -self.separation]
            before = np.maximum.accumulate(taken, axis=1)
            weights.append(weight(before))
        return self._chain(weights)

    def _heaviest(self, gram: Array) -> Array:
        """Of each row, the largest sum over steps none of which is after the column's, as many as the separation admits."""
        before = np.zeros_like(gram)
        for start in range(0, self.steps, self.separation):
            block = slice(start, start + self.separation)
            before[:, block] = gram[:, block]
            if start:
                before[:, block] += before[:, start - self.separation : start][:, : before[:, block].shape[1]]
                np.maximum(before[:, block], before[:, start - 1 : start], out=before[:, block])
            before[:, block] = np.maximum.accumulate(before[:, block], axis=1)
        return before

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


@dataclass(frozen=True)
class Periodic(Participation):
    """Patterns of all steps that are multiples of the separation apart: one in every epoch, in the same place of each.

    They are among those of the same separation, so that bounds and patterns of these hold.
    """

    def of_steps(self, weights: Array) -> tuple[float, Places]:
        """The largest sum over a place of all epochs."""
        return self._best(self._by_epoch(weights).sum(axis=0))

    def of_pairs(self, gram: Array) -> tuple[float, Places]:
        """The largest sum over the pairs of a place of all epochs."""
        rows = self._by_epoch(gram)
        both = self._by_epoch(np.moveaxis(rows, -1, 0))
        return self._best(np.einsum("abcb->b", both))

    def _by_epoch(self, values: Array) -> Array:
        """The first axis as two: epochs, and places in an epoch; the last epoch is filled up with zeros."""
        missing = self.most * self.separation - self.steps
        whole = np.concatenate([values, np.zeros((missing, *values.shape[1:]))])
        return whole.reshape(self.most, self.separation, *values.shape[1:])

    def _best(self, sums: Array) -> tuple[float, Places]:
        place = int(np.argmax(sums))
        return float(sums[place]), np.arange(place, self.steps, self.separation)
