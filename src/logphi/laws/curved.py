"""Laws whose transform is an integral over panels: what sampling makes of flat laws, and of normal ones under replace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import erf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import FLOATS, ULP
from logphi.arith.protocol import Arithmetic, Number, Parameter, Plain
from logphi.arith.scaled import Scaled
from logphi.laws import log_mixture
from logphi.laws.closed_form import ClosedForm, Sides
from logphi.laws.finite import log_complement
from logphi.laws.growth import Growth
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import largest_shift, shifted_growth
from logphi.laws.support import Support
from logphi.laws.transform import LossTransform
from logphi.laws.uniform import Uniform, UniformWithAtoms
from logphi.quadrature import curve_excess
from logphi.quadrature.gauss_legendre import Curve, Strand, approximate, at_heights, atoms_of, on_axis, on_line
from logphi.quadrature.mixture_trapezoid import by_abscissa
from logphi.quadrature.shifted_line import log_raised_envelope
from logphi.quadrature.total_variation import log_varied_envelope
from logphi.quadrature.values import Line, Values

_LOG_ROOT = 0.5 * float(np.log(2 * np.pi))


class Curved(LossTransform):
    """A law that is held as a :class:`~logphi.quadrature.gauss_legendre.Curve`."""

    @abstractmethod
    def _curve(self, side: int) -> Curve:
        """The loss, and the law of Q, over the variable of integration: with the parameters as they are, or at their ends."""

    @cached_property
    def curve(self) -> Curve:
        """The curve, with what is not known of its parameters."""
        return self._curve(0)

    def curve_at(self, upper: bool) -> Curve:
        """A curve of exact parameters whose profile is above or below that of the law: it grows with each of them."""
        return replace(self._curve(1 if upper else -1), blur=0.0)

    @property
    def symmetric(self) -> bool:
        """A mirrored curve is."""
        return self.curve.mirrored

    @cached_property
    def _highest(self) -> tuple[float, float]:
        """The largest loss of a bounded curve, and its error."""
        atoms = atoms_of(Curve(self.curve.strands, 0.0, 0.0, (0.0, 0.0, 0.0), ((self.curve.end, 0.0),), blur=self.curve.blur))
        return float(atoms.loss[0]), float(atoms.slip[0])

    @property
    def _upward(self) -> Support:
        """The loss at the end of the curve, and twice what is not known of the ends."""
        if np.isinf(self.curve.end):
            return Support()
        top, error = self._highest
        return Support(upper=top + error + 2 * ULP * abs(top), error=2 * error + 8 * ULP * abs(top))

    @cached_property
    def support(self) -> Support:
        """Up to the loss at the end of the curve; a symmetric law from its mirror image."""
        own = self._upward
        return Support.within(own.upper, own.error) if self.symmetric else own

    @property
    def closed_form(self) -> ClosedForm:
        """Integrals of positive terms."""
        return ClosedForm(self.excess, self.reversed_excess, self.partial_masses, self.density)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """Not known of every curve."""
        return None

    def density(self, x: float) -> Scaled | None:
        """Not known of every curve."""
        return None

    def log_masses(self) -> tuple[Values, Values] | None:
        """From what is lost."""
        infinite_p, infinite_q = self.curve.lost
        return (log_complement(infinite_p, 8 * ULP), log_complement(infinite_q, 8 * ULP)) if infinite_p or infinite_q else None

    def excess(self, x: float) -> Scaled | None:
        """By an integral of positive terms."""
        return curve_excess.excess(self.curve, x)

    def reversed_excess(self, x: float) -> Scaled | None:
        """By an integral of positive terms."""
        return curve_excess.reversed_excess(self.curve, x)

    def log_transform(self, z: NDArray[Any], count: int = 1) -> Values:
        """K at any points, new panels for each abscissa of complex ones."""
        return by_abscissa(
            np.asarray(z),
            lambda c: on_axis(self.curve, c),
            lambda c, heights: at_heights(self.curve, c, heights, count),
        )

    def approximate(self, c: NDArray[np.float64], count: int = 1) -> NDArray[np.float64]:
        """K at real points, to some digits."""
        return approximate(self.curve, c)

    def on_line(self, line: Line, count: int = 1) -> Values:
        """K on a vertical line, as a matrix product."""
        return on_line(self.curve, line, count)

    def log_envelope(self, abscissa: float, heights: NDArray[np.float64], end: float = np.inf) -> NDArray[np.float64]:
        """From the total variation of the tilted density; a curve of several strands has no atoms, and a contour to move."""
        envelope = log_varied_envelope if len(self.curve.strands) == 1 else log_raised_envelope
        return envelope(self.curve, abscissa, heights)


@dataclass(frozen=True)
class Base:
    """A symmetric pair with loss L of Q-density C e^{-L/2} on [-w, w], with or without atoms at both ends.

    With probability ``failure`` the outcome is one that only P, or only Q, may have.
    """

    width: Parameter
    with_atoms: bool
    failure: float = 0.0

    @property
    def blur(self) -> float:
        """What is relatively unknown of the pair."""
        return parameter_blur(self.width) + ULP * self.failure / (1 - self.failure)

    def size(self, side: int) -> tuple[float, float]:
        """W and the failure: as they are, or at their lower or upper ends."""
        return _end(self.width, side), self.failure * (1 + side * ULP)

    def log_constants(self, side: int) -> tuple[float, float, float]:
        """Logarithms of C, and of the atoms' Q-masses at -w and at w."""
        w, failure = self.size(side)
        kept = float(np.log1p(-failure))
        if self.with_atoms:
            log_half = kept - float(np.log(2))
            return kept - w / 2 - float(np.log(4)), log_half, log_half - w
        return kept - w / 2 - float(np.log(-2 * np.expm1(-w))), -np.inf, -np.inf

    @property
    def law(self) -> Uniform | UniformWithAtoms:
        """The loss where there is no failure."""
        return UniformWithAtoms(self.width) if self.with_atoms else Uniform(self.width)

    def partial_masses(self, rate: float, x: float, *, tilted: bool) -> Sides | None:
        """What (1 - rate) Q + rate P, or Q if ``tilted``, holds on either side of x, but for failures."""
        found = log_mixture.partial_masses(self.law, rate, x, tilted=tilted)
        if found is None or not self.failure:
            return found
        kept = float(np.log1p(-self.failure))
        above, below = (one.times_exp(kept, ULP * self.failure / (1 - self.failure)) for one in found)
        return above, below

    def mean(self, arith: Arithmetic, function: Callable[[Number], Number], *, above: bool) -> Number:
        """The integral of a function of L over the common support under Q, over L > 0 if only ``above``."""
        w = self.width.under(arith)
        total = arith.integral(lambda x: function(x) * arith.exp(-x / 2), 0 * w if above else -w, w)
        if self.with_atoms:
            total = (arith.exp(-w / 2) * total / 2 + arith.exp(-w) * function(w) + (0 if above else function(-w))) / 2
        else:
            total = total / (2 * (arith.exp(w / 2) - arith.exp(-w / 2)))
        return (1 - arith.constant(self.failure)) * total if self.failure else total


@dataclass(frozen=True)
class MixedFlat(Curved):
    """The log-ratio of (1 - q) Q + q P to Q, under the former, of a flat base: w = 1 - q + q e^L."""

    base: Base
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        q = arith.constant(self.rate)
        total = self.base.mean(arith, lambda x: (1 - q + q * arith.exp(x)) ** (z + 1), above=False)
        if self.base.failure:
            total += arith.constant(self.base.failure) * (1 - q) ** (z + 1)
        return arith.log(total)

    def _curve(self, side: int) -> Curve:
        """Over L itself."""
        (w, failure), (g0, bottom, top) = self.base.size(side), self.base.log_constants(side)
        q = self.rate * (1 + side * ULP)
        ends = ((-w, bottom), (w, top)) if self.base.with_atoms else ()
        failed = ((-np.inf, float(np.log(failure))),) if failure else ()
        strands, lost = (Strand(q, 1.0),), (q * failure, 0.0)
        return Curve(strands, -w, w, (g0, -0.5, 0.0), (*ends, *failed), lost=lost, blur=self.base.blur)

    @property
    def unmixed(self) -> tuple[LossTransform, Parameter] | None:
        """The flat law and the rate."""
        return None if self.base.failure else (self.base.law, Plain(self.rate))

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """From the base; what Q alone may have is an atom at log(1 - q)."""
        found = self.base.partial_masses(self.rate, x, tilted=tilted)
        if found is None or not self.base.failure:
            return found
        failed = _failed(self.base, 0.0 if tilted else self.rate)
        low, high = log_mixture.unmixed(x, self.rate)
        share = (high == -np.inf) + 0.5 * (low == -np.inf < high)
        return found[0] + _part(failed, share), found[1] + _part(failed, 1 - share)

    def density(self, x: float) -> Scaled | None:
        """From that of the base, without failures."""
        found = log_mixture.flat_density(self.base.law, self.rate, x)
        return found and found.times_exp(float(np.log1p(-self.base.failure)), 2 * ULP * self.base.failure)

    @cached_property
    def support(self) -> Support:
        """From the least loss to that at the end of the curve."""
        own, q = self._upward, self.rate
        place = -np.inf if self.base.failure else self.curve.start
        atoms = atoms_of(Curve(self.curve.strands, 0.0, 0.0, (0.0, 0.0, 0.0), ((place, 0.0),), blur=self.curve.blur))
        lower = float(atoms.loss[0] - atoms.slip[0]) * (1 + 2 * ULP)
        return replace(own, lower=lower, error=own.error + 2.0**-49 * q / (1 - q) - 8 * ULP * lower)


@dataclass(frozen=True)
class SplicedFlat(Curved):
    """The log-ratio of (1 - g) Q + g P to Q of a flat base where it is positive, mirrored where it is negative."""

    base: Base
    rate: float

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        total = 1 + self.base.mean(arith, spliced_change(arith, self.rate, z), above=True)
        if self.base.failure:
            total -= arith.constant(self.rate) * arith.constant(self.base.failure)
        return arith.log(total)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """From the base above zero, mirrored below; what is not lost of the failures is at zero."""

        def half(x: float, tilted: bool) -> Sides | None:
            found = self.base.partial_masses(self.rate, x, tilted=tilted)
            return found and (found[0], found[1] + _failed(self.base, self.rate))

        return log_mixture.spliced(half, x, tilted=tilted)

    def _curve(self, side: int) -> Curve:
        """Over L > 0."""
        (w, failure), (g0, _, top) = self.base.size(side), self.base.log_constants(side)
        g = self.rate * (1 + side * ULP)
        # Q(L <= 0) - Q(L > 0) of the base without failures, and Q(L > 0)
        apart, above = (
            (-np.expm1(-w / 2), np.exp(-w / 2) / 2) if self.base.with_atoms else (np.tanh(w / 4), 1 / (1 + np.exp(w / 2)))
        )
        rest = float((1 - g) * (apart + 2 * failure * above))
        atoms = ((w, top),) if self.base.with_atoms else ()
        lost = (g * failure, g * failure)
        return Curve((Strand(g, 1.0),), 0.0, w, (g0, -0.5, 0.0), atoms, True, rest, lost, self.base.blur)


@dataclass(frozen=True)
class SplicedNormal(Curved):
    """The log-ratio of (1 - g) N(0, 1) + g N(m, 1) to N(0, 1) where it is positive, mirrored where it is negative."""

    shift: Parameter
    rate: float

    @property
    def growth(self) -> Growth:
        """That of the shift: its excess is nowhere smaller, and it is at least g^{z+1} M of the shift on half of the line."""
        return Growth.both(shifted_growth(self.shift))

    @property
    def shift_bound(self) -> float:
        """The shift, whose profile is nowhere smaller."""
        return largest_shift(self.shift)

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """Those of the mixture above zero, mirrored below."""
        law = MixedNormal(self.shift, Plain(self.rate))
        return log_mixture.spliced(lambda x, tilted: law.partial_masses(x, tilted=tilted), x, tilted=tilted)

    def density(self, x: float) -> Scaled | None:
        """That of the mixture above zero, mirrored below."""
        found = MixedNormal(self.shift, Plain(self.rate)).density(abs(x))
        return found and found.times_exp(min(x, 0.0))

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m = self.shift.under(arith)
        change = spliced_change(arith, self.rate, z)
        # relative to the density in the middle, at m/2
        total = arith.integral(lambda x: change(m * x) * arith.exp(-(x + m / 2) * (x + m / 2) / 2), 0 * m, None)
        return arith.log(1 + total / (2 * arith.integral(lambda x: arith.exp(-x * x / 2), 0 * m, None)))

    def _curve(self, side: int) -> Curve:
        """Over the distance from m/2."""
        m, g = _end(self.shift, side), self.rate * (1 + side * ULP)
        density = (-m * m / 8 - _LOG_ROOT, -m / 2, -0.5)
        return Curve(
            (Strand(g, m),), 0.0, np.inf, density, (), True, (1 - g) * erf(m / 8**0.5), blur=parameter_blur(self.shift)
        )


@dataclass(frozen=True)
class ReplacedNormal(Curved):
    """The log-ratio of (1 - q) N(0, 1) + q N(m, 1) to (1 - q) N(0, 1) + q N(-m, 1)."""

    shift: Parameter
    rate: float

    @property
    def symmetric(self) -> bool:
        """The line may be turned around."""
        return True

    @property
    def growth(self) -> Growth:
        """That of the shift, and -log(1 - q) from below."""
        q = self.rate
        return Growth.both(shifted_growth(self.shift, -float(np.log1p(-q)) * (1 + 1e-15) + 2.0**-52 * q / (1 - q)))

    @property
    def shift_bound(self) -> float:
        """Twice the shift: that of both means, where the record takes part."""
        return 2 * largest_shift(self.shift)

    def formula(self, arith: Arithmetic, z: Number) -> Number:
        """K(z)."""
        m, q = self.shift.under(arith), arith.constant(self.rate)

        def mixture(x: Number) -> Number:
            return 1 - q + q * arith.exp(m * x - m * m / 2)

        return arith.log_normal_mean(lambda x: mixture(x) ** (z + 1) * mixture(-x) ** (-z))

    def partial_masses(self, x: float, *, tilted: bool = False) -> Sides | None:
        """Masses of two normal laws on either side of where the loss meets x."""
        from logphi.normal.tails import mixed_sides

        m, q = float(self.shift.under(FLOATS).mid), self.rate
        centres, log_weights = np.array([0.0, -m if tilted else m]), np.array([np.log1p(-q), np.log(q)])
        return mixed_sides(*self._places(x), centres, log_weights, np.array([ULP / (1 - q), ULP]))

    def _places(self, x: float) -> tuple[float, float]:
        """Two places between which the loss is x: it is where sinh(m t - x/2) = (1 - q)/q e^{m^2/2} sinh(x/2)."""
        m, q, half = float(self.shift.under(FLOATS).mid), self.rate, abs(x) / 2
        if half == 0:
            return 0.0, 0.0
        parts = np.array([np.log1p(-q), -np.log(q), m * m / 2, half, np.log(-np.expm1(-2 * half) / 2)])
        # half an ulp of q and of x, a few of m
        wrong = 8 * ULP * (1 + np.abs(parts).sum() + m * m + half) + ULP / (1 - q)
        log_sinh = parts.sum() + wrong * np.array([-1.0, 1.0])
        # 1/(4 A^2) above log(2 A) is nothing there
        turned = np.where(log_sinh < 300, np.arcsinh(np.exp(np.minimum(log_sinh, 300.0))), log_sinh + np.log(2))
        near, far = ((half + turned) / m * (1 + 24 * ULP * np.array([-1.0, 1.0]))).tolist()
        return (near, far) if x > 0 else (-far, -near)

    def _curve(self, side: int) -> Curve:
        """Over the line."""
        m, q = _end(self.shift, side), self.rate * (1 + side * ULP)
        strands = (Strand(q, m, -m * m / 2), Strand(q, -m, -m * m / 2, -1, 1))
        return Curve(strands, -np.inf, np.inf, (-_LOG_ROOT, 0.0, -0.5), blur=parameter_blur(self.shift))


def _end(parameter: Parameter, side: int) -> float:
    """A parameter as it is, or one of its ends."""
    disc = parameter.under(FLOATS)
    return float(disc.mid) + side * (float(disc.rad) + ULP * float(disc.mid))


def _failed(base: Base, rate: float) -> Scaled:
    """What is not taken of a failure, with half an ulp of either."""
    failure = base.failure
    return Scaled(0.0, (1 - rate) * failure, rounding=failure * (2 * ULP * (1 - rate) + ULP * rate))


def _part(amount: Scaled, share: float) -> Scaled:
    """All of an amount, none of it, or, for one half, anything between."""
    return replace(amount, value=share * amount.value, rounding=share * amount.high if share < 1 else amount.rounding)


def parameter_blur(parameter: Parameter) -> float:
    """The relative error of a parameter."""
    disc = parameter.under(FLOATS)
    return float(disc.rad / disc.mid)


def spliced_change(arith: Arithmetic, rate: float, z: Number) -> Callable[[Number], Number]:
    """W^{z+1} + w^{-z} - w - 1, as a function of log p/q of the base."""
    g = arith.constant(rate)

    def change(x: Number) -> Number:
        w = 1 - g + g * arith.exp(x)
        return w ** (z + 1) + w ** (-z) - w - 1

    return change
