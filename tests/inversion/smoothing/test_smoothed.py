"""The smoothed threshold: the window against its density, the bound of the hump, and answers against enumeration."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf

import logphi as lp
from exact import contains, dec
from flat import Flat
from logphi.inversion.demand import Demand
from logphi.inversion.lines.contour import Part
from logphi.inversion.lines.line_sum import MAX_NODES
from logphi.inversion.lines.truncation import length
from logphi.inversion.smoothing.smoothed import Plan, Smoothed, prepare
from logphi.inversion.smoothing.window import Window
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi
from profiles import gaussian_profile
from slowly import slowly
from some import some

DIGITS = 40


def unscaled(window):
    def density(s):
        r = mpmath.sqrt(max(1 - (s / mpf(window.width)) ** 2, 0))
        return r * mpmath.besseli(1, window.beta * r)

    return density


def integral(function, low, high):
    return mpmath.quad(function, mpmath.linspace(low, high, 5))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "beta"), [(0.1, 12.0), *slowly((1e-3, 30.0))])
def test_the_transform_is_that_of_the_density(width, beta):
    window = Window(width, beta)
    points = np.array([1.0, 3 + 2j, 0.5 + 0.7j * beta / width, 2 + 1.0j * beta / width, 2 + 1.3j * beta / width])
    values, errors = window.transform(points)
    with mpmath.workdps(DIGITS):
        density = unscaled(window)
        whole = integral(density, -width, width)
        for z, value, error in zip(points, values, errors, strict=True):
            exact = integral(lambda s, z=z: density(s) * mpmath.exp(mpmath.mpc(z) * (s + mpf(window.log_mean))), -width, width)
            assert abs(exact / whole - mpmath.mpc(value)) <= error
            assert error <= 3e-12 * max(abs(value), np.exp(-beta) * beta)


@pytest.mark.parametrize("width", [0.1, 0.01, 1e-6, 1e-20])
@pytest.mark.parametrize("beta", [12.0, 33.3, 60.0])
def test_the_mean_keeps_its_relative_accuracy(width, beta):
    with mpmath.workdps(2 * DIGITS):
        own, moved = (
            (mpmath.cosh(v) - mpmath.sinh(v) / v) / v**2 for v in (mpf(beta), mpmath.sqrt(mpf(beta) ** 2 + mpf(width) ** 2))
        )
        exact = mpmath.log(moved / own)
        assert abs(mpf(Window(width, beta).log_mean) - exact) <= 1e-15 * exact


@pytest.mark.few(1)
@pytest.mark.parametrize(("width", "beta"), [(0.1, 12.0), (1e-4, 30.0), *slowly((0.1, 60.0))])
def test_the_hump_is_below_its_bound(width, beta):
    window = Window(width, beta)
    with mpmath.workdps(16):
        density = unscaled(window)
        whole = integral(density, -width, width)
        for share in np.linspace(-0.99, 0.99, 11):
            y = mpf(float(share)) * width
            # E[(1 - e^{s - y})_+] on the left of 0, less what it is without s on the right: E[(e^{s - y} - 1)_+]
            ends = (-width, y + mpf(window.log_mean)) if y < 0 else (y + mpf(window.log_mean), width)
            hump = integral(lambda s, y=y: density(s) * abs(mpmath.expm1(s - y - mpf(window.log_mean))), *ends) / whole
            assert hump <= window.hump * density(y + mpf(window.log_mean)) / whole


@pytest.mark.parametrize("abscissa", [1e-3, 1.0, 40.0])
def test_sizes_bound_the_factors_here_and_beyond(abscissa):
    window = Window(0.03, 25.0)
    heights = np.geomspace(1e-2, 1e6, 4000)
    for part in ("payoff", "hump"):
        kernel = Smoothed(0.3, window, part)
        factor, error = kernel(abscissa + 1j * heights)
        beyond = np.maximum.accumulate((np.log(np.abs(factor) + error))[::-1])[::-1]
        bound = kernel.log_size(heights, abscissa)
        assert np.all(beyond <= bound)
        assert np.all(np.diff(bound) <= 1e-12)
        for place in (3000, 3500):
            rest = np.trapezoid(np.abs(factor[place:]), heights[place:])
            assert np.log(rest) <= kernel.log_rest(heights[place], abscissa)


def enumerated(p, q, count, x):
    """E[(1 - e^{x - X})_+] of a sum of finite losses, atom by atom."""
    cells = list(zip(map(dec, p), map(dec, q), strict=True))
    total = mpf(0)
    for counts in itertools.product(range(count + 1), repeat=len(p) - 1):
        if sum(counts) <= count:
            own = (*counts, count - sum(counts))
            many = mpmath.factorial(count) / mpmath.fprod(map(mpmath.factorial, own))
            above, below = (mpmath.fprod(cell[i] ** k for cell, k in zip(cells, own, strict=True)) for i in (0, 1))
            total += many * max(above - mpmath.exp(x) * below, 0)
    return total


P, Q = (0.1, 0.25, 0.4, 0.25), (0.3, 0.3, 0.15, 0.25)


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [1, 2, 12])
@pytest.mark.parametrize("x", [0.0, 0.31, 0.9, -0.4])
def test_sums_of_atoms_are_enclosed(count, x):
    law = LogPhi.of([(Finite(P, Q), count)])
    found = some(prepare(law, x, Demand(1e-6)))
    with mpmath.workdps(DIGITS):
        for at in (x, x + 1e-3):
            inversion = found.at(at)
            exact = enumerated(P, Q, count, dec(at))
            if inversion.part is Part.REVERSED:
                exact += mpmath.exp(dec(at)) - 1
            amount = inversion.amount
            scale = mpmath.exp(mpf(amount.log_scale))
            assert mpf(amount.low) * scale <= exact <= mpf(amount.high) * scale
            if count == 12 and x != 0:
                assert amount.relative_width <= 1e-5


def test_an_atom_at_the_threshold_is_enclosed():
    law = LogPhi.of([(Finite(P, Q), 2)])
    x = float(np.log(0.4 / 0.15))
    for at in (x * (1 - 1e-7), x, x * (1 + 1e-7)):
        amount = some(prepare(law, at, Demand(1e-6))).at(at).amount
        with mpmath.workdps(DIGITS):
            scale = mpmath.exp(mpf(amount.log_scale))
            assert mpf(amount.low) * scale <= enumerated(P, Q, 2, dec(at)) <= mpf(amount.high) * scale


def test_a_threshold_beyond_the_support_has_no_line():
    assert prepare(Finite(P, Q), 2.2, Demand(1e-6)) is None


@pytest.mark.slow
def test_the_value_in_the_middle_is_far_better_than_the_width():
    release = lp.DiscreteGaussian(sigma=5, sensitivity=2).poisson(0.1)
    coarse = (100 * release).delta(1.0, method="smoothed", rtol=1e-5)
    sharp = (100 * release).delta(1.0, method="smoothed", rtol=1e-8)
    assert coarse.lower <= sharp.lower <= sharp.upper <= coarse.upper
    assert 3e-6 < coarse.width / coarse.value < 1e-5
    assert sharp.width / sharp.value < 1e-7
    assert abs(coarse.value - sharp.value) < 0.1 * coarse.width


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (14062 * lp.Gaussian(1.1).poisson(256 / 60000), 2.0),
        (20 * lp.RandomizedResponse(0.6), 1.0),
        (2 * Flat(1), 0.7),
        (30 * lp.Laplace(3.0), 4.1),
        (50 * lp.Gaussian(5) + 10 * lp.RandomizedResponse(0.52), 12.0),
    ],
)
def test_other_routes_are_met(release, epsilon):
    sharp, smoothed = release.delta(epsilon), release.delta(epsilon, method="smoothed")
    assert smoothed.method == "smoothed"
    assert smoothed.ledger.proved
    assert smoothed.lower <= sharp.upper
    assert sharp.lower <= smoothed.upper
    assert contains(smoothed, mpf(sharp.value)) or sharp.width > 0.1 * smoothed.width
    assert smoothed.width <= 1e-6 * smoothed.value


@pytest.mark.parametrize("sigma", [1e5, 1e8, 1e12])
@pytest.mark.parametrize("share", [0.5, 8])
def test_losses_far_below_one(sigma, share):
    with mpmath.workdps(DIGITS):
        m, epsilon = 1 / mpf(sigma), mpf(repr(share / sigma))
        exact = gaussian_profile(m)(epsilon)
        found = lp.Gaussian(sigma=sigma).delta(share / sigma, method="smoothed")
        assert mpf(found.lower) <= exact <= mpf(found.upper) <= exact * (1 + mpf("2e-7"))


def test_an_atom_away_from_the_threshold():
    one = 8 * lp.PureDP(epsilon=0.00229562945)
    found, sharp = (one.delta(0.009055671, method=method) for method in ("smoothed", "lattice"))
    assert found.lower <= sharp.upper
    assert sharp.lower <= found.upper


def test_an_atom_at_the_threshold_is_approached_by_a_second_window():
    """Laplace mechanisms in even numbers leave an atom at zero."""
    law = (14 * lp.Laplace(scale=7.85) + 6 * lp.Laplace(scale=2.19)).loss_law()
    first, found = some(Plan.of(law, 0.0, 1e-5, None)), some(prepare(law, 0.0, Demand(1e-5)))
    nodes, _ = length(law, first.layout, MAX_NODES, Smoothed(0.0, first.window, "both"))
    assert found.payoff.contour.line.size > 1.5 * nodes
    assert found.at(0.0).amount.relative_width < 2e-5


@pytest.mark.parametrize(("count", "rare", "x"), [(4, 1e-5, 0.3), (8, 1e-5, 0.5)])
def test_a_value_far_below_the_integrand_is_known_by_a_second_line(count, rare, x):
    """Rare large losses that hardly decide make the integrand large: beside the errors of a first line the value is small."""
    far = rare * math.exp(-5)
    p, q = (0.5, 0.5 - rare, rare), (0.52, 0.48 - far, far)
    own = LogPhi.of([(Finite(p, q), count)])
    first, rtol = Plan.of(own, x, 1e-6, None), 1e-6
    prepared = prepare(own, x, Demand(rtol))
    assert first is not None
    assert prepared is not None
    found = prepared.at(x).amount
    with mpmath.workdps(DIGITS):
        scale = mpmath.exp(mpf(found.log_scale))
        assert mpf(found.low) * scale <= enumerated(p, q, count, dec(x)) <= mpf(found.high) * scale
    assert found.relative_width < rtol
    # what the first line was laid for would leave too much
    assert prepared.payoff.contour.truncation < math.exp(first.layout.log_target) / 10


def test_few_nodes_that_count_let_a_window_be_narrower():
    """Most of a long line is proved to be negligible: its length costs little."""
    release = 296 * lp.DiscreteGaussian(sigma=2.5).poisson(0.0085)
    law, x = release.loss_law(), 0.75
    near = prepare(law, x, Demand(1e-6))
    assert near is not None
    assert near.payoff.contour.line.size < 4096
    assert near.at(x).amount.relative_width < 1e-5
