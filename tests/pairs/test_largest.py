"""The largest of many normal outputs: the masses of its cells, in hundreds of digits."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from logphi.arith.protocol import Ratio
from logphi.pairs.largest import largest_output


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sigma", "means", "batches"), [(0.4, (2, 1), 10_000), (1.5, (1, 0), 7), (0.01, (2, 1), 50), (3.0, (2, 1), 2)]
)
def test_cells_hold_the_masses_of_the_largest_output(sigma, means, batches):
    pair = largest_output(Ratio(1.0, sigma), means, batches, 64)
    m = min(1 / mpmath.mpf(str(sigma)), 16)
    assert all(p > 0 for p in (*pair.p, *pair.q))
    with mpmath.workdps(320):
        low, high = _ends_of(float(m), means, batches)
        places = [mpmath.mpf(x) for x in np.linspace(low, high, 64)]
        for vector, mean in zip((pair.p, pair.q), means, strict=True):
            below = [0, *(mpmath.ncdf(x - mean * m) * mpmath.ncdf(x) ** (batches - 1) for x in places), 1]
            exact = [b - a for a, b in pairwise(below)]
            # the ends are those of doubles; what is left is compared far above both errors
            assert all(abs(own - other) <= 1e-9 * other for own, other in zip(vector, exact, strict=True))
    assert pair.relative_error < 1e-9


def _ends_of(m, means, batches):
    """The first and the last end, found again by a plain search."""
    top = max(means) * m
    with mpmath.workdps(30):
        for x in np.linspace(-20.0, top + 20.0, 64):
            if mpmath.log(mpmath.ncdf(x - top)) + (batches - 1) * mpmath.log(mpmath.ncdf(x)) >= -40:
                return float(x), top + 20.0
    raise AssertionError
