"""The binary tree of partial sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from logphi.arrays import Array
from logphi.inputs import check
from logphi.strategies.matrix import LARGEST
from logphi.strategies.outward import root_above, root_below
from logphi.strategies.participation import Participation, Places
from logphi.strategies.strategy import Sensitivity, Strategy

# chosen: the most pairs of steps that the search of a pattern looks at
_MOST_PAIRS = 200_000


@dataclass(frozen=True)
class BinaryTree(Strategy):
    """The sums over all complete aligned blocks of 1, 2, 4, ... steps: a row for each block.

    A step is in at most floor(log2(steps)) + 1 blocks, which is the squared sensitivity for one participation. With several,
    the square is the sum over all blocks of (participations in the block)^2. At most ceil(s/b) that are b apart fit into a
    block of s steps. Among the blocks of one size, the sum is largest if as many blocks as possible are full. Summed over all
    sizes this is an upper bound, which a pattern attains unless full blocks of different sizes exclude each other.

    A tree that starts again in every epoch is a composition: ``epochs * lp.matrix_mechanism(BinaryTree(n), ...)``.

    Parameters
    ----------
    steps
        The number of leaves of the tree, not necessarily a power of two.

    Raises
    ------
    ValueError, TypeError
        If the number is not whole, or out of range.

    References
    ----------
    Dwork, Naor, Pitassi & Rothblum 2010; Chan, Shi & Song 2011 (the tree); Kairouz et al. 2021, *Practical and Private (Deep)
    Learning without Sampling or Shuffling* (training with it).

    Examples
    --------
    >>> from logphi.strategies import BinaryTree, sensitivity
    >>> BinaryTree(4).array().astype(int).tolist()
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]]
    >>> sensitivity(BinaryTree(2**15), participations=1).upper
    4.0
    """

    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", check.whole("steps", self.steps, 1, 10**9))

    @property
    def levels(self) -> int:
        """The number of different sizes of blocks."""
        return self.steps.bit_length()

    @property
    def bands(self) -> int:
        """The size of the largest block: columns this far apart have no row in common."""
        return 1 << (self.levels - 1)

    @property
    def diagonals(self) -> int | None:
        """None if there is a block of two steps, as the matrix is then not square."""
        return 1 if self.steps == 1 else None

    def array(self) -> Array:
        """The matrix, in order of the sizes of the blocks.

        Raises
        ------
        ValueError
            If there are too many steps for a table.
        """
        if self.steps > LARGEST:
            raise ValueError(
                f"a tree over {self.steps} steps is too large for a table, {LARGEST} at most: its rows are its blocks"
            )
        blocks = [np.repeat(np.eye(self.steps >> level), 1 << level, axis=1) for level in range(self.levels)]
        return np.vstack([np.pad(block, ((0, 0), (0, self.steps - block.shape[1]))) for block in blocks])

    def under(self, participation: Participation) -> Sensitivity:
        """See :class:`Strategy`."""
        square = sum(self._most(level, participation) for level in range(self.levels))
        low, places = self._found(participation)
        return Sensitivity(root_below(low, 0), root_above(square, 0), tuple(places.tolist()))

    def _most(self, level: int, participation: Participation) -> int:
        """The largest sum of squared participations over the blocks of one size, regardless of the other sizes."""
        full = min(participation.most, -(-(1 << level) // participation.separation))
        blocks = min(participation.most // full, self.steps >> level)
        rest = participation.most - blocks * full if blocks < self.steps >> level else 0
        return blocks * full**2 + rest**2

    def _found(self, participation: Participation) -> tuple[int, Places]:
        """The best of the patterns whose steps are as close together as the separation allows, over where they begin."""
        early = participation.earliest()
        tried = max(_MOST_PAIRS // len(early) ** 2, 1)
        starts = np.unique(np.linspace(0, self.steps - 1 - early[-1], tried).astype(int))
        places = starts[:, None] + early
        squares = np.zeros(len(starts), dtype=int)
        for level in range(self.levels):
            block = places >> level
            whole = block < self.steps >> level
            together = (block[:, :, None] == block[:, None, :]) & whole[:, :, None]
            squares += together.sum(axis=(1, 2))
        best = int(np.argmax(squares))
        return int(squares[best]), places[best]
