"""What is measured: releases in neutral terms, so that every accountant builds them its own way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product


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


@dataclass(frozen=True)
class DiscreteGaussian:
    """Discrete Gaussian noise on a whole query of sensitivity 1."""

    sigma: float


@dataclass(frozen=True)
class DiscreteLaplace:
    """Discrete Laplace noise on a whole query of sensitivity 1."""

    scale: float


@dataclass(frozen=True)
class Sampled:
    """A step on a Poisson sample."""

    step: Laplace | DiscreteGaussian | DiscreteLaplace
    rate: float


@dataclass(frozen=True)
class TruncatedSample:
    """A Gaussian on a Poisson sample of which at most ``kept`` records are kept, of ``records`` in all."""

    sigma: float
    rate: float
    kept: int
    records: int


@dataclass(frozen=True)
class Allocation:
    """A Gaussian on all batches of an epoch, each record in one of them, drawn at random."""

    sigma: float
    batches: int


Step = (
    Gaussian
    | SampledGaussian
    | Laplace
    | RandomizedResponse
    | DiscreteGaussian
    | DiscreteLaplace
    | Sampled
    | TruncatedSample
    | Allocation
)


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
    a thousandth of it. ``truth`` is the answer where it is known from elsewhere, ``source`` who computed the like before.
    """

    name: str
    steps: tuple[tuple[Step, int], ...]
    question: str
    at: float
    delta: float
    truth: float | None = None
    source: str = ""

    @property
    def caption(self) -> str:
        """The release and the question in one line."""
        return f"{self.name}: {self.question} at {GIVEN[self.question]} {self.at:.5g}"


TRAINING = ((SampledGaussian(sigma=1.1, rate=256 / 60000), 14062),)
SAMPLED = ((SampledGaussian(sigma=2.0, rate=0.01), 1500),)
MIXED = ((Gaussian(sigma=5.0), 200), (RandomizedResponse(truth=0.52), 200))

_AFA = "Zhu, Dong & Wang 2022"
_SCRIPTS = "scripts of Zhu, Dong & Wang 2022"
_JOB = "14062 x sampled Gaussian(1.1), rate 256/60000"
_TUTORIAL = "TensorFlow Privacy tutorial"

# The truths are in nobody's code here. Gaussian: the root of the closed-form profile of one Gaussian with
# mu = sqrt(k) / sigma; mixed: a binomial mixture of such profiles; both in 50 digits. The others: tests/reference.
WORKLOADS = (
    Workload(_JOB, TRAINING, "epsilon", 1e-5, 1e-5, 2.38159692142439725468, _TUTORIAL),
    Workload(_JOB, TRAINING, "delta", 2.38159692142439725468, 1e-5, 1e-5, _TUTORIAL),
    Workload("1500 x sampled Gaussian(2), rate 0.01", SAMPLED, "epsilon", 1e-5, 1e-5, 0.77164524783818886680, _AFA),
    Workload("2000 x Gaussian(50)", ((Gaussian(sigma=50.0), 2000),), "epsilon", 1e-4, 1e-4, 3.334125447278042674567, _AFA),
    Workload("2000 x Gaussian(100)", ((Gaussian(sigma=100.0), 2000),), "epsilon", 1e-4, 1e-4, 1.494748615857909630201, _AFA),
    Workload("200 x Gaussian(5) + 200 x RandomizedResponse(0.52)", MIXED, "delta", 2.0, 0.5, 0.6987971059271914576985, _AFA),
    Workload("1000 x Gaussian(30)", ((Gaussian(30.0), 1000),), "epsilon", 1e-10, 1e-10, None, _SCRIPTS),
    Workload(
        "500 x Gaussian(5) + 500 x RandomizedResponse(0.52)",
        ((Gaussian(sigma=5.0), 500), (RandomizedResponse(truth=0.52), 500)),
        "epsilon",
        1e-6,
        1e-6,
        None,
        _SCRIPTS,
    ),
    Workload(
        "1500 x sampled Gaussian(2), rate 0.02",
        ((SampledGaussian(sigma=2.0, rate=0.02), 1500),),
        "epsilon",
        1e-5,
        1e-5,
        None,
        _SCRIPTS,
    ),
    Workload(
        "1000 x sampled Gaussian(0.8), rate 0.005",
        ((SampledGaussian(sigma=0.8, rate=5e-3), 1000),),
        "epsilon",
        1e-6,
        1e-6,
        None,
        "prv-accountant, first example",
    ),
    Workload("20 x Laplace(5)", ((Laplace(scale=5.0), 20),), "epsilon", 1e-6, 1e-6, 3.670920161644649027181),
    Workload("10000 x Gaussian(100)", ((Gaussian(100.0), 10_000),), "epsilon", 1e-13, 1e-13, 7.560198463081926649414),
)

# exact to more digits than a truth in doubles
JOB = Workload(_JOB, TRAINING, "epsilon", 1e-5, 1e-5)
# the other views of the main job and of a mixed release
VIEWS = tuple(
    Workload(name, steps, question, at, 1e-5)
    for name, steps in ((_JOB, TRAINING), (WORKLOADS[5].name, MIXED))
    for question, at in (
        ("tradeoff", 0.05),
        ("renyi", 8.0),
        ("pdp_delta", 2.0),
        ("loss.cdf", 0.5),
        ("loss.quantile", 0.99),
    )
)


def _stressed(name: str, step: Step, count: int, delta: float) -> Workload:
    return Workload(f"{count:,} x {name}" if count > 1 else name, ((step, count),), "epsilon", delta, delta)


# one release to a million, hardly any noise to much, rare samples to frequent ones, at a usual delta and at a small one
STRESS = (
    *(
        _stressed(f"sampled Gaussian({sigma:g}), rate {rate:g}", SampledGaussian(sigma, rate), count, delta)
        for sigma, rate, count, delta in product((0.5, 1.0, 4.0), (1e-4, 1e-2, 0.3), (1, 1000, 10**6), (1e-5, 1e-12))
    ),
    *(
        _stressed(f"Gaussian({sigma:g})", Gaussian(sigma), count, delta)
        for (sigma, count), delta in product(((1.0, 1), (100.0, 10**4), (1000.0, 10**6)), (1e-5, 1e-12, 1e-100))
    ),
    *(
        _stressed(f"Laplace({scale:g})", Laplace(scale), count, delta)
        for (scale, count), delta in product(((1.0, 1), (10.0, 100), (1000.0, 10**6)), (1e-5, 1e-12))
    ),
    *(
        _stressed(f"RandomizedResponse({truth:g})", RandomizedResponse(truth), count, delta)
        for (truth, count), delta in product(((0.75, 1), (0.55, 100), (0.5005, 10**6)), (1e-5, 1e-12))
    ),
)


def _listed(question: str, at: float, *steps: tuple[int, Step]) -> Workload:
    name = " + ".join(f"{count:,} x {_told(step)}" for count, step in steps)
    return Workload(name, tuple((step, count) for count, step in steps), question, at, at if question == "epsilon" else 1e-6)


def _told(step: Step) -> str:
    match step:
        case SampledGaussian(sigma, rate):
            return f"sampled Gaussian({sigma:g}), rate {rate:g}"
        case Sampled(base, rate):
            return f"sampled {_told(base)}, rate {rate:g}"
        case TruncatedSample(sigma, rate, kept, records):
            return f"Gaussian({sigma:g}), rate {rate:g}, at most {kept:,} of {records:,} records"
        case Allocation(sigma, number):
            return f"Gaussian({sigma:g}) on {number} allocated batches"
        case RandomizedResponse(truth):
            return f"RandomizedResponse({truth:g})"
        case Gaussian(spread) | DiscreteGaussian(spread) | Laplace(spread) | DiscreteLaplace(spread):
            return f"{type(step).__name__}({spread:g})"


# one row for each kind of noise, sampled and whole, and ten sums of two kinds
CATALOGUE = (
    _listed("delta", 0.957, (239, Sampled(Laplace(17.9), 0.53))),
    _listed("epsilon", 1e-6, (239, Sampled(Laplace(17.9), 0.53))),
    _listed("epsilon", 1e-6, (79, Sampled(Laplace(29.4), 0.033))),
    _listed("epsilon", 1e-6, (20, Sampled(Laplace(2.0), 0.1))),
    _listed("epsilon", 1e-6, (200, Sampled(Laplace(5.0), 0.01))),
    _listed("epsilon", 1e-6, (74, Sampled(DiscreteGaussian(4.55), 0.0034))),
    _listed("epsilon", 1e-6, (129, Sampled(DiscreteGaussian(9.7), 0.067))),
    _listed("epsilon", 1e-6, (1000, Sampled(DiscreteGaussian(20.0), 0.01))),
    _listed("epsilon", 1e-6, (100, Sampled(DiscreteLaplace(5.0), 0.05))),
    _listed("epsilon", 1e-6, (50, SampledGaussian(1.0, 0.01))),
    _listed("epsilon", 1e-6, (5, SampledGaussian(1.0, 0.001))),
    _listed("epsilon", 1e-6, (300, Laplace(50.0))),
    _listed("epsilon", 1e-6, (100, DiscreteGaussian(5.0))),
    _listed("epsilon", 1e-5, (14062, SampledGaussian(1.1, 256 / 60000))),
    _listed("delta", 2.0, (14062, SampledGaussian(1.1, 256 / 60000))),
    _listed("epsilon", 1e-6, (20, Sampled(Laplace(2.0), 0.2)), (3, DiscreteGaussian(3.0))),
    _listed("epsilon", 1e-6, (20, Sampled(Laplace(3.0), 0.1)), (10, Laplace(8.0))),
    _listed("epsilon", 1e-6, (3, DiscreteGaussian(3.0)), (5, RandomizedResponse(0.75))),
    _listed("epsilon", 1e-6, (100, SampledGaussian(2.0, 0.01)), (10, Laplace(10.0))),
    _listed("epsilon", 1e-6, (30, Sampled(DiscreteGaussian(4.0), 0.1)), (5, RandomizedResponse(0.6))),
    _listed("epsilon", 1e-6, (10, DiscreteLaplace(4.0)), (5, Laplace(6.0))),
    _listed("epsilon", 1e-6, (1, Gaussian(3.0)), (20, RandomizedResponse(0.55))),
    _listed("epsilon", 1e-6, (5, DiscreteGaussian(6.0)), (10, Laplace(5.0))),
    _listed("epsilon", 1e-6, (10, Sampled(Laplace(2.0), 0.05)), (100, SampledGaussian(1.5, 0.02))),
    _listed("delta", 1.0, (20, Sampled(DiscreteLaplace(3.0), 0.2)), (4, Gaussian(5.0))),
)


# other batches than Poisson samples
SAMPLERS = (
    _listed("epsilon", 1e-5, (1000, TruncatedSample(1.0, 256 / 60000, 300, 60_000))),
    _listed("epsilon", 1e-5, (1, Allocation(1.0, 100))),
    _listed("epsilon", 1e-5, (60, Allocation(1.1, 234))),
)


def trained(steps: int) -> Workload:
    """The main job after some of its steps."""
    (step, _), *_ = TRAINING
    return Workload(f"{steps} steps", ((step, steps),), "epsilon", 1e-5, 1e-5)


def repeated(count: int) -> Workload:
    """A sampled Gaussian repeated ``count`` times, its rate falling so that the answer stays about the same."""
    step = SampledGaussian(sigma=1.1, rate=0.5 / math.sqrt(count))
    return Workload(f"{count:.0e} x sampled Gaussian(1.1)", ((step, count),), "epsilon", 1e-5, 1e-5)


def distinct(count: int) -> Workload:
    """``count`` steps, no two with the same rate and noise."""
    shares = [i / count for i in range(count)]
    steps = tuple((SampledGaussian(sigma=1.0 + share, rate=0.002 + 0.003 * share), 1) for share in shares)
    return Workload(f"{count} distinct steps", steps, "epsilon", 1e-5, 1e-5)
