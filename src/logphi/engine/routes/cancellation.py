"""The digits that a line loses where its integrand is large beside the answer: guesses, on which no bound depends."""

from __future__ import annotations

import math

from logphi.engine.sampled_terms import terms_of
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: below it one vertical line in two fails, or is long; above it few do, at once
_NARROW = 0.5
# derived: larger ones leave the range of doubles
_FAR = 600.0


def hard(loss: LogPhi) -> bool:
    """Whether a vertical line has to be long or stands far from the saddle: a quick guess.

    The transform of a sampled pair is out of reach from an abscissa of about 2 log(1/q)/m^2 on, and the saddle is at about one
    over the spread.
    """
    found = terms_of(loss)
    if found is None:
        return False
    terms, _ = found
    variance = sum(n * q * q * math.expm1(min(m * m, _FAR)) for m, q, _, _, n in terms)
    reach = min(2 * math.log(1 / q) / (m * m) for m, q, *_ in terms)
    return reach * math.sqrt(variance) < _NARROW


def log_answer(loss: LogPhi, epsilon: float) -> float | None:
    """About the logarithm of the excess of sampled Gaussians right of zero; None where nothing is known of it."""
    found = terms_of(loss)
    if found is None or not 0 <= epsilon < _FAR:
        return None
    # SciPy's normal tails would double the time of importing the package
    from logphi.inversion.bent_guess import log_guess

    terms, reflected = found
    # an excess of the reflected law is e^epsilon times a reversed one of the law itself
    guess = log_guess(terms, -epsilon if reflected else epsilon)
    return guess + epsilon if guess is not None and reflected else guess


def width_left(log_height: float, log_answer: float | None, rounding: float, demand: Demand) -> float:
    """About the relative width of an answer from an integrand of that height, known but for a relative rounding.

    It is the demand's where the answer is not known.
    """
    if log_answer is None:
        return demand.rtol
    lost = log_height - max(log_answer, demand.least)
    return max(demand.rtol, rounding * math.exp(min(max(lost, 0.0), _FAR))) if math.isfinite(lost) else math.inf
