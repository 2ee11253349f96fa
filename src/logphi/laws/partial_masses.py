"""The masses of atoms and of a flat part on both sides of a threshold.

Weights are those of e^{-x/2} mu(dx); the mass under mu, or under its tilt e^{-x} mu(dx), takes a factor e^{l/2}, or e^{-l/2}.
"""

from __future__ import annotations

import math

import numpy as np

from logphi.arith.floats import ELEMENTARY, ULP
from logphi.arith.scaled import Scaled
from logphi.arrays import Array
from logphi.laws.support import Pieces

_NOTHING = Scaled(0.0, 0.0)


def partial_masses(pieces: Pieces, x: float, *, tilted: bool) -> tuple[Scaled, Scaled]:
    """The masses above x and not above x; an atom within rounding of x may be on either side."""
    own = atom_masses(
        np.array(pieces.locations), np.array(pieces.log_weights), pieces.location_error, pieces.relative_error, x, tilted=tilted
    )
    if not pieces.width:
        return own
    flat = tuple(_flat_mass(pieces, x, sign, -0.5 if tilted else 0.5) for sign in (1, -1))
    return own[0] + flat[0], own[1] + flat[1]


def atom_masses(
    locations: Array, log_weights: Array, location_error: float, relative_error: float, x: float, *, tilted: bool
) -> tuple[Scaled, Scaled]:
    """The masses of atoms above x and not above x."""
    if not locations.size:
        return _NOTHING, _NOTHING
    error = location_error + 4 * ULP * float(np.abs(locations).max()) + 2 * ULP * abs(x)
    exponent = log_weights + (-0.5 if tilted else 0.5) * locations
    relative = (
        relative_error + location_error + ELEMENTARY * (4 + np.abs(log_weights) + np.abs(locations)) + ULP * locations.size
    )
    return _side(locations - x, exponent, relative, error), _side(x - locations, exponent, relative, error)


def _side(ahead: Array, exponent: Array, relative: Array, error: float) -> Scaled:
    """The mass of the atoms with ``ahead`` > 0; one within ``error`` of the threshold counts half, and half is its error."""
    held = ahead >= -error
    if not held.any():
        return _NOTHING
    scale = float(exponent[held].max())
    mass = np.exp(exponent[held] - scale)
    half = np.where(np.abs(ahead[held]) <= error, 0.5, 0.0)
    rounding = float((mass * (half + relative[held])).sum()) + ULP * abs(scale) * float(mass.sum())
    return Scaled(scale, float((mass * (1 - half)).sum()), rounding=rounding * (1 + 1e-9))


def _flat_mass(pieces: Pieces, x: float, sign: int, tilt: float) -> Scaled:
    """The integral of e^{log_density + tilt l} over the part above x, or below it: 2 e^{top} (1 - e^{-length/2})."""
    width = pieces.width
    room = pieces.location_error + 4 * ULP * width + ULP * abs(x)
    length = min(width - sign * x, 2 * width)
    if length < -room:
        return _NOTHING
    length = max(length, 0.0)
    # the tilted density is largest at an end
    far, near = sign * width, sign * (width - length)
    top = pieces.log_density + max(tilt * far, tilt * near)
    value = -2 * math.expm1(-length / 2)
    cut = 2 * room * bool(length < 2 * width + room)
    error = value * (pieces.relative_error + room + ELEMENTARY * (4 + abs(pieces.log_density) + width)) + cut * (1 + room)
    return Scaled(top, value, rounding=error)


def flat_density(pieces: Pieces, x: float) -> Scaled:
    """The density of the flat part under mu; within rounding of an end it may be zero."""
    room = pieces.location_error + 4 * ULP * pieces.width + ULP * abs(x)
    inside = pieces.width - abs(x)
    if not pieces.width or inside < -room:
        return _NOTHING
    half = 0.5 if inside <= room else 0.0
    error = half + pieces.relative_error + room + ELEMENTARY * (4 + abs(pieces.log_density) + abs(x))
    return Scaled(pieces.log_density + x / 2, 1 - half, rounding=error)
