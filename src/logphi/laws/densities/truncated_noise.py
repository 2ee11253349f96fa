"""Log-concave noise on [-T, T] and the same noise shifted: their common support, and the mass outside of it.

notation: the noise has a log-concave density f on [-T, T]; P is the noise shifted by m, Q the noise itself, both in units of
the scale of f, m < 2T. On the common support m - T .. T the loss log f(x - m)/f(x) is odd around the middle m/2 and never
falls. The variable s of its :class:`~logphi.quadrature.curves.curve.Curve` is the distance from the middle, or the loss itself.
On T .. T + m only P has mass. A larger shift raises the profile everywhere.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from logphi.arith.floats import FLOATS, LOG_ROOT_TWO_PI, ULP, Discs
from logphi.arith.protocol import Arithmetic, Number
from logphi.arith.scaled import Scaled
from logphi.laws.closed_form import Sides
from logphi.laws.partial_masses import partial_masses
from logphi.laws.support import Pieces
from logphi.quadrature.curves.panels import gauss

# derived: over a panel of this length the exponent of the density changes so little that the rule errs by less than 1e-20
_PANEL = 8.0


@dataclass(frozen=True)
class CommonSupport:
    """The common support under Q: the loss slope * s on [-end, end], its density, and atoms at both ends.

    ``log_ends`` are the logarithms of the atoms' masses under Q below and above. ``infinite_mass`` is the mass that one law has
    where the other has none, known to ``infinite_mass_error``, and ``middle`` is by how much Q has more below the middle than
    above it. Places and parameters are known to a ``relative_error``.
    """

    slope: float
    end: float
    density: tuple[float, float, float]
    log_ends: tuple[float, float] | None
    infinite_mass: float
    infinite_mass_error: float
    middle: float
    relative_error: float

    @property
    def ends(self) -> tuple[tuple[float, float], ...]:
        """The atoms at both ends."""
        return () if self.log_ends is None else ((-self.end, self.log_ends[0]), (self.end, self.log_ends[1]))


@dataclass(frozen=True)
class Noise(ABC):
    """The noise and its shift, in the units of the query."""

    scale: float
    truncation: float
    move: float

    def sizes(self, arith: Arithmetic) -> tuple[Number, Number, Number]:
        """The shift m, the end T of the noise, and the half-length T - m/2 of the common support."""
        scale, end, moved = (arith.constant(one) for one in (self.scale, self.truncation, self.move))
        return moved / scale, end / scale, (2 * end - moved) / (2 * scale)

    @cached_property
    @abstractmethod
    def common(self) -> CommonSupport:
        """The common support, in doubles."""

    @abstractmethod
    def moment(self, arith: Arithmetic, z: Number) -> Number:
        """M(z) of the loss."""

    @abstractmethod
    def mean(self, arith: Arithmetic, function: Callable[[Number], Number], *, above: bool) -> Number:
        """The integral of a function of the loss over the common support under Q, over L > 0 if only ``above``."""

    @abstractmethod
    def infinite_mass(self, arith: Arithmetic) -> Number:
        """The mass of P outside of the support of Q."""

    @property
    def pieces(self) -> Pieces | None:
        """The loss as atoms and a flat part, if it has that form."""
        return None

    @abstractmethod
    def partial_masses(self, x: float, *, tilted: bool) -> Sides:
        """The mass of P, or of Q if ``tilted``, on the common support above the loss x, and not above it."""


def _known(*discs: Discs) -> tuple[list[float], float]:
    """Centres, and the largest relative error."""
    return [float(one.mid) for one in discs], max(float(one.rad / one.mid) for one in discs) + ULP


@dataclass(frozen=True)
class TruncatedNormal(Noise):
    """Normal noise: the loss is m s."""

    @cached_property
    def common(self) -> CommonSupport:
        """Over s in standard deviations."""
        (m, truncation, end), error = _known(*self.sizes(FLOATS))
        whole = math.erf(truncation / math.sqrt(2))
        edges = np.linspace(0, 1, 1 + math.ceil(m * truncation / _PANEL))
        u, log_weight, _ = gauss(edges[:-1], edges[1:])
        infinite_mass = m * float(np.exp(log_weight - (truncation - m * u) ** 2 / 2 - LOG_ROOT_TWO_PI).sum()) / whole
        # a density phi(x), |x| <= T, moves by |x| times what x does; and T/erf moves erf by at most itself
        infinite_mass_error = 4 * error * (2 + truncation * (truncation + m)) + 64 * ULP
        density = (-m * m / 8 - LOG_ROOT_TWO_PI - math.log(whole), -m / 2, -0.5)
        middle = math.erf(m / 8**0.5) / whole
        return CommonSupport(m, end, density, None, infinite_mass, infinite_mass_error, middle, error)

    def moment(self, arith: Arithmetic, z: Number) -> Number:
        """An incomplete normal integral."""
        return self.mean(arith, lambda loss: arith.exp((z + 1) * loss), above=False)

    def mean(self, arith: Arithmetic, function: Callable[[Number], Number], *, above: bool) -> Number:
        """Over the distance from the middle."""
        m, _, end = self.sizes(arith)
        low = 0 * m if above else -end
        return arith.integral(lambda s: function(m * s) * _normal_kernel(arith, s + m / 2), low, end) / self._whole(arith)

    def infinite_mass(self, arith: Arithmetic) -> Number:
        """The noise above T - m."""
        m, truncation, _ = self.sizes(arith)
        return arith.integral(lambda x: _normal_kernel(arith, x), truncation - m, truncation) / self._whole(arith)

    def _whole(self, arith: Arithmetic) -> Number:
        truncation = self.sizes(arith)[1]
        return 2 * arith.integral(lambda x: _normal_kernel(arith, x), 0 * truncation, truncation)

    def partial_masses(self, x: float, *, tilted: bool) -> Sides:
        """Normal masses between the point of x and either end."""
        # SciPy's normal tails would double the time of importing the package
        from logphi.normal.tails import log_masses

        (m, truncation, end), error = _known(*self.sizes(FLOATS))
        log_whole = math.log(math.erf(truncation / math.sqrt(2)))
        centre, point = (-m if tilted else m) / 2, x / m

        def between(low: float, high: float) -> tuple[float, float]:
            """Logarithms that the mass from low to high lies between: both ends are known to a few ulps of the largest."""
            room = 4 * error * (abs(point) + end + m)
            found = []
            for a, b, side in ((low + room, high - room, -1), (low - room, high + room, 1)):
                if not a < b:
                    found.append(-math.inf)
                    continue
                log_mass, own = log_masses(np.array([a - centre]), np.array([b - centre]))
                log_error = 2 * float(own[0]) + 4 * error + 8 * ULP * (1 + abs(log_whole) + abs(float(log_mass[0])))
                found.append(float(log_mass[0]) - log_whole + side * log_error)
            return found[0], found[1]

        above = between(max(point, -end), end) if point < end * (1 + error) else (-math.inf, -math.inf)
        below = between(-end, min(point, end)) if point > -end * (1 + error) else (-math.inf, -math.inf)
        return Scaled.between(*above), Scaled.between(*below)


@dataclass(frozen=True)
class TruncatedDoubleExponential(Noise):
    """Double-exponential noise: the loss is flat once tilted, with atoms at both ends where m < T."""

    def _lengths(self, arith: Arithmetic) -> tuple[Number, Number, Number, Number]:
        """m, T, the largest loss W, and T - m; no atoms where the last is not positive."""
        m, truncation, end = self.sizes(arith)
        scale, low = arith.constant(self.scale), self.truncation <= self.move
        margin = 0 * m if low else (arith.constant(self.truncation) - arith.constant(self.move)) / scale
        return m, truncation, 2 * end if low else m, margin

    @cached_property
    def common(self) -> CommonSupport:
        """Over the loss itself."""
        m, truncation, width, margin = self._lengths(FLOATS)
        atoms = self.truncation > self.move
        (m_, truncation_, w), error = _known(m, truncation, width)
        whole = -math.expm1(-truncation_)
        density = (-m_ / 2 - math.log(4 * whole), -0.5, 0.0)
        log_ends = None
        if atoms:
            (ahead,), more = _known(margin)
            error = max(error, more)
            log_end = math.log(-math.expm1(-ahead)) - math.log(2 * whole)
            log_ends = (log_end, log_end - m_)
            infinite_mass = math.exp(-ahead) * -math.expm1(-m_) / (2 * whole)
        else:
            infinite_mass = 1 - math.exp(-truncation_) * math.expm1(w) / (2 * whole)
        middle = -math.expm1(-m_ / 2) / whole
        return CommonSupport(
            1.0, w, density, log_ends, infinite_mass, 4 * error * (2 + m_ + truncation_) + 64 * ULP, middle, error
        )

    def moment(self, arith: Arithmetic, z: Number) -> Number:
        """Atoms, and an integral of an exponential."""
        m, truncation, width, margin = self._lengths(arith)
        turn = (2 * z + 1) * width / 2
        total = width / 2 * arith.exp(arith.log_sinhc(turn))
        if self.truncation > self.move:
            total = total + (1 - arith.exp(-margin)) * arith.exp(arith.log_cosh(turn))
        return arith.exp(-m / 2) * total / (1 - arith.exp(-truncation))

    def mean(self, arith: Arithmetic, function: Callable[[Number], Number], *, above: bool) -> Number:
        """Atoms, and what is between them."""
        m, truncation, width, margin = self._lengths(arith)
        total = arith.integral(lambda x: function(x) * arith.exp(-x / 2), 0 * m if above else -width, width)
        total = arith.exp(-m / 2) * total / 2
        if self.truncation > self.move:
            total = total + (1 - arith.exp(-margin)) * (arith.exp(-m) * function(m) + (0 if above else function(-m)))
        return total / (2 * (1 - arith.exp(-truncation)))

    def infinite_mass(self, arith: Arithmetic) -> Number:
        """The noise above T - m."""
        m, truncation, width, margin = self._lengths(arith)
        twice = 2 * (1 - arith.exp(-truncation))
        if self.truncation > self.move:
            return arith.exp(-margin) * (1 - arith.exp(-m)) / twice
        return 1 - (arith.exp(width - truncation) - arith.exp(-truncation)) / twice

    @cached_property
    def pieces(self) -> Pieces:
        """Atoms and the flat part between them."""
        own = self.common
        point, weight = [-own.end, own.end], own.log_ends
        atoms = () if weight is None else tuple(mass + at / 2 for at, mass in zip(point, weight, strict=True))
        where = () if weight is None else tuple(point)
        return Pieces(
            where,
            atoms,
            own.end,
            own.density[0],
            location_error=own.relative_error * own.end,
            relative_error=4 * own.relative_error * (2 + own.end) + 16 * ULP,
        )

    def partial_masses(self, x: float, *, tilted: bool) -> Sides:
        """The masses of the atoms and of the flat part."""
        return partial_masses(self.pieces, x, tilted=tilted)


def _normal_kernel(arith: Arithmetic, x: Number) -> Number:
    return arith.exp(-x * x / 2)
