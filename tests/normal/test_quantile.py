"""Places on either side of a normal quantile, against the distribution function at thirty digits."""

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf, ncdf

from logphi.normal.quantile import quantile_above, quantile_below

DIGITS = 30


@settings(max_examples=50)
@given(st.floats(-700, -1e-3))
def test_places_on_one_side_of_a_quantile(log_mass):
    below, above = quantile_below(log_mass), quantile_above(log_mass)
    with mpmath.workdps(DIGITS):
        assert mpmath.log(ncdf(below)) <= mpf(log_mass) <= mpmath.log(ncdf(above))
    assert above - below <= 1e-9 * (1 + abs(below))
