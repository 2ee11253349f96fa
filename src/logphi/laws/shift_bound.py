"""A mu for which the two measures of a law are mu-GDP: as hard to tell apart, or harder, than N(mu, 1) and N(0, 1)."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce
from operator import add

from logphi.laws.growth import STILL
from logphi.laws.log_phi import LogPhi
from logphi.laws.transform import LossTransform


def shift_bound(law: LossTransform) -> float:
    """A mu for which the pair is mu-GDP; infinite where none is known.

    From the growth of the law, or else from the ends of its support if both measures are probabilities.
    """
    known = law.growth.shift
    if math.isfinite(known) or any((mass.mid != 0).any() or (mass.radius != 0).any() for mass in law.log_masses() or ()):
        return known
    # SciPy's normal quantiles would double the time of importing the package
    from logphi.normal.quantile import shift_of_ends

    return shift_of_ends(law.support.lower, law.support.upper)


def shift_bound_of_sum(loss: LogPhi) -> float:
    """The same of a sum, from those of its terms."""
    return reduce(add, (replace(law.growth, shift=shift_bound(law)) * count for law, count in loss.terms), STILL).shift
