"""Laws of finitely many outcomes, and the discrete Gaussian's, whose outcomes are all whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx

from logphi.checker.balls import ZERO, Real, Undecided, ball, exactly
from logphi.checker.closed import Formula
from logphi.checker.sweep import Work, sweep

MOST_OUTCOMES = 20_000


@dataclass(frozen=True)
class Ladder:
    """Losses base + unit * step, with rational steps; ladders of one key have one unit."""

    key: Hashable
    unit: Real
    steps: tuple[Fraction, ...]
    base: Real = ZERO

    def span(self) -> Fraction:
        """The largest number of which all differences of steps are multiples, or zero."""
        return common_span([step - self.steps[0] for step in self.steps])


def common_span(numbers: list[Fraction]) -> Fraction:
    """The greatest common divisor of rational numbers."""
    scale = math.lcm(*(number.denominator for number in numbers))
    return Fraction(math.gcd(*(int(number * scale) for number in numbers)), scale)


@dataclass(frozen=True)
class Cells:
    """Outcomes with their probabilities under P and Q, of which exact zeros are known to be zero.

    ``ladder`` gives the losses of the outcomes that both reach, in their order. ``beyond`` bounds the probability, under P, of
    outcomes that are not listed.
    """

    outcomes: Callable[[], list[tuple[Any, Any]]]
    ladder: Ladder | None
    beyond: Real = ZERO
    end: float = math.inf

    def shared(self) -> list[tuple[Any, Any]]:
        """The outcomes that both laws reach."""
        return [(p, q) for p, q in self.outcomes() if not (p.is_zero() or q.is_zero())]

    def reversed(self) -> Cells:
        """Q and P."""
        turned = None
        if self.ladder is not None:
            mine = self.ladder
            turned = Ladder(mine.key, mine.unit, tuple(-step for step in mine.steps), lambda: -mine.base())
        return Cells(lambda: [(q, p) for p, q in self.outcomes()], turned, self.beyond)

    def infinite(self) -> Any:
        """P(L = inf)."""
        return sum((p for p, q in self.outcomes() if q.is_zero()), arb(0))

    def losses(self) -> list[Any]:
        """Log p/q of the outcomes that both reach."""
        if self.ladder is None:
            return [(p / q).log() for p, q in self.shared()]
        base, unit = self.ladder.base(), self.ladder.unit()
        return [base + unit * ball(step) for step in self.ladder.steps]

    def listed(self) -> Cells:
        """Itself."""
        return self

    def moment(self, x: Any, work: Work) -> Any:
        """M(x) for a real x >= 0."""
        return self.along(x, arb(0), 1, work)[0].real

    def along(self, c: Any, step: Any, nodes: int, work: Work) -> list[Any]:
        """M(c + i k step) for k = 0 .. nodes - 1."""
        shared, losses = self.shared(), self.losses()
        work.spend((10 + 2 * nodes) * len(shared))
        weights = [p * (c * loss).exp() for (p, _), loss in zip(shared, losses, strict=True)]
        return sweep(weights, losses, step, nodes)

    def decay(self, c: Any, lifts: list[float], bits: int, work: Work) -> Callable[[Any], Any]:
        """Atoms do not decay: M(c)."""
        size = self.moment(c, work).abs_upper()
        return lambda time: size

    def alone(self, epsilon: Any) -> None:
        """Nothing shorter than the sum over the outcomes."""
        return


@dataclass(frozen=True)
class Whole(Formula):
    """The discrete Gaussian moved by s against itself, on all whole numbers: sigma and s.

    With Theta(a) the sum of e^{-(x-a)^2 / (2 sigma^2)}, M(z) = e^{z (z+1) s^2 / (2 sigma^2)} Theta((1+z) s) / Theta(0).
    """

    sigma: Fraction
    move: int

    @property
    def ladder(self) -> Ladder:
        """Losses (x - s/2) s / sigma^2, of which two tell all others."""
        step = self.move / self.sigma**2
        return Ladder("one", exactly(1), (-step * self.move / 2, step - step * self.move / 2))

    def reversed(self) -> Whole:
        """Itself, mirrored."""
        return self

    def value(self, z: Any) -> Any:
        """By theta(y), the sum of e^{pi i tau x^2 + 2 pi i x y}: Theta is e^{-a^2 / (2 sigma^2)} of it at that place."""
        variance = ball(self.sigma**2)
        tau, y = acb(0, 1) / (2 * arb.pi() * variance), (1 + z) * self.move / (acb(0, 2) * arb.pi() * variance)
        lead = (-(1 + z) * self.move**2 / (2 * variance)).exp()
        return lead * acb.modular_theta(y, tau)[2] / acb.modular_theta(acb(0), tau)[2]

    def listed(self) -> Cells:
        """As many outcomes as leave out less than the precision in force shows."""
        far, half = self._far(), Fraction(self.move, 2)
        steps = tuple((x - half) * self.move / self.sigma**2 for x in range(-far, far + self.move + 1))
        return Cells(lambda: self.near(far)[0], Ladder("one", exactly(1), steps), lambda: self.near(far)[1])

    def _far(self) -> int:
        far = math.ceil(float(self.sigma) * math.sqrt(2 * math.log(2) * ctx.prec)) + 1
        if far + self.move > MOST_OUTCOMES:
            raise Undecided("a discrete Gaussian so wide is not listed outcome by outcome by this checker")
        return far

    def near(self, far: int | None = None) -> tuple[list[tuple[Any, Any]], Any]:
        """The outcomes up to ``far``, by default for the precision in force, and a bound of the probability of all others."""
        variance, move, far = ball(self.sigma**2), self.move, far or self._far()
        whole = acb.modular_theta(acb(0), acb(0, 1) / (2 * arb.pi() * variance))[2].real
        weights = {x: (-(arb(x) ** 2) / (2 * variance)).exp() / whole for x in range(-far - move, far + move + 1)}
        # the noise beyond: two geometric series, as e^{-(x+1)^2 / 2v} / e^{-x^2 / 2v} <= e^{-far / v} from far on
        beyond = 2 * weights[far] * (-far / variance).exp() / (1 - (-far / variance).exp())
        return [(weights[x - move], weights[x]) for x in range(-far, far + move + 1)], beyond
