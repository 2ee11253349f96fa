"""Discs contain the exact value of every argument they stand for, and stay small where that is possible."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf

from logphi.arith.doubles import DOUBLES
from logphi.arith.floats import FLOATS, ULP, Discs, complex_log1p
from logphi.arith.protocol import LogOdds, Plain, Ratio

DIGITS = 60
TURN = 2 * mpmath.pi

# A rounding radius of an elementary function near its argument's size, in ulps: a dozen operations, doubled twice.
SHARP = 64 * ULP

LOG_P = [1e-300, 1e-12, 0.3, 0.7, 0.9999]
LOG_Q = [1e-290, 0.4, 1e-9, 0.7, 0.1]


def power_sum(z):
    return mpmath.log(mpmath.fsum(mpf(p) ** (1 + z) * mpf(q) ** (-z) for p, q in zip(LOG_P, LOG_Q, strict=True)))


def sinhc(x):
    return mpmath.sinh(x) / x if x else mpf(1)


# name -> (function on discs, the same in words of mpmath, whether it is a logarithm: known up to 2 pi i)
FUNCTIONS = {
    "log": (FLOATS.log, mpmath.log, True),
    "log1p": (FLOATS.log1p, lambda x: mpmath.log(1 + x), True),
    "log_cosh": (FLOATS.log_cosh, lambda x: mpmath.log((mpmath.exp(x) + mpmath.exp(-x)) / 2), True),
    "log_sinhc": (FLOATS.log_sinhc, lambda x: mpmath.log(sinhc(x)), True),
    "log1p_gap": (FLOATS.log1p_gap, lambda x: x - mpmath.log(1 + x), True),
    "tanh": (FLOATS.tanh, lambda x: 1 - 2 / (mpmath.exp(2 * x) + 1), False),
    "tanhc_gap": (FLOATS.tanhc_gap, lambda x: 1 - mpmath.cosh(x) ** -1 * sinhc(x), False),
    "exp": (FLOATS.exp, mpmath.exp, False),
    "log_power_sum": (lambda x: FLOATS.log_power_sum(LOG_P, LOG_Q, x), power_sum, True),
}
OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def number(value):
    return mpc(complex(value)) if np.iscomplexobj(value) else mpf(float(value))


def arguments(seed, size, is_complex):
    """Numbers from 1e-6 to 50 in size, and radii from none to a thousandth of them."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(math.log(1e-6), math.log(50), size))
    if is_complex:
        mid = sizes * np.exp(2j * np.pi * rng.uniform(size=size))
    else:
        mid = sizes * rng.choice([-1.0, 1.0], size)
    relative = np.where(rng.uniform(size=size) < 0.3, 0.0, np.exp(rng.uniform(math.log(1e-16), math.log(1e-3), size)))
    return mid, sizes * relative, rng


def perturbed(mid, radius, rng):
    """A number on the rim of the disc, as often as not, else one inside."""
    share = rng.choice([1.0, 1.0, rng.uniform()]) * (1 - 1e-13)
    if np.iscomplexobj(mid):
        turn = 2 * np.pi * rng.uniform()
        return number(mid) + mpf(radius) * share * mpmath.expj(turn)
    return number(mid) + mpf(radius) * share * rng.choice([-1, 1])


def distance(exact, approximate, logarithm):
    gap = exact - number(approximate)
    if logarithm:
        gap -= mpc(0, 1) * TURN * mpmath.nint(mpmath.im(gap) / TURN)
    return abs(gap)


@pytest.mark.few(2)
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_contain_the_image_of_the_disc(name, is_complex):
    function, exact, logarithm = FUNCTIONS[name]
    mid, radius, rng = arguments(sum(map(ord, name)), 300, is_complex)
    if not is_complex and name == "log":
        mid = np.abs(mid)
    if not is_complex and name in ("log1p", "log1p_gap"):
        mid = np.where(mid < -0.99, -mid, mid)
    image = function(Discs(mid, radius))
    rad = np.broadcast_to(image.rad, image.mid.shape)
    with mpmath.workdps(DIGITS):
        for i in range(mid.size):
            if not np.isfinite(rad[i]):
                continue
            for argument in (perturbed(mid[i], radius[i], rng), perturbed(mid[i], radius[i], rng)):
                miss = distance(exact(argument), image.mid[i], logarithm)
                assert miss <= mpf(rad[i]), (name, mid[i], radius[i], float(miss), rad[i])


@pytest.mark.few(2)
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_contain_every_pair(name, is_complex):
    operation = OPERATIONS[name]
    one, one_radius, rng = arguments(1, 400, is_complex)
    two, two_radius, _ = arguments(2, 400, is_complex)
    result = operation(Discs(one, one_radius), Discs(two, two_radius))
    plain = operation(Discs.exact(one), Discs.exact(two))
    assert np.all(plain.rad <= 16 * ULP * np.abs(plain.mid))
    with mpmath.workdps(DIGITS):
        for i in range(one.size):
            a, b = perturbed(one[i], one_radius[i], rng), perturbed(two[i], two_radius[i], rng)
            assert abs(operation(a, b) - number(result.mid[i])) <= mpf(result.rad[i]), (one[i], two[i])
            a, b = number(one[i]), number(two[i])
            assert abs(operation(a, b) - number(plain.mid[i])) <= mpf(plain.rad[i]), (one[i], two[i])


def test_a_divisor_that_may_vanish_leaves_nothing_known():
    assert Discs.exact(np.array([1.0])).__truediv__(Discs(np.array([1.0]), np.array([1.0]))).rad[0] == np.inf


def test_mixed_operands_and_signs():
    disc = Discs(np.array([2.0, 3.0]), np.array([0.1, 0.2]))
    for value, expected in [(1 + disc, [3, 4]), (1 - disc, [-1, -2]), (2 * disc, [4, 6]), (6 / disc, [3, 2])]:
        np.testing.assert_allclose(value.mid, expected)
        assert np.all(value.rad >= 0.1 / 2)
    assert np.all((-disc).rad == disc.rad)


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        ("log_cosh", lambda x: np.minimum(x**2, 1 + x)),
        ("log_sinhc", lambda x: np.minimum(x**2, 2 + x)),
        ("tanh", lambda x: np.minimum(x, 1)),
        ("tanhc_gap", lambda x: np.minimum(x**2, 3)),
        ("log1p", lambda x: np.minimum(x, 5)),
    ],
)
def test_rounding_alone_is_relatively_small_for_exact_positive_arguments(name, scale):
    x = np.geomspace(1e-6, 50, 200)
    image = FUNCTIONS[name][0](Discs.exact(x))
    assert np.all(image.rad <= SHARP * scale(x))


@pytest.mark.few(4)
@pytest.mark.parametrize("angle", np.linspace(-3.1, 3.1, 13))
def test_complex_log1p_keeps_relative_accuracy(angle):
    x = np.geomspace(1e-300, 1e3, 200) * np.exp(1j * angle)
    found = complex_log1p(x)
    with mpmath.workdps(DIGITS):
        for argument, value in zip(x, found, strict=True):
            exact = mpmath.log1p(number(argument))
            assert abs(exact - number(value)) <= mpf(8 * ULP) * min(abs(argument), 8) + mpf(1e-320), argument


def test_zeros_of_cosh_and_sinhc_are_not_claimed():
    at_zero = np.array([1j * np.pi / 2, 3j * np.pi / 2])
    assert np.all(FLOATS.log_cosh(Discs(at_zero, np.full(2, 1e-9))).rad > 10)
    assert np.all(FLOATS.log_sinhc(Discs(np.array([1j * np.pi, 2j * np.pi]), np.full(2, 1e-9))).rad > 10)


@pytest.mark.few(24)
@pytest.mark.parametrize("height", [1.57, 1.5707, 1.5707963, 3.14, 3.1415, 3.1415926, 6.2831, 10.9955])
@pytest.mark.parametrize("name", ["log_cosh", "log_sinhc", "tanh", "tanhc_gap"])
@pytest.mark.parametrize("side", [1e-9, 1e-4, 1e-2])
def test_containment_next_to_zeros_and_poles(name, height, side):
    function, exact, logarithm = FUNCTIONS[name]
    rng = np.random.default_rng(5)
    mid = np.full(20, side + 1j * height)
    radius = np.geomspace(1e-16, 1e-2, 20)
    with np.errstate(all="ignore"):
        image = function(Discs(mid, radius))
    with mpmath.workdps(DIGITS):
        for i in range(20):
            if np.isfinite(image.rad[i]):
                argument = perturbed(mid[i], radius[i], rng)
                assert distance(exact(argument), image.mid[i], logarithm) <= mpf(image.rad[i]), (mid[i], radius[i])


@pytest.mark.parametrize("value", [0.1, 1e-7, 123.456, 0.9999999999, 3.0, 1e22, 1e23])
def test_constants_stand_for_the_double_and_for_the_decimal(value):
    disc = FLOATS.constant(value)
    with mpmath.workdps(DIGITS):
        for meaning in (mpf(value), mpf(repr(value))):
            assert abs(meaning - mpf(float(disc.mid))) <= mpf(float(disc.rad))


@pytest.mark.parametrize(
    ("parameter", "exact"),
    [
        (Plain(0.3), lambda: mpf("0.3")),
        (Ratio(0.1, 0.7), lambda: mpf("0.1") / mpf("0.7")),
        (Ratio(1.0, 3.0), lambda: mpf(1) / 3),
        (LogOdds(0.25), lambda: -mpmath.log(3)),
        (LogOdds(0.9999999999), lambda: mpmath.log(mpf("0.9999999999") / mpf("1e-10"))),
        (LogOdds(0.5000000001), lambda: mpmath.log(mpf("0.5000000001") / mpf("0.4999999999"))),
        (LogOdds(1e-12), lambda: mpmath.log(mpf("1e-12") / (1 - mpf("1e-12")))),
    ],
)
def test_parameters_contain_what_the_user_wrote(parameter, exact):
    disc = parameter.under(FLOATS)
    with mpmath.workdps(DIGITS):
        assert abs(exact() - mpf(float(disc.mid))) <= mpf(float(disc.rad))


@pytest.mark.parametrize(
    ("function", "truth"), [("log_cosh", lambda x: mpmath.log(mpmath.cosh(x))), ("log_sinhc", lambda x: mpmath.log(sinhc(x)))]
)
def test_doubles_without_errors_keep_their_digits(function, truth):
    with mpmath.workdps(DIGITS):
        for x in (1e-12, 3e-4, 0.7, 0.999999, 1.0, 4.0, 1500.0):
            found, exact = getattr(DOUBLES, function)(x), truth(mpf(x))
            assert abs(mpf(found) - exact) <= SHARP * abs(exact)
            assert getattr(DOUBLES, function)(-x) == found


def test_doubles_without_errors_refuse_integrals():
    with pytest.raises(NotImplementedError, match="FLOATS"):
        DOUBLES.integral(lambda x: x, 0.0, 1.0)
