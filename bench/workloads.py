"""What is measured: releases in neutral terms, so that every accountant builds them its own way."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Gaussian:
    """Normal noise on a query of sensitivity 1."""

    sigma: float


@dataclass(frozen=True)
class SampledGaussian:
    """The same on a Poisson sample."""

    sigma: float
    rate: float


@dataclass(frozen=True)
class Laplace:
    """Laplace noise on a query of sensitivity 1."""

    scale: float


@dataclass(frozen=True)
class RandomizedResponse:
    """A binary answer that is true with probability ``truth``."""

    truth: float


Step = Gaussian | SampledGaussian | Laplace | RandomizedResponse


# what a question is asked at
GIVEN = {
    "epsilon": "delta",
    "delta": "epsilon",
    "tradeoff": "type I error",
    "renyi": "order",
    "pdp_delta": "epsilon",
    "loss.cdf": "x",
    "loss.quantile": "probability",
}


@dataclass(frozen=True)
class Workload:
    """One question about one release.

    ``question`` is ``"epsilon"`` (then ``at`` is a delta), ``"delta"`` (then ``at`` is an epsilon, in nats), or another one of
    ``GIVEN``.
    ``delta`` is the order of magnitude of the delta involved: accountants with an absolute error in delta are given
    a thousandth of it. ``truth`` is the answer where it is known from elsewhere.
    """

    name: str
    steps: tuple[tuple[Step, int], ...]
    question: str
    at: float
    delta: float
    truth: float | None = None

    @property
    def caption(self) -> str:
        """The release and the question in one line."""
        return f"{self.name}: {self.question} at {GIVEN[self.question]} {self.at:.5g}"


TRAINING = ((SampledGaussian(sigma=1.1, rate=256 / 60000), 14062),)
SAMPLED = ((SampledGaussian(sigma=2.0, rate=0.01), 1500),)
MIXED = ((Gaussian(sigma=5.0), 200), (RandomizedResponse(truth=0.52), 200))

# The truths are in nobody's code here. Gaussian: the root of the closed-form profile of one Gaussian with
# mu = sqrt(k) / sigma; mixed: a binomial mixture of such profiles; both in 50 digits. The others: tests/reference.
WORKLOADS = (
    Workload("14062 x sampled Gaussian(1.1), rate 256/60000", TRAINING, "epsilon", 1e-5, 1e-5, 2.38159692142439725468),
    Workload("14062 x sampled Gaussian(1.1), rate 256/60000", TRAINING, "delta", 2.38159692142439725468, 1e-5, 1e-5),
    Workload("1500 x sampled Gaussian(2), rate 0.01", SAMPLED, "epsilon", 1e-5, 1e-5, 0.77164524783818886680),
    Workload("2000 x Gaussian(50)", ((Gaussian(sigma=50.0), 2000),), "epsilon", 1e-4, 1e-4, 3.334125447278042674567),
    Workload("2000 x Gaussian(100)", ((Gaussian(sigma=100.0), 2000),), "epsilon", 1e-4, 1e-4, 1.494748615857909630201),
    Workload("200 x Gaussian(5) + 200 x RandomizedResponse(0.52)", MIXED, "delta", 2.0, 0.5, 0.6987971059271914576985),
    Workload("20 x Laplace(5)", ((Laplace(scale=5.0), 20),), "epsilon", 1e-6, 1e-6, 3.670920161644649027181),
    Workload("10000 x Gaussian(100)", ((Gaussian(100.0), 10_000),), "epsilon", 1e-13, 1e-13, 7.560198463081926649414),
)

# exact to more digits than a truth in doubles
JOB = Workload("14062 x sampled Gaussian(1.1), rate 256/60000", TRAINING, "epsilon", 1e-5, 1e-5)
# the other views of the main job and of a mixed release
VIEWS = tuple(
    Workload(name, steps, question, at, 1e-5)
    for name, steps in (("14062 x sampled Gaussian(1.1), rate 256/60000", TRAINING), (WORKLOADS[5].name, MIXED))
    for question, at in (
        ("tradeoff", 0.05),
        ("renyi", 8.0),
        ("pdp_delta", 2.0),
        ("loss.cdf", 0.5),
        ("loss.quantile", 0.99),
    )
)


def repeated(count: int) -> Workload:
    """A sampled Gaussian repeated ``count`` times, its rate falling so that the answer stays about the same."""
    step = SampledGaussian(sigma=1.1, rate=0.5 / math.sqrt(count))
    return Workload(f"{count:.0e} x sampled Gaussian(1.1)", ((step, count),), "epsilon", 1e-5, 1e-5)


def distinct(count: int) -> Workload:
    """``count`` steps, no two with the same rate and noise."""
    shares = [i / count for i in range(count)]
    steps = tuple((SampledGaussian(sigma=1.0 + share, rate=0.002 + 0.003 * share), 1) for share in shares)
    return Workload(f"{count} distinct steps", steps, "epsilon", 1e-5, 1e-5)
