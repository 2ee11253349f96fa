"""Two densities given by formulas on a ray of outputs, cut into cells: the masses of both, and all losses on each.

notation: a ray is x = e + s t with 0 < t < 1 or t > 0, e an end of an interval or a point inside it, s rational. On a cell of a
ray with middle m and half width h both logarithms are known on discs (:mod:`formula_discs`): points at the nodes of
Gauss-Legendre quadrature, and one disc that holds the Bernstein ellipse of the cell, on which log p is within V of its value in
the middle. A polynomial of degree d approximates an analytic function that is at most M on the ellipse of parameter r to
2 M r^-d / (r - 1) (Trefethen 2013, *Approximation Theory and Approximation Practice*, Theorem 8.2). From this follow the error
of the quadrature, exact to degree 2n - 1, and that of the polynomial through the nodes. Cells are halved until V is small.
Small masses, and those next to the ends of a ray (:mod:`formula_tails`), are left out and bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, Discs
from logphi.arrays import Array
from logphi.mechanisms.formulas.formula_discs import enclosed, finite, log_constant
from logphi.mechanisms.formulas.formula_evaluation import NotEnclosedError
from logphi.mechanisms.formulas.formula_tails import log_tail

# chosen: the nodes of a cell, which errors of 1e-15 of a quadrature and 1e-7 of a polynomial need
_NODES = 12
# chosen: the parameter of the Bernstein ellipse of a cell, which the same errors need
_RHO = 6.0
# derived: the ellipse lies in a disc of this radius, in half widths: its larger half axis is (r + 1/r) / 2
_REACH = 3.084
# chosen: the largest relative error of the mass of a cell
_SHARP = 1e-9
# chosen: by how much a logarithm may vary on the ellipse
_VARIATION = 4.0
# chosen: cells of smaller mass, as a logarithm, are left out
_SMALL = -120.0
# measured: more cells take seconds
MOST_CELLS = 1 << 17
# measured: more halvings take seconds
_ROUNDS = 400
# chosen: the cell next to an end is divided in this ratio, and an infinite ray goes on by it
_RATIO = 16.0
# derived: 4 ulp, above the rounding of an end, a middle and a product
_ROUNDED = 4 * ULP

# derived: the nodes and weights on [-1, 1]
_X, _WEIGHTS = np.polynomial.legendre.leggauss(_NODES)
# the coefficients in Legendre polynomials of the polynomial through values at the nodes
_COEFFICIENTS = (np.arange(_NODES) + 0.5)[:, None] * np.polynomial.legendre.legvander(_X, _NODES - 1).T * _WEIGHTS
# derived: by how much the polynomial through the nodes enlarges an error, plus one: |c_k| is at most the error times
# (2k + 1)/2 sum of w_i |P_k(x_i)| <= (2k + 1)/2 (2 sum of w_i P_k(x_i)^2)^{1/2} = (2k + 1)^{1/2}
_LEBESGUE = 1 + float(np.sqrt(2 * np.arange(_NODES) + 1).sum()) * (1 + 1e-9)
# derived: the error of the polynomial through the nodes, where the function varies by at most 1 on the ellipse
_OF_POLYNOMIAL = 2 * _RHO ** -(_NODES - 1) / (_RHO - 1) * _LEBESGUE * (1 + 1e-9)
# derived: the error of the quadrature, where the function is at most 1 on the ellipse
_OF_QUADRATURE = 4 * 2 * _RHO ** -(2 * _NODES - 1) / (_RHO - 1) * (1 + 1e-9)


@dataclass(frozen=True, eq=False)
class Measured:
    """Cells from a to b: for each density the logarithm of its mass, minus infinity if it is left out, with its relative error.

    Losses are from ``low`` to ``high``, infinite where not both masses are known. A cell is ``ready`` if each is
    known or left out.
    """

    a: Array
    b: Array
    log_mass: Array
    error: Array
    low: Array
    high: Array
    ready: NDArray[np.bool_]

    def pick(self, those: NDArray[np.bool_]) -> Measured:
        """Some of the cells."""
        return Measured(*(getattr(self, name)[..., those] for name in _COLUMNS))


# each with an entry for each cell along its last axis
_COLUMNS = tuple(one.name for one in fields(Measured))


class Ray:
    """Both logarithms as expressions of t."""

    def __init__(self, logs: Sequence[Any | None], variable: Any, start: Fraction, scale: Fraction, endless: bool) -> None:
        import sympy

        self.t, self.endless = sympy.Symbol("t", positive=True), endless
        x = sympy.Rational(start.numerator, start.denominator) + sympy.Rational(scale.numerator, scale.denominator) * self.t
        self.logs = [None if one is None else one.xreplace({variable: x}) for one in logs]
        self.at_end = [None if one is None else one.subs(self.t, 1 / self.t) for one in self.logs]
        # in one expression, of which parts may cancel
        log_p, log_q = self.logs
        self.loss = None if log_p is None or log_q is None else sympy.expand(log_p - log_q)
        self.log_scale = log_constant(abs(scale))
        # upper bounds of both masses left out
        self.omitted = [-math.inf, -math.inf]

    def settle(self) -> None:
        """Cut the ray into cells on which both logarithms vary little."""
        last, endless = (2.0, True) if self.endless else (1.0, False)
        a, b = np.zeros(1), np.array([last])
        found = list[Measured]()
        for _ in range(_ROUNDS):
            if endless and self._leave_out(self.logs, last, 0):
                endless = False
            elif endless:
                a, b, last = np.append(a, last), np.append(b, last * _RATIO), last * _RATIO
            if not a.size and not endless:
                self.cells = joined(found)
                return
            measured = self.measured(a, b)
            found.append(measured.pick(measured.ready))
            a, b = self.halves(measured.pick(~measured.ready))
            if a.size > MOST_CELLS:
                raise NotEnclosedError("a formula varies too much")
        raise NotEnclosedError("a formula has no enclosure up to an end of the support, or to a point inside it")

    def _leave_out(self, logs: Sequence[Any | None], start: float, shift: int) -> bool:
        """Whether both integrals from there on are small; if so they are added to what is left out."""
        scale = self.log_scale.mid + self.log_scale.rad + 1e-9
        found = [-math.inf if one is None else log_tail(one, self.t, start, shift) + scale for one in logs]
        if not max(found) < _SMALL:
            return False
        self.omitted = [float(np.logaddexp(one, more + 1e-9)) for one, more in zip(self.omitted, found, strict=True)]
        return True

    def halves(self, cells: Measured) -> tuple[Array, Array]:
        """Both halves of each cell; of one at zero only the upper part, if the rest is small."""
        at_end = cells.a == 0
        a, b = cells.a[~at_end], cells.b[~at_end]
        middle = a + (b - a) / 2
        if np.any((middle <= a) | (middle >= b)):
            raise NotEnclosedError("a formula varies too much")
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        for end in cells.b[at_end].tolist():
            cut = end / _RATIO
            a, b = np.append(a, cut), np.append(b, end)
            if not (cut <= 0.5 and self._leave_out(self.at_end, 1 / cut, -2)):
                a, b = np.append(a, 0.0), np.append(b, cut)
        return a, b

    def measured(self, a: Array, b: Array) -> Measured:
        """Both masses of each cell, and all its losses."""
        middle, half = a + (b - a) / 2, (b - a) / 2
        room = _ROUNDED * b
        with np.errstate(all="ignore"):  # what is not finite is not known
            nodes = Discs(middle[:, None] + half[:, None] * _X, np.broadcast_to(room[:, None], (a.size, _NODES)))
            wide = Discs(middle, half * _REACH + room)
            close = Discs(middle, half + room)
            log_half = np.log(half) + self.log_scale.mid
            log_mass, error = np.full((2, a.size), -np.inf), np.zeros((2, a.size))
            tame, values = [], []
            for side, log in enumerate(self.logs):
                if log is None:
                    tame.append(np.ones(a.size, bool))
                    continue
                on_disc, on_cell = (_all(enclosed(log, self.t, x), a.shape) for x in (wide, close))
                most = on_cell.mid + on_cell.rad + log_half + math.log(2) + 1e-9
                at_nodes = _all(enclosed(log, self.t, nodes), nodes.mid.shape)
                known = finite(on_disc) & (on_disc.rad <= _VARIATION) & finite(at_nodes).all(axis=1)
                top = at_nodes.mid.max(axis=1)
                terms = np.exp(at_nodes.mid - top[:, None])
                total = terms @ _WEIGHTS
                wrong = (terms * (np.expm1(at_nodes.rad) + ELEMENTARY * (1 + np.abs(at_nodes.mid - top[:, None])))) @ _WEIGHTS
                wrong += _OF_QUADRATURE * np.exp(on_disc.mid + on_disc.rad - top + 1e-9)
                own = wrong / total + 32 * ULP + ELEMENTARY * (_NODES + np.abs(top) + np.abs(log_half)) + self.log_scale.rad
                known &= own < _SHARP
                small = finite(on_cell) & (most < _SMALL)
                log_mass[side] = np.where(small, -np.inf, top + np.log(total) + log_half)
                error[side] = np.where(small, 0.0, own * (1 + 1e-2))
                if small.any():
                    self.omitted[side] = float(np.logaddexp(self.omitted[side], np.logaddexp.reduce(most[small]) + 1e-9))
                tame.append(small | known)
                values.append((at_nodes, on_disc, small))
            low, high = np.full(a.size, -np.inf), np.full(a.size, np.inf)
            if len(values) == 2:
                (p, on_p, small_p), (q, on_q, small_q) = values
                both = tame[0] & tame[1] & ~small_p & ~small_q
                loss = p.mid - q.mid
                rounding = (p.rad + q.rad + 4 * ULP * (np.abs(p.mid) + np.abs(q.mid))).max(axis=1)
                parts = loss @ _COEFFICIENTS.T
                size = np.abs(parts[:, 1:]).sum(axis=1)
                # the loss minus its value in the middle
                varies = on_p.rad + on_q.rad
                on_disc = _all(enclosed(self.loss, self.t, wide), a.shape)
                varies = np.where(finite(on_disc), np.minimum(varies, on_disc.rad), varies)
                size += varies * _OF_POLYNOMIAL + rounding * _LEBESGUE + 1024 * ULP * np.abs(loss).max(axis=1)
                low, high = np.where(both, parts[:, 0] - size, low), np.where(both, parts[:, 0] + size, high)
        return Measured(a, b, log_mass, error, low, high, np.asarray(tame[0] & tame[1]))


def _all(x: Discs, shape: tuple[int, ...]) -> Discs:
    return Discs(np.broadcast_to(x.mid, shape), np.broadcast_to(x.rad, shape))


def joined(parts: Sequence[Measured]) -> Measured:
    """The cells of several parts."""
    return Measured(*(np.concatenate([getattr(one, name) for one in parts], axis=-1) for name in _COLUMNS))
