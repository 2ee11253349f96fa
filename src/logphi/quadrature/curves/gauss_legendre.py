"""Transforms of curves by Gauss-Legendre sums over panels, with proved error bounds.

notation as in :mod:`logphi.quadrature.curves.panels`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from logphi.arith.floats import ULP
from logphi.arrays import Array
from logphi.quadrature.curves.curve import Curve
from logphi.quadrature.curves.panels import Panels, coarse_edges, gauss, log_errors, panels
from logphi.quadrature.mixtures.inner_integral import InnerIntegral, Nodes, summed
from logphi.quadrature.mixtures.log_ratio import LARGE
from logphi.quadrature.sums.approximate_nodes import ApproximateNodes


@dataclass(frozen=True)
class Masses:
    """Atoms or nodes: losses, logarithms of Q-masses, relative errors of the masses and errors of the losses."""

    loss: Array
    log_mass: Array
    relative_error: Array
    loss_error: Array

    def joined_with(self, other: Masses) -> Masses:
        """The union of both."""
        return Masses(*(np.concatenate([getattr(self, one.name), getattr(other, one.name)]) for one in fields(self)))

    def with_mirror_image(self) -> Masses:
        """The masses together with their mirror image at the negative losses, where P and Q are exchanged."""
        error = self.relative_error + self.loss_error
        return self.joined_with(Masses(-self.loss, self.log_mass + self.loss, error, self.loss_error))


def nodes_of(curve: Curve, low: Array, high: Array) -> Masses:
    """The nodes of the panels, without atoms, mirror image and rest."""
    s, log_weight, size = gauss(low, high)
    unsure = 2 * curve.error + 12 * ULP
    g0, g1, g2 = (abs(one) for one in curve.density)
    wrong = 48 * ULP + 2 * curve.error + unsure * (g0 + size * (g1 + g2 * size))
    wrong = wrong + curve.density_error(s, size)
    for factor in curve.factors:
        if factor.own:
            wrong = wrong + factor.own * factor.error(s, size, curve.error)
    return Masses(curve.loss(s), curve.log_density(s) + log_weight, wrong, curve.loss_error(s, size))


def atoms_of(curve: Curve) -> Masses:
    """The atoms of the curve, without mirror image and rest."""
    locations, held = np.array(curve.atoms, dtype=float).reshape(-1, 2).T
    loss, loss_error = losses_at(curve, locations)
    return Masses(loss, held, 48 * ULP + (2 * curve.error + 8 * ULP) * (1 + np.abs(held)), loss_error)


def losses_at(curve: Curve, points: Array) -> tuple[Array, Array]:
    """The losses at values of s, with their errors; minus infinity stands for a point far to the left."""
    s, size = np.maximum(points, -1e300), np.abs(np.where(np.isfinite(points), points, 0.0))
    return curve.loss(s), curve.loss_error(s, size)


def whole_law(curve: Curve, body: Masses) -> Masses:
    """The given nodes and the atoms, with the mirror image and the rest."""
    whole = body.joined_with(atoms_of(curve)) if curve.atoms else body
    if curve.symmetric:
        whole = whole.with_mirror_image()
    if curve.rest:
        rest = (0.0, np.log(curve.rest), 64 * ULP + 4 * curve.error, 0.0)
        whole = whole.joined_with(Masses(*(np.array([one]) for one in rest)))
    return whole


def parts_of(curve: Curve, found: Panels, power: float) -> tuple[float, float]:
    """Logarithms of the sums of e^{al} over the panels, and over panels and atoms."""
    body, atoms = nodes_of(curve, found.low, found.high), atoms_of(curve)
    smooth = float(np.logaddexp.reduce(body.log_mass + power * body.loss))
    return smooth, float(np.logaddexp.reduce(atoms.log_mass + power * atoms.loss, initial=smooth))


@dataclass(frozen=True)
class GaussLegendre(InnerIntegral):
    """The transform of a curve."""

    curve: Curve

    def nodes(self, powers: Array, z: NDArray[Any], count: int) -> Nodes | None:
        """Nodes that serve the powers and the heights, accurate enough for any number of repetitions."""
        top = float(np.abs(z.imag).max())
        found = panels(self.curve, powers, top)
        if found is None:
            return None
        whole, curve = whole_law(self.curve, nodes_of(self.curve, found.low, found.high)), self.curve
        omitted = curve.omitted, curve.omitted_error
        known = summed(whole.loss[None, :], whole.log_mass, powers, whole.relative_error, whole.loss_error[None, :], *omitted)
        return replace(known, inner=_inner(curve, found, powers, top, known, np.abs(z) * np.abs(z + 1))[None, :])

    def approximate_nodes(self, powers: Array) -> ApproximateNodes | None:
        """Panels without an error bound; those of a bounded curve serve all powers."""
        return self.nodes_for_all() if math.isfinite(self.curve.start + self.curve.end) else self._coarse_nodes(powers)

    def nodes_for_all(self) -> ApproximateNodes | None:
        """Nodes that serve all powers; None for an unbounded curve."""
        return self._between_ends if math.isfinite(self.curve.start + self.curve.end) else None

    @cached_property
    def _between_ends(self) -> ApproximateNodes | None:
        return self._coarse_nodes(np.zeros(1))

    def _coarse_nodes(self, powers: Array) -> ApproximateNodes | None:
        edges = coarse_edges(self.curve, powers)
        if edges is None:
            return None
        s, log_weight, _ = gauss(edges[:-1], edges[1:])
        none = np.zeros(s.size)
        whole = whole_law(self.curve, Masses(self.curve.loss(s), self.curve.log_density(s) + log_weight, none, none))
        return ApproximateNodes(whole.loss, whole.log_mass, self.curve.omitted)


def _inner(curve: Curve, found: Panels, powers: Array, top: float, known: Nodes, size: Array) -> Array:
    """The error of the quadrature relative to M(c), with ``size`` = |z| |z + 1|; it has a second part in first-order sums."""
    second, plain = log_errors(curve, found, powers, top)
    exponent = np.abs(known.loss).max() * np.maximum(np.abs(powers), 1.0)
    plain = np.where((known.log_mass[0] > 0.99) | (exponent > 0.99 * LARGE), plain, -np.inf)
    total = np.logaddexp(second + np.log(np.maximum(size, 1e-300)), plain) - known.log_mass[0]
    return np.asarray(np.exp(np.minimum(total, LARGE)))
