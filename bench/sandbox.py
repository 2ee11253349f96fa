"""One measurement at a time in a process of its own, which may be stopped: some accountants never end, or take all memory."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import sys
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from accountants import OURS, Accountant, UnsupportedError
from workloads import Gaussian, Workload

BUDGET = 1.0  # seconds spent on repeating one measurement; a single computation may take longer
REPETITIONS = 15  # at most
LIMIT = 30.0  # seconds that one measurement may take in all
MEMORY = 8 << 30  # bytes of address space

WARM_UP = Workload("one Gaussian", ((Gaussian(sigma=1.0), 1),), "delta", 1.0, 0.1)


def measured(accountant: Accountant, workload: Workload) -> dict[str, Any]:
    """The answer and the median time, or the reason why there is none."""
    times: list[float] = []
    try:
        while True:
            start = time.perf_counter()
            answer = accountant.answer(workload)
            times.append(time.perf_counter() - start)
            if len(times) >= REPETITIONS or sum(times) >= BUDGET:
                break
    except UnsupportedError as reason:
        return {"remark": f"not offered: {reason}"}
    except MemoryError:
        return {"remark": f"needs more than {MEMORY >> 30} GiB of memory"}
    except Exception as problem:
        said = " ".join(str(problem).split()).replace("|", "/")
        return {"remark": f"fails: {said or type(problem).__name__}"}
    if not answer.reported < float("inf"):
        return {"remark": f"answers {answer.reported}"}
    return {
        "value": answer.value,
        "lower": answer.lower,
        "upper": answer.upper,
        "reported": answer.reported,
        "width": answer.width,
        "seconds": statistics.median(times),
        "repetitions": len(times),
    }


def serve(accountants: Mapping[str, Accountant], line: Connection, inherited: Connection | None) -> None:
    """Measure what is asked for over the line, until nobody is at its other end."""
    if inherited is not None:
        # the end of the parent: with a copy of it here, its death would not be noticed
        inherited.close()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for accountant in accountants.values():
        obstacle(accountant)
    line.send("warm")
    while True:
        name, workload = line.recv()
        line.send(measured(accountants[name], workload))


class Sandbox:
    """A process that measures accountants of a list by their names; started again when one had to be stopped.

    What stands in the directory ``ahead`` takes the place of what is installed.
    """

    def __init__(self, accountants: Mapping[str, Accountant], ahead: Path | None = None) -> None:
        self._accountants = dict(accountants)
        self._ahead = ahead
        self._start()

    def _start(self) -> None:
        self._line, other = multiprocessing.Pipe()
        # a fork keeps the accountants, some of which are not to be pickled, and the packages; nothing runs in threads here
        context: Any = multiprocessing.get_context("fork" if self._ahead is None else "spawn")
        inherited = self._line if self._ahead is None else None
        self._process = context.Process(target=serve, args=(self._accountants, other, inherited), daemon=True)
        path = sys.path.copy()
        sys.path[:0] = [] if self._ahead is None else [str(self._ahead)]
        self._process.start()
        sys.path[:] = path
        other.close()
        self._line.recv()

    def measure(self, name: str, workload: Workload) -> dict[str, Any]:
        """What :func:`measured` says, or that it took too long or died."""
        self._line.send((name, workload))
        try:
            if self._line.poll(LIMIT):
                return self._line.recv()  # type: ignore[no-any-return]
            remark = f"no answer within {LIMIT:.0f} s"
        except EOFError:
            remark = "dies"
        self.close()
        self._start()
        return {"remark": remark}

    def close(self) -> None:
        """Stop it."""
        self._process.kill()
        self._process.join()
        self._line.close()


def obstacle(accountant: Accountant) -> str | None:
    """Why it cannot be measured here, if so; otherwise it is imported and warm."""
    try:
        __import__(accountant.module)
    except ImportError:
        return "not installed"
    if WARM_UP.question in accountant.questions:
        try:
            accountant.answer(WARM_UP)
        except Exception as problem:
            return f"does not run here ({problem})"
    return None


def warm() -> None:
    """Load what the first answer of this library loads."""
    OURS.answer(WARM_UP)
