import math

import numpy as np
import pytest

from logphi.quadrature.mixtures.many_components import ManyComponents
from logphi.quadrature.mixtures.shifted_lines import OppositeMixtures, shifted_lines

ALONE = ManyComponents.of(np.array([0.7]), np.array([1.0]), np.zeros(1), -math.inf)
SAMPLED = ManyComponents.of(np.array([0.7]), np.array([0.25]), np.log([0.25]), math.log(0.75))


@pytest.mark.parametrize("height", [0.5, 10.0, 40.0])
def test_of_one_shift_the_best_line_is_as_low_as_the_transform(height):
    lines = shifted_lines(OppositeMixtures(ALONE, None), 2.0)
    assert lines is not None
    # |M(c + it)| = M(c) e^{-(0.7 t)^2/2}, to which the line at b = 0.7 t comes, if it is not too wide
    b = lines.b[np.abs(lines.b - 0.7 * height).argmin()]
    assert lines.best(height)[1] == pytest.approx(b * b / 2 - 0.7 * height * b, rel=1e-6)
    assert lines.best(height)[1] >= -((0.7 * height) ** 2) / 2


def test_the_estimate_is_above_the_transform_of_two_mixtures():
    c, heights = 1.5, np.array([1.0, 6.0, 25.0])
    x = np.linspace(-14, 16, 200_001)

    def log(mixture_at):
        return np.log(0.75 + 0.25 * np.exp(0.7 * mixture_at - 0.245))

    for down in (None, SAMPLED):
        u, v = log(x), np.zeros(x.size) if down is None else log(-x)
        density = np.exp((1 + c) * u - c * v - x * x / 2)
        lines = shifted_lines(OppositeMixtures(SAMPLED, down), c)
        assert lines is not None
        for height in heights.tolist():
            truth = np.log(np.abs((density * np.exp(1j * height * (u - v))).sum() / density.sum()))
            assert truth - 1e-9 <= lines.best(height)[1] < 0


def test_a_tilt_that_is_too_wide_has_no_lines():
    assert shifted_lines(OppositeMixtures(ALONE, None), 1e5) is None
