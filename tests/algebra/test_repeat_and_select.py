"""The best of many runs: by enumeration of runs and scores, and by the theorem at many digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest

import logphi as lp
from exact import dec
from logphi.sampling.repetitions import Repetitions
from profiles import gaussian_profile
from refusals import refused
from selected_outcomes import best, chances

# measured: by how much the hull of the bounds may exceed one of them, relative to delta
HULL = 2e-3


def excess(p, q, epsilon):
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mean", "shape", "seed"),
    [(3.0, 1.0, 0), (5.0, 0.0, 1), (2.0, -0.5, 2), (4.0, 3.0, 0), (0.7, math.inf, 1), (6.0, math.inf, 2)],
)
def test_every_score_leaks_at_most_the_upper_end_and_the_likelihood_ratio_at_least_the_lower_one(mean, shape, seed):
    rng = np.random.default_rng(seed)
    p, q = (np.round(rng.dirichlet(np.ones(4)), 3) for _ in range(2))
    p[0], q[0] = 1 - p[1:].sum(), 1 - q[1:].sum()
    selected = lp.Discrete(p.tolist(), q.tolist()).repeat_and_select(mean, shape)
    law = chances(mean, shape)
    assert (law * np.arange(law.size)).sum() == pytest.approx(mean, rel=1e-6)
    by_ratio = sorted(range(4), key=lambda outcome: p[outcome] / q[outcome])
    scores = [(best(p, order, law), best(q, order, law)) for order in itertools.permutations(range(4))]
    for epsilon in (-0.3, 0.0, 0.4, 1.5):
        both = {name: selected.delta(epsilon, direction=name) for name in ("remove", "add")}
        for one, other in scores:
            assert excess(one, other, epsilon) <= both["remove"].upper + 1e-7
            assert excess(other, one, epsilon) <= both["add"].upper + 1e-7
        one, other = best(p, by_ratio, law), best(q, by_ratio, law)
        assert both["remove"].lower <= excess(one, other, epsilon) + 1e-7
        assert both["add"].lower <= excess(other, one, epsilon) + 1e-7


@pytest.mark.parametrize("epsilon", [-1.0, -0.05, 0.0, 0.3])
def test_a_poisson_number_of_runs_may_be_none(epsilon):
    """No run is likely, which adds to the profile at negative epsilons; the bound is useful although the mean is below 1."""
    p, q, law = np.array([0.55, 0.45]), np.array([0.45, 0.55]), chances(0.5, math.inf)
    selected = lp.Discrete(p.tolist(), q.tolist()).repeat_and_select(0.5, math.inf)
    worst = max(excess(best(p, order, law), best(q, order, law), epsilon) for order in ([0, 1], [1, 0]))
    assert worst <= selected.delta(epsilon).upper + 1e-12 <= 2 * max(worst, 1e-9)


@pytest.mark.slow
def test_two_selections_of_pairs_leak_at_most_the_composition():
    p, q, law = np.array([0.7, 0.3]), np.array([0.4, 0.6]), chances(3.0, 1.0)
    pairs = [(best(p, order, law), best(q, order, law)) for order in ([0, 1], [1, 0])]
    composed = 2 * lp.Discrete(p.tolist(), q.tolist()).repeat_and_select(3.0)
    upper = composed.delta(1.0).upper
    for (p1, q1), (p2, q2) in itertools.product(pairs, pairs):
        assert excess(np.outer(p1, p2), np.outer(q1, q2), 1.0) <= upper + 1e-7


@pytest.mark.few(1)
@pytest.mark.parametrize(("mean", "shape"), [(10, 1), (30, 0.5), (10, 0), (8, math.inf)])
def test_the_upper_end_is_the_theorem(mean, shape):
    """The supremum of the ratio of derivatives is taken over the trade-off function itself."""
    mu = dec(0.5)
    with mpmath.workdps(30):
        if math.isinf(shape):
            log_ratio = mean * gaussian_profile(mu)(0)
        else:
            odds = mpmath.findroot(
                lambda g: (shape * (1 - g) / (g * (1 - g**shape)) if shape else (1 / g - 1) / -mpmath.log(g)) - mean,
                (0.01, 0.2),
                solver="anderson",
            )
            c = 1 - odds
            xs = [mpmath.ncdf(dec(x)) for x in np.linspace(-6, 6, 2401)]
            errors = [mpmath.ncdf(-mu - dec(x)) for x in np.linspace(-6, 6, 2401)]
            log_ratio = (shape + 1) * max(mpmath.log((1 - c * x) / (odds + c * t)) for x, t in zip(xs, errors, strict=True))
        selected = lp.Gaussian(sigma=2).repeat_and_select(mean, shape)
        for epsilon in (1.5, 3.0, 4.5):
            exact = min(mean * gaussian_profile(mu)(epsilon - log_ratio), 1)
            if exact < 0.05:
                found = selected.delta(epsilon).upper
                assert exact * (1 - mpmath.mpf(10) ** -5) <= found <= exact * (1 + HULL)


@pytest.mark.slow
def test_the_attack_is_the_largest_of_normal_outputs():
    """By quadrature of the selected densities."""
    mean, mu = 10.0, 0.5
    x = np.linspace(-12, 13, 200_001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    moved = np.exp(-((x - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    below, moved_below = (np.cumsum(one) * (x[1] - x[0]) for one in (density, moved))
    q = mean * density / (mean - (mean - 1) * below) ** 2
    p = mean * moved / (mean - (mean - 1) * moved_below) ** 2
    selected = lp.Gaussian(sigma=2).repeat_and_select(mean)
    for epsilon in (0.5, 1.5):
        exact = float(np.maximum(p - math.exp(epsilon) * q, 0).sum() * (x[1] - x[0]))
        assert selected.delta(epsilon).lower == pytest.approx(exact, rel=2e-3)


@pytest.mark.slow
def test_one_run_is_the_mechanism_and_nothing_stays_nothing():
    one = lp.Gaussian(sigma=2)
    assert one.repeat_and_select(1) == one
    assert lp.Gaussian(sigma=1, sensitivity=0).repeat_and_select(5).delta(0).upper == 0
    assert lp.Gaussian(sigma=0).repeat_and_select(5).delta(1).lower == 1
    assert lp.ApproximateDP(1, 0.5).repeat_and_select(50).delta(1).upper == 1


@pytest.mark.slow
def test_pure_guarantees_stay_pure():
    """At most the ratio of the two densities times that of the derivatives; a response that is selected attains some of it."""
    found = lp.PureDP(0.5).repeat_and_select(10).epsilon(0)
    assert 0.5 <= found.lower <= found.upper <= 3 * 0.5 + 1e-6


@pytest.mark.parametrize("shape", [-0.9, -0.5, 0.0, 1e-9, 0.5, 1.0, 7.0, 1e4])
def test_the_law_of_the_number_of_runs_has_its_mean(shape):
    for mean in (1 + 1e-9, 1.5, 40.0):
        law = Repetitions.of(mean, shape)
        with mpmath.workdps(40):
            means = [
                dec(shape) * mpmath.expm1(t) / -mpmath.expm1(-dec(shape) * t) if shape else mpmath.expm1(t) / t
                for t in (mpmath.mpf(law.low), mpmath.mpf(law.high))
            ]
            assert means[0] <= dec(mean) <= means[1]
        assert law.high - law.low <= 1e-9 * law.high + 1e-10


def test_texts_and_json_read_back():
    for release in (
        lp.Gaussian(sigma=2).repeat_and_select(10),
        (lp.Laplace(scale=2) + lp.Gaussian(sigma=2)).repeat_and_select(10, shape=math.inf),
        lp.Gaussian(sigma=2, adjacency="replace").repeat_and_select(2.5, 0.5),
    ):
        assert lp.parse(str(release)) == release
        assert lp.from_json(release.to_json()) == release


@pytest.mark.slow
def test_noise_is_calibrated():
    found = lp.calibrate(lambda sigma: lp.Gaussian(sigma=sigma).repeat_and_select(4), epsilon=4, delta=1e-4, rtol=0.3)
    assert found.answer.upper <= 4


@pytest.mark.parametrize(
    ("arguments", "kind", "needles"),
    [
        ((0.5,), ValueError, ["mean must be at least 1", "shape=inf"]),
        ((0, math.inf), ValueError, ["mean", "positive"]),
        ((1e12,), ValueError, ["mean must be at most"]),
        ((10, -1), ValueError, ["shape must lie above -1"]),
        ((10, math.nan), ValueError, ["shape"]),
        (("10",), TypeError, ["mean"]),
        ((10, -1 + 1e-9), ValueError, ["larger shape"]),
    ],
)
def test_bad_input_is_refused_by_name(arguments, kind, needles):
    refused(kind, lambda: lp.Gaussian(sigma=1).repeat_and_select(*arguments), *needles)


def test_what_is_not_known_of_it_is_refused():
    best_run = lp.Gaussian(sigma=2).repeat_and_select(10)
    estimated = lp.FromRenyi(lambda order: order / 2, (-math.inf, math.inf), adjacency="add_remove")
    refused(ValueError, lambda: best_run.poisson(0.1), "sample the run that is repeated")
    refused(ValueError, best_run.loss_law, "bracket")
    refused(ValueError, lambda: estimated.repeat_and_select(5), "estimates")
    refused(ValueError, lambda: lp.Gaussian(sigma=2, adjacency="add").repeat_and_select(5), "both directions", "add_remove")
