"""Classical bounds of delta and epsilon: one-sided claims of known theorems, for comparison with the exact answer.

Every bound is a :class:`Claim`, on one side of the truth and rounded to that side; what is not proved is a
:class:`logphi.Approximation`, which no theorem here accepts. :func:`logphi.compare` compares all of them with the exact answer.

[AFA] is Zhu, Dong & Wang (2022), [S22] Steinke (2022), [PLC] Sommer, Meiser & Mohammadi (2019), [LT] Chourasia, Javaid & Sikdar
(2025), [PLD] Google's *Privacy Loss Distributions* (2024); ``docs/sources.md`` goes through all five, item by item.

* :mod:`~logphi.classical.composition`: basic, advanced and optimal composition of guarantees;
* :mod:`~logphi.classical.exact_composition`: compositions that are finite sums, without a transform;
* :mod:`~logphi.classical.concentrated`: zero-concentrated differential privacy;
* :mod:`~logphi.classical.renyi`: the Renyi accountant and its conversions;
* :mod:`~logphi.classical.sampled_renyi`: Poisson sampling of Renyi divergences;
* :mod:`~logphi.classical.sampled_bounds`: Poisson sampling of a divergence of one order, in closed form;
* :mod:`~logphi.classical.group`: group privacy, and replacement from addition and removal;
* :mod:`~logphi.classical.mean_estimation`: lower bounds of the error of a private mean;
* :mod:`~logphi.classical.markov`: the Markov-ADP bound;
* :mod:`~logphi.classical.loss_class`: privacy loss classes, Markov, Berry-Esseen and Nagaev;
* :mod:`~logphi.classical.loss_distribution`: privacy buckets and Connect-the-Dots on a grid of equal steps, Chernoff's end
  points;
* :mod:`~logphi.classical.saddle_point`: the saddle-point approximation;
* :mod:`~logphi.classical.gaussian`: the Gaussian mechanism in closed form;
* :mod:`~logphi.classical.analytical_fourier`: losses rounded down and up on a grid, which gives both ends of a bound.
"""

from logphi.classical import (
    analytical_fourier,
    composition,
    concentrated,
    exact_composition,
    gaussian,
    group,
    loss_class,
    loss_distribution,
    markov,
    mean_estimation,
    renyi,
    saddle_point,
    sampled_bounds,
    sampled_renyi,
)
from logphi.classical.claim import Claim
from logphi.classical.composition import Advanced, Guarantee
from logphi.classical.concentrated import Concentrated
from logphi.classical.divergence_curve import DivergenceCurve
from logphi.classical.loss_class import LossClass
from logphi.classical.renyi import Conversion
from logphi.classical.renyi_curve import LossCurve, RenyiCurve

__all__ = [
    "Advanced",
    "Claim",
    "Concentrated",
    "Conversion",
    "DivergenceCurve",
    "Guarantee",
    "LossClass",
    "LossCurve",
    "RenyiCurve",
    "analytical_fourier",
    "composition",
    "concentrated",
    "exact_composition",
    "gaussian",
    "group",
    "loss_class",
    "loss_distribution",
    "markov",
    "mean_estimation",
    "renyi",
    "saddle_point",
    "sampled_bounds",
    "sampled_renyi",
]


def __dir__() -> list[str]:
    return __all__
