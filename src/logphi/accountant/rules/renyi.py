"""The filter for privacy parameters that are chosen adaptively, by the Renyi divergence of one order, fixed in advance.

notation: L the loss of a whole interaction, L_t that of step t given the earlier outputs, z > 0 fixed,
M_t = E_P[e^{z L_t}; L_t < inf | before] = e^{K_t}, kappa(z) = z^z / (1 + z)^(1 + z), e the epsilon and d the delta of the
budget, m the part of d that is set aside for infinite losses.

The product of the e^{z L_t} / M_t is a martingale under P as long as no loss is infinite, however the steps are chosen.
Let the interaction stop before any of the sums would leave these bounds: the probabilities of infinite losses sum to at most m,
and the K_t to at most B = z e + log(d - m) - log kappa(z), or else the largest finite losses to at most e. Then

    delta(e) = E_P[(1 - e^{e - L})_+] <= P(L = inf) + kappa(z) e^{-z e} E_P[e^{z L}; e < L < inf]
                                      <= m + kappa(z) e^{B - z e} = d,

as (1 - e^{-x})_+ <= kappa(z) e^{z x}, as L <= e wherever the largest losses sum to at most e, and as the martingale makes
E_P[e^{z L}; L < inf, the K_t sum to at most B] at most e^B. Each order of the pair has its own sums. By Blackwell's theorem the
outputs of a step can be made from those of its dominating pair, so that the pairs may stand for the steps.

In terms of Renyi divergences this is the filter of Feldman & Zrnic 2021, *Individual Privacy Accounting via a Renyi Filter*;
kappa is the conversion of Canonne, Kamath & Steinke 2020. For d = m only sums of guarantees remain: basic composition, which
may be adaptive, too (Rogers, Roth, Ullman & Vadhan 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from logphi.accountant.rules.exact_costs import infinite_mass, largest_loss, law_of
from logphi.accountant.rules.rule import Additive, Amount
from logphi.algebra.families import family_of
from logphi.algebra.release import Mechanism
from logphi.answers.status import Direction
from logphi.arith.floats import ULP
from logphi.engine.log_moment import finite_log_moment
from logphi.text.written import exact

# measured: between two of these the budget changes by less than a thousandth
_SHIFTS = 2.0 ** (np.arange(-20 * 16, 49 * 16) / 16)
# chosen: any width is valid, because the upper end counts; this one costs a negligible share of the budget
_RTOL = 1e-12


@dataclass(frozen=True)
class RenyiRule(Additive):
    """Sums of largest losses, of log-moments at one order, and of probabilities of an infinite loss."""

    epsilon: float
    delta: float
    order: float | None
    infinite_mass: float

    @cached_property
    def budget(self) -> dict[str, Fraction]:
        """The bounds of the three sums; no log-moment if infinite losses take all of delta."""
        loss, mass = exact(self.epsilon), exact(self.infinite_mass)
        if self.order is None:
            return {"largest_loss": loss, "infinite_mass": mass}
        return {"largest_loss": loss, "infinite_mass": mass, "log_moment": self._most(self.order - 1)}

    def _most(self, z: float) -> Fraction:
        """B, rounded down."""
        parts = z * self.epsilon, math.log(exact(self.delta) - exact(self.infinite_mass)), z * math.log1p(1 / z), math.log1p(z)
        return Fraction(math.fsum(parts) - 16 * ULP * (1 + math.fsum(map(abs, parts))))

    def costs(self, mechanism: Mechanism, direction: Direction) -> tuple[Amount, ...]:
        """Upper bounds; a negative log-moment, which only infinite losses cause, counts as zero."""
        known = largest_loss(mechanism, direction), infinite_mass(mechanism, direction)
        if self.order is None:
            return known
        family = family_of(mechanism)
        step = family and family.divergence(self.order)
        if step:
            return (*known, Fraction(max((self.order - 1) * step[1] * (1 + 4 * ULP), 0.0)))
        # extreme orders overflow: a moment that is not finite is unknown, and costs everything
        with np.errstate(all="ignore"):
            moment = finite_log_moment(law_of(mechanism, direction), self.order - 1, _RTOL).upper
        return (*known, Fraction(max(moment, 0.0)) if math.isfinite(moment) else math.inf)

    def within(self, sums: tuple[Amount, ...]) -> bool:
        """Whether the infinite losses are within their bound, and either the largest losses or the log-moments are."""
        loss, mass, *moment = (spent <= most for spent, most in zip(sums, self.budget.values(), strict=True))
        return mass and (loss or any(moment))


def best_order(epsilon: float, delta: Fraction) -> float:
    """The order at which a budget allows most Gaussian releases, whose log-moments are multiples of z (z + 1)."""
    z = _SHIFTS
    room = (z * epsilon + math.log(delta) + z * np.log1p(1 / z) + np.log1p(z)) / (z * (z + 1))
    return 1 + float(z[np.argmax(room)])
