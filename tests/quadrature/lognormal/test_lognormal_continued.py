"""The transform of a lognormal variable beyond the imaginary axis: against one sum over a turned line, at many digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from lognormal_transform import transform
from logphi.quadrature.lognormal.continued import continued
from logphi.quadrature.lognormal.modulus import Box, modulus

SHIFTS = [0.1, 0.35, 1.0, 2.9]
# distances from zero at which the imaginary part on the cut has less than 120 zeros
SIZES = {0.35: [0.05, 3.0], 1.0: [1e-6, 0.05, 3.0], 2.9: [1e-6, 3.0]}


def digits(shift: float) -> int:
    """Enough for what cancels in a sum over a turned line."""
    return 24 + int(3 / shift**2 / math.log(10))


@pytest.mark.few(2)
@pytest.mark.parametrize("shift", SIZES)
def test_on_the_cut_both_parts_are_within_their_errors(shift: float) -> None:
    """The imaginary part may be 1e-100, and has its digits, too."""
    known, s = modulus(shift), np.array(SIZES[shift])
    found = continued(known, -s[:, None], np.zeros(s.size), known.start(s), 0.0)
    for one, value, error, imaginary_error in zip(
        s, found.value[:, 0], found.error[:, 0], found.imaginary_error[:, 0], strict=True
    ):
        with mp.workdps(digits(shift) + 60):
            truth = transform(mp.mpc(-mp.mpf(float(one)), 0), mp.mpf(shift)) - 1
            assert abs(truth.real - mp.mpf(float(value.real))) <= error
            assert abs(truth.imag - mp.mpf(float(value.imag))) <= imaginary_error
        assert error <= 1e-12 * max(abs(value.real), float(one))
        assert imaginary_error <= 1e-10 * abs(value.imag)
        assert value.imag < 0


@pytest.mark.few(3)
@pytest.mark.parametrize("shift", SHIFTS[::-1])
@pytest.mark.parametrize("angle", [0.0, 0.3])
def test_above_the_cut_values_are_within_their_errors(shift: float, angle: float) -> None:
    known = modulus(shift)
    w = np.array([[-0.3 + 0.01j], [-0.3 + 0.4j], [-0.02 + 0.3j], [-0.001 + 1.5j]])
    theta = np.full(4, angle) * min(shift, 1.0)
    start = known.start(np.abs(w[:, 0]))
    found = continued(known, w, theta, start, 0.0)
    for one, value, error in zip(w[:, 0], found.value[:, 0], found.error[:, 0], strict=True):
        with mp.workdps(digits(shift)):
            gap = abs(transform(mp.mpc(complex(one)), mp.mpf(shift)) - 1 - mp.mpc(complex(value)))
        assert gap <= error <= 1e-12


def test_what_underflows_is_in_the_error() -> None:
    """At this distance the imaginary part is below 1e-500."""
    known = modulus(0.1)
    found = continued(known, np.array([[-1.0]]), np.zeros(1), known.start(np.ones(1)), 0.0)
    assert 0 < found.imaginary_error[0, 0] < 1e-290


@pytest.mark.few(2)
@pytest.mark.parametrize("shift", SHIFTS[::-1])
def test_no_modulus_in_a_box_exceeds_its_bound(shift: float) -> None:
    known, random = modulus(shift), np.random.default_rng(5)
    for _ in range(4):
        rho, height = 10 ** random.uniform(-3, 0), 10 ** random.uniform(-3, 0.5)
        theta = random.uniform(0, 0.8) * min(shift, 1.0)
        last = math.pi - math.atan2(height, rho) - theta
        at = np.array([rho])
        bound = known.log(at, np.array([height]), np.array([theta]), known.start(at), np.array([last]))[0]
        for more in (0.0, 0.5):
            with mp.workdps(digits(shift)):
                size = abs(transform(mp.mpc(-rho, height * (1 + more)), mp.mpf(shift)))
                assert mp.log(size) <= bound


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("c", [-20.0, -0.5, 0.01, 0.2])
def test_the_line_is_bounded_from_above_and_closely(shift: float, c: float) -> None:
    known, at = modulus(shift), np.array([c])
    x1 = known.start(np.maximum(at, 0.1))
    with mp.workdps(25):
        m = mp.mpf(shift)
        points = [-12, -6, -2, 0, 2, 4, 6, 9, 12]
        edges = [p for p in points if p < x1[0]] + [mp.mpf(float(x1[0]))]
        truth = mp.quad(lambda x: mp.npdf(x) * mp.exp(c * mp.exp(m * x - m * m / 2)), edges) - 1
    assert 0 <= known.line(at, x1)[0] - truth <= 1e-2 * max(abs(c), abs(truth))


def test_a_bound_that_overflows_is_infinite() -> None:
    """Cut off at e^700, it would be below the integral, which is beyond the range of doubles."""
    known, at = modulus(0.05), np.array([3000.0])
    x1 = known.start(at)
    assert mp.npdf(x1[0] - 0.1) * 0.1 * mp.exp(3000 * mp.exp(0.05 * (x1[0] - 0.1) - 0.00125)) > mp.mpf("1e320")
    assert known.line(at, x1)[0] == np.inf
    assert known.log(at, np.zeros(1), np.zeros(1), x1, np.array([math.pi]))[0] == np.inf


def test_a_ray_is_bounded_by_its_cells() -> None:
    known, one = modulus(1.0), np.ones(1)
    s, x1 = 0.05 * one, known.start(0.05 * one)
    bound = known.ray(Box(s, s, 0 * one), 0 * one, x1, math.pi * one)
    x = float(x1[0])
    size = mp.quad(
        lambda z: abs(mp.npdf(x + 0.5 * z - 1j * z) * mp.exp(0.05 * mp.exp(x + 0.5 * z - 1j * z - 0.5)) * mp.mpc(0.5, -1)),
        mp.linspace(0, math.pi, 9),
    )
    assert mp.log(size) <= bound.total[0] <= mp.log(size) + 0.7
