"""Pairs of normal laws of one width, and of their mixtures."""

from __future__ import annotations

from dataclasses import dataclass

from logphi import check
from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Multiple, Norm, Parameter, Plain
from logphi.laws.blended_normal import BlendedNormal
from logphi.laws.curved_normal import ReplacedNormal, SplicedNormal
from logphi.laws.densities import NormalsLog
from logphi.laws.log_phi import LogPhi
from logphi.laws.mixed_normal import MixedNormal
from logphi.laws.normal import Normal
from logphi.laws.weights import Binomial, Thinned, Weights
from logphi.pairs.densities import DensityPair
from logphi.pairs.pair import Pair, UnsupportedError

# beyond these, products of losses and rates leave the range of normal doubles
LEAST_SHIFT, LARGEST_SHIFT = 1e-50, 20.0


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

    def repeated(self, count: int) -> Pair:
        """One shift again: orthogonal shifts add in squares."""
        return self if count == 1 else _joined((self.shift, count))

    def beside(self, other: Pair) -> Pair:
        """One shift again, beside another one."""
        if not isinstance(other, NormalShift):
            return super().beside(other)
        return _joined(*self._squares, *other._squares)

    @property
    def _squares(self) -> tuple[tuple[Parameter, int], ...]:
        return self.shift.terms if isinstance(self.shift, Norm) else ((self.shift, 1),)

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

    def spliced_loss(self, rate: float) -> LogPhi:
        """No closed form: an integral over half of the line."""
        return LogPhi.of([(SplicedNormal(self._sampled(), rate), 1)])

    def replaced_loss(self, rate: float) -> LogPhi:
        """Of (1 - rate) N(0, 1) + rate N(m, 1) against (1 - rate) N(0, 1) + rate N(-m, 1).

        The record takes the opposite value, each of norm m at most; at rate 1 that is a shift of 2m.

        References
        ----------
        Lebeda, Regehr, Kamath & Steinke 2024, *Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under
        Composition*; Schuchardt et al. 2024, *Unified Mechanism-Specific Amplification by Subsampling and Group Privacy
        Amplification*.
        """
        if rate == 1:
            return LogPhi.of([(Normal(Multiple(self.shift, 2)), 1)])
        return LogPhi.of([(ReplacedNormal(self._sampled(), rate), 1)])

    def _sampled(self) -> Parameter:
        size = float(self.shift.under(FLOATS).mid)
        if not LEAST_SHIFT <= size <= LARGEST_SHIFT:
            raise UnsupportedError(
                f"sensitivity / sigma must lie between {LEAST_SHIFT:g} and {LARGEST_SHIFT:g} for a sample under replace, "
                f"got {size!r}"
            )
        return self.shift


def _joined(*shifts: tuple[Parameter, int]) -> NormalShift:
    """Counted orthogonal shifts as one."""
    norm = Norm(shifts)
    check.moderate("sensitivity / sigma of all releases on one sample together", float(norm.under(FLOATS).mid))
    return NormalShift(norm)


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

    def reversed(self) -> NormalAgainstMixture:
        """The laws exchanged."""
        return NormalAgainstMixture(self)

    def spliced_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates."""
        return self.densities.spliced_loss(rate)

    @property
    def densities(self) -> DensityPair:
        """The same two laws by their densities."""
        means = tuple(float(shift.under(FLOATS).mid) if shift else 0.0 for shift in self.shifts)
        p = NormalsLog(means, tuple(weight.log for weight in self.weights.table()))
        return DensityPair.of_mixtures(p, NormalsLog((0.0,), (0.0,)))

    def mixed_loss(self, rate: float) -> LogPhi:
        """A mixture again, with more weight at zero."""
        alone = self.shifts[0] is not None
        shifts = (None, *self.shifts) if alone else self.shifts
        return NormalMixture(shifts, Thinned(self.weights, rate, alone)).loss()


@dataclass(frozen=True)
class NormalAgainstMixture(Pair):
    """N(0, 1) against the sum of p_i N(c_i, 1)."""

    mixture: NormalMixture

    def loss(self) -> LogPhi:
        """That of the mixture, reflected."""
        return self.mixture.loss().reflected()

    def reversed(self) -> NormalMixture:
        """The mixture first."""
        return self.mixture

    def mixed_loss(self, rate: float) -> LogPhi:
        """By quadrature, the errors of which are estimates: both laws are mixtures."""
        return self.mixture.densities.reversed().mixed_loss(rate)

    def spliced_loss(self, rate: float) -> LogPhi:
        """That of the mixture, reflected."""
        return self.mixture.spliced_loss(rate).reflected()
