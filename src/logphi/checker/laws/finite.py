"""Pairs of laws on finitely many outcomes, and the discrete Gaussian mechanism, whose outcomes are all integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.arithmetic.balls import ZERO, Real, ball, cached, exactly
from logphi.checker.arithmetic.exponential_sums import exponential_sums
from logphi.checker.arithmetic.work import EXP, STORED, TAIL, Undecided, demand, spend
from logphi.checker.laws.law import Cells, ClosedForm, Law, Spacing

# chosen: more outcomes take too long
MOST_OUTCOMES = 20_000
# the probabilities of each outcome under P and Q
Outcomes = Callable[[], list[tuple[Any, Any]]]


def _mixed(outcomes: Outcomes, rate: Fraction) -> Outcomes:
    """((1-g) Q + g P, Q), outcome by outcome."""
    return cached(lambda: [(ball(1 - rate) * q + ball(rate) * p, q) for p, q in outcomes()])


@dataclass(frozen=True)
class Finite(Law):
    """Outcomes with their probabilities under P and Q, in which zeros are exact.

    ``spacing`` gives the losses of the outcomes that both P and Q reach, in their order; without one, ``known`` does where they
    are known better than as log p/q. ``omitted`` bounds the probability, under P, of outcomes that are not listed.
    """

    outcomes: Outcomes
    spacing: Spacing | None
    omitted: Real = ZERO
    known: Callable[[], list[Any]] | None = None
    atomic = True

    @staticmethod
    def spaced(outcomes: Outcomes, omitted: Real = ZERO, known: Callable[[], list[Any]] | None = None) -> Finite:
        """A law of losses without a common unit; of two losses, their difference is the unit."""
        free = Finite(outcomes, None, omitted, known=known)
        if len(free.common()) != 2:
            return free
        unit: Real = lambda: free.losses()[1] - free.losses()[0]  # noqa: E731
        return replace(free, spacing=Spacing(free, unit, (Fraction(0), Fraction(1)), lambda: free.losses()[0]))

    def lattice(self) -> Spacing | None:
        return self.spacing

    def common(self) -> list[tuple[Any, Any]]:
        """The outcomes that both laws reach."""
        spend(2 * len(self.outcomes()))
        return [(p, q) for p, q in self.outcomes() if not (p.is_zero() or q.is_zero())]

    def constant(self) -> tuple[Any, Any] | None:
        common = self.common() if self.omitted().is_zero() else []
        return common[0] if len(common) == 1 else None

    def reversed(self) -> Finite:
        """The same outcomes with P and Q exchanged, and the losses negated."""
        spacing, mine = None, self.spacing
        if mine is not None:
            spacing = Spacing(mine.key, mine.unit, tuple(-step for step in mine.steps), lambda: -mine.base())
        known = None if self.known is None else lambda: [-loss for loss in self.losses()]
        return Finite(cached(lambda: [(q, p) for p, q in self.outcomes()]), spacing, self.omitted, known)

    def infinite(self) -> Any:
        return sum((p for p, q in self.outcomes() if q.is_zero()), arb(0))

    def losses(self) -> list[Any]:
        """Log p/q of the outcomes that both reach."""
        if self.spacing is None and self.known is not None:
            return self.known()
        if self.spacing is None:
            common = self.common()
            spend(2 * EXP * len(common))
            return [(p / q).log() for p, q in common]
        base, unit = self.spacing.base(), self.spacing.unit()
        spend(2 * EXP * len(self.spacing.steps))
        return [base + unit * ball(step) for step in self.spacing.steps]

    def cut(self, base: Any, step: Any, number: int) -> Cells:
        spend(STORED * (number + len(self.losses())))
        masses = {k: (arb(0), arb(0)) for k in range(-1, number + 1)}
        for (p, q), loss in zip(self.common(), self.losses(), strict=True):
            place = (loss - base) / step
            # a loss at an end belongs to the cell above it
            below = place.floor().unique_fmpz()
            if below is None:
                raise Undecided("the precision does not separate a loss from the end of a cell")
            k = min(max(int(below), -1), number)
            masses[k] = masses[k][0] + p, masses[k][1] + q
        p, q = ([masses[k][side] for k in range(number)] for side in (0, 1))
        return Cells([base + k * step for k in range(number + 1)], p, q, masses[-1], masses[number])

    def largest(self) -> Any:
        if not self.omitted().is_zero():
            return None
        first, *others = self.losses()
        for loss in others:
            first = first.max(loss)
        return first

    def on_line(self, c: Any, step: Any, nodes: int) -> list[Any]:
        common, losses = self.common(), self.losses()
        spend(2 * EXP * len(common))
        weights = [p * (c * loss).exp() for (p, _), loss in zip(common, losses, strict=True)]
        return exponential_sums(weights, losses, step, nodes)

    def sampled(self, rate: Fraction) -> Finite:
        """The mixture, outcome by outcome: 1 - g + g p/q is known well where p and q are small differences."""
        g = exactly(rate)

        def losses() -> list[Any]:
            own, reached = iter(self.losses()), [p for p, q in self.outcomes() if not q.is_zero()]
            spend(2 * EXP * len(reached))
            return [(-g()).log1p() if p.is_zero() else (g() * next(own).expm1()).log1p() for p in reached]

        return Finite.spaced(_mixed(self.outcomes, rate), self.omitted, cached(losses))

    def subset(self, rate: Fraction) -> Finite:
        g = exactly(rate)

        def outcomes() -> list[tuple[Any, Any]]:
            known = list(zip(self.losses(), self.common(), strict=True))
            if not all(loss.is_zero() or abs(loss) > 0 for loss, _ in known):
                raise Undecided("the precision does not separate a loss from zero")
            alone, other = self.infinite(), self.reversed().infinite()
            above = [((1 - g()) * q + g() * p, q) for loss, (p, q) in known if loss > 0]
            below = [(p, (1 - g()) * p + g() * q) for loss, (p, q) in known if loss < 0]
            # the remaining mass is the same for P and Q, with a loss of zero
            rest = sum((p for loss, (p, _) in known if loss.is_zero()), arb(0))
            rest += (1 - g()) * (sum((p - q for loss, (p, q) in known if loss > 0), arb(0)) + alone)
            return [*above, *below, (rest, rest), (g() * alone, arb(0)), (arb(0), g() * other)]

        # the omitted mass, and the mass that is then missing at zero
        return Finite.spaced(cached(outcomes), lambda: 2 * self.omitted())


@dataclass(frozen=True)
class DiscreteGaussian(ClosedForm):
    """The discrete Gaussian law on all integers, shifted by s, against the law itself.

    With Theta(a) the sum of e^{-(x-a)^2 / (2 sigma^2)}, M(z) = e^{z (z+1) s^2 / (2 sigma^2)} Theta((1+z) s) / Theta(0).
    """

    sigma: Fraction
    shift: int
    atomic = True
    symmetric = True
    cost = 2 * TAIL

    def lattice(self) -> Spacing:
        """Losses (x - s/2) s / sigma^2, of which two neighbours give the lattice."""
        step = self.shift / self.sigma**2
        return Spacing("one", exactly(1), (-step * self.shift / 2, step - step * self.shift / 2))

    def value(self, z: Any) -> Any:
        """By theta(y), the sum of e^{pi i tau x^2 + 2 pi i x y}: Theta(a) is e^{-a^2 / (2 sigma^2)} theta(y)."""
        variance = ball(self.sigma**2)
        tau, y = acb(0, 1) / (2 * arb.pi() * variance), (1 + z) * self.shift / (acb(0, 2) * arb.pi() * variance)
        lead = (-(1 + z) * self.shift**2 / (2 * variance)).exp()
        return lead * acb.modular_theta(y, tau)[2] / acb.modular_theta(acb(0), tau)[2]

    def listed(self) -> Finite:
        far, half = self._far(), Fraction(self.shift, 2)
        spend(2 * STORED * (2 * far + self.shift))
        steps = tuple((x - half) * self.shift / self.sigma**2 for x in range(-far, far + self.shift + 1))
        near = cached(lambda: self._near(far))
        return Finite(lambda: near()[0], Spacing("one", exactly(1), steps), lambda: near()[1])

    def sampled(self, rate: Fraction) -> Finite:
        near = cached(lambda: self._near(self._far()))
        return Finite(_mixed(lambda: near()[0], rate), None, lambda: near()[1])

    def subset(self, rate: Fraction) -> Finite:
        at = cached(lambda: self.listed().subset(rate))
        return Finite(lambda: at().outcomes(), None, lambda: at().omitted())

    def _far(self) -> int:
        far = math.ceil(float(self.sigma) * math.sqrt(2 * math.log(2) * ctx.prec)) + 1
        demand(far + self.shift <= MOST_OUTCOMES, "a discrete Gaussian is too wide for this checker to list its outcomes")
        return far

    def _near(self, far: int) -> tuple[list[tuple[Any, Any]], Any]:
        """The outcomes from -far to far + s, and a bound of the probability of all others."""
        variance, shift = ball(self.sigma**2), self.shift
        spend((2 * EXP + STORED) * (2 * far + 3 * shift))
        whole = acb.modular_theta(acb(0), acb(0, 1) / (2 * arb.pi() * variance))[2].real
        weights = {x: (-(arb(x) ** 2) / (2 * variance)).exp() / whole for x in range(-far - shift, far + shift + 1)}
        # two geometric series, as e^{-(x+1)^2 / 2v} / e^{-x^2 / 2v} <= e^{-far / v} for x >= far, v = sigma^2
        omitted = 2 * weights[far] * (-far / variance).exp() / (1 - (-far / variance).exp())
        return [(weights[x - shift], weights[x]) for x in range(-far, far + shift + 1)], omitted
