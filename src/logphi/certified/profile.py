"""The privacy profile of one order in balls: the way to it, and the mass that tells everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from logphi.arith.ball import Ball
from logphi.certified import beyond, contour, lattice, pieces, rays, single, twofold
from logphi.certified.plan import FEW_NODES
from logphi.certified.reals import balls
from logphi.certified.route import NotCertifiedError, NotThisRouteError, Route
from logphi.core.logphi import LogPhi
from logphi.numerics.law import Law

Prepare = Callable[[LogPhi, Any, int], Route]


def _short(loss: LogPhi, epsilon: Any, digits: int) -> Route:
    """A line of few nodes: quicker than a sum of many terms."""
    return contour.prepare(loss, epsilon, digits, FEW_NODES)


def _to_the_bit(prepare_route: Prepare) -> Prepare:
    """With the bits of the caller for the digits."""
    return lambda loss, epsilon, digits: prepare_route(loss, epsilon, ctx.prec)


# tried in turn; of the reasons against those that apply, the last is what a user is told
_ROUTES: tuple[Prepare, ...] = (
    beyond.prepare,
    lattice.prepare,
    _to_the_bit(single.prepare),
    rays.prepare,
    _short,
    _to_the_bit(twofold.prepare),
    _to_the_bit(pieces.prepare),
    contour.prepare,
)


@dataclass(frozen=True, eq=False)
class Profile:
    """delta(eps) = P(L = inf) + D(eps)."""

    route: Route
    infinite: Any

    def delta(self, epsilon: Any) -> Any:
        """As a real ball, for a real ball."""
        return self.infinite + self.route.excess(epsilon)


def prepare(loss: LogPhi, epsilon: Any, digits: int) -> Profile:
    """The first route that applies, at the precision of the caller.

    Raises
    ------
    NotCertifiedError
        If none does.
    """
    reasons: list[NotCertifiedError] = []
    found = (route for one in _ROUTES if (route := _attempt(one, loss, epsilon, digits, reasons)) is not None)
    route = next(found, None)
    if route is None:
        raise next((one for one in reversed(reasons) if not isinstance(one, NotThisRouteError)), reasons[-1])
    return Profile(route, infinite_mass(loss))


def _attempt(prepare_route: Prepare, loss: LogPhi, epsilon: Any, digits: int, reasons: list[NotCertifiedError]) -> Route | None:
    try:
        return prepare_route(loss, epsilon, digits)
    except NotCertifiedError as reason:
        reasons.append(reason)
    except NotImplementedError as reason:
        reasons.append(NotCertifiedError(str(reason)))
    return None


def infinite_mass(loss: LogPhi) -> Any:
    """P(L = inf), one less the product of the finite masses."""
    kept = arb(1)
    for law, count in loss.terms:
        if _loses(law):
            kept *= law.formula(balls(), Ball(arb(0), ctx.prec)).value.real.exp() ** count
    return arb(0) if kept.is_exact() else 1 - kept


def _loses(law: Law) -> bool:
    masses = law.log_masses()
    return masses is not None and bool((masses[0].mid != 0).any())
