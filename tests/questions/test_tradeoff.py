"""Trade-off functions: closed forms, exact enumeration of randomised tests, root finding in the space of outputs."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import exp, mpf, ncdf, quad

import logphi as lp
from directions import DIRECTIONS
from effort import answers
from exact import contains, dec
from logphi.engine.tail import below
from refusals import untyped
from some import some

DIGITS = 40
SHARP = 1e-9


def written(number):
    return Fraction(repr(float(number)))


def quantile(level):
    """The normal quantile, by Newton's method on the logarithm of the smaller tail."""
    if level > mpf(1) / 2:
        return -quantile(1 - level)
    return mpmath.findroot(lambda t: mpmath.log(ncdf(t)) - mpmath.log(level), -mpmath.sqrt(-2 * mpmath.log(level)) / 2)


def enumerated(factors):
    """Cells (p, q) of a product of finite pairs by their ratio; None is an infinite one."""
    cells: dict[Fraction | None, tuple[Fraction, Fraction]] = {Fraction(1): (Fraction(1), Fraction(1))}
    for p, q in factors:
        fresh: defaultdict[Any, tuple[Fraction, Fraction]] = defaultdict(lambda: (Fraction(0), Fraction(0)))
        for (ratio, (a, b)), (x, y) in itertools.product(cells.items(), zip(p, q, strict=True)):
            key = None if ratio is None or y == 0 else ratio * x / y
            fresh[key] = fresh[key][0] + a * x, fresh[key][1] + b * y
        cells = fresh
    return cells


def best_test(cells, alpha):
    """Reject the largest ratios, the last of them at random."""
    left, error = alpha, Fraction(1)
    for ratio in sorted(cells, key=lambda ratio: (ratio is not None, -(ratio or 0))):
        p, q = cells[ratio]
        share = Fraction(1) if q <= left else left / q
        left, error = left - share * q, error - share * p
        if share < 1:
            break
    return error


def exactly(found, exact, rtol=SHARP):
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)
    assert found.width <= rtol * found.upper
    assert float(found) == found.lower
    assert found.ledger.proved


# ------------------------------------------------------------------------------------------------- closed forms


@pytest.mark.few(2)
@pytest.mark.parametrize(("sigma", "count"), [(1.0, 1), (0.5, 1), (0.1, 1), (1000.0, 1), (3.0, 3), (20.0, 1000), (5.0, 10**4)])
def test_gaussian(sigma, count):
    for alpha in (1e-30, 1e-6, 0.05, 0.5, 0.9, 0.9999):
        with mpmath.workdps(DIGITS):
            exact = ncdf(-quantile(dec(alpha)) - mpmath.sqrt(count) / dec(sigma))
        found = (count * lp.Gaussian(sigma)).tradeoff(alpha)
        assert contains(found, exact)
        # half an ulp of alpha is so much of what it leaves of one
        assert found.width <= max(SHARP, 2e-15 / (1 - alpha)) * found.upper * (10 if exact < 1e-30 else 1)


@pytest.mark.slow
def test_gaussian_far_apart():
    """Both errors far below every rounding of one: from the tails."""
    with mpmath.workdps(DIGITS):
        for alpha in (1e-9, 1e-30):
            exact = ncdf(-quantile(dec(alpha)) - mpmath.sqrt(10**5) / 10)
            found = (10**5 * lp.Gaussian(10)).tradeoff(alpha)
            assert contains(found, exact)
            assert found.width <= 1e-7 * found.upper


def test_laplace():
    """In closed form (Dong, Roth & Su 2022), mu the sensitivity over the scale."""
    for scale in (0.5, 3.0):
        for alpha in (1e-12, 1e-3, 0.02, 0.3, 0.5, 0.7, 0.999):
            with mpmath.workdps(DIGITS):
                mu, at = 1 / dec(scale), dec(alpha)
                if at < exp(-mu) / 2:
                    exact = 1 - exp(mu) * at
                else:
                    exact = exp(-mu) / (4 * at) if at <= mpf(1) / 2 else exp(-mu) * (1 - at)
            found = lp.Laplace(scale).tradeoff(alpha)
            assert contains(found, exact)
            assert found.width <= SHARP * found.upper


def test_guarantees():
    """Two lines (Dong, Roth & Su 2022, Proposition 2.5); far apart, the corner is below every digit of one."""
    for level, lost in ((0.0, 0.0), (0.3, 0.01), (2.0, 0.2), (50.0, 0.0)):
        for alpha in (1e-20, 0.01, 0.4, 0.6, 0.75):
            with mpmath.workdps(DIGITS):
                e, d, at = dec(level), dec(lost), dec(alpha)
                exact = max(1 - d - exp(e) * at, exp(-e) * (1 - d - at), mpf(0))
            found = lp.ApproximateDP(level, lost).tradeoff(alpha)
            assert contains(found, exact)
            assert found.width <= (SHARP if level < 50 or alpha > 1e-20 else 0.1) * found.upper


# -------------------------------------------------------------------------------------------------- enumeration


@pytest.mark.few(2)
@pytest.mark.parametrize(("p", "count"), [(0.6, 1), (0.6, 20), (0.9, 7), (0.51, 12)])
def test_randomized_response(p, count):
    true = written(p)
    cells = enumerated([((true, 1 - true), (1 - true, true))] * count)
    release = count * lp.RandomizedResponse(p)
    # 1 - p and p are ends of straight pieces for one response
    for alpha in (1e-6, 0.01, 0.1, round(1 - p, 6), 0.5, p, 0.97, 0.9999):
        exactly(release.tradeoff(alpha), best_test(cells, written(alpha)))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(12))
def test_finite_pairs(seed):
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    p, q = (rng.multinomial(1000, rng.dirichlet(np.ones(size))) / 1000 for _ in range(2))
    p[0], q[0] = p[0] + p[-1] * (seed % 2), q[0]
    p[-1] *= 1 - seed % 2
    p, q = np.round(p, 3), np.round(q, 3)
    release = count * lp.Discrete(p.tolist(), q.tolist())
    exact = [tuple(map(written, law)) for law in (p, q)]
    for direction, pair in zip(DIRECTIONS, (exact, exact[::-1]), strict=True):
        cells = enumerated([pair] * count)
        for alpha in (0.0, 1e-4, *np.round(rng.uniform(0, 1, 5), 4), 0.9999, 1.0):
            exactly(release.tradeoff(alpha, direction=direction), best_test(cells, written(alpha)))


def test_two_kinds_without_a_lattice():
    factors = [((written(p), 1 - written(p)), (1 - written(p), written(p))) for p in (0.6, 0.6, 0.73, 0.73, 0.73)]
    cells = enumerated(factors)
    release = 2 * lp.RandomizedResponse(0.6) + 3 * lp.RandomizedResponse(0.73)
    for alpha in (0.001, 0.07, 0.31, 0.8, 0.99):
        exactly(release.tradeoff(alpha), best_test(cells, written(alpha)))


# -------------------------------------------------------------------------------------- in the space of outputs


@pytest.mark.few(1)
@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.1), (0.7, 0.5), (4.0, 0.01)])
def test_sampled_gaussian(sigma, rate):
    """The ratio grows with the output, so every test is a threshold on it."""
    release = lp.Gaussian(sigma).poisson(rate)
    with mpmath.workdps(DIGITS):
        s, r = dec(sigma), dec(rate)
        for alpha in (1e-8, 0.01, 0.4, 0.8, 0.99):
            at = dec(alpha)
            above = -quantile(at) * s
            remove = (1 - r) * ncdf(above / s) + r * ncdf((above - 1) / s)
            # the null hypothesis is the mixture, rejected below a threshold
            below = mpmath.findroot(lambda t, at=at: (1 - r) * ncdf(t / s) + r * ncdf((t - 1) / s) - at, quantile(at) * s)
            add = ncdf(-below / s)
            for direction, exact in zip((*DIRECTIONS, None), (remove, add, min(remove, add)), strict=True):
                found = release.tradeoff(alpha, direction=direction)
                assert contains(found, exact)
                assert found.width <= SHARP * found.upper
            assert some(release.tradeoff(alpha).direction).value == ("remove" if remove < add else "add")


def test_two_laplace_mechanisms():
    """The loss of two: by the density of one and the exact tail of the other."""
    scale = 1.5
    with mpmath.workdps(25):
        mu = 1 / mpf(scale)

        def atoms(sign):
            # of the loss l = (|y| - |y - 1|) / b under the law centred at 0 (sign -1) or 1 (+1)
            return {mu: mpf(1) / 2 if sign > 0 else exp(-mu) / 2, -mu: exp(-mu) / 2 if sign > 0 else mpf(1) / 2}

        def density(t, sign):
            return exp(-(mu - sign * t) / 2) / 4

        def tail(x, sign):
            """P(l > x) of one."""
            if x >= mu:
                return mpf(0)
            if x < -mu:
                return mpf(1)
            rest = (exp(-(mu - sign * mu) / 2) - exp(-(mu - sign * x) / 2)) / (2 * sign)
            return atoms(sign)[mu] + rest

        def both(x, sign):
            ends = sorted({-mu, mu, *(min(max(x + s * mu, -mu), mu) for s in (1, -1))})
            inner = quad(lambda t: density(t, sign) * tail(x - t, sign), ends)
            return inner + sum(mass * tail(x - place, sign) for place, mass in atoms(sign).items())

        for x in (mpf("0.3"), mpf("-0.4"), mpf("1.1")):
            alpha, beta = both(x, -1), 1 - both(x, 1)
            found = (2 * lp.Laplace(scale)).tradeoff(float(alpha))
            # alpha is rounded to a double: the slope of the curve is -e^x
            room = mpf(10) ** -15
            assert found.lower <= beta + room
            assert beta - room <= found.upper
            assert found.width <= SHARP * found.upper


# ---------------------------------------------------------------------------------------------------- the inverse


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "release",
    [
        lp.Gaussian(1.1).poisson(0.05),
        300 * lp.Gaussian(1.1).poisson(0.05),
        3 * lp.Laplace(1.0),
        lp.ApproximateDP(0.5, 0.01),
        2 * lp.Discrete([0.5, 0.3, 0.2, 0], [0.2, 0.3, 0, 0.5]),
    ],
)
def test_the_other_order_is_the_inverse(release):
    for direction in ("remove", "add"):
        for alpha in (0.001, 0.1, 0.24):
            beta = release.tradeoff(alpha, direction=direction).value
            back = release.inverse_tradeoff(beta, direction=direction)
            assert back.value == pytest.approx(alpha, rel=1e-6)
            assert back.direction.value in (direction, "both")
            other = release.tradeoff(beta, direction="add" if direction == "remove" else "remove")
            assert (back.lower, back.upper) == (other.lower, other.upper)


def test_the_inverse_of_the_smaller_curve():
    release = lp.Gaussian(1).poisson(0.1)
    for beta in (0.01, 0.5, 0.97):
        ends = [release.inverse_tradeoff(beta, direction=one).value for one in ("remove", "add")]
        assert release.inverse_tradeoff(beta).value == pytest.approx(min(ends), rel=1e-12)
    alone = lp.Gaussian(1, adjacency="remove").poisson(0.1)
    assert alone.inverse_tradeoff(0.3).value == release.inverse_tradeoff(0.3, direction="remove").value


def test_the_inverse_keeps_small_errors():
    with mpmath.workdps(DIGITS):
        exact = ncdf(-quantile(dec(1e-12)) - 1)
    found = lp.Gaussian(1).inverse_tradeoff(1e-12)
    assert contains(found, exact)


# -------------------------------------------------------------------------------------------------------- ends


def test_ends_and_infinite_losses():
    release = 3 * lp.ApproximateDP(0.2, 0.1)
    finite = Fraction(9, 10) ** 3
    at_zero = release.tradeoff(0.0)
    assert Fraction(at_zero.lower) <= finite <= Fraction(at_zero.upper)
    assert at_zero.width < 1e-14
    for alpha in (0.73, 0.9, 1.0):
        assert (release.tradeoff(alpha).lower, release.tradeoff(alpha).upper) == (0.0, 0.0)
    assert 0 <= release.tradeoff(0.729).lower <= release.tradeoff(0.729).upper < 1e-14
    assert lp.Gaussian(1).tradeoff(1.0).upper == 0
    assert lp.PureDP(0).tradeoff(0.25).value == pytest.approx(0.75, rel=1e-14)


def test_duality_with_the_profile():
    """1 - delta(x) - e^x alpha never exceeds f(alpha), and attains it somewhere."""
    release = 20 * lp.Gaussian(2).poisson(0.2) + lp.Laplace(4)
    x = np.linspace(-3, 3, 121)
    for direction in ("remove", "add"):
        delta = release.delta(x, direction=direction)
        for alpha in (0.03, 0.4, 0.9):
            found = release.tradeoff(alpha, direction=direction)
            lines = 1 - delta.upper - np.exp(x) * alpha
            assert lines.max() <= found.upper + 1e-15
            assert lines.max() >= found.lower - 1e-3


@pytest.mark.slow
def test_a_wide_profile_leaves_a_wide_curve():
    """Sampled Laplace mechanisms far apart: valid, and wider than asked."""
    found = (30 * lp.Laplace(0.1).poisson(0.01)).tradeoff(0.7, direction="add")
    assert found.status is not lp.Status.MET
    assert 0 <= found.lower <= found.value <= found.upper <= 0.3


@pytest.mark.slow
def test_tails_that_are_slopes_of_the_profile_are_left_alone():
    # each takes seconds here, and dozens would be asked for
    release = 10_000 * lp.PureDP(epsilon=0.6) + lp.DiscreteGaussian(sigma=3.4)
    found: list[lp.Bound] = []
    asked = answers(lambda: found.append(release.inverse_tradeoff(1e-300, direction="add")), below)
    assert 0 <= found[0].lower <= found[0].upper <= 1
    assert 0 < len(asked) <= 3


def test_shapes_and_options():
    release = lp.Gaussian(1)
    found = release.tradeoff([[0.1, 0.2, 0.3]])
    assert found.shape == (1, 3)
    assert np.all(np.asarray(found) == found.lower)
    assert release.tradeoff(np.array([])).shape == (0,)
    assert release.inverse_tradeoff([0.1, 0.4]).shape == (2,)
    assert release.tradeoff(0.1).direction is lp.Direction.BOTH


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, [0.1, 2.0]])
def test_impossible_errors_are_refused(bad):
    with pytest.raises(ValueError, match="type_one_error"):
        lp.Gaussian(1).tradeoff(bad)
    with pytest.raises(ValueError, match="type_two_error"):
        lp.Gaussian(1).inverse_tradeoff(bad)


def test_impossible_options_are_refused():
    with pytest.raises(TypeError, match="type_one_error"):
        untyped(lp.Gaussian(1).tradeoff)("0.1")
    with pytest.raises(ValueError, match="direction"):
        untyped(lp.Gaussian(1).tradeoff)([], direction="up")
    with pytest.raises(ValueError, match="does not exist"):
        lp.Gaussian(1, adjacency="remove").tradeoff(0.1, direction="add")
    with pytest.raises(ValueError, match="rtol"):
        lp.Gaussian(1).tradeoff(0.1, rtol=0)
