"""The parts of a line on which a transform is proved to be negligible, found by dividing the line into blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from logphi.arrays import Array
from logphi.laws.block_envelope import MARGIN
from logphi.laws.transform import LossTransform

# the first nodes of blocks, and their length in nodes
Blocks = tuple[NDArray[np.int64], int]

# chosen: the number of parts of a block that is not negligible
_PARTS = 4
# chosen: the number of blocks with which the search for the last node begins
_BLOCKS = 64
# chosen: the least number of nodes in such a block
_SMALLEST = 16
# measured: more blocks take longer than the nodes
_MOST = 1 << 14
# measured: the speedup of equally spaced blocks
_SPARED = 8
# chosen: the number of equally spaced heights from which the share of relevant blocks is estimated
_SAMPLE = 64
# chosen: the first of these heights over their distance, irrational so that they avoid the periods of lattices
_FIRST = (5**0.5 - 1) / 2
# chosen: the number of nodes in the smallest block
_FINEST = 4
# chosen: multiples of that number that are tried as the first size
_SIZES = _PARTS ** np.arange(12)
# measured: with more blocks, a line takes as long as one with all nodes
_MOST_BLOCKS = 1 << 21
# measured: with a larger share of relevant blocks, a line takes as long as one with all nodes
_MOST_RELEVANT = 0.25


def negligible_from(law: LossTransform, abscissa: float, step: float, size: int, log_floor: float) -> int:
    """The first node from which |M|/M(c) is at most e^log_floor at all nodes of a line; its size if there is none."""
    parts = int(_SIZES[max(size / (_BLOCKS * _SMALLEST), 1) >= _SIZES][-1])
    smallest, first = -(-size // (_BLOCKS * parts)), size
    for firsts, nodes in _divided(law, abscissa, step, size, log_floor, parts * smallest, smallest):
        first = min(int(firsts[-1]) + nodes, size)
        if first <= _SMALLEST * _BLOCKS or firsts.size > _MOST:
            break
        # no subdivision makes the last block negligible if its centre is not
        centre = np.array([step * (firsts[-1] + (nodes - 1) / 2)])
        if not _negligible(law, abscissa, centre, step, 1, log_floor)[0]:
            break
    return first


def relevant_share(
    law: LossTransform, abscissa: float, step: float, size: int, log_floor: float, nodes: int = _FINEST
) -> float:
    """An estimate of the share of a line's blocks of ``nodes`` nodes that are not proved negligible."""
    heights = np.asarray((np.arange(_SAMPLE) + _FIRST) * (step * size / _SAMPLE), dtype=np.float64)
    return float((~_negligible(law, abscissa, heights, step, nodes, log_floor)).mean())


def relevant_blocks(law: LossTransform, abscissa: float, step: float, size: int, log_floor: float) -> Blocks | None:
    """The blocks of a line in which |M|/M(c) may be above e^log_floor.

    None if they are too many to be worth it. The estimated share chooses the size of the first blocks, and no more.
    """
    largest, least, work = 0, 1.0, np.inf
    for many in _FINEST * _SIZES[size >= _FINEST * _SIZES]:
        share = relevant_share(law, abscissa, step, size, log_floor, int(many))
        least = min(least, share)
        if share > least + 0.5:
            break
        cost = size / many * (1 + _PARTS * _SPARED * share)
        if cost < work:
            largest, work = int(many), cost
    if least > _MOST_RELEVANT or work > _MOST_BLOCKS:
        return None
    for firsts, nodes in _divided(law, abscissa, step, size, log_floor, largest, _FINEST):
        if nodes == _FINEST:
            return firsts, nodes
        if _PARTS * firsts.size > _MOST_BLOCKS:
            break
    return None


def _divided(
    law: LossTransform, abscissa: float, step: float, size: int, log_floor: float, largest: int, smallest: int
) -> Iterator[Blocks]:
    """The blocks of a line that are not proved negligible: the largest ones, then their parts, and so on to the smallest."""
    nodes, count = largest, -(-size // largest)
    firsts = nodes * np.arange(count, dtype=np.int64)
    while True:
        centres = np.asarray(step * (firsts + (nodes - 1) / 2), dtype=np.float64)
        held = np.ones(centres.size, dtype=bool)
        some = centres[:: max(centres.size // _SAMPLE, 1)]
        # where no block of a sample is negligible, they are too large for the bounds, and only their parts tell
        if nodes <= smallest or _negligible(law, abscissa, some, step, nodes, log_floor).any():
            held = ~_negligible(law, abscissa, centres, step, nodes, log_floor)
            # half of the first node is the height zero
            held[0] = True
        firsts = firsts[held]
        yield firsts, nodes
        if nodes <= smallest:
            return
        nodes //= _PARTS
        count = int(firsts[-1]) // nodes + _PARTS
        # equally spaced blocks are faster together, unless there are far more of them
        if count <= min(_SPARED * _PARTS * firsts.size, _MOST_BLOCKS):
            firsts = nodes * np.arange(count, dtype=np.int64)
        else:
            firsts = (firsts[:, None] + nodes * np.arange(_PARTS)).ravel()


def _negligible(
    law: LossTransform, abscissa: float, centres: Array, step: float, nodes: int, log_floor: float
) -> NDArray[np.bool_]:
    """Whether blocks of ``nodes`` nodes around some heights are proved negligible."""
    return np.asarray(law.log_block(abscissa, centres, step * (nodes - 1) / 2 * (1 + MARGIN), log_floor) <= log_floor)
