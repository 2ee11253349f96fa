"""The routes to a privacy profile, by name, and which of them is tried when none is named."""

from __future__ import annotations

from collections.abc import Callable

from logphi.core.logphi import LogPhi
from logphi.numerics import contour
from logphi.numerics.law import Law
from logphi.views.profile import LogDelta, from_inversion, trivial

Route = Callable[[LogPhi, float, float], LogDelta]


class NotApplicableError(ValueError):
    """The named route does not apply to this loss; the message says why and what does."""


def _smooth(law: Law, x: float) -> contour.Kernel:
    return contour.Smooth(x)


def by_contour(loss: LogPhi, epsilon: float, rtol: float) -> LogDelta:
    """Inversion on a vertical line: losses with a smooth part."""
    floor = trivial(loss, epsilon)
    found = contour.invert(loss, epsilon, rtol, _smooth)
    return floor if found is None else from_inversion(loss, epsilon, found, "contour").meet(floor)


ROUTES: dict[str, Route] = {"contour": by_contour}


def profile(loss: LogPhi, epsilon: float, rtol: float, method: str | None = None) -> LogDelta:
    """An enclosure of log delta(epsilon) by the named route, or by the first that meets the tolerance."""
    if method is not None:
        if method not in ROUTES:
            raise NotApplicableError(f"method must be one of {', '.join(map(repr, ROUTES))}, got {method!r}")
        return ROUTES[method](loss, epsilon, rtol)
    return by_contour(loss, epsilon, rtol)
