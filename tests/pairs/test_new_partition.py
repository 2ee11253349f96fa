"""The chances of a partition that only one record has, against the tails of its noise at many digits."""

from fractions import Fraction

import mpmath
import pytest

from exact import dec, noise_tail
from logphi.pairs.new_partition import chances

DIGITS = 40


@pytest.mark.parametrize("normal", [False, True])
@pytest.mark.parametrize("truncation", [None, Fraction(8), Fraction(30)])
@pytest.mark.parametrize("gap", ["-7", "-1/10", "0", "3", "799/100", "8", "25", "60"])
def test_chances(normal, truncation, gap):
    found = chances(Fraction(gap), 2.0, truncation, normal=normal)
    with mpmath.workdps(DIGITS):
        at, end = dec(Fraction(gap)) / 2, mpmath.inf if truncation is None else dec(truncation) / 2
        outside = noise_tail(end, normal=normal)
        seen = (noise_tail(at, normal=normal) - outside) / (1 - 2 * outside) if at < end else dec(0)
        missed = 1 - seen
        for one, exact in ((found.seen, seen), (found.missed, missed)):
            assert abs(one - exact) <= found.error * exact
    assert found.error < 1e-11


def test_noise_that_just_reaches_a_threshold_shows_nothing():
    """A third is no double, and nor are two: only exact numbers tell that these two are equal."""
    third = Fraction(1, 3)
    assert chances(2 * third, 0.5, third + third, normal=False).seen == 0
    assert chances(2 * third - Fraction(1, 10**30), 0.5, 2 * third, normal=False).seen > 0
