"""Points of a profile: of few outcomes, chords between them are the profile."""

import math

import numpy as np
import pytest

import logphi as lp
from logphi import Direction
from logphi.algebra.profile_points import places, upper_profile

MANY = 4096


@pytest.mark.parametrize("order", [Direction.REMOVE, Direction.ADD])
@pytest.mark.parametrize("p", [(0.5, 0.2, 0.3), (0.7, 0.1, 0.2)])
def test_few_outcomes_have_all_corners(p, order):
    q = (0.1, 0.3, 0.6)
    release = lp.Discrete(p, q)
    found = places(release, -1.0, order, MANY)
    assert found.size < 400
    first, second = (p, q) if order is Direction.REMOVE else (q, p)
    x = np.random.default_rng(3).uniform(-1.0, found[-1], 200)
    profile = [math.fsum(max(a - math.exp(e) * b, 0.0) for a, b in zip(first, second, strict=True)) for e in x]
    chords = np.interp(np.exp(x), np.exp(found), upper_profile(release, found, order))
    np.testing.assert_allclose(chords, profile, rtol=1e-9, atol=1e-12)
    assert upper_profile(release, found[-1:], order)[0] == 0


def test_an_infinite_loss_is_no_corner():
    found = places(lp.Discrete((0.9, 0.1), (1.0, 0.0)), -1.0, Direction.REMOVE, MANY)
    assert np.isfinite(found).all()


def test_compositions_and_other_noise_have_as_many_points_as_asked():
    for release in (2 * lp.RandomizedResponse(0.7), lp.Laplace(2)):
        assert places(release, -1.0, Direction.REMOVE, 300).size >= 300
