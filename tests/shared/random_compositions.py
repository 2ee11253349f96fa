"""Random compositions by family, and random questions to them: how often routes are slow, wide or break a promise."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import logphi as lp

Make = Callable[[Random], Any]


def _log(rng: Random, low: float, high: float) -> float:
    """Evenly likely on a logarithmic scale, between two powers of ten."""
    return float(10 ** rng.uniform(low, high))


def _gaussians(rng: Random) -> Any:
    return int(_log(rng, 0, 9)) * lp.Gaussian(sigma=_log(rng, -1, 4))


def _practical(rng: Random) -> Any:
    return int(_log(rng, 0, 6)) * lp.Gaussian(sigma=_log(rng, -0.3, 1.3)).poisson(_log(rng, -4, 0))


def _whole_range(rng: Random) -> Any:
    return int(_log(rng, 0, 9)) * lp.Gaussian(sigma=_log(rng, -1, 4)).poisson(_log(rng, -7, 0))


def _several(rng: Random) -> Any:
    def one() -> Any:
        return int(_log(rng, 0, 4)) * lp.Gaussian(sigma=_log(rng, -0.5, 2)).poisson(_log(rng, -5, -0.3))

    return lp.compose([one() for _ in range(rng.randint(2, 3))])


def _mixed(rng: Random) -> Any:
    laplace = rng.randint(1, 300) * lp.Laplace(scale=_log(rng, -1, 3))
    responses = rng.randint(0, 20) * lp.RandomizedResponse(p=rng.uniform(0.5001, 0.9999))
    return laplace + responses + rng.randint(0, 3) * lp.Gaussian(sigma=_log(rng, 0, 2))


def _approximate(rng: Random) -> Any:
    return rng.randint(1, 1000) * lp.ApproximateDP(epsilon=_log(rng, -3, 0.5), delta=_log(rng, -12, -3))


def _sampled_discrete(rng: Random) -> Any:
    bases: list[Callable[[], Any]] = [
        lambda: lp.Laplace(scale=_log(rng, -0.5, 2)),
        lambda: lp.DiscreteGaussian(sigma=_log(rng, 0, 1.5)),
        lambda: lp.DiscreteLaplace(scale=_log(rng, -0.3, 1)),
        lambda: lp.RandomizedResponse(p=rng.uniform(0.55, 0.99)),
    ]
    base = rng.choice(bases)
    return rng.randint(1, 300) * base().poisson(_log(rng, -3, -0.1))


_KINDS: list[Make] = [
    lambda rng: rng.randint(1, 40) * lp.Laplace(scale=_log(rng, 0, 1)).poisson(_log(rng, -2, -0.3)),
    lambda rng: rng.randint(1, 10) * lp.DiscreteGaussian(sigma=_log(rng, 0.2, 1)),
    lambda rng: rng.randint(1, 30) * lp.Laplace(scale=_log(rng, 0.3, 1.5)),
    lambda rng: rng.randint(1, 20) * lp.RandomizedResponse(p=rng.uniform(0.52, 0.8)),
    lambda rng: rng.randint(1, 30) * lp.DiscreteGaussian(sigma=_log(rng, 0.2, 1)).poisson(_log(rng, -2, -0.3)),
    lambda rng: rng.randint(1, 20) * lp.ExponentialMechanism(_log(rng, -1.5, 0)),
    lambda rng: rng.randint(1, 10) * lp.DiscreteLaplace(scale=_log(rng, 0.3, 1)),
    lambda rng: int(_log(rng, 0, 4)) * lp.Gaussian(sigma=_log(rng, -0.2, 0.7)).poisson(_log(rng, -3, -1)),
    lambda rng: lp.Gaussian(sigma=_log(rng, 0, 1)),
    lambda rng: (
        rng.randint(1, 5) * lp.GaussianMixture(sigma=_log(rng, 0.2, 0.8), sensitivities=[1, 2], probabilities=[0.5, 0.5])
    ),
    lambda rng: rng.randint(1, 20) * lp.ApproximateDP(epsilon=_log(rng, -2, -0.3), delta=_log(rng, -12, -6)),
    lambda rng: rng.randint(1, 3) * lp.GaussianPair(1, 1, 0, rng.uniform(1.05, 1.5)),
    lambda rng: rng.randint(1, 30) * lp.RandomizedResponse(p=rng.uniform(0.55, 0.9)).poisson(_log(rng, -2, -0.3)),
]


def _two_kinds(rng: Random) -> Any:
    return rng.choice(_KINDS)(rng) + rng.choice(_KINDS)(rng)


FAMILIES: dict[str, Make] = {
    "Gaussians": _gaussians,
    "sampled Gaussian, practical": _practical,
    "sampled Gaussian, whole range": _whole_range,
    "two or three sampled Gaussians": _several,
    "Laplace, responses, Gaussians": _mixed,
    "approximate DP": _approximate,
    "sampled Laplace and discrete": _sampled_discrete,
    "two kinds together": _two_kinds,
}


def questions(rng: Random) -> list[tuple[str, float]]:
    """An epsilon to ask delta at, and a delta to ask epsilon at."""
    return [
        ("delta", rng.choice([0.0, rng.uniform(-3, 3), _log(rng, -2, 1.5)])),
        ("epsilon", _log(rng, -15, -1)),
    ]
