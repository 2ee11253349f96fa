"""Mixtures of normal laws of width one against one another, in balls: the loss, its root, and the excess.

P is the sum of p_i N(c_i, 1), Q that of q_j N(d_j, 1), where no d_j is above any c_i. The loss log p(x)/q(x) rises with x:
its slope is the mean of c less that of d, given x. At the x where it is epsilon the excess is P(X > x) - e^epsilon Q(X > x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flint

# derived: the bits of a loss that rounding may cost
_ROUNDING_BITS = 12
# derived: the largest number of doublings and halvings of a bracket
_MOST_STEPS = 2000


@dataclass(frozen=True)
class Component:
    """A weight and a centre."""

    weight: Any
    centre: Any

    def above(self, x: Any) -> Any:
        """The mass of the component above x."""
        return self.weight * ((x - self.centre) / flint.arb(2).sqrt()).erfc() / 2

    def size(self, x: Any) -> Any:
        """The density over that of N(0, 1)."""
        return self.weight * (self.centre * (x - self.centre / 2)).exp()


@dataclass(frozen=True)
class NormalMixtures:
    """Both laws, the components of each by rising centres."""

    p: tuple[Component, ...]
    q: tuple[Component, ...]

    def reversed(self) -> NormalMixtures:
        """Q against P, with x replaced by -x."""
        p, q = (tuple(Component(one.weight, -one.centre) for one in reversed(side)) for side in (self.q, self.p))
        return NormalMixtures(p, q)

    @property
    def ends(self) -> tuple[Any, Any]:
        """Infimum and supremum of the loss: finite where the outermost centres of both laws agree."""
        found = []
        for k, beyond in ((0, flint.arb.neg_inf()), (-1, flint.arb.pos_inf())):
            one, other = self.p[k], self.q[k]
            found.append((one.weight / other.weight).log() if one.centre == other.centre else beyond)
        return found[0], found[1]

    def ratio(self, x: Any) -> Any:
        """p(x)/q(x), at complex x too."""
        return sum(one.size(x) for one in self.p) / sum(one.size(x) for one in self.q)

    def loss(self, x: Any) -> Any:
        """Log p(x)/q(x)."""
        return self.ratio(x).log()

    def slope(self, x: Any) -> Any:
        """The derivative of the loss."""
        means = []
        for side in (self.p, self.q):
            sizes = [one.size(x) for one in side]
            means.append(sum(size * one.centre for size, one in zip(sizes, side, strict=True)) / sum(sizes))
        return means[0] - means[1]

    def root(self, epsilon: Any) -> Any:
        """An interval around the x at which the loss is epsilon, by Newton's method; epsilon is exact and between the ends.

        At the left end of the interval the loss is certainly below epsilon, at the right end above.
        """
        one = 1 / max(self.p[-1].centre, -self.q[0].centre, key=float).upper()
        low, high = -one.mid(), one.mid()
        for _ in range(_MOST_STEPS):
            if self.loss(low) < epsilon < self.loss(high):
                break
            low, high = (low if self.loss(low) < epsilon else 2 * low), (high if self.loss(high) > epsilon else 2 * high)
        else:
            return flint.arb("nan")
        x = (low + high).mid() / 2
        for _ in range(_MOST_STEPS):
            gap = self.loss(x) - epsilon
            if gap > 0:
                high = x
            elif gap < 0:
                low = x
            else:
                break
            step = (gap / self.slope(x)).mid()
            fresh = (x - step).mid()
            fresh = fresh if low < fresh < high else ((low + high) / 2).mid()
            if abs(fresh - x) <= self._unit(x, one):
                x = fresh
                break
            x = fresh
        room = self._unit(x, one)
        while room < high - low:
            before, after = (x - room).lower(), (x + room).upper()
            if self.loss(before) < epsilon < self.loss(after):
                return before.union(after)
            room *= 4
        return low.union(high)

    @staticmethod
    def _unit(x: Any, scale: Any) -> Any:
        """The accuracy of a root."""
        return ((abs(x) + scale) * flint.arb(2) ** (_ROUNDING_BITS - flint.ctx.prec)).upper()

    def above(self, x: Any, epsilon: Any) -> Any:
        """P(X > x) - e^epsilon Q(X > x)."""
        p, q = (sum((one.above(x) for one in side), flint.arb(0)) for side in (self.p, self.q))
        return p - epsilon.exp() * q

    def excess(self, epsilon: Any) -> Any:
        """E_P[(1 - e^{epsilon - L})_+] at an exact epsilon."""
        low, high = self.ends
        if epsilon <= low:
            return -epsilon.expm1()
        if epsilon >= high:
            return flint.arb(0)
        if epsilon > low and epsilon < high:
            return self.above(self.root(epsilon), epsilon)
        if not epsilon > low:
            # epsilon may be the smallest loss: the excess is at least 1 - e^epsilon, and at most 1 - e^low for a lower bound
            return (-epsilon.expm1()).union(-low.lower().min(epsilon).expm1())
        # as a function of e^epsilon the excess has slopes between -1 and 0, and is zero at the largest loss
        return (high.upper().exp() - epsilon.exp()).upper().union(0)


@dataclass(frozen=True)
class ExplicitRoot:
    """A mixture with an explicit root of its loss: (1 - q) N(0, 1) + q N(m, 1) against N(0, 1), or reflected.

    With w = e^t the root is m/2 + log((w - 1 + q)/q)/m, and minus that of 1/w where it is reflected.
    """

    mixtures: NormalMixtures
    shift: Any
    rate: Any
    reflected: bool

    def root(self, w: Any, *, analytic: bool = False) -> Any:
        """Where the loss is log w, at complex w too."""
        inner = ((1 / w if self.reflected else w) - 1 + self.rate) / self.rate
        place = self.shift / 2 + (inner.log(analytic=True) if analytic else inner.log()) / self.shift
        return -place if self.reflected else place
