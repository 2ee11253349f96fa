"""The routes by name, and the evaluator of one of them or of all that fit a loss.

Type checkers know the names from ``RouteName`` in :mod:`logphi.inputs.route_names`.
"""

from __future__ import annotations

from logphi.engine.routes.atoms import ATOMS
from logphi.engine.routes.automatic import SINGLE_RELEASE, Automatic
from logphi.engine.routes.bent import BENT
from logphi.engine.routes.branch_cut import BRANCH_CUT
from logphi.engine.routes.buckets import BUCKETS
from logphi.engine.routes.clipped import CLIPPED
from logphi.engine.routes.contour import CONTOUR
from logphi.engine.routes.discretized import DISCRETIZED
from logphi.engine.routes.evaluator import Evaluator
from logphi.engine.routes.exponential import EXPONENTIAL
from logphi.engine.routes.lattice import LATTICE
from logphi.engine.routes.levy import LEVY
from logphi.engine.routes.levy_quadrature import LEVY_QUADRATURE
from logphi.engine.routes.levy_sums import LEVY_SUMS
from logphi.engine.routes.route import NotApplicableError, Route
from logphi.engine.routes.smoothed import SMOOTHED

ROUTES: dict[str, Route] = {
    one.name: one
    for one in (
        CONTOUR,
        LATTICE,
        ATOMS,
        SINGLE_RELEASE,
        EXPONENTIAL,
        SMOOTHED,
        DISCRETIZED,
        CLIPPED,
        BENT,
        BRANCH_CUT,
        BUCKETS,
        LEVY,
        LEVY_SUMS,
        LEVY_QUADRATURE,
    )
}
"""Every route by its name."""


def named(method: str | Route | None) -> Route | None:
    """The route of a name; a route, or None, is returned as it is.

    Raises
    ------
    NotApplicableError
        If there is no route of that name.
    """
    if method is None or isinstance(method, Route):
        return method
    if method not in list(ROUTES):
        names = ", ".join(map(repr, ROUTES))
        raise NotApplicableError(
            f"method must be one of {names}, or 'certified' for delta and epsilon, got {method!r}; without it logphi chooses"
        )
    return ROUTES[method]


def evaluator(method: str | Route | None = None) -> Evaluator:
    """The evaluator of a named route, or of the routes that fit a loss."""
    chosen = named(method)
    return Automatic() if chosen is None else Evaluator(chosen.prepare)
