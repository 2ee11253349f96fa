"""The part of a line on which a transform is proved to be negligible, found by dividing the line into blocks."""

from __future__ import annotations

import numpy as np

from logphi.laws.block_envelope import MARGIN
from logphi.laws.transform import LossTransform

# chosen: the number of blocks at first, of parts of a block that is not negligible, and of nodes in the smallest block
_BLOCKS, _PARTS, _SMALLEST = 64, 8, 16
# measured: more blocks take longer than the nodes; a last block below this share of the line counts as short
_MOST, _LAST = 1 << 14, 1e-2
# measured: the speedup of equally spaced blocks
_SPARED = 8


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
