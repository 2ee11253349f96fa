"""This library: its default answer, its certificates, and the truth that all are held against."""

from __future__ import annotations

from functools import lru_cache, partial
from operator import attrgetter
from typing import Any

from workloads import (
    GIVEN,
    Allocation,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Sampled,
    SampledGaussian,
    Step,
    TruncatedSample,
    Workload,
)

from accountants.answer import Accountant, Answer


def release_of(workload: Workload) -> Any:
    """The release as this library's mechanisms."""
    import logphi as lp

    def build(step: Step) -> lp.Mechanism:
        match step:
            case Gaussian(sigma):
                return lp.Gaussian(sigma)
            case SampledGaussian(sigma, rate):
                return lp.Gaussian(sigma).poisson(rate)
            case Laplace(scale):
                return lp.Laplace(scale)
            case RandomizedResponse(truth):
                return lp.RandomizedResponse(truth)
            case DiscreteGaussian(sigma):
                return lp.DiscreteGaussian(sigma)
            case DiscreteLaplace(scale):
                return lp.DiscreteLaplace(scale)
            case Sampled(base, rate):
                return build(base).poisson(rate)
            case TruncatedSample(sigma, rate, kept, records):
                return lp.Gaussian(sigma).poisson(rate, truncated_batch_size=kept, dataset_size=records)
            case Allocation(sigma, batches):
                return lp.Gaussian(sigma).allocation(batches)

    return lp.compose(count * build(step) for step, count in workload.steps)


def with_logphi(workload: Workload) -> Answer:
    """Everything at its defaults."""
    found = _default(workload)
    return Answer(found.value, found.lower, found.upper)


def _default(workload: Workload) -> Any:
    return attrgetter(workload.question)(release_of(workload))(workload.at)


def with_certificate(workload: Workload, digits: int) -> Answer:
    """A certificate."""
    return _claimed(_certificate(workload, digits))


def with_checker(workload: Workload, digits: int) -> Answer:
    """The check of a certificate that is there already."""
    from logphi.checker import verify

    certificate = _ready(workload, digits)
    assert verify(certificate.to_json()).status == 0
    return _claimed(certificate)


def truth(workload: Workload) -> tuple[float, float]:
    """Known from elsewhere, else certified to fifteen digits and checked, else the default bounds."""
    from logphi import NotCertifiedError
    from logphi.checker import verify

    if workload.truth is not None:
        return workload.truth, workload.truth
    if any(isinstance(step, TruncatedSample | Allocation) for step, _ in workload.steps):
        # these have no certificates, or such of few digits
        found = _default(workload)
        return found.lower, found.upper
    try:
        certificate = _ready(workload, 15)
        # few sampled Gaussians have certificates of fewer digits than their default bounds
        if certificate.digits >= 15 and verify(certificate.to_json()).status == 0:
            return float(certificate.lower), float(certificate.upper)
    except NotCertifiedError:
        pass
    found = _default(workload)
    return found.lower, found.upper


def _certificate(workload: Workload, digits: int) -> Any:
    return release_of(workload).certify(**{GIVEN[workload.question]: workload.at}, digits=digits)


_ready = lru_cache(_certificate)


def _claimed(certificate: Any) -> Answer:
    """The ends of the claim in doubles."""
    lower, upper = float(certificate.lower), float(certificate.upper)
    return Answer(upper, lower, upper)


OURS = Accountant("logphi", "logphi", with_logphi)
CERTIFIED = tuple(
    Accountant(f"{name} to {digits} digits", "logphi", partial(way, digits=digits))
    for digits in (15, 50)
    for name, way in (("certified", with_certificate), ("certificate checked,", with_checker))
)
