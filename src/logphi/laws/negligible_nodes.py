"""The parts of a line on which a transform is proved to be negligible, found by dividing the line into blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.laws.block_envelope import MARGIN
from logphi.laws.transform import LossTransform

# chosen: the number of blocks at first, of parts of a block that is not negligible, and of nodes in the smallest block
_BLOCKS, _PARTS, _SMALLEST = 64, 8, 16
# measured: more blocks take longer than the nodes; a last block below this share of the line counts as short
_MOST, _LAST = 1 << 14, 1e-2
# measured: the speedup of equally spaced blocks
_SPARED = 8
# chosen: the heights from which the share of relevant blocks is estimated, spread by the golden ratio; nodes in the smallest
# block, and its multiples that are tried as the first size
_SAMPLE = 64
_FINEST, _SIZES = 4, 4 ** np.arange(12)
# measured: with more blocks, or a larger share of relevant ones, a line takes as long as one with all nodes
_MOST_BLOCKS, _MOST_RELEVANT = 1 << 21, 0.25


def negligible_from(law: LossTransform, abscissa: float, step: float, size: int, log_floor: float) -> int:
    """The first node from which |M|/M(c) is at most e^log_floor at all nodes of a line; its size if there is none."""
    radius = step * size / (2 * _BLOCKS)
    centres = np.asarray(radius * (2.0 * np.arange(_BLOCKS) + 1), dtype=np.float64)
    while True:
        centres = centres[~(law.log_block(abscissa, centres, radius * (1 + MARGIN)) <= log_floor)]
        if not centres.size:
            return 0
        first = min(int((centres[-1] + radius) * (1 + MARGIN) / step) + 1, size)
        if radius <= _SMALLEST * step or first <= _SMALLEST * _BLOCKS or centres.size > _MOST:
            return first
        # no subdivision makes the last block negligible if its centre is not
        if not law.log_block(abscissa, centres[-1:], 0.0)[0] <= log_floor and radius < _LAST * step * size:
            return first
        radius /= _PARTS
        # equally spaced blocks are faster together, unless there are far more of them
        all_of_them = np.ceil(first * step / (2 * radius))
        if all_of_them <= _SPARED * _PARTS * centres.size:
            centres = np.asarray(radius * (2.0 * np.arange(all_of_them) + 1), dtype=np.float64)
        else:
            centres = (centres[:, None] + radius * (2.0 * np.arange(_PARTS) + 1 - _PARTS)).ravel()


def relevant_share(
    law: LossTransform, abscissa: float, step: float, size: int, log_floor: float, nodes: int = _FINEST
) -> float:
    """An estimate of the share of blocks of so many nodes on a line that are not proved negligible."""
    spread = np.sort((np.arange(1, _SAMPLE + 1) * ((5**0.5 - 1) / 2)) % 1.0) * (step * size)
    return float((~_negligible(law, abscissa, spread, step, nodes, log_floor)).mean())


def relevant_blocks(
    law: LossTransform, abscissa: float, step: float, size: int, log_floor: float
) -> tuple[NDArray[np.int64], int] | None:
    """The blocks of a line in which |M|/M(c) may be above e^log_floor: their first nodes, and their length in nodes.

    None if they are too many to be worth it. The estimated share chooses the size of the first blocks, and no more.
    """
    nodes, least, work = 0, 1.0, np.inf
    for many in _FINEST * _SIZES[size >= _FINEST * _SIZES]:
        share = relevant_share(law, abscissa, step, size, log_floor, int(many))
        least = min(least, share)
        if share > least + 0.5:
            break
        cost = size / many * (1 + 4 * _SPARED * share)
        if cost < work:
            nodes, work = int(many), cost
    if least > _MOST_RELEVANT or work > _MOST_BLOCKS:
        return None
    firsts = nodes * np.arange(-(-size // nodes), dtype=np.int64)
    while True:
        centres = np.asarray(step * (firsts + (nodes - 1) / 2), dtype=np.float64)
        held = ~_negligible(law, abscissa, centres, step, nodes, log_floor)
        # half of the first node is the height zero
        held[0] = True
        firsts = firsts[held]
        if nodes <= _FINEST:
            return firsts, nodes
        nodes //= 4
        firsts = (firsts[:, None] + nodes * np.arange(4)).ravel()
        if firsts.size > _MOST_BLOCKS:
            return None


def _negligible(
    law: LossTransform, abscissa: float, centres: Array, step: float, nodes: int, log_floor: float
) -> NDArray[np.bool_]:
    """Whether blocks of so many nodes around some heights are proved negligible."""
    return np.asarray(law.log_block(abscissa, centres, step * (nodes - 1) / 2 * (1 + MARGIN)) <= log_floor)
