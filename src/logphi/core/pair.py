"""Dominating pairs (P, Q) of output laws with and without the record ([AFA] Definition 7), and what sampling makes of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from logphi.arith.floats import FLOATS
from logphi.arith.protocol import Parameter, Plain, Twice
from logphi.core.logphi import LogPhi
from logphi.numerics.laws.curved import Base, MixedFlat, ReplacedNormal, SplicedFlat, SplicedNormal
from logphi.numerics.laws.finite import Cells, Finite, Mixed, Thinned, Turned
from logphi.numerics.laws.mixed_normal import MixedNormal
from logphi.numerics.laws.normal import Normal
from logphi.numerics.laws.uniform import Uniform, UniformWithAtoms

# beyond this, e^{loss} times a rate leaves the range of normal doubles
LARGEST_SAMPLED = 600.0
# beyond these, products of losses and rates leave it
LEAST_SHIFT, LARGEST_SHIFT = 1e-50, 20.0


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
            return LogPhi.of([(Normal(Twice(self.shift)), 1)])
        return LogPhi.of([(ReplacedNormal(self._sampled(), rate), 1)])

    def _sampled(self) -> Parameter:
        size = float(self.shift.under(FLOATS).mid)
        if not LEAST_SHIFT <= size <= LARGEST_SHIFT:
            raise UnsupportedError(
                f"sensitivity / sigma must lie between {LEAST_SHIFT:g} and {LARGEST_SHIFT:g} for a sample under replace, "
                f"got {size!r}"
            )
        return self.shift


@dataclass(frozen=True)
class TiltedFlat(Pair):
    """A loss that is uniform on [-w, w] once tilted by e^{-x/2}, with or without atoms at the ends.

    With probability ``failure`` the outcome tells everything.
    """

    width: Parameter
    with_atoms: bool
    failure: float = 0.0

    def loss(self) -> LogPhi:
        """Known in closed form."""
        thinned = [(Thinned(self.failure), 1)] if self.failure else []
        return LogPhi.of([((UniformWithAtoms if self.with_atoms else Uniform)(self.width), 1), *thinned])

    def reversed(self) -> TiltedFlat:
        """The same, mirrored."""
        return self

    def mixed_loss(self, rate: float) -> LogPhi:
        """No closed form: an integral."""
        return LogPhi.of([(MixedFlat(self._base(), rate), 1)])

    def spliced_loss(self, rate: float) -> LogPhi:
        """No closed form: an integral."""
        return LogPhi.of([(SplicedFlat(self._base(), rate), 1)])

    def _base(self) -> Base:
        size = float(self.width.under(FLOATS).mid)
        if not LEAST_SHIFT <= size <= LARGEST_SAMPLED:
            raise UnsupportedError(
                f"a largest loss below {LEAST_SHIFT:g} or above {LARGEST_SAMPLED:g} cannot be sampled, got {size!r}; "
                "state the release without sampling"
            )
        return Base(self.width, self.with_atoms, self.failure)


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
        exact = None if self.exact is None else Mixed(self.exact, rate)
        return FinitePair(mixture, self.q, self.blur + 2.0**-53 * (rate / (1 - rate) + 4), exact, self.stray).loss()

    def spliced_loss(self, rate: float) -> LogPhi:
        """The cells above, those below, and one for the rest."""
        pairs = list(zip(self.p, self.q, strict=True))
        above = [((1 - rate) * b + rate * a, b) for a, b in pairs if a > b]
        below = [(a, (1 - rate) * a + rate * b) for a, b in pairs if a < b]
        # both laws have the same mass left
        rest = math.fsum([*(a for a, b in pairs if a == b), *((1 - rate) * (a - b) for a, b in pairs if a > b)])
        kept = [*above, *below, *([(rest, rest)] if rest > 0 else [])]
        # half an ulp of the rate, which 1 - rate inherits; a difference of two probabilities loses digits
        lost = math.fsum(a for a, b in pairs if a > b) / max(rest, 1e-300) if rest > 0 else 0.0
        blur = (self.blur + 2.0**-53 * (rate / (1 - rate) + 6)) * max(1.0, 2 * lost)
        return FinitePair(tuple(a for a, _ in kept), tuple(b for _, b in kept), blur, None, self.stray).loss()
