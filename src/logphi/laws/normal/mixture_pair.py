"""The log-ratio of two mixtures of normal densities of one width."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arith.protocol import Arithmetic, Number, Plain
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.closed_form import ClosedForm
from logphi.laws.growth import Growth, OneSided
from logphi.laws.support import ATOMLESS, Support
from logphi.laws.transform import LossTransform, Reflected, T
from logphi.laws.visitor import LawVisitor
from logphi.quadrature.approximation import Approximation
from logphi.quadrature.mixtures.pair_envelope import log_pair_envelope
from logphi.quadrature.mixtures.pair_log_ratio import PairLogRatio
from logphi.quadrature.mixtures.pair_trapezoid import PairTrapezoid
from logphi.quadrature.values import Line, Values


@dataclass(frozen=True)
class MixturePair(LossTransform):
    """log(P/Q) under P, or of (1 - rate) Q + rate P to Q, for P = sum of p_i N(v_i, s^2), Q = sum of q_i N(v_i, s^2).

    The v_i increase, no two are equal, and each has a weight in P or in Q. ``relative_error`` bounds the relative error of
    (v_i - v_1)/s, in addition to the half ulp of each number.
    """

    width: float
    values: tuple[float, ...]
    p: tuple[float, ...]
    q: tuple[float, ...]
    rate: float = 1.0
    relative_error: float = 0.0

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z), with N(v_1, s^2) taken out of both mixtures."""
        first, width = arith.constant(self.values[0]), arith.constant(self.width)
        shifts = [(arith.constant(value) - first) / width for value in self.values]
        vectors = [[arith.constant(one) for one in weights] for weights in (self.p, self.q)]
        p, q = ([one / reduce(add, weights) for one in weights] for weights in vectors)
        if self.rate < 1:
            rate = arith.constant(self.rate)
            p = [(1 - rate) * other + rate * one for one, other in zip(p, q, strict=True)]

        halves = [m * m / 2 for m in shifts]

        def density(x: Number) -> Number:
            terms = [arith.exp(m * x - half) for m, half in zip(shifts, halves, strict=True)]
            ratio_p, ratio_q = (
                reduce(add, (one * term for one, term in zip(weights, terms, strict=True))) for weights in (p, q)
            )
            return ratio_p ** (z + 1) * ratio_q ** (-z)

        return arith.log_normal_mean(density)

    @cached_property
    def ratio(self) -> PairLogRatio:
        """The log-ratio in units of the width, centred."""
        values = np.asarray(self.values)
        middle = (values[0] + values[-1]) / 2
        centres = (values - middle) / self.width
        size = float(np.abs(values).max() / self.width + np.abs(centres).max())
        location_error = (2 * ULP + self.relative_error) * size
        p, q = (np.asarray(one) / math.fsum(one) for one in (self.p, self.q))
        return PairLogRatio.of(centres, p, q, self.rate, location_error)

    @property
    def support(self) -> Support:
        """The whole line: the loss is a non-constant analytic function of the output, whose ends are not computed."""
        return ATOMLESS

    @property
    def growth(self) -> Growth:
        """At most that of the largest distance between a centre of P and one of Q: e^K is jointly convex in both laws."""
        return Growth.both(OneSided(0.0, self.ratio.farthest**2 * (1 + 8 * ULP), 0.0), self.ratio.farthest)

    @property
    def closed_form(self) -> ClosedForm:
        """Normal masses of the set where the loss is above x."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses)

    def accept(self, visitor: LawVisitor[T, LossTransform]) -> T | None:
        """The sampled pair P, Q, if the rate is below one."""
        return visitor.sampled(replace(self, rate=1.0), Plain(self.rate)) if self.rate < 1 else None

    def excess(self, x: float) -> Scaled | None:
        """From normal masses of the set where the loss is above x."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.quadrature.mixtures.pair_regions import excess

        return excess(self.ratio, x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """e^x times the excess at -x with the mixtures exchanged."""
        from logphi.quadrature.mixtures.pair_regions import excess

        amount = excess(self.ratio.exchanged, -x)
        return amount and amount.times_exp(x)

    def partial_masses(self, x: float, *, tilted: bool = False) -> tuple[Scaled, Scaled] | None:
        """Normal masses of the set where the loss is above x, and of its complement."""
        from logphi.quadrature.mixtures.pair_regions import partial_masses

        return partial_masses(self.ratio, x, tilted=tilted)

    def reflected(self) -> LossTransform:
        """The mixtures exchanged."""
        return replace(self, p=self.q, q=self.p) if self.rate == 1 else Reflected(self)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, with new nodes for each abscissa of complex points."""
        return PairTrapezoid(self.ratio).at_points(np.asarray(z), count)

    @property
    def approximate(self) -> Approximation:
        """K at real points, from the coarse nodes."""
        return Approximation(PairTrapezoid(self.ratio).approximate)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as a matrix product."""
        return PairTrapezoid(self.ratio).on_line(line, count)

    def log_envelope(self, abscissa: float, heights: Array, end: float = np.inf) -> Array:
        """From a component of the law with a step density."""
        return log_pair_envelope(self.ratio, abscissa, heights)
