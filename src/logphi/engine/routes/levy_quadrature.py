"""Levy inversion of a phi that is itself a quadrature ([AFA], double quadrature): both errors are estimates."""

from __future__ import annotations

from logphi.bracketing import bisection
from logphi.engine.method import Method
from logphi.engine.routes.levy import on_the_poles
from logphi.engine.routes.route import LocalProfile, NotApplicableError, Request, Route
from logphi.laws.log_phi import LogPhi


def prepare(request: Request) -> LocalProfile:
    """The profile with a quadrature for every phi that is an integral."""
    from logphi.comparators.levy_quadrature import double_quadrature

    doubled = [(double_quadrature(law), law, count) for law, count in request.loss.terms]
    if all(own is None for own, _, _ in doubled):
        raise NotApplicableError(
            "method 'levy-quadrature' needs a loss whose phi is an integral, that of a sampled Gaussian; "
            "this phi is known in closed form: use 'levy', or leave method out"
        )
    transform = LogPhi(tuple((own or law, count) for own, law, count in doubled))
    return on_the_poles(request, transform, _METHOD, "inner")


_METHOD = Method(
    "levy-quadrature", "Levy inversion of a phi that is itself an integral ([AFA]), with estimated errors, to compare with"
)
LEVY_QUADRATURE = Route(_METHOD, prepare, bisection, slow=True)
