"""The default tolerance, and what a given one asks for."""

from __future__ import annotations

import pytest

import logphi as lp
from logphi.answers.status import Status
from logphi.inputs.tolerance import DEFAULT, Tolerance

# atoms without a common lattice: the transform does not decay
LOOSE = 4 * lp.Laplace(2).poisson(0.2) + 3 * lp.Laplace(1)
DECAYING = 20 * lp.Gaussian(sigma=2).poisson(0.2)


def test_the_default_aims_at_nine_digits_and_takes_six():
    assert Tolerance.of(None) is DEFAULT
    assert (DEFAULT.aim, DEFAULT.enough) == (1e-9, 1e-6)


def test_a_given_tolerance_leaves_no_room():
    assert Tolerance.of(1e-7) == Tolerance(1e-7, 1e-7)


def test_where_the_transform_decays_nine_digits_are_met():
    found = DECAYING.delta(1.0)
    assert found.status is Status.MET
    assert found.width <= DEFAULT.aim * found.value


@pytest.mark.slow
def test_elsewhere_six_suffice_and_overlap_with_eight():
    found, sharp = LOOSE.delta(1.0), LOOSE.delta(1.0, rtol=1e-8)
    assert found.status is Status.MET
    assert found.width <= DEFAULT.enough * found.value
    assert found.lower <= sharp.upper
    assert sharp.lower <= found.upper
    spent = LOOSE.epsilon(1e-5)
    assert spent.status is Status.MET


@pytest.mark.parametrize("question", [lambda m, r: m.delta(1.0, rtol=r), lambda m, r: m.risk.tpr(0.1, rtol=r)])
@pytest.mark.parametrize("rtol", [0, -1, 2.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(question, rtol):
    with pytest.raises(ValueError, match="rtol"):
        question(DECAYING, rtol)


def test_what_no_double_holds_needs_no_route():
    tiny = (21 * lp.Gaussian(sigma=647).poisson(9.2e-7)).delta(3.0)
    assert tiny.status is Status.MET
    assert tiny.upper < 1e-300
