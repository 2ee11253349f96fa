"""Sums over many atoms on a long line: against the sums at many digits."""

import mpmath
import numpy as np
import pytest

from logphi.laws.tilted_atoms import TiltedAtoms
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
