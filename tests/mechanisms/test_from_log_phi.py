"""A symbolic log-phi re-entered: against the native mechanism, and against what no log-phi is."""

import math

import mpmath
import numpy as np
import pytest
import sympy

import logphi as lp
from flat import Flat

ALPHA = sympy.Symbol("alpha")
NATIVE = [
    lp.Gaussian(1.3),
    lp.Laplace(1.5),
    lp.RandomizedResponse(0.6),
    Flat(1.0),
    lp.ApproximateDP(1, 1e-2),
]
NATIVE += [lp.GaussianPair(0, 1, 0.5, 1.2)]


@pytest.mark.few(2)
@pytest.mark.parametrize("native", NATIVE, ids=repr)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_the_enclosures_overlap(native, direction):
    mechanism = lp.FromLogPhi(native.log_phi(ALPHA), ALPHA)
    for count in (1, 10):
        for e in (0.1, 1.0):
            found = (count * mechanism).delta(e, direction=direction, rtol=1e-3)
            exact = (count * native).delta(e, direction=direction)
            assert found.lower <= exact.upper
            assert exact.lower <= found.upper
            assert not found.ledger.proved
            assert found.status is not lp.Status.MET


@pytest.mark.parametrize("count", [1, 30])
def test_smooth_ones_are_sharp(count):
    found = (count * lp.FromLogPhi(lp.Gaussian(3).log_phi(ALPHA), ALPHA)).delta(0.5)
    assert found.width <= 1e-9 * found.value
    assert found.status is lp.Status.ESTIMATED


@pytest.mark.parametrize("native", NATIVE, ids=repr)
def test_the_error_is_below_what_is_reported(native):
    """Also at and beside removable singularities, where the compiled expression divides zero by zero."""
    law = lp.FromLogPhi(native.log_phi(ALPHA), ALPHA).loss_law().terms[0][0]
    z = np.array([-0.5, -0.5 + 1e-9, 0.25 + 1e-13, -0.5 + 1e-7j, -0.3 + 2j, -1e-14, 1.5 + 20j])
    values = law.log_transform(z)
    text = sympy.lambdify(ALPHA, native.log_phi(ALPHA), "mpmath")
    with mpmath.workdps(40):
        for point, mid, radius in zip(z, values.mid, values.radius, strict=True):
            exact = text(-1j * (mpmath.mpc(complex(point)) + mpmath.mpf(10) ** -30))
            gap = complex(mpmath.mpc(complex(mid)) - exact)
            gap -= 2j * math.pi * round(gap.imag / (2 * math.pi))
            assert abs(gap) <= radius + 1e-29
            assert radius <= 1e-9


def test_masses_are_read_off():
    mechanism = lp.FromLogPhi(lp.ApproximateDP(1, 0.25).log_phi(ALPHA), ALPHA)
    assert mechanism.epsilon(0.2).status is lp.Status.UNBOUNDED
    assert mechanism.delta(50.0).value == pytest.approx(0.25, rel=1e-9)


def test_the_expression_comes_back():
    expression = lp.Gaussian(2).log_phi(ALPHA)
    found = lp.FromLogPhi(expression, ALPHA).log_phi(ALPHA)
    assert sympy.simplify(found - expression) == 0


def test_the_strip_is_found():
    pair = lp.GaussianPair(0, 2, 0, 1)
    assert lp.FromLogPhi(pair.log_phi(ALPHA), ALPHA).loss_law().strip[1] == pytest.approx(1 / 3, rel=1e-6)


TURN = sympy.I


@pytest.mark.parametrize(
    ("expression", "symbol", "kind", "needles"),
    [
        (TURN * ALPHA / 2 - ALPHA**2 / 2, "alpha", TypeError, ["sympy.Symbol", "'alpha'"]),
        ("alpha", ALPHA, TypeError, ["SymPy expression", "'alpha'"]),
        (sympy.Symbol("sigma") * ALPHA, ALPHA, ValueError, ["sigma", ".subs"]),
        (TURN * ALPHA / 2 - ALPHA**2 / 2 + 1, ALPHA, ValueError, ["K(0)", "positive", "normalize"]),
        (-TURN * ALPHA / 2 - ALPHA**2 / 2, ALPHA, ValueError, ["K(-1)", "positive", "sign of alpha"]),
        (-TURN * ALPHA / 2 + ALPHA**2 / 2, ALPHA, ValueError, ["convex", "sign of the expression"]),
        (ALPHA - ALPHA**2 / 2, ALPHA, ValueError, ["real", "[-1, 0]"]),
        (sympy.log(ALPHA), ALPHA, ValueError, ["real and finite"]),
    ],
)
def test_what_is_no_log_phi_is_refused(expression, symbol, kind, needles):
    with pytest.raises(kind) as caught:
        lp.FromLogPhi(expression, symbol)
    assert "\n" not in str(caught.value)
    for needle in needles:
        assert needle in str(caught.value)


@pytest.mark.slow
def test_a_sample_is_answered_and_composes():
    sampled = lp.FromLogPhi(lp.Gaussian(2).log_phi(ALPHA), ALPHA).poisson(0.1)
    known = lp.Gaussian(2).poisson(0.1)
    for direction in ("remove", "add"):
        estimate = sampled.delta(0.02, direction=direction)
        assert not estimate.ledger.proved
        assert estimate.value == pytest.approx(known.delta(0.02, direction=direction).value, rel=1e-6)
    twice = (2 * sampled).delta(0.05)
    assert not twice.ledger.proved
    assert twice.value == pytest.approx((2 * known).delta(0.05).value, rel=1e-6)
