"""Balls contain the exact value, are narrow where that is possible, and leave FLINT's precision as it was."""

import sys

import mpmath
import numpy as np
import pytest
from mpmath import mpc, mpf

from logphi import testing
from logphi.arith.ball import Ball
from logphi.arith.balls import Balls
from logphi.arith.mp import MULTIPRECISION
from logphi.arith.order import Affine
from logphi.arith.protocol import Plain
from logphi.expression import parse
from logphi.laws.normal.normal import Normal
from logphi.quadrature.values import Values
from own import Own
from slowly import slowly

flint = pytest.importorskip("flint")

BITS, DIGITS = 128, 60
UNIT = 2.0**-BITS
BALLS = Balls(BITS)

# for values near 0, so that 60 digits of the reference are left
EXTRA = 700


def sinhc(x):
    return mpmath.sinh(x) / x if x else mpf(1)


def log_sum(variance, at):
    """Term by term, around where they are largest."""
    spread = int(mpmath.ceil(mpmath.sqrt(300 * variance) + 3 + abs(mpmath.im(at))))
    middle = int(mpmath.nint(mpmath.re(at)))
    return mpmath.log(
        mpmath.fsum(mpmath.exp(-((x - at) ** 2) / (2 * variance)) for x in range(middle - spread, middle + spread + 1))
    )


FUNCTIONS = {
    "log": (mpmath.log, True),
    "log1p": (lambda x: mpmath.log(1 + x), True),
    "log1p_gap": (lambda x: x - mpmath.log(1 + x), True),
    "log_cosh": (lambda x: mpmath.log(mpmath.cosh(x)), True),
    "log_sinhc": (lambda x: mpmath.log(sinhc(x)), True),
    "tanh": (mpmath.tanh, False),
    "tanhc_gap": (lambda x: 1 - sinhc(x) / mpmath.cosh(x), False),
    "exp": (mpmath.exp, False),
}
# relatively accurate at 0, where they vanish to this order
ORDER = {"log1p": 1, "log1p_gap": 2, "log_cosh": 2, "log_sinhc": 2, "tanh": 1, "tanhc_gap": 2}
ORDINARY = [0.3, 0.9999, 1.7, 12.5, 0.2 + 0.7j, -0.4 + 1.1j, 3 - 2j, -5 + 0.1j]
TINY = [1e-300, -1e-200, 1e-30, 1e-8, 1e-12j, 1e-9 - 1e-9j]
HUGE = [1e5, 1e4 + 3j, -1e5 + 1e-3j, 700.0 - 700.0j]
SINGULAR = [-1 + 1e-9j, 1e-9 + 1.5707963j, 1e-6 + 3.1415926j, -0.999999999, 0.5, 1.0, 0.49999999 + 1e-3j]
PLACES = [*ORDINARY, *TINY, *HUGE, *SINGULAR]


def exactly(number):
    """A number of FLINT that has no radius."""
    man, exponent = number.man_exp()
    return mpf(int(man)) * mpf(2) ** int(exponent)


def middle(ball):
    return mpc(exactly(ball.value.real.mid()), exactly(ball.value.imag.mid()))


def radius(ball):
    """Of a disc around the rectangle."""
    return mpmath.hypot(exactly(ball.value.real.rad()), exactly(ball.value.imag.rad()))


def miss(ball, exact, logarithm=False):
    """By how much the exact number lies outside the ball, along either axis."""
    gap = mpc(exact) - middle(ball)
    if logarithm:
        gap -= 2j * mpmath.pi * mpmath.nint(gap.imag / (2 * mpmath.pi))
    beyond = [abs(gap.real) - exactly(ball.value.real.rad()), abs(gap.imag) - exactly(ball.value.imag.rad())]
    return max(beyond)


def assert_contains(ball, exact, logarithm=False):
    assert ball.finite
    assert miss(ball, exact, logarithm) <= mpf(10) ** -DIGITS * abs(exact), (ball, exact)


@pytest.mark.few(50)
@pytest.mark.parametrize("x", PLACES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_contain_the_value_and_are_narrow(name, x):
    exact, logarithm = FUNCTIONS[name]
    ball = getattr(BALLS, name)(BALLS.exact(x))
    with mpmath.workdps(EXTRA):
        truth = exact(mpmath.mpmathify(x))
        assert_contains(ball, truth, logarithm)
        size = abs(x)
        if x in SINGULAR:
            # the next singularity is this much nearer than 1
            scale = abs(truth) + 1 + 1e10
        elif size < 0.1 and name in ORDER:
            scale = mpf(size) ** ORDER[name]
        elif name == "exp":
            scale = abs(truth) * (1 + size)
        else:
            scale = abs(truth) + min(size, 1) + (7 if logarithm else 0)
        assert radius(ball) <= 64 * UNIT * scale


@pytest.mark.few(2)
@pytest.mark.parametrize("share", [1e-30, 1e-12, 1e-3, 0.3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_contain_the_image_of_a_ball(name, share):
    exact, logarithm = FUNCTIONS[name]
    rng = np.random.default_rng(3)
    for x in [0, *ORDINARY, *SINGULAR]:
        reach = share * (abs(x) or 1)
        wide = Ball(flint.acb(flint.arb(complex(x).real, reach), flint.arb(complex(x).imag, reach)), BITS)
        image = getattr(BALLS, name)(wide)
        if not image.finite:
            continue
        with mpmath.workdps(EXTRA):
            for _ in range(6):
                corner = mpc(x) + mpf(reach) * (1 - mpf(2) ** -40) * mpc(*rng.choice([-1, 1, rng.uniform(-1, 1)], 2))
                if corner:
                    assert miss(image, exact(corner), logarithm) <= 0, (name, x, corner)


@pytest.mark.parametrize("name", ["log1p", "log1p_gap", "log_cosh", "log_sinhc", "tanh", "tanhc_gap"])
def test_removable_singularities_are_filled_in(name):
    function = getattr(BALLS, name)
    assert function(BALLS.exact(0)).value.is_zero()
    around = Ball(flint.acb(flint.arb(0, 1e-10)), BITS)
    assert radius(function(around)) < 2 * mpf(1e-10) ** ORDER[name]


@pytest.mark.parametrize(("name", "place"), [("log", 0), ("log1p", -1), ("log1p_gap", -1)])
def test_nothing_is_known_at_a_singularity(name, place):
    assert not getattr(BALLS, name)(BALLS.exact(place)).finite


@pytest.mark.parametrize(("name", "zero"), [("log_cosh", 1), ("tanh", 1), ("tanhc_gap", 1), ("log_sinhc", 2)])
def test_nothing_is_known_around_a_zero_or_pole(name, zero):
    half_turn = Ball(flint.acb(0, 1) * flint.arb.pi(), BITS)
    assert not getattr(BALLS, name)(zero * half_turn / 2).finite


def test_logarithms_across_the_cut_are_continuous():
    across = Ball(flint.acb(flint.arb(-2), flint.arb(0, 1e-20)), BITS)
    for ball in (BALLS.log(across), BALLS.log1p(across - 1)):
        assert radius(ball) < 2e-20
        assert abs(middle(ball) - mpc(mpmath.log(2), mpmath.pi)) < 1e-15
    # a power tells the branches apart: both sides of the principal one
    root = across ** (BALLS.exact(1) / 2)
    assert miss(root, mpc(0, 1) * mpmath.sqrt(2)) <= 0
    assert miss(root, -mpc(0, 1) * mpmath.sqrt(2)) <= 0
    assert radius(across**3) < 1e-18


@pytest.mark.parametrize("a", [0.3, -7, 2 + 1j, 1e-200, 1e30 - 1j])
@pytest.mark.parametrize("b", [5, -3, 0.1 - 0.4j, 1e15])
def test_operations(a, b):
    one, other = BALLS.exact(a), BALLS.exact(b)
    with mpmath.workdps(EXTRA):
        x, y = mpmath.mpmathify(a), mpmath.mpmathify(b)
        cases = [(one + other, x + y), (one - other, x - y), (one * other, x * y), (one / other, x / y), (-one, -x)]
        cases += [(3 + one, 3 + x), (3 - one, 3 - x), (3 * one, 3 * x), (3 / one, 3 / x), (one / 3, x / 3), (one - 3, x - 3)]
        cases += [(one**3, x**3), (one**-2, x**-2), (one**0, mpf(1))]
        for ball, exact in cases:
            assert_contains(ball, exact)
            assert radius(ball) <= 16 * UNIT * abs(exact)
        # 10^40 is no double
        assert_contains(10**40 * one, 10**40 * x)
        if abs(x) < 100:
            assert_contains(one ** (other / 10**15), x ** (y / 10**15))


def test_floats_are_refused():
    one = BALLS.exact(1)
    for operation in (lambda: one + 0.1, lambda: 0.1 * one, lambda: one / 0.1, lambda: 0.1 - one, lambda: one**0.5):
        with pytest.raises(TypeError, match="unsupported operand"):
            operation()


@pytest.mark.parametrize("value", [0.1, 1e-7, 123.456, 0.9999999999, 3.0, 1e22, 5e-324, 1.7976931348623157e308, -0.25])
def test_constants_are_the_decimals_that_the_user_wrote(value):
    ball = BALLS.constant(value)
    with mpmath.workdps(EXTRA):
        assert_contains(ball, mpf(repr(value)))
        assert radius(ball) <= 2 * UNIT * abs(mpf(value))
        if value == 0.1:
            assert miss(ball, mpf(value)) > 0


def test_more_bits_are_narrower():
    for bits in (53, 128, 256, 1024):
        ball = Balls(bits).log(Balls(bits).constant(0.1))
        with mpmath.workdps(EXTRA):
            assert_contains(ball, mpmath.log(mpf("0.1")))
            assert mpf(2) ** -(bits + 4) < radius(ball) < 16 * mpf(2) ** -bits
    # the finer of two is kept
    assert (Balls(53).exact(0.1) + Balls(256).exact(0.2)).bits == 256
    assert Balls(53).log(Balls(256).exact(0.2)).bits == 256


@pytest.mark.few(10)
@pytest.mark.parametrize("variance", [0.01, 0.3, 1.0, 7.25, 400.0])
@pytest.mark.parametrize("at", [0.0, 0.3, 5.5, -2 + 0.7j, 1.25 + 3j])
def test_normal_sums(variance, at):
    ball = BALLS.log_normal_sum(BALLS.exact(variance), BALLS.exact(at))
    with mpmath.workdps(400):
        truth = log_sum(mpf(variance), mpmath.mpmathify(at))
        assert_contains(ball, truth, True)
        assert radius(ball) < 256 * UNIT * (1 + abs(truth) + (1 + abs(mpmath.im(at))) * (abs(at) + 1) / variance)


@pytest.mark.parametrize("z", [0, -1, 2.5, 0.3 + 4j, -0.5 + 100j, 1e4])
def test_power_sums(z):
    p, q = [1e-300, 1e-12, 0.3, 0.7, 0.9999], [1e-290, 0.4, 1e-9, 0.7, 0.1]
    ball = BALLS.log_power_sum([BALLS.constant(one) for one in p], [BALLS.constant(one) for one in q], BALLS.exact(z))
    with mpmath.workdps(EXTRA):
        pairs = [(mpf(repr(a)), mpf(repr(b))) for a, b in zip(p, q, strict=True)]
        truth = mpmath.log(mpmath.fsum(a ** (1 + mpmath.mpmathify(z)) * b ** -mpmath.mpmathify(z) for a, b in pairs))
        assert_contains(ball, truth, True)
        assert radius(ball) < 2**14 * UNIT * (1 + abs(z))


# ---------------------------------------------------------------------------------------------- integrals


def test_integrals_against_antiderivatives():
    one, two, end = BALLS.exact(1), BALLS.exact(2), BALLS.constant(0.3)
    with mpmath.workdps(EXTRA):
        cases = [
            (BALLS.integral(BALLS.exp, -end, end), 2 * mpmath.sinh(mpf("0.3"))),
            (BALLS.integral(BALLS.log, one, two), 2 * mpmath.log(2) - 1),
            (BALLS.integral(lambda x: x ** (one / 2), one, two), (mpf(2) ** 1.5 - 1) * 2 / 3),
            (BALLS.integral(lambda x: BALLS.exp(BALLS.exact(40j) * x), one, two), mpmath.expj(60) * mpmath.sin(20) / 20),
            (BALLS.integral(BALLS.tanh, -one, two), mpmath.log(mpmath.cosh(2) / mpmath.cosh(1))),
        ]
        for ball, truth in cases:
            assert_contains(ball, truth)
            assert radius(ball) < 1e-35
            assert not ball.analytic


@pytest.mark.parametrize("name", ["log1p", "log1p_gap", "log_cosh", "log_sinhc", "tanhc_gap"])
def test_integrands_of_every_operation(name):
    ball = BALLS.integral(getattr(BALLS, name), BALLS.constant(-0.75), BALLS.exact(3))
    with mpmath.workdps(DIGITS):
        truth = mpmath.quad(lambda x: FUNCTIONS[name][0](x) if x else mpf(0), [mpf("-0.75"), 0, 1, 2, 3])
        assert miss(ball, truth) <= mpf(10) ** -50
        assert radius(ball) < 1e-34


@pytest.mark.slow
def test_no_integral_across_a_cut_is_claimed():
    # few bits: the quadrature tries the longer the more there are
    balls = Balls(24)
    low, high, half = balls.exact(-1 - 1j), balls.exact(-1 + 1j), balls.exact(0.5)
    for function in (balls.log, lambda x: x**half, lambda x: balls.log1p(x - 1)):
        assert not balls.integral(function, low, high).finite
    # an integral inside is a function of the outer variable, of which it may not lose sight
    constant = balls.integral(lambda x: balls.log(balls.integral(lambda t: x + 0 * t, 0 * low, 0 * low + 1)), low, high)
    assert not constant.finite


def test_nested_integrals():
    one, two = BALLS.exact(1), BALLS.exact(2)
    ball = BALLS.integral(lambda y: BALLS.log(BALLS.integral(lambda x: BALLS.exp(x * y), 0 * one, one)), one, two)
    with mpmath.workdps(40):
        truth = mpmath.quad(lambda y: mpmath.log(mpmath.expm1(y) / y), [1, 2])
        assert miss(ball, truth) <= mpf(10) ** -35
        assert radius(ball) < 1e-33


REFUSALS = {
    "a logarithm": BALLS.log,
    "a hyperbolic tangent": BALLS.tanh,
    "a quotient": lambda x: 1 / BALLS.exp(x),
    "an exponential of one": lambda x: BALLS.exp(BALLS.exp(x)),
    "a square of x": lambda x: BALLS.exp(x * x),
    "x": lambda x: x,
    "x among exponentials": lambda x: x + BALLS.exp(x),
    "an exponent": lambda x: BALLS.exact(2) ** x,
    "a power of what may vanish": lambda x: (BALLS.exp(x) - 1) ** BALLS.exact(0.5),
    "a power of a difference": lambda x: (2 - BALLS.exp(x)) ** BALLS.exact(0.5),
    "a power of a power that turns": lambda x: (BALLS.exp(x) ** BALLS.exact(1j)) ** BALLS.exact(0.5),
    "a power of a complex function": lambda x: BALLS.exp(BALLS.exact(1j) * x) ** BALLS.exact(0.5),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_means_of_what_is_of_no_known_size_are_refused(name):
    with pytest.raises(NotImplementedError, match="size of this function far out is not known"):
        BALLS.log_normal_mean(REFUSALS[name])


def power(base, exponent):
    return base ** BALLS.exact(exponent)


# by E[e^{cX}] = e^{c^2/2}
MEANS = {
    "exponential": (lambda x: BALLS.exp(3 * x), lambda: mpf(9) / 2),
    "turning": (lambda x: BALLS.exp(BALLS.exact(1 + 4j) * x - 2), lambda: mpc(1, 4) ** 2 / 2 - 2),
    "power": (lambda x: power(BALLS.exp(x + 1), 2.5 - 3j), lambda: mpc(2.5, -3) + mpc(2.5, -3) ** 2 / 2),
    "negative power": (lambda x: power(5 * BALLS.exp(2 * x), -1.5), lambda: -1.5 * mpmath.log(5) + mpf(4.5)),
    "whole power": (lambda x: (1 + BALLS.exp(-x)) ** 2, lambda: mpmath.log(1 + 2 * mpmath.exp(0.5) + mpmath.exp(2))),
    "difference": (lambda x: 3 - BALLS.exp(x), lambda: mpmath.log(3 - mpmath.exp(0.5))),
    "product": (lambda x: power(BALLS.exp(x), 0.5) * power(BALLS.exp(-x), -2) - 0, lambda: mpf(2.5) ** 2 / 2),
    "constant": (lambda x: BALLS.exact(7) + 0 * x, lambda: mpmath.log(7)),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("guard", [None, 0, -100, -124])
@pytest.mark.parametrize("name", MEANS)
def test_means_over_the_whole_line(name, guard):
    function, exact = MEANS[name]
    # a smaller guard only widens: hardly anything is left between the ends, so the tails are tested
    ball = BALLS.log_normal_mean(function) if guard is None else BALLS.log_normal_mean(function, guard)
    with mpmath.workdps(DIGITS):
        if guard is None or ball.finite:
            assert_contains(ball, exact(), True)
        if guard is None:
            assert radius(ball) < 1e-32


@pytest.mark.parametrize("seed", range(30))
def test_orders_are_above_the_function_everywhere(seed):
    rng = np.random.default_rng(seed)
    a, b, c, d, q, h = rng.normal(size=6)
    q, first, second = abs(q), complex(3 * rng.normal(), rng.normal()), 3 * rng.normal()

    def function(arith, number, x):
        w = number(q) + number(0.5) * arith.exp(number(a) * x + number(b)) + arith.exp(number(c) * x - number(d)) * 3
        return w ** number(second) * (w ** number(first) - number(h)) + (1 + w) ** 2

    size = function(BALLS, BALLS.exact, Affine(BALLS.exact(1), BALLS.exact(0)))
    rise, start = (float(one.upper()) for one in size.above)
    for x in [0.0, *rng.normal(size=5), *(50 * rng.normal(size=5))]:
        value = function(MULTIPRECISION, mpmath.mpmathify, mpf(x))
        assert mpmath.log(abs(value)) <= (rise * abs(x) + start) * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_orders_of_positive_functions_are_below_them_too(seed):
    rng = np.random.default_rng(seed)
    a, b, p, q = rng.normal(size=4)

    def function(arith, number, x):
        w = number(0.125) + arith.exp(number(a) * x + number(b))
        return (w ** number(p) + 2 * arith.exp(-x)) ** number(q) * w**-2

    size = function(BALLS, BALLS.exact, Affine(BALLS.exact(1), BALLS.exact(0)))
    fall, start = (float(one.upper()) for one in size.below)
    for x in [0.0, *rng.normal(size=5), *(50 * rng.normal(size=5))]:
        value = function(MULTIPRECISION, mpmath.mpmathify, mpf(x))
        assert mpmath.log(value) >= -(fall * abs(x) + start) * (1 + 1e-12) - 1e-12


# x at which the function is as large as its bound allows, but for a factor of two a sum
TIGHT = {
    "small, to a negative power": (lambda arith, number, x: (number(2**-10) * arith.exp(x)) ** number(-2), 0.0),
    "smaller, to a negative power": (lambda arith, number, x: arith.exp(x - 5) ** number(-1), -3.0),
    "falling, to a negative power": (lambda arith, number, x: arith.exp(-2 * x) ** -3, 7.0),
    "large": (lambda arith, number, x: 4 + arith.exp(x + 9), 11.0),
}


@pytest.mark.parametrize("name", TIGHT)
def test_orders_are_reached(name):
    function, at = TIGHT[name]
    rise, start = (float(one.upper()) for one in function(BALLS, BALLS.exact, Affine(BALLS.exact(1), BALLS.exact(0))).above)
    excess = rise * abs(at) + start - float(mpmath.log(function(MULTIPRECISION, mpmath.mpmathify, mpf(at))))
    assert -1e-9 <= excess <= 0.7


def test_half_lines_are_refused_in_words():
    with pytest.raises(NotImplementedError, match="without an upper end"):
        BALLS.integral(BALLS.exp, BALLS.exact(0), None)


# ----------------------------------------------------------------------------------- precision and absence


@pytest.mark.slow
def test_the_precision_of_others_is_left_alone():
    def broken(x):
        assert flint.ctx.prec >= BITS
        raise ZeroDivisionError("on purpose")

    for own in (53, 77, 500):
        with flint.ctx.workprec(own):
            one = BALLS.constant(0.1)
            for name in FUNCTIONS:
                getattr(BALLS, name)(one)
            BALLS.log_normal_sum(one, one)
            assert radius(1 / (one + one * one - 3 * one)) < 1e-35
            BALLS.integral(BALLS.exp, one, 2 * one)
            assert flint.ctx.prec == own
            with pytest.raises(ZeroDivisionError, match="on purpose"):
                BALLS.integral(broken, one, 2 * one)
            assert flint.ctx.prec == own
            with pytest.raises(AttributeError):
                BALLS.log(Ball(None, BITS))
            assert flint.ctx.prec == own


@pytest.mark.parametrize(("bits", "error"), [(1, ValueError), (1 << 40, ValueError), (53.5, TypeError), ("many", TypeError)])
def test_bits_must_be_a_number_of_bits(bits, error):
    with pytest.raises(error, match="bits must be an integer"):
        Balls(bits)


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match="pip install python-flint"):
        Balls(64).constant(0.1)


# ----------------------------------------------------------------------------------------------- formulas


LAWS = [
    "Gaussian(sigma=1.3)",
    "Laplace(scale=1.5)",
    "ExponentialMechanism(epsilon=1)",
    "RandomizedResponse(p=0.6)",
    "KaryRandomizedResponse(k=4, p=0.5)",
    "PureDP(epsilon=0.7)",
    "ApproximateDP(epsilon=1, delta=0.001)",
    "DistanceToInstability(epsilon=1, delta=0.001)",
    "Discrete(p=[0.5, 0.3, 0.2, 0], q=[0.2, 0.3, 0, 0.5])",
    "DiscreteLaplace(scale=2, sensitivity=3)",
    "DiscreteGaussian(sigma=2, sensitivity=3)",
    "DiscreteGaussian(sigma=2, truncation=6)",
    "DiscreteGaussian(sigma=0.5).poisson(0.25)",
    "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2)",
    "GaussianPair(mean_p=1, sigma_p=1, mean_q=0, sigma_q=1.01)",
    "FromProfile(epsilons=[0, 0.5, 1], deltas=[0.4, 0.2, 0.01])",
    "3 * Gaussian(sigma=2) + Laplace(scale=3) + 2 * RandomizedResponse(p=0.6)",
]
INTEGRALS = [
    "Laplace(scale=1.5).poisson(0.1)",
    "ExponentialMechanism(epsilon=2).poisson(0.5)",
    "Laplace(scale=1.5, adjacency='replace').subset(0.2, adjacency='replace')",
]
MEANS_OF_MIXTURES = [
    "Gaussian(sigma=1.1).poisson(0.01)",
    "Gaussian(sigma=1, adjacency='replace').subset(0.1, adjacency='add_remove')",
    "Gaussian(sigma=1.3).poisson(0.1, adjacency='replace')",
    "GaussianMixture(sigma=1, sensitivities=[0, 1], probabilities=[0.5, 0.5])",
]
REFUSED = {
    "Gaussian(sigma=1.3, adjacency='replace').subset(0.2, adjacency='replace')": "without an upper end",
    "GaussianPair(mean_p=0, sigma_p=1, mean_q=1, sigma_q=2).poisson(0.2)": "known by samples only",
}


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "text",
    [
        *LAWS,
        *INTEGRALS,
        MEANS_OF_MIXTURES[0],
        *slowly(*MEANS_OF_MIXTURES[1:]),
    ],
)
def test_formulas_of_the_catalogue(text):
    loss = parse(text).loss_law()
    for law in (loss, loss.reflected()):
        for z in (0, -1, 0.1, -0.9 + 0.3j, 0.05 - 2.5j):
            ball = law.formula(BALLS, BALLS.exact(z))
            with mpmath.workdps(45):
                truth = law.formula(MULTIPRECISION, mpmath.mpmathify(z))
                assert ball.finite
                # as far as the quadrature and the cancellations of mpmath go
                assert miss(ball, truth, True) <= mpf(10) ** -40
                assert radius(ball) < 1e-34


@pytest.mark.parametrize("text", REFUSED)
def test_formulas_that_cannot_be_enclosed_are_refused(text):
    law = parse(text).loss_law()
    with pytest.raises(NotImplementedError, match=REFUSED[text]):
        law.formula(BALLS, BALLS.exact(0.3))
    testing.check_balls(parse(text))


# ---------------------------------------------------------------------------------------- the suite's check


ONE = Plain(1.0)


class Slipped(Normal):
    """Numbers a hundred ulps from the formula, with errors of ten."""

    def log_transform(self, z, count=1):
        values = super().log_transform(z, count)
        return Values(values.mid * (1 + 2e-14), 2e-15 * np.abs(values.mid), values.inner)


class Loose(Normal):
    """A formula that is another number at each precision."""

    def formula(self, arith, z):
        return super().formula(arith, z) + (arith.constant(arith.bits) / 10**9 if isinstance(arith, Balls) else 0)


@pytest.mark.parametrize(
    ("law", "text"), [(Slipped(ONE), "further from its formula in balls"), (Loose(ONE), "is not one number")]
)
def test_wrong_laws_are_caught(law, text):
    with pytest.raises(AssertionError, match=text):
        testing.check_balls(Own(law))


def test_the_check_is_passed_over_without_flint(monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    testing.check_balls(Own(Slipped(ONE)))
