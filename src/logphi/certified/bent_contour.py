"""Few pairs of normal laws of different widths in balls: a bent contour, along which the integrand decays exponentially.

With y = 1 + z v, v = 1 - r^2, r the ratio of the widths and d the distance of the means in units of the second,

    K(z) = z top - log(y)/2 + d^2 (v - 1)(1 - 1/y) / (2 v^2),   top = d^2/(2v) - log r,

so that e^{K(z) - zx} is e^{z (top - x)} times a factor that is bounded for large z, and analytic except on a cut that starts at
-1/v and leads away from zero. From c > 0 the line may be bent into two rays: to the left if the sum of the tops is above x, to
the right if it is below. Between the line and the rays there are no poles and no cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from flint import acb, arb, ctx

from logphi.certified.laws.registry import terms_of
from logphi.certified.layout import line_at
from logphi.certified.pair_exponent import PairExponent
from logphi.certified.route import Demand, Excess, NotThisRouteError
from logphi.laws.log_phi import LogPhi

# measured: with more pairs, M falls so fast that a straight line takes few nodes
MOST = 100


def _along_rays(parts: Sequence[tuple[PairExponent, int]], abscissa: float, epsilon: Any) -> Any:
    """The excess, by FLINT's rigorous quadrature along two rays at 45 degrees up to a radius, with a bound of the remainder."""
    slope = sum((count * part.top for part, count in parts), arb(0)) - epsilon
    if not abs(slope) > 0:
        return arb(0.5, 0.5)
    # to where e^{z slope} falls
    turn = acb(-1 if slope > 0 else 1, 1) / arb(2).sqrt()
    c = arb(abscissa)
    scale = (c * slope).exp()
    fall = abs(slope) / arb(2).sqrt()
    end = ((ctx.prec * arb(2).log()) / fall).upper()

    def integrand(s: Any, analytic: bool) -> Any:
        z = c + s * turn
        return (
            (z * slope + sum((count * part.log_rest(z, analytic) for part, count in parts), acb(0))).exp()
            / (z * (z + 1))
            * turn
        )

    found = acb.integral(integrand, 0, end, abs_tol=scale * arb(2) ** -ctx.prec)
    height = end / arb(2).sqrt()
    rest_of_rays = (
        scale * (sum((count * part.log_bound(height) for part, count in parts), arb(0)) - end * fall).exp() / (fall * height**2)
    )
    return (found.imag + arb(0, rest_of_rays.upper())) / arb.pi()


def prepare(loss: LogPhi, epsilon: Any, demand: Demand) -> Excess:
    """A route for a few pairs of normal laws and no other law, near an epsilon.

    Raises
    ------
    NotCertifiedError
        If there is any other law, or there are too many pairs.
    """
    pairs = [(found, count) for law, count in terms_of(loss) if (found := law.pair_exponent()) is not None]
    if not pairs or len(pairs) < len(loss.terms) or sum(count for _, count in pairs) > MOST:
        raise NotThisRouteError("not a composition of few pairs of normal laws")
    return partial(_along_rays, pairs, line_at(loss, float(epsilon.mid()), demand.digits).abscissa)
