"""Laws convolved node by node: the truth lies between both sums, where Fourier sums have no digit left."""

from __future__ import annotations

import itertools

import mpmath as mp
import numpy as np
import pytest

import logphi as lp
from logphi.arith.protocol import Plain
from logphi.arith.scaled import Scaled
from logphi.grid import discretized
from logphi.grid.node_by_node import prepare
from logphi.inversion.demand import Demand
from logphi.laws.atomic.finite import Finite
from logphi.laws.log_phi import LogPhi
from logphi.laws.normal.mixed_normal import MixedNormal
from logphi.laws.normal.normal import Normal
from profiles import gaussian_profile


def assert_between(found: Scaled, truth: mp.mpf, width: float) -> None:
    low, high = found.log_ends
    assert low <= float(mp.log(truth)) <= high
    assert high - low < width


def rare(shares: list[float], depth: float) -> tuple[list[float], list[float]]:
    """P- and Q-masses of outcomes, of which the last ones are the rarer the larger their losses are."""
    losses = np.array([-0.01, *np.cumsum(shares).tolist()])
    p = np.array([0.0, *np.exp(-depth * np.sqrt(losses[1:])).tolist()])
    p[0] = 1 - p.sum()
    q = p * np.exp(-losses)
    q[0] += 1 - q.sum()
    return p.tolist(), (q / q.sum()).tolist()


@pytest.mark.parametrize(("count", "depth", "x"), [(9, 60.0, 0.9), (24, 150.0, 0.7), (7, 90.0, 1.31)])
def test_sums_of_atoms_against_enumeration(count: int, depth: float, x: float) -> None:
    p, q = rare([0.11, 0.237, 0.3001], depth)
    with mp.workdps(60):
        pairs = [(mp.mpf(a), mp.mpf(b)) for a, b in zip(p, q, strict=True)]
        # the masses of a law are normalised
        pairs = [(a / sum(u for u, _ in pairs), b / sum(v for _, v in pairs)) for a, b in pairs]
        truth = mp.mpf(0)
        for counts in _compositions(count, len(p)):
            ways = mp.factorial(count) / mp.fprod(mp.factorial(k) for k in counts)
            of_p, of_q = (ways * mp.fprod(pair[side] ** k for pair, k in zip(pairs, counts, strict=True)) for side in (0, 1))
            truth += max(of_p - mp.exp(mp.mpf(x)) * of_q, mp.mpf(0))
        law = LogPhi(((Finite(tuple(p), tuple(q)), count),))
        assert_between(prepare(law, x, Demand(1e-9)).at(x), truth, 0.5)


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _compositions(total - first, parts - 1)]


@pytest.mark.parametrize(("m", "q", "x"), [(0.12, 0.02, 0.6), (0.4, 1e-4, 0.05), (1.5, 1e-3, 3.0)])
def test_two_sampled_normals_against_quadrature(m: float, q: float, x: float) -> None:
    with mp.workdps(40):
        m_, q_, x_ = mp.mpf(m), mp.mpf(q), mp.mpf(x)

        def ratio(y: mp.mpf) -> mp.mpf:
            return 1 - q_ + q_ * mp.exp(m_ * y - m_**2 / 2)

        def one(at: mp.mpf) -> mp.mpf:
            """[LT] Theorem 5.1."""
            if at <= mp.log(1 - q_):
                return 1 - mp.exp(at)
            return q_ * gaussian_profile(m_)(mp.log(1 + (mp.exp(at) - 1) / q_))

        # above this, the other loss may be any
        kink = float((mp.log((mp.exp(x_) / (1 - q_) - 1) / q_ + 1) + m_**2 / 2) / m_)
        nodes, weights = np.polynomial.legendre.leggauss(8)
        # below it, what the other loss must be falls like a logarithm
        below = [np.linspace(-8.0, kink - 1, 50)[:-1], kink - np.geomspace(1, 1e-10, 50)]
        edges = np.concatenate([*below, np.linspace(kink, kink + 6.0, 20)])
        truth = mp.mpf(0)
        for low, high in itertools.pairwise(edges.tolist()):
            for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                y = mp.mpf((low + high) / 2 + (high - low) / 2 * node)
                truth += weight * (high - low) / 2 * mp.npdf(y) * ratio(y) * one(x_ - mp.log(ratio(y)))
    assert_between(prepare(LogPhi(((MixedNormal(Plain(m), Plain(q)), 2),)), x, Demand(1e-9)).at(x), truth, 0.3)


def test_it_meets_the_fourier_sums_where_these_have_digits() -> None:
    mixed = MixedNormal(Plain(0.7), Plain(0.02))
    for law, x in [(LogPhi(((mixed, 60),)), 0.9), (LogPhi(((mixed, 60), (Normal(Plain(0.3)), 1))), 1.8)]:
        one, other = prepare(law, x, Demand(1e-9)).at(x).log_ends, discretized.prepare(law, x, Demand(1e-4)).at(x).log_ends
        assert max(one[0], other[0]) <= min(one[1], other[1])
        assert one[1] - one[0] < 0.1


def test_other_thresholds_are_bounded_too() -> None:
    law = LogPhi(((MixedNormal(Plain(0.7), Plain(0.02)), 60),))
    near = prepare(law, 0.9, Demand(1e-9))
    for x in (0.7, 1.1, 5.0):
        other = discretized.prepare(law, x, Demand(1e-4)).at(x).log_ends
        one = near.at(x).log_ends
        assert max(one[0], other[0]) <= min(one[1], other[1])


def test_an_excess_that_is_not_small_is_refused() -> None:
    with pytest.raises(ValueError, match="not small"):
        prepare(LogPhi(((MixedNormal(Plain(0.7), Plain(0.5)), 60),)), 0.1, Demand(1e-9))


@pytest.mark.parametrize(
    ("release", "epsilon"),
    [
        (35 * lp.Gaussian(sigma=8.2156).poisson(0.01986), 0.54621),
        (197 * lp.DiscreteGaussian(sigma=6.179).poisson(0.001569), 0.15587),
    ],
    ids=str,
)
@pytest.mark.slow
def test_tails_of_few_large_losses_beside_many_small_ones_have_two_ends(release: lp.Mechanism, epsilon: float) -> None:
    found = release.delta(epsilon)
    assert 0 < found.lower <= found.upper < 1.3 * found.lower


def test_few_samples_of_tiny_losses_are_answered_in_silence():
    release = 11 * lp.Gaussian(sigma=827.4670273362118).poisson(1.5390848525989e-07)
    found = release.epsilon(1.9635483647470455e-15)
    assert found.lower <= found.upper < 1e-8
