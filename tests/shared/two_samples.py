"""The profile of two sampled Gaussian mechanisms by one quadrature over the output of the first: no transform is involved."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

Pair = tuple[float, float]

# Gauss-Legendre on panels that are short beside every scale of the integrand
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def loss(pair: Pair, x: np.ndarray) -> np.ndarray:
    """log(1 - q + q e^{mx - m^2/2}) for a noise multiplier and a rate."""
    m, q = 1 / pair[0], pair[1]
    return np.asarray(np.log1p(q * np.expm1(m * x - m * m / 2)))


def place(pair: Pair, value: float) -> float:
    """Where the loss has a value; -inf below all losses."""
    m, q = 1 / pair[0], pair[1]
    inside = np.expm1(value) / q
    return float((np.log1p(inside) + m * m / 2) / m) if inside > -1 else -np.inf


def one_delta(pair: Pair, epsilon: np.ndarray) -> np.ndarray:
    """Delta of one release at each epsilon: the normal masses above where the loss is epsilon."""
    m, q = 1 / pair[0], pair[1]
    inside = np.expm1(epsilon) / q
    above = inside > -1
    x = (np.log1p(np.where(above, inside, 0.0)) + m * m / 2) / m
    value = (-np.expm1(epsilon) - q) * ndtr(-x) + q * ndtr(m - x)
    return np.asarray(np.where(above, value, -np.expm1(epsilon)))


def two_deltas(first: Pair, second: Pair, epsilon: float, reach: float = 11.0) -> float:
    """Delta of both, remove direction: the mean of the second's at what the first leaves of epsilon.

    Outputs further than ``reach`` from both means are left out.
    """
    m, q = 1 / first[0], first[1]
    low, high = -reach, m + reach
    # where the second's profile turns into a straight line, and where it falls fast
    turns = [place(first, epsilon - np.log1p(-second[1])), place(first, epsilon)]
    inner = [turn + side * step for turn in turns for side in (-1, 1) for step in (0.0, 1e-3, 1e-2, 0.05, 0.2, 0.5)]
    edges = np.unique(np.clip(np.append(np.arange(low, high, 0.25), [*inner, high]), low, high))
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    weight = (half[:, None] * _WEIGHTS).ravel()
    density = ((1 - q) * np.exp(-x * x / 2) + q * np.exp(-((x - m) ** 2) / 2)) / np.sqrt(2 * np.pi)
    return float(weight @ (density * one_delta(second, epsilon - loss(first, x))))
