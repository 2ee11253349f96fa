"""logphi: exact differential-privacy accounting by the characteristic function of the privacy loss.

Everything is in nats.

>>> import logphi as lp
>>> training = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
>>> spent = training.epsilon(1e-5)
>>> round(spent.value, 9), spent.upper - spent.lower < 1e-9
(2.381596921, True)
"""

from logphi.bound import Bound, Bounds, Direction, Entry, Ledger, Status
from logphi.core.adjacency import Adjacency
from logphi.mechanisms import (
    ApproximateDP,
    Discrete,
    ExponentialMechanism,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from logphi.release import Mechanism, compose

__version__ = "0.1.0"

__all__ = [
    "Adjacency",
    "ApproximateDP",
    "Bound",
    "Bounds",
    "Direction",
    "Discrete",
    "Entry",
    "ExponentialMechanism",
    "Gaussian",
    "Laplace",
    "Ledger",
    "Mechanism",
    "PureDP",
    "RandomizedResponse",
    "Status",
    "__version__",
    "compose",
]
