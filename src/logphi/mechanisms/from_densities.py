"""A mechanism given by two densities on the line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from logphi.algebra.bracket_end import BracketEnd
from logphi.algebra.enclosed import Enclosed, Ends
from logphi.algebra.release import Primitive
from logphi.arrays import Array
from logphi.inputs import check
from logphi.inputs.arguments import ADD_REMOVE, Interval, Reals, Relation, default, frozen
from logphi.mechanisms.formulas.density_cells import cells_of
from logphi.mechanisms.formulas.density_formula import DensityFormula, as_formulas, cuts_or_none, intervals, pieces, variable
from logphi.pairs.densities import DensityPair
from logphi.pairs.finite import FinitePair
from logphi.text.description import node, rational

# chosen: the largest distance of the integral of a density from one
NORMALISED = 1e-6


@frozen
class FromDensities(Enclosed, Primitive):
    """A mechanism with one real output, given by the logarithms of its two densities.

    If the densities are functions, all errors are estimates. If they are SymPy expressions in one symbol, the profile, also of
    compositions and samples, is proved to lie between those of two finite pairs: ``delta``, ``epsilon`` and trade-off functions
    are brackets, and ``certify`` has more digits; both divide each density by its integral. For expressions that cannot be
    enclosed, and for other questions, errors are estimates.

    Pair: (p, q). log-phi: K(z) = log of the integral of p^{1+z} q^{-z} over the x where both are positive, by adaptive
    Gauss-Kronrod quadrature; outputs where q = 0 have an infinite loss. Two such mechanisms are equal if their functions
    are the same objects.

    Parameters
    ----------
    log_p
        Natural logarithm of the density of the output with the record present: a function of a NumPy array that returns an
        array of its shape, or an expression of SymPy in one symbol; minus infinity where the density is zero.
    log_q
        The same without the record.
    support
        The interval (low, high) outside which both are zero; either end may be infinite.
    breakpoints
        Points strictly inside at which a density or a derivative jumps, or near which it is narrow. Kinks that are not
        declared are found at some cost; a narrow spike far from every breakpoint may be missed.
    adjacency
        The relation that the two laws stand for. Under ``replace``, the pair must dominate the laws of two such data sets in
        either order: which of the two is the first may differ between the mechanisms of a composition.

    Raises
    ------
    ValueError, TypeError
        If the functions do not return real arrays of the right shape without NaN, do not integrate to one within 1e-6, or
        share no mass; if the support is not an interval or a breakpoint lies outside.

    References
    ----------
    [AFA] Definition 12; Piessens et al. 1983, *QUADPACK* (the rule).

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> def cauchy(centre):
    ...     return lambda x: -np.log1p((x - centre) ** 2) - math.log(math.pi)
    >>> found = FromDensities(cauchy(1), cauchy(0), (-np.inf, np.inf)).delta(0.5)
    >>> round(found.value, 9), found.status.name
    (0.119071653, 'ESTIMATED')
    """

    log_p: Callable[[Array], Any]
    log_q: Callable[[Array], Any]
    support: Interval
    breakpoints: Reals = default(())
    adjacency: Relation = ADD_REMOVE
    _undescribed: ClassVar = (
        "its densities are functions; write them as SymPy expressions, or certify a mechanism that dominates it"
    )

    def __post_init__(self) -> None:
        support = _interval(self.support)
        points = check.real_array("breakpoints", self.breakpoints) if len(self.breakpoints) else np.zeros(0)
        if points.ndim != 1 or not np.all((points > support[0]) & (points < support[1])):
            raise ValueError(f"breakpoints must be numbers strictly inside the support {support}, got {self.breakpoints!r}")
        log_p, log_q = as_formulas(self.log_p, self.log_q)
        self._settle(log_p=log_p, log_q=log_q)
        for name in ("log_p", "log_q"):
            if not callable(getattr(self, name)):
                raise TypeError(
                    f"{name} must be a function of an array, got {getattr(self, name)!r}; "
                    "a density given by numbers on finitely many outcomes is a Discrete"
                )
        given = set(check.entries(self.breakpoints, points)) if points.size else set()
        self._settle(support=support, breakpoints=tuple(sorted(given)))
        self._examine()

    def _examine(self) -> None:
        """Check the two functions."""
        law = self.pair().law
        for name, function in (("log_p", self.log_p), ("log_q", self.log_q)):
            _probe(name, function, law.probes())
        (whole_p, infinite_p), (whole_q, _), _ = law.totals()
        for name, whole in (("log_p", whole_p), ("log_q", whole_q)):
            if not abs(whole - 1) <= NORMALISED:
                raise ValueError(
                    f"e^{name} must integrate to one over {self.support}, got {whole:.9g}: the density is not normalized, the "
                    "support is too small, or a narrow part of it was missed; normalize it, or give its place in breakpoints"
                )
        if infinite_p > 1 - NORMALISED:
            raise ValueError(
                "the two densities share no mass: every output reveals everything; check that both are densities of the same "
                "output"
            )

    def pair(self) -> DensityPair:
        """The densities."""
        return DensityPair(self.log_p, self.log_q, self.support, (*self.breakpoints, *self._kinks))

    @property
    def _formulas(self) -> tuple[DensityFormula, DensityFormula] | None:
        """Both densities, if they are expressions."""
        log_p, log_q = self.log_p, self.log_q
        return (log_p, log_q) if isinstance(log_p, DensityFormula) and isinstance(log_q, DensityFormula) else None

    @property
    def _kinks(self) -> tuple[float, ...]:
        """The kinks that expressions show."""
        found = [float(x) for one in self._formulas or () for x in cuts_or_none(one)]
        return tuple(sorted({x for x in found if self.support[0] < x < self.support[1]} - set(self.breakpoints)))

    @property
    def _enclosed(self) -> bool:
        return self._formulas is not None

    def ends(self) -> Ends | None:
        """Two finite pairs, if the formulas can be enclosed."""
        cells = self._formulas and (*self._formulas, self.support, self.breakpoints)
        if cells is None or pairs_around(*cells) is None:
            return None
        return BracketEnd(pairs_around, cells, False, self.adjacency), BracketEnd(pairs_around, cells, True, self.adjacency)

    def _uncertified(self) -> str:
        if self._formulas is None:
            return super()._uncertified()
        try:
            pieces(*self._formulas, self.support, self.breakpoints)
        except ValueError as wrong:
            return f"certificates do not know these densities: {wrong}"
        return ""

    def _data(self, write: Callable[[str, Any], Any]) -> dict[str, Any]:
        if self._formulas is None or write is not rational:
            return super()._data(write)
        found = pieces(*self._formulas, self.support, self.breakpoints)
        return node("FromDensities", self.adjacency.value, {"pieces": found}, lambda _, value: value)

    def _numbers(self) -> Iterator[float]:
        return chain(super()._numbers(), *(one.floats for one in self._formulas or ()))


@lru_cache(maxsize=16)
def pairs_around(
    log_p: DensityFormula, log_q: DensityFormula, support: tuple[float, float], breakpoints: tuple[float, ...]
) -> tuple[FinitePair, FinitePair] | None:
    """A pair that two densities dominate, and one that dominates them; None if the formulas cannot be enclosed."""
    try:
        cells = cells_of(intervals(log_p, log_q, support, breakpoints), variable())
        return cells.below(), cells.above()
    except ValueError:
        return None


def _interval(value: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) if math.isinf(end) else check.real("support", end) for end in value)
    except (TypeError, ValueError):
        raise TypeError(f"support must be two numbers (low, high), either of them infinite, got {value!r}") from None
    if not low < high:
        raise ValueError(f"support must be (low, high) with low below high, got ({low!r}, {high!r})")
    return low, high


def _probe(name: str, function: Callable[[Array], Any], x: Array) -> None:
    """Refuse a function whose values cannot be logarithms of a density."""
    with np.errstate(all="ignore"):  # squares overflow at extreme points, and logarithms of zero are minus infinity
        try:
            found = np.asarray(function(x))
        except Exception as error:
            raise TypeError(f"{name} must take a NumPy array, but failed on one: {error}; write it with NumPy") from error
    if found.shape != x.shape or found.dtype.kind not in "iuf":
        raise ValueError(
            f"{name} must return real numbers of the shape of its argument, got an array of {found.dtype} of shape "
            f"{found.shape} for one of shape {x.shape}; a constant is np.full_like(x, value)"
        )
    wrong = np.isnan(found) | np.isposinf(found)
    if wrong.any():
        raise ValueError(
            f"{name} must be a number or minus infinity, got {float(found[wrong][0])!r} at x = {float(x[wrong][0])!r}: where "
            "the density is zero return -inf, and keep singular points and ends of the support out of the inside"
        )
