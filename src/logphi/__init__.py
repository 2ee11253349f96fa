"""logphi: exact differential-privacy accounting by the characteristic function of the privacy loss.

Everything is in nats. An answer is a Bound, lower <= truth <= upper; as a number it is the end that is safe to claim.

>>> import logphi as lp
>>> training = 14062 * lp.Gaussian(sigma=1.1).poisson(256 / 60000)
>>> spent = training.epsilon(1e-5)
>>> round(spent.value, 9), spent.upper - spent.lower < 1e-9
(2.381596921, True)

Mechanisms    those of logphi.mechanisms;
              Discrete, GaussianPair and FromDensities take any pair of laws, PureDP and ApproximateDP a guarantee
Composition   m1 + m2, n * m, compose, m.poisson(rate), m.subset(rate, adjacency=...), m.group(size)
As text       parse, str(m); from_json, m.to_json()
Questions     m.epsilon(delta), m.delta(epsilon), m.tradeoff(type_one_error), ...: help(logphi.Mechanism)
Training      dp_sgd, calibrate, sweep; with correlated noise matrix_mechanism, banded_dp_sgd, strategies
Accounting    Accountant, PrivacyFilter
Comparing     compare, dominates, classical (theorems of the literature), plot
Reports       report, verify; m.explain(delta=...), m.certify(delta=...)
Answers       Bound, Bounds, ComplexBound, ComplexBounds, Approximation, their Status, Direction, Ledger and Entry; Calibration,
              CalibrationStatus, AttackRisk, Sweep, Report, Certificate
Relations     Adjacency: "add_remove", "add", "remove", "replace", "replace_special"
Refusals      UndecidedError, NotCertifiedError, BudgetExceededError

help() describes each of them in full; logphi.extend and logphi.testing are for mechanisms of your own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from logphi.lazy import typed
from logphi.mechanisms import _HOME as _MECHANISMS

if TYPE_CHECKING:
    from logphi import classical as classical
    from logphi import plot as plot
    from logphi import strategies as strategies
    from logphi.accountant import Accountant as Accountant
    from logphi.accountant import BudgetExceededError as BudgetExceededError
    from logphi.accountant import PrivacyFilter as PrivacyFilter
    from logphi.algebra.release import Mechanism as Mechanism
    from logphi.algebra.release import compose as compose
    from logphi.answers.approximation import Approximation as Approximation
    from logphi.answers.bound import Bound as Bound
    from logphi.answers.bound import Bounds as Bounds
    from logphi.answers.complex_bound import ComplexBound as ComplexBound
    from logphi.answers.complex_bound import ComplexBounds as ComplexBounds
    from logphi.answers.enclosed import UndecidedError as UndecidedError
    from logphi.answers.ledger import Entry as Entry
    from logphi.answers.ledger import Ledger as Ledger
    from logphi.answers.status import Direction as Direction
    from logphi.answers.status import Status as Status
    from logphi.calibration.calibrate import calibrate as calibrate
    from logphi.calibration.result import Calibration as Calibration
    from logphi.calibration.result import CalibrationStatus as CalibrationStatus
    from logphi.certified.certificate import Certificate as Certificate
    from logphi.certified.route import NotCertifiedError as NotCertifiedError
    from logphi.checker import verify as verify
    from logphi.comparison import compare as compare
    from logphi.correlated_noise import banded_dp_sgd as banded_dp_sgd
    from logphi.correlated_noise import matrix_mechanism as matrix_mechanism
    from logphi.dominance import dominates as dominates
    from logphi.expression import parse as parse
    from logphi.inputs.adjacency import Adjacency as Adjacency
    from logphi.mechanisms import *  # noqa: F403 (the catalogue)
    from logphi.questions.risk import AttackRisk as AttackRisk
    from logphi.serialization import from_json as from_json
    from logphi.statement.document import Report as Report
    from logphi.statement.report import report as report
    from logphi.sweeps.sweep import sweep as sweep
    from logphi.sweeps.table import Sweep as Sweep
    from logphi.training import dp_sgd as dp_sgd

__version__ = "0.1.0"
_ROWS = (", ".join(list(_MECHANISMS)[at : at + 6]) for at in range(0, len(_MECHANISMS), 6))
__doc__ = (__doc__ or "").replace("those of logphi.mechanisms", (",\n" + " " * 14).join(_ROWS))


class _Brief(list[str]):
    """Names for ``import *``, which iterates over them. To pydoc, which asks whether a name is in the list, none is.

    ``help(logphi)`` therefore shows the docstring above, and not nine thousand lines of all classes.
    """

    def __contains__(self, name: object) -> bool:
        return False


# the home of each public name, which is loaded when the name is first used (PEP 562)
_HOME = {**dict.fromkeys(_MECHANISMS, "logphi.mechanisms"), **{name: home for name, (home, _) in typed(__name__).items()}}


if not TYPE_CHECKING:  # type checkers read the imports above; to them, any name would be there
    __all__ = _Brief(sorted((*_HOME, "__version__")))  # noqa: PLE0605 (it is a list)

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            # a bare import of the package needs none of it
            from logphi.inputs.guesses import package_hint

            raise AttributeError(f"module 'logphi' has no attribute {name!r}{package_hint(name, __all__)}")
        home = _HOME[name]
        # a room, or a name in a file
        value = import_module(f"logphi.{name}") if home == "logphi" else getattr(import_module(home), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return list(iter(__all__))
