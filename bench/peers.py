"""The accountants under measurement, each behind the same two words: a workload in, an answer out.

A peer is imported when it is first asked. ``UnsupportedError`` says that it has no word for the question.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

from workloads import GIVEN, Gaussian, Laplace, RandomizedResponse, SampledGaussian, Step, Workload


class UnsupportedError(Exception):
    """The accountant does not offer what the workload needs; the text says what."""


@dataclass(frozen=True)
class Answer:
    """A value with the interval that the accountant itself vouches for; without one the value is pessimistic."""

    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def width(self) -> float | None:
        """``upper - lower``, where there is an interval."""
        return None if self.lower is None or self.upper is None else self.upper - self.lower

    def misses(self, truth: float) -> bool:
        """Whether the truth lies outside of what is vouched for."""
        if self.lower is None or self.upper is None:
            return self.value < truth
        return not self.lower <= truth <= self.upper


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

    return lp.compose(count * build(step) for step, count in workload.steps)


def with_logphi(workload: Workload) -> Answer:
    """This library, everything at its defaults."""
    found = attrgetter(workload.question)(release_of(workload))(workload.at)
    return Answer(found.value, found.lower, found.upper)


def with_certificate(workload: Workload, digits: int) -> Answer:
    """A certificate of this library."""
    return _claimed(_certificate(workload, digits))


def with_checker(workload: Workload, digits: int) -> Answer:
    """The check of a certificate that is there already."""
    from logphi.checker import verify

    certificate = _ready(workload, digits)
    assert verify(certificate.to_json()).status == 0
    return _claimed(certificate)


def _certificate(workload: Workload, digits: int) -> Any:
    return release_of(workload).certify(**{GIVEN[workload.question]: workload.at}, digits=digits)


_ready = lru_cache(_certificate)


def _claimed(certificate: Any) -> Answer:
    """The ends of the claim in doubles."""
    lower, upper = float(certificate.lower), float(certificate.upper)
    return Answer(upper, lower, upper)


def with_pld(workload: Workload) -> Answer:
    """dp-accounting, privacy loss distributions put together by hand, at its defaults; the value is pessimistic."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def build(step: Step) -> pld.PrivacyLossDistribution:
        match step:
            case Gaussian(sigma):
                return pld.from_gaussian_mechanism(sigma)
            case SampledGaussian(sigma, rate):
                return pld.from_gaussian_mechanism(sigma, sampling_prob=rate)
            case Laplace(scale):
                return pld.from_laplace_mechanism(scale)
            case RandomizedResponse(truth):  # its noise parameter is the probability of a uniform answer
                return pld.from_randomized_response(2 * (1 - truth), 2)

    composed = None
    for step, count in workload.steps:
        part = build(step).self_compose(count) if count > 1 else build(step)
        composed = part if composed is None else composed.compose(part)
    at = workload.at
    if workload.question == "epsilon":
        return Answer(float(composed.get_epsilon_for_delta(at)))
    return Answer(float(composed.get_delta_for_epsilon(at)))


def with_pld_accountant(workload: Workload) -> Answer:
    """dp-accounting, PLDAccountant fed with events, at its defaults; the value is pessimistic."""
    from dp_accounting.pld import PLDAccountant

    return _with_events(workload, PLDAccountant())


def with_rdp_accountant(workload: Workload) -> Answer:
    """dp-accounting, RdpAccountant fed with events, at its default orders; the value is pessimistic."""
    from dp_accounting.rdp import RdpAccountant

    return _with_events(workload, RdpAccountant())


def _with_events(workload: Workload, accountant: Any) -> Answer:
    import dp_accounting as dpa

    def build(step: Step) -> dpa.DpEvent:
        match step:
            case Gaussian(sigma):
                return dpa.GaussianDpEvent(sigma)
            case SampledGaussian(sigma, rate):
                return dpa.PoissonSampledDpEvent(rate, dpa.GaussianDpEvent(sigma))
            case Laplace(scale):
                return dpa.LaplaceDpEvent(scale)
            case RandomizedResponse():
                raise UnsupportedError("its randomized response and its Gaussian are stated under different relations")

    for step, count in workload.steps:
        accountant.compose(build(step), count)
    at = workload.at
    return Answer(float(accountant.get_epsilon(at) if workload.question == "epsilon" else accountant.get_delta(at)))


def with_prv(workload: Workload, eps_error: float) -> Answer:
    """prv-accountant at a given error in epsilon, with a thousandth of delta as its error there."""
    import prv_accountant as prv

    def build(step: Step) -> prv.PrivacyRandomVariable:
        match step:
            case Gaussian(sigma):
                return prv.GaussianMechanism(noise_multiplier=sigma)
            case SampledGaussian(sigma, rate):
                return prv.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=sigma)
            case Laplace(scale):
                return prv.LaplaceMechanism(mu=1 / scale)
            case RandomizedResponse(truth):  # the pair that dominates pure differential privacy
                return prv.PureDPMechanism(eps=math.log(truth / (1 - truth)))

    counts = [count for _, count in workload.steps]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accountant = prv.PRVAccountant(
            prvs=[build(step) for step, _ in workload.steps],
            max_self_compositions=counts,
            eps_error=eps_error,
            delta_error=workload.delta / 1000,
        )
        ask = accountant.compute_epsilon if workload.question == "epsilon" else accountant.compute_delta
        lower, value, upper = ask(workload.at, counts)
    return Answer(value, lower, upper)


@dataclass(frozen=True)
class Accountant:
    """A name, the module that must be there, how it answers, and which questions it is asked."""

    name: str
    module: str
    answer: Callable[[Workload], Answer]
    questions: tuple[str, ...] = ("epsilon", "delta")


OURS = Accountant("logphi", "logphi", with_logphi)
CERTIFIED = tuple(
    Accountant(f"{name} to {digits} digits", "logphi", lambda workload, way=way, digits=digits: way(workload, digits))
    for digits in (15, 50)
    for name, way in (("certified", with_certificate), ("certificate checked,", with_checker))
)
PEERS = (
    Accountant("dp-accounting PLD", "dp_accounting", with_pld),
    Accountant("dp-accounting PLDAccountant", "dp_accounting", with_pld_accountant),
    Accountant("dp-accounting RdpAccountant", "dp_accounting", with_rdp_accountant),
    Accountant("prv-accountant, eps_error 0.1", "prv_accountant", lambda workload: with_prv(workload, 0.1)),
    Accountant("prv-accountant, eps_error 0.001", "prv_accountant", lambda workload: with_prv(workload, 1e-3), ("epsilon",)),
)
