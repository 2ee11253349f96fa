"""The routes to a privacy profile, by name, and which of them is tried when none is named."""

from __future__ import annotations

from collections.abc import Callable

from logphi.core.logphi import LogPhi
from logphi.numerics import contour
from logphi.views.profile import LogDelta, from_inversion, masses, trivial

# a profile near one epsilon: whatever is worth preparing for the neighbourhood has been prepared
Local = Callable[[float], LogDelta]
# of a loss, near an epsilon, to a relative tolerance, with the abscissa of a saddle nearby if one is known
Route = Callable[[LogPhi, float, float, "float | None"], Local]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


def by_contour(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """Inversion on a vertical line: losses with a smooth part."""
    prepared = contour.prepare(loss, epsilon, rtol, contour.smooth, hint)

    known = masses(loss)

    def at(x: float) -> LogDelta:
        floor = trivial(known, x)
        return floor if prepared is None else from_inversion(known, x, prepared.at(x), "contour").meet(floor)

    return at


ROUTES: dict[str, Route] = {"contour": by_contour}


def route(method: str | None) -> Route:
    """The route of a name; without one, the first that meets the tolerance."""
    if method is None:
        return automatic
    if method not in ROUTES:
        raise NotApplicableError(f"method must be one of {', '.join(map(repr, ROUTES))}, got {method!r}")
    return ROUTES[method]


def automatic(loss: LogPhi, epsilon: float, rtol: float, hint: float | None = None) -> Local:
    """The route that fits the loss."""
    return by_contour(loss, epsilon, rtol, hint)
