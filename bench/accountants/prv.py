"""prv-accountant: an interval of a width that is asked for."""

from __future__ import annotations

import math
import warnings

from workloads import Gaussian, Laplace, RandomizedResponse, SampledGaussian, Step, Workload

from accountants.answer import Accountant, Answer


def with_prv(workload: Workload, eps_error: float) -> Answer:
    """At a given error in epsilon, with a thousandth of delta as its error there."""
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
        # its words about old interfaces of NumPy say nothing about the answer
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


COARSE = Accountant("prv-accountant, eps_error 0.1", "prv_accountant", lambda workload: with_prv(workload, 0.1))
FINE = Accountant("prv-accountant, eps_error 0.001", "prv_accountant", lambda workload: with_prv(workload, 1e-3), ("epsilon",))
