"""Raised half-lines against mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from logphi.quadrature.half_lines.shifted_half_line import ShiftedHalfLine

# shift, rate, end, turn and points
CASES = [
    (0.3776, 1.687e-6, 15.0, 1.0, [1e4 + 0j, 1e5 + 2e5j, 1e6 + 2e6j]),
    (1.0, 0.1, 11.0, 1.2, [2 + 3j, -3 + 1j, 4 + 20j]),
    (0.01, 1e-4, 9.0, 0.03, [1e5 + 1e6j, -1e5 + 1e5j]),
    (4.0, 1e-4, 14.0, 1.5, [0.2 + 3j, 0.05 + 1j]),
]
# the same for ends at which the numerator is not negligible
NARROW = [
    (9.1, 4.5e-7, 7.75, 1.16, [-2.7e4 + 2e3j, -2e4 + 5e5j, 3e4 + 2e6j]),
    (3.0, 1e-3, 6.5, 0.8, [-300 + 0j, -50 + 2e3j, 100 + 4e3j]),
]


def integral(law: ShiftedHalfLine, z: complex, order: int, size: bool) -> mpmath.mpc:
    """The integral of phi (log w)^k w^{z+1}, or of its size, over the half-line."""
    with mpmath.workdps(30):
        m, q, eta, a = (
            mpmath.mpf(law.shift),
            mpmath.mpf(law.rate),
            mpmath.mpf(law.angle) / mpmath.mpf(law.shift),
            mpmath.mpc(z) + 1,
        )

        def integrand(x: mpmath.mpf) -> mpmath.mpc:
            place = mpmath.mpc(x, eta)
            log_w = mpmath.log1p(q * mpmath.expm1(m * place - m * m / 2))
            value = mpmath.exp(a * log_w - place**2 / 2) * log_w**order / mpmath.sqrt(2 * mpmath.pi)
            return abs(value) if size else value

        return mpmath.quad(integrand, [mpmath.mpf(x) for x in np.linspace(-12, law.end, 10 + int(3 * law.shift))])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shift", "rate", "end", "turn", "points", "linear"),
    [*((*case, True) for case in CASES), *((*case, False) for case in (CASES[1], *NARROW))],
)
def test_moments_and_their_errors(
    shift: float, rate: float, end: float, turn: float, points: list[complex], linear: bool
) -> None:
    law = ShiftedHalfLine(shift, rate, 0.0, 0.0, end, turn, linear)
    found = law.moments(np.array(points), 1.0)
    for k, z in enumerate(points):
        value, slope = integral(law, z, 0, False) - 1, integral(law, z, 1, False)
        error = float(found.rounding[k] + found.inner[k])
        assert abs(complex(value) - found.value[k]) <= error + 1e-16 * abs(found.value[k])
        assert abs(complex(slope) - found.slope[k]) <= found.slope_error[k] + 1e-16 * abs(found.slope[k])
        assert error <= 1e-9


@pytest.mark.few(1)
@pytest.mark.parametrize(("shift", "rate", "end", "turn", "points"), CASES)
@pytest.mark.parametrize("order", [0, 2])
def test_sizes_are_bounded_and_not_by_far(
    shift: float, rate: float, end: float, turn: float, points: list[complex], order: int
) -> None:
    law = ShiftedHalfLine(shift, rate, 0.0, 0.0, end, turn)
    bounds = law.log_bounds(np.array(points), (0, order))[1]
    for bound, z in zip(bounds, points, strict=True):
        truth = float(mpmath.log(integral(law, z, order, True)))
        assert truth <= bound <= truth + 1.0


def test_bounds_grow_along_directions_as_promised() -> None:
    law = ShiftedHalfLine(0.5, 1e-4, 0.0, 0.0, 12.0, 1.0)
    way = complex(math.sin(0.4), math.cos(0.4))
    places = 2e4 + 1e4j + way * np.array([0.0, 1e4, 1e6])
    bounds = law.log_bound(places)
    assert (np.diff(bounds) <= law.slope_along(way) * np.array([1e4, 1e6 - 1e4]) + 1e-6).all()


@pytest.mark.parametrize("z", [300 + 0j, 300 + 900j, -200 + 50j])
def test_the_way_up_at_the_end(z: complex) -> None:
    law = ShiftedHalfLine(0.5, 1e-4, 0.0, 0.0, 9.0, 1.0)
    with mpmath.workdps(30):
        m, q, a = mpmath.mpf(law.shift), mpmath.mpf(law.rate), mpmath.mpc(z) + 1

        def integrand(y: mpmath.mpf) -> mpmath.mpc:
            place = mpmath.mpc(law.end, y)
            w = 1 + q * mpmath.expm1(m * place - m * m / 2)
            return mpmath.exp(a * mpmath.log(w) - place**2 / 2) / mpmath.sqrt(2 * mpmath.pi)

        truth = float(mpmath.log(abs(mpmath.quad(integrand, [0, law.height]))))
    assert truth <= float(law.log_vertical(np.array([z.real]))[0])
