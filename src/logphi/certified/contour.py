"""Inversion along a vertical line in balls.

With the step h on Re z = c > 0 and D(x) = E[(1 - e^{x - L})_+; L < inf], Poisson summation makes

    h/(2 pi) sum over all n of f(c + inh) = sum over all m of e^{2 pi m c/h} D(x + 2 pi m/h),  f(z) = e^{K(z) - zx}/(z (z + 1)),

whose terms other than m = 0 are positive and, by D(x) <= kappa(u) M(u) e^{-ux}, kappa(u) = u^u / (1 + u)^{1 + u}, at most

    kappa(c + s) M(c + s) e^{-(c + s)x} / (e^{2 pi s/h} - 1)  and  kappa(c - r) M(c - r) e^{-(c - r)x} / (e^{2 pi r/h} - 1)

together for m > 0 and for m < 0, for s > 0 within the strip and 0 < r <= c; here r is the smaller of s and c.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import acb, arb

from logphi.certified.exponential_sums import exponential_sums
from logphi.certified.laws.law import CountedInBalls
from logphi.certified.laws.registry import terms_of
from logphi.certified.layout import height_of, line_at
from logphi.certified.route import Demand, Excess, Shown
from logphi.certified.transform import MOST_NODES, Transform
from logphi.inversion.lines.layout import Layout
from logphi.laws.log_phi import LogPhi

CountedTransforms = Sequence[tuple[Transform, int]]


@dataclass(frozen=True, eq=False)
class Line(ABC):
    """A composition at nodes ``c + i h n``, n from 0; the sum over both signs of n is D, up to bounded errors."""

    parts: CountedTransforms
    layout: Layout
    step: Any
    size: int
    omitted: Any
    shown: Shown

    @abstractmethod
    def kernel(self, epsilon: Any) -> list[Any]:
        """The factors of M at the nodes."""

    @abstractmethod
    def truncation(self, epsilon: Any) -> Any:
        """A bound of the contribution of the omitted nodes."""

    @cached_property
    def _lines(self) -> list[list[Any]]:
        """M of each part at the nodes."""
        return [part.on_line(arb(self.layout.abscissa), self.step, self.size) for part, _ in self.shown(self.parts, "parts")]

    @cached_property
    def values(self) -> list[Any]:
        """M at the nodes."""
        found = [acb(1)] * self.size
        for (_, count), own in zip(self.parts, self._lines, strict=True):
            found = [a * b**count for a, b in zip(found, own, strict=True)]
        return found

    def excess(self, epsilon: Any) -> Any:
        """The sum minus half the aliasing bound, with the error bounds and the omitted mass as radius."""
        first, *others = (value * factor for value, factor in zip(self.values, self.kernel(epsilon), strict=True))
        total = self.step / (2 * arb.pi()) * (first.real + 2 * sum((one.real for one in others), arb(0)))
        half = (self.aliasing(epsilon) / 2).upper()
        return total - half + arb(0, half) + arb(0, self.truncation(epsilon).upper()) + self.omitted

    def aliasing(self, epsilon: Any) -> Any:
        """A bound of the aliasing error, which is positive."""
        total = arb(0)
        for place, shift, value in self._chernoff:
            total += value * (-place * epsilon).exp() / ((2 * arb.pi() * shift / self.step).exp() - 1)
        return total

    @property
    def _shifts(self) -> tuple[float, float]:
        """How far the aliasing bound shifts the line to the right and to the left; to the left, not below 0."""
        return self.layout.shift, min(self.layout.shift, self.layout.abscissa)

    @cached_property
    def _chernoff(self) -> list[tuple[Any, Any, Any]]:
        """On each side of the line an abscissa u, its distance from the line, and kappa(u) M(u)."""
        c, (up, down) = arb(self.layout.abscissa), map(arb, self._shifts)
        return [(u, shift, _chernoff(self.parts, u)) for u, shift in ((c + up, up), (c - down, down))]


@dataclass(frozen=True, eq=False)
class Contour(Line):
    """The sum with the kernel e^{-zx}/(z (z + 1)), up to a height above which the transform is small."""

    @cached_property
    def _weights(self) -> list[Any]:
        c = arb(self.layout.abscissa)
        nodes = (acb(c, self.step * n) for n in range(self.size))
        return [1 / (z * (z + 1)) for z in nodes]

    def kernel(self, epsilon: Any) -> list[Any]:
        """The factors at the nodes, as powers of e^{-i h x}."""
        scale, factor = (-arb(self.layout.abscissa) * epsilon).exp(), acb(0, -self.step * epsilon).exp()
        return [
            weight * power for weight, power in zip(self._weights, exponential_sums([scale], [factor], self.size), strict=True)
        ]

    def truncation(self, epsilon: Any) -> Any:
        """A bound, as |z (z + 1)| >= t^2 and the sum of h/(nh)^2 over n > N is below 1/(Nh)."""
        fall, last = arb(1), self.step * (self.size - 1)
        for (_, count), ceiling in zip(self.parts, self._ceilings, strict=True):
            fall *= ceiling**count
        return fall * (-arb(self.layout.abscissa) * epsilon).exp() / (arb.pi() * last)

    @cached_property
    def _ceilings(self) -> list[Any]:
        """For each part a bound of |M| at all heights from the first omitted node on."""
        c, height = arb(self.layout.abscissa), self.step * self.size
        return [
            part.ceiling(c, height, count, line[0].real.upper())
            for (part, count), line in zip(self.parts, self._lines, strict=True)
        ]


def prepare(loss: LogPhi, epsilon: Any, demand: Demand, most: int = MOST_NODES) -> Excess:
    """A line of at most ``most`` nodes near an epsilon, for a loss with a part whose transform decays.

    Raises
    ------
    NotCertifiedError
        If a part is unknown in balls, or none decays fast enough.
    """
    terms = terms_of(loss)
    parts = [(law.transform(), count) for law, count in terms]
    chosen = line_at(loss, float(epsilon.mid()), demand.digits)
    height = height_of(parts, chosen, min([most, *(part.most_nodes for part, _ in parts)]))
    size = math.ceil(height / chosen.step) + 1
    return Contour(parts, chosen, arb(chosen.step), size, omitted_by(terms), demand.shown).excess


def omitted_by(terms: CountedInBalls) -> Any:
    """An enclosure of the contribution of the omitted mass of the laws."""
    return sum((count * arb(law.omitted) for law, count in terms), arb(0)).union(0)


def _chernoff(parts: CountedTransforms, u: Any) -> Any:
    kappa = (u * u.log() - (1 + u) * (1 + u).log()).exp() if u > 0 else arb(1)
    total = kappa
    for part, count in parts:
        total *= part.at(u) ** count
    return total
