"""What sums lose beyond their last node, against sums that go on until nothing is left."""

import numpy as np
import pytest

from logphi.quadrature.mixtures.integration_range import integration_range, log_tail
from logphi.quadrature.mixtures.log_ratio import TwoComponents


def one(m, q):
    return TwoComponents(np.array([m]), np.array([q]), np.ones(1))


def log_sum_beyond(end, step, m, q, a):
    x = end + step * np.arange(1, int((a * m * 1.2 + 60) / step))
    terms = a * np.logaddexp(np.log1p(-q), np.log(q) + m * x - m * m / 2) - x * x / 2 + np.log(step / np.sqrt(2 * np.pi))
    return terms.max() + np.log(np.exp(terms - terms.max()).sum())


def test_nothing_beyond_the_end_is_forgotten():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, q = 10 ** rng.uniform(-4, 0.7), 10 ** rng.uniform(-6, -0.05)
        a = 10 ** rng.uniform(0, 2) / m * rng.uniform(0.1, 3)
        end, step = rng.uniform(2, 15), rng.uniform(0.02, 0.6)
        bound = log_tail(end, step, one(m, q), np.array([a]))[0, 0]
        exact = log_sum_beyond(end, step, m, q, a)
        assert bound >= exact - 1e-9 * abs(exact), seed


@pytest.mark.parametrize(("m", "q", "power"), [(1e-3, 1e-4, 1e6), (1e-4, 1e-6, 1e9), (0.5, 1e-3, 20.0), (2.0, 0.3, -50.0)])
def test_the_ends_leave_little_and_are_near(m, q, power):
    mixture = one(m, q)
    low, high = integration_range(mixture, power, power, -40.0)
    assert log_tail(high, 0.5, mixture, np.array([max(power, 1.0)]))[0, 0] <= -38
    assert high - low < 60


def test_where_the_far_rise_matters_it_is_within():
    # at this power the tilted density has its second mode near a m
    m, q, power = 1.0, 1e-2, 40.0
    _, high = integration_range(one(m, q), power, power, -40.0)
    assert high > m * power + 5
