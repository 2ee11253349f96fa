"""The output of two densities given by formulas, cut into cells: the masses of both, and all losses on each.

notation: a ray is a part of an interval of outputs, x = e + s t with 0 < t < 1 or t > 0, e an end of the interval or any point, s
rational. On a cell of a ray with middle m and half width h both logarithms are known on discs (:mod:`formula_discs`): points at
the nodes of Gauss-Legendre quadrature, and one disc that holds the Bernstein ellipse of the cell, on which log p is within V of
its value in the middle. A polynomial of degree d approximates an analytic function that is at most M on the ellipse of parameter
r to 2 M r^-d / (r - 1), from which follow the error of the quadrature, exact to degree 2n - 1, and that of the polynomial through
the nodes. Cells are halved until V is small and the loss varies little. Small masses, and those next to the ends of a ray
(:mod:`formula_tails`), are left out and bounded.

Each density is divided by its integral.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ELEMENTARY, ULP, Discs
from logphi.arrays import Array
from logphi.mechanisms.formula_discs import NotEnclosedError, enclosed, finite, log_constant
from logphi.mechanisms.formula_tails import log_tail
from logphi.pairs.loss_cells import LossCells

# chosen: the nodes of a cell, and the parameter of its ellipse, which errors of 1e-15 and of 1e-7 need
_NODES, _RHO = 12, 6.0
# derived: the ellipse lies in a disc of this radius, in half widths: its larger half axis is (r + 1/r) / 2
_REACH = 3.084
# chosen: the largest relative error of the mass of a cell
_SHARP = 1e-9
# chosen: by how much a logarithm may vary on the ellipse
_VARIATION = 4.0
# chosen: cells of smaller mass, as a logarithm, are left out
_SMALL = -120.0
# measured: more cells take seconds, and so many halvings
_MOST, _ROUNDS = 1 << 17, 400
# chosen: the cell next to an end is divided in this ratio, and an infinite ray goes on by it
_RATIO = 16.0
# chosen: more mass left out makes useless bounds
_MOST_OMITTED = 1e-6
# chosen: the share of mass that the range of losses may miss; nodes of a lattice in that range, and the least distance of two
_RARE, _LATTICE, _FINEST = 1e-30, 2048, 2.0**-20
# chosen: cells for each distance of two nodes
_FINER = 4
# derived: 4 ulp, above the rounding of an end, a middle and a product
_ROUNDED = 4 * ULP

_X, _WEIGHTS = np.polynomial.legendre.leggauss(_NODES)
# the coefficients in Legendre polynomials of the polynomial through values at the nodes
_COEFFICIENTS = (np.arange(_NODES) + 0.5)[:, None] * np.polynomial.legendre.legvander(_X, _NODES - 1).T * _WEIGHTS
# derived: by how much the polynomial through the nodes enlarges an error, plus one: |c_k| <= (2k + 1)/2 sum of w_i |P_k(x_i)| <=
# (2k + 1)/2 (2 sum of w_i P_k(x_i)^2)^{1/2} = (2k + 1)^{1/2} times the error
_LEBESGUE = 1 + float(np.sqrt(2 * np.arange(_NODES) + 1).sum()) * (1 + 1e-9)
_OF_POLYNOMIAL = 2 * _RHO ** -(_NODES - 1) / (_RHO - 1) * _LEBESGUE * (1 + 1e-9)
_OF_QUADRATURE = 4 * 2 * _RHO ** -(2 * _NODES - 1) / (_RHO - 1) * (1 + 1e-9)

# an interval with its two ends, and log p and log q there; None where the density is zero
Piece = tuple[Fraction | float, Fraction | float, Any | None, Any | None]


@dataclass(frozen=True, eq=False)
class _Measured:
    """Cells from a to b: for each density the logarithm of its mass, with its error; a smaller mass is minus infinity."""

    a: Array
    b: Array
    log_mass: Array
    error: Array
    low: Array
    high: Array
    ready: NDArray[np.bool_]

    def pick(self, those: NDArray[np.bool_]) -> _Measured:
        return _Measured(
            self.a[those],
            self.b[those],
            self.log_mass[:, those],
            self.error[:, those],
            self.low[those],
            self.high[those],
            self.ready[those],
        )


class _Ray:
    """Both logarithms as expressions of t."""

    def __init__(self, logs: Sequence[Any | None], variable: Any, start: Fraction, scale: Fraction, endless: bool) -> None:
        import sympy

        self.t, self.endless = sympy.Symbol("t", positive=True), endless
        x = sympy.Rational(start.numerator, start.denominator) + sympy.Rational(scale.numerator, scale.denominator) * self.t
        self.logs = [None if one is None else one.xreplace({variable: x}) for one in logs]
        self.at_end = [None if one is None else one.subs(self.t, 1 / self.t) for one in self.logs]
        self.log_scale = log_constant(abs(scale))
        # upper bounds of both masses left out
        self.omitted = [-math.inf, -math.inf]

    def settle(self) -> None:
        """Cut the ray into cells on which both logarithms vary little."""
        last, endless = (2.0, True) if self.endless else (1.0, False)
        a, b = np.zeros(1), np.array([last])
        found = list[_Measured]()
        for _ in range(_ROUNDS):
            if endless and self._leave_out(self.logs, last, 0):
                endless = False
            elif endless:
                a, b, last = np.append(a, last), np.append(b, last * _RATIO), last * _RATIO
            if not a.size and not endless:
                self.cells = _joined(found)
                return
            measured = self.measured(a, b)
            found.append(measured.pick(measured.ready))
            a, b = self.halves(measured.pick(~measured.ready))
            if a.size > _MOST:
                raise NotEnclosedError("a formula varies too much")
        raise NotEnclosedError("a formula cannot be followed to an end of the support, or to a point inside it")

    def _leave_out(self, logs: Sequence[Any | None], start: float, shift: int) -> bool:
        """Whether both integrals from there on are small; if so they are added to what is left out."""
        found = [-math.inf if one is None else log_tail(one, self.t, start, shift) for one in logs]
        if not max(found) < _SMALL:
            return False
        self.omitted = [float(np.logaddexp(one, more + 1e-9)) for one, more in zip(self.omitted, found, strict=True)]
        return True

    def halves(self, cells: _Measured) -> tuple[Array, Array]:
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

    def measured(self, a: Array, b: Array) -> _Measured:
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
                own = wrong / total + 32 * ULP + ULP * (np.abs(top) + np.abs(log_half) + self.log_scale.rad / ULP + _NODES)
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
                # the polynomial of the loss minus its value in the middle
                size += (on_p.rad + on_q.rad) * _OF_POLYNOMIAL + rounding * _LEBESGUE + 512 * ULP * np.abs(loss).max(axis=1)
                low, high = np.where(both, parts[:, 0] - size, low), np.where(both, parts[:, 0] + size, high)
        return _Measured(a, b, log_mass, error, low, high, np.asarray(tame[0] & tame[1]))


def _all(x: Discs, shape: tuple[int, ...]) -> Discs:
    return Discs(np.broadcast_to(x.mid, shape), np.broadcast_to(x.rad, shape))


def rays(piece: Piece, variable: Any) -> list[_Ray]:
    """The halves of an interval, each from its end inwards; a half line is one ray."""
    low, high, *logs = piece
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        half = (high - low) / 2
        return [_Ray(logs, variable, low, half, False), _Ray(logs, variable, high, -half, False)]
    one = Fraction(1)
    if isinstance(low, Fraction):
        return [_Ray(logs, variable, low, one, True)]
    if isinstance(high, Fraction):
        return [_Ray(logs, variable, high, -one, True)]
    return [_Ray(logs, variable, Fraction(0), one, True), _Ray(logs, variable, Fraction(0), -one, True)]


def cells_of(pieces: Sequence[Piece], variable: Any) -> LossCells:
    """The cells of all pieces.

    Raises
    ------
    NotEnclosedError
        If a formula cannot be enclosed, or too much mass is left out.
    """
    own = [ray for piece in pieces for ray in rays(piece, variable)]
    for ray in own:
        ray.settle()
    step = _step_for(own)
    for ray in own:
        _refine(ray, step / _FINER)
    return _normalised(own, step)


def _joined(parts: Sequence[_Measured]) -> _Measured:
    names = ("a", "b", "log_mass", "error", "low", "high", "ready")
    return _Measured(*(np.concatenate([getattr(one, name) for one in parts], axis=-1) for name in names))


def _step_for(own: Sequence[_Ray]) -> float:
    """A distance of nodes, from the range of losses without rare ones."""
    cells = _joined([ray.cells for ray in own])
    both = np.isfinite(cells.low)
    if not both.any():
        return _FINEST
    # a large loss counts by its mass under P, a small one by that under Q
    heavy = cells.log_mass.max(axis=0)[both] > math.log(_RARE)
    high = float(np.max(cells.high[both], where=heavy & (cells.log_mass[0][both] > math.log(_RARE)), initial=0.0))
    low = float(np.min(cells.low[both], where=heavy & (cells.log_mass[1][both] > math.log(_RARE)), initial=0.0))
    return max((high - low) / _LATTICE, _FINEST)


def _refine(ray: _Ray, width: float) -> None:
    """Halve cells until each loss varies by no more than this, unless the cell is rare."""
    done, cells, count = list[_Measured](), ray.cells, 0
    while cells.a.size:
        middle = cells.a + (cells.b - cells.a) / 2
        wide = np.isfinite(cells.low) & (cells.high - cells.low > width) & (middle > cells.a) & (middle < cells.b)
        wide &= (cells.log_mass > math.log(_RARE)).any(axis=0)
        done.append(cells.pick(~wide))
        count += cells.a.size
        if count > _MOST:
            raise NotEnclosedError("the loss varies too much")
        a, b, middle = cells.a[wide], cells.b[wide], middle[wide]
        cells = ray.measured(np.concatenate([a, middle]), np.concatenate([middle, b]))
        if not cells.ready.all():
            raise NotEnclosedError("a formula varies too much")
    ray.cells = _joined(done)


def _normalised(own: Sequence[_Ray], step: float) -> LossCells:
    cells = _joined([ray.cells for ray in own])
    left_out = [float(np.logaddexp.reduce([ray.omitted[side] for ray in own])) for side in (0, 1)]
    masses, errors, logs, doubts, shares = [], [], [], [], []
    for side in (0, 1):
        top = float(cells.log_mass[side].max())
        relative = np.exp(cells.log_mass[side] - top)
        rounding = ELEMENTARY * 4 + 4 * ULP * (np.abs(np.where(relative > 0, cells.log_mass[side], 0.0)) + abs(top))
        error = np.where(relative > 0, cells.error[side] + rounding, 0.0)
        total = math.fsum(relative.tolist())
        share = math.exp(left_out[side] - top) / total * (1 + 1e-9)
        doubt = (math.fsum((relative * error).tolist()) / total + share) * (1 + 1e-6) + 8 * ULP
        if not doubt < _MOST_OMITTED:
            raise NotEnclosedError("too much of a density lies where its formula cannot be followed")
        masses.append(relative / total)
        errors.append(np.where(relative > 0, error + doubt + 4 * ULP, 0.0) * (1 + 1e-2))
        logs.append(top + math.log(total))
        doubts.append(doubt * (1 + 1e-2) + 8 * ULP * (1 + abs(top) + abs(math.log(total))))
        shares.append(share)
    shift, room = logs[1] - logs[0], sum(doubts) + 2 * ULP * abs(logs[1] - logs[0])
    alone = np.concatenate([np.full(ray.cells.a.size, None in ray.logs) for ray in own])
    rare = ~alone & (masses[0] < _RARE) & (masses[1] < _RARE)
    both = np.isfinite(cells.low) & (masses[0] > 0) & (masses[1] > 0) & ~alone & ~rare
    vaguely = ~both & ~alone & ~rare
    only, vague = ([math.fsum(mass[those].tolist()) for mass in masses] for those in (alone, vaguely))
    only_error, vague_error = (
        [float(np.max(error, where=those, initial=0.0)) + 4 * ULP for error in errors] for those in (alone, vaguely)
    )
    room_of = room + 4 * ULP * (np.abs(cells.low[both]) + np.abs(cells.high[both]) + abs(shift))
    return LossCells(
        masses[0][both],
        masses[1][both],
        errors[0][both],
        errors[1][both],
        cells.low[both] + shift - room_of,
        cells.high[both] + shift + room_of,
        (only[0], only[1]),
        (only_error[0], only_error[1]),
        (vague[0], vague[1]),
        (vague_error[0], vague_error[1]),
        (max(shares) + _RARE * 1.01 * int(rare.sum())) * (1 + 1e-2),
        step,
    )
