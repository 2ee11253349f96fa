"""The functions of a law that have closed forms and need no transform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from logphi.arith.scaled import Scaled

# a function of a threshold
Amount = Callable[[float], Scaled | None]
# the masses above a threshold and not above it
Sides = tuple[Scaled, Scaled]


def _unknown(x: float, **_: Any) -> None:
    """No closed form."""


@dataclass(frozen=True)
class ClosedForm:
    """Functions of a threshold x in closed form; None where there is no closed form, or where it overflows.

    ``excess`` is E[(1 - e^{x-X})_+] and ``reversed_excess`` E[(e^{x-X} - 1)_+]. ``partial_masses`` are the masses of mu above x
    and not above, or of its tilt e^{-x} mu(dx) with ``tilted=True``; both are relatively accurate however small, and where an
    atom is within rounding of x, their errors say that it may be on either side. ``density`` is that of mu without its atoms.
    ``without_transform``: the law has no transform.
    Sums of several laws have no closed form.
    """

    excess: Amount = _unknown
    reversed_excess: Amount = _unknown
    partial_masses: Callable[..., Sides | None] = _unknown
    density: Amount = _unknown
    without_transform: bool = False

    @property
    def has_profile(self) -> bool:
        """Whether the excess has a closed form, at least at some thresholds."""
        return self.excess is not _unknown

    def reflected(self) -> ClosedForm:
        """The functions of the reflected law: the two excesses are exchanged, and so are the two sides of x."""

        def sides(x: float, *, tilted: bool = False) -> Sides | None:
            masses = self.partial_masses(-x, tilted=not tilted)
            return masses and (masses[1], masses[0])

        return ClosedForm(
            _reflected(self.reversed_excess), _reflected(self.excess), sides, _reflected(self.density), self.without_transform
        )


def _reflected(amount_at: Amount) -> Amount:
    """The function e^x times the amount at -x."""
    if amount_at is _unknown:
        return _unknown

    def at(x: float) -> Scaled | None:
        amount = amount_at(-x)
        return None if amount is None else amount.times_exp(x)

    return at
