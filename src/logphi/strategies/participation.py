"""The patterns of steps in which one record may take part: how many at most, and how far apart at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.inputs import check

Places = NDArray[np.intp]

# chosen: the most numbers held in memory while patterns are listed
_MOST_LISTED = 5_000_000
# chosen: the most operations for exact numbers of predecessors, some seconds
_MOST_COUNTED = 100_000_000
# chosen: no number of steps is larger
_LARGEST = 10**9


@dataclass(frozen=True)
class Participation:
    """Patterns of at most ``most`` steps out of ``steps``, any two at least ``separation`` apart.

    ``most`` is at most what fits into the steps. Three methods search the pattern with the largest sum of non-negative weights,
    of steps or of pairs of steps; each returns this sum, or a bound of it, and a pattern.
    """

    steps: int
    most: int
    separation: int

    @classmethod
    def of(cls, steps: int, participations: Any, separation: Any, period: Any = None) -> Participation:
        """The patterns by checked numbers; by default as many participations as fit, and a separation of 1.

        Raises
        ------
        ValueError, TypeError
            If a number is not a positive integer, or a period is given together with another number.
        """
        if period is not None:
            if participations is not None or separation is not None:
                raise ValueError(
                    f"give period alone, got participations={participations!r} and separation={separation!r} with "
                    f"period={period!r}: a record then takes part once in each period"
                )
            # with an epoch longer than all steps there is one participation
            apart = min(check.whole("period", period, 1, _LARGEST), steps)
            return Periodic(steps, -(-steps // apart), apart)
        apart = 1 if separation is None else check.whole("separation", separation, 1, _LARGEST)
        most = _LARGEST if participations is None else check.whole("participations", participations, 1, _LARGEST)
        return cls(steps, min(most, -(-steps // apart)), apart)

    def earliest(self) -> Places:
        """The pattern that begins at the first step and takes every further one as early as possible."""
        return np.arange(self.most) * self.separation

    def of_steps(self, weights: Array) -> tuple[float, Places]:
        """The largest sum of the weights of steps, by dynamic programming over the number of participations."""
        return self._chain([weights] * self.most)

    def of_pairs(self, gram: Array) -> tuple[float, Places] | None:
        """The largest sum of a symmetric matrix over all pairs of steps of a pattern; None if there are too many patterns."""
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

    def of_pairs_at_most(self, gram: Array, operations: int = _MOST_COUNTED) -> tuple[float, Places]:
        """A bound of the same sum, and a pattern with a large sum.

        The t-th step of a pattern has t - 1 predecessors, whose pairs with it weigh at most as much as the heaviest t - 1
        predecessors that the separation allows. With this bound as the weight of the step as t-th, a sum over steps remains.
        The bound is exact if the heaviest predecessors are always the nearest ones, and heaviest at the earliest steps. If
        counting predecessors takes more ``operations``, the bound uses as many as the separation allows.
        """
        diagonal = np.diag(gram)
        late = np.arange(self.separation, self.steps)

        def weight(before: Array) -> Array:
            heavy = diagonal.copy()
            heavy[self.separation :] += 2 * before[late, late - self.separation]
            return heavy

        if self.most * gram.size > operations:
            return self._chain([weight(self._heaviest(gram))] * self.most)
        weights, before = [diagonal], np.zeros_like(gram)
        for _ in range(1, self.most):
            # for each row, the largest weight of so many steps, none of them after the column's
            taken = gram.copy()
            taken[:, self.separation :] += before[:, : -self.separation]
            before = np.maximum.accumulate(taken, axis=1)
            weights.append(weight(before))
        return self._chain(weights)

    def _heaviest(self, gram: Array) -> Array:
        """For each row and column, the largest sum of the row over any steps up to the column's that the separation allows."""
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
        """The largest sum over a pattern, in which the t-th step has the t-th of the weights."""
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
    """Patterns of one step in each epoch, always at the same place; ``separation`` is the length of an epoch.

    They are also patterns of that separation, so that the bounds of those hold.
    """

    def of_steps(self, weights: Array) -> tuple[float, Places]:
        """The largest sum over one place of all epochs."""
        return self._best(self._by_epoch(weights).sum(axis=0))

    def of_pairs(self, gram: Array) -> tuple[float, Places]:
        """The largest sum over the pairs of one place of all epochs."""
        rows = self._by_epoch(gram)
        both = self._by_epoch(np.moveaxis(rows, -1, 0))
        return self._best(np.einsum("abcb->b", both))

    def _by_epoch(self, values: Array) -> Array:
        """The first axis as two: epochs, and places in an epoch; the last epoch is padded with zeros."""
        missing = self.most * self.separation - self.steps
        whole = np.concatenate([values, np.zeros((missing, *values.shape[1:]))])
        return whole.reshape(self.most, self.separation, *values.shape[1:])

    def _best(self, sums: Array) -> tuple[float, Places]:
        place = int(np.argmax(sums))
        return float(sums[place]), np.arange(place, self.steps, self.separation)
