"""Levy inversion on both poles ([AFA] Lemmas 18, 19, 42): errors are absolute, that of the quadrature an estimate."""

from __future__ import annotations

from dataclasses import replace

from logphi.bracketing import bisection
from logphi.engine.log_probability import LogProbability
from logphi.engine.method import Method
from logphi.engine.routes.route import LocalProfile, Request, Route, by_excess, refusal
from logphi.laws.log_phi import LogPhi


def prepare(request: Request) -> LocalProfile:
    """The profile from the transform of the loss."""
    return on_the_poles(request, request.loss, _METHOD)


def on_the_poles(request: Request, transform: LogPhi, method: Method, *estimates: str) -> LocalProfile:
    """The profile from the transform of a sum of laws, with the named lines of the ledger as estimates."""
    from logphi.comparators import levy

    profile = by_excess(request.loss, method, lambda: levy.prepare(transform, request.epsilon))

    def at(x: float) -> LogProbability:
        try:
            found = profile(x)
        except ValueError as error:
            raise refusal(method, error) from error
        # the truncation error of a coarse answer depends on the quadrature, too
        return replace(found, ledger=found.ledger.estimating("truncation", "discretization", *estimates))

    return at


_METHOD = Method("levy", "Levy inversion ([AFA] Algorithm 1), with estimated errors, to compare with")
LEVY = Route(_METHOD, prepare, bisection, slow=True)
