"""phi itself: numbers with bounds, expressions that SymPy evaluates, symbols in the place of parameters."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import logphi as lp
from directions import DIRECTIONS
from logphi.answers.status import Status
from logphi.arith.nodes import normal_sum_of_arrays, quadrature_of_arrays
from logphi.mechanisms.catalogue import CATALOGUE
from one_of_each import EXAMPLES
from refusals import untyped
from slowly import slowly
from some import some

ALPHA = sympy.Symbol("alpha", real=True)
TEN_DIGITS = 1e-10

RELEASES: dict[str, Callable[..., lp.Mechanism]] = {
    **{name: EXAMPLES[name] for name in CATALOGUE},
    "counted": lambda: 5 * lp.Gaussian(sigma=1.5),
    "DiscreteGaussian, narrow": lambda: lp.DiscreteGaussian(sigma=0.5),
    "DiscreteGaussian, truncated": lambda: lp.DiscreteGaussian(sigma=1.3, sensitivity=2, truncation=3),
    "sampled Gaussian": lambda: 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000),
    "sampled Laplace": lambda: lp.Laplace(scale=1).poisson(0.1),
    "group of three": lambda: lp.Gaussian(sigma=2).poisson(0.1, group_size=3),
    "sampled under replace": lambda: lp.Gaussian(sigma=2).poisson(0.1, adjacency="replace"),
    "sampled Discrete": lambda: lp.Discrete(p=[0.5, 0.5], q=[0.25, 0.75]).poisson(0.5),
    "mixed": lambda: 3 * lp.Laplace(scale=3) + lp.ApproximateDP(epsilon=0.1, delta=1e-6),
}
SPLICED = {
    "one pair": lambda: lp.Gaussian(sigma=2).poisson(0.1, one_pair=True),
    "subset": lambda: lp.Gaussian(sigma=2, sensitivity=2, adjacency="replace").subset(0.1, adjacency="replace"),
}


def same_log(found: complex, box: lp.ComplexBound) -> bool:
    """Equal to ten digits, but for the branch."""
    gap = complex(found) - box.value
    gap -= 2j * math.pi * round(gap.imag / (2 * math.pi))
    return abs(gap) <= TEN_DIGITS * abs(box.value) + 1e-13


# ---- numbers ----


def density_sum(p, q, t, nodes=1 << 16, reach=40.0):
    """E_p[e^{it log(p/q)}] by a plain sum over the line."""
    x = np.linspace(-reach, reach, nodes)
    return complex((p(x) * np.exp(1j * t * (np.log(p(x)) - np.log(q(x))))).sum() * (x[1] - x[0]))


def test_phi_of_a_sampled_gaussian_is_the_integral_over_its_densities():
    def normal(x):
        return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

    def mixture(x):
        return 0.9 * normal(x) + 0.1 * normal(x - 0.5)

    m = lp.Gaussian(sigma=2).poisson(0.1)
    for t in (-3.0, 0.25, 40.0):
        for direction, (p, q) in zip(DIRECTIONS, ((mixture, normal), (normal, mixture)), strict=True):
            exact = density_sum(p, q, t, reach=30.0)
            found = m.phi(t, direction=direction)
            assert abs(found.value - exact) < 1e-12
            assert found.width < 1e-11


@settings(max_examples=25, deadline=None)
@given(st.floats(0.55, 0.95), st.floats(-50, 50), st.integers(1, 1000))
def test_phi_of_randomized_responses_is_enclosed(p, t, count):
    found = (count * lp.RandomizedResponse(p=p)).phi(t)
    with mpmath.workdps(60):
        truth = mpmath.mpf(repr(p))
        loss = mpmath.log(truth / (1 - truth))
        one = truth * mpmath.expj(t * loss) + (1 - truth) * mpmath.expj(-t * loss)
        exact = one**count
        assert found.real.lower <= exact.real <= found.real.upper
        assert found.imag.lower <= exact.imag <= found.imag.upper
    assert found.width < 1e-9


@pytest.mark.slow
def test_log_phi_is_the_continuous_branch():
    # two atoms: the phase of one release winds once in every period, and n of them wind n times
    single, many = lp.RandomizedResponse(p=0.9), 1000 * lp.RandomizedResponse(p=0.9)
    t = np.linspace(0, 30, 3001)
    steps = np.diff(single.log_phi(t).imag.value)
    assert np.abs(steps).max() < 0.5
    assert single.log_phi(30.0).imag.value > 40
    assert many.log_phi(7.0).imag.value == pytest.approx(1000 * single.log_phi(7.0).imag.value, rel=1e-12)


def test_an_array_keeps_its_shape_and_agrees_with_its_points():
    m = 3 * lp.Laplace(scale=1) + lp.Gaussian(sigma=2)
    t = np.array([[0.0, -2.5, 7.0], [0.1, 1e-9, 30.0]])
    log_phi, phi = m.log_phi(t), m.phi(t)
    for question, boxes in ((m.log_phi, log_phi), (m.phi, phi)):
        assert isinstance(boxes, lp.ComplexBounds)
        assert boxes.shape == t.shape
        assert boxes.value.shape == t.shape
        for place in np.ndindex(t.shape):
            one = question(float(t[place]))
            assert abs(one.value - boxes[place].value) <= one.width + boxes[place].width
    assert len(phi) == 2
    assert np.asarray(phi).dtype == complex
    assert isinstance(phi[0], lp.ComplexBounds)
    assert m.phi([]).shape == (0,)
    assert boxes.same_as(m.phi(t))


@pytest.mark.slow
def test_ten_thousand_points_of_fourteen_thousand_steps():
    boxes = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).phi(np.linspace(-50, 50, 10_000))
    assert all(status is Status.MET for status in boxes.status)


def test_many_points_at_once():
    boxes = (14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)).phi(np.linspace(-50, 50, 100))
    assert all(status is Status.MET for status in boxes.status)


def test_infinite_losses_are_left_out():
    m = 2 * lp.ApproximateDP(epsilon=0.5, delta=0.1)
    assert 0.81 in m.phi(0).real
    assert m.phi(0).width < 1e-14
    assert m.log_phi(0).value == pytest.approx(2 * math.log(0.9), rel=1e-15)
    assert lp.Gaussian(sigma=1).phi(0).lower == lp.Gaussian(sigma=1).phi(0).upper == 1


def test_off_the_real_axis_it_is_a_renyi_divergence():
    m = 4 * lp.Gaussian(sigma=2).poisson(0.1)
    # (a - 1) D_a = K(a - 1), a - 1 = it
    for t in (-0.5j, -2.0 - 1.5j, 1.0 - 0.25j):
        order = 1 + 1j * t
        exact = complex(m.renyi(order, direction="remove").value) * (order - 1)
        assert abs(m.log_phi(t).value - exact) <= 1e-9 * abs(exact)
        assert abs(m.phi(t).value - cmath.exp(exact)) <= 1e-8 * abs(cmath.exp(exact))


def test_outside_the_strip_it_is_refused_with_the_ends():
    m = lp.GaussianPair(mean_p=0, sigma_p=2, mean_q=0, sigma_q=1)
    with pytest.raises(ValueError, match=r"Im alpha must lie between -0\.333333 and inf.*direction='add'"):
        m.log_phi(-1j)
    with pytest.raises(ValueError, match=r"Im t must lie between -0\.333333 and inf"):
        m.phi([0, -1j])
    assert abs(m.phi(-0.3j).value - math.exp(0.3 * m.renyi(1.3, direction="remove").value)) < 1e-9


def test_small_values_keep_their_enclosure():
    m = 10**6 * lp.Gaussian(sigma=1)
    found = m.phi([0.5, 30.0])
    assert np.all(np.abs(found.value) < 1e-300)
    assert np.all(found.upper.real <= 1e-299)
    assert m.log_phi(0.5).value == pytest.approx(10**6 * (0.25j * (0.5j + 1) / 1), rel=1e-12)
    # where the phase is lost the modulus is not
    blurred = lp.GaussianMixture(sigma=1, sensitivities=[1, 2], probabilities=[0.9, 0.1]).log_phi(40.0)
    assert blurred.status is Status.UNRESOLVED
    assert blurred.real.upper < -5
    assert math.isinf(blurred.imag.upper)


@pytest.mark.parametrize("bad", [True, [True, False], math.nan, math.inf, [1, math.nan], object(), [None], ["1"]])
def test_what_is_no_number_is_refused(bad):
    with pytest.raises((TypeError, ValueError), match="t must be"):
        lp.Gaussian(sigma=1).phi(bad)


def test_text_is_a_name():
    with pytest.raises(ValueError, match="alpha must be a name such as 't'"):
        lp.Gaussian(sigma=1).log_phi("0.5")
    with pytest.raises(ValueError, match="direction must be"):
        untyped(lp.Gaussian(sigma=1).log_phi)(0.5, direction="up")
    with pytest.raises(ValueError, match="rtol"):
        lp.Gaussian(sigma=1).phi(0.5, rtol=0)


# ---- expressions ----


def test_an_argument_is_not_needed():
    m = lp.Gaussian(sigma=1)
    assert m.log_phi() == m.log_phi(ALPHA) == m.log_phi("alpha")
    assert m.log_phi("t").free_symbols == {sympy.Symbol("t", real=True)}
    assert m.log_phi(sympy.Rational(1, 2)).value == m.log_phi(0.5).value


@pytest.mark.slow
def test_a_symbol_called_x_is_not_the_variable_of_the_integral():
    m = lp.Gaussian(sigma=2).poisson(0.1)
    assert same_log(sympy.N(m.log_phi("x").subs(sympy.Symbol("x", real=True), 0.5)), m.log_phi(0.5))


# these take up to two seconds
INTEGRALS = (
    "GaussianMixture",
    "GaussianMixturePair",
    "TruncatedGaussian",
    "sampled Gaussian",
    "sampled Laplace",
    "group of three",
    "sampled under replace",
)
PLACES = (0, 0.5, -2.25)
# known by the divergences that are claimed or proved, so their law is a lattice of many cells: ten seconds a place, and all of
# them of one kind, for which a few places of two are enough
HUNDREDS_OF_TERMS: dict[str, tuple[float, ...]] = {
    "ZCDP": (-2.25,),
    "RenyiDP": (0, 0.5),
    "VectorDiscreteGaussian": (),
    "Skellam": (),
}
SLOW = (*INTEGRALS, *HUNDREDS_OF_TERMS)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "t"),
    [
        pytest.param(name, t, marks=[pytest.mark.slow] if name in SLOW and (name, t) != ("GaussianMixture", 0.5) else [])
        for name in RELEASES
        for t in HUNDREDS_OF_TERMS.get(name, PLACES)
    ],
)
def test_sympy_evaluates_log_phi(name, t):
    m = RELEASES[name]()
    expression, box = m.log_phi(), m.log_phi(t)
    for arrays in ("numpy", "scipy"):
        compiled = sympy.lambdify(ALPHA, expression, [arrays, "numpy"])
        assert same_log(compiled(t), box)
        assert all(same_log(one, box) for one in np.broadcast_to(compiled(np.array([t, t])), 2))
    assert same_log(sympy.lambdify(ALPHA, expression, "mpmath")(t), box)
    # two ways to say the same, each at places of its own; after `subs`, every power of a quotient of long numbers is searched
    # for roots, which takes long where there are hundreds
    by_subs = t == 0.5 and name not in HUNDREDS_OF_TERMS
    found = sympy.N(expression.subs(ALPHA, t)) if by_subs else expression.evalf(subs={ALPHA: t})
    assert same_log(found, box)


@pytest.mark.slow
@pytest.mark.parametrize("name", SPLICED)
@pytest.mark.parametrize("t", [0, 0.5, -2.25])
def test_sympy_evaluates_spliced_log_phi(name, t):
    m = SPLICED[name]()
    assert same_log(sympy.N(m.log_phi().subs(ALPHA, t)), m.log_phi(t))
    assert same_log(sympy.lambdify(ALPHA, m.log_phi())(t), m.log_phi(t))


@pytest.mark.parametrize(
    ("m", "at"),
    [
        # K has removable singularities at u = z + 1/2 = 0, which is alpha = i/2
        (lp.Laplace(scale=0.8), 0.5j),
        (lp.ExponentialMechanism(epsilon=0.9), 0.5j),
        (lp.DiscreteLaplace(scale=0.8, sensitivity=3), 0.5j),
    ],
)
def test_beside_a_removable_singularity(m, at):
    box = m.log_phi(at)
    near = sympy.N(
        m.log_phi(sympy.Symbol("a")).subs(sympy.Symbol("a"), sympy.I * (sympy.Rational(1, 2) + sympy.Rational(1, 10**9))), 30
    )
    assert abs(complex(near) - box.value) < 1e-8
    assert box.width < 1e-12


@pytest.mark.slow
def test_more_digits_of_an_integral():
    expression = lp.Gaussian(sigma=2).poisson(0.1).log_phi()
    fifty, thirty = (sympy.N(expression.subs(ALPHA, sympy.Rational(1, 2)), digits) for digits in (50, 30))
    assert abs(fifty - thirty) < 1e-29 * abs(fifty)


def test_nodes_on_arrays_refuse_what_they_cannot_do():
    assert quadrature_of_arrays(lambda x: np.exp(-x * x / 2), None, None) == pytest.approx(math.sqrt(2 * math.pi), rel=1e-14)
    assert quadrature_of_arrays(lambda x: np.exp(-x * x / 2), 0.0, None) == pytest.approx(math.sqrt(math.pi / 2), rel=1e-13)
    assert quadrature_of_arrays(lambda x: x**2 + 0j, -1.0, 2.0) == pytest.approx(3, rel=1e-13)
    with pytest.raises(ArithmeticError, match=r"m\.log_phi\(t\)"):
        quadrature_of_arrays(lambda x: np.exp(-((x - 60) ** 2) / 2 + 0 * x), None, None)
    with pytest.raises(ArithmeticError, match=r"m\.log_phi\(t\)"):
        quadrature_of_arrays(lambda x: np.exp(-x * x / 2 + 40j * x), None, None)
    assert normal_sum_of_arrays(0.04, 0.3) == pytest.approx(sum(math.exp(-((x - 0.3) ** 2) / 0.08) for x in range(-9, 10)))
    with pytest.raises(ArithmeticError, match=r"m\.log_phi\(t\)"):
        normal_sum_of_arrays(4.0, 200j)


# ---- symbols as parameters ----

N, SIGMA, SCALE, P, Q, EPSILON, DELTA = sympy.symbols("n sigma b p q epsilon delta", positive=True)
Z = sympy.Symbol("z")

SYMBOLIC: dict[str, tuple[Callable[..., Any], list[tuple[Any, float]]]] = {
    "Gaussian": (lambda sigma: 7 * lp.Gaussian(sigma=sigma), [(SIGMA, 1.1)]),
    "Gaussian, sensitivity": (lambda sigma, b: lp.Gaussian(sigma=sigma, sensitivity=b), [(SIGMA, 1.1), (SCALE, 3.0)]),
    "Laplace": (lambda b: lp.Laplace(scale=b), [(SCALE, 0.7)]),
    "DiscreteLaplace": (lambda b: lp.DiscreteLaplace(scale=b, sensitivity=2), [(SCALE, 0.7)]),
    "RandomizedResponse": (lambda p: lp.RandomizedResponse(p=p), [(P, 0.8)]),
    "KaryRandomizedResponse": (lambda p: lp.KaryRandomizedResponse(k=5, p=p), [(P, 0.9)]),
    "PureDP": (lambda epsilon: lp.PureDP(epsilon=epsilon), [(EPSILON, 3.0)]),
    "ApproximateDP": (lambda epsilon, delta: lp.ApproximateDP(epsilon=epsilon, delta=delta), [(EPSILON, 0.5), (DELTA, 1e-3)]),
    "ExponentialMechanism": (lambda epsilon: lp.ExponentialMechanism(epsilon=epsilon), [(EPSILON, 2.0)]),
    "GaussianMixture": (
        lambda sigma, p: lp.GaussianMixture(sigma=sigma, sensitivities=[0, 2], probabilities=[1 - p, p]),
        [(SIGMA, 2.0), (P, 0.75)],
    ),
    "GaussianPair": (
        lambda sigma, b: lp.GaussianPair(mean_p=b, sigma_p=sigma, mean_q=0, sigma_q=3),
        [(SIGMA, 2.0), (SCALE, 0.5)],
    ),
    "Discrete": (lambda p: lp.Discrete(p=[p, 1 - p], q=[0.5, 0.5]), [(P, 0.75)]),
    "sampled Gaussian": (lambda sigma, q: 10 * lp.Gaussian(sigma=sigma).poisson(q), [(SIGMA, 1.1), (Q, 0.25)]),
    "group": (lambda sigma, q: lp.Gaussian(sigma=sigma).poisson(q, group_size=2), [(SIGMA, 1.1), (Q, 0.25)]),
    "rate": (lambda q: lp.Laplace(scale=2).poisson(q), [(Q, 0.25)]),
    "one sample": (lambda sigma, q: (2 * lp.Gaussian(sigma=sigma)).poisson(q), [(SIGMA, 1.1), (Q, 0.25)]),
    "mixed": (
        lambda sigma, p: 2 * lp.Gaussian(sigma=sigma) + 3 * lp.PureDP(epsilon=1) + lp.RandomizedResponse(p=p),
        [(SIGMA, 2.0), (P, 0.6)],
    ),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SYMBOLIC)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_symbols_give_the_formula_that_numbers_give(name, direction):
    make, values = SYMBOLIC[name]
    release, numbers = make(*(symbol for symbol, _ in values)), make(*(value for _, value in values))
    expression = release.log_phi(direction=direction)
    assert expression.free_symbols == {ALPHA, *(symbol for symbol, _ in values)}
    found = expression.evalf(subs={**dict(values), ALPHA: 0.75})
    assert same_log(found, numbers.log_phi(0.75, direction=direction))
    assert release.subs(dict(values)) == numbers
    assert release.subs(**{symbol.name: value for symbol, value in values}) == numbers


def test_gaussians_in_symbols():
    log_phi = (N * lp.Gaussian(sigma=SIGMA)).log_phi()
    assert sympy.simplify(log_phi + N * ALPHA * (ALPHA - sympy.I) / (2 * SIGMA**2)) == 0


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["Gaussian", "Laplace", "RandomizedResponse", "PureDP", *slowly("Discrete")])
def test_laws_that_every_log_phi_obeys(name):
    make, values = SYMBOLIC[name]
    symbols = [symbol for symbol, _ in values]
    log_phi = make(*symbols).log_phi(-sympy.I * Z)
    # M(0) = 1, the reversed pair, and the derivative at zero, which is the divergence
    assert sympy.simplify(log_phi.subs(Z, 0)) == 0
    reflected = make(*symbols).log_phi(-sympy.I * Z, direction="add").subs(Z, -1 - Z) - log_phi
    assert sympy.simplify(reflected) == 0 or abs(reflected.evalf(subs={**dict(values), Z: 0.3})) < 1e-30
    slope = sympy.diff(log_phi, Z).evalf(subs={**dict(values), Z: 0})
    assert float(slope) == pytest.approx(
        make(*(value for _, value in values)).kl_divergence(direction="remove").value, rel=1e-9
    )


def test_a_number_of_releases_may_be_a_symbol_alone():
    release = N * lp.Gaussian(sigma=2)
    assert release.subs(n=3) == 3 * lp.Gaussian(sigma=2)
    total: Any = sum([lp.Gaussian(sigma=SIGMA)] * 3)
    assert total.log_phi() == lp.compose([lp.Gaussian(sigma=SIGMA)] * 3).log_phi() == (3 * lp.Gaussian(sigma=SIGMA)).log_phi()
    assert (lp.PureDP(epsilon=1) + release).subs({N: 2}) == lp.PureDP(epsilon=1) + 2 * lp.Gaussian(sigma=2)


def test_some_of_the_symbols_may_get_numbers_first():
    release = (N * lp.Gaussian(sigma=SIGMA).poisson(Q)).subs(sigma=1.1)
    assert release.free_symbols == {N, Q}
    assert release.subs(n=10, q=0.01) == 10 * lp.Gaussian(sigma=1.1).poisson(0.01)


def test_numbers_are_asked_for_where_symbols_are():
    release: Any = lp.Gaussian(sigma=SIGMA)
    with pytest.raises(AttributeError, match=r"sigma is a symbol: give it a number with m\.subs\(\{sigma: \.\.\.\}\)"):
        release.epsilon(1e-5)
    for number in (0.5, np.array([0.5]), 1j):
        with pytest.raises(ValueError, match="sigma is a symbol"):
            release.log_phi(number)
    with pytest.raises(ValueError, match="sigma must not be negative, got -1"):
        release.subs(sigma=-1)
    with pytest.raises(ValueError, match="has the symbols sigma"):
        release.subs(q=1)
    with pytest.raises(ValueError, match=r"m\.log_phi\('t'\)"):
        lp.Gaussian(sigma=ALPHA).log_phi()
    with pytest.raises(ValueError, match="k must be an integer"):
        lp.KaryRandomizedResponse(k=N, p=P).log_phi()
    with pytest.raises(ValueError, match="computes with"):
        lp.RandomizedResponse(p=P).poisson(Q).poisson(0.5).log_phi()
    with pytest.raises(ValueError, match="leave one_pair out"):
        lp.Gaussian(sigma=SIGMA).poisson(0.1, one_pair=True).log_phi()
    with pytest.raises(TypeError, match="sigma must be a non-negative number"):
        lp.DiscreteGaussian(sigma=SIGMA)


def test_it_reads_as_it_was_written():
    assert repr(N * lp.Gaussian(sigma=SIGMA)) == "n * Gaussian(sigma=sigma)"
    assert repr(lp.Gaussian(sigma=SIGMA).poisson(0.01)) == "(Gaussian(sigma=sigma)).poisson(0.01)"
    assert r"\sigma^{2}" in some(lp.Gaussian(sigma=SIGMA)._repr_latex_())
