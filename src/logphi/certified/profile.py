"""The privacy profile of one order in balls: its route, and the mass of infinite losses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from flint import arb, ctx

from logphi.certified import (
    above_support,
    bent_contour,
    chernoff,
    contour,
    lattice,
    residues,
    single_release,
    two_releases,
)
from logphi.certified.laws.registry import terms_of
from logphi.certified.route import NotCertifiedError, NotThisRouteError, Route
from logphi.laws.log_phi import LogPhi

Prepare = Callable[[LogPhi, Any, int], Route]

# measured: a line of fewer nodes is faster than a sum of many terms
FEW_NODES = 20_000


def _at_precision(prepare_route: Prepare) -> Prepare:
    """The same for a route that takes the bits of the caller's precision instead of digits."""
    return lambda loss, epsilon, digits: prepare_route(loss, epsilon, ctx.prec)


# tried in this order: short lines, sums of many terms, long lines. If all fail, the user sees the reason of the last route that
# is meant for such losses
_ROUTES: tuple[Prepare, ...] = (
    above_support.prepare,
    partial(lattice.prepare, most=FEW_NODES),
    _at_precision(single_release.prepare),
    bent_contour.prepare,
    partial(contour.prepare, most=FEW_NODES),
    _at_precision(two_releases.prepare),
    lambda loss, epsilon, digits: residues.prepare(terms_of(loss), epsilon, ctx.prec),
    lattice.prepare,
    contour.prepare,
)


def infinite_mass(loss: LogPhi) -> Any:
    """P(L = inf), one minus the product of the finite masses; relatively accurate, and zero only if every loss is finite.

    Raises
    ------
    NotCertifiedError
        If that of a law is unknown.
    """
    return -sum((count * (-law.infinite_mass()).log1p() for law, count in terms_of(loss)), arb(0)).expm1()


@dataclass(frozen=True, eq=False)
class Profile:
    """delta(eps) = P(L = inf) + D(eps)."""

    route: Route
    infinite: Any

    def delta(self, epsilon: Any) -> Any:
        """The profile as a real ball, at a real ball."""
        return self.infinite + self.route.excess(epsilon)


def prepare(loss: LogPhi, epsilon: Any, digits: int) -> Profile:
    """The profile by the first route that applies, at the precision of the caller.

    Raises
    ------
    NotCertifiedError
        If none does.
    """
    infinite = infinite_mass(loss)
    reasons: list[NotCertifiedError] = []
    for route in _ROUTES:
        try:
            return Profile(route(loss, epsilon, digits), infinite)
        except NotCertifiedError as reason:  # noqa: PERF203
            reasons.append(reason)
        except NotImplementedError as reason:
            reasons.append(NotCertifiedError(str(reason)))
    raise next((one for one in reversed(reasons) if not isinstance(one, NotThisRouteError)), reasons[-1])


def prepare_below(loss: LogPhi, epsilon: Any, level: Any, digits: int) -> Profile:
    """As :func:`prepare`; but a profile that is below a positive level may be enclosed in any ball below that level."""
    infinite = infinite_mass(loss)
    if level > infinite:
        ways: tuple[Callable[[], Route], ...] = (
            partial(above_support.prepare, loss, epsilon, digits),
            partial(chernoff.prepare, loss, epsilon, level - infinite),
        )
        for way in ways:
            with suppress(NotCertifiedError, NotImplementedError):
                return Profile(way(), infinite)
    return prepare(loss, epsilon, digits)
