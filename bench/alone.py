"""What only this library is asked: its other views, what the cost of an answer depends on, and what it does not."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from accountants.ours import CERTIFIED, OURS, release_of
from sandbox import measured
from workloads import JOB, VIEWS, distinct, repeated

Row = dict[str, Any]


def of_this_library() -> list[Row]:
    """A row for each."""
    asked = (*VIEWS, repeated(10**3), repeated(10**12), distinct(10_000), distinct(100_000))
    rows = [{"workload": workload.caption, **measured(OURS, workload)} for workload in asked]
    rows += [{"workload": f"{JOB.caption}, {one.name}", **measured(one, JOB)} for one in CERTIFIED]
    return [*rows, *in_bulk(), {"workload": "`import logphi`, less a bare interpreter", "seconds": import_seconds()}]


def in_bulk() -> list[Row]:
    """Arrays of questions to the main job, calibration, and a sweep; the time of the whole."""
    import numpy as np

    import logphi as lp

    job = release_of(JOB)
    grid = {"sigma": np.linspace(1.0, 3.0, 10), "rate": np.linspace(0.01, 0.05, 10)}
    whole: dict[str, Callable[[], object]] = {
        f"{JOB.name}: delta at 1000 epsilons": lambda: job.delta(np.linspace(0.1, 4.0, 1000)),
        f"{JOB.name}: epsilon at 1000 deltas": lambda: job.epsilon(np.geomspace(1e-10, 1e-2, 1000)),
        "its noise for epsilon 2 at delta 1e-5, by `lp.calibrate`": lambda: lp.calibrate(
            lambda sigma: 14062 * lp.Gaussian(sigma).poisson(256 / 60000), epsilon=2, delta=1e-5
        ),
        "sweep of 100 points, 1000 x sampled Gaussian: epsilon": lambda: lp.sweep(
            lambda sigma, rate: 1000 * lp.Gaussian(sigma).poisson(rate), grid, delta=1e-5
        ),
    }
    rows = []
    for name, work in whole.items():
        start = time.perf_counter()
        work()
        rows.append({"workload": name, "seconds": time.perf_counter() - start})
    return rows


def import_seconds() -> float:
    """Time of ``import logphi`` in a fresh interpreter, less that of a bare one."""

    def start(code: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begin

    start("import logphi")  # fill the disk cache
    return statistics.median(start("import logphi") - start("pass") for _ in range(5))
