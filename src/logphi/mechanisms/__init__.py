"""The catalogue: a file for each mechanism, with its parameters, pair, log-phi, closed forms and source."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logphi.lazy import typed

if TYPE_CHECKING:
    from logphi.mechanisms.concentrated import ZCDP as ZCDP
    from logphi.mechanisms.discrete import Discrete as Discrete
    from logphi.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
    from logphi.mechanisms.discrete_laplace import DiscreteLaplace as DiscreteLaplace
    from logphi.mechanisms.distance_to_instability import DistanceToInstability as DistanceToInstability
    from logphi.mechanisms.exponential_mechanism import ExponentialMechanism as ExponentialMechanism
    from logphi.mechanisms.from_densities import FromDensities as FromDensities
    from logphi.mechanisms.from_log_phi import FromLogPhi as FromLogPhi
    from logphi.mechanisms.from_profile import FromProfile as FromProfile
    from logphi.mechanisms.from_renyi import FromRenyi as FromRenyi
    from logphi.mechanisms.from_tradeoff import FromTradeoff as FromTradeoff
    from logphi.mechanisms.gaussian import Gaussian as Gaussian
    from logphi.mechanisms.gaussian_mixture import GaussianMixture as GaussianMixture
    from logphi.mechanisms.gaussian_mixture_pair import GaussianMixturePair as GaussianMixturePair
    from logphi.mechanisms.gaussian_pair import GaussianPair as GaussianPair
    from logphi.mechanisms.kary_randomized_response import KaryRandomizedResponse as KaryRandomizedResponse
    from logphi.mechanisms.laplace import Laplace as Laplace
    from logphi.mechanisms.pure_dp import ApproximateDP as ApproximateDP
    from logphi.mechanisms.pure_dp import PureDP as PureDP
    from logphi.mechanisms.random_choice import RandomChoice as RandomChoice
    from logphi.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from logphi.mechanisms.renyi_dp import RenyiDP as RenyiDP
    from logphi.mechanisms.shuffled_reports import ShuffledReports as ShuffledReports
    from logphi.mechanisms.skellam import Skellam as Skellam
    from logphi.mechanisms.sparse_vector import SparseVector as SparseVector
    from logphi.mechanisms.stability_threshold import StabilityThreshold as StabilityThreshold
    from logphi.mechanisms.truncated_noise import TruncatedGaussian as TruncatedGaussian
    from logphi.mechanisms.truncated_noise import TruncatedLaplace as TruncatedLaplace
    from logphi.mechanisms.vector_discrete_gaussian import VectorDiscreteGaussian as VectorDiscreteGaussian

# each name and its file, which is loaded at the first use of the name (PEP 562)
_HOME = {name: home for name, (home, _) in sorted(typed(__name__).items())}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'logphi.mechanisms' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME)
