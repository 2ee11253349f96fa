"""The output of two densities given by formulas, cut into cells (:mod:`density_rays`), each density divided by its integral."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.mechanisms.formulas.density_rays import MOST_CELLS, Measured, Ray, joined
from logphi.mechanisms.formulas.formula_evaluation import NotEnclosedError
from logphi.pairs.loss_cells import LossCells

# chosen: more mass left out makes useless bounds
_MOST_OMITTED = 1e-6
# chosen: the share of mass that the range of losses may miss
_RARE = 1e-30
# chosen: the number of lattice points in that range
_LATTICE = 2048
# chosen: the least distance of two lattice points
_FINEST = 2.0**-20
# chosen: cells for each distance of two nodes
_FINER = 4
# an interval with its two ends, and log p and log q there; None where the density is zero
Piece = tuple[Fraction | float, Fraction | float, Any | None, Any | None]


def rays(piece: Piece, variable: Any) -> list[Ray]:
    """The halves of an interval, each from its end inwards; a half line is one ray."""
    low, high, *logs = piece
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        half = (high - low) / 2
        return [Ray(logs, variable, low, half, False), Ray(logs, variable, high, -half, False)]
    one = Fraction(1)
    if isinstance(low, Fraction):
        return [Ray(logs, variable, low, one, True)]
    if isinstance(high, Fraction):
        return [Ray(logs, variable, high, -one, True)]
    return [Ray(logs, variable, Fraction(0), one, True), Ray(logs, variable, Fraction(0), -one, True)]


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


def _step_for(own: Sequence[Ray]) -> float:
    """A distance of nodes, from the range of losses without rare ones."""
    cells = joined([ray.cells for ray in own])
    both = np.isfinite(cells.low)
    if not both.any():
        return _FINEST
    # a large loss counts by its mass under P, a small one by that under Q
    heavy = cells.log_mass.max(axis=0)[both] > math.log(_RARE)
    high = float(np.max(cells.high[both], where=heavy & (cells.log_mass[0][both] > math.log(_RARE)), initial=0.0))
    low = float(np.min(cells.low[both], where=heavy & (cells.log_mass[1][both] > math.log(_RARE)), initial=0.0))
    return max((high - low) / _LATTICE, _FINEST)


def _refine(ray: Ray, width: float) -> None:
    """Halve cells until each loss varies by no more than this, unless the cell is rare."""
    done, cells, count = list[Measured](), ray.cells, 0
    while cells.a.size:
        middle = cells.a + (cells.b - cells.a) / 2
        wide = np.isfinite(cells.low) & (cells.high - cells.low > width) & (middle > cells.a) & (middle < cells.b)
        wide &= (cells.log_mass > math.log(_RARE)).any(axis=0)
        done.append(cells.pick(~wide))
        count += cells.a.size
        if count > MOST_CELLS:
            raise NotEnclosedError("the loss varies too much")
        a, b, middle = cells.a[wide], cells.b[wide], middle[wide]
        cells = ray.measured(np.concatenate([a, middle]), np.concatenate([middle, b]))
        if not cells.ready.all():
            raise NotEnclosedError("a formula varies too much")
    ray.cells = joined(done)


def _normalised(own: Sequence[Ray], step: float) -> LossCells:
    cells = joined([ray.cells for ray in own])
    left_out = [float(np.logaddexp.reduce([ray.omitted[side] for ray in own])) for side in (0, 1)]
    masses, errors, logs, doubts, shares = [], [], [], [], []
    for side in (0, 1):
        top = float(cells.log_mass[side].max())
        if not math.isfinite(top):
            raise NotEnclosedError("a density lies where its formula has no enclosure")
        relative = np.exp(cells.log_mass[side] - top)
        rounding = ELEMENTARY * 4 + 4 * ULP * (np.abs(np.where(relative > 0, cells.log_mass[side], 0.0)) + abs(top))
        error = np.where(relative > 0, cells.error[side] + rounding, 0.0)
        total = math.fsum(relative.tolist())
        share = math.exp(left_out[side] - top) / total * (1 + 1e-9)
        doubt = (math.fsum((relative * error).tolist()) / total + share) * (1 + 1e-6) + 8 * ULP
        if not doubt < _MOST_OMITTED:
            raise NotEnclosedError("too much of a density lies where its formula has no enclosure")
        masses.append(relative / total)
        errors.append(np.where(relative > 0, error + doubt + 4 * ULP, 0.0) * (1 + 1e-2))
        logs.append(top + math.log(total))
        doubts.append(doubt * (1 + 1e-2) + 8 * ULP * (1 + abs(top) + abs(math.log(total))))
        shares.append(share)
    shift, room = logs[1] - logs[0], sum(doubts) + 2 * ULP * abs(logs[1] - logs[0])
    alone = np.concatenate([np.full(ray.cells.a.size, None in ray.logs) for ray in own])
    rare = ~alone & (masses[0] < _RARE) & (masses[1] < _RARE)
    both = np.isfinite(cells.low) & (masses[0] > 0) & (masses[1] > 0) & ~alone & ~rare
    if not both.any():
        raise NotEnclosedError("where both densities are positive, one is too small")
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
        max(shares) * (1 + 1e-2),
        (max(shares) + _RARE * 1.01 * int(rare.sum())) * (1 + 1e-2),
        step,
    )
