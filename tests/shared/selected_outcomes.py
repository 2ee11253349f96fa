"""Selected outcomes of enumerated runs: the laws of the number of runs, and the best of them under a score."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def chances(mean: float, shape: float, most: int = 4000) -> NDArray[np.float64]:
    """The probabilities of 0, 1, 2 ... runs as Papernot & Steinke define them, gamma by bisection of the mean."""
    k = np.arange(most)
    if math.isinf(shape):
        return np.asarray(np.exp(k * math.log(mean) - mean - np.array([math.lgamma(one + 1) for one in k])))
    rising = np.concatenate([[0.0, 1.0], np.cumprod((k[1:-1] + shape) / (k[1:-1] + 1))])

    def law(gamma: float) -> NDArray[np.float64]:
        weights = rising * (1 - gamma) ** np.maximum(k, 1.0)
        return np.asarray(weights / weights.sum())

    low, high = 1e-9, 1 - 1e-12
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if (k * law(middle)).sum() > mean else (low, middle)
    return law(math.sqrt(low * high))


def best(masses: NDArray[np.float64], order: Sequence[int], law: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability that each outcome is selected, if ``order`` lists them from the worst to the best; then of none."""
    k = np.arange(law.size)
    found, below = np.zeros(len(masses)), 0.0
    for outcome in order:
        up_to = below + masses[outcome]
        found[outcome] = (law[1:] * (up_to ** k[1:] - below ** k[1:])).sum()
        below = up_to
    return np.append(found, law[0])
