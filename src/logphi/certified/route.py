"""What a certified answer needs of the way to it."""

from __future__ import annotations

from typing import Any, Protocol


class NotCertifiedError(ValueError):
    """What cannot be certified, with the reason and what to do instead."""


class NotThisRouteError(NotCertifiedError):
    """What one route is not made for; the reason of another says more, if there is one. No user meets it."""


class ClosedForm(Protocol):
    """The excess of one law as a function of an exact epsilon, at the present precision."""

    def excess(self, epsilon: Any) -> Any:
        """E_P[(1 - e^{epsilon - L})_+; L < inf]."""


class Route(Protocol):
    """A loss prepared near an epsilon; used at the precision of the caller, who doubles the bits where the balls are wide."""

    @property
    def name(self) -> str:
        """As in the witness: beyond, ceiling, contour, lattice, pieces, rays, single or twofold."""

    def witness(self, epsilon: Any) -> dict[str, Any]:
        """The numbers that were chosen, and the errors at an epsilon; plain data for JSON."""

    def excess(self, epsilon: Any) -> Any:
        """``E_P[(1 - e^{epsilon - L})_+; |L| < inf]`` as a real ball, for a real ball ``epsilon``."""
