"""Rotated sums over equally spaced places, against 40 digits."""

import mpmath
import numpy as np
import pytest

from logphi.quadrature.sums.rotated_sums import rotated_error, rotated_sums


@pytest.mark.parametrize("size", [5, 16, 200])
def test_the_error_is_bounded_at_all_heights(size):
    random, step = np.random.default_rng(size), 2.0**-5 * 1.25
    places = step * (np.arange(size) - 40)
    terms = random.standard_normal(size) + 1j * random.standard_normal(size)
    heights = np.array([0.0, 3.7, -1234.5, 31234.125])
    found, error = rotated_sums(terms, places, step, heights), rotated_error(np.abs(terms), places, step, heights)
    for height, value, bound in zip(heights.tolist(), found.tolist(), error.tolist(), strict=True):
        with mpmath.workdps(40):
            parts = (
                mpmath.mpc(term) * mpmath.expj(mpmath.mpf(height) * mpmath.mpf(place))
                for term, place in zip(terms.tolist(), places.tolist(), strict=True)
            )
            assert abs(mpmath.fsum(parts) - value) <= bound
        assert bound <= 1e-13 * np.abs(terms).sum() * (1 + abs(height) * np.abs(places).max() / 100 + abs(height) * step)
