"""A pair without a finite Renyi divergence of an order above one, in either order."""

import math

import numpy as np

import logphi as lp


def cauchy() -> lp.Mechanism:
    """The Cauchy law against the normal one."""
    return lp.FromDensities(
        lambda x: -np.log(np.pi * (1 + x * x)), lambda x: -x * x / 2 - math.log(2 * math.pi) / 2, (-np.inf, np.inf)
    )
