"""Guesses of the digits that a line loses by cancellation, where its integrand is far larger than the answer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from logphi.engine.large_losses import large_guesses
from logphi.engine.large_losses.sampled_terms import sampled_terms
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

if TYPE_CHECKING:
    from logphi.inversion.bent.clipped_ceiling import SampledPairs

# measured: with a smaller product of the largest abscissa and the standard deviation, one vertical line in two fails or is long
_NARROW = 0.5
# derived: larger exponents overflow
_FAR = 600.0


def needs_long_line(loss: LogPhi) -> bool:
    """Whether a vertical line for a loss must be long, or far from the saddle: a quick guess."""
    found = sampled_terms(loss)
    return found is not None and pairs_need_long_line(found[0])


def pairs_need_long_line(terms: SampledPairs) -> bool:
    """The same for sampled pairs.

    The transform of a sampled pair is unknown from an abscissa of about 2 log(1/q)/m^2 on, and the saddle is about the inverse
    of the standard deviation.
    """
    variance = sum(n * q * q * math.expm1(min(m * m, _FAR)) for m, q, _, _, n in terms)
    known_until = min(2 * math.log(1 / q) / (m * m) for m, q, *_ in terms)
    return known_until * math.sqrt(variance) < _NARROW


def log_answer(loss: LogPhi, epsilon: float) -> float | None:
    """A guess of the logarithm of the excess of sampled Gaussians right of zero; None if there is none."""
    found = sampled_terms(loss)
    if found is None or not 0 <= epsilon < _FAR:
        return None
    alone = large_guesses.alone(loss, epsilon)
    if alone is not None:
        return alone
    # SciPy's normal tails would double the time of importing the package
    from logphi.inversion.bent.guess import log_guess

    terms, reflected = found
    # an excess of the reflected law is e^epsilon times a reversed one of the law itself
    guess = log_guess(terms, -epsilon if reflected else epsilon)
    return guess + epsilon if guess is not None and reflected else guess


def width_left(log_height: float, log_answer: float | None, rounding: float, demand: Demand) -> float:
    """A guess of the relative width of an answer from an integrand of a given height and relative rounding.

    If the answer is unknown, the demanded width is returned.
    """
    if log_answer is None:
        return demand.rtol
    log_cancelled = log_height - max(log_answer, demand.least)
    return (
        max(demand.rtol, rounding * math.exp(min(max(log_cancelled, 0.0), _FAR))) if math.isfinite(log_cancelled) else math.inf
    )
