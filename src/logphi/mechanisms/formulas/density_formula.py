"""Logarithms of densities as SymPy expressions: evaluated in doubles, and written as formulas on intervals for certificates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from logphi.arrays import Array
from logphi.mechanisms.formulas.formula_text import decimals, floats, plain
from logphi.text.written import meant

# an interval, and both formulas there in one variable x; infinite ends are "-oo" and "oo", and None is the logarithm of zero
Piece = list[Any]


@dataclass(frozen=True)
class DensityFormula:
    """An expression in one real variable, as a function of arrays."""

    expression: Any
    variable: Any

    def __call__(self, x: Array) -> Array:
        """The values at each x; minus infinity where the density is zero."""
        return np.broadcast_to(np.asarray(_compiled(self.expression, self.variable)(x), float), x.shape).copy()

    def __repr__(self) -> str:
        return str(self.expression)

    @property
    def floats(self) -> list[float]:
        """Its floating-point numbers."""
        return floats(self.expression)


def as_formulas(*given: Any) -> list[Any]:
    """Expressions as functions of their one symbol; anything else is unchanged."""
    found = [one for one in given if hasattr(one, "free_symbols")]
    if not found:
        return list(given)
    import sympy

    symbols = set().union(*(one.free_symbols for one in found))
    if len(symbols) > 1:
        raise ValueError(
            f"log_p and log_q must be expressions in one symbol, the output, got {', '.join(sorted(map(str, symbols)))}: give "
            "the others numbers with .subs"
        )
    variable = next(iter(symbols), sympy.Symbol("x"))
    return [DensityFormula(one, variable) if hasattr(one, "free_symbols") else one for one in given]


@lru_cache(maxsize=32)
def _compiled(expression: Any, variable: Any) -> Any:
    import sympy

    # NumPy takes no logarithm of an integer beyond 64 bits
    long = {one: sympy.Float(one, 17) for one in expression.atoms(sympy.Integer) if abs(one) >= 2**63}
    return sympy.lambdify(variable, expression.xreplace(long), "numpy")


def cuts(formula: DensityFormula) -> list[Fraction]:
    """The points at which Abs has a kink and a Piecewise begins another branch; a ValueError if they are not rational."""
    import sympy

    expression, x = _exact(formula)
    found = set[Fraction]()
    sides = [one.args[0] for one in expression.atoms(sympy.Abs)]
    sides += [one.lhs - one.rhs for one in expression.atoms(sympy.core.relational.Relational)]
    for side in sides:
        if not side.is_polynomial(x) or not all(one.is_Rational for one in sympy.Poly(side, x).coeffs()):
            raise ValueError(
                f"the sign of {side} is not known here: in Abs and Piecewise write polynomials with rational numbers"
            )
        if not side.has(x):
            continue
        roots = sympy.Poly(side, x).real_roots(multiple=True)
        if not all(root.is_Rational for root in roots):
            raise ValueError(f"{side} changes its sign where no rational number is: write rational numbers for its parameters")
        found |= {Fraction(int(root.p), int(root.q)) for root in roots}
    return sorted(found)


def cuts_or_none(formula: DensityFormula) -> list[Fraction]:
    """The cuts, or none if they are not rational: then kinks are searched numerically, as for any function."""
    try:
        return cuts(formula)
    except ValueError:
        return []


def pieces(log_p: DensityFormula, log_q: DensityFormula, support: Sequence[float], breakpoints: Sequence[float]) -> list[Piece]:
    """The intervals between all cuts, as texts; a ValueError that says what cannot be written down."""
    found = intervals(log_p, log_q, support, breakpoints)
    return [[_end(low), _end(high), *(None if one is None else str(one) for one in logs)] for low, high, *logs in found]


def intervals(
    log_p: DensityFormula, log_q: DensityFormula, support: Sequence[float], breakpoints: Sequence[float]
) -> list[tuple[Any, Any, Any, Any]]:
    """The intervals between all cuts: both ends, and both expressions in :func:`variable` or None; a ValueError as above."""
    ends = [end if math.isinf(end) else meant(end) for end in support]
    inner = {*map(meant, breakpoints), *cuts(log_p), *cuts(log_q)}
    edges = [ends[0], *sorted(one for one in inner if ends[0] < one < ends[1]), ends[1]]
    found = []
    for low, high in pairwise(edges):
        on_p, on_q = (_on(one, _inside(low, high)) for one in (log_p, log_q))
        if on_p is not None or on_q is not None:
            found.append((low, high, on_p, on_q))
    return found


def variable() -> Any:
    """The variable of exact expressions."""
    import sympy

    return sympy.Symbol("x", real=True)


def _end(end: float | Fraction) -> str:
    return str(end) if isinstance(end, Fraction) else "oo" if end > 0 else "-oo"


def _inside(low: float | Fraction, high: float | Fraction) -> Fraction:
    """A rational point between two ends."""
    if isinstance(low, Fraction):
        return (low + high) / 2 if isinstance(high, Fraction) else low + 1
    return high - 1 if isinstance(high, Fraction) else Fraction(0)


def _exact(formula: DensityFormula) -> tuple[Any, Any]:
    """The expression in a real variable x, floats as their shortest decimals."""
    x = variable()
    return decimals(formula.expression).xreplace({formula.variable: x}), x


def _on(formula: DensityFormula, place: Fraction) -> Any | None:
    """The expression on the interval around a place, in the grammar of certificates; None for minus infinity."""
    import sympy

    expression, x = _exact(formula)
    at = sympy.Rational(place.numerator, place.denominator)
    # the cuts are theirs: SymPy makes others where a square that is resolved meets its root
    known = expression.atoms(sympy.Abs)

    def branch(one: Any) -> Any:
        return next((value for value, holds in one.args if holds == True or holds.subs(x, at) == True), sympy.nan)  # noqa: E712 - of SymPy

    def signed(one: Any) -> Any:
        if one not in known:
            raise ValueError(f"the sign of {one.args[0]} is not known here: write Abs in the place of roots of squares")
        return one.args[0] * sympy.sign(one.args[0].subs(x, at))

    expression = expression.replace(lambda one: isinstance(one, sympy.Piecewise), branch)
    expression = expression.replace(lambda one: isinstance(one, sympy.Abs), signed)
    return None if expression == -sympy.oo else plain(expression, x)
