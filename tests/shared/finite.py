"""Divergences of two finite distributions from their definitions, in doubles."""

import math
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
