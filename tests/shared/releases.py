"""One release of each mechanism and of each sampling, as texts."""

from __future__ import annotations

# some take many milliseconds
RELEASES = [
    "3 * Gaussian(sigma=1.1)",
    "14062 * Gaussian(sigma=1.1).poisson(256/60000)",
    "Gaussian(sigma=1.5).poisson(0.1, group_size=3)",
    "Gaussian(sigma=1.3).poisson(0.1, adjacency='replace')",
    "7 * Gaussian(sigma=1, sensitivity=2, adjacency='replace').subset(0.1, adjacency='add_remove')",
    "4 * Laplace(scale=1.5, sensitivity=0.3)",
    "Laplace(scale=1.5).poisson(1/3)",
    "5 * DiscreteLaplace(scale=2, sensitivity=3)",
    "2 * DiscreteGaussian(sigma=2, sensitivity=3)",
    "DiscreteGaussian(sigma=2, truncation=6)",
    "10 * RandomizedResponse(p=0.6)",
    "RandomizedResponse(p=0.7, adjacency='replace').subset(0.2, adjacency='replace')",
    "20 * KaryRandomizedResponse(k=4, p=0.5, adjacency='replace_special')",
    "9 * ExponentialMechanism(epsilon=0.3)",
    "PureDP(epsilon=0.7).poisson(0.1, adjacency='remove')",
    "10 * ApproximateDP(epsilon=0.1, delta=1e-6)",
    "DistanceToInstability(epsilon=1, delta=0.001)",
    "Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])",
    "GaussianMixture(sigma=1, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2])",
    "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)",
    "FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0.01])",
    "FromTradeoff(type_one_errors=[0, 0.1, 0.5], type_two_errors=[0.9, 0.5, 0.1])",
    "100 * Gaussian(sigma=5) + 3 * Gaussian(sigma=2).poisson(0.01) + 2 * RandomizedResponse(p=0.52) + PureDP(epsilon=0.1)",
    "GaussianMixturePair(sigma=1, values=[0, 1, 2], p=[0.5, 0.3, 0.2], q=[0.4, 0.4, 0.2])",
    "TruncatedGaussian(sigma=1, truncation=3)",
    "TruncatedLaplace(scale=1, truncation=4).poisson(0.1)",
    "(2 * Gaussian(sigma=3) + RandomizedResponse(p=0.6)).poisson(0.1)",
]
