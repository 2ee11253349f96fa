"""The pair that dominates all with given Renyi divergences: its tangents, against events in many digits."""

import mpmath
import numpy as np
import pytest

from logphi.pairs.implied import FEW, profile_points


@pytest.mark.parametrize(("z", "bound"), [(1e-4, 1e-9), (0.5, 0.01), (3.0, 2.0), (40.0, 90.0), (2e4, 1e-6)])
def test_tangents_hold_for_every_event_of_one_order(z, bound):
    """Events at the border of one order, in many digits, are below every line that is claimed of it."""
    a, c, used = profile_points(np.array([z]), np.array([bound]), FEW)
    known = np.isfinite(a) & np.isfinite(c)
    assert known.sum() > 0.8 * a.size
    assert set(used) == {z}
    with mpmath.workdps(60):
        limit = mpmath.exp(mpmath.mpf(bound))
        for log_q in (-200, -50, -12, -3, -1, -0.3, -0.02):
            q = mpmath.exp(log_q)
            low, high = mpmath.mpf(log_q), -(mpmath.mpf(10) ** -40)
            for _ in range(150):
                middle = (low + high) / 2
                p = mpmath.exp(middle)
                size = p * (p / q) ** z + (1 - p) * ((1 - p) / (1 - q)) ** z
                low, high = (middle, high) if size <= limit else (low, middle)
            p = mpmath.exp(low)
            assert all(
                p - mpmath.mpf(x) * q <= mpmath.mpf(y) for x, y in zip(a[known].tolist(), c[known].tolist(), strict=True)
            )
