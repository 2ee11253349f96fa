"""Densities given by formulas: brackets that are proved without a certificate."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy

import logphi as lp
from logphi.answers.status import Status

X = sympy.Symbol("x")
LINE = (-math.inf, math.inf)
Q = sympy.Rational
ONE, ZERO = sympy.Integer(1), sympy.Integer(0)


def normal(mean: sympy.Expr, sigma: sympy.Expr = ONE) -> sympy.Expr:
    return -(((X - mean) / sigma) ** 2) / 2 - sympy.log(sigma) - sympy.log(2 * sympy.pi) / 2


def truncated(centre: int) -> sympy.Expr:
    inside = sympy.And(centre - 3 < X, centre + 3 > X)
    return sympy.Piecewise((-sympy.Abs(X - centre) - sympy.log(2 - 2 * sympy.exp(-3)), inside), (-sympy.oo, True))


def logistic(centre: int) -> sympy.Expr:
    return -sympy.Abs(X - centre) - 2 * sympy.log(1 + sympy.exp(-sympy.Abs(X - centre)))


def held(found: lp.Bound, exact: float, width: float, rounding: float = 1e-14) -> None:
    assert found.status is Status.BRACKET
    assert found.ledger.proved
    assert found.lower <= exact * (1 + rounding)
    assert exact * (1 - rounding) <= found.upper
    assert found.width <= width


@pytest.mark.slow
def test_a_piecewise_density_is_enclosed_alone_and_composed() -> None:
    noise, known = lp.FromDensities(truncated(1), truncated(0), support=(-3, 4)), lp.TruncatedLaplace(scale=1, truncation=3)
    for epsilon in (0.0, 0.5, 0.9, 2.0):
        held(noise.delta(epsilon), known.delta(epsilon).value, 1e-6, 1e-9)
    held((10 * noise).delta(3.0), (10 * known).delta(3.0).value, 1e-5, 1e-8)
    held(noise.tradeoff(0.1), known.tradeoff(0.1).value, 1e-5, 1e-9)


def test_singular_ends_are_followed() -> None:
    # 1/(2 sqrt(x)) against the uniform density: the ratio is a where x = 1/(4 a^2), and delta is 1/(4 a) for a >= 1/2
    noise = lp.FromDensities(-sympy.log(X) / 2 - sympy.log(2), ZERO * X, support=(0, 1), adjacency="remove")
    for epsilon in (0.0, 1.0, 3.0):
        held(noise.delta(epsilon), math.exp(-epsilon) / 4, 1e-3)


@pytest.mark.slow
def test_heavy_tails() -> None:
    def cauchy(centre: int) -> sympy.Expr:
        return -sympy.log(1 + (X - centre) ** 2) - sympy.log(sympy.pi)

    noise = lp.FromDensities(cauchy(1), cauchy(0), support=LINE)
    # to 12 digits by a certificate
    held(noise.delta(0.5), 0.119071652945, 1e-6, 1e-11)


@pytest.mark.slow
def test_exponentials_inside_of_logarithms() -> None:
    noise = lp.FromDensities(logistic(1), logistic(0), support=LINE)
    held(noise.delta(0.0), math.tanh(0.25), 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "made",
    [
        lambda one: one,
        lambda one: 10 * one,
        lambda one: 3 * one + lp.Gaussian(sigma=2),
        lambda one: 50 * one.poisson(0.05),
        lambda one: 2 * one.poisson(0.1) + lp.Laplace(scale=2),
    ],
)
def test_normal_densities_as_the_gaussian(made: Callable[[lp.Mechanism], lp.Mechanism]) -> None:
    noise = made(lp.FromDensities(normal(ONE), normal(ZERO), support=LINE))
    known = made(lp.Gaussian(sigma=1))
    for epsilon in (0.5, 2.0):
        held(noise.delta(epsilon), known.delta(epsilon).value, 1e-4, 1e-8)
    held(noise.epsilon(1e-5), known.epsilon(1e-5).value, 0.02, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [Q(1, 10**8), Q(1, 3), Q(2)])
def test_widths_that_differ(sigma: sympy.Expr) -> None:
    noise = lp.FromDensities(normal(ZERO, sigma), normal(ZERO), support=LINE, breakpoints=(0.0,))
    known = lp.GaussianPair(0, float(sigma), 0, 1)
    for epsilon in (0.0, 1.0, 3.0):
        held(noise.delta(epsilon), known.delta(epsilon).value, 1e-3, 1e-8)


@pytest.mark.slow
def test_a_mixture_of_normals() -> None:
    mixed = sympy.log(Q(3, 4) * sympy.exp(normal(ZERO)) + Q(1, 4) * sympy.exp(normal(ONE)))
    noise = lp.FromDensities(mixed, normal(ZERO), support=LINE, adjacency="remove")
    known = lp.Gaussian(sigma=1).poisson(0.25, adjacency="remove")
    held(noise.delta(0.3), known.delta(0.3).value, 1e-4, 1e-8)


@pytest.mark.slow
def test_functions_and_unknown_tails_stay_estimates() -> None:
    def function(centre: int) -> Callable[[np.ndarray], np.ndarray]:
        return lambda x: -((x - centre) ** 2) / 2 - math.log(2 * math.pi) / 2

    assert lp.FromDensities(function(1), function(0), support=LINE).delta(0.5).status is Status.ESTIMATED

    def lognormal(mean: int) -> sympy.Expr:
        return -sympy.log(X) - (sympy.log(X) - mean) ** 2 / 2 - sympy.log(2 * sympy.pi) / 2

    noise = lp.FromDensities(lognormal(1), lognormal(0), support=(0, math.inf))
    assert noise.ends() is None
    found = noise.delta(0.5)
    assert found.status is Status.ESTIMATED
    assert not found.ledger.proved


@pytest.mark.slow
def test_what_the_profile_does_not_bound_is_answered_by_the_loss() -> None:
    noise = lp.FromDensities(truncated(1), truncated(0), support=(-3, 4))
    assert not (2 * noise).pdp_delta(1.5).ledger.proved
    assert not noise.delta(0.5, method="contour").ledger.proved


@pytest.mark.parametrize("square", [X**2 - X + sympy.Abs(X + 9) - 9, X * sympy.Piecewise((X, X < 9), (X + 1, True))])
def test_a_root_of_a_square_that_appears_late_has_no_wrong_sign(square: sympy.Expr) -> None:
    # all are x^2 on the support, which has no cut at zero
    log_mass = sympy.log(2 - sympy.exp(-3) - sympy.exp(-4))
    noise = lp.FromDensities(-sympy.sqrt(square) - log_mass, -sympy.log(7) + ZERO * X, support=(-3, 4), adjacency="remove")
    found = noise.delta(0.5)
    assert found.lower <= 0.1932697540382 <= found.upper or not found.ledger.proved
    assert found.width < 1e-5


def test_long_integers_are_numbers() -> None:
    far = sympy.log(sympy.Integer(10) ** 30, evaluate=False) - 30 * sympy.log(10)
    assert lp.FromDensities(normal(ONE) + far, normal(ZERO) + far, support=LINE).delta(0.5).value == pytest.approx(
        lp.Gaussian(1).delta(0.5).value, abs=1e-4
    )


def steps(heights: list[float]) -> sympy.Expr:
    """The logarithm of a density that is constant on intervals of length one."""
    values = [sympy.log(Q(repr(height))) if height else -sympy.oo for height in heights]
    return sympy.Piecewise(*((value, end > X) for end, value in enumerate(values[:-1], 1)), (values[-1], True))


@pytest.mark.few(3)
@pytest.mark.parametrize("q", [[0.1, 0.3, 0.5, 0.1], [0.1, 0.3, 0.6, 0.0]])
@pytest.mark.parametrize("p", [[0.5, 0.3, 0.1, 0.1], [0.5, 0.3, 0.0, 0.2]])
def test_densities_that_are_constant_on_intervals(p: list[float], q: list[float]) -> None:
    noise, known = lp.FromDensities(steps(p), steps(q), support=(0, 4)), lp.Discrete(p=p, q=q)
    for one, exact in ((noise, known), (2 * noise, 2 * known), (noise.poisson(0.2), known.poisson(0.2))):
        for epsilon in (-0.3, 0.1, 0.4):
            held(one.delta(epsilon), exact.delta(epsilon).value, 1e-6, 1e-12)
