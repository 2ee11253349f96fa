"""Pairs of finite distributions, and their divergences from the definitions, in doubles."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np


def divergence(p: Any, q: Any, order: float) -> float:
    """The Renyi divergence: log sum p^order q^(1 - order), divided by order - 1."""
    order = float(order)
    terms = order * np.log(np.asarray(p, float)) + (1 - order) * np.log(np.asarray(q, float))
    return float(np.logaddexp.reduce(terms)) / (order - 1)


def hockey_stick(p: Any, q: Any, epsilon: float) -> float:
    """The sum of p - e^epsilon q where it is positive."""
    return math.fsum(np.maximum(np.asarray(p, float) - math.exp(epsilon) * np.asarray(q, float), 0.0))


def random_pairs(number: int, seed: int = 0) -> Iterator[tuple[Any, Any]]:
    """Pairs of random probability vectors with two to four entries, some of which are nearly zero."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        size = int(rng.integers(2, 5))
        p, q = (rng.dirichlet(np.full(size, rng.choice([0.5, 1.0, 5.0]))) for _ in "pq")
        yield p, q
