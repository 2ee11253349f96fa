"""The catalogue: one file a mechanism, always parameters, pair, log-phi, closed forms, source."""

from collections.abc import Mapping

from logphi.mechanisms.discrete import Discrete
from logphi.mechanisms.discrete_gaussian import DiscreteGaussian
from logphi.mechanisms.discrete_laplace import DiscreteLaplace
from logphi.mechanisms.distance_to_instability import DistanceToInstability
from logphi.mechanisms.exponential_mechanism import ExponentialMechanism
from logphi.mechanisms.from_densities import FromDensities
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.gaussian_pair import GaussianPair
from logphi.mechanisms.kary_randomized_response import KaryRandomizedResponse
from logphi.mechanisms.laplace import Laplace
from logphi.mechanisms.pure_dp import ApproximateDP, PureDP
from logphi.mechanisms.randomized_response import RandomizedResponse
from logphi.release import Mechanism

_ALL: tuple[type[Mechanism], ...] = (
    ApproximateDP,
    Discrete,
    DiscreteGaussian,
    DiscreteLaplace,
    DistanceToInstability,
    ExponentialMechanism,
    Gaussian,
    GaussianPair,
    KaryRandomizedResponse,
    Laplace,
    PureDP,
    RandomizedResponse,
)

CATALOGUE: Mapping[str, type[Mechanism]] = {constructor.__name__: constructor for constructor in _ALL}

__all__ = [
    "CATALOGUE",
    "ApproximateDP",
    "Discrete",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DistanceToInstability",
    "ExponentialMechanism",
    "FromDensities",
    "Gaussian",
    "GaussianPair",
    "KaryRandomizedResponse",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
]
