"""The parameter at which a family of mechanisms just meets a target."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from decimal import Context
from itertools import pairwise
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.answers.status import Status
from logphi.calibration.bracketing import Bracket, End, bracket
from logphi.calibration.refinement import refine
from logphi.calibration.result import Calibration, CalibrationStatus
from logphi.calibration.scale import shortened
from logphi.calibration.target import Target, stated_target
from logphi.calibration.trials import Trial, Trials, begin
from logphi.inputs import check
from logphi.inputs.arguments import Scalar
from logphi.inputs.guesses import guided

# derived: parameters with a smaller relative difference have equal logarithms up to rounding
_FINEST = 1e-12
# derived: the decimal digits of a double
_MOST_DIGITS = 15
# chosen: the number of decimals that are tried; the first is nearly always right
_DECIMALS = 5


@guided(target_epsilon="epsilon=", target_delta="delta=", function="family")
def calibrate(
    family: Callable[[Any], Mechanism],
    *,
    epsilon: Scalar | None = None,
    delta: Scalar | None = None,
    question: Callable[[Mechanism], Any] | None = None,
    limit: Scalar | None = None,
    lower: Scalar | None = None,
    upper: Scalar | None = None,
    integer: bool | None = None,
    digits: Scalar | None = None,
    rtol: Scalar = 1e-6,
) -> Calibration:
    """The smallest noise, the most steps, the largest rate, or the best value of any other parameter that meets a target.

    The parameter is a positive number. The search finds out in which direction privacy grows, and where the domain ends: a
    value that the family refuses with a ValueError is outside of it.

    Parameters
    ----------
    family
        A function of one number that returns a mechanism.
    epsilon, delta
        The target: epsilon(delta) <= epsilon, in nats, or equivalently delta(epsilon) <= delta. A delta of 0 asks for pure
        privacy.
    question, limit
        Another target: a function of a mechanism that returns a :class:`Bound`, such as ``lambda m: m.zcdp()``, and the limit
        of its private side, an upper limit or (of a trade-off function, whose private side is its lower end) a lower one.
    lower, upper
        Ends of the search, for example to choose one branch if both small and large values of the parameter are less private.
        The answer is found without them.
    integer
        Whether the parameter is an integer. By default it is if the family accepts 1 and 2 but refuses 1.5.
    digits
        The number of significant decimal digits of the value: the last such decimal that meets the target.
    rtol
        The relative distance within which a value is proved to miss the target; for integers it is the neighbour.

    Returns
    -------
    Calibration
        ``float`` gives the value; ``answer`` is the epsilon at the given delta, or the answer to ``question``. The private side
        of the answer is proved to be within the limit, and the nearest miss is proved to miss it, unless the status says
        otherwise.

    Raises
    ------
    ValueError, TypeError
        If the target or an option is out of range; if no value that was tried meets the target, or all do and the domain has
        no end; if there are two branches, of which one has to be chosen; if the family refuses all values that were tried, or
        returns no mechanism. Other exceptions of the family pass through.

    Examples
    --------
    >>> import logphi as lp
    >>> found = calibrate(lambda sigma: 1000 * lp.Gaussian(sigma).poisson(0.01), epsilon=2, delta=1e-5, digits=5)
    >>> found.value, found.nearest_miss
    (0.95911, 0.9591)
    >>> found.answer.upper <= 2 <= found.nearest_miss_answer.lower
    True
    >>> calibrate(lambda steps: steps * lp.Gaussian(1.1).poisson(256 / 60000), epsilon=2, delta=1e-5).value
    10207
    """
    if isinstance(family, Mechanism):
        raise TypeError(
            "a family is a function of one number, and this release has no free parameter; its smallest delta at an epsilon is "
            "float(m.delta(epsilon)), its smallest epsilon at a delta float(m.epsilon(delta))"
        )
    if not callable(family):
        raise TypeError(f"a family is a function of one number, such as lambda sigma: lp.Gaussian(sigma), got {family!r}")
    rtol = max(check.tolerance("rtol", rtol), _FINEST)
    if digits is not None:
        digits = check.whole("digits", digits, 1, _MOST_DIGITS)
        # two more digits, so that the first decimal is nearly always right
        rtol = max(10.0 ** -(digits + 2), _FINEST)
    target = stated_target(epsilon, delta, question, limit, rtol)
    least, most = (None if end is None else check.positive(name, end) for name, end in (("lower", lower), ("upper", upper)))
    if least is not None and most is not None and least > most:
        raise ValueError(f"lower must not be above upper, got {least!r} and {most!r}")
    trials, start = begin(family, target, integer, least, most)
    brackets = [bracket(trials, start, sign) for sign in (1, -1)]
    crossed = [one for one in brackets if one.end is End.CROSSED]
    if len(crossed) == 2:
        raise _ambiguous(target, start, crossed)
    if not crossed:
        return _uncrossed(trials, start, brackets, rtol)
    good, bad = sorted((crossed[0].last, crossed[0].before), key=lambda trial: not trial.reading.meets)
    # half of the tolerance on each side of the undecided range
    good, bad = refine(trials, good, bad, rtol / 2)
    if not good.reading.meets:
        raise _missed(trials)
    if digits is not None and not isinstance(good.value, int):
        good, bad = _rounded(trials, good, bad, digits)
        # the next decimal may be undecided, as long as the one after it is decided
        rtol = 2 * 10.0 ** (1 - digits)
    return _calibration(trials, good, bad, rtol)


def _rounded(trials: Trials, good: Trial, bad: Trial, digits: int) -> tuple[Trial, Trial]:
    """The last decimal with ``digits`` digits that meets the target, and the nearest value that is proved to miss it."""
    upward, context = good.value > bad.value, Context(prec=digits)
    decimal = shortened(good.value, digits, upward)
    found = good
    for _ in range(_DECIMALS):
        trial = trials.at(float(decimal), sharp=True)
        if trial is None or not trial.reading.meets:
            return found, trial if trial and trial.reading.fails else bad
        found = trial
        decimal = decimal.next_minus(context) if upward else decimal.next_plus(context)
    return found, bad


def _calibration(trials: Trials, good: Trial, bad: Trial | None, rtol: float) -> Calibration:
    target = trials.target
    missed = bad if bad and bad.reading.fails else None
    answer = _proved(good)
    attained = target.attained(good.mechanism, answer)
    return Calibration(
        name=_name(trials.family),
        value=good.value,
        mechanism=good.mechanism,
        answer=attained,
        limit=target.asked,
        slack=target.slack(attained),
        target=str(target),
        nearest_miss=missed.value if missed else None,
        nearest_miss_answer=target.attained(missed.mechanism, _proved(trials.proof(missed))) if missed else None,
        status=_status(trials, good, bad, missed, answer, rtol),
        rtol=rtol,
        evaluations=trials.evaluations,
        nearest_miss_mechanism=missed.mechanism if missed else None,
        point=target.point,
    )


def _proved(trial: Trial) -> Bound:
    if trial.answer is None:
        raise ArithmeticError("internal error: a value is to be returned that was not proved; please report it")
    return trial.answer


def _name(family: Callable[[Any], Mechanism]) -> str:
    """The name of the family's parameter in its signature."""
    try:
        parameters = inspect.signature(family).parameters.values()
    except (TypeError, ValueError):
        # a function written in C may have no signature
        return "value"
    return next((one.name for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)), "value")


def _status(
    trials: Trials, good: Trial, bad: Trial | None, missed: Trial | None, answer: Bound, rtol: float
) -> CalibrationStatus:
    if not answer.ledger.proved:
        return CalibrationStatus.ESTIMATED
    if bad and not (missed and trials.scale.adjacent(good.value, missed.value, rtol * (1 + 1e-9))):
        return CalibrationStatus.WIDE
    if _not_monotone(trials):
        return CalibrationStatus.TURNING
    if not bad:
        return CalibrationStatus.EDGE
    return CalibrationStatus.DOMINATED if answer.status is Status.DOMINATED else CalibrationStatus.TIGHT


def _not_monotone(trials: Trials) -> bool:
    """Whether the readings, in the order of the parameter, are proved to increase somewhere and decrease elsewhere."""
    known = [trials.seen[value].reading for value in sorted(trials.seen)]
    steps = list(pairwise(known))
    return any(after.lower > before.upper for before, after in steps) and any(
        after.upper < before.lower for before, after in steps
    )


def _uncrossed(trials: Trials, start: Trial, brackets: list[Bracket], rtol: float) -> Calibration:
    """The edge of the domain, if all values meet the target; otherwise a refusal."""
    if not start.reading.meets:
        raise _missed(trials)
    edges = [
        one.last
        for one, opposite in zip(brackets, reversed(brackets), strict=True)
        if one.end is End.EDGE and (one.toward or opposite.end is End.AWAY)
    ]
    if not edges:
        raise ValueError(
            f"every value that was tried, from {min(trials.seen)!r} to {max(trials.seen)!r}, meets the target "
            f"({trials.target}), and none that misses it was found: either privacy does not depend on the parameter, or the "
            "bounds are too wide where it does; give a smaller target, or lower= and upper="
        )
    edge = trials.proof(max(edges, key=lambda trial: trial.reading.value))
    if not edge.reading.meets:
        raise _missed(trials)
    return _calibration(trials, edge, None, rtol)


def _missed(trials: Trials) -> ValueError:
    best = min(trials.seen.values(), key=lambda trial: (trial.reading.uninformative, trial.reading.value))
    answer = trials.target.ask(best.mechanism)
    attained = trials.target.attained(best.mechanism, answer)
    hint = ""
    if answer.ledger.infinite_mass.amount > 0:
        hint = f"; an infinite loss has probability {answer.ledger.infinite_mass.amount:.6g}, whatever epsilon"
    return ValueError(
        f"no value that was tried, from {min(trials.seen)!r} to {max(trials.seen)!r}, meets the target ({trials.target}): the "
        f"closest is {best.value!r}, which attains {attained}{hint}; give a larger target, change what the parameter "
        "does not, or say where to look by lower= and upper="
    )


def _ambiguous(target: Target, start: Trial, crossed: list[Bracket]) -> ValueError:
    above, below = (one.last.value for one in crossed)
    here, there = ("met", "missed") if start.reading.meets else ("missed", "met")
    return ValueError(
        f"the target ({target}) is {here} at {start.value!r} and {there} on both sides of it, at {below!r} and at {above!r}: "
        f"choose a branch by upper={start.value!r} or by lower={start.value!r}"
    )
