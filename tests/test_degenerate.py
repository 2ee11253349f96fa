"""The ends of parameters, where sweeps begin and stop: without noise everything leaks, where nothing moves nothing does."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from mpmath import mp

import logphi as lp
from directions import DIRECTIONS
from logphi.cli import main
from logphi.pairs.pair import UnsupportedError
from logphi.testing import check_mechanism
from refusals import refused
from some import some

INF = math.inf
EVERYTHING = [
    lp.Gaussian(sigma=0),
    lp.Gaussian(sigma=0, adjacency="replace"),
    lp.Laplace(scale=0),
    lp.DiscreteLaplace(scale=0),
    lp.DiscreteGaussian(sigma=0),
    lp.DiscreteGaussian(sigma=2, sensitivity=5, truncation=2),
    lp.DiscreteGaussian(sigma=2, truncation=0),
    lp.RandomizedResponse(p=0),
    lp.RandomizedResponse(p=1),
    lp.KaryRandomizedResponse(k=4, p=0),
    lp.PureDP(epsilon=INF),
    lp.ApproximateDP(epsilon=1, delta=1),
    lp.ApproximateDP(epsilon=INF, delta=0.1),
    lp.GaussianMixture(0, [1, 2], [0.5, 0.5]),
    lp.GaussianMixturePair(0, [0, 1], [1, 0], [0, 1]),
    lp.GaussianPair(0, 0, 1, 0),
    lp.GaussianPair(0, 0, 0, 1),
    lp.TruncatedGaussian(sigma=0, truncation=1),
    lp.TruncatedGaussian(sigma=1, truncation=0.5),
    lp.TruncatedLaplace(scale=1, truncation=0.25),
    lp.DistanceToInstability(epsilon=1, delta=1),
    lp.Discrete([1, 0], [0, 1]),
    lp.Gaussian(sigma=0) + lp.Laplace(scale=1),
    (lp.Gaussian(sigma=0) + lp.PureDP(1)).poisson(1),
]
NOTHING = [
    lp.Gaussian(sigma=1, sensitivity=0),
    lp.Gaussian(sigma=0, sensitivity=0),
    lp.Laplace(scale=1, sensitivity=0),
    lp.DiscreteLaplace(scale=1, sensitivity=0),
    lp.DiscreteGaussian(sigma=1, sensitivity=0),
    lp.RandomizedResponse(p=0.5),
    lp.KaryRandomizedResponse(k=1, p=0),
    lp.KaryRandomizedResponse(k=1, p=0.5),
    lp.KaryRandomizedResponse(k=5, p=1),
    lp.KaryRandomizedResponse(k=5, p=1, adjacency="replace_special"),
    lp.PureDP(epsilon=0),
    lp.ApproximateDP(epsilon=0, delta=0),
    lp.ExponentialMechanism(epsilon=0),
    lp.GaussianMixture(1, [0, 0], [0.5, 0.5]),
    lp.GaussianMixture(0, [0, 1], [1, 0]),
    lp.GaussianMixturePair(0, [0, 1], [0.5, 0.5], [0.5, 0.5]),
    lp.GaussianPair(1, 0, 1, 0),
    lp.TruncatedGaussian(sigma=1, truncation=1, sensitivity=0),
    lp.TruncatedLaplace(scale=0, truncation=0, sensitivity=0),
    lp.DistanceToInstability(epsilon=0, delta=0),
    lp.Discrete([0.25, 0.75], [0.25, 0.75]),
    lp.Gaussian(sigma=0).poisson(0),
    (lp.Gaussian(sigma=1, sensitivity=0) + lp.Laplace(scale=1, sensitivity=0)).poisson(0.3),
    lp.Discrete([0.25, 0.75], [0.25, 0.75]).poisson(0.3),
    3 * lp.PureDP(epsilon=0),
]


def exactly(bounds, *truths):
    """Whether bounds are these numbers, with nothing left open."""
    bounds = np.atleast_1d(np.array(bounds, dtype=object)) if isinstance(bounds, lp.Bound) else bounds
    return all(
        (one.lower, one.value, one.upper) == (truth, truth, truth) and one.ledger.proved
        for one, truth in zip(bounds, truths, strict=True)
    )


@pytest.mark.parametrize("release", EVERYTHING, ids=repr)
def test_without_noise_everything_leaks(release):
    assert exactly(release.delta([-1e300, -1, 0, 1, 1e300]), 1, 1, 1, 1, 1)
    assert exactly(release.log_delta([0, 1]), 0, 0)
    assert exactly(release.epsilon([0, 1e-5, 0.999, 1]), INF, INF, INF, 0)
    assert exactly(release.pdp_delta([-1, 0, 1]), 1, 1, 1)
    assert exactly(release.pdp_epsilon([0, 0.5, 1]), INF, INF, 0)
    assert exactly(release.renyi([0, 0.3, 0.5, 1, 2, INF]), *[INF] * 6)
    assert exactly([release.kl_divergence(), release.max_divergence(), release.zcdp(0.5)], INF, INF, INF)
    assert exactly(release.hockey_stick([0, 1, 2]), 1, 1, 1)
    assert exactly(release.tradeoff([0.1, 1]), 0, 0)
    assert exactly(release.inverse_tradeoff([0.1, 1]), 0, 0)
    assert exactly([release.loss.infinite_mass, release.loss.cdf(0), release.dual_loss.sf(0), release.loss.pdf(0)], 1, 0, 0, 0)
    assert exactly(release.loss.quantile([1e-20, 0.5, 1]), INF, INF, INF)
    assert exactly([release.risk.advantage(), release.risk.gaussian_mu(0.1)], 1, INF)
    assert release.risk.tpr(0.01).upper == release.risk.success(0.5).upper == 1
    assert release.loss.atoms.locations.size == 0
    assert release.explain(epsilon=1).bound.value == 1
    assert "infty" in release._repr_latex_()
    for moment in ("mean", "variance"):
        with pytest.raises(ValueError, match="no finite loss"):
            getattr(release.loss, moment)
    with pytest.raises(ValueError, match=r"certificates do not know|needs no proof"):
        release.certify(delta=1e-5)


@pytest.mark.parametrize("release", NOTHING, ids=repr)
def test_where_nothing_moves_nothing_leaks(release):
    assert exactly(release.delta([0, 1e-300, 1, 1e300]), 0, 0, 0, 0)
    found = release.delta(-1)
    assert found.lower <= -math.expm1(-1) <= found.upper
    assert exactly(release.epsilon([0, 1e-5, 1]), 0, 0, 0)
    assert exactly(release.pdp_delta([0, 1]), 0, 0)
    assert exactly(release.renyi([0, 0.5, 1, 2, INF]), 0, 0, 0, 0, 0)
    assert exactly([release.kl_divergence(), release.zcdp(), release.max_divergence()], 0, 0, 0)
    assert exactly([release.loss.mean, release.loss.variance, release.loss.infinite_mass], 0, 0, 0)
    assert exactly([release.risk.advantage(), release.risk.gaussian_mu()], 0, 0)
    found = release.tradeoff(0.25)
    assert 0.7499999 < found.lower <= 0.75 <= found.upper
    assert release.log_phi(sympy.Symbol("alpha", real=True)) == 0


@pytest.mark.parametrize("release", [*EVERYTHING, *NOTHING], ids=repr)
def test_the_ends_are_kept_by_accountants_and_compose(release):
    accountant = lp.Accountant()
    accountant.step(release, 2)
    again = lp.Accountant.from_json(accountant.to_json())
    assert again.history == accountant.history
    other = lp.Gaussian(sigma=1, adjacency=release.adjacency)
    both = release + other
    assert exactly(both.delta([1]), 1) if release in EVERYTHING else both.delta(1).same_as(other.delta(1))


@pytest.mark.parametrize("release", [EVERYTHING[0], NOTHING[0], lp.Gaussian(0).poisson(0.25)], ids=repr)
def test_the_ends_conform(release):
    check_mechanism(release)


def test_classical_methods_at_the_ends():
    table = lp.compare(lp.Gaussian(0), epsilon=1)
    assert table.rows[0].value == 1
    assert all(row.value is None or row.value == 1 for row in table.rows)
    assert all(row.value in (None, INF) for row in lp.compare(lp.Gaussian(0), delta=1e-5).rows)
    assert all(some(row.value) >= 0 for row in lp.compare(lp.Gaussian(1, 0), epsilon=1).rows)
    with pytest.raises(ValueError, match="every outcome reveals everything"):
        lp.classical.Concentrated.of(lp.Gaussian(0))


def sampled(rate, epsilon):
    """(1 - q) Q + q P against Q, and the reverse, for P and Q without a common outcome."""
    kept = math.exp(epsilon) * (1 - rate)
    return rate + max(1 - rate - math.exp(epsilon), 0.0), max(1 - kept, 0.0)


@pytest.mark.parametrize("epsilon", [-2.0, 0.0, 0.01, 1.0])
@pytest.mark.parametrize("rate", [1e-9, 0.01, 0.5, 0.999])
def test_a_record_on_a_sample_without_noise_is_seen_if_it_takes_part(rate, epsilon):
    bases = [lp.Gaussian(0), lp.Laplace(0), lp.PureDP(INF), lp.RandomizedResponse(1), 3 * lp.Gaussian(0) + lp.Laplace(1)]
    for release in [*(base.poisson(rate) for base in bases), lp.GaussianMixture(0, [0, 1], [1 - rate, rate])]:
        for direction, truth in zip(DIRECTIONS, sampled(rate, epsilon), strict=True):
            found = release.delta(epsilon, direction=direction)
            assert found.lower - 1e-15 <= truth <= found.upper + 1e-15
            assert found.width <= 1e-13
    group = lp.Gaussian(0).poisson(rate, group_size=3)
    met = 1 - (1 - rate) ** 3
    found = group.delta(epsilon)
    assert found.lower - 1e-14 <= max(sampled(met, epsilon)) <= found.upper + 1e-14


@pytest.mark.parametrize(("rate", "size"), [(0.9, 17), (0.9, 299), (0.5, 60), (1 - 2**-53, 2)])
def test_a_group_that_is_hardly_ever_missed_loses_the_logarithm_of_that(rate, size):
    group = lp.Gaussian(0).poisson(rate, group_size=size)
    with mp.workdps(400):
        missed = (1 - mp.mpf(repr(rate))) ** size
        for epsilon in (1.0, 20.0, 40.0, 600.0):
            assert group.delta(epsilon, direction="remove").upper >= 1 - missed
            truth = max(1 - mp.exp(epsilon) * missed, 0)
            found = group.delta(epsilon, direction="add")
            assert found.lower <= truth * (1 + mp.mpf(1e-12))
            assert truth <= found.upper
        for delta in (1e-5, 0.5, 0.9):
            found = group.epsilon(delta, direction="add")
            assert found.lower <= mp.log((1 - mp.mpf(delta)) / missed) <= found.upper
            assert found.width <= 1e-9 * found.upper


def test_a_group_that_is_missed_with_less_than_every_double_is_refused():
    refused(UnsupportedError, lambda: lp.Gaussian(0).poisson(0.9, group_size=1000), "take rate 1")
    assert lp.Gaussian(0).poisson(1, group_size=1000).delta(1) == 1


@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_a_record_that_takes_another_value_is_seen_if_it_takes_part(rate):
    ends = lp.Gaussian(0).poisson(rate, adjacency="replace"), lp.Gaussian(0, 1, "replace").subset(rate, adjacency="replace")
    for release in ends:
        for epsilon in (-1.0, 0.0, 1.0):
            found = release.delta(epsilon)
            truth = rate + (1 - rate) * max(-math.expm1(epsilon), 0.0)
            assert found.lower - 1e-15 <= truth <= found.upper + 1e-15


@pytest.mark.few(9)
@pytest.mark.parametrize(
    ("end", "near"),
    [
        (lp.Gaussian(0), lp.Gaussian(1e-3)),
        (lp.Gaussian(0).poisson(0.25), lp.Gaussian(0.02).poisson(0.25)),
        (lp.Laplace(0), lp.Laplace(1e-3)),
        (lp.Laplace(1, 0), lp.Laplace(1, 1e-9)),
        (lp.DiscreteLaplace(0), lp.DiscreteLaplace(1e-2)),
        (lp.RandomizedResponse(1), lp.RandomizedResponse(1 - 1e-9)),
        (lp.KaryRandomizedResponse(4, 0), lp.KaryRandomizedResponse(4, 1e-9)),
        (lp.KaryRandomizedResponse(4, 1), lp.KaryRandomizedResponse(4, 1 - 1e-9)),
        (
            lp.KaryRandomizedResponse(4, 0, adjacency="replace_special"),
            lp.KaryRandomizedResponse(4, 1e-9, adjacency="replace_special"),
        ),
        (lp.PureDP(INF), lp.PureDP(50)),
        (lp.ApproximateDP(1, 1), lp.ApproximateDP(1, 1 - 1e-9)),
        (lp.GaussianMixture(0, [0, 1, 2], [0.5, 0.25, 0.25]), lp.GaussianMixture(0.05, [0, 1, 2], [0.5, 0.25, 0.25])),
        (
            lp.GaussianMixturePair(0, [0, 1], [0.5, 0.5], [0.25, 0.75]),
            lp.GaussianMixturePair(0.05, [0, 1], [0.5, 0.5], [0.25, 0.75]),
        ),
        (lp.GaussianPair(0, 0, 1, 2), lp.GaussianPair(0, 1e-12, 1, 2)),
        (lp.DistanceToInstability(0, 0.25), lp.ApproximateDP(0, 0.25)),
        (lp.ExponentialMechanism(0), lp.ExponentialMechanism(1e-9)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_the_ends_are_the_limits(end, near, direction):
    for epsilon in (0.0, 0.7):
        one, other = (release.delta(epsilon, direction=direction) for release in (end, near))
        assert one.width <= 1e-12
        assert other.value == pytest.approx(one.value, abs=2e-8)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_phi_of_no_finite_loss_is_zero(direction):
    for release in (lp.Gaussian(0), lp.Gaussian(1) + 2 * lp.Laplace(0)):
        found = release.phi([0, 1.5, 2 + 3j], direction=direction)
        for part in (found.real, found.imag):
            assert all(part.lower == 0)
            assert all(part.upper == 0)
        assert release.log_phi(1, direction=direction).real.lower == -INF


def test_a_run_without_noise_has_no_finite_epsilon():
    run: dict[str, Any] = {"dataset_size": 1000, "batch_size": 10, "epochs": 1}
    assert lp.dp_sgd(**run, noise_multiplier=0).epsilon(1e-5).upper == INF
    assert lp.dp_sgd(**run, noise_multiplier=1, clipped_count_noise=0).epsilon(1e-5).lower == INF
    assert lp.dp_sgd(**run, noise_multiplier=0, sampler="without_replacement").delta(1).value == pytest.approx(1 - 0.99**100)


def test_a_sweep_may_begin_at_zero():
    found = lp.sweep(lp.Gaussian, {"sigma": [0, 1, 2]}, delta=1e-5)
    assert found[0].value == INF
    assert found[1].value > found[2].value > 0


def test_numbers_beside_an_end_are_no_ends():
    near = 1 - Fraction(1, 10**20)
    for make in (
        lp.Gaussian(1).poisson,
        lp.RandomizedResponse,
        lambda p: lp.KaryRandomizedResponse(3, p),
        lambda p: lp.ApproximateDP(0, p),
    ):
        with pytest.raises(ValueError, match="which doubles cannot hold"):
            make(near)
    with pytest.raises(ValueError, match="rounding"):
        lp.GaussianPair(1 / 3, 0, Fraction(1, 3), 0)


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        ("Gaussian(sigma=0)", INF),
        ("1e3 * Gaussian(1, sensitivity=0)", 0),
        ("PureDP(epsilon=inf)", INF),
        ("3 * Gaussian(0).poisson(0.01)", INF),
        ("KaryRandomizedResponse(k=1e0, p=1/2)", 0),
    ],
)
def test_the_command_line_answers_at_the_ends(text, epsilon, capsys):
    assert main(["epsilon", text, "--delta", "1e-5"]) == 0
    assert capsys.readouterr().out.startswith(f"epsilon = {float(epsilon)!r} at delta = 1e-05")
