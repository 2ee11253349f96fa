"""Dominating pairs (P, Q) of output laws with and without the record ([AFA] Definition 7), and what sampling makes of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Multiple, Parameter, Plain
from logphi.core.logphi import LogPhi
from logphi.numerics.laws.blended_normal import BlendedNormal
from logphi.numerics.laws.densities import Densities, LogDensity, MixtureLog, NormalLog
from logphi.numerics.laws.finite import Cells, Finite, Given, Mixed, Spliced, Turned
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.laws.normal_pair import NormalPair
from logphi.numerics.laws.weights import Binomial, Thinned, Weights


class UnsupportedError(ValueError):
    """A combination of mechanism, sampling and relation that has no known pair; the message says why, and what is near."""


class Pair(ABC):
    """Two laws on one space; the loss is log(p/q) under P. All rates lie strictly between 0 and 1."""

    @abstractmethod
    def loss(self) -> LogPhi:
        """The loss of P against Q."""

    @abstractmethod
    def reversed(self) -> Pair:
        """Q against P."""

    @abstractmethod
    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of (1 - rate) Q + rate P against Q."""

    def spliced_loss(self, rate: float) -> LogPhi:
        """Of (1 - rate) Q + rate P against Q where it is positive, of P against (1 - rate) P + rate Q where it is negative.

        The rest is an atom at zero ([AFA] Proposition 30 and Corollary 32).

        Raises
        ------
        UnsupportedError
            If the spliced law is not known here.
        """
        raise UnsupportedError(
            "no subset of this mechanism is known under replace: it is for the Gaussian, the Laplace mechanism and finite "
            "pairs; ask for adjacency='add_remove'"
        )

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """The loss of a group of ``size`` records, each of which takes part by itself; the rate may be 1.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "group_size above 1 is known for the Gaussian mechanism only, whose groups are mixtures with binomial weights; "
            "for others multiply the sensitivity by the size of the group and sample at its rate of being met at all, "
            "1 - (1 - rate)^size, which is an upper bound"
        )

    def replaced_loss(self, rate: float) -> LogPhi:
        """The loss where the record takes another value, and takes part before and after with probability ``rate``, at most 1.

        Raises
        ------
        UnsupportedError
            If the law is not known here.
        """
        raise UnsupportedError(
            "Poisson sampling under replace is known for the Gaussian mechanism only; state the release under add/remove, or "
            "sample a subset of fixed size"
        )


@dataclass(frozen=True)
class NormalShift(Pair):
    """N(m, 1) against N(0, 1)."""

    shift: Parameter

    def loss(self) -> LogPhi:
        """Normal with mean m^2/2 and variance m^2."""
        return LogPhi.of([(Normal(self.shift), 1)])

    def reversed(self) -> NormalShift:
        """The same, mirrored."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """No closed form: an integral."""
        return LogPhi.of([(MixedNormal(self.shift, Plain(rate)), 1)])

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """As many shifts as records take part, whose number is binomial.

        Schuchardt, Stoian, Kosmala & Guennemann 2024, *Unified Mechanism-Specific Amplification by Subsampling and Group
        Privacy Amplification* (Poisson sampling, group of size K added or removed, Gaussian mechanism).
        """
        if rate == 1:
            return LogPhi.of([(Normal(Multiple(self.shift, size)), 1)])
        shifts = (None, *(Multiple(self.shift, j) for j in range(1, size + 1)))
        return NormalMixture.of(shifts, Binomial(size, rate)).loss()


@dataclass(frozen=True)
class NormalMixture(Pair):
    """The sum of p_i N(c_i, 1) against N(0, 1); the shifts are distinct and increasing, ``None`` stands for zero."""

    shifts: tuple[Parameter | None, ...]
    weights: Weights

    @staticmethod
    def of(shifts: tuple[Parameter | None, ...], weights: Weights) -> Pair:
        """A pair of a single shift where there is but one."""
        if len(shifts) == 1 and shifts[0] is not None:
            return NormalShift(shifts[0])
        return NormalMixture(shifts, weights)

    def loss(self) -> LogPhi:
        """No closed form: an integral."""
        first, *others = self.shifts
        rate = self.weights.second
        if first is None and rate is not None and others[0] is not None:
            return LogPhi.of([(MixedNormal(others[0], rate), 1)])
        return LogPhi.of([(BlendedNormal(tuple(shift or Plain(0.0) for shift in self.shifts), self.weights), 1)])

    def reversed(self) -> Pair:
        """Not known: the mixture would be on the other side.

        Raises
        ------
        UnsupportedError
            Always.
        """
        raise UnsupportedError(
            "a subset of a GaussianMixture is not supported: mixed with its own reversal, a mixture of Gaussians has no "
            "log-ratio that is known here; sample with poisson, or take the Gaussian of the largest sensitivity"
        )

    def mixed_loss(self, rate: float) -> LogPhi:
        """A mixture again, with more weight at zero."""
        alone = self.shifts[0] is not None
        shifts = (None, *self.shifts) if alone else self.shifts
        return NormalMixture(shifts, Thinned(self.weights, rate, alone)).loss()


@dataclass(frozen=True)
class NormalLaws(Pair):
    """N(m_p, s_p^2) against N(m_q, s_q^2): of different widths, or the same law twice."""

    mean_p: float
    sigma_p: float
    mean_q: float
    sigma_q: float

    def loss(self) -> LogPhi:
        """A quadratic in a normal variable; nothing where both laws agree."""
        if self.sigma_p == self.sigma_q:
            return LogPhi()
        return LogPhi.of([(NormalPair(self.mean_p, self.sigma_p, self.mean_q, self.sigma_q), 1)])

    def reversed(self) -> NormalLaws:
        """The laws exchanged."""
        return NormalLaws(self.mean_q, self.sigma_q, self.mean_p, self.sigma_p)

    def mixed_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        p, q = NormalLog(self.mean_p, self.sigma_p), NormalLog(self.mean_q, self.sigma_q)
        return LogPhi() if p == q else DensityPair(p, q, (-math.inf, math.inf)).mixed_loss(rate)


@dataclass(frozen=True)
class DensityPair(Pair):
    """Two densities on an interval, by their logarithms, with the points where these are not smooth."""

    log_p: LogDensity
    log_q: LogDensity
    support: tuple[float, float]
    breakpoints: tuple[float, ...] = ()

    @property
    def law(self) -> Densities:
        """The law of the loss."""
        return Densities(self.log_p, self.log_q, self.support, self.breakpoints)

    def loss(self) -> LogPhi:
        """By quadrature."""
        return LogPhi.of([(self.law, 1)])

    def reversed(self) -> DensityPair:
        """The densities exchanged."""
        return DensityPair(self.log_q, self.log_p, self.support, self.breakpoints)

    def mixed_loss(self, rate: float) -> LogPhi:
        """The mixture of the densities against the second."""
        return DensityPair(MixtureLog(self.log_p, self.log_q, rate), self.log_q, self.support, self.breakpoints).loss()


@dataclass(frozen=True)
class FinitePair(Pair):
    """Two probability vectors on the same cells; a cell with q = 0 is mass at infinity.

    ``blur`` bounds the relative error of each probability beside its own half ulp. ``exact`` gives the probabilities as
    formulas of the parameters, where every cell has mass under both laws. ``stray`` bounds the mass of either law on cells
    that are left out, far below one half: they count as infinite losses in upper bounds and not at all in lower ones.
    """

    p: tuple[float, ...]
    q: tuple[float, ...]
    blur: float = 0.0
    exact: Cells | None = None
    stray: float = 0.0

    @staticmethod
    def of(cells: Cells) -> FinitePair:
        """The pair whose probabilities are formulas; their rounding, and the half ulp of every parameter, is the blur.

        Raises
        ------
        ValueError
            If a probability is not positive beyond its rounding, or a vector does not sum to one within it.
        """
        p, q = cells.under(FLOATS)
        for name, vector in (("p", p), ("q", q)):
            if not all(0 <= disc.rad < disc.mid / 2 for disc in vector):
                raise ValueError(f"every cell needs a positive probability under {name}: leave those out that have none")
            total, room = math.fsum(float(disc.mid) for disc in vector), math.fsum(float(disc.rad) for disc in vector)
            if abs(total - 1) > room + 1e-15 * len(vector):
                raise ValueError(f"the formulas of {name} must sum to one, got {total!r}")
        blur = max(float(disc.rad) / float(disc.mid) for disc in (*p, *q)) * (1 + 1e-9)
        return FinitePair(tuple(float(disc.mid) for disc in p), tuple(float(disc.mid) for disc in q), 2 * blur, cells)

    def loss(self) -> LogPhi:
        """A finite law on the common support."""
        common = [(a, b) for a, b in zip(self.p, self.q, strict=True) if a > 0 and b > 0]
        lost_p = math.fsum(a for a, b in zip(self.p, self.q, strict=True) if b == 0)
        lost_q = math.fsum(b for a, b in zip(self.p, self.q, strict=True) if a == 0)
        p, q = tuple(a for a, _ in common), tuple(b for _, b in common)
        return LogPhi.of([(Finite(p, q, lost_p, lost_q, self.blur, self.exact, self.stray), 1)])

    def reversed(self) -> FinitePair:
        """The vectors exchanged."""
        exact = None if self.exact is None else Turned(self.exact)
        return FinitePair(self.q, self.p, self.blur, exact, self.stray)

    def mixed_loss(self, rate: float) -> LogPhi:
        """Cell by cell."""
        mixture = tuple((1 - rate) * b + rate * a for a, b in zip(self.p, self.q, strict=True))
        # half an ulp of the rate, which 1 - rate inherits
        exact = Mixed(self.exact or _given(self.p, self.q), rate)
        return FinitePair(mixture, self.q, self.blur + 2.0**-53 * (rate / (1 - rate) + 4), exact, self.stray).loss()

    def spliced_loss(self, rate: float) -> LogPhi:
        """The cells above, those below, and one for the rest."""
        pairs = list(zip(self.p, self.q, strict=True))
        higher = tuple(i for i, (a, b) in enumerate(pairs) if a > b)
        lower = tuple(i for i, (a, b) in enumerate(pairs) if a < b)
        above = [((1 - rate) * pairs[i][1] + rate * pairs[i][0], pairs[i][1]) for i in higher]
        below = [(pairs[i][0], (1 - rate) * pairs[i][0] + rate * pairs[i][1]) for i in lower]
        # both laws have the same mass left
        rest = math.fsum([*(a for a, b in pairs if a == b), *((1 - rate) * (a - b) for a, b in pairs if a > b)])
        kept = [*above, *below, *([(rest, rest)] if rest > 0 else [])]
        # half an ulp of the rate, which 1 - rate inherits; a difference of two probabilities loses digits
        lost = math.fsum(a for a, b in pairs if a > b) / max(rest, 1e-300) if rest > 0 else 0.0
        blur = (self.blur + 2.0**-53 * (rate / (1 - rate) + 6)) * max(1.0, 2 * lost)
        shared = min(self.p + self.q) > 0
        exact = Spliced(self.exact or _given(self.p, self.q), rate, higher, lower, rest > 0) if shared else None
        return FinitePair(tuple(a for a, _ in kept), tuple(b for _, b in kept), blur, exact, self.stray).loss()


def _given(p: tuple[float, ...], q: tuple[float, ...]) -> Given:
    """The cells that Q reaches, as they were written."""
    return Given(tuple(a for a, b in zip(p, q, strict=True) if b > 0), tuple(b for b in q if b > 0))
