"""The privacy profile of one order in balls: its route, and the mass of infinite losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flint import arb

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
from logphi.certified.route import Demand, Excess, NotCertifiedError, NotThisRouteError
from logphi.laws.log_phi import LogPhi

Prepare = Callable[[LogPhi, Any, Demand], Excess]

# measured: a line of fewer nodes is faster than a sum of many terms
FEW_NODES = 20_000


def _by_residues(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """The sum of residues, which closed forms of single laws take too: it knows terms, not compositions."""
    return residues.sum_near(terms_of(loss), epsilon).excess


# tried in this order: bounds, short lines, sums of many terms, long lines. If all fail, the user sees the reason of the last
# route that is meant for such losses
_ROUTES: tuple[Prepare, ...] = (
    above_support.prepare,
    chernoff.prepare,
    partial(lattice.prepare, most=FEW_NODES),
    single_release.prepare,
    bent_contour.prepare,
    partial(contour.prepare, most=FEW_NODES),
    two_releases.prepare,
    _by_residues,
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

    excess: Excess
    infinite: Any

    def delta(self, epsilon: Any) -> Any:
        """The profile as a real ball, at a real ball."""
        return self.infinite + self.excess(epsilon)


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Profile:
    """The profile by the first route that applies, at the precision of the caller.

    Raises
    ------
    NotCertifiedError
        If none does.
    """
    infinite = infinite_mass(loss)
    finite = replace(demand, level=demand.level - infinite)
    reasons: list[NotCertifiedError] = []
    for route in _ROUTES:
        try:
            return Profile(route(loss, epsilon, finite), infinite)
        except NotCertifiedError as reason:  # noqa: PERF203
            reasons.append(reason)
        except NotImplementedError as reason:
            reasons.append(NotCertifiedError(str(reason)))
    raise next((one for one in reversed(reasons) if not isinstance(one, NotThisRouteError)), reasons[-1])
