"""autodp: its Fourier accountant, the characteristic function by quadrature, and its Renyi accountant."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from workloads import Gaussian, Laplace, RandomizedResponse, SampledGaussian, Step, Workload

from accountants.answer import Accountant, Answer, UnsupportedError

# how far the bisection for epsilon goes, and how many halvings make of it a part in a trillion
_FARTHEST, _HALVINGS = 1e6, 60


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """It prints its searches, and warns of overflow that it then discards."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def _composed(workload: Workload, order: str) -> Any:
    """The release in one order of the neighbours."""
    from autodp import mechanism_zoo as mechanisms
    from autodp import transformer_zoo as transformers

    def build(step: Step) -> Any:
        match step:
            case Gaussian(sigma):
                return mechanisms.GaussianMechanism(sigma=sigma, phi_off=False, RDP_off=True)
            case SampledGaussian(sigma, rate):
                sampled = transformers.AmplificationBySampling_pld(PoissonSampling=True, neighboring=order)
                return sampled(mechanisms.GaussianMechanism(sigma=sigma, phi_off=False, RDP_off=True), rate)
            case Laplace(scale):
                return mechanisms.LaplaceMechanism(b=scale, phi_off=False, RDP_off=True)
            case RandomizedResponse(truth):
                return mechanisms.RandresponseMechanism(p=truth, phi_off=False, RDP_off=True)

    return transformers.ComposeAFA()([build(step) for step, _ in workload.steps], [count for _, count in workload.steps])


def with_fourier(workload: Workload) -> Answer:
    """Delta as it gives it; epsilon from that by bisection, which its own inversion does not survive."""
    with _quietly():
        releases = [_composed(workload, order) for order in ("remove_only", "add_only")]

        def delta(epsilon: float) -> float:
            return max(float(one.get_approx_delta(epsilon)) for one in releases)

        return Answer(delta(workload.at) if workload.question == "delta" else _inverse(delta, workload.at))


def with_fourier_unsampled(workload: Workload) -> Answer:
    """The same, but for what takes it minutes."""
    if any(isinstance(step, SampledGaussian) for step, _ in workload.steps):
        raise UnsupportedError("an epsilon of sampled releases takes it minutes")
    return with_fourier(workload)


def _inverse(delta: Callable[[float], float], at: float) -> float:
    low, high = 0.0, 1.0
    while delta(high) > at and high < _FARTHEST:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > at else (low, middle)
    return math.nan if high >= _FARTHEST else high


def with_renyi(workload: Workload) -> Answer:
    """At its defaults."""
    from autodp import mechanism_zoo as mechanisms
    from autodp import transformer_zoo as transformers

    def build(step: Step) -> Any:
        match step:
            case Gaussian(sigma):
                return mechanisms.GaussianMechanism(sigma=sigma)
            case SampledGaussian(sigma, rate):
                sampled = transformers.AmplificationBySampling(PoissonSampling=True)
                return sampled(mechanisms.GaussianMechanism(sigma=sigma), rate, improved_bound_flag=True)
            case Laplace(scale):
                return mechanisms.LaplaceMechanism(b=scale)
            case RandomizedResponse(truth):
                return mechanisms.RandresponseMechanism(p=truth)

    if workload.question != "epsilon":
        raise UnsupportedError("it has no delta at an epsilon")
    with _quietly():
        steps = [build(step) for step, _ in workload.steps]
        release = transformers.Composition()(steps, [count for _, count in workload.steps])
        return Answer(float(release.get_approxDP(workload.at)))


_NAME, _SCIPY = "autodp, characteristic function", "older-scipy"
FOURIER = Accountant(_NAME, "autodp", with_fourier, beside=_SCIPY)
FOURIER_UNSAMPLED = Accountant(_NAME, "autodp", with_fourier_unsampled, beside=_SCIPY)
RENYI = Accountant("autodp, Renyi", "autodp", with_renyi, ("epsilon",))
