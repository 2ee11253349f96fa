"""dp-accounting: privacy loss distributions and Renyi divergences; its values are pessimistic."""

from __future__ import annotations

from typing import Any

from workloads import (
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

from accountants.answer import Accountant, Answer, UnsupportedError


def with_pld(workload: Workload) -> Answer:
    """Privacy loss distributions put together by hand, at their defaults."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    def build(step: Step, rate: float = 1.0) -> pld.PrivacyLossDistribution:
        match step:
            case Gaussian(sigma):
                return pld.from_gaussian_mechanism(sigma)
            case SampledGaussian(sigma, own):
                return pld.from_gaussian_mechanism(sigma, sampling_prob=own)
            case Laplace(scale):
                return pld.from_laplace_mechanism(scale, sampling_prob=rate)
            case DiscreteGaussian(sigma):
                return pld.from_discrete_gaussian_mechanism(sigma, sampling_prob=rate)
            case DiscreteLaplace(scale):
                # its parameter is the inverse of the scale
                return pld.from_discrete_laplace_mechanism(1 / scale, sampling_prob=rate)
            case Sampled(base, own):
                return build(base, own)
            case RandomizedResponse(truth):  # its noise parameter is the probability of a uniform answer
                return pld.from_randomized_response(2 * (1 - truth), 2)
            case TruncatedSample(sigma, own, kept, records):
                return pld.from_truncated_subsampled_gaussian_mechanism(records, own, kept, sigma)
            case _:
                raise UnsupportedError("no distribution for it")

    composed: Any = None
    for step, count in workload.steps:
        part = build(step).self_compose(count) if count > 1 else build(step)
        composed = part if composed is None else composed.compose(part)
    at = workload.at
    if workload.question == "epsilon":
        return Answer(float(composed.get_epsilon_for_delta(at)))
    return Answer(float(composed.get_delta_for_epsilon(at)))


def with_pld_accountant(workload: Workload) -> Answer:
    """PLDAccountant fed with events, at its defaults."""
    from dp_accounting.pld import PLDAccountant

    return _with_events(workload, PLDAccountant())


def with_rdp_accountant(workload: Workload) -> Answer:
    """RdpAccountant fed with events, at its default orders."""
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
            case TruncatedSample(sigma, rate, kept, records):
                return dpa.TruncatedSubsampledGaussianDpEvent(records, rate, kept, sigma)
            case RandomizedResponse():
                raise UnsupportedError("its randomized response and its Gaussian are stated under different relations")
            case _:
                raise UnsupportedError("no event for it")

    for step, count in workload.steps:
        accountant.compose(build(step), count)
    at = workload.at
    return Answer(float(accountant.get_epsilon(at) if workload.question == "epsilon" else accountant.get_delta(at)))


PLD = Accountant("dp-accounting PLD", "dp_accounting", with_pld)
PLD_ACCOUNTANT = Accountant("dp-accounting PLDAccountant", "dp_accounting", with_pld_accountant)
RDP = Accountant("dp-accounting RdpAccountant", "dp_accounting", with_rdp_accountant)
