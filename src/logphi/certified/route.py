"""The interface of a certified route, and its refusals."""

from __future__ import annotations

from typing import Any, Protocol


class NotCertifiedError(ValueError):
    """No certificate is possible, for the reason that the message gives, with what to do instead."""


class NotThisRouteError(NotCertifiedError):
    """A route does not apply to this loss. Users see it only as the last route's reason, if no other gives a better one."""


class ClosedForm(Protocol):
    """The excess of one law as a function of an exact epsilon, at the present precision."""

    def excess(self, epsilon: Any) -> Any:
        """E_P[(1 - e^{epsilon - L})_+; L < inf]."""


class Route(Protocol):
    """A loss prepared near an epsilon, used at the precision of the caller, who raises it if the balls are too wide."""

    @property
    def name(self) -> str:
        """As in the witness: beyond, ceiling, contour, lattice, pieces, rays, single or twofold."""

    def witness(self, epsilon: Any) -> dict[str, Any]:
        """How it is computed, and the errors at an epsilon, as plain data for JSON."""

    def excess(self, epsilon: Any) -> Any:
        """``E_P[(1 - e^{epsilon - L})_+; |L| < inf]`` as a real ball, for a real ball ``epsilon``."""
