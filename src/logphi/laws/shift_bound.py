"""A mu for which the pair of measures of a law is mu-GDP."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from operator import add

from logphi.laws.growth import ZERO_GROWTH
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform


def shift_bound(law: LossTransform) -> float:
    """A mu for which the pair is mu-GDP; infinite if none is known.

    From the growth of the law; otherwise from the ends of its support, if both measures are probabilities.
    """
    known = law.growth.shift
    if math.isfinite(known) or not law.support.masses.certain:
        return known
    # SciPy's normal quantiles would double the time of importing the package
    from logphi.normal.quantile import shift_of_ends

    return shift_of_ends(law.support.lower, law.support.upper)


def shift_bound_of_sum(loss: LogPhi) -> float:
    """A mu for which the pair of a sum is mu-GDP, from the mu of its terms."""
    return reduce(add, (replace(law.growth, shift=shift_bound(law)) * count for law, count in loss.terms), ZERO_GROWTH).shift
