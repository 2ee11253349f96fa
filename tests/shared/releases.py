"""Releases as texts: samples, counts and sums, and each mechanism that a text can hold."""

from __future__ import annotations

from logphi.mechanisms.catalogue import CATALOGUE
from one_of_each import EXAMPLES

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
    "Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])",
    "100 * Gaussian(sigma=5) + 3 * Gaussian(sigma=2).poisson(0.01) + 2 * RandomizedResponse(p=0.52) + PureDP(epsilon=0.1)",
    "TruncatedLaplace(scale=1, truncation=4).poisson(0.1)",
    "(2 * Gaussian(sigma=3) + RandomizedResponse(p=0.6)).poisson(0.1)",
    *(str(EXAMPLES[name]()) for name in CATALOGUE),
]
