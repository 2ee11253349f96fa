"""Random sensitivities and sampled groups: what they reduce to, one release, compositions by two routes."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import pytest
import sympy
from mpmath import mpf

import logphi as lp
from exact import contains, dec
from logphi.expression import parse
from slowly import slowly

THREE = lp.GaussianMixture(sigma=1, sensitivities=[0, 1, 2], probabilities=[0.5, 0.3, 0.2])
BARE = lp.GaussianMixture(sigma=2, sensitivities=[0.5, 1, 3], probabilities=[0.25, 0.25, 0.5])


def agree(one, two):
    return max(one.lower, two.lower) <= min(one.upper, two.upper)


def log_ratio(x, shifts, weights):
    return mpmath.log(mpmath.fsum(w * mpmath.exp(c * x - c * c / 2) for c, w in zip(shifts, weights, strict=True)))


def meeting(level, shifts, weights):
    """Where the log-ratio is ``level``, if anywhere."""
    low, high = mpf(-80), mpf(80)
    if log_ratio(low, shifts, weights) > level:
        return None
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (middle, high) if log_ratio(middle, shifts, weights) < level else (low, middle)
    return low


def hockey_stick(epsilon, shifts, weights, direction):
    """Integral over the output of (p - e^eps q)_+, or of (q - e^eps p)_+, p the mixture and q standard normal."""
    added = direction == "add"
    root = meeting(-epsilon if added else epsilon, shifts, weights)
    if root is None:
        return mpf(0) if added else 1 - mpmath.exp(epsilon)

    # the quadrature's own tolerance is absolute
    unit = mpmath.npdf(root)

    def inside(x):
        p = mpmath.fsum(w * mpmath.npdf(x - c) for c, w in zip(shifts, weights, strict=True)) / unit
        q = mpmath.npdf(x) / unit
        return q - mpmath.exp(epsilon) * p if added else p - mpmath.exp(epsilon) * q

    far = root - 16 if added else root + 16
    return unit * mpmath.quad(inside, mpmath.linspace(min(root, far), max(root, far), 17), method="gauss-legendre", maxdegree=4)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("mechanism", "shifts", "weights"),
    [
        (THREE, ("0", "1", "2"), ("0.5", "0.3", "0.2")),
        (BARE, ("0.25", "0.5", "1.5"), ("0.25", "0.25", "0.5")),
        (THREE.poisson(0.25), ("0", "1", "2"), ("0.875", "0.075", "0.05")),
        (lp.Gaussian(2).poisson(0.5, group_size=2), ("0", "0.5", "1"), ("0.25", "0.5", "0.25")),
    ],
    ids=["rest", "bare", "sampled", "group"],
)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_one_release_against_the_integral_in_output_space(mechanism, shifts, weights, direction):
    places, parts = [mpf(c) for c in shifts], [mpf(w) for w in weights]
    with mpmath.workdps(40):
        for epsilon in ("-1", "0.4", "18"):
            truth = hockey_stick(mpf(epsilon), places, parts, direction)
            found = mechanism.delta(float(epsilon), direction=direction)
            assert contains(found, truth)
            assert found.width <= 1e-9 * found.value + 1e-300
            assert found.method == "exact"
            assert found.ledger.proved


@pytest.mark.parametrize(("direction", "epsilons"), [("remove", (10, 30, 47)), ("add", (5, 12, 16))])
def test_deltas_down_to_the_last_doubles(direction, epsilons):
    mixture = lp.GaussianMixture(sigma=1, sensitivities=[0.5, 1.5], probabilities=[0.75, 0.25])
    shifts, weights = [mpf("0.5"), mpf("1.5")], [mpf("0.75"), mpf("0.25")]

    def above(t):
        return mpmath.erfc(t / mpmath.sqrt(2)) / 2

    for epsilon in epsilons:
        with mpmath.workdps(330):
            if direction == "remove":
                root = meeting(mpf(epsilon), shifts, weights)
                truth = weights[0] * above(root - shifts[0]) + weights[1] * above(root - shifts[1])
                truth -= mpmath.exp(epsilon) * above(root)
            else:
                root = meeting(mpf(-epsilon), shifts, weights)
                truth = weights[0] * above(shifts[0] - root) + weights[1] * above(shifts[1] - root)
                truth = above(-root) - mpmath.exp(epsilon) * truth
        found = mixture.delta(float(epsilon), direction=direction)
        assert contains(found, truth)
        assert found.width <= 1e-9 * found.value
    assert mixture.delta(float(epsilons[-1]), direction=direction).value < 1e-200


@pytest.mark.parametrize("rate", [0.9, 0.1])
def test_two_outcomes_are_a_sampled_gaussian(rate):
    mixture, sampled = lp.GaussianMixture(2, [0, 1], [1 - rate, rate]), lp.Gaussian(2).poisson(rate)
    for count in (1, 30):
        for epsilon in (0.0, 0.1, 0.5):
            assert agree((count * mixture).delta(epsilon), (count * sampled).delta(epsilon))


def test_whatever_is_one_shift_reduces_to_it():
    assert lp.GaussianMixture(2, [0, 1], [0.75, 0.25]).loss_law() == lp.Gaussian(2).poisson(0.25).loss_law()
    assert lp.GaussianMixture(2, [3], [1]).loss_law() == lp.Gaussian(2, sensitivity=3).loss_law()
    assert lp.GaussianMixture(2, [0, 3, 3], [0, 0.5, 0.5]).loss_law() == lp.Gaussian(2, sensitivity=3).loss_law()
    assert lp.GaussianMixture(2, [3, 0, 0], [0.5, 0.25, 0.25]).loss_law() != lp.Gaussian(2, sensitivity=3).loss_law()
    merged = lp.GaussianMixture(2, [1, 2, 1, 0], [0.25, 0.25, 0.25, 0.25])
    assert agree(merged.delta(0.3), lp.GaussianMixture(2, [0, 1, 2], [0.25, 0.5, 0.25]).delta(0.3))
    assert lp.GaussianMixture(1, [3], [1], adjacency="replace").subset(0.5, adjacency="add_remove").delta(1).value > 0


def test_a_rate_moves_weight_to_zero():
    rate = 0.25
    by_hand = lp.GaussianMixture(1, [0, 1, 2], [1 - rate * 0.5, rate * 0.3, rate * 0.2])
    for epsilon in (0.1, 1.0):
        assert agree((5 * THREE.poisson(rate)).delta(epsilon), (5 * by_hand).delta(epsilon))
    bare = lp.GaussianMixture(2, [0, 0.5, 1, 3], [0.75, 0.0625, 0.0625, 0.125])
    assert agree((5 * BARE.poisson(rate)).delta(0.5), (5 * bare).delta(0.5))
    assert THREE.poisson(1).loss_law() == THREE.loss_law()
    assert THREE.poisson(0).delta(0).upper == 0


def test_a_group_is_a_binomial_mixture():
    group = lp.Gaussian(3).poisson(0.25, group_size=2)
    by_hand = lp.GaussianMixture(3, [0, 1, 2], [0.5625, 0.375, 0.0625])
    for count in (1, 7, 10**6):
        epsilon = (count * group).epsilon(1e-6).value
        for direction in ("remove", "add"):
            assert agree(
                (count * group).delta(epsilon, direction=direction), (count * by_hand).delta(epsilon, direction=direction)
            )
    assert lp.Gaussian(3).poisson(1, group_size=4).delta(0.5).value == lp.Gaussian(3, sensitivity=4).delta(0.5).value
    assert lp.Gaussian(3).poisson(0.25, group_size=1).loss_law() == lp.Gaussian(3).poisson(0.25).loss_law()


def test_larger_groups_spend_more_but_less_than_all_of_them_at_once():
    spent = [(100 * lp.Gaussian(5).poisson(0.01, group_size=size)).epsilon(1e-6) for size in (1, 2, 3, 8)]
    assert all(one.upper < two.lower for one, two in pairwise(spent))
    whole = 100 * lp.Gaussian(5, sensitivity=3).poisson(1 - 0.99**3)
    assert spent[2].upper < whole.epsilon(1e-6).lower


def test_a_group_of_two_hundred():
    batch = 50 * lp.Gaussian(100).poisson(0.02, group_size=200)
    spent = batch.epsilon(1e-6)
    assert spent.width <= 1e-9
    assert spent.ledger.proved
    # nearly all is told by the mean of the binomial number, and its variance adds a little
    mean = 50 * lp.Gaussian(100, sensitivity=4)
    assert mean.epsilon(1e-6).upper < spent.lower < 1.2 * mean.epsilon(1e-6).upper


@pytest.mark.few(1)
@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_independent_routes_agree(count, direction):
    # what the reversed loss reaches at most is its own
    for mechanism, epsilon in ((THREE, 0.3 * math.sqrt(count)), (BARE.poisson(0.2), 0.1 * math.sqrt(count))):
        release = count * mechanism
        sharp = release.delta(epsilon, direction=direction, method="contour")
        wide = release.delta(epsilon, direction=direction, method="discretized", rtol=1e-6)
        assert agree(sharp, wide)
        assert wide.width <= 1e-5 * wide.value
        if count > 1:
            assert sharp.width <= 1e-9 * sharp.value


@pytest.mark.parametrize("direction", ["remove", *slowly("add")])
def test_a_million_releases_by_two_routes(direction):
    release = 10**6 * lp.GaussianMixture(1000, [0, 1, 3], [0.6, 0.3, 0.1])
    sharp = release.epsilon(1e-6, direction=direction)
    assert sharp.width <= 1e-9
    wide = release.delta(sharp.value, direction=direction, method="discretized", rtol=1e-5)
    assert wide.lower <= 1e-6 <= wide.upper
    assert wide.width <= 1e-3 * wide.value
    # many small losses are about normal, of the variance of one shift of the mean
    assert sharp.value == pytest.approx((10**6 * lp.Gaussian(1000, sensitivity=0.6)).epsilon(1e-6).value, rel=0.02)


def test_the_symbol_holds_an_unevaluated_integral():
    alpha = sympy.Symbol("alpha", real=True)
    expression = (7 * THREE).log_phi(alpha)
    integrals = list(expression.atoms(sympy.Integral))
    assert len(integrals) == 1
    x = integrals[0].variables[0]
    at = integrals[0].function.subs({x: sympy.Rational(13, 10), alpha: sympy.Rational(2, 5)})
    with mpmath.workdps(30):
        place, z = dec(1.3), mpmath.mpc(0, "0.4")
        w = mpf("0.5") + mpf("0.3") * mpmath.exp(place - mpf("0.5")) + mpf("0.2") * mpmath.exp(2 * place - 2)
        exact = w ** (z + 1) * mpmath.npdf(place)
        assert abs(mpmath.mpmathify(sympy.N(at, 30)) - exact) < mpf(10) ** -25
    group = lp.Gaussian(2).poisson(0.25, group_size=2).log_phi(alpha)
    assert "Integral" in str(group)
    assert "9/16" in str(group)


def test_mixtures_print_as_they_are_read():
    for mechanism in (THREE, BARE.poisson(0.1), lp.Gaussian(2).poisson(0.1, group_size=3)):
        assert parse(repr(mechanism)) == mechanism
