"""Enclosures of formulas on discs, and bounds of their integrals up to infinity."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy

from logphi.arith.floats import Discs
from logphi.mechanisms.formulas.density_rays import Ray
from logphi.mechanisms.formulas.formula_discs import enclosed, finite
from logphi.mechanisms.formulas.formula_evaluation import NotEnclosedError
from logphi.mechanisms.formulas.formula_tails import log_tail

T = sympy.Symbol("t", positive=True)
Q = sympy.Rational

SMOOTH = [
    -((T - Q(1, 3)) ** 2) / 2 - sympy.log(2 * sympy.pi) / 2,
    -2 * sympy.log(3 + (T - 1) ** 2) + sympy.E * T,
    -sympy.log(sympy.exp(-T) + 2 * sympy.exp(-(T**2))) / 7,
    (1 + T) ** Q(-5, 3) - sympy.sqrt(2 + T**3),
]


@pytest.mark.parametrize("expression", SMOOTH)
def test_a_disc_holds_all_values_also_at_complex_points(expression: sympy.Expr) -> None:
    rng = np.random.default_rng(0)
    middle, radius = 2.0, 0.25
    found = enclosed(expression, T, Discs(np.array([middle]), np.array([radius])))
    assert finite(found).all()
    exact = sympy.lambdify(T, expression, "mpmath")
    with mpmath.workdps(30):
        for _ in range(200):
            z = middle + radius * math.sqrt(rng.random()) * mpmath.expjpi(2 * rng.random())
            assert abs(exact(z) - float(found.mid[0])) <= float(found.rad[0])


@pytest.mark.parametrize("expression", SMOOTH)
def test_a_point_is_known_to_rounding(expression: sympy.Expr) -> None:
    points = np.linspace(0.5, 3, 11)
    found = enclosed(expression, T, Discs.exact(points))
    exact = sympy.lambdify(T, expression, "mpmath")
    with mpmath.workdps(30):
        wrong = [abs(exact(mpmath.mpf(x)) - mid) for x, mid in zip(points.tolist(), found.mid.tolist(), strict=True)]
    assert np.all(np.array(wrong, float) <= found.rad)
    assert found.rad.max() < 1e-13


def test_underflow_is_part_of_the_radius() -> None:
    for expression, exact in (
        (sympy.exp(-T) * sympy.exp(T - 10), math.exp(-10)),
        (sympy.Mul(Q(1, 10**200) * T, Q(10**200), evaluate=False), 800.0),
        (sympy.Mul(sympy.exp(-T), Q(10**300), evaluate=False), float(mpmath.exp(-800) * mpmath.mpf(10) ** 300)),
    ):
        found = enclosed(expression, T, Discs.exact(np.array([800.0])))
        assert not finite(found).all() or abs(float(found.mid.ravel()[0]) - exact) <= float(found.rad.ravel()[0])
    wide = enclosed(sympy.exp(-T), T, Discs(np.array([800.0]), np.array([790.0])))
    assert abs(float(wide.mid[0]) - math.exp(-10)) <= float(wide.rad[0])


def test_a_disc_with_a_singular_point_is_unknown() -> None:
    disc = Discs(np.array([1.0]), np.array([1.5]))
    for expression in (sympy.log(T), 1 / T, sympy.sqrt(T), sympy.log(T - 5)):
        assert not finite(enclosed(expression, T, disc)).any()
    with pytest.raises(NotEnclosedError, match="has no enclosure"):
        enclosed(sympy.gamma(T), T, disc)


TAILS = [
    (-(T**2) / 2, 0, 10.0),
    (-((T - 3) ** 2) / 2 - sympy.log(T), 0, 32.0),
    (-2 * sympy.log(3 + (T - 1) ** 2), 0, 100.0),
    (-Q(3, 4) * sympy.log(1 + T**2), 0, 1e6),
    (-T - 2 * sympy.log(1 + sympy.exp(-T)), 0, 20.0),
    (sympy.log(sympy.exp(-(T**2) / 2) / 3 + sympy.exp(-((T - 2) ** 2) / 2)), 0, 32.0),
    (sympy.log(sympy.exp(-T / 2) + 3 * sympy.exp(-((T - 2) ** 2))), 0, 32.0),
    (-2 * sympy.log(1 + T) + sympy.log(T**-1 + sympy.exp(-(T**2))), 0, 32.0),
    (-sympy.sqrt(1 + T**2) + 5 * sympy.log(T), 0, 200.0),
    (sympy.log(T) / 2, -2, 1e10),
    (sympy.log(1 + sympy.exp(-T)), -2, 1e3),
]


@pytest.mark.parametrize(("expression", "shift", "start"), TAILS)
def test_a_tail_is_bounded_and_not_by_much_more(expression: sympy.Expr, shift: int, start: float) -> None:
    exact = sympy.lambdify(T, expression, "mpmath")
    with mpmath.workdps(30):
        # y = Y e^u
        ends = [0, 0.01, 0.1, 0.5, 1, 3, 10, 30, 100, 300]
        whole = mpmath.quad(lambda u: mpmath.exp(exact(start * mpmath.exp(u)) + (shift + 1) * (mpmath.log(start) + u)), ends)
        log_whole = float(mpmath.log(whole))
    found = log_tail(expression, T, start, shift)
    assert log_whole <= found + 1e-9
    assert found <= log_whole * (0.8 if log_whole < 0 else 1.2) + 3


@pytest.mark.parametrize(
    "expression", [T, -sympy.log(T), sympy.exp(T), -(sympy.log(T) ** 2), sympy.log(T - T**2), sympy.sin(T)]
)
def test_what_is_not_known_to_fall_has_no_bound(expression: sympy.Expr) -> None:
    assert log_tail(expression, T, 100.0) == math.inf


def test_the_mass_next_to_an_end_counts_on_long_rays() -> None:
    ray = Ray([-T, -2 * T], T, Fraction(0), Fraction(10**60), False)
    ray.settle()
    for side, exact in enumerate((0.0, -math.log(2))):
        total = float(np.logaddexp.reduce(ray.cells.log_mass[side]))
        assert total == pytest.approx(exact, abs=1e-9)
        assert ray.omitted[side] < -100


def test_a_tail_that_underflows_is_not_zero() -> None:
    # the first term has a tiny factor, but falls as slowly as 1 / t
    expression = sympy.log(sympy.Mul(Q(1, 10**400), T**-1, evaluate=False) + T**-3)
    assert log_tail(expression, T, 100.0) == math.inf
