"""A clipped transform far up a vertical line, against a quadrature of its own and against the real axis."""

import mpmath
import numpy as np
import pytest

import logphi as lp
from logphi.laws.normal.clipped import ClippedNormal
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.quadrature.curves import long_lines
from logphi.quadrature.curves.gauss_legendre import GaussLegendre
from logphi.quadrature.half_lines.clipped_contour import ClippedContour
from logphi.quadrature.values import Line, Values, log_of_deviation

# what doubles leave of the other path, relatively
ORACLE = 1e-11
NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


def clipped(sigma: float, rate: float, cap: float) -> ClippedNormal:
    """A law up to a cap."""
    (order, loss), _ = lp.Gaussian(sigma=sigma).poisson(rate)._loss().orders(None)
    assert order is lp.Direction.REMOVE
    (law, _) = loss.terms[0]
    assert isinstance(law, MixedNormal)
    return ClippedNormal.at(law, cap)


def raised(law: ClippedNormal, line: Line) -> Values:
    """K by the path above the axis."""
    axis = GaussLegendre(law.curve).nodes(np.array([line.abscissa + 1]), np.array([line.abscissa + 0j]), 1)
    assert axis is not None
    m, q = law.whole.constants
    found = ClippedContour(m, q, 2e-16, 2e-16, law.end).on_line(line, axis, 1)
    assert found is not None
    return found


def exactly(law: ClippedNormal, z: complex) -> complex:
    """M(z) by short panels along a path of its own, half as high."""
    m, q = law.whole.constants
    height = min(0.6 / m, 0.8)
    level = np.unique(np.clip(np.append(np.arange(-13.0, 25.0, 0.25 * height), law.end), -13.0, law.end)) + 1j * height
    down = law.end + 1j * np.append(np.geomspace(height, 1e-9, 80), 0.0)
    total = 0j
    for path in (level, down):
        half, middle = np.diff(path)[:, None] / 2, (path[1:] + path[:-1])[:, None] / 2
        x = middle + half * NODES
        terms = half * WEIGHTS * np.exp((z + 1) * np.log1p(q * np.expm1(m * x - m * m / 2)) - x * x / 2)
        total += terms.sum() / np.sqrt(2 * np.pi)
    return complex(total)


# little and much noise, rare and frequent losses, ends where the loss is small and large, tilts that reach the end
CASES = [
    (0.8948, 2.665e-4, 0.19, Line(119.2, 3.4, 20_000)),
    (0.5577, 5.8e-7, 0.02, Line(736.5, 22.0, 40_000)),
    (0.447, 3e-5, 0.55, Line(32.6, 1.2, 30_000)),
    (14.8, 2.6e-4, 0.55, Line(32.6, 1.2, 30_000)),
    (0.1, 0.01, 5.0, Line(1.0, 3.0, 4000)),
    (2.0, 0.9, 0.5, Line(3.0, 3.0, 4000)),
    (3.0, 0.02, 0.3, Line(-0.6, 2.0, 9000)),
    (1.1352, 6e-7, 0.622, Line(206.9, 0.6, 100_000)),
]


@pytest.mark.parametrize(("sigma", "rate", "cap", "line"), CASES)
def test_it_encloses_another_path(sigma, rate, cap, line):
    """Low, in the middle and at the end of the line."""
    law = clipped(sigma, rate, cap)
    found = raised(law, line)
    for j in (1, line.size // 7, line.size - 1):
        value = np.exp(found.mid[j])
        wrong = abs(exactly(law, complex(line.points[j])) - value)
        assert wrong <= (np.expm1(found.radius[j]) + ORACLE) * abs(value)


@pytest.mark.parametrize(("sigma", "rate", "cap", "line"), CASES[2:4] + CASES[5:])
def test_it_agrees_with_the_real_axis(sigma, rate, cap, line):
    """Everywhere on a shorter line."""
    law = clipped(sigma, rate, cap)
    short = Line(line.abscissa, line.step, 1500)
    found, other = raised(law, short), long_lines.on_line(law.curve, short, 1)
    assert (np.abs(np.expm1(found.mid - other.mid)) <= found.radius + other.radius + 1e-15).all()
    assert found.radius.max() < 1e-3


@pytest.mark.parametrize("place", [1, 20])
def test_it_encloses_sums_at_thirty_digits_where_the_tilt_exceeds_the_inverse_of_the_rate(place):
    """Of so high a power doubles leave too few digits."""
    law, line = clipped(16.26, 2.628e-5, 2e-5), Line(8.18e5, 4e4, 4000)
    found = raised(law, line)
    ends = np.append(np.arange(-12.0, law.end, 0.5), law.end)
    half, middle = np.diff(ends)[:, None] / 2, (ends[1:] + ends[:-1])[:, None] / 2
    with mpmath.workdps(30):
        m, q = (mpmath.mpf(float(one)) for one in law.whole.constants)
        z = mpmath.mpc(complex(line.points[place]))
        terms = [
            mpmath.mpf(weight)
            * mpmath.exp((z + 1) * mpmath.log1p(q * mpmath.expm1(m * x - m * m / 2)) - mpmath.mpf(x) ** 2 / 2)
            for x, weight in zip((middle + half * NODES).ravel(), (half * WEIGHTS).ravel(), strict=True)
        ]
        value = mpmath.fsum(terms) / mpmath.sqrt(2 * mpmath.pi)
        wrong = abs(mpmath.exp(mpmath.mpc(complex(found.mid[place]))) / value - 1)
    assert wrong <= np.expm1(found.radius[place])
    assert found.radius[place] < 1e-9


def test_long_lines_are_raised():
    """With far fewer nodes than radians, and within what the axis would leave."""
    law = clipped(0.8948, 2.665e-4, 0.19)
    line = Line(119.2, 3.4, 20_000)
    assert (law.on_line(line).mid == raised(law, line).mid).all()


def test_a_short_line_stays_on_the_axis():
    """As before."""
    law, line = clipped(2.0, 0.1, 0.5), Line(3.0, 0.5, 500)
    assert (law.on_line(line).mid == long_lines.on_line(law.curve, line, 1).mid).all()


def test_a_value_below_its_own_error_has_a_size():
    """Whether it is a logarithm or only a bound of the size, e^K is near e^mid in units of this."""
    rng = np.random.default_rng(5)
    size = 10.0 ** rng.uniform(-20, 0, 4000)
    rounding, inner = 10.0 ** rng.uniform(-20, 0, (2, 4000)) * 0.4
    truth = size * np.exp(2j * np.pi * rng.random(4000))
    moved = (rounding + inner) * np.exp(2j * np.pi * rng.random(4000)) * rng.random(4000)
    mid, *errors = log_of_deviation(np.full(1, 3.0), truth + moved - 1, rounding, inner)
    radius = sum(errors)
    known = np.isfinite(radius)
    value = np.exp(mid - 3.0)
    assert (np.abs(truth - value)[known] <= (np.expm1(radius) * np.abs(value))[known] + 1e-15).all()
    assert known[rounding + inner < 0.5].all()
    assert (np.abs(value)[known] <= (12 * (size + rounding + inner))[known]).all()
    (unknown,) = log_of_deviation(np.zeros(1), np.full(1, -1.0 + 0j), np.full(1, np.inf), np.zeros(1))[1]
    assert unknown == np.inf


def test_a_ratio_above_e700_is_not_cut_off() -> None:
    """The end is where the ratio is 0.01 e^705."""
    path = ClippedContour(30.0, 0.01, 0.0, 0.0, 38.5)
    assert path._log_size(np.array([path.end]), 3.0, 1.0)[0] >= 3 * (705 + np.log(0.01))
