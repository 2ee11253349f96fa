"""Losses rounded up and down to multiples of one width and composed by convolution: wide bounds, for comparison."""

from __future__ import annotations

from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Route, inverted, refusal
from logphi.inversion.contour import Inversion, Part
from logphi.inversion.demand import Demand
from logphi.laws.log_phi import LogPhi


def prepare(loss: LogPhi, epsilon: float, demand: Demand) -> LocalProfile:
    """The profile from multiples of a width that suits the epsilon."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.comparators import buckets

    try:
        prepared = buckets.prepare(loss, epsilon)
    except ValueError as error:
        raise refusal(_METHOD, error) from error
    return inverted(loss, _METHOD, lambda x: Inversion(Part.EXCESS, prepared(x)))


_METHOD = Method("buckets", "losses rounded up and down to multiples of one width, to compare with")
BUCKETS = Route(_METHOD, prepare)
