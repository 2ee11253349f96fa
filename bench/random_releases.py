"""Random releases by family: how long an answer takes, how wide it is, and how often it is slow or wide.

Parameters are drawn on logarithmic scales, from ranges in which people work and from far outside of them. Every release is
asked for delta at one epsilon and for epsilon at one delta.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import logphi as lp

SEED = 20261123
RELEASES = 40  # of each family
SLOW = 0.25  # seconds
WIDE, UNRESOLVED = 1e-6, 0.5  # of delta; of max(1, epsilon)

Row = dict[str, Any]
Draw = Callable[[random.Random], lp.Mechanism]


def _log(draw: random.Random, low: float, high: float) -> float:
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def _several(draw: random.Random, most: float) -> int:
    return int(_log(draw, 1, most))


def _gaussians(draw: random.Random) -> lp.Mechanism:
    return _several(draw, 1e9) * lp.Gaussian(sigma=_log(draw, 0.1, 1e4))


def _training(draw: random.Random) -> lp.Mechanism:
    return _several(draw, 1e6) * lp.Gaussian(sigma=_log(draw, 0.5, 20)).poisson(_log(draw, 1e-4, 1))


def _sampled(draw: random.Random) -> lp.Mechanism:
    return _several(draw, 1e9) * lp.Gaussian(sigma=_log(draw, 0.1, 1e4)).poisson(_log(draw, 1e-7, 1))


def _stages(draw: random.Random) -> lp.Mechanism:
    stages = range(draw.randint(2, 3))
    return lp.compose(
        _several(draw, 1e4) * lp.Gaussian(sigma=_log(draw, 0.3, 100)).poisson(_log(draw, 1e-5, 0.5)) for _ in stages
    )


def _laplace_and_more(draw: random.Random) -> lp.Mechanism:
    return (
        draw.randint(1, 300) * lp.Laplace(scale=_log(draw, 0.1, 1e3))
        + draw.randint(0, 20) * lp.RandomizedResponse(p=draw.uniform(0.501, 0.999))
        + draw.randint(0, 3) * lp.Gaussian(sigma=_log(draw, 1, 100))
    )


def _approximate(draw: random.Random) -> lp.Mechanism:
    return draw.randint(1, 1000) * lp.ApproximateDP(epsilon=_log(draw, 1e-3, 3), delta=_log(draw, 1e-12, 1e-3))


def _sampled_others(draw: random.Random) -> lp.Mechanism:
    base = draw.choice(
        [
            lp.Laplace(scale=_log(draw, 0.3, 100)),
            lp.DiscreteGaussian(sigma=_log(draw, 1, 30)),
            lp.DiscreteLaplace(scale=_log(draw, 0.5, 10)),
            lp.RandomizedResponse(p=draw.uniform(0.55, 0.99)),
        ]
    )
    return draw.randint(1, 300) * base.poisson(_log(draw, 1e-3, 0.8))


_KINDS: tuple[Draw, ...] = (
    lambda draw: draw.randint(1, 40) * lp.Laplace(scale=_log(draw, 1, 10)).poisson(_log(draw, 0.01, 0.5)),
    lambda draw: draw.randint(1, 30) * lp.DiscreteGaussian(sigma=_log(draw, 1.6, 10)).poisson(_log(draw, 0.01, 0.5)),
    lambda draw: draw.randint(1, 30) * lp.RandomizedResponse(p=draw.uniform(0.55, 0.9)).poisson(_log(draw, 0.01, 0.5)),
    lambda draw: _several(draw, 1e4) * lp.Gaussian(sigma=_log(draw, 0.6, 5)).poisson(_log(draw, 1e-3, 0.1)),
    lambda draw: draw.randint(1, 30) * lp.Laplace(scale=_log(draw, 2, 30)),
    lambda draw: draw.randint(1, 10) * lp.DiscreteGaussian(sigma=_log(draw, 1.6, 10)),
    lambda draw: draw.randint(1, 10) * lp.DiscreteLaplace(scale=_log(draw, 2, 10)),
    lambda draw: draw.randint(1, 20) * lp.RandomizedResponse(p=draw.uniform(0.52, 0.8)),
    lambda draw: draw.randint(1, 20) * lp.ExponentialMechanism(_log(draw, 0.03, 1)),
    lambda draw: lp.Gaussian(sigma=_log(draw, 1, 10)),
    lambda draw: draw.randint(1, 20) * lp.ApproximateDP(epsilon=_log(draw, 0.01, 0.5), delta=_log(draw, 1e-12, 1e-6)),
    lambda draw: draw.randint(1, 3) * lp.GaussianPair(1, 1, 0, draw.uniform(1.05, 1.5)),
)


def _two_kinds(draw: random.Random) -> lp.Mechanism:
    return draw.choice(_KINDS)(draw) + draw.choice(_KINDS)(draw)


FAMILIES: dict[str, Draw] = {
    "Gaussians": _gaussians,
    "sampled Gaussians, as in training": _training,
    "sampled Gaussians, any": _sampled,
    "two or three stages of sampled Gaussians": _stages,
    "Laplace, responses, Gaussians": _laplace_and_more,
    "approximate DP": _approximate,
    "sampled Laplace, discrete and responses": _sampled_others,
    "two kinds together": _two_kinds,
}


def by_family() -> list[Row]:
    """A row for each family; the same releases in every run."""
    return [_measured(name, family) for name, family in FAMILIES.items()]


def _measured(name: str, family: Draw) -> Row:
    draw = random.Random(f"{SEED} {name}")
    times: list[float] = []
    wide = unresolved = 0
    for _ in range(RELEASES):
        release = family(draw)
        asked = [
            ("delta", draw.choice([0.0, draw.uniform(-3, 3), _log(draw, 0.01, 30)])),
            ("epsilon", _log(draw, 1e-15, 0.1)),
        ]
        for question, at in asked:
            start = time.perf_counter()
            found = getattr(release, question)(at)
            times.append(time.perf_counter() - start)
            width = _width(found, question)
            wide += width > WIDE
            unresolved += width > UNRESOLVED
    times.sort()
    return {
        "family": name,
        "questions": len(times),
        "median": statistics.median(times),
        "nine in ten": times[9 * len(times) // 10],
        "slowest": times[-1],
        "slow": sum(one > SLOW for one in times),
        "wide": wide,
        "unresolved": unresolved,
    }


def _width(found: lp.Bound, question: str) -> float:
    """The width in the unit of its tolerance; what is below all doubles is narrow."""
    if found.lower == found.upper:
        return 0.0
    return float(found.width / (max(1.0, found.upper) if question == "epsilon" else max(found.upper, 1e-290)))
