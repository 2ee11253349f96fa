"""Few pairs of normal laws of different widths in balls: the line bent to where the integrand falls exponentially.

With y = 1 + z v, v = 1 - r^2, r the ratio of the widths and d the distance of the means in units of the second,

    K(z) = z top - log(y)/2 + d^2 (v - 1)(1 - 1/y) / (2 v^2),   top = d^2/(2v) - log r,

so that e^{K(z) - zx} is e^{z (top - x)} times what is bounded far out, analytic but for a cut from -1/v on outward. From c > 0
the line may be bent to rays, to the left where the sum of the tops is above x and to the right where it is below: each wedge
holds the poles and cuts that lie on its axis, and the rest of the plane has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import acb, arb, ctx

from logphi.certified.laws.normal_pair import NormalPairInBalls, PairExponent
from logphi.certified.laws.registry import terms_of
from logphi.certified.layout import line_at
from logphi.certified.route import NotThisRouteError, Route
from logphi.laws.log_phi import LogPhi

# measured: with more of them a line has few enough nodes
MOST = 100


@dataclass(frozen=True, eq=False)
class BentContour:
    """From an abscissa at 45 degrees to either side."""

    parts: Sequence[PairExponent]
    abscissa: float

    name = "rays"

    def excess(self, epsilon: Any) -> Any:
        """By quadrature with a proof up to a radius, and a bound of what lies beyond."""
        slope = sum((part.count * part.top for part in self.parts), arb(0)) - epsilon
        if not abs(slope) > 0:
            return arb(0.5, 0.5)
        # to where e^{z slope} falls
        turn = acb(-1 if slope > 0 else 1, 1) / arb(2).sqrt()
        c = arb(self.abscissa)
        scale = (c * slope).exp()
        fall = abs(slope) / arb(2).sqrt()
        end = ((ctx.prec * arb(2).log()) / fall).upper()

        def integrand(s: Any, analytic: bool) -> Any:
            z = c + s * turn
            return (z * slope + sum((part.log_rest(z, analytic) for part in self.parts), acb(0))).exp() / (z * (z + 1)) * turn

        found = acb.integral(integrand, 0, end, abs_tol=scale * arb(2) ** -ctx.prec)
        height = end / arb(2).sqrt()
        beyond = scale * (sum((part.log_bound(height) for part in self.parts), arb(0)) - end * fall).exp() / (fall * height**2)
        return (found.imag + arb(0, beyond.upper())) / arb.pi()

    def witness(self, epsilon: Any) -> dict[str, Any]:
        """Where the rays start."""
        return {"route": self.name, "abscissa": repr(self.abscissa), "bits": ctx.prec}


def prepare(loss: LogPhi, epsilon: Any, digits: int) -> Route:
    """Few pairs of normal laws and nothing else, near an epsilon.

    Raises
    ------
    NotCertifiedError
        If there is anything else, or more of them.
    """
    pairs = [(law, count) for law, count in terms_of(loss) if isinstance(law, NormalPairInBalls)]
    if not pairs or len(pairs) < len(loss.terms) or sum(count for _, count in pairs) > MOST:
        raise NotThisRouteError("not a composition of few pairs of normal laws")
    return BentContour([law.exponent(count) for law, count in pairs], line_at(loss, float(epsilon.mid()), digits).abscissa)
