"""The profile by Chernoff's bound alone, if that is far below every demand or no route applies."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from logphi.answers.ledger import Entry
from logphi.arith.safe import safe_log
from logphi.arith.scaled import Scaled
from logphi.engine.ceiling import log_ceiling
from logphi.engine.log_probability import LogProbability, from_inversion, masses, trivial
from logphi.engine.method import CHERNOFF
from logphi.inversion import contour
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: the largest excess of the logarithm of the integrand at a saddle, without the pole at zero, over Chernoff's bound
_AMISS = 10.0


def by_chernoff(loss: LogPhi, x: float, level: float = math.inf, hint: float | None = None) -> LogProbability:
    """An upper bound of the profile; left of zero, of delta - (1 - e^x), which may be tiny.

    Right of zero the bound is trivial if it would hardly be below ``level``, a logarithm.
    """
    known = masses(loss)
    if x < 0:
        upper_tail = Scaled.between(-math.inf, x + log_ceiling(loss.reflected(), -x))
        return from_inversion(known, x, Inversion(Part.REVERSED, upper_tail), CHERNOFF)
    upper = min(float(np.logaddexp(safe_log(known[0][1]), log_ceiling(loss, x, level, hint))) + 1e-14, 0.0)
    plain = trivial(known, x)
    value = plain.lower if plain.lower > -math.inf else upper - math.log(2.0)
    ledger = replace(plain.ledger, truncation=Entry(math.exp(upper)))
    return LogProbability(plain.lower, value, max(upper, plain.lower), CHERNOFF, ledger)


def level_of_the_omitted(loss: LogPhi, demand: Demand) -> float:
    """The logarithm of a profile so small that, with the mass a loss omits, no route can meet a demand."""
    return math.log(loss.support.omitted.mass) - math.log(demand.sufficient.rtol)


def may_be_beneath(loss: LogPhi, x: float, least: float) -> bool:
    """Whether the profile may be below e^least: a guess from the height of its saddle."""
    if least == -math.inf:
        return False
    if not abs(x) < contour.LARGEST_THRESHOLD:
        return True
    found = contour.saddle_of_excess(loss, x)
    if not (found.abscissa > 0 and math.isfinite(found.value)):
        return True
    return found.value + math.log(min(found.abscissa, 1.0)) <= least + _AMISS
