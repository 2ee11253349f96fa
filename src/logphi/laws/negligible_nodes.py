"""Where on a line a transform is proved to be negligible, found block by block."""

from __future__ import annotations

import numpy as np

from logphi.laws.block_envelope import MARGIN
from logphi.laws.transform import LossTransform

# chosen: blocks at first, the parts of a block that is not negligible, and the nodes in the smallest
_BLOCKS, _PARTS, _SMALLEST = 64, 8, 16
# measured: more blocks at once than this take longer than nodes, and a block at the end of this share of the line is short
_MOST, _LAST = 1 << 14, 1e-2
# measured: equally spaced blocks take so much less time each
_SPARED = 8


def negligible_from(law: LossTransform, abscissa: float, step: float, size: int, log_floor: float) -> int:
    """A node from which on |M|/M(c) is at most e^log_floor at all nodes of a line; its size where none is found."""
    radius = step * size / (2 * _BLOCKS)
    centres = np.asarray(radius * (2.0 * np.arange(_BLOCKS) + 1), dtype=np.float64)
    while True:
        centres = centres[~(law.log_block(abscissa, centres, radius * (1 + MARGIN)) <= log_floor)]
        if not centres.size:
            return 0
        first = min(int((centres[-1] + radius) * (1 + MARGIN) / step) + 1, size)
        if radius <= _SMALLEST * step or first <= _SMALLEST * _BLOCKS or centres.size > _MOST:
            return first
        # what is not negligible in the middle of a block is not in any part of it
        if not law.log_block(abscissa, centres[-1:], 0.0)[0] <= log_floor and radius < _LAST * step * size:
            return first
        radius /= _PARTS
        # equally spaced ones are quicker together, where they are not far more
        all_of_them = np.ceil(first * step / (2 * radius))
        if all_of_them <= _SPARED * _PARTS * centres.size:
            centres = np.asarray(radius * (2.0 * np.arange(all_of_them) + 1), dtype=np.float64)
        else:
            centres = (centres[:, None] + radius * (2.0 * np.arange(_PARTS) + 1 - _PARTS)).ravel()
