"""A mechanism given by its Renyi divergences at complex orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from logphi.algebra.release import Primitive
from logphi.inputs import check
from logphi.inputs.arguments import REMOVE, Interval, Relation, default, frozen
from logphi.laws.divergences import Divergences
from logphi.laws.log_phi import LogPhi

# chosen: the tolerated rounding of divergences at conjugate orders, and of a second difference
TOLERANCE = 1e-9
# chosen: the points at which the function is checked: real parts within the orders, and heights
_HEIGHTS = np.array([0.7, 2.1, 5.3])


@frozen
class FromRenyi(Primitive):
    """A mechanism given by its Renyi divergences D_q(P||Q) at complex orders q. All errors are estimates.

    log-phi: K(z) = z D_{1+z}. On any vertical line Re q = c > 1 the divergences determine the whole profile,

        delta(eps) = 1/(2 pi i) times the integral of e^{(q-1) (D_q - eps)} / (q (q-1)) over the line,

    which is the inverse Laplace transform of [LT] eq. 37; the library chooses c. For divergences of real orders,
    :func:`logphi.classical.renyi.delta` has what they imply. Where all divergences above order 1 are infinite, as with a
    positive probability of infinite losses, there is no such line.

    Parameters
    ----------
    divergence
        A function of a complex order, or of an array of them, in nats; it returns a number or a ComplexBound. Only (q - 1) D_q
        counts, up to multiples of 2 pi i. At real orders it is the divergence of P from Q, P with the record. It is called with
        some thousand orders, and far more where moments hardly decay along the line, as those of atoms: take arrays for speed.
    orders
        The open interval of real parts on which the function is known; it must reach above 1.
    adjacency
        The relation that the pair stands for. Where the add direction counts, too, orders below 0 are needed.

    Raises
    ------
    ValueError, TypeError
        If the interval does not reach above 1; if the function fails, or is not finite there, or negative; if (q - 1) D_q is
        not real and convex at real orders; or if values at conjugate orders are not conjugate, or too large.

    References
    ----------
    [LT] Theorem 3.3 and eq. 37.

    Examples
    --------
    >>> gaussian = FromRenyi(lambda order: order / 2)
    >>> round(gaussian.delta(1.0).value, 9), gaussian.delta(1.0).status.name
    (0.126936738, 'ESTIMATED')
    """

    divergence: Callable[[Any], Any]
    orders: Interval = default((1.0, np.inf))
    adjacency: Relation = REMOVE
    _undescribed: ClassVar = "its divergences are a function, of which nothing is proved; state the mechanism itself"

    def __post_init__(self) -> None:
        if not callable(self.divergence):
            raise TypeError(
                f"divergence must be a function of a complex order, got {self.divergence!r} of type "
                f"{type(self.divergence).__name__}"
            )
        if np.shape(self.orders) != (2,):
            raise TypeError(f"orders must be two numbers, the ends of an interval, got {self.orders!r}")
        low, high = (end if end in (-np.inf, np.inf) else check.real("an end of orders", end) for end in self.orders)
        if not (low <= 1 < high):
            raise ValueError(
                f"orders must reach from 1 or below to above 1, got {self.orders!r}: the line of the integral has a real part "
                "above 1"
            )
        self._settle(orders=(float(low), float(high)))
        self._examine()

    def _examine(self) -> None:
        """Check the properties of the divergences of every pair."""
        law = self._law()
        low, high = law.strip
        c = np.linspace(0, min(1.0, high), 7)[1:-1] if low == 0 else np.linspace(max(low, -2.0), min(1.0, high), 9)[1:-1]
        values, _ = law.evaluated(c.astype(complex))
        bad = ~(np.isfinite(values) & (np.abs(values.imag) <= TOLERANCE * (1 + np.abs(values))))
        if bad.any():
            k = int(np.argmax(bad))
            raise ValueError(
                f"divergence must be real and finite at real orders within orders={self.orders!r}, got (q - 1) D_q = "
                f"{complex(values[k])!r} at q = {1 + c[k]:g}: narrow orders to where it converges"
            )
        k = int(np.argmin(values.real * np.sign(c * (c + 1))))
        if (values.real * np.sign(c * (c + 1)))[k] < -TOLERANCE:
            raise ValueError(
                "(q - 1) D_q must not be negative above order 1 and below 0, nor positive between, got "
                f"{values[k].real:.9g} at q = {1 + c[k]:g}: check the sign"
            )
        bends = np.diff(values.real, 2)
        if bends.min() < -TOLERANCE * (1 + float(np.abs(values.real).max())):
            raise ValueError(
                f"(q - 1) D_q must be convex in q, got a second difference of {float(bends.min()):.3g} near q = "
                f"{1 + c[1 + int(np.argmin(bends))]:g}: the logarithm of a Laplace transform is; check the formula"
            )
        z = c[-1] + 1j * _HEIGHTS
        gap = law.asymmetry(z)
        if not np.all(np.abs(gap) <= TOLERANCE * 100):
            k = int(np.argmax(np.abs(gap)))
            raise ValueError(
                f"(q - 1) D_q must take conjugate values at conjugate orders, got a difference of {abs(gap[k]):.3g} at q = "
                f"{complex(1 + z[k])!r}: look for a conjugate, a modulus, or a real part"
            )

        larger = law.estimate(z).real - values[-1].real
        if larger.max() > TOLERANCE * (1 + abs(values[-1].real)):
            k = int(np.argmax(larger))
            raise ValueError(
                f"(q - 1) D_q must have its largest real part on the real axis, got {float(larger[k]):.3g} more at q = "
                f"{complex(1 + z[k])!r}: no pair has such divergences; look for a modulus or a real part"
            )

    def _law(self) -> Divergences:
        return Divergences(self.divergence, self.orders, _takes_arrays(self.divergence, self.orders))

    def loss_law(self) -> LogPhi:
        """The law of the divergences, times order minus one."""
        return LogPhi.of([(self._law(), 1)])


def _takes_arrays(divergence: Callable[[Any], Any], orders: tuple[float, float]) -> bool:
    """Whether the function maps an array to an array of the same shape."""
    asked = 1 + min(1.0, orders[1] - 1) * np.array([0.3 + 0.1j, 0.4 - 0.2j])
    try:
        return np.shape(np.asarray(divergence(asked), complex)) == asked.shape
    except (TypeError, ValueError):
        return False
