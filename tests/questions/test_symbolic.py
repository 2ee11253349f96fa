"""The symbolic log-phi is the formula of the mathematics, written out here once more."""

import mpmath
import pytest
import sympy
from mpmath import exp, log, mpc, mpf

import logphi as lp

ALPHA = sympy.Symbol("alpha")
DIGITS = 40
CLOSE = mpf(10) ** -30
POINTS = [mpc(0.3), mpc(2.5, 0.7), mpc(-4, 0.25), mpc(0, -1.5), mpc(11, 2)]


def gaussian(m):
    return lambda z: exp(z * (z + 1) * m**2 / 2)


def laplace(w):
    def transform(z):
        u = z + mpf(1) / 2
        return exp(-w / 2) * (mpmath.cosh(u * w) + mpmath.sinh(u * w) / (2 * u))

    return transform


def response(p):
    return lambda z: p * (p / (1 - p)) ** z + (1 - p) * ((1 - p) / p) ** z


def bounded_range(e):
    return lambda z: mpmath.sinh((z + mpf(1) / 2) * e) / ((2 * z + 1) * mpmath.sinh(e / 2))


def guarantee(e, d):
    return lambda z: (1 - d) * (exp((z + 1) * e) + exp(-z * e)) / (1 + exp(e))


def power_sum(p, q):
    return lambda z: mpmath.fsum(mpf(a) ** (1 + z) * mpf(b) ** (-z) for a, b in zip(p, q, strict=True))


def reports(k, p):
    return (1 - p + p / k, p / k, (k - 2) * p / k), (p / k, 1 - p + p / k, (k - 2) * p / k)


def geometric(a, s):
    r = exp(-a)
    inner = [r**x * (1 - r) / (1 + r) for x in range(1, s)]
    q = [1 / (1 + r), *inner, r**s / (1 + r)]
    return q[::-1], q


def truncated(sigma, s, most):
    whole = {x: exp(-x * x / (2 * sigma**2)) for x in range(-most, most + 1)}
    total = mpmath.fsum(whole.values())
    common = range(s - most, most + 1)
    return [whole[x - s] / total for x in common], [whole[x] / total for x in common]


def gaussian_pair(d, r):
    """exp of z D_{1+z}, the divergence of N(d, r^2) from N(0, 1) of order 1 + z."""

    def mixed(z):
        return 1 + z - z * r * r

    return lambda z: r**-z * mixed(z) ** mpf("-0.5") * exp(z * (1 + z) * d * d / (2 * mixed(z)))


CASES = {
    "gaussian": (lambda: lp.Gaussian(sigma=1.5), lambda: gaussian(1 / mpf("1.5"))),
    "gaussian-sensitivity": (lambda: lp.Gaussian(sigma=0.7, sensitivity=0.1), lambda: gaussian(mpf(1) / 7)),
    "laplace": (lambda: lp.Laplace(scale=0.8), lambda: laplace(1 / mpf("0.8"))),
    "response": (lambda: lp.RandomizedResponse(p=0.7), lambda: response(mpf("0.7"))),
    "range": (lambda: lp.ExponentialMechanism(epsilon=0.9), lambda: bounded_range(mpf("0.9"))),
    "pure": (lambda: lp.PureDP(epsilon=1.1), lambda: guarantee(mpf("1.1"), mpf(0))),
    "approximate": (lambda: lp.ApproximateDP(epsilon=1.1, delta=1e-3), lambda: guarantee(mpf("1.1"), mpf("1e-3"))),
    "discrete": (
        lambda: lp.Discrete(p=[0.5, 0.3, 0.2], q=[0.2, 0.3, 0.5]),
        lambda: power_sum(["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]),
    ),
    "geometric": (
        lambda: lp.DiscreteLaplace(scale=0.8, sensitivity=3),
        lambda: power_sum(*geometric(1 / mpf("0.8"), 3)),
    ),
    "geometric-one": (lambda: lp.DiscreteLaplace(scale=0.8), lambda: power_sum(*geometric(1 / mpf("0.8"), 1))),
    "normal-steps": (
        lambda: lp.DiscreteGaussian(sigma=1.3, sensitivity=2, truncation=3),
        lambda: power_sum(*truncated(mpf("1.3"), 2, 3)),
    ),
    "kary": (lambda: lp.KaryRandomizedResponse(k=7, p=0.3), lambda: power_sum(*reports(7, mpf("0.3")))),
    "kary-nothing": (
        lambda: lp.KaryRandomizedResponse(k=3, p=0.3, adjacency="replace_special"),
        lambda: power_sum(["0.8", "0.2"], [mpf(1) / 3, mpf(2) / 3]),
    ),
    "discrete-holes": (
        lambda: lp.Discrete(p=[0.5, 0.3, 0.2, 0.0], q=[0.2, 0.3, 0.0, 0.5]),
        lambda: power_sum(["0.5", "0.3"], ["0.2", "0.3"]),
    ),
    "gaussian-pair": (
        lambda: lp.GaussianPair(mean_p=0.5, sigma_p=2, mean_q=0, sigma_q=2.5),
        lambda: gaussian_pair(mpf("0.2"), mpf("0.8")),
    ),
    "gaussian-pair-far": (
        lambda: lp.GaussianPair(mean_p=0, sigma_p=5, mean_q=1, sigma_q=2),
        lambda: gaussian_pair(mpf("0.5"), mpf("2.5")),
    ),
    "sampled-discrete": (
        lambda: lp.Discrete(p=[0.5, 0.5], q=[0.25, 0.75]).poisson(0.5),
        lambda: power_sum(["0.375", "0.625"], ["0.25", "0.75"]),
    ),
}


def value(expression, alpha):
    substituted = expression.subs(ALPHA, sympy.Float(str(alpha.real), DIGITS) + sympy.I * sympy.Float(str(alpha.imag), DIGITS))
    number = sympy.N(substituted, DIGITS)
    real, imaginary = number.as_real_imag()
    return mpc(mpf(str(real)), mpf(str(imaginary)))


def assert_equal_logs(found, exact):
    gap = found - log(exact)
    turn = 2 * mpmath.pi
    gap -= 1j * turn * mpmath.nint(gap.imag / turn)
    assert abs(gap) < CLOSE * (1 + abs(found)), mpmath.nstr(gap, 10)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_log_phi_is_the_formula(name, direction):
    mechanism, formula = CASES[name]
    expression = mechanism().log_phi(ALPHA, direction=direction)
    assert expression.free_symbols <= {ALPHA}
    with mpmath.workdps(DIGITS):
        transform = formula()
        for alpha in POINTS:
            z = mpc(0, 1) * alpha
            assert_equal_logs(value(expression, alpha), transform(z if direction == "remove" else -1 - z))


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("approximate", "discrete-holes", "normal-steps")])
def test_probabilities_have_mass_one_by_substitution(name):
    expression = CASES[name][0]().log_phi(ALPHA)
    at_zero, at_i = expression.subs(ALPHA, 0), expression.subs(ALPHA, sympy.I)
    assert abs(sympy.N(at_zero, DIGITS)) < 1e-30
    assert abs(sympy.N(at_i, DIGITS)) < 1e-30


@pytest.mark.parametrize("name", ["gaussian", "response", "discrete"])
def test_mass_one_is_a_simplification(name):
    assert sympy.simplify(CASES[name][0]().log_phi(ALPHA).subs(ALPHA, 0)) == 0


def test_finite_masses_of_guarantees():
    expression = lp.ApproximateDP(epsilon=2, delta=0.25).log_phi(ALPHA)
    assert sympy.N(sympy.exp(expression.subs(ALPHA, 0)), 20) == pytest.approx(0.75, rel=1e-15)


def test_divergence_of_a_gaussian_is_the_derivative_at_zero():
    z = sympy.Symbol("z")
    expression = lp.Gaussian(sigma=2).log_phi(ALPHA).subs(ALPHA, -sympy.I * z)
    assert sympy.simplify(sympy.diff(expression, z).subs(z, 0) - sympy.Rational(1, 8)) == 0
    assert sympy.simplify(sympy.diff(expression, z, 2).subs(z, 0) - sympy.Rational(1, 4)) == 0


def test_counts_stand_before_their_terms():
    release = 14062 * lp.Gaussian(sigma=1.1).poisson(0.25) + 37 * lp.Laplace(scale=3)
    text = str(release.log_phi(ALPHA))
    assert "14062*" in text
    assert "37*" in text
    assert text.count("Integral") == 1


def test_composition_adds():
    one, two = lp.Laplace(scale=3), lp.RandomizedResponse(p=0.6)
    total = (2 * one + 5 * two).log_phi(ALPHA)
    with mpmath.workdps(DIGITS):
        for alpha in POINTS[:3]:
            parts = 2 * value(one.log_phi(ALPHA), alpha) + 5 * value(two.log_phi(ALPHA), alpha)
            assert abs(value(total, alpha) - parts) < CLOSE * 100


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_sampled_gaussian_holds_an_unevaluated_integral(direction):
    expression = lp.Gaussian(sigma=2).poisson(0.25).log_phi(ALPHA, direction=direction)
    integrals = list(expression.atoms(sympy.Integral))
    assert len(integrals) == 1
    x = integrals[0].variables[0]
    assert integrals[0].limits == ((x, -sympy.oo, sympy.oo),)
    # the integrand is density times w to the power z + 1, w = 3/4 + exp(x/2 - 1/8)/4
    alpha, at = mpc("0.4", "-0.3"), mpf("1.3")
    z = mpc(0, 1) * alpha if direction == "remove" else -1 - mpc(0, 1) * alpha
    with mpmath.workdps(DIGITS):
        w = mpf(3) / 4 + exp(at / 2 - mpf(1) / 8) / 4
        exact = w ** (z + 1) * exp(-at * at / 2) / mpmath.sqrt(2 * mpmath.pi)
        found = value(integrals[0].function.subs(x, sympy.Float("1.3", DIGITS)), mpc("0.4", "-0.3"))
        assert abs(found - exact) < mpf(10) ** -14  # alpha was a double once
    assert expression.subs(integrals[0], 1) == 0


def test_rates_nought_and_one():
    assert lp.Gaussian(sigma=2).poisson(0).log_phi(ALPHA) == 0
    base = lp.Gaussian(sigma=2)
    assert sympy.simplify(base.poisson(1).log_phi(ALPHA) - base.log_phi(ALPHA)) == 0


def test_it_prints_as_latex():
    for mechanism, _ in CASES.values():
        assert "alpha" in sympy.latex(mechanism().log_phi(ALPHA))


@pytest.mark.slow
def test_normal_noise_on_the_integers_holds_unevaluated_sums():
    expression = lp.DiscreteGaussian(sigma=2, sensitivity=3).log_phi(ALPHA)
    sums = list(expression.atoms(sympy.Sum))
    assert len(sums) == 2
    with mpmath.workdps(DIGITS):
        alpha = mpc("0.4", "-0.3")
        finite = {one: sympy.Sum(one.function, (one.variables[0], -60, 60)).doit() for one in sums}
        z = mpc(0, 1) * alpha
        weights = [exp(-mpf(x * x) / 8) for x in range(-60, 61)]
        exact = mpmath.fsum(exp(-((1 + z) * (x - 3) ** 2 - z * x * x) / 8) for x in range(-60, 61)) / mpmath.fsum(weights)
        assert_equal_logs(value(expression.xreplace(finite), alpha), exact)
