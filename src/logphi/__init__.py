"""logphi: exact differential-privacy accounting by the characteristic function of the privacy loss.

Everything is in nats. An answer is a Bound, lower <= truth <= upper, and a number on its private side.

>>> import logphi as lp
>>> training = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
>>> spent = training.epsilon(1e-5)
>>> round(spent.value, 9), spent.upper - spent.lower < 1e-9
(2.381596921, True)

Mechanisms    Gaussian, Laplace, TruncatedGaussian, TruncatedLaplace, DiscreteGaussian, DiscreteLaplace,
              GaussianMixture, RandomizedResponse, KaryRandomizedResponse, ExponentialMechanism,
              DistanceToInstability
 by a pair    Discrete, GaussianPair, GaussianMixturePair, FromDensities
 by a claim   PureDP, ApproximateDP, FromProfile, FromTradeoff, FromRenyi, FromLogPhi
Composition   m1 + m2, n * m, compose, m.poisson(rate), m.subset(rate, adjacency=...), m.group(size)
As text       parse, str(m); from_json, m.to_json()
Questions     m.epsilon(delta), m.delta(epsilon), m.tradeoff(type_one_error), ...: help(logphi.Mechanism)
Training      dp_sgd, calibrate, sweep
Keeping books Accountant, PrivacyFilter
Comparing     compare, dominates, classical (theorems of the literature), plot
Telling       report, verify; m.explain(delta=...), m.certify(delta=...)
Answers       Bound, Bounds, ComplexBound, ComplexBounds, Approximation, their Status, Direction, Ledger and Entry; Calibration,
              CalibrationStatus, AttackRisk, Sweep, Report, Certificate
Relations     Adjacency: "add_remove", "add", "remove", "replace", "replace_special"
Refusals      UndecidedError, NotCertifiedError, BudgetExceededError

help() of each of them tells all about it; logphi.extend and logphi.testing are for mechanisms of your own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logphi import classical, plot
    from logphi.accountant import Accountant, BudgetExceededError, PrivacyFilter
    from logphi.adjacency import Adjacency
    from logphi.bound import Approximation, Bound, ComplexBound, Direction, Entry, Ledger, Status
    from logphi.bounds import Bounds, ComplexBounds
    from logphi.calibration.calibrate import calibrate
    from logphi.calibration.result import Calibration, CalibrationStatus
    from logphi.certified.certificate import Certificate
    from logphi.certified.route import NotCertifiedError
    from logphi.checker import verify
    from logphi.comparison import compare
    from logphi.dominance import dominates
    from logphi.enclosed import UndecidedError
    from logphi.expression import parse
    from logphi.mechanisms import (
        ApproximateDP,
        Discrete,
        DiscreteGaussian,
        DiscreteLaplace,
        DistanceToInstability,
        ExponentialMechanism,
        FromDensities,
        FromLogPhi,
        FromProfile,
        FromRenyi,
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
    from logphi.questions.risk import AttackRisk
    from logphi.release import Mechanism, compose
    from logphi.serialization import from_json
    from logphi.statement.document import Report
    from logphi.statement.report import report
    from logphi.sweeps.sweep import sweep
    from logphi.sweeps.table import Sweep
    from logphi.training import dp_sgd

__version__ = "0.1.0"

__all__ = [
    "Accountant",
    "Adjacency",
    "ApproximateDP",
    "Approximation",
    "AttackRisk",
    "Bound",
    "Bounds",
    "BudgetExceededError",
    "Calibration",
    "CalibrationStatus",
    "Certificate",
    "ComplexBound",
    "ComplexBounds",
    "Direction",
    "Discrete",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DistanceToInstability",
    "Entry",
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
    "Ledger",
    "Mechanism",
    "NotCertifiedError",
    "PrivacyFilter",
    "PureDP",
    "RandomizedResponse",
    "Report",
    "Status",
    "Sweep",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "UndecidedError",
    "__version__",
    "calibrate",
    "classical",
    "compare",
    "compose",
    "dominates",
    "dp_sgd",
    "from_json",
    "parse",
    "plot",
    "report",
    "sweep",
    "verify",
]


class _Brief(list[str]):
    """Names for ``import *``, which goes through them; pydoc asks what is among them, to write that out in full: nothing is.

    The docstring above tells in some thirty lines what would be nine thousand.
    """

    def __contains__(self, name: object) -> bool:
        return False


__all__ = _Brief(__all__)  # noqa: PLE0605 (it is a list)

# where the public names live; a module is loaded when the first of its names is asked for (PEP 562)
_HOMES = {
    "logphi.accountant": ("Accountant", "BudgetExceededError", "PrivacyFilter"),
    "logphi.bound": (
        "Approximation",
        "Bound",
        "ComplexBound",
        "Direction",
        "Entry",
        "Ledger",
        "Status",
    ),
    "logphi.bounds": ("Bounds", "ComplexBounds"),
    "logphi.calibration.calibrate": ("calibrate",),
    "logphi.calibration.result": ("CalibrationStatus", "Calibration"),
    "logphi.certified.certificate": ("Certificate",),
    "logphi.certified.route": ("NotCertifiedError",),
    "logphi.checker": ("verify",),
    "logphi.comparison": ("compare",),
    "logphi.adjacency": ("Adjacency",),
    "logphi.dominance": ("dominates",),
    "logphi.enclosed": ("UndecidedError",),
    "logphi.expression": ("parse",),
    "logphi.release": ("Mechanism", "compose"),
    "logphi.serialization": ("from_json",),
    "logphi.statement.document": ("Report",),
    "logphi.statement.report": ("report",),
    "logphi.sweeps.sweep": ("sweep",),
    "logphi.sweeps.table": ("Sweep",),
    "logphi.training": ("dp_sgd",),
    "logphi.questions.risk": ("AttackRisk",),
}
# a room of its own, with more names than belong here
_ROOMS = ("classical", "plot")
_NAMES = frozenset(iter(__all__))
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # to type checkers, any name would be there

    def __getattr__(name: str) -> Any:
        if name not in _NAMES:
            # a bare import of the package needs none of it
            from logphi.guesses import package_hint

            raise AttributeError(f"module 'logphi' has no attribute {name!r}{package_hint(name)}")
        if name in _ROOMS:
            return import_module(f"logphi.{name}")
        # every other public name is a mechanism
        value = getattr(import_module(_HOME.get(name, "logphi.mechanisms")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(_NAMES)
