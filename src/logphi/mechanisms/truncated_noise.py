"""The Gaussian and the Laplace mechanism with truncated noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

from logphi.algebra.release import Primitive
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Real, Relation, default, frozen
from logphi.laws.densities.truncated_noise import Noise, TruncatedDoubleExponential, TruncatedNormal
from logphi.pairs.extremes import noisy
from logphi.pairs.pair import Pair
from logphi.pairs.truncated import ShiftedNoise
from logphi.text.written import exact

# derived: squares of losses, and products with rates, are doubles
LEAST = 1e-50
# derived: below this, the finite part of the loss has few digits
LEAST_SHARED = 1e-6


@dataclass(frozen=True, repr=False)
class _TruncatedNoise(Primitive):
    _grows: ClassVar = ("sensitivity",)
    # derived: the largest truncation in widths; above it, the mass that reveals everything underflows relative to one
    _most_widths: ClassVar[float]

    def __post_init__(self) -> None:
        name = fields(self)[0].name
        width, truncation, sensitivity = (
            check.nonnegative(one, getattr(self, one)) for one in (name, "truncation", "sensitivity")
        )
        self._settle(**{name: width, "truncation": truncation, "sensitivity": sensitivity})
        if self._extreme:
            return
        if not truncation > sensitivity / 2:
            raise ValueError(
                f"truncation must not be next to half the sensitivity, got {truncation!r} with sensitivity={sensitivity!r}: "
                "doubles do not hold the mass that the two laws share; widen the noise"
            )
        if not truncation <= self._most_widths * width:
            raise ValueError(
                f"truncation must be at most {self._most_widths:g} {name}, got {truncation!r} with {name}={width!r}: the mass "
                "that is truncated is too small for a double; leave the truncation out"
            )
        for what, size in (("sensitivity", sensitivity / width), ("truncation", truncation / width)):
            if not size >= LEAST:
                raise ValueError(f"{what} / {name} must be at least {LEAST:g}, got {size!r}: losses leave the range of doubles")
        if self._noise().common.infinite_mass > 1 - LEAST_SHARED:
            raise ValueError(
                f"truncation must leave outputs of probability {LEAST_SHARED:g} in common, got {truncation!r} with "
                f"sensitivity={sensitivity!r}: nearly every output reveals everything; widen the noise"
            )

    def _parameters(self) -> tuple[float, float, float]:
        """The width of the noise, its truncation, and the sensitivity."""
        width, truncation, sensitivity, _ = (getattr(self, one.name) for one in fields(self))
        return width, truncation, sensitivity

    @abstractmethod
    def _noise(self) -> Noise: ...

    @property
    def _extreme(self) -> Pair | None:
        """The pair without noise or with too little noise, or of a query with sensitivity zero."""
        width, truncation, sensitivity = self._parameters()
        return noisy(sensitivity, 0.0 if 2 * exact(truncation) <= exact(sensitivity) else width)

    def pair(self) -> Pair:
        """The shifted noise against the noise."""
        return self._extreme or ShiftedNoise(self._noise())


@frozen
class TruncatedGaussian(_TruncatedNoise):
    """Adds N(0, sigma^2) noise, conditioned to lie within [-T, T], to a query with one value.

    Pair, with m = s/sigma and t = T/sigma: the standard normal law on [-t, t], shifted by m, against the same without a shift.
    Finite losses are at most m (t - m/2), and outputs of P above t reveal everything. log-phi: M(z) is the integral of
    e^{(z + 1) m y - (y + m/2)^2 / 2} over |y| <= t - m/2, divided by that of e^{-y^2 / 2} over |y| <= t: entire and
    symmetric. Profile of one release, with C = 2 Phi(t) - 1 and a = eps/m + m/2 below t:
    [Phi(t) - Phi(a - m) - e^eps (Phi(t) - Phi(a))] / C, and P(L = inf) = [Phi(t) - Phi(t - m)] / C for larger epsilons.

    Parameters
    ----------
    sigma
        Standard deviation of the noise before it is truncated, in the units of the query; zero or more.
    truncation
        T, the largest absolute value of the noise, in the units of the query; at most 36 sigma. Without noise, sigma = 0, and
        for T up to s/2 everything leaks.
    sensitivity
        Sensitivity s of the query, one number; at 0 nothing leaks.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or nearly every output reveals everything.

    References
    ----------
    [PLC] section 6.1.1 and Figure 4.

    Examples
    --------
    >>> round(TruncatedGaussian(sigma=1, truncation=3).delta(0.5).value, 9)
    0.239945219
    """

    sigma: Real
    truncation: Real
    sensitivity: Real = default(1.0)
    adjacency: Relation = ADD_REMOVE
    _most_widths: ClassVar = 36.0

    def _noise(self) -> Noise:
        return TruncatedNormal(self.sigma, self.truncation, self.sensitivity)


@frozen
class TruncatedLaplace(_TruncatedNoise):
    """Adds Laplace noise, conditioned to lie within [-T, T], to a query with one value.

    Pair, with w = s/scale and t = T/scale: the density e^{-|x|} / (2C) on [-t, t], C = 1 - e^{-t}, shifted by w, against the
    same without a shift. If w < t the loss has atoms at +-w; outputs of P above t reveal everything. log-phi, with
    u = z + 1/2: M(z) = e^{-w/2} [(1 - e^{w - t})_+ cosh(u w) + sinh(u W) / (2u)] / C, W = min(w, 2t - w), entire and symmetric.
    P(L = inf) is e^{-t} (e^w - 1) / (2C) for w <= t, and 1 - e^{-t} (e^{2t - w} - 1) / (2C) above. Without infinite losses,
    the profile of one release at eps between 0 and W is (e^{-w/2} (e^{W/2} - e^{eps/2})^2 e^{-W/2} + (1 - e^{w - t})_+
    (1 - e^{eps - w})) / (2C).

    Parameters
    ----------
    scale
        Scale of the noise before it is truncated, in the units of the query; zero or more.
    truncation
        T, the largest absolute value of the noise, in the units of the query; at most 600 scales. Without noise, scale = 0, and
        for T up to s/2 everything leaks.
    sensitivity
        Sensitivity s of the query, one number; at 0 nothing leaks.
    adjacency
        The relation under which the sensitivity is stated.

    Raises
    ------
    ValueError, TypeError
        If a parameter is outside its range, or nearly every output reveals everything.

    References
    ----------
    [PLC] section 6.1.1 and Figure 8.

    Examples
    --------
    >>> round(TruncatedLaplace(scale=1, truncation=3).delta(0.5).value, 9)
    0.249784205
    """

    scale: Real
    truncation: Real
    sensitivity: Real = default(1.0)
    adjacency: Relation = ADD_REMOVE
    _most_widths: ClassVar = 600.0

    def _noise(self) -> Noise:
        return TruncatedDoubleExponential(self.scale, self.truncation, self.sensitivity)
