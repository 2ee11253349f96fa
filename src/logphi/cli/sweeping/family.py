"""The answers for a family of mechanisms, a few at a time, in this process or in several."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice, product
from typing import Any

from logphi.algebra.release import Mechanism
from logphi.answers.bound import Bound
from logphi.cli.answers import as_data, one_line
from logphi.cli.sweeping.formats import Row
from logphi.cli.sweeping.parameters import number
from logphi.cli.sweeping.rows import ANSWERED, Group
from logphi.expression import parse
from logphi.sweeps.sweep import sweep

REFUSED_ROW = "refused"
"""The status of a row that has no answer."""

# chosen: a count, a rate and a noise multiplier: refusals that name the number differ
_TRIALS = (1, 0.5, 3.25)
# chosen: the number of mechanisms that each process gets before rows are written: enough to keep it busy
_SHARE = 16


def executor_of(processes: int) -> AbstractContextManager[Executor | None]:
    """A pool of processes; None if there is to be only this one."""
    if processes < 1:
        raise ValueError(f"--processes: at least 1 is needed, got {processes}")
    if processes == 1:
        return nullcontext()

    import signal
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Ctrl-C is for this process, which waits for the others
    return ProcessPoolExecutor(processes, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))


def refuse_mistyped(text: str, names: list[str]) -> None:
    """Raise a ValueError if an expression is refused with the same message for all trial values: then no row has an answer."""
    reasons = {_refusal(text, dict.fromkeys(names, trial)) for trial in _TRIALS}
    if len(reasons) == 1 and (reason := reasons.pop()):
        raise ValueError(reason)


def answered(
    groups: Iterator[Group],
    given: str,
    how: dict[str, Any],
    names: list[str],
    executor: Executor | None,
    processes: int,
) -> Iterator[Group]:
    """The groups with their answers, in order.

    A group is a row for each point at which one mechanism is asked; ``given`` says whether the points are epsilons or deltas,
    ``how`` has the options of the question, ``names`` are those in the expression.
    """
    size = 1 if executor is None else processes * _SHARE
    while chunk := list(islice(groups, size)):
        points: dict[str, Any] = {given: [row["at"] for row in chunk[0]]}
        family = {"row": [group[0] for group in chunk]}
        found = sweep(partial(_mechanism, names), family, errors="keep", executor=executor, **points, **how)
        reasons = (found.reasons.get(place) for place in product(*map(range, found.shape)))
        answers = (_answer(bound, reason) for (_, bound), reason in zip(found, reasons, strict=True))
        for group in chunk:
            yield [{**row, **next(answers)} for row in group]


def _refusal(text: str, variables: dict[str, float]) -> str:
    """The message with which an expression is refused; empty if it is a mechanism."""
    try:
        parse(text, variables=variables)
    except ValueError as error:
        return str(error)
    return ""


def _mechanism(names: list[str], row: Row) -> Mechanism:
    return parse(row["expression"], variables={name: number(name, row[name]) for name in names})


def _answer(bound: Bound, reason: str | None) -> Row:
    if reason is not None:
        return {**dict.fromkeys(ANSWERED), "status": REFUSED_ROW, "error": one_line(reason)}
    data = as_data(bound)
    return {name: data.get(name) for name in ANSWERED}
