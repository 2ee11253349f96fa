"""Inversion along a bent contour: few Poisson-sampled Gaussians, tiny sampling rates."""

from __future__ import annotations

import math
from dataclasses import replace

from logphi.engine.method import Method, Retry
from logphi.engine.routes.route import Local, NotApplicableError, Route, inverted
from logphi.engine.sampled_terms import terms_of
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi

# measured: below it one vertical line in two fails, or is long; above it few do, at once
_NARROW = 0.5
# measured: so many terms take some ten milliseconds
_QUICK = 1e5
# derived: larger squares of shifts leave the range of doubles
_LARGEST = 700.0
# derived: e^epsilon stays within the range of doubles
_FARTHEST = 600.0


def serves(loss: LogPhi) -> bool:
    """Whether a vertical line has to be long or stands far from the saddle: a quick guess.

    The transform of a sampled pair is out of reach from an abscissa of about 2 log(1/q)/m^2 on, and the saddle is at about one
    over the spread.
    """
    found = terms_of(loss)
    if found is None:
        return False
    terms, _ = found
    variance = sum(n * q * q * math.expm1(min(m * m, _LARGEST)) for m, q, _, _, n in terms)
    reach = min(2 * math.log(1 / q) / (m * m) for m, q, *_ in terms)
    return reach * math.sqrt(variance) < _NARROW


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """On an hyperbola."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.inversion.bent_layout import MOST_WORK

    return _prepared(loss, epsilon, demand, MOST_WORK)


def _where_quick(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    """Where a vertical line is expected to fail, and a bent one is short."""
    if not serves(loss):
        raise NotApplicableError("a vertical line is quicker")
    return _prepared(loss, epsilon, demand, _QUICK)


def _prepared(loss: LogPhi, epsilon: float, demand: Demand, most_work: float) -> Local:
    from logphi.inversion import bent_layout

    found = terms_of(loss)
    if found is None:
        raise NotApplicableError(
            "method 'bent' needs a few kinds of Poisson-sampled Gaussians and nothing else; leave method out"
        )
    terms, reflected = found
    x = -epsilon if reflected else epsilon
    # left of zero delta is 1 - e^eps and the functional, which need not be known better than that
    added = math.log(math.expm1(-epsilon)) + (0.0 if reflected else epsilon) if -_FARTHEST < epsilon < 0 else -math.inf
    scale = -epsilon if reflected else 0.0
    wanted = Demand(demand.rtol, least=max(added, demand.least + scale))
    prepared = bent_layout.prepare(terms, x, wanted, most_work) if abs(x) < _FARTHEST else None
    if prepared is None:
        return inverted(loss, _METHOD, None)
    if reflected:
        return inverted(loss, _METHOD, lambda x: _of_reflected(prepared.at(-x), x))
    return inverted(loss, _METHOD, prepared.at)


def _of_reflected(found: Inversion, x: float) -> Inversion:
    """The functional of the reflected law at x: an excess is e^x times the other one of the law at -x, and the reverse."""
    part = Part.REVERSED if found.part is Part.EXCESS else Part.EXCESS
    return replace(found, part=part, amount=found.amount.times_exp(x))


_METHOD = Method("bent", Retry.IF_WIDE)
BENT = Route(_METHOD, prepare, "inversion along an hyperbola: few sampled Gaussians, small sampling rates", once=True)
# measured: so many terms take about a second, which is less than what other routes would take
_LONG = 3e7


def _long(loss: LogPhi, epsilon: float, demand: Demand) -> Local:
    return _prepared(loss, epsilon, demand, _LONG)


LONG_BENT = Route(_METHOD, _long, BENT.reason, fallback=True)
QUICK_BENT = Route(_METHOD, _where_quick, BENT.reason)
