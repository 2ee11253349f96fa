"""The catalogue: one file a mechanism, always parameters, pair, log-phi, closed forms, source."""

from collections.abc import Mapping

from logphi.mechanisms.discrete import Discrete
from logphi.mechanisms.discrete_gaussian import DiscreteGaussian
from logphi.mechanisms.discrete_laplace import DiscreteLaplace
from logphi.mechanisms.distance_to_instability import DistanceToInstability
from logphi.mechanisms.exponential_mechanism import ExponentialMechanism
from logphi.mechanisms.from_densities import FromDensities
from logphi.mechanisms.from_log_phi import FromLogPhi
from logphi.mechanisms.from_profile import FromProfile
from logphi.mechanisms.from_renyi import FromRenyi
from logphi.mechanisms.from_tradeoff import FromTradeoff
from logphi.mechanisms.gaussian import Gaussian
from logphi.mechanisms.gaussian_mixture import GaussianMixture
from logphi.mechanisms.gaussian_mixture_pair import GaussianMixturePair
from logphi.mechanisms.gaussian_pair import GaussianPair
from logphi.mechanisms.kary_randomized_response import KaryRandomizedResponse
from logphi.mechanisms.laplace import Laplace
from logphi.mechanisms.pure_dp import ApproximateDP, PureDP
from logphi.mechanisms.randomized_response import RandomizedResponse
from logphi.mechanisms.truncated_noise import TruncatedGaussian, TruncatedLaplace
from logphi.release import Mechanism

_ALL: tuple[type[Mechanism], ...] = (
    ApproximateDP,
    Discrete,
    DiscreteGaussian,
    DiscreteLaplace,
    DistanceToInstability,
    ExponentialMechanism,
    FromProfile,
    FromTradeoff,
    Gaussian,
    GaussianMixture,
    GaussianMixturePair,
    GaussianPair,
    KaryRandomizedResponse,
    Laplace,
    PureDP,
    RandomizedResponse,
    TruncatedGaussian,
    TruncatedLaplace,
)

CATALOGUE: Mapping[str, type[Mechanism]] = {constructor.__name__: constructor for constructor in _ALL}

# their arguments are functions or symbols, which no text can hold
PYTHON_ONLY: Mapping[str, str] = {
    "FromDensities": "its densities are functions",
    "FromLogPhi": "its log-phi is a SymPy expression",
    "FromRenyi": "its divergences are a function",
}

__all__ = [
    "CATALOGUE",
    "PYTHON_ONLY",
    "ApproximateDP",
    "Discrete",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DistanceToInstability",
    "ExponentialMechanism",
    "FromDensities",
    "FromLogPhi",
    "FromProfile",
    "FromRenyi",
    "FromTradeoff",
    "Gaussian",
    "GaussianMixture",
    "GaussianMixturePair",
    "GaussianPair",
    "KaryRandomizedResponse",
    "Laplace",
    "PureDP",
    "RandomizedResponse",
    "TruncatedGaussian",
    "TruncatedLaplace",
]
