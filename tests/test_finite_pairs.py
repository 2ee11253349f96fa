"""Mechanisms with countably many outcomes against their definitions, summed outcome by outcome."""

import math
from collections import Counter
from functools import reduce

import mpmath
import pytest
from mpmath import exp, mpf

import logphi as lp

DIGITS = 60
# what the interface promises of delta, and of epsilon in units of max(1, epsilon)
SHARP = 1e-9


def dec(number):
    return mpf(repr(float(number)))


def contains(bound, exact):
    return mpf(bound.lower) <= exact <= mpf(bound.upper)


def convolve(one, other):
    product = Counter()
    for (i, j), (p, q) in one.items():
        for (k, m), (r, s) in other.items():
            old = product.get((i + k, j + m), (mpf(0), mpf(0)))
            product[i + k, j + m] = (old[0] + p * r, old[1] + q * s)
    return product


def profile(cells, n, eps, direction="remove"):
    """The hockey-stick sum over all outcomes of n releases; cells with one key are alike, and keys add."""
    total = reduce(convolve, [cells] * n)
    turned = direction == "add"
    found = mpmath.fsum(max(mpf(0), (q - exp(eps) * p) if turned else (p - exp(eps) * q)) for p, q in total.values())
    return min(found, mpf(1))


def reports(k, p, relation):
    """All k reports, none merged; the key counts what the loss depends on."""
    truth, other = 1 - p + p / k, p / k
    if relation == "replace":
        cells = {(1, 0): (truth, other), (-1, 0): (other, truth)}
        return cells | ({(0, 0): ((k - 2) * other, (k - 2) * other)} if k > 2 else {})
    return {(1, 0): (truth, mpf(1) / k), (0, 1): ((k - 1) * other, mpf(k - 1) / k)}


REPORTS = [(2, 0.5), (3, 0.9), (10, 0.25), (100, 0.999), (10**6, 0.01)]


@pytest.mark.parametrize(("k", "p"), REPORTS)
@pytest.mark.parametrize("relation", ["replace", "replace_special"])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_reports_equal_the_sum_over_outcomes(k, p, relation, n):
    release = n * lp.KaryRandomizedResponse(k=k, p=p, adjacency=relation)
    with mpmath.workdps(DIGITS):
        cells = reports(k, dec(p), relation)
        for epsilon in (-20.0, -0.7, 0.0, 0.1, 1.3, 5.0, 20.0):
            exact = {one: profile(cells, n, dec(epsilon), one) for one in ("remove", "add")}
            for one, value in exact.items():
                bound = release.delta(epsilon, direction=one)
                assert contains(bound, value), (epsilon, one)
                if bound.method != "trivial" and value > 1e-3:
                    assert bound.width <= SHARP * value, (epsilon, one, bound.method)
            both = release.delta(epsilon)
            assert contains(both, max(exact.values()))
            if relation == "replace":
                assert both.direction is lp.Direction.BOTH


def test_orders_of_a_special_value_differ():
    release = 5 * lp.KaryRandomizedResponse(k=10, p=0.5, adjacency="replace_special")
    remove, add = (release.delta(1.0, direction=one) for one in ("remove", "add"))
    assert remove.lower > add.upper
    assert release.delta(1.0).direction is lp.Direction.REMOVE


def test_the_largest_loss_of_a_report_is_epsilon_of_zero():
    with mpmath.workdps(DIGITS):
        top = mpmath.log1p(10 * (1 - dec(0.25)) / dec(0.25))
        assert contains(lp.KaryRandomizedResponse(k=10, p=0.25).epsilon(0), top)
        remove = mpmath.log(10 - 9 * dec(0.25))
        add = -mpmath.log(dec(0.25))
        special = lp.KaryRandomizedResponse(k=10, p=0.25, adjacency="replace_special")
        assert contains(special.epsilon(0, direction="remove"), remove)
        assert contains(special.epsilon(0, direction="add"), add)


@pytest.mark.parametrize("p", [math.nextafter(1, 0), 1 - 1e-13, 1e-299])
@pytest.mark.parametrize("relation", ["replace", "replace_special"])
def test_reports_that_tell_next_to_nothing_or_nearly_all(p, relation):
    release = 4 * lp.KaryRandomizedResponse(k=3, p=p, adjacency=relation)
    with mpmath.workdps(400):
        # 1 - p of a double next to one: half an ulp of p is most of it, so the double itself is asked about
        cells = reports(3, mpf(p), relation)
        for epsilon in (0.0, 1.0, 600.0):
            for one in ("remove", "add"):
                assert contains(release.delta(epsilon, direction=one), profile(cells, 4, mpf(epsilon), one)), (epsilon, one)
