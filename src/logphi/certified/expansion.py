"""Products of sums of terms e^{ua} f(t), with exact exponents a and polynomials f; negligible terms are dropped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import flint

from logphi.certified.locations import Basis, Key, Location
from logphi.certified.route import NotCertifiedError

# key of an exponent -> polynomial in t
Expanded = dict[Key, Any]

# measured: multiplying this many coefficients takes some seconds
MOST_WORK = 2_000_000


class Budget:
    """The number of coefficients that may still be computed."""

    def __init__(self) -> None:
        self.left = MOST_WORK

    def spend(self, amount: int) -> None:
        """Subtract an amount.

        Raises
        ------
        NotCertifiedError
            If it is more than is left.
        """
        self.left -= amount
        if self.left < 0:
            raise NotCertifiedError(
                f"the sum of these releases has too many different losses to write out (more than {MOST_WORK} "
                "coefficients): certify fewer different mechanisms, or ask without a certificate"
            )


@dataclass(frozen=True)
class Truncation:
    """Which terms of a product are kept: exponents not certainly below ``floor``, powers of t up to ``degree``."""

    basis: Basis
    floor: Any
    degree: int
    budget: Budget

    def place(self, key: Key) -> Any:
        """The exponent as a ball."""
        return self.basis.place(key)

    def above(self, key: Key, rest: Any) -> bool:
        """Whether the exponent plus ``rest`` may reach the floor."""
        return not self.place(key) + rest < self.floor

    def times(self, one: Any, other: Any) -> Any:
        """The product of two polynomials up to the degree."""
        self.budget.spend(1 + min(len(one), len(other)) // 4)
        whole = one * other
        return whole if len(whole) <= self.degree + 1 else flint.arb_poly(whole.coeffs()[: self.degree + 1])


def product(factors: Iterator[tuple[Expanded, Any]], truncation: Truncation) -> Expanded:
    """The product of sums, each given with the largest exponent of the product of all sums after it."""
    nothing = truncation.basis.key(Location()), flint.arb_poly([1])
    whole, _ = next(factors, (dict([nothing]), None))
    for terms, rest in factors:
        fresh: Expanded = {}
        for key, series in whole.items():
            for other, more in terms.items():
                both = tuple(a + b for a, b in zip(key, other, strict=True))
                if truncation.above(both, rest):
                    added = truncation.times(series, more)
                    fresh[both] = fresh[both] + added if both in fresh else added
        whole = fresh
    return whole
