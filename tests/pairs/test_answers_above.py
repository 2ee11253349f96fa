"""The pair of questions until one is answered "above", against every way to ask a few of them again and again."""

import math

import numpy as np
import pytest
from scipy.stats import laplace

from logphi.pairs.answers_above import answer_above


@pytest.mark.few(3)
@pytest.mark.parametrize("shift", [1e-6, 0.01, 0.5, 2.0, 10.0])
def test_one_answer_above(shift):
    """A profile that is convex and has the largest loss."""
    pair = answer_above(shift)
    p, q = np.array(pair.p), np.array(pair.q)
    rng = np.random.default_rng(1)

    def profile(a):
        return np.maximum(p - a * q, 0).sum()

    top = math.exp(shift)
    assert profile(top * (1 + 1e-12)) < 1e-13
    for chances in [[0.5], [0.5 / top], *rng.uniform(0.01, 0.9, (40, 3))]:
        moves = shift * rng.choice([0.3, 1.0, 1.0], len(chances))
        # "above" under Q, and where the noise has to be less by the move
        t = [-math.log(2 * c) if c < 0.5 else math.log(2 * (1 - c)) for c in chances]
        under_p = [float(laplace.sf(x - move)) for x, move in zip(t, moves, strict=True)]
        own_p, own_q, left_p, left_q = [], [], 1.0, 1.0
        for _ in range(200 // len(chances)):
            for one, other in zip(under_p, chances, strict=True):
                own_p.append(left_p * one)
                own_q.append(left_q * other)
                left_p, left_q = left_p * (1 - one), left_q * (1 - other)
        for stop in (1, 2, 5, len(own_p)):
            told_p, told_q = (np.array([*own[:stop], 1 - sum(own[:stop])]) for own in (own_p, own_q))
            for a in np.exp(np.array([-3.0, -0.5, 0.0, 0.2, 0.7]) * shift):
                assert np.maximum(told_p - a * told_q, 0).sum() <= profile(a) + 1e-13
    # of small shifts it is nearly that of randomized response
    if shift < 0.1:
        assert profile(1.0) == pytest.approx(math.tanh(shift / 2), rel=1e-3)
