"""Thresholds of partitions: against outputs integrated on a grid, formulas at many digits, and published ones."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

import logphi as lp
from exact import dec, noise_tail
from refusals import refused, untyped

DIGITS = 40
# what the sums over cells may be off by
CELLS = 1e-9


def cells(noise, threshold, count):
    """Probabilities of the released values of so many records, cell by cell, and of no release; without records none is."""
    kind, width, truncation = noise
    edges = np.linspace(threshold, threshold + 60 * width, 6001)
    if not count:
        return np.append(np.zeros(6001), 1.0)

    def below(x):
        x = np.clip(x - count, -truncation, truncation) / width
        return ndtr(x) if kind == "sigma" else np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)

    first, last = below(np.array([-1e9, 1e9]))
    masses = np.diff(np.append(below(edges), last)) / (last - first)
    return np.append(masses, 1 - masses.sum())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "noise", [("scale", 2.0, math.inf), ("sigma", 2.0, math.inf), ("scale", 2.0, 9.0), ("sigma", 2.0, 5.0)]
)
def test_every_partition_leaks_less_and_new_ones_as_much(noise):
    kind, width, truncation = noise
    threshold = 5.5
    given = {kind: width} if math.isinf(truncation) else {kind: width, "truncation": truncation}
    mechanism = lp.StabilityThreshold(threshold, **given)
    places = [-0.4, 0.2, 0.49, 3.0] if math.isinf(truncation) else [0.2]
    known = [[mechanism.delta(epsilon, direction=order).upper for epsilon in places] for order in ("remove", "add")]
    for count in (0, 1, 2, 4, 5, 9):
        p, q = cells(noise, threshold, count + 1), cells(noise, threshold, count)
        for a, b, bounds in ((p, q, known[0]), (q, p, known[1])):
            for epsilon, bound in zip(places, bounds, strict=True):
                assert np.maximum(a - math.exp(epsilon) * b, 0).sum() <= bound + CELLS
    new = cells(noise, threshold, 1)[:-1].sum()
    assert mechanism.delta(60.0).upper >= new - CELLS
    if math.isinf(truncation):
        assert mechanism.delta(60.0).value == pytest.approx(new, rel=1e-9)
        # old or new, not both
        alone = lp.Laplace(width) if kind == "scale" else lp.Gaussian(width)
        assert mechanism.delta(0.2).upper <= new + alone.delta(0.2).upper


def test_partitions_that_are_old_and_new_leak_less():
    """One release of j new partitions and k - j old ones, of which the profile is known."""
    scale, k = 3.0, 4
    mechanism = lp.StabilityThreshold(14.0, scale=scale, partitions=k)
    p = math.exp(-13 / scale) / 2
    for new in range(k + 1):
        missed, old = (1 - p) ** new, (k - new) * lp.Laplace(scale)
        for epsilon in (0.0, 0.3, 1.0):
            seen = 1 - missed + missed * old.delta(epsilon - math.log(missed)).value if new < k else 1 - missed
            assert seen <= mechanism.delta(epsilon).upper
    assert mechanism.delta(50.0).value == pytest.approx(1 - (1 - p) ** k, rel=1e-9)


@pytest.mark.parametrize("delta", [1e-200, 1e-10, 1e-5, 0.3, 0.99])
@pytest.mark.parametrize("partitions", [1, 7])
def test_thresholds_are_the_published_ones_rounded_up(delta, partitions):
    """Those of Google's differential privacy libraries: the share of each partition is 1 - (1 - delta)^(1/k)."""
    with mpmath.workdps(DIGITS):
        share = -mpmath.expm1(mpmath.log1p(-dec(delta)) / partitions)
        laplace = 1 - 4 * mpmath.log(2 * share) if share < 0.5 else 1 + 4 * mpmath.log(2 * (1 - share))
        start = -mpmath.sqrt(2 * abs(mpmath.log(2 * share))) if share > 0.5 else mpmath.sqrt(2 * abs(mpmath.log(share)))
        root = mpmath.findroot(lambda x: mpmath.log(noise_tail(x, normal=True)) - mpmath.log(share), start)
        exact = {"scale": laplace, "sigma": 1 + 4 * root}
        for kind, threshold in exact.items():
            found = lp.StabilityThreshold.for_delta(delta, partitions=partitions, **{kind: 4})
            assert threshold <= found.threshold
            assert found.threshold - threshold < 1e-10 * (1 + abs(threshold))
            assert found.delta(1000.0, direction="remove").value <= delta * (1 + 1e-12)


def test_truncated_noise_never_shows_a_new_partition_beyond_its_end():
    hidden = lp.StabilityThreshold(11.5, scale=2, truncation=10, partitions=3)
    assert hidden.delta(0.7).value == pytest.approx((3 * lp.TruncatedLaplace(2, 10)).delta(0.7).value, rel=1e-9)
    assert hidden.delta(0.7).status is lp.Status.MET
    assert hidden.delta(0.7).upper < lp.StabilityThreshold(10.5, scale=2, truncation=10, partitions=3).delta(0.7).upper
    reached = lp.StabilityThreshold(1.3, scale=2, truncation=0.9, sensitivity=0.4)
    assert reached.delta(0.1).value == pytest.approx(lp.TruncatedLaplace(2, 0.9, 0.4).delta(0.1).value, rel=1e-12)
    found = lp.StabilityThreshold.for_delta(1e-12, scale=2, truncation=10)
    assert 10.9 < found.threshold <= 11


def test_composition_groups_samples_and_text():
    one = lp.StabilityThreshold(40, scale=3, partitions=2)
    both = 2 * lp.Laplace(3) + 2 * lp.Discrete([float(math.exp(-13) / 2), 1 - math.exp(-13) / 2], [0, 1])
    assert one.delta(0.2).value == pytest.approx(both.delta(0.2).value, rel=1e-9)
    assert (5 * one).epsilon(1e-4).value == pytest.approx((5 * both).epsilon(1e-4).value, rel=1e-9)
    assert str(one.group(2)) == str(lp.StabilityThreshold(40, scale=3, sensitivity=2, partitions=4))
    assert one.poisson(0.1).epsilon(1e-4).upper < one.epsilon(1e-4).upper
    for release in (one, lp.StabilityThreshold(40, sigma=3, truncation=20, adjacency="remove")):
        assert lp.from_json(release.to_json()) == release
    assert lp.parse(str(one)) == one
    assert one.delta(50.0, direction="add").upper < 1e-300


def test_ends_of_the_range():
    assert lp.StabilityThreshold(5, scale=0).delta(3.0).lower == 1
    # only whether the partition is there is told
    seen = math.exp(-5) / 2
    assert lp.StabilityThreshold(5, scale=1, sensitivity=0).delta(0.0).value == pytest.approx(seen, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "kind", "needles"),
    [
        (lambda: lp.StabilityThreshold(5), ValueError, ["exactly one", "scale", "sigma"]),
        (lambda: lp.StabilityThreshold(5, scale=1, sigma=1), ValueError, ["exactly one"]),
        (lambda: lp.StabilityThreshold(math.nan, scale=1), ValueError, ["threshold"]),
        (lambda: lp.StabilityThreshold(5, scale=-1), ValueError, ["scale", "negative"]),
        (lambda: lp.StabilityThreshold(5, scale=1, partitions=0), ValueError, ["partitions", "from 1"]),
        (lambda: lp.StabilityThreshold(5, scale=1, adjacency="replace"), ValueError, ["adjacency", "m.group(2)"]),
        (lambda: lp.StabilityThreshold(1e5, scale=1), ValueError, ["threshold", "do not matter"]),
        (lambda: lp.StabilityThreshold(-50, scale=1), ValueError, ["threshold", "nearly every release", "raise"]),
        (lambda: untyped(lp.StabilityThreshold)(5, scale=1, delta=1e-8), TypeError, ["for_delta"]),
        (lambda: lp.StabilityThreshold.for_delta(0.0, scale=1), ValueError, ["delta"]),
        (lambda: lp.StabilityThreshold.for_delta(1e-8), ValueError, ["exactly one"]),
        (lambda: lp.StabilityThreshold.for_delta(1e-8, scale=0), ValueError, ["scale", "positive"]),
        (lambda: lp.StabilityThreshold.for_delta(1e-8, scale=1, partitions=0), ValueError, ["partitions"]),
    ],
)
def test_bad_input_is_refused_by_name(call, kind, needles):
    refused(kind, call, *needles)
