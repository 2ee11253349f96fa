"""Sums over many atoms on a long line: against the sums at many digits."""

import mpmath
import numpy as np
import pytest

from logphi.laws.atomic.tilted_atoms import TiltedAtoms
from logphi.quadrature.values import Line


@pytest.mark.parametrize(("atoms", "size"), [(2000, 9000), (2000, 100)])
def test_a_long_line_is_within_its_errors(atoms, size):
    draw = np.random.default_rng(atoms)
    loss, log_p = draw.uniform(-3, 3, atoms), 4 * draw.normal(size=atoms)
    tilted = TiltedAtoms.of(log_p, loss, (np.zeros(atoms), np.zeros(atoms)), 0.7)
    line = Line(0.7, 0.05, size)
    values = tilted.on_line(line)
    assert np.median(values.radius) < 1e-10
    for j in np.geomspace(1, size - 1, 8).astype(int):
        with mpmath.workdps(30):
            z = mpmath.mpc(0.7, float(line.heights[j]))
            exact = mpmath.fsum(mpmath.exp(mpmath.mpf(p) + z * mpmath.mpf(x)) for p, x in zip(log_p, loss, strict=True))
            error = abs(mpmath.exp(mpmath.mpc(values.mid[j])) / exact - 1)
        assert error <= np.expm1(values.radius[j])


@pytest.mark.parametrize(("of_weights", "of_losses"), [(1e-15, 1e-16), (1e-3, 1e-4), (0.1, 0.01), (0.5, 0.3)])
def test_errors_are_at_least_those_of_every_term(of_weights, of_losses):
    draw, size = np.random.default_rng(3), 200
    tilted = TiltedAtoms(
        draw.uniform(0, 1, size),
        draw.normal(size=size),
        0.0,
        draw.uniform(0, of_weights, size),
        draw.uniform(0, of_losses, size),
        1e-9,
    )
    sizes = np.exp2(np.arange(9.0))
    terms = tilted.terms * np.expm1(tilted.weight_error + sizes[:, None] * tilted.loss_error)
    exact, bound = terms.sum(axis=1) + tilted.omitted, tilted.error(sizes)
    assert (exact <= bound).all()
    assert (bound <= 1.1 * exact).all()
