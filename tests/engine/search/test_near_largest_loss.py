"""Epsilons next to the largest loss, against the profile of two sampled Laplace releases by quadrature over the outputs."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import exp, log, mpf

import logphi as lp
from exact import dec
from logphi.engine.search.near_largest_loss import near_largest_loss
from logphi.inputs.tolerance import DEFAULT, Tolerance

DIGITS = 40


def _one(scale: mpf, rate: mpf, x: mpf) -> mpf:
    """The profile of one release: that of the Laplace mechanism at log(1 + (e^x - 1)/q), times q."""
    base = log(1 + (exp(x) - 1) / rate)
    return rate * (1 - exp((base - 1 / scale) / 2)) if base < 1 / scale else mpf(0)


def _two(scale: mpf, rate: mpf, x: mpf) -> mpf:
    """The mean of the profile of one at x less the loss of the other, whose output y has the mixed density."""

    def mean(y: mpf) -> mpf:
        shifted, own = (exp(-abs(y - at) / scale) / (2 * scale) for at in (1, 0))
        loss = log(1 - rate + rate * exp((abs(y) - abs(y - 1)) / scale))
        return ((1 - rate) * own + rate * shifted) * _one(scale, rate, x - loss)

    top = log(1 - rate + rate * exp(1 / scale))
    # above one the loss is at its top; below, as long as it is above x less that
    at_top = ((1 - rate) * exp(-1 / scale) + rate) / 2 * _one(scale, rate, x - top)
    least = (1 + scale * log((exp(x - top) - 1 + rate) / rate)) / 2
    return at_top + mpmath.quad(mean, mpmath.linspace(least, 1, 9))


@pytest.mark.parametrize(("scale", "rate", "delta"), [(2.0, 0.05, 1e-9), (47.8, 0.004, 1e-12), (0.7, 0.3, 1e-7)])
def test_the_profile_is_on_either_side_of_delta_at_the_ends(scale: float, rate: float, delta: float) -> None:
    loss = (2 * lp.Laplace(scale=scale).poisson(rate)).loss_law()
    found = near_largest_loss(loss, delta, DEFAULT)
    assert found is not None
    assert found.upper - found.lower <= 1e-9
    with mpmath.workdps(DIGITS):
        parameters = dec(scale), dec(rate)
        assert _two(*parameters, mpf(found.upper)) <= mpf(delta) <= _two(*parameters, mpf(found.lower))


def test_a_delta_to_which_smaller_losses_matter_is_left_to_others() -> None:
    loss = (2 * lp.Laplace(scale=2.0).poisson(0.05)).loss_law()
    assert near_largest_loss(loss, 1e-3, DEFAULT) is None
    assert near_largest_loss(loss, 1e-5, Tolerance.of(1e-14)) is None


@pytest.mark.parametrize("delta", [1e-100, 1e-12, 1e-5, 0.1, 0.4])
@pytest.mark.parametrize("p", [0.5001, 0.75, 0.999])
def test_only_the_largest_of_two_losses_matters(p: float, delta: float) -> None:
    # delta(eps) = p - (1 - p) e^eps
    found = near_largest_loss(lp.RandomizedResponse(p).loss_law(), delta, DEFAULT)
    with mpmath.workdps(120):
        truth = log((dec(p) - mpf(delta)) / (1 - dec(p)))
        if truth < 0:
            assert found is None or found.lower == 0
            return
        assert found is not None
        assert found.lower <= truth <= found.upper <= found.lower + 2e-11


@pytest.mark.parametrize("release", [lp.Gaussian(sigma=1.0), 3 * lp.Laplace(scale=2.0), 1000 * lp.RandomizedResponse(0.6)])
def test_other_laws_are_left_to_others(release: lp.Mechanism) -> None:
    assert near_largest_loss(release.loss_law(), 1e-5, DEFAULT) is None
