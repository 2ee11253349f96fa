"""Pairs of normal laws of one width."""

from __future__ import annotations

from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Multiple, Norm, Parameter, Plain
from logphi.inputs import check
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.normal import Normal
from logphi.pairs.pair import Pair, UnsupportedError

# derived: limits within which products of losses and rates are normal doubles
LEAST_SHIFT, LARGEST_SHIFT = 1e-50, 20.0
# measured: larger values take many seconds
LEAST_ALLOCATED, LARGEST_ALLOCATED = 1e-3, 8.0


@dataclass(frozen=True)
class NormalShift(Pair):
    """N(m, 1) against N(0, 1).

    The laws of its samples are imported when they are needed: they are half of what a first answer would import.
    """

    shift: Parameter

    def loss(self) -> LogPhi:
        """Normal with mean m^2/2 and variance m^2."""
        return LogPhi.of([(Normal(self.shift), 1)])

    def reversed(self) -> NormalShift:
        """The same pair: its loss is symmetric."""
        return self

    def repeated(self, count: int) -> Pair:
        """One shift: the squares of orthogonal shifts add."""
        return self if count == 1 else _joined((self.shift, count))

    def doubled(self) -> NormalShift:
        """Twice the shift."""
        return NormalShift(Multiple(self.shift, 2))

    def product_with(self, other: Pair) -> Pair:
        """The product with another shift, again one shift."""
        if not isinstance(other, NormalShift):
            return super().product_with(other)
        return _joined(*self._squares, *other._squares)

    @property
    def _squares(self) -> tuple[tuple[Parameter, int], ...]:
        return self.shift.terms if isinstance(self.shift, Norm) else ((self.shift, 1),)

    def mixed_loss(self, rate: float) -> LogPhi:
        """The loss of the mixture, an integral."""
        from logphi.laws.normal.mixed_normal import MixedNormal

        return LogPhi.of([(MixedNormal(self.shift, Plain(rate)), 1)])

    def grouped_loss(self, rate: float, size: int) -> LogPhi:
        """A mixture of shifts with binomial weights: the number of records that take part.

        Schuchardt, Stoian, Kosmala & Guennemann 2024, *Unified Mechanism-Specific Amplification by Subsampling and Group
        Privacy Amplification* (Poisson sampling, group of size K added or removed, Gaussian mechanism).
        """
        if rate == 1:
            return LogPhi.of([(Normal(Multiple(self.shift, size)), 1)])
        from logphi.laws.normal.mixture_of_shifts import MixtureOfShifts
        from logphi.laws.weights import Binomial

        shifts: tuple[Parameter, ...] = (Plain(0.0), *(Multiple(self.shift, j) for j in range(1, size + 1)))
        return LogPhi.of([(MixtureOfShifts(shifts, Binomial(size, rate)), 1)])

    def allocated_loss(self, batches: int) -> LogPhi:
        """A loss without a closed form: its moments are those of a mean of lognormal variables.

        Chua, Ghazi, Harrison, Kamath, Kumar, Leeman, Manurangsi, Sinha & Zhang 2024, *Balls-and-Bins Sampling for DP-SGD*.
        """
        from logphi.laws.normal.allocated_normal import AllocatedNormal

        size = float(self.shift.under(FLOATS).mid)
        if not LEAST_ALLOCATED <= size <= LARGEST_ALLOCATED:
            raise UnsupportedError(
                f"sensitivity / sigma must lie between {LEAST_ALLOCATED:g} and {LARGEST_ALLOCATED:g} for random "
                f"allocation, got {size!r}; m.fixed_order(batches) is an upper bound"
            )
        return LogPhi.of([(AllocatedNormal(self.shift, batches), 1)])

    def spliced_loss(self, rate: float) -> LogPhi:
        """The loss of the spliced pair, an integral over a half-line."""
        from logphi.laws.normal.curved_normal import SplicedNormal

        return LogPhi.of([(SplicedNormal(self._sampled(), rate), 1)])

    def replaced_loss(self, rate: float) -> LogPhi:
        """The loss of (1 - rate) N(0, 1) + rate N(m, 1) against (1 - rate) N(0, 1) + rate N(-m, 1).

        The record takes the opposite value; both values have a norm of at most m. At rate 1 this is a shift of 2m.

        References
        ----------
        Lebeda, Regehr, Kamath & Steinke 2024, *Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under
        Composition*; Schuchardt et al. 2024, *Unified Mechanism-Specific Amplification by Subsampling and Group Privacy
        Amplification*.
        """
        if rate == 1:
            return LogPhi.of([(Normal(Multiple(self.shift, 2)), 1)])
        from logphi.laws.normal.curved_normal import ReplacedNormal

        return LogPhi.of([(ReplacedNormal(self._sampled(), rate), 1)])

    def replaced_group_loss(self, rate: float, size: int) -> LogPhi:
        """The loss of the sum of w_i N(i m, 1) against that of w_j N(-j m, 1).

        The binomial weights w are those of the number of records of a group that are drawn. :mod:`logphi.sampling.group` proves
        that this is the worst case.
        """
        if rate == 1:
            return LogPhi.of([(Normal(Multiple(self.shift, 2 * size)), 1)])
        from logphi.laws.normal.opposite_groups import opposite_groups

        return LogPhi.of([(opposite_groups(self._sampled(), rate, size), 1)])

    def _sampled(self) -> Parameter:
        size = float(self.shift.under(FLOATS).mid)
        if not LEAST_SHIFT <= size <= LARGEST_SHIFT:
            raise UnsupportedError(
                f"sensitivity / sigma must lie between {LEAST_SHIFT:g} and {LARGEST_SHIFT:g} for a sample under replace, "
                f"got {size!r}"
            )
        return self.shift


def _joined(*shifts: tuple[Parameter, int]) -> NormalShift:
    """Counted orthogonal shifts as a single one."""
    norm = Norm(shifts)
    check.moderate("sensitivity / sigma of all releases on one sample together", float(norm.under(FLOATS).mid))
    return NormalShift(norm)
