"""Losses rounded up and down to multiples of one width and composed by convolution: wide bounds, for comparison."""

from __future__ import annotations

from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Request, Route, by_excess


def prepare(request: Request) -> LocalProfile:
    """The profile from multiples of a width that suits the epsilon."""
    # SciPy's normal tails would double the time of importing the package
    from logphi.comparators import buckets

    return by_excess(request.loss, _METHOD, lambda: buckets.prepare(request.loss, request.epsilon))


_METHOD = Method("buckets", "losses rounded up and down to multiples of one width, to compare with")
BUCKETS = Route(_METHOD, prepare)
