"""The filter for Gaussian mechanisms whose noise is chosen adaptively: the squares of their mu add up.

notation: mu = sensitivity / sigma. However each mu is chosen, let a last Gaussian fill the sum of mu^2 up to the budget. Then
the loss of the whole interaction is exactly that of one Gaussian mechanism: normal, with half the budget as its mean and the
budget as its variance (Smith & Thakurta 2022, *Fully Adaptive Composition for Gaussian Differential Privacy*; Koskela, Tobaben
& Honkela 2022, *Individual Privacy Accounting with Gaussian Differential Privacy*). The filter is as good as a fixed schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from logphi.accountant.rules.rule import Additive, Amount
from logphi.accountant.rules.schedule import proved_delta
from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.mechanisms import Gaussian
from logphi.pairs.pair import UnsupportedError
from logphi.text.written import exact

# measured: with more noise, no small delta is proved
_MOST = 2.0**100
# measured: further bisection of sigma is below the rounding of delta
_NARROW = 1 + 1e-14


@dataclass(frozen=True)
class GaussianRule(Additive):
    """The sum of mu^2."""

    most: Fraction

    @staticmethod
    def of(epsilon: float, delta: float) -> GaussianRule:
        """The rule of a budget: nearly the largest mu^2 of a Gaussian mechanism that is proved to be within it."""
        if not delta:
            raise ValueError("delta must be positive for the rule 'gaussian', got 0.0: every Gaussian mechanism needs some")
        high = 1.0
        while not _private(high, epsilon, delta):
            high *= 2
            if high > _MOST:
                raise ValueError(
                    f"no Gaussian mechanism is proved to be within epsilon={epsilon!r} and delta={delta!r}: "
                    "give a larger delta, or another rule"
                )
        while _private(high / 2, epsilon, delta):
            high /= 2
        low = high / 2
        while high > low * _NARROW:
            middle = (low + high) / 2
            low, high = (low, middle) if _private(middle, epsilon, delta) else (middle, high)
        return GaussianRule(1 / exact(high) ** 2)

    @property
    def budget(self) -> dict[str, Fraction]:
        """The largest sum."""
        return {"mu_squared": self.most}

    def costs(self, mechanism: Mechanism, direction: Direction) -> tuple[Amount, ...]:
        """The exact mu^2."""
        if not isinstance(mechanism, Gaussian):
            raise UnsupportedError(
                f"the rule 'gaussian' holds for Gaussian mechanisms, not for {mechanism!r}: make the filter with rule='renyi'"
            )
        return ((exact(mechanism.sensitivity) / exact(mechanism.sigma)) ** 2,)

    def within(self, sums: tuple[Amount, ...]) -> bool:
        """Whether the sum is at most the budget."""
        return sums[0] <= self.most


def _private(sigma: float, epsilon: float, delta: float) -> bool:
    return proved_delta(Gaussian(sigma), epsilon) <= exact(delta)
