"""The Laplace transform of the mean of many lognormal variables: against the series in moments, at many digits."""

from __future__ import annotations

import math

import mpmath as mp
import pytest

from logphi.quadrature.lognormal.laplace import laplace_table


@pytest.mark.parametrize("count", [10**5, 10**7])
@pytest.mark.parametrize("turn", [0.4, 1.2])
def test_the_transform_of_many_variables_is_within_its_radius(count: int, turn: float) -> None:
    """One variable's transform differs from one by 1e-5 or less, and its logarithm counts ``count`` times."""
    shift, terms = 1.0, 10
    found = laplace_table(shift, count, 0, turn, 4.0, 0.5, -2, 3)
    for log_u, log_size, value, radius in zip(found.log_u, found.log_size, found.values, found.radius, strict=True):
        with mp.workdps(40):
            u = mp.exp(mp.mpc(float(log_u), -(math.pi / 2 - turn))) / count
            moments = [mp.exp(mp.mpf(shift) ** 2 * j * (j - 1) / 2) / mp.factorial(j) for j in range(terms + 1)]
            less_one = mp.fsum((-u) ** j * moments[j] for j in range(1, terms))
            # for Re z >= 0 the rest of the series of e^{-z} is at most its first term left out
            rest = count * abs(u) ** terms * moments[terms]
            truth = mp.exp(count * mp.log1p(less_one))
            gap = abs(mp.mpc(complex(value)) * mp.exp(float(log_size)) / truth - 1)
        assert gap <= float(radius * math.exp(log_size) / abs(truth)) + 100 * found.share + float(2 * rest)
        assert radius <= 1e-12 * abs(value)
