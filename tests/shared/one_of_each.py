"""One row for each mechanism of the catalogue: a constructor with its numeric parameters, which are binary fractions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import sympy

import logphi as lp

ALPHA = sympy.Symbol("alpha")


def logistic(x: Any) -> Any:
    return -np.abs(x) - 2 * np.log1p(np.exp(-np.abs(x)))


def logistic_moved(x: Any) -> Any:
    return logistic(x - 0.5)


def gaussian_divergence(order: Any) -> Any:
    return order / 2


def RandomChoice(probabilities: Any, adjacency: Any = "add_remove") -> lp.Mechanism:
    return lp.RandomChoice([lp.Gaussian(sigma=sigma, adjacency=adjacency) for sigma in (2, 4)], probabilities)


ROWS: list[partial[Any]] = [
    partial(lp.Gaussian, sigma=4, sensitivity=2),
    partial(lp.Laplace, scale=4, sensitivity=2),
    partial(lp.TruncatedGaussian, sigma=4, truncation=16, sensitivity=2),
    partial(lp.TruncatedLaplace, scale=4, truncation=16, sensitivity=2),
    partial(lp.DiscreteLaplace, scale=2.5, sensitivity=2),
    partial(lp.DiscreteGaussian, sigma=2.5, sensitivity=2),
    partial(lp.VectorDiscreteGaussian, sigma=4, l2_sensitivity=2, l1_sensitivity=3, parties=2, dimension=8),
    partial(lp.Skellam, variance=16, l2_sensitivity=2, l1_sensitivity=3, dimension=8),
    partial(lp.GaussianMixture, sigma=2, sensitivities=[0, 1, 2], probabilities=[0.5, 0.25, 0.25]),
    partial(lp.GaussianMixturePair, sigma=2, values=[0, 1, 2], p=[0.5, 0.25, 0.25], q=[0.25, 0.25, 0.5]),
    partial(lp.GaussianPair, mean_p=0, sigma_p=2, mean_q=1, sigma_q=3),
    partial(lp.RandomizedResponse, p=0.75),
    partial(lp.KaryRandomizedResponse, k=4, p=0.5),
    partial(lp.ExponentialMechanism, epsilon=1),
    partial(lp.PureDP, epsilon=1),
    partial(lp.ApproximateDP, epsilon=1, delta=0.015625),
    partial(lp.DistanceToInstability, epsilon=1, delta=0.015625),
    partial(lp.ShuffledReports, local_epsilon=1, records=20),
    partial(lp.SparseVector, query_scale=8, threshold_scale=4, answers=2),
    partial(lp.StabilityThreshold, threshold=48, scale=4, partitions=2),
    partial(lp.ZCDP, rho=0.125, xi=0.25),
    partial(lp.RenyiDP, orders=[2, 4, 8], epsilons=[0.25, 0.5, 1]),
    partial(lp.Discrete, p=[0.5, 0.25, 0.25], q=[0.25, 0.125, 0.625]),
    partial(RandomChoice, probabilities=[0.25, 0.75]),
    partial(lp.FromDensities, logistic_moved, logistic, (-np.inf, np.inf)),
    partial(lp.FromProfile, epsilons=[0.5, 1], deltas=[0.25, 0.015625]),
    partial(lp.FromTradeoff, type_one_errors=[0, 0.125, 0.5], type_two_errors=[0.875, 0.5, 0.125]),
    partial(lp.FromLogPhi, (sympy.I * ALPHA - ALPHA**2) / 2, ALPHA),
    partial(lp.FromRenyi, gaussian_divergence, (-np.inf, np.inf)),
]
EXAMPLES: dict[str, Callable[..., lp.Mechanism]] = {row.func.__name__: row for row in ROWS}
