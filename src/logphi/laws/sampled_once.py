"""A mixture of two measures with the loss between them known: its profile is in closed form, its transform is not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter
from logphi.laws import log_mixture
from logphi.laws.forms import Forms
from logphi.laws.growth import Growth
from logphi.laws.support import Support
from logphi.laws.traits import Traits
from logphi.laws.transform import LossTransform, T
from logphi.quadrature.values import CERTAIN, Values


class NotAnsweredError(ValueError):
    """A question to a law of which only the excess is known; the message says what is answered instead."""


@dataclass(frozen=True)
class SampledOnce(LossTransform):
    """The law of log(1 - q + q e^L) under (1 - q) Q + q P, for the loss L of any pair (P, Q).

    One such law has the excess q D(log(1 + (e^x - 1)/q)), D that of the base ([LT] Theorem 5.1); sums of them need a transform,
    which is not known here.
    """

    base: LossTransform
    rate: Parameter

    def formula(self, arith: Arithmetic, z: Number) -> NoReturn:
        """Not known.

        Raises
        ------
        NotAnsweredError
            Always.
        """
        raise NotAnsweredError(
            "one sample of several releases, or of one known by its log-phi only, has no known log-phi: "
            "its delta and epsilon are answered, other questions and compositions with it are not; "
            "only Gaussians or small finite mechanisms on one sample compose"
        )

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """Not known, like the formula."""
        return self.formula(FLOATS, z)

    @property
    def strip(self) -> tuple[float, float]:
        """What every law has; no more is known."""
        return (-1.0, 0.0)

    @property
    def support(self) -> Support:
        """From the ends of the base; an error there is no larger here, as the map has slopes up to one."""
        base = self.base.support
        ends = [log_mixture.value(end, *self._rate) for end in (base.lower, base.upper)]
        room = max((high - low for low, high in ends if math.isfinite(low)), default=0.0)
        return Support(ends[0][0], ends[1][1], base.error + room)

    @property
    def growth(self) -> Growth:
        """From the ends of the support; nothing is known of where K is infinite."""
        return Growth.on(self.support)

    @property
    def traits(self) -> Traits:
        """Estimated if the base is."""
        return Traits(estimated=self.base.traits.estimated)

    def by_form(self, forms: Forms[T]) -> T | None:
        """The base with a rate."""
        return forms.sampled(self.base, self.rate)

    def log_masses(self) -> tuple[Values, Values]:
        """log(1 - q P(L = inf)), and zero: where Q alone has mass the loss is log(1 - q)."""
        masses = self.base.log_masses()
        if masses is None:
            return CERTAIN, CERTAIN
        q, rate_error = self._rate
        at_zero = masses[0]
        # log(1 - q + q M): its slope in log M is at most one
        value = np.log1p(q * np.expm1(at_zero.mid.real))
        radius = at_zero.radius + 4 * ULP * np.abs(value) + rate_error * -np.expm1(at_zero.mid.real) / np.exp(value)
        return Values(value, radius, np.zeros(1)), CERTAIN

    @property
    def _rate(self) -> tuple[float, float]:
        disc = self.rate.under(FLOATS)
        return float(disc.mid), float(disc.rad)
